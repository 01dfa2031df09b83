// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reductions: the elements of an expression along some axes combined by an associative operation,
/// in one pass.
///
/// What is combined in which order depends on the shape alone, so that the bits of the results do
/// not depend on the number of threads. Pieces are combined first, then their results, as a tree.
/// Reduced axes beyond kept ones in memory may come last, when the others are: see reduction_order.

#include <topos/kernels/detail/fill_kernel.hpp>
#include <topos/kernels/detail/reduction_kernel.hpp>
#include <topos/kernels/reduction_order.hpp>

namespace topos::detail {

template <expression E, class Op, class Finish>
class reduce_plan;

/// How elements of type T are reduced: `Op` combines them, `Finish` makes a result of what they are
/// combined to, and of `neutral` where there are none.
template <class T, class Op, class Finish>
struct fold {
  using combined = combined_t<Op, T>;
  using value_type = decltype(std::declval<const Finish&>()(std::declval<combined>()));
  Op op;
  Finish finish;
  combined neutral;

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
  using element_type = typename E::value_type;
  using fold_type = fold<element_type, Op, Finish>;
  using value_type = typename fold_type::combined;
  using result_type = typename fold_type::value_type;
  static constexpr std::size_t rank = E::rank;

  reduce_plan(const E& e, const axis_set<rank>& set, const fold_type& how, const buffer& out,
              std::source_location where)
      : reduce_plan(e, set, order_of(e, set, out.where()), how, out, where) {}

  [[nodiscard]] index_t size() const { return size_; }
  [[nodiscard]] index_t effort() const { return effort_of(kernel_.rows, kernel_.columns, size_); }
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
      stream.for_each("topos::fill", empty_.items(), map_chunk, 0, empty_);
      return;
    }
    stream.for_each("topos::reduce", count(), cost(), 0, kernel_);
    finish(stream);
  }

  /// Launches what follows its kernel: the reduction of the results of pieces, and a second step.
  template <class Stream>
  void finish(const Stream& stream) const {
    each_following([&](const following_type& next) {
      stream.for_each("topos::reduce", next.count(), next.cost(), 0, next);
    });
  }

 private:
  using view = permute_view<rank>;
  using target_rows = strided_rows<target_elements<result_type>, rank>;
  using rows = decltype(std::declval<const E&>()
                            .viewed(std::declval<const shape<rank>&>(), std::declval<const view&>())
                            .rows(std::declval<const walk<rank>&>()));
  using kernel_type = reduction_kernel<target_rows, Op, Finish, rows>;
  using following_op = decltype(on_combined(std::declval<const Op&>()));
  using following_type =
      reduction_kernel<target_rows, following_op, Finish, partial_rows<value_type>>;

  reduce_plan(const E& e, const axis_set<rank>& set, const reduction_order<rank>& order,
              const fold_type& how, const buffer& out, std::source_location where)
      : reduce_plan(e.viewed(shape<rank>(e.shape()), order.axes),
                    order.axes(reduced_layout<rank>(e.shape(), set)), order, how, out) {
    if (order.reduced == 0) {
      empty_ = {kernel_.target.elements.data, order.outer * order.inner, how.finish(how.neutral)};
    }
    if (size_ == 0 || kernel_.whole) return;
    // Room for each level of the tree.
    index_t results = kernel_.pieces() * kernel_.outputs();
    each_following([&](const following_type& next) {
      if (!next.whole) results += next.pieces() * next.outputs();
    });
    partials_ = buffer(out.where(), static_cast<std::size_t>(results) * sizeof(value_type), where);
    kernel_.partials = static_cast<value_type*>(partials_.data());
  }

  // Whether short rows are combined in the order in which such rows as columns are.
  static constexpr bool may_turn =
      host_rows::combines_in_fours<Op, rows>() || std::is_integral_v<element_type>;

  static reduction_order<rank> order_of(const E& e, const axis_set<rank>& set, const device& d) {
    reduction_order<rank> order(e, set);
    if (may_turn && d != cpu()) order.turn_short_rows(e.shape());
    return order;
  }

  // Of the expression and its target with their axes in order.
  template <expression V>
  reduce_plan(const V& v, const layout<rank>& target, const reduction_order<rank>& order,
              const fold_type& how, const buffer& out)
      : reduce_plan(
            v, target, order,
            reduction_walk(
                v, order.has_second_step() ? reduced_layout<rank>(v.shape(), order.first) : target,
                order.by_rows),
            how, out) {}

  template <expression V>
  reduce_plan(const V& v, const layout<rank>& target, const reduction_order<rank>& order,
              const walk<rank>& w, const fold_type& how, const buffer& out)
      : size_(order.outer * order.reduced * order.inner),
        rest_(order.rest),
        kernel_(order.groups(w.columns()),
                rows_of(target_elements<result_type>{static_cast<result_type*>(out.data())}, target,
                        order.has_second_step() ? second_walk<rank>(target, order.first) : w),
                1, v.rows(w), how.op, how.finish) {
    if (size_ == 0) return;
    on_device_ = out.where() != cpu();
    kernel_.cut(order.by_rows && rows_crossed(v, w) != 0, on_device_,
                on_device_ ? 0 : backend::host::threads());
    if (!order.by_rows)
      kernel_.short_on_host = {out.where(), kernel_.rows, kernel_.reduced, kernel_.columns};
    else if (may_turn)
      kernel_.short_on_host =
          host_rows::turned_rows<element_type>::of(out.where(), kernel_.rows, kernel_);
    if (kernel_type::writes_down && order.by_rows && kernel_.reduced == 1 &&
        kernel_.columns >= short_row && kernel_.is_computed() &&
        !(are_quick_when_found<rows> && are_found(kernel_.rows, kernel_.columns)))
      kernel_.written_on_host = {out.where(), kernel_.rows, kernel_.outer, kernel_.columns,
                                 sizeof(element_type)};
    host_rows::pair_rows(kernel_, v, size_, out.where());
    if (order.has_second_step())
      kernel_.whole = false;
    else
      kernel_.target_rows = kernel_.reduced * kernel_.inner;
  }

  // Calls a function with each kernel after the first, in order.
  template <class Function>
  void each_following(const Function& function) const {
    bool whole = kernel_.whole;
    bool by_rows = kernel_.by_rows;
    index_t pieces = kernel_.pieces();
    value_type* results = kernel_.partials;
    while (!whole) {
      if (pieces == 1) {  // the second step
        by_rows = true;
        pieces = rest_;
      }
      const following_type next = following(results, by_rows, pieces);
      function(next);
      whole = next.whole;
      pieces = next.pieces();
      results = next.partials;
    }
  }

  // The kernel that reduces the results of pieces.
  [[nodiscard]] following_type following(value_type* results, bool by_rows, index_t pieces) const {
    const kernel_type& k = kernel_;
    const auto groups = by_rows ? reduction_pieces{true, k.outputs() / rest_, 1, 1, pieces}
                                : reduction_pieces{false, k.outer, pieces, k.inner, k.columns};
    following_type next(groups, k.target, k.target_rows, {results, groups.columns},
                        on_combined(k.op), k.finish);
    next.cut(false, on_device_, 0);
    if (!by_rows && rest_ != 1) next.whole = false;
    if (may_turn && !centring<Op> && !on_device_ && next.target_rows == 1)
      next.short_on_host = host_rows::turned_rows<value_type>::of(cpu(), next.rows, next);
    if (results != nullptr) next.partials = results + pieces * next.outputs();
    return next;
  }

  index_t size_;
  index_t rest_;  // elements of a row of the second step
  bool on_device_ = false;
  kernel_type kernel_;
  fill_kernel<result_type> empty_{};
  buffer partials_;
};

}  // namespace topos::detail
