// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Variance, norms and scalar products.

#include <topos/expr/math.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/reduction.hpp>

namespace topos {

/// Delta degrees of freedom: a variance is the sum of squares over the number of elements less
/// this. 1 for that of a sample.
struct ddof {
  double value = 0;
  constexpr ddof() = default;
  constexpr explicit ddof(double less) : value(less) {}
};

namespace detail {

/// The square of the absolute value, a real number.
struct square_of_modulus_op {
  template <class T>
  KOKKOS_FUNCTION auto operator()(const T& x) const {
    if constexpr (is_complex<T>)
      return multiply_op{}(x.real(), x.real()) + multiply_op{}(x.imag(), x.imag());
    else
      return multiply_op{}(x, x);
  }
  template <lane::numbers B>
  auto lanes(const B& x) const {
    if constexpr (complex_lanes<B>)
      return multiply_op{}.lanes(x.real, x.real) + multiply_op{}.lanes(x.imag, x.imag);
    else
      return multiply_op{}.lanes(x, x);
  }
};

/// The root of the quotient by a number: both are rounded exactly, so that lanes have the bits of
/// one number.
template <class To>
struct root_mean_finish {
  double count;
  template <class T>
  KOKKOS_FUNCTION To operator()(const T& total) const {
    return convert_op<To>{}(Kokkos::sqrt(total / static_cast<T>(count)));
  }
  template <floating_lanes B>
  B lanes(const B& total) const {
    static_assert(std::same_as<lane::value_t<B>, To>);
    return lane::sqrt(B(total / lane::splat(static_cast<To>(count))));
  }
};

/// Axes of an intermediate result that stands beside the N axes of what is reduced: none where the
/// result has none, which is one number then.
template <std::size_t Rank, std::size_t N>
inline constexpr std::size_t rank_beside = Rank == 0 ? 0 : N;

/// The real floating-point type of a measure of elements.
template <class T>
using measure_t = real_t<floating_t<T>>;

// The squares of what elements differ from their mean by, reduced: two passes, without
// cancellation.
template <std::size_t Rank, template <class> class Finish, operand X, std::size_t N>
[[nodiscard]] auto spread_over(const X& x, const axis_set<N>& set, ddof less,
                               std::source_location where) {
  using to = measure_t<value_of_t<X>>;
  using wide = wide_t<floating_t<value_of_t<X>>>;
  const auto e = convert<wide>(as_node(x));
  const auto count = static_cast<double>(count_reduced(shape<N>(e.shape()), set)) - less.value;
  const auto mean = mean_over<rank_beside<Rank, N>>(e, set, where);
  const auto squares = make_node("", {}, square_of_modulus_op{}, e - mean);
  return make_reduction<Rank>(squares, set, add_op{}, Finish<to>{count > 0 ? count : 0},
                              real_t<wide>(0), where);
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto var_over(const X& x, const axis_set<N>& set, ddof less,
                            std::source_location where) {
  return spread_over<Rank, mean_finish>(x, set, less, where);
}
template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto std_over(const X& x, const axis_set<N>& set, ddof less,
                            std::source_location where) {
  return spread_over<Rank, root_mean_finish>(x, set, less, where);
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto norm_over(const X& x, const axis_set<N>& set, std::source_location where) {
  using T = floating_t<value_of_t<X>>;
  const auto squares = make_node("", {}, square_of_modulus_op{}, convert<wide_t<T>>(as_node(x)));
  return make_reduction<Rank>(squares, set, add_op{}, root_mean_finish<real_t<T>>{1},
                              real_t<wide_t<T>>(0), where);
}

// The largest elements, where they are finite: what exponentials are taken relative to.
template <std::size_t Rank, expression E, std::size_t N>
[[nodiscard]] tensor<typename E::value_type, Rank> exponents(const E& e, const axis_set<N>& set,
                                                             std::source_location where) {
  using T = typename E::value_type;
  const tensor<T, Rank> most = extremum_over<Rank, maximum_op>("logsumexp", e, set, where);
  return topos::where(isfinite(most), most, T(0));
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto logsumexp_over(const X& x, const axis_set<N>& set, std::source_location where) {
  using T = floating_t<value_of_t<X>>;
  static_assert(!is_complex<T>, "topos: complex numbers have no order");
  const auto e = convert<wide_t<T>>(as_node(x));
  const auto most = exponents<rank_beside<Rank, N>>(e, set, where);
  const auto sums = make_reduction<Rank>(exp(e - most), set, add_op{}, convert_op<wide_t<T>>{},
                                         wide_t<T>(0), where);
  return convert<T>(log(sums) + most.reshape(sums.shape()));
}

}  // namespace detail

// As TOPOS_REDUCTION, with the degrees of freedom before keep_dims.
#define TOPOS_SPREAD(name)                                                                        \
  template <operand X, detail::keeping Keep = detail::drop_dims_t>                                \
  [[nodiscard]] auto name(const X& x, ddof less, Keep = {},                                       \
                          std::source_location where = std::source_location::current()) {         \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                         \
    return detail::name##_over<detail::rank_after<rank, rank, Keep>>(x, detail::all_axes<rank>(), \
                                                                     less, where);                \
  }                                                                                               \
  template <operand X, detail::keeping Keep = detail::drop_dims_t>                                \
  [[nodiscard]] auto name(const X& x, Keep keep = {},                                             \
                          std::source_location where = std::source_location::current()) {         \
    return name(x, ddof{}, keep, where);                                                          \
  }                                                                                               \
  template <operand X, detail::axis_number Axis, detail::keeping Keep = detail::drop_dims_t>      \
    requires(detail::node_t<X>::rank > 0)                                                         \
  [[nodiscard]] auto name(const X& x, Axis axis, ddof less, Keep = {},                            \
                          std::source_location where = std::source_location::current()) {         \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                         \
    return detail::name##_over<detail::rank_after<rank, 1, Keep>>(                                \
        x, detail::axes_named<rank>(#name, {static_cast<index_t>(axis)}, where), less, where);    \
  }                                                                                               \
  template <operand X, detail::axis_number Axis, detail::keeping Keep = detail::drop_dims_t>      \
    requires(detail::node_t<X>::rank > 0)                                                         \
  [[nodiscard]] auto name(const X& x, Axis axis, Keep keep = {},                                  \
                          std::source_location where = std::source_location::current()) {         \
    return name(x, axis, ddof{}, keep, where);                                                    \
  }                                                                                               \
  template <operand X, std::size_t N, detail::keeping Keep = detail::drop_dims_t>                 \
  [[nodiscard]] auto name(const X& x, const index_t(&axes)[N], ddof less, Keep = {},              \
                          std::source_location where = std::source_location::current()) {         \
    constexpr std::size_t rank = detail::node_t<X>::rank;                                         \
    return detail::name##_over<detail::rank_after<rank, N, Keep>>(                                \
        x, detail::axes_named<rank>(#name, axes, where), less, where);                            \
  }                                                                                               \
  template <operand X, std::size_t N, detail::keeping Keep = detail::drop_dims_t>                 \
  [[nodiscard]] auto name(const X& x, const index_t(&axes)[N], Keep keep = {},                    \
                          std::source_location where = std::source_location::current()) {         \
    return name(x, axes, ddof{}, keep, where);                                                    \
  }

/// The variance: the mean square of what elements differ from their mean by. `var(x, 0, ddof{1})`
/// is that of a sample. The mean is enqueued at once. Of integers as float; of complex numbers
/// real.
TOPOS_SPREAD(var)

/// The standard deviation: the square root of the variance.
TOPOS_SPREAD(std)

#undef TOPOS_SPREAD

/// The Euclidean norm: the square root of the sum of squares. Of order 1 it is `sum(abs(x))`, of
/// infinity `max(abs(x))`, with the same arguments.
TOPOS_REDUCTION(norm)

/// log(sum(exp(x))), without overflow: an expression, whose sum is enqueued at once. Throws
/// `invalid_argument` for none.
TOPOS_REDUCTION(logsumexp)

#undef TOPOS_REDUCTION

/// The scalar product of two vectors of one length: of integers in 64 bits, of sixteen-bit floats
/// computed in float. Throws `shape_mismatch`, `device_mismatch`.
template <operand A, operand B>
[[nodiscard]] auto dot(const A& a, const B& b,
                       std::source_location where = std::source_location::current()) {
  static_assert(detail::node_t<A>::rank == 1 && detail::node_t<B>::rank == 1,
                "topos: dot takes vectors; see matmul");
  using T = detail::common_t<A, B>;
  using to = detail::total_t<T>;
  using wide = detail::sum_t<T>;
  const auto x = detail::convert<wide>(detail::node_as<T>(a));
  const auto y = detail::convert<wide>(detail::node_as<T>(b));
  if (shape<1>(x.shape()) != shape<1>(y.shape())) {
    throw shape_mismatch(
        detail::concat("dot: vectors of ", x.shape()[0], " and of ", y.shape()[0], " elements"),
        where);
  }
  return detail::make_reduction<0>(detail::make_node("dot", where, detail::multiply_op{}, x, y),
                                   detail::all_axes<1>(), detail::add_op{},
                                   detail::convert_op<to>{}, wide(0), where);
}

}  // namespace topos
