// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Expressions: typed trees that own what they read and have not run yet.
///
/// A node knows its shape and device, the buffers it reads, how each of its leaves lies, and how to
/// become an evaluator: a bare object that gives the expression's rows inside a kernel.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <topos/core/dtype.hpp>
#include <topos/core/error.hpp>
#include <topos/core/layout.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/device.hpp>
#include <topos/expr/leaf_rows.hpp>
#include <topos/expr/operand.hpp>
#include <topos/expr/operand_base.hpp>
#include <topos/expr/row.hpp>
#include <topos/expr/walk.hpp>
#include <topos/memory/buffer.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

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
  walk<E::rank> w = maker.make();
  w.leaves -= static_cast<int>(results.size());
  return w;
}
template <expression E>
[[nodiscard]] walk<E::rank> walk_of(const E& e, std::size_t apart = 0) {
  return walk_of(e, {}, apart);
}

}  // namespace topos::detail
