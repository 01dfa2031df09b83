// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reductions: the elements of an expression along some axes combined by an associative operation,
/// in one pass.
///
/// What is combined in which order depends on the shape alone, so that the bits of the results do
/// not depend on the number of threads. Pieces are combined first, then their results, as a tree.

#include <topos/kernels/detail/column_reducer.hpp>
#include <topos/kernels/detail/fill_kernel.hpp>
#include <topos/kernels/detail/joint_reduction.hpp>
#include <topos/kernels/map.hpp>
#include <topos/kernels/reduction_order.hpp>

namespace topos::detail {

/// Results of pieces as rows of an array.
template <class T>
struct partial_rows {
  const T* data;
  index_t columns;
  KOKKOS_FUNCTION memory_row<T> row(index_t r) const { return {{data}, r * columns}; }
};

/// The kernel of a reduction: item i is a piece of one output, or several outputs.
///
/// The rows of the walk are `outer` groups of `reduced` times `inner` rows. By rows, a group is one
/// output, and `inner` is 1; else each column of it is, for each of the inner rows.
template <class Target, class Op, class Finish, class Rows>
struct reduction_kernel {
  using value_type = typename decltype(std::declval<const Rows&>().row(0))::value_type;

  Target target;        // of the walk before any pieces
  index_t target_rows;  // rows of a group there
  Rows rows;
  Op op;
  Finish finish;
  bool by_rows;
  index_t outer;
  index_t reduced;
  index_t inner;
  index_t columns;
  index_t piece_rows;
  index_t piece_columns;
  value_type* partials;  // where the results of pieces go; unused where pieces are whole

  /// Sets how groups are cut into pieces.
  void cut(bool crossing) {
    piece_rows = 1;
    piece_columns = map_chunk;
    if (!by_rows) {
      piece_rows = rows_of_piece;
      piece_columns = columns_of_piece;
    } else if (crossing && reduced > 1) {
      piece_rows = piece_columns = 64;
    } else if (columns < map_chunk) {
      piece_columns = columns;
      piece_rows = map_chunk / columns;
    }
  }

  KOKKOS_FUNCTION index_t pieces_down() const { return (reduced + piece_rows - 1) / piece_rows; }
  KOKKOS_FUNCTION index_t pieces_across() const {
    return (columns + piece_columns - 1) / piece_columns;
  }
  /// Pieces of one output.
  KOKKOS_FUNCTION index_t pieces() const {
    return by_rows ? pieces_down() * pieces_across() : pieces_down();
  }
  [[nodiscard]] index_t outputs() const { return by_rows ? outer : outer * inner * columns; }
  /// Outputs by rows that one item computes.
  KOKKOS_FUNCTION index_t together() const {
    const index_t size = reduced * columns;
    return size < map_chunk ? map_chunk / size : 1;
  }
  [[nodiscard]] index_t count() const {
    if (!by_rows) return outer * pieces_down() * inner * pieces_across();
    return pieces() > 1 ? outer * pieces() : (outer + together() - 1) / together();
  }
  [[nodiscard]] index_t cost() const {
    const index_t piece = std::min(piece_rows, reduced) * std::min(piece_columns, columns);
    return by_rows && pieces() == 1 ? std::min(together(), outer) * piece : piece;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if (!by_rows) {
      down_columns(team, i);
    } else if (pieces() > 1) {
      const value_type value = piece(team, i / pieces(), i % pieces());
      partials[i] = value;
    } else {
      const index_t first = i * together();
      whole_outputs(team, first, first + together() < outer ? first + together() : outer);
    }
  }

  /// Whether another kernel reduces the same elements in the same order, and the host gains by
  /// doing both at once.
  template <class OtherTarget, class OtherOp, class OtherFinish>
    requires(host_rows::same_order<Op, OtherOp, Rows>() && std::equality_comparable<Rows>)
  [[nodiscard]] bool shares(
      const reduction_kernel<OtherTarget, OtherOp, OtherFinish, Rows>& other) const {
    return by_rows && other.by_rows && rows == other.rows && outer == other.outer &&
           reduced == other.reduced && columns == other.columns && piece_rows == other.piece_rows &&
           piece_columns == other.piece_columns;
  }

  /// Item i of this kernel and of others that share its elements.
  template <class... Others>
  void run_with(index_t i, const Others&... others) const {
    const joint_op ops(op, others.op...);
    const joint_rows<Rows, 1 + sizeof...(others)> from{rows};
    if (pieces() > 1) {
      const auto all = combined(ops, from, i / pieces(), i % pieces());
      std::size_t n = 0;
      partials[i] = all.of[n++];
      ((others.partials[i] = all.of[n++]), ...);
      return;
    }
    const index_t last = std::min((i + 1) * together(), outer);
    for (index_t o = i * together(); o < last; ++o) {
      const auto all = combined(ops, from, o, 0);
      std::size_t n = 0;
      write(o, all.of[n++]);
      (others.write(o, all.of[n++]), ...);
    }
  }

  /// Writes what output o is combined to.
  KOKKOS_FUNCTION void write(index_t o, const value_type& value) const {
    target.elements.data[target.start(o * target_rows)] = finish(value);
  }

 private:
  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void whole_outputs(const Team& team, index_t first, index_t last) const {
    if constexpr (Team::on_host) {
      for (; first < last; ++first) write(first, piece(team, first, 0));
    } else if (reduced * columns > 64) {
      for (; first < last; ++first) write(first, piece(team, first, 0));
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), first, last), [&](index_t o) {
        value_type value{};
        for (index_t r = 0; r < reduced; ++r) {
          const auto row = rows.row(o * reduced + r);
          for (index_t j = 0; j < columns; ++j) value = r + j == 0 ? row[j] : op(value, row[j]);
        }
        write(o, value);
      });
    }
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION value_type piece(const Team& team, index_t output, index_t p) const {
    if constexpr (Team::on_host) {
      return combined(op, rows, output, p);
    } else {
      const index_t r = p / pieces_across() * piece_rows;
      const index_t c = p % pieces_across() * piece_columns;
      const index_t past_r = r + piece_rows < reduced ? r + piece_rows : reduced;
      const index_t past_c = c + piece_columns < columns ? c + piece_columns : columns;
      const index_t group = output * reduced;
      const index_t width = past_c - c;
      partial_result<value_type> result{};
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team.member(), (past_r - r) * width),
          [&](index_t e, partial_result<value_type>& so_far) {
            const value_type value = rows.row(group + r + e / width)[c + e % width];
            so_far.value = so_far.some ? op(so_far.value, value) : value;
            so_far.some = true;
          },
          partial_reducer<value_type, Op>(op, &result));
      team.barrier();
      return result.value;
    }
  }

  // Piece p of an output on the host, by an operation and of rows that stand for this kernel's.
  template <class With, class From>
  auto combined(const With& with, const From& from, index_t output, index_t p) const {
    const index_t r = p / pieces_across() * piece_rows;
    const index_t c = p % pieces_across() * piece_columns;
    const index_t first = output * reduced;
    return rows_combined(with, from, first + r, first + std::min(r + piece_rows, reduced), c,
                         std::min(c + piece_columns, columns));
  }

  // Short rows, by halves.
  template <class With, class From>
  static auto rows_combined(const With& with, const From& from, index_t r, index_t past_r,
                            index_t c, index_t past_c) {
    using T = typename std::decay_t<decltype(from.row(r))>::value_type;
    if (past_r - r == 1) return T(host_rows::reduce(with, from.row(r), c, past_c));
    const index_t middle = r + (past_r - r + 1) / 2;
    const T left = rows_combined(with, from, r, middle, c, past_c);
    return T(with(left, rows_combined(with, from, middle, past_r, c, past_c)));
  }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void down_columns(const Team& team, index_t i) const {
    // Neighbours in a row come after each other.
    const index_t c = i % pieces_across() * piece_columns;
    const index_t t = i / pieces_across() % inner;
    const index_t block = i / pieces_across() / inner % pieces_down();
    const index_t group = i / pieces_across() / inner / pieces_down();
    const index_t past_c = c + piece_columns < columns ? c + piece_columns : columns;
    const index_t k = block * piece_rows;
    const index_t count = k + piece_rows < reduced ? piece_rows : reduced - k;
    const index_t r = (group * reduced + k) * inner + t;
    const bool whole = pieces_down() == 1;
    auto* to = target.elements.data + target.start(group * target_rows + t);
    value_type* partial = partials + ((group * pieces_down() + block) * inner + t) * columns;
    if constexpr (Team::on_host) {
      value_type values[columns_of_piece + most_lanes];
      host_rows::column_reducer(op, rows, values).run(r, inner, count, c, past_c);
      if (whole) {
        for (index_t j = c; j < past_c; ++j) to[j * target.step] = finish(values[j - c]);
      } else {
        std::copy_n(values, past_c - c, partial + c);
      }
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team.member(), c, past_c), [&](index_t j) {
        value_type value = rows.row(r)[j];
        for (index_t n = 1; n < count; ++n) value = op(value, rows.row(r + n * inner)[j]);
        if (whole) {
          to[j * target.step] = finish(value);
        } else {
          partial[j] = value;
        }
      });
      team.barrier();
    }
  }
};

template <expression E, class Op, class Finish>
class reduce_plan;

/// How elements of type T are reduced: `Op` combines them, `Finish` makes a result of what they are
/// combined to, and of `neutral` where there are none.
template <class T, class Op, class Finish>
struct fold {
  using value_type = decltype(std::declval<const Finish&>()(std::declval<T>()));
  Op op;
  Finish finish;
  T neutral;

  /// The plan for an expression, into a buffer.
  template <expression E>
  [[nodiscard]] auto plan(const E& e, const axis_set<E::rank>& set, const buffer& out,
                          std::source_location where) const {
    return reduce_plan<E, Op, Finish>(e, set, *this, out, where);
  }
};

/// A reduction of an expression, and where its results go: what is needed to launch it. Results of
/// pieces lie in memory of the plan's own.
template <expression E, class Op, class Finish>
class reduce_plan {
 public:
  using value_type = typename E::value_type;
  using fold_type = fold<value_type, Op, Finish>;
  using result_type = typename fold_type::value_type;
  static constexpr std::size_t rank = E::rank;

  reduce_plan(const E& e, const axis_set<rank>& set, const fold_type& how, const buffer& out,
              std::source_location where)
      : reduce_plan(e, set, reduction_order<rank>(e, set), how, out, where) {}

  [[nodiscard]] index_t size() const { return size_; }
  [[nodiscard]] index_t count() const { return size_ == 0 ? 0 : kernel_.count(); }
  [[nodiscard]] index_t cost() const { return kernel_.cost(); }
  [[nodiscard]] std::size_t scratch() const { return 0; }
  [[nodiscard]] const auto& kernel() const { return kernel_; }
  /// Whether its kernel may share a launch.
  [[nodiscard]] bool joins() const { return size_ != 0; }

  /// Launches it on a stream.
  template <class Stream>
  void launch(const Stream& stream) const {
    if (size_ == 0) {
      stream.for_each("topos::fill", (empty_.size + map_chunk - 1) / map_chunk, map_chunk, 0,
                      empty_);
      return;
    }
    stream.for_each("topos::reduce", count(), cost(), 0, kernel_);
    finish(stream);
  }

  /// Launches what follows its kernel: the reduction of the results of pieces.
  template <class Stream>
  void finish(const Stream& stream) const {
    index_t pieces = kernel_.pieces();
    value_type* results = kernel_.partials;
    while (pieces > 1) {
      const auto next = following(results, pieces);
      stream.for_each("topos::reduce", next.count(), next.cost(), 0, next);
      results = next.partials;
      pieces = next.pieces();
    }
  }

 private:
  using view = permute_view<rank>;
  using target_rows = strided_rows<target_elements<result_type>, rank>;
  using rows = decltype(std::declval<const E&>()
                            .viewed(std::declval<const shape<rank>&>(), std::declval<const view&>())
                            .rows(std::declval<const walk<rank>&>()));
  using kernel_type = reduction_kernel<target_rows, Op, Finish, rows>;
  using following_type = reduction_kernel<target_rows, Op, Finish, partial_rows<value_type>>;

  reduce_plan(const E& e, const axis_set<rank>& set, const reduction_order<rank>& order,
              const fold_type& how, const buffer& out, std::source_location where)
      : reduce_plan(e.viewed(shape<rank>(e.shape()), order.axes),
                    order.axes(reduced_layout<rank>(e.shape(), set)), order, how, out) {
    if (order.reduced == 0) {
      empty_ = {kernel_.target.elements.data, order.outer * order.inner, how.finish(how.neutral)};
    }
    if (size_ == 0 || kernel_.pieces() == 1) return;
    // Room for each level of the tree.
    index_t results = 0;
    for (index_t pieces = kernel_.pieces(); pieces > 1;) {
      results += pieces * kernel_.outputs();
      pieces = following(nullptr, pieces).pieces();
    }
    partials_ = buffer(out.where(), static_cast<std::size_t>(results) * sizeof(value_type), where);
    kernel_.partials = static_cast<value_type*>(partials_.data());
  }

  // Of the expression and its target with their axes in order.
  template <expression V>
  reduce_plan(const V& v, const layout<rank>& target, const reduction_order<rank>& order,
              const fold_type& how, const buffer& out)
      : reduce_plan(v, target, order, reduction_walk(v, target), how, out) {}

  template <expression V>
  reduce_plan(const V& v, const layout<rank>& target, const reduction_order<rank>& order,
              const walk<rank>& w, const fold_type& how, const buffer& out)
      : size_(order.outer * order.reduced * order.inner),
        kernel_{
            rows_of(target_elements<result_type>{static_cast<result_type*>(out.data())}, target, w),
            1,
            v.rows(w),
            how.op,
            how.finish,
            order.by_rows,
            order.outer,
            order.reduced,
            order.inner,
            w.columns(),
            1,
            1,
            nullptr} {
    if (size_ == 0) return;
    (order.by_rows ? kernel_.reduced : kernel_.inner) /= w.columns();
    kernel_.target_rows = kernel_.reduced * kernel_.inner;
    kernel_.cut(order.by_rows && crosses_rows(v, w));
  }

  // The kernel that reduces the results of pieces.
  [[nodiscard]] following_type following(value_type* results, index_t pieces) const {
    const kernel_type& k = kernel_;
    following_type next{k.target,
                        k.target_rows,
                        {results, k.by_rows ? pieces : k.columns},
                        k.op,
                        k.finish,
                        k.by_rows,
                        k.outer,
                        k.by_rows ? 1 : pieces,
                        k.inner,
                        k.by_rows ? pieces : k.columns,
                        1,
                        1,
                        results == nullptr ? nullptr : results + pieces * k.outputs()};
    next.cut(false);
    return next;
  }

  index_t size_;
  kernel_type kernel_;
  fill_kernel<result_type> empty_{};
  buffer partials_;
};

}  // namespace topos::detail
