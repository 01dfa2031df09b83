// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions of <cmath> and their like, element by element.
///
/// They take tensors and expressions, and compute nothing yet. Integers are taken as float where
/// the function's values are no integers. Names and meanings are NumPy's.

#include <topos/expr/elementwise.hpp>
#include <utility>

namespace topos {

/// The elementwise arc cosine, in radians.
TOPOS_FUNCTION_OF_ONE(acos, apply_floating, acos_op)

/// The elementwise inverse hyperbolic cosine.
TOPOS_FUNCTION_OF_ONE(acosh, apply_floating, acosh_op)

/// The elementwise arc sine, in radians.
TOPOS_FUNCTION_OF_ONE(asin, apply_floating, asin_op)

/// The elementwise inverse hyperbolic sine.
TOPOS_FUNCTION_OF_ONE(asinh, apply_floating, asinh_op)

/// The elementwise arc tangent, in radians.
TOPOS_FUNCTION_OF_ONE(atan, apply_floating, atan_op)

/// The elementwise inverse hyperbolic tangent.
TOPOS_FUNCTION_OF_ONE(atanh, apply_floating, atanh_op)

/// The elementwise cube root.
TOPOS_FUNCTION_OF_ONE(cbrt, apply_floating, cbrt_op)

/// The elementwise cosine of radians.
TOPOS_FUNCTION_OF_ONE(cos, apply_floating, cos_op)

/// The elementwise hyperbolic cosine.
TOPOS_FUNCTION_OF_ONE(cosh, apply_floating, cosh_op)

/// The elementwise error function.
TOPOS_FUNCTION_OF_ONE(erf, apply_floating, erf_op)

/// The elementwise complementary error function, 1 - erf(x).
TOPOS_FUNCTION_OF_ONE(erfc, apply_floating, erfc_op)

/// The elementwise exponential.
TOPOS_FUNCTION_OF_ONE(exp, apply_floating, exp_op)

/// The elementwise power of 2.
TOPOS_FUNCTION_OF_ONE(exp2, apply_floating, exp2_op)

/// The elementwise exponential less 1, exact near 0.
TOPOS_FUNCTION_OF_ONE(expm1, apply_floating, expm1_op)

/// The elementwise logarithm of the absolute value of the gamma function.
TOPOS_FUNCTION_OF_ONE(lgamma, apply_floating, lgamma_op)

/// The elementwise natural logarithm.
TOPOS_FUNCTION_OF_ONE(log, apply_floating, log_op)

/// The elementwise logarithm to base 10.
TOPOS_FUNCTION_OF_ONE(log10, apply_floating, log10_op)

/// The elementwise natural logarithm of 1 + x, exact near 0.
TOPOS_FUNCTION_OF_ONE(log1p, apply_floating, log1p_op)

/// The elementwise logarithm to base 2.
TOPOS_FUNCTION_OF_ONE(log2, apply_floating, log2_op)

/// The elementwise reciprocal, 1/x.
TOPOS_FUNCTION_OF_ONE(reciprocal, apply_floating, reciprocal_op)

/// The elementwise reciprocal of the square root.
TOPOS_FUNCTION_OF_ONE(rsqrt, apply_floating, rsqrt_op)

/// The elementwise logistic function, 1 / (1 + exp(-x)).
TOPOS_FUNCTION_OF_ONE(sigmoid, apply_floating, sigmoid_op)

/// The elementwise sine of radians.
TOPOS_FUNCTION_OF_ONE(sin, apply_floating, sin_op)

/// The elementwise hyperbolic sine.
TOPOS_FUNCTION_OF_ONE(sinh, apply_floating, sinh_op)

/// The elementwise square root.
TOPOS_FUNCTION_OF_ONE(sqrt, apply_floating, sqrt_op)

/// The elementwise tangent of radians.
TOPOS_FUNCTION_OF_ONE(tan, apply_floating, tan_op)

/// The elementwise hyperbolic tangent.
TOPOS_FUNCTION_OF_ONE(tanh, apply_floating, tanh_op)

/// The elementwise gamma function.
TOPOS_FUNCTION_OF_ONE(tgamma, apply_floating, tgamma_op)

/// The elementwise Gaussian error linear unit, x/2 (1 + erf(x/sqrt 2)).
TOPOS_FUNCTION_OF_ONE(gelu, apply_floating, gelu_op)

/// The elementwise absolute value; of complex numbers, a real one.
TOPOS_FUNCTION_OF_ONE(abs, apply, abs_op)

/// The elementwise square.
TOPOS_FUNCTION_OF_ONE(square, apply, square_op)

/// -1, 0 or 1, element by element; NaN of NaN.
TOPOS_FUNCTION_OF_ONE(sign, apply, sign_op)

/// The larger of 0 and the element.
[[nodiscard]] auto relu(detail::given_operand auto&& a) {
  return detail::apply<detail::maximum_op>("relu", std::forward<decltype(a)>(a), 0, {});
}

namespace detail {

// Integers are whole already.
template <class Op, given_operand A>
[[nodiscard]] auto apply_rounding(A&& a) {
  if constexpr (std::integral<value_of_t<A>>)
    return node_as<value_of_t<A>>(std::forward<A>(a));
  else
    return apply<Op>(std::forward<A>(a));
}

}  // namespace detail

/// The nearest whole number: below, above, towards 0, and with halves to the even one.
TOPOS_FUNCTION_OF_ONE(floor, apply_rounding, floor_op)
TOPOS_FUNCTION_OF_ONE(ceil, apply_rounding, ceil_op)
TOPOS_FUNCTION_OF_ONE(trunc, apply_rounding, trunc_op)
TOPOS_FUNCTION_OF_ONE(rint, apply_rounding, nearbyint_op)
TOPOS_FUNCTION_OF_ONE(round, apply_rounding, nearbyint_op)

/// The fraction and the whole part of each element, both of its sign: two expressions, which
/// `eval(...)` computes in one pass.
[[nodiscard]] auto modf(const operand auto& a) {
  return std::pair(detail::apply_floating<detail::fraction_op>(a),
                   detail::apply_floating<detail::trunc_op>(a));
}

/// Each element as a significand in [0.5, 1) and the power of 2 (int32) that it is to be multiplied
/// with: two expressions. NaN, infinities and 0 have the power 0.
[[nodiscard]] auto frexp(const operand auto& a) {
  return std::pair(detail::apply_floating<detail::significand_op>(a),
                   detail::apply_floating<detail::exponent_op>(a));
}

/// Each element times 2 to a power of whole numbers, rounded once.
template <detail::given_operand A, class B>
  requires(std::integral<B> || operand<B>)
[[nodiscard]] auto ldexp(A&& a, const B& exponent,
                         std::source_location where = std::source_location::current()) {
  using T = detail::floating_t<detail::value_of_t<A>>;
  // Lanes take powers of the size of what they multiply.
  using whole = std::conditional_t<sizeof(T) == sizeof(double), std::int64_t, std::int32_t>;
  if constexpr (operand<B>) {
    using E = detail::value_of_t<B>;
    static_assert(std::integral<E>, "topos: ldexp takes whole powers of 2");
    constexpr bool fits = sizeof(E) < sizeof(whole) || std::same_as<E, whole>;
    return detail::make_node("ldexp", where, detail::ldexp_op{},
                             detail::node_as<T>(std::forward<A>(a)),
                             detail::node_as<std::conditional_t<fits, whole, E>>(exponent));
  } else {
    return detail::make_node("ldexp", where, detail::ldexp_op{},
                             detail::node_as<T>(std::forward<A>(a)),
                             detail::constant_node<whole>(detail::held_power(exponent)));
  }
}

/// Whether the element is NaN, infinite, finite, or has its sign bit set.
TOPOS_FUNCTION_OF_ONE(isnan, apply_floating, isnan_op)
TOPOS_FUNCTION_OF_ONE(isinf, apply_floating, isinf_op)
TOPOS_FUNCTION_OF_ONE(isfinite, apply_floating, isfinite_op)
TOPOS_FUNCTION_OF_ONE(signbit, apply_floating, signbit_op)

/// The parts of complex numbers, and their conjugate; real numbers have an imaginary part of 0.
TOPOS_FUNCTION_OF_ONE(real, apply, real_op)
TOPOS_FUNCTION_OF_ONE(imag, apply, imag_op)
TOPOS_FUNCTION_OF_ONE(conj, apply, conj_op)

/// The angle of complex numbers, in radians from -pi to pi; pi of negative real ones.
TOPOS_FUNCTION_OF_ONE(angle, apply_floating, angle_op)

/// Angles in degrees, in radians, and back.
[[nodiscard]] auto radians(detail::given_operand auto&& a) {
  return multiply(std::forward<decltype(a)>(a), 0.017453292519943295769236907684886, {});
}
[[nodiscard]] auto degrees(detail::given_operand auto&& a) {
  return multiply(std::forward<decltype(a)>(a), 57.295779513082320876798154814105, {});
}

/// The smaller of two; NaN where one of them is.
TOPOS_FUNCTION_OF_TWO(minimum, apply, minimum_op)

/// The larger of two; NaN where one of them is.
TOPOS_FUNCTION_OF_TWO(maximum, apply, maximum_op)

/// The largest whole number not above the quotient; of integers by 0 it is 0.
TOPOS_FUNCTION_OF_TWO(floor_divide, apply_division, floor_divide_op)

/// The smaller of two; a NaN is passed over.
TOPOS_FUNCTION_OF_TWO(fmin, apply, fmin_op)

/// The larger of two; a NaN is passed over.
TOPOS_FUNCTION_OF_TWO(fmax, apply, fmax_op)

/// What division cut off towards 0 leaves, of the sign of the dividend; of integers by 0 it is 0.
TOPOS_FUNCTION_OF_TWO(fmod, apply, fmod_op)

/// The difference, or 0 where it is negative.
TOPOS_FUNCTION_OF_TWO(fdim, apply_floating, fdim_op)

/// The angle of the point (b, a), in radians.
TOPOS_FUNCTION_OF_TWO(atan2, apply_floating, atan2_op)

/// The length of the hypotenuse, without overflow on the way.
TOPOS_FUNCTION_OF_TWO(hypot, apply_floating, hypot_op)

/// The magnitude of the first with the sign of the second.
TOPOS_FUNCTION_OF_TWO(copysign, apply_floating, copysign_op)

/// The next number after the first towards the second.
TOPOS_FUNCTION_OF_TWO(nextafter, apply_floating, nextafter_op)

/// log(exp(a) + exp(b)), without overflow on the way.
TOPOS_FUNCTION_OF_TWO(logaddexp, apply_floating, logaddexp_op)

/// The complex numbers of such real and imaginary parts.
TOPOS_FUNCTION_OF_TWO(complex, apply_floating, complex_op)

#undef TOPOS_FUNCTION_OF_ONE
#undef TOPOS_FUNCTION_OF_TWO

/// a * b + c, rounded once; integers wrap around.
template <class A, class B, class C>
  requires(detail::given_operand<A> || detail::given_operand<B> || detail::given_operand<C>)
[[nodiscard]] auto fma(A&& a, B&& b, C&& c,
                       std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<decltype(std::as_const(a) * std::as_const(b) + std::as_const(c))>;
  return detail::make_node("fma", where, detail::fma_op{},
                           detail::node_as<T>(std::forward<A>(a), "fma", where),
                           detail::node_as<T>(std::forward<B>(b), "fma", where),
                           detail::node_as<T>(std::forward<C>(c), "fma", where));
}

/// Numbers to a power. A scalar power that is a small whole number costs its products, 0.5 a square
/// root; integers to whole powers stay integers, so that negative ones are 0, but of 1 and -1.
template <class A, class B>
  requires detail::given_operands<A, B>
[[nodiscard]] auto pow(A&& a, B&& b, std::source_location where = std::source_location::current()) {
  using T = detail::common_t<A, B>;
  if constexpr (detail::scalar<std::remove_cvref_t<B>> && !std::integral<T>) {
    using S = std::conditional_t<detail::is_half<T>, float, T>;
    const auto exponent = static_cast<S>(detail::convert_op<T>{}(b));
    return detail::make_node("pow", where, detail::power_op<S>::of(exponent),
                             detail::node_as<T>(std::forward<A>(a)));
  } else {
    return detail::apply<detail::pow_op>("pow", std::forward<A>(a), std::forward<B>(b), where);
  }
}

}  // namespace topos
