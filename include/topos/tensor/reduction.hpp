// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reductions of tensors and expressions over all axes, or over some.
///
/// A reduction is lazy, and fused with what it reduces: `sum(x * y)` reads x and y once and stores
/// no product. It becomes a tensor by assignment or `eval`; as an operand, `x - mean(x, 0)`, it is
/// computed first. Its bits do not depend on the number of threads.

#include <topos/core/error.hpp>
#include <topos/kernels/reduce.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/placement.hpp>

namespace topos {

/// Passed to a reduction: reduced axes stay, with extent 1, so that the result broadcasts to what
/// was reduced.
struct keep_dims_t {
  explicit keep_dims_t() = default;
};
inline constexpr keep_dims_t keep_dims{};

namespace detail {

/// What a reduction does with its reduced axes unless told otherwise.
struct drop_dims_t {};

template <class K>
concept keeping = std::same_as<K, keep_dims_t> || std::same_as<K, drop_dims_t>;

// A template takes no braced list, so that {0} is a list.
template <class A>
concept axis_number = is_integer<A>;

/// Axes left of `Rank` after the reduction of `Removed`.
template <std::size_t Rank, std::size_t Removed, keeping Keep>
inline constexpr std::size_t rank_after = std::same_as<Keep, keep_dims_t>
                                              ? Rank
                                              : (Removed > Rank ? 0 : Rank - Removed);

/// All axes, one, or several; throws `out_of_range`, and `invalid_argument` if one is named twice.
template <std::size_t Rank>
[[nodiscard]] axis_set<Rank> all_axes() {
  axis_set<Rank> set{};
  set.fill(true);
  return set;
}
template <std::size_t Rank, std::size_t N>
[[nodiscard]] axis_set<Rank> axes_named(const char* operation, const index_t (&axes)[N],
                                        std::source_location where) {
  axis_set<Rank> set{};
  for (const std::size_t axis : checked_axes<Rank>(operation, std::to_array(axes), where))
    set[axis] = true;
  return set;
}

/// The shape of a reduction's result.
template <std::size_t To, std::size_t Rank>
[[nodiscard]] shape<To> shape_after(const shape<Rank>& extents, const axis_set<Rank>& set) {
  shape<To> result{};
  if constexpr (To != 0) {
    std::size_t to = 0;
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      if (!set[axis])
        result[to++] = extents[axis];
      else if (To == Rank)
        result[to++] = 1;
    }
  }
  return result;
}

}  // namespace detail

/// Elements of an expression, combined along some axes: see sum and its like. An operand; computed
/// anew wherever it is used, so keep the tensor of one that is used twice. `How` is what makes one
/// element of many.
template <expression E, std::size_t Rank, class How>
class [[nodiscard]] reduction : public detail::operand_base<reduction<E, Rank, How>> {
 public:
  using value_type = typename How::value_type;
  static constexpr std::size_t rank = Rank;

  reduction(const E& e, const detail::axis_set<E::rank>& axes, How how, std::source_location where)
      : e_(e), axes_(axes), how_(std::move(how)), where_(where) {}

  using detail::operand_base<reduction>::shape;
  [[nodiscard]] topos::shape<Rank> shape() const {
    return detail::shape_after<Rank>(topos::shape<E::rank>(e_.shape()), axes_);
  }
  [[nodiscard]] std::optional<topos::device> device() const { return e_.device(); }

  /// Enqueues the reduction, and returns its result at once.
  operator tensor<value_type, Rank>() const {
    auto made = job(where_);
    detail::submit_job(made, where_);
    return std::move(made.result);
  }

  /// The same as a leaf.
  [[nodiscard]] detail::tensor_node<value_type, Rank> node() const {
    return static_cast<tensor<value_type, Rank>>(*this).node();
  }

  /// What is reduced.
  [[nodiscard]] const E& reduced() const noexcept { return e_; }

  /// Its result and the plan to compute it: see eval.
  [[nodiscard]] auto job(std::source_location where) const {
    tensor<value_type, Rank> result(shape(), e_.device().value_or(default_device::current()),
                                    where);
    const auto plan = how_.plan(e_, axes_, result.memory(), where);
    return detail::job<tensor<value_type, Rank>, std::decay_t<decltype(plan)>>{
        std::move(result), plan, detail::memory_read_by(e_)};
  }

 private:
  E e_;
  detail::axis_set<E::rank> axes_;
  How how_;
  std::source_location where_;
};

template <class E, std::size_t Rank, class How>
tensor(const reduction<E, Rank, How>&) -> tensor<typename How::value_type, Rank>;

namespace detail {

/// The type in which elements are added up: 64 bits of integers, float of sixteen-bit floats.
template <class T>
using sum_t = std::conditional_t<
    is_half<T>, float,
    std::conditional_t<std::integral<T>,
                       std::conditional_t<std::is_signed_v<T> || std::same_as<T, bool>,
                                          std::int64_t, std::uint64_t>,
                       T>>;

/// The type of a sum: that of its elements where they are sixteen-bit floats.
template <class T>
using total_t = std::conditional_t<is_half<T>, T, sum_t<T>>;

/// The type that holds an element and can be computed with.
template <class T>
using wide_t = std::conditional_t<is_half<T>, float, T>;

/// The type in which a mean is summed up: that of a sum, where integers of 64 bits might overflow.
template <class T>
using mean_sum_t =
    std::conditional_t<std::integral<T> && sizeof(T) == sizeof(std::int64_t), double, sum_t<T>>;

/// The quotient by the number of elements.
template <class To>
struct mean_finish {
  double count;
  template <class T>
  KOKKOS_FUNCTION To operator()(const T& total) const {
    if constexpr (std::integral<T>)
      return convert_op<To>{}(static_cast<double>(total) / count);
    else
      return convert_op<To>{}(total / static_cast<real_t<T>>(count));
  }
};

/// A function of what was combined.
template <class Op, class To>
struct finish_by {
  template <class T>
  KOKKOS_FUNCTION To operator()(const T& total) const {
    return convert_op<To>{}(Op{}(total));
  }
};

/// The number of elements that one result is made of.
template <std::size_t Rank>
[[nodiscard]] index_t count_reduced(const shape<Rank>& extents, const axis_set<Rank>& set) {
  index_t count = 1;
  for (std::size_t axis = 0; axis != Rank; ++axis) count *= set[axis] ? extents[axis] : 1;
  return count;
}

template <std::size_t Rank, class Op, class Finish, expression E>
[[nodiscard]] auto make_reduction(const E& e, const axis_set<E::rank>& set, const Op& op,
                                  const Finish& finish,
                                  const combined_t<Op, typename E::value_type>& neutral,
                                  std::source_location where) {
  using how = fold<typename E::value_type, Op, Finish>;
  return reduction<E, Rank, how>(e, set, how{op, finish, neutral}, where);
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto sum_over(const X& x, const axis_set<N>& set, std::source_location where) {
  using T = value_of_t<X>;
  using to = total_t<T>;
  return make_reduction<Rank>(convert<sum_t<T>>(as_node(x)), set, add_op{}, convert_op<to>{},
                              sum_t<T>(0), where);
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto prod_over(const X& x, const axis_set<N>& set, std::source_location where) {
  using T = value_of_t<X>;
  using to = total_t<T>;
  return make_reduction<Rank>(convert<sum_t<T>>(as_node(x)), set, multiply_op{}, convert_op<to>{},
                              sum_t<T>(1), where);
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto mean_over(const X& x, const axis_set<N>& set, std::source_location where) {
  using T = value_of_t<X>;
  using to = floating_t<T>;
  using summed = mean_sum_t<T>;
  const auto e = convert<summed>(as_node(x));
  const auto count = static_cast<double>(count_reduced(shape<N>(e.shape()), set));
  return make_reduction<Rank>(e, set, add_op{}, mean_finish<to>{count}, summed(0), where);
}

/// Refuses to reduce nothing, where that has no value.
template <std::size_t Rank>
void require_elements(const char* name, const shape<Rank>& extents, const axis_set<Rank>& set,
                      std::source_location where) {
  if (count_reduced(extents, set) != 0) return;
  throw invalid_argument(concat(name, ": of no elements: the shape is ", to_string(extents)),
                         where);
}

template <std::size_t Rank, class Op, operand X, std::size_t N>
[[nodiscard]] auto extremum_over(const char* name, const X& x, const axis_set<N>& set,
                                 std::source_location where) {
  using T = value_of_t<X>;
  static_assert(!is_complex<T>, "topos: complex numbers have no order");
  const auto e = convert<wide_t<T>>(as_node(x));
  require_elements(name, shape<N>(e.shape()), set, where);
  return make_reduction<Rank>(e, set, Op{}, convert_op<T>{}, wide_t<T>(0), where);
}
template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto min_over(const X& x, const axis_set<N>& set, std::source_location where) {
  return extremum_over<Rank, minimum_op>("min", x, set, where);
}
template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto max_over(const X& x, const axis_set<N>& set, std::source_location where) {
  return extremum_over<Rank, maximum_op>("max", x, set, where);
}

/// The elements as bools: true where not 0.
template <operand X>
[[nodiscard]] auto as_truths(const X& x) {
  if constexpr (std::same_as<value_of_t<X>, bool>)
    return as_node(x);
  else
    return x != 0;
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto any_over(const X& x, const axis_set<N>& set, std::source_location where) {
  return make_reduction<Rank>(as_truths(x), set, bitwise_or_op{}, convert_op<bool>{}, false, where);
}
template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto all_over(const X& x, const axis_set<N>& set, std::source_location where) {
  return make_reduction<Rank>(as_truths(x), set, bitwise_and_op{}, convert_op<bool>{}, true, where);
}
template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto count_nonzero_over(const X& x, const axis_set<N>& set,
                                      std::source_location where) {
  return sum_over<Rank>(as_truths(x), set, where);
}

}  // namespace detail

// Here and in statistics.hpp: the function `name` of an operand: over all axes, over one, which may
// be counted from the end, or over a braced list of them; the last argument may be keep_dims.
#define TOPOS_REDUCTION(name)                                                                      \
  template <operand X, detail::keeping Keep = detail::drop_dims_t>                                 \
  [[nodiscard]] auto name(const X& x, Keep = {},                                                   \
                          std::source_location where = std::source_location::current()) {          \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                          \
    return detail::name##_over<detail::rank_after<rank, rank, Keep>>(x, detail::all_axes<rank>(),  \
                                                                     where);                       \
  }                                                                                                \
  template <operand X, detail::axis_number Axis, detail::keeping Keep = detail::drop_dims_t>       \
    requires(detail::node_t<X>::rank > 0)                                                          \
  [[nodiscard]] auto name(const X& x, Axis axis, Keep = {},                                        \
                          std::source_location where = std::source_location::current()) {          \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                          \
    return detail::name##_over<detail::rank_after<rank, 1, Keep>>(                                 \
        x, detail::axes_named<rank>(#name, {static_cast<index_t>(axis)}, where), where);           \
  }                                                                                                \
  template <operand X, std::integral Axis, std::same_as<bool> Keep>                                \
  void name(const X& /*x*/, Axis /*axis*/, Keep /*keep*/) {                                        \
    static_assert(detail::is_never<X>, "topos: to keep axes write " #name "(x, axis, keep_dims)"); \
  }                                                                                                \
  template <operand X, std::size_t N, detail::keeping Keep = detail::drop_dims_t>                  \
  [[nodiscard]] auto name(const X& x, const index_t(&axes)[N], Keep = {},                          \
                          std::source_location where = std::source_location::current()) {          \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                          \
    return detail::name##_over<detail::rank_after<rank, N, Keep>>(                                 \
        x, detail::axes_named<rank>(#name, axes, where), where);                                   \
  }

/// The sum: of integers and bools in 64 bits, of sixteen-bit floats computed in float. Its error
/// grows with the logarithm of the number of elements. 0 of none.
TOPOS_REDUCTION(sum)

/// The product, in the types of the sum. 1 of none.
TOPOS_REDUCTION(prod)

/// Axes come in braces.
template <operand X, std::integral I, std::integral J>
  requires(!std::same_as<J, bool>)
void sum(const X& /*x*/, I /*first*/, J /*second*/) {
  static_assert(detail::is_never<X>, "topos: of several axes write sum(x, {0, 1})");
}

/// The arithmetic mean: of integers a float, of a sum that is exact (in double of those of 64
/// bits). NaN of none.
TOPOS_REDUCTION(mean)

/// The smallest element; NaN if one is. Throws `invalid_argument` for none.
TOPOS_REDUCTION(min)

/// The largest element; NaN if one is. Throws `invalid_argument` for none.
TOPOS_REDUCTION(max)

namespace detail {

// What can be no axis to reduce along.
template <class Y>
concept other_operand = operand<Y> || std::floating_point<Y>;

}  // namespace detail

/// Those of one operand: of two they are `minimum` and `maximum`.
template <operand X, detail::other_operand Y>
void min(const X& /*x*/, const Y& /*y*/) {
  static_assert(detail::is_never<Y>, "topos: of two operands by element write minimum(x, y)");
}
template <operand X, detail::other_operand Y>
void max(const X& /*x*/, const Y& /*y*/) {
  static_assert(detail::is_never<Y>, "topos: of two operands by element write maximum(x, y)");
}

/// Whether some element is not 0. False for none.
TOPOS_REDUCTION(any)

/// Whether all elements are not 0. True for none.
TOPOS_REDUCTION(all)

/// How many elements are not 0.
TOPOS_REDUCTION(count_nonzero)

}  // namespace topos
