// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Expressions: typed trees that own what they read and have not run yet.
///
/// A node knows its shape and device, the buffers it reads, how each of its leaves lies, and how to
/// become an evaluator: a bare object that gives the expression's rows inside a kernel.

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <source_location>
#include <span>
#include <topos/core/divisor.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/error.hpp>
#include <topos/core/layout.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/device.hpp>
#include <topos/expr/flat_block.hpp>
#include <topos/expr/operand.hpp>
#include <topos/expr/operand_base.hpp>
#include <topos/expr/row.hpp>
#include <topos/expr/walk.hpp>
#include <topos/memory/buffer.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// Elements that are made by their number, which takes no longer than to load them.
template <class Elements>
concept counting = requires {
  typename Elements::counting;
};

/// Rows of one source under a layout, inside a kernel. As others, they are equal where they are
/// known to hold the same elements.
template <class Elements, std::size_t Rank>
struct strided_rows {
  static constexpr std::size_t most = Rank > 1 ? Rank - 1 : 1;
  static constexpr bool may_have_axes = most > 1;  ///< of rows, of which some are no run then
  Elements elements;
  index_t base;
  index_t step;
  int leading;            // axes over which rows are counted
  divisor extents[most];  // std::array is host code to nvcc
  index_t strides[most];

  KOKKOS_FUNCTION index_t start(index_t r) const {
    index_t at = base;
    for (int axis = static_cast<int>(most) - 1; axis > 0; --axis) {  // unrolled: it is constant
      if (axis >= leading) continue;
      const index_t whole = extents[axis].quotient(r);
      at += (r - whole * extents[axis]) * strides[axis];
      r = whole;
    }
    return at + r * strides[0];
  }
  KOKKOS_FUNCTION strided_row<Elements> row(index_t r) const { return {elements, start(r), step}; }

  /// Whether rows of so many columns lie one after another.
  [[nodiscard]] bool lies_flat(index_t columns) const {
    index_t whole = columns;
    for (int axis = leading; axis-- > 0; whole *= extents[axis]) {
      if (strides[axis] != whole) return false;
    }
    return step == 1;
  }
  [[nodiscard]] flat_need need_flat(index_t columns) const {
    if constexpr (counting<Elements>) {
      return {true, sizeof(typename Elements::value_type), 1};
    } else {
      if (lies_flat(columns)) return {};
      if constexpr (strided_row<Elements>::is_quick)
        return {true, sizeof(typename Elements::in_memory), 1};
      else
        return {false};
    }
  }
  /// Some rows as one.
  [[nodiscard]] auto flat(flat_block& block) const {
    if constexpr (counting<Elements>) {
      return counted(block);
    } else {
      if constexpr (strided_row<Elements>::is_quick) {
        if (!lies_flat(block.columns)) {
          auto* const to = block.template take<typename Elements::in_memory>();
          if (!lies_flat(block)) {
            copy_block(to, block);
            return strided_row<Elements>{Elements::of(to), 0, 1};
          }
        }
      }
      return strided_row<Elements>{elements, start(block.first) + block.column, 1};
    }
  }

  /// Copies rows, on the host, from the first on: of elements in memory.
  template <class T>
  void copy(T* to, row_steps there, index_t first, index_t count,
            index_t columns) const requires std::same_as<decltype(elements.address()), const T*> {
    auto* const out = reinterpret_cast<copied_as<T>*>(to);
    const auto* const from = reinterpret_cast<const copied_as<T>*>(elements.address());
    for_each_run(first, count, [&](index_t i, index_t at, index_t n, row_steps here) {
      copy_rows(out + i * there.stride, there, from + at, here, n, columns);
    });
  }

  /// Calls `function(i, start, n, steps)` for rows, of `count` from the first on, that lie equally
  /// far apart: the n from row first + i on.
  template <class Function>
  void for_each_run(index_t first, index_t count, const Function& function) const {
    index_t n = 0;
    for (index_t i = 0; i < count; i += n) {
      n = std::min(count - i, run_from(first + i));
      function(i, start(first + i), n, row_steps{stride_of_run(), step});
    }
  }

  /// Whether that is one run.
  [[nodiscard]] bool is_one_run(index_t first, index_t count) const {
    return count <= run_from(first);
  }

  /// How many rows, from one on, lie equally far apart: a run.
  [[nodiscard]] index_t run_from(index_t r) const {
    if constexpr (may_have_axes) {
      if (leading > 1) {
        const divisor& extent = extents[leading - 1];
        return extent - (r - extent.quotient(r) * extent);
      }
    }
    return no_end;
  }
  /// The row that is n below one, in the same run.
  template <class Row>
  [[nodiscard, gnu::always_inline]] Row below(Row row, index_t n) const {
    row.base += n * stride_of_run();
    return row;
  }

  /// The rows without their first columns.
  [[nodiscard]] strided_rows from_column(index_t column) const {
    strided_rows rest = *this;
    rest.base += column * step;
    return rest;
  }

  friend bool operator==(const strided_rows&, const strided_rows&) = default;

 private:
  [[nodiscard]] index_t stride_of_run() const { return strides[leading > 1 ? leading - 1 : 0]; }

  // Whether all rows are the same.
  [[nodiscard]] bool repeats() const {
    return std::all_of(strides, strides + leading, [](index_t s) { return s == 0; });
  }

  // Whether rows of a block do.
  [[nodiscard]] bool lies_flat(const flat_block& block) const {
    return step == 1 && stride_of_run() == block.columns && is_one_run(block.first, block.rows);
  }

  // In the memory of the block, which may have them from before.
  template <class T>
  void copy_block(T* to, const flat_block& block) const {
    if (!repeats()) {
      from_column(block.column)
          .copy(to, {block.columns, 1}, block.first, block.rows, block.columns);
    } else if (!block.again) {
      using word = copied_as<T>;
      repeat_row(reinterpret_cast<word*>(to),
                 reinterpret_cast<const word*>(elements.address()) + base + block.column * step,
                 step, block.rows, block.columns);
    }
  }

  // Put into the memory of the block, which may have them from before.
  [[nodiscard]] auto counted(flat_block& block) const {
    using T = typename Elements::value_type;
    auto* const to = block.take<T>();
    if (!repeats()) {
      for_each_run(block.first, block.rows, [&](index_t i, index_t at, index_t n, row_steps here) {
        for (index_t r = 0; r < n; ++r) {
          for (index_t j = 0; j < block.columns; ++j)
            to[(i + r) * block.columns + j] =
                elements(at + r * here.stride + (block.column + j) * here.step);
        }
      });
    } else if (!block.again) {
      for (index_t j = 0; j < block.columns; ++j)
        to[j] = elements(base + (block.column + j) * step);
      if (block.rows > 1) repeat_row(to + block.columns, to, 1, block.rows - 1, block.columns);
    }
    return strided_row<memory_elements<T>>{{to}, 0, 1};
  }
};

/// The rows of a layout, walked as `w`.
template <class Elements, std::size_t Rank, std::size_t N>
[[nodiscard]] strided_rows<Elements, N> rows_of(const Elements& elements, const layout<Rank>& l,
                                                const walk<N>& w) {
  const layout<N> whole = broadcast_layout(l, w.extents);
  strided_rows<Elements, N> result{elements, whole.offset, 1, w.axes - 1, {}, {}};
  result.strides[0] = 0;
  if constexpr (N != 0) {
    for (int axis = 0; axis < w.axes; ++axis) {
      const index_t stride = whole.strides[w.last[axis]];
      if (axis == w.axes - 1) {
        result.step = stride;
      } else {
        result.extents[axis] = w.sizes[axis];
        result.strides[axis] = stride;
      }
    }
    if constexpr (requires { result.elements.ahead; }) {
      result.elements.ahead =
          w.along < 0 ? w.ahead
                      : fetched_ahead(w.ahead, w.columns(), w.piece, result.strides[w.along]);
    }
  }
  return result;
}

/// Those of a source of no axes.
template <class Elements>
struct scalar_rows {
  Elements elements;
  index_t at;
  KOKKOS_FUNCTION scalar_row<Elements> row(index_t /*r*/) const { return {elements, at}; }
  [[nodiscard]] index_t run_from(index_t /*r*/) const { return no_end; }
  [[nodiscard]] auto below(const scalar_row<Elements>& row, index_t /*n*/) const { return row; }
  [[nodiscard]] flat_need need_flat(index_t /*columns*/) const { return {}; }
  [[nodiscard]] scalar_row<Elements> flat(flat_block& /*block*/) const { return {elements, at}; }

  friend bool operator==(const scalar_rows&, const scalar_rows&) = default;
};

/// Memory that an expression reads, for `explain`.
struct memory_read {
  const void* from;
  std::size_t bytes;
  friend bool operator==(const memory_read&, const memory_read&) = default;
};

/// Refuses to read elements for which there is no memory.
inline void require_no_elements(std::span<const index_t> extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
  throw invalid_argument("an expression is used after it was moved from", std::source_location{});
}

/// Appends the memory that elements of some extents are read from.
template <class Source>
void collect_source(const Source& source, std::span<const index_t> extents,
                    std::vector<buffer>& reads) {
  if constexpr (requires { source.memory; }) {
    if (source.memory.data() == nullptr) [[unlikely]]
      require_no_elements(extents);
  }
  source.collect(reads);
}

/// The elements of a source under a layout: the leaf of an expression.
///
/// A source gives element o of an array: memory, or a function of o. It has `value_type`,
/// `device()`, `collect(reads)` and `elements()`, the bare object that gives them in a kernel.
template <class Source, std::size_t Rank>
struct [[nodiscard]] strided_node : lazy, operand_base<strided_node<Source, Rank>> {
  using value_type = typename Source::value_type;
  static constexpr std::size_t rank = Rank;
  Source source;
  detail::layout<Rank> where;

  strided_node(Source s, const detail::layout<Rank>& l) : source(std::move(s)), where(l) {}
  strided_node(const strided_node&) = default;
  strided_node(strided_node&&) noexcept = default;
  strided_node& operator=(const strided_node&) & = default;
  strided_node& operator=(strided_node&&) & noexcept = default;
  ~strided_node() = default;

  /// A part of what is const or was only returned: nobody would see what is assigned to it.
  template <operand_or_scalar X>
  const strided_node& operator=(const X& /*x*/) const {
    static_assert(is_never<X>,
                  "topos: only a part of a tensor that is a variable, and not const, can be "
                  "assigned to: x.slice(1) = y");
    return *this;
  }

  using operand_base<strided_node>::shape;
  [[nodiscard]] const topos::shape<Rank>& shape() const { return where.extents; }
  [[nodiscard]] std::optional<topos::device> device() const { return source.device(); }
  void collect(std::vector<buffer>& reads) const { collect_source(source, where.extents, reads); }
  /// Tells `layouts` how its leaves lie: see walk_maker.
  template <class Layouts>
  void leaves(Layouts& layouts) const {
    layouts.add(where);
  }
  /// Appends the memory that it reads.
  void traffic(std::vector<memory_read>& all) const {
    if constexpr (requires { source.traffic(all); }) {
      source.traffic(all);
    } else if constexpr (requires { source.elements().data; }) {
      std::size_t bytes = sizeof(value_type);
      for (std::size_t axis = 0; axis != Rank; ++axis) {
        if (where.strides[axis] != 0) bytes *= static_cast<std::size_t>(where.extents[axis]);
      }
      all.push_back({source.elements().data + where.offset, bytes});
    }
  }
  template <std::size_t N>
  [[nodiscard]] auto rows(const walk<N>& w) const {
    if constexpr (Rank == 0 && N != 0)
      return scalar_rows<std::decay_t<decltype(source.elements())>>{source.elements(),
                                                                    where.offset};
    else
      return rows_of(source.elements(), where, w);
  }
  template <std::size_t N, class View>
  [[nodiscard]] auto viewed(const topos::shape<N>& whole, const View& view) const {
    return strided_node<Source, View::rank>(source, view(broadcast_layout(where, whole)));
  }
};

/// Memory as a source.
template <class T>
struct memory_source {
  using value_type = T;
  buffer memory;

  [[nodiscard]] std::optional<topos::device> device() const { return memory.where(); }
  void collect(std::vector<buffer>& reads) const { add_buffer(reads, memory); }
  [[nodiscard]] fetched_elements<T> elements() const {
    return {{static_cast<const T*>(memory.data())}};
  }
};

/// A tensor, or a view of one, as a leaf of an expression.
template <class T, std::size_t Rank>
using tensor_node = strided_node<memory_source<T>, Rank>;

template <class T>
struct constant_rows {
  T value;
  KOKKOS_FUNCTION constant_row<T> row(index_t /*r*/) const { return {value}; }
  [[nodiscard]] index_t run_from(index_t /*r*/) const { return no_end; }
  [[nodiscard]] auto below(const constant_row<T>& row, index_t /*n*/) const { return row; }
  [[nodiscard]] flat_need need_flat(index_t /*columns*/) const { return {}; }
  [[nodiscard]] constant_row<T> flat(flat_block& /*block*/) const { return {value}; }

  friend bool operator==(const constant_rows& a, const constant_rows& b) {
    return has_bits_of(a.value, b.value);
  }
};

/// A scalar, in the type that it took on.
template <class T>
struct constant_node : lazy, operand_base<constant_node<T>> {
  using value_type = T;
  static constexpr std::size_t rank = 0;
  T value;

  explicit constant_node(T v) : value(v) {}

  [[nodiscard]] topos::shape<0> shape() const { return {}; }
  [[nodiscard]] std::optional<topos::device> device() const { return std::nullopt; }
  void collect(std::vector<buffer>& /*reads*/) const {}
  template <class Layouts>
  void leaves(Layouts& /*layouts*/) const {}
  void traffic(std::vector<memory_read>& /*all*/) const {}
  template <std::size_t N>
  [[nodiscard]] constant_rows<T> rows(const walk<N>& /*w*/) const {
    return {value};
  }
  template <std::size_t N, class View>
  [[nodiscard]] constant_node viewed(const topos::shape<N>& /*whole*/, const View& /*view*/) const {
    return *this;
  }
};

/// Whether the lanes of an expression are quick to compute.
template <expression E>
[[nodiscard]] constexpr bool is_quick() {
  return decltype(std::declval<const E&>().rows(std::declval<walk<E::rank>>()).row(0))::is_quick;
}

/// How a kernel walks an expression, and results that lie so; the last `apart` axes stay apart from
/// those before.
template <expression E>
[[nodiscard]] walk<E::rank> walk_of(const E& e, std::initializer_list<layout<E::rank>> results,
                                    std::size_t apart = 0) {
  walk_maker<E::rank> maker(e.shape(), apart);
  for (const layout<E::rank>& result : results) maker.add(result);
  e.leaves(maker);
  return maker.make();
}
template <expression E>
[[nodiscard]] walk<E::rank> walk_of(const E& e, std::size_t apart = 0) {
  return walk_of(e, {}, apart);
}

}  // namespace topos::detail
