// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Variance, norms and scalar products.

#include <Kokkos_NumericTraits.hpp>
#include <topos/expr/math.hpp>
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

/// The squares of what elements differ from their mean by. What they differ from a centre by that
/// is the mean but for its rounding is summed up with its squares, which corrects both: Chan, Golub
/// and LeVeque, "Algorithms for computing the sample variance", Am. Stat. 37 (1983) 242, as are
/// parts joined. Kept are the mean less the centre, and the sum of squares about the mean.
struct squares_about_mean {
  using first_op = add_op;
  static constexpr std::size_t terms = 2;

  template <class T>
  static KOKKOS_FUNCTION T centre_of(const T& total, index_t count) {
    return total / static_cast<real_t<T>>(count);
  }

  template <class T>
  static KOKKOS_FUNCTION joint_values<T, 2> terms_of(const T& x, const T& centre) {
    const T apart = x - centre;
    return {{apart, square(apart)}};
  }
  template <floating_lanes B>
  static joint_values<B, 2> terms_of(const B& x, const B& centre) {
    const B apart = x - centre;
    return {{apart, square(apart)}};
  }

  // The difference of sums may be less than 0 by their rounding; of squares that are infinite
  // nothing is subtracted.
  template <class T>
  static KOKKOS_FUNCTION sums_about<T, 2> settle(const T& centre, const joint_values<T, 2>& sums,
                                                 index_t count) {
    using real = real_t<T>;
    const real share = real(1) / static_cast<real>(count);
    const real squares = real_op{}(sums.of[1]);
    const real rounding = real_op{}(square(sums.of[0])) * share;
    const bool is_finite = rounding <= Kokkos::Experimental::finite_max_v<real>;
    const real left = is_finite ? maximum_op{}(squares - rounding, real(0)) : squares;
    return {centre, {sums.of[0] * share, T(left)}};
  }
  template <floating_lanes B>
  static sums_about<B, 2> settle(const B& centre, const joint_values<B, 2>& sums, index_t count) {
    using real = lane::value_t<B>;
    const B share = lane::splat(real(1) / static_cast<real>(count));
    const B rounding = square(sums.of[0]) * share;
    const B left = maximum_op{}.lanes(B(sums.of[1] - rounding), lane::splat(real(0)));
    const auto is_finite = rounding <= lane::splat(Kokkos::Experimental::finite_max_v<real>);
    return {centre, {sums.of[0] * share, lane::select(is_finite, left, sums.of[1])}};
  }

  /// Of the second part in all elements, and of the square of what the parts are apart.
  struct weights {
    double share;
    double between;
  };
  static KOKKOS_FUNCTION weights weigh(index_t a, index_t b) {
    const double share = static_cast<double>(b) / static_cast<double>(a + b);
    return {share, share * static_cast<double>(a)};
  }
  template <class T>
  static KOKKOS_FUNCTION sums_about<T, 2> join(const sums_about<T, 2>& a, const sums_about<T, 2>& b,
                                               const weights& w) {
    using real = real_t<T>;
    const T apart = (b.centre - a.centre) + (b.sums[0] - a.sums[0]);
    const T between = square(apart) * static_cast<real>(w.between);
    return {a.centre,
            {a.sums[0] + apart * static_cast<real>(w.share), a.sums[1] + b.sums[1] + between}};
  }
  template <floating_lanes B>
  static sums_about<B, 2> join(const sums_about<B, 2>& a, const sums_about<B, 2>& b,
                               const weights& w) {
    using real = lane::value_t<B>;
    const B apart = B(b.centre - a.centre) + B(b.sums[0] - a.sums[0]);
    const B between = square(apart) * lane::splat(static_cast<real>(w.between));
    return {a.centre,
            {a.sums[0] + B(apart * lane::splat(static_cast<real>(w.share))),
             B(a.sums[1] + b.sums[1]) + between}};
  }

 private:
  // Of the absolute value, as a number of the same type.
  template <class T>
  static KOKKOS_FUNCTION T square(const T& x) {
    return T(square_of_modulus_op{}(x));
  }
  template <floating_lanes B>
  static B square(const B& x) {
    return square_of_modulus_op{}.lanes(x);
  }
};

/// The quotient by a number, and its root: exactly rounded, so that lanes have the bits of one
/// number.
template <class To>
struct mean_of_squares {
  double count;
  template <class T>
  KOKKOS_FUNCTION To operator()(const sums_about<T, 2>& s) const {
    return convert_op<To>{}(real_op{}(s.sums[1]) / static_cast<real_t<T>>(count));
  }
  template <floating_lanes B>
  B lanes(const sums_about<B, 2>& s) const {
    return s.sums[1] / lane::splat(static_cast<lane::value_t<B>>(count));
  }
};
template <class To>
struct root_mean_of_squares {
  double count;
  template <class T>
  KOKKOS_FUNCTION To operator()(const sums_about<T, 2>& s) const {
    return convert_op<To>{}(Kokkos::sqrt(real_op{}(s.sums[1]) / static_cast<real_t<T>>(count)));
  }
  template <floating_lanes B>
  B lanes(const sums_about<B, 2>& s) const {
    return lane::sqrt(B(s.sums[1] / lane::splat(static_cast<lane::value_t<B>>(count))));
  }
};

/// A reduction of elements about their centre.
template <std::size_t Rank, centring Op, class Finish, expression E>
[[nodiscard]] auto make_centred(const E& e, const axis_set<E::rank>& set, const Finish& finish,
                                std::source_location where) {
  return make_reduction<Rank>(e, set, Op{}, finish, combined_t<Op, typename E::value_type>{},
                              where);
}

/// The real floating-point type of a measure of elements.
template <class T>
using measure_t = real_t<floating_t<T>>;

template <std::size_t Rank, template <class> class Finish, operand X, std::size_t N>
[[nodiscard]] auto spread_over(const X& x, const axis_set<N>& set, ddof less,
                               std::source_location where) {
  using finish = Finish<measure_t<value_of_t<X>>>;
  const auto e = convert<wide_t<floating_t<value_of_t<X>>>>(as_node(x));
  const auto count = static_cast<double>(count_reduced(shape<N>(e.shape()), set)) - less.value;
  return make_centred<Rank, squares_about_mean>(e, set, finish{count > 0 ? count : 0}, where);
}

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto var_over(const X& x, const axis_set<N>& set, ddof less,
                            std::source_location where) {
  return spread_over<Rank, mean_of_squares>(x, set, less, where);
}
template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto std_over(const X& x, const axis_set<N>& set, ddof less,
                            std::source_location where) {
  return spread_over<Rank, root_mean_of_squares>(x, set, less, where);
}

/// The root of a sum, exactly rounded.
template <class To>
struct root_finish {
  template <class T>
  KOKKOS_FUNCTION To operator()(const T& total) const {
    return convert_op<To>{}(Kokkos::sqrt(total));
  }
  template <floating_lanes B>
  B lanes(const B& total) const {
    static_assert(std::same_as<lane::value_t<B>, To>);
    return lane::sqrt(total);
  }
};

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto norm_over(const X& x, const axis_set<N>& set, std::source_location where) {
  using T = floating_t<value_of_t<X>>;
  const auto squares = make_node("", {}, square_of_modulus_op{}, convert<wide_t<T>>(as_node(x)));
  return make_reduction<Rank>(squares, set, add_op{}, root_finish<real_t<T>>{},
                              real_t<wide_t<T>>(0), where);
}

/// Exponentials beside that of the largest element, summed up without overflow.
struct exponentials_below_largest {
  using first_op = maximum_op;
  static constexpr std::size_t terms = 1;

  /// Finite: what is infinite is so beside it too.
  template <class T>
  static KOKKOS_FUNCTION T centre_of(const T& largest, index_t /*count*/) {
    constexpr T most = Kokkos::Experimental::finite_max_v<T>;
    return largest > most ? most : largest < -most ? -most : largest;
  }
  template <class T>
  static KOKKOS_FUNCTION joint_values<T, 1> terms_of(const T& x, const T& centre) {
    return {{exp_op{}(T(x - centre))}};
  }
  template <floating_lanes B>
  [[gnu::always_inline]] static joint_values<B, 1> terms_of(const B& x, const B& centre) {
    return {{exponential(B(x - centre))}};
  }
  template <class T>
  static KOKKOS_FUNCTION sums_about<T, 1> settle(const T& centre, const joint_values<T, 1>& sums,
                                                 index_t /*count*/) {
    return {centre, {sums.of[0]}};
  }
  template <floating_lanes B>
  static sums_about<B, 1> settle(const B& centre, const joint_values<B, 1>& sums,
                                 index_t /*count*/) {
    return {centre, {sums.of[0]}};
  }

  // The exponential of the larger centre beside itself is 1.
  struct weights {};
  static KOKKOS_FUNCTION weights weigh(index_t /*a*/, index_t /*b*/) { return {}; }
  template <class T>
  static KOKKOS_FUNCTION sums_about<T, 1> join(const sums_about<T, 1>& a, const sums_about<T, 1>& b,
                                               weights /*w*/) {
    if (a.centre < b.centre)
      return {b.centre, {a.sums[0] * exp_op{}(T(a.centre - b.centre)) + b.sums[0]}};
    return {a.centre, {a.sums[0] + b.sums[0] * exp_op{}(T(b.centre - a.centre))}};
  }
  template <floating_lanes B>
  static sums_about<B, 1> join(const sums_about<B, 1>& a, const sums_about<B, 1>& b,
                               weights /*w*/) {
    const B& x = a.sums[0];
    const B& y = b.sums[0];
    const B largest = maximum_op{}.lanes(a.centre, b.centre);
    const B less = exponential(B(lane::min(a.centre, b.centre) - largest));
    return {largest, {lane::select(a.centre < b.centre, B(x * less + y), B(x + y * less))}};
  }

 private:
  template <class B>
  [[gnu::always_inline]] static B exponential(const B& x) {
    if constexpr (has_lanes<exp_op, B>)
      return exp_op{}.lanes(x);
    else
      return lane::each(exp_op{}, x);
  }
};

/// The logarithm of a sum of exponentials.
template <class To>
struct log_of_exponentials {
  template <class T>
  KOKKOS_FUNCTION To operator()(const sums_about<T, 1>& s) const {
    return convert_op<To>{}(log_op{}(s.sums[0]) + s.centre);
  }
  template <floating_lanes B>
    requires has_lanes<log_op, B> B lanes(const sums_about<B, 1>& s)
  const { return log_op{}.lanes(s.sums[0]) + s.centre; }
};

template <std::size_t Rank, operand X, std::size_t N>
[[nodiscard]] auto logsumexp_over(const X& x, const axis_set<N>& set, std::source_location where) {
  using T = floating_t<value_of_t<X>>;
  static_assert(!is_complex<T>, "topos: complex numbers have no order");
  const auto e = convert<wide_t<T>>(as_node(x));
  require_elements("logsumexp", shape<N>(e.shape()), set, where);
  return make_centred<Rank, exponentials_below_largest>(e, set, log_of_exponentials<T>{}, where);
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
/// is that of a sample. Of integers as float; of complex numbers real.
TOPOS_SPREAD(var)

/// The standard deviation: the square root of the variance.
TOPOS_SPREAD(std)

#undef TOPOS_SPREAD

/// The Euclidean norm: the square root of the sum of squares. Of order 1 it is `sum(abs(x))`, of
/// infinity `max(abs(x))`, with the same arguments.
TOPOS_REDUCTION(norm)

/// log(sum(exp(x))), without overflow. Throws `invalid_argument` for none.
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
