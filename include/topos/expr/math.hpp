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
[[nodiscard]] auto acos(const operand auto& a) {
  return detail::apply_floating<detail::acos_op>(a);
}

/// The elementwise inverse hyperbolic cosine.
[[nodiscard]] auto acosh(const operand auto& a) {
  return detail::apply_floating<detail::acosh_op>(a);
}

/// The elementwise arc sine, in radians.
[[nodiscard]] auto asin(const operand auto& a) {
  return detail::apply_floating<detail::asin_op>(a);
}

/// The elementwise inverse hyperbolic sine.
[[nodiscard]] auto asinh(const operand auto& a) {
  return detail::apply_floating<detail::asinh_op>(a);
}

/// The elementwise arc tangent, in radians.
[[nodiscard]] auto atan(const operand auto& a) {
  return detail::apply_floating<detail::atan_op>(a);
}

/// The elementwise inverse hyperbolic tangent.
[[nodiscard]] auto atanh(const operand auto& a) {
  return detail::apply_floating<detail::atanh_op>(a);
}

/// The elementwise cube root.
[[nodiscard]] auto cbrt(const operand auto& a) {
  return detail::apply_floating<detail::cbrt_op>(a);
}

/// The elementwise cosine of radians.
[[nodiscard]] auto cos(const operand auto& a) { return detail::apply_floating<detail::cos_op>(a); }

/// The elementwise hyperbolic cosine.
[[nodiscard]] auto cosh(const operand auto& a) {
  return detail::apply_floating<detail::cosh_op>(a);
}

/// The elementwise error function.
[[nodiscard]] auto erf(const operand auto& a) { return detail::apply_floating<detail::erf_op>(a); }

/// The elementwise complementary error function, 1 - erf(x).
[[nodiscard]] auto erfc(const operand auto& a) {
  return detail::apply_floating<detail::erfc_op>(a);
}

/// The elementwise exponential.
[[nodiscard]] auto exp(const operand auto& a) { return detail::apply_floating<detail::exp_op>(a); }

/// The elementwise power of 2.
[[nodiscard]] auto exp2(const operand auto& a) {
  return detail::apply_floating<detail::exp2_op>(a);
}

/// The elementwise exponential less 1, exact near 0.
[[nodiscard]] auto expm1(const operand auto& a) {
  return detail::apply_floating<detail::expm1_op>(a);
}

/// The elementwise logarithm of the absolute value of the gamma function.
[[nodiscard]] auto lgamma(const operand auto& a) {
  return detail::apply_floating<detail::lgamma_op>(a);
}

/// The elementwise natural logarithm.
[[nodiscard]] auto log(const operand auto& a) { return detail::apply_floating<detail::log_op>(a); }

/// The elementwise logarithm to base 10.
[[nodiscard]] auto log10(const operand auto& a) {
  return detail::apply_floating<detail::log10_op>(a);
}

/// The elementwise natural logarithm of 1 + x, exact near 0.
[[nodiscard]] auto log1p(const operand auto& a) {
  return detail::apply_floating<detail::log1p_op>(a);
}

/// The elementwise logarithm to base 2.
[[nodiscard]] auto log2(const operand auto& a) {
  return detail::apply_floating<detail::log2_op>(a);
}

/// The elementwise reciprocal, 1/x.
[[nodiscard]] auto reciprocal(const operand auto& a) {
  return detail::apply_floating<detail::reciprocal_op>(a);
}

/// The elementwise reciprocal of the square root.
[[nodiscard]] auto rsqrt(const operand auto& a) {
  return detail::apply_floating<detail::rsqrt_op>(a);
}

/// The elementwise logistic function, 1 / (1 + exp(-x)).
[[nodiscard]] auto sigmoid(const operand auto& a) {
  return detail::apply_floating<detail::sigmoid_op>(a);
}

/// The elementwise sine of radians.
[[nodiscard]] auto sin(const operand auto& a) { return detail::apply_floating<detail::sin_op>(a); }

/// The elementwise hyperbolic sine.
[[nodiscard]] auto sinh(const operand auto& a) {
  return detail::apply_floating<detail::sinh_op>(a);
}

/// The elementwise square root.
[[nodiscard]] auto sqrt(const operand auto& a) {
  return detail::apply_floating<detail::sqrt_op>(a);
}

/// The elementwise tangent of radians.
[[nodiscard]] auto tan(const operand auto& a) { return detail::apply_floating<detail::tan_op>(a); }

/// The elementwise hyperbolic tangent.
[[nodiscard]] auto tanh(const operand auto& a) {
  return detail::apply_floating<detail::tanh_op>(a);
}

/// The elementwise gamma function.
[[nodiscard]] auto tgamma(const operand auto& a) {
  return detail::apply_floating<detail::tgamma_op>(a);
}

/// The elementwise Gaussian error linear unit, x/2 (1 + erf(x/sqrt 2)).
[[nodiscard]] auto gelu(const operand auto& a) {
  return detail::apply_floating<detail::gelu_op>(a);
}

/// The elementwise absolute value; of complex numbers, a real one.
[[nodiscard]] auto abs(const operand auto& a) { return detail::apply<detail::abs_op>(a); }

/// The elementwise square.
[[nodiscard]] auto square(const operand auto& a) { return detail::apply<detail::square_op>(a); }

/// -1, 0 or 1, element by element; NaN of NaN.
[[nodiscard]] auto sign(const operand auto& a) { return detail::apply<detail::sign_op>(a); }

/// The larger of 0 and the element.
[[nodiscard]] auto relu(const operand auto& a) {
  return detail::apply<detail::maximum_op>("relu", a, 0, {});
}

namespace detail {

// Integers are whole already.
template <class Op, operand A>
[[nodiscard]] auto apply_rounding(const A& a) {
  if constexpr (std::integral<value_of_t<A>>)
    return as_node(a);
  else
    return apply<Op>(a);
}

}  // namespace detail

/// The nearest whole number: below, above, towards 0, and with halves to the even one.
[[nodiscard]] auto floor(const operand auto& a) {
  return detail::apply_rounding<detail::floor_op>(a);
}
[[nodiscard]] auto ceil(const operand auto& a) {
  return detail::apply_rounding<detail::ceil_op>(a);
}
[[nodiscard]] auto trunc(const operand auto& a) {
  return detail::apply_rounding<detail::trunc_op>(a);
}
[[nodiscard]] auto rint(const operand auto& a) {
  return detail::apply_rounding<detail::nearbyint_op>(a);
}
[[nodiscard]] auto round(const operand auto& a) {
  return detail::apply_rounding<detail::nearbyint_op>(a);
}

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
template <operand A, class B>
  requires(std::integral<B> || operand<B>)
[[nodiscard]] auto ldexp(const A& a, const B& exponent,
                         std::source_location where = std::source_location::current()) {
  using T = detail::floating_t<detail::value_of_t<A>>;
  // Lanes take powers of the size of what they multiply.
  using whole = std::conditional_t<sizeof(T) == sizeof(double), std::int64_t, std::int32_t>;
  if constexpr (operand<B>) {
    using E = detail::value_of_t<B>;
    static_assert(std::integral<E>, "topos: ldexp takes whole powers of 2");
    constexpr bool fits = sizeof(E) < sizeof(whole) || std::same_as<E, whole>;
    return detail::make_node("ldexp", where, detail::ldexp_op{}, detail::node_as<T>(a),
                             detail::node_as<std::conditional_t<fits, whole, E>>(exponent));
  } else {
    return detail::make_node("ldexp", where, detail::ldexp_op{}, detail::node_as<T>(a),
                             detail::constant_node<whole>(detail::held_power(exponent)));
  }
}

/// Whether the element is NaN, infinite, finite, or has its sign bit set.
[[nodiscard]] auto isnan(const operand auto& a) {
  return detail::apply_floating<detail::isnan_op>(a);
}
[[nodiscard]] auto isinf(const operand auto& a) {
  return detail::apply_floating<detail::isinf_op>(a);
}
[[nodiscard]] auto isfinite(const operand auto& a) {
  return detail::apply_floating<detail::isfinite_op>(a);
}
[[nodiscard]] auto signbit(const operand auto& a) {
  return detail::apply_floating<detail::signbit_op>(a);
}

/// The parts of complex numbers, and their conjugate; real numbers have an imaginary part of 0.
[[nodiscard]] auto real(const operand auto& a) { return detail::apply<detail::real_op>(a); }
[[nodiscard]] auto imag(const operand auto& a) { return detail::apply<detail::imag_op>(a); }
[[nodiscard]] auto conj(const operand auto& a) { return detail::apply<detail::conj_op>(a); }

/// The angle of complex numbers, in radians from -pi to pi; pi of negative real ones.
[[nodiscard]] auto angle(const operand auto& a) {
  return detail::apply_floating<detail::angle_op>(a);
}

/// Angles in degrees, in radians, and back.
[[nodiscard]] auto radians(const operand auto& a) {
  return multiply(a, 0.017453292519943295769236907684886, {});
}
[[nodiscard]] auto degrees(const operand auto& a) {
  return multiply(a, 57.295779513082320876798154814105, {});
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

#undef TOPOS_FUNCTION_OF_TWO

/// a * b + c, rounded once; integers wrap around.
template <class A, class B, class C>
  requires(operand<A> || operand<B> || operand<C>)
[[nodiscard]] auto fma(const A& a, const B& b, const C& c,
                       std::source_location where = std::source_location::current()) {
  using T = detail::value_of_t<decltype(a * b + c)>;
  return detail::make_node("fma", where, detail::fma_op{}, detail::node_as<T>(a, "fma", where),
                           detail::node_as<T>(b, "fma", where),
                           detail::node_as<T>(c, "fma", where));
}

/// Numbers to a power. A scalar power that is a small whole number costs its products, 0.5 a square
/// root; integers to whole powers stay integers, so that negative ones are 0, but of 1 and -1.
template <class A, class B>
  requires detail::operands<A, B>
[[nodiscard]] auto pow(const A& a, const B& b,
                       std::source_location where = std::source_location::current()) {
  using T = detail::common_t<A, B>;
  if constexpr (detail::scalar<B> && !std::integral<T>) {
    using S = std::conditional_t<detail::is_half<T>, float, T>;
    const auto exponent = static_cast<S>(detail::convert_op<T>{}(b));
    return detail::make_node("pow", where, detail::power_op<S>::of(exponent),
                             detail::node_as<T>(a));
  } else {
    return detail::apply<detail::pow_op>("pow", a, b, where);
  }
}

}  // namespace topos
