// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sines and their like of lanes. xsimd's own reduce all lanes of a batch in the way that the
/// largest of them needs, so that the bits of one would depend on its neighbours: here each is
/// reduced by itself to what they take as it is.

#include <cmath>
#include <cstdint>
#include <topos/expr/detail/xsimd_exp.hpp>
#include <topos/expr/detail/xsimd_lanes.hpp>
#include <type_traits>
#include <utility>

namespace topos::lane {

namespace detail {

/// Some |x| as turns * pi/2 + rest, where |rest| is at most pi/4, or little more.
template <class T, class A>
struct quarter_turns {
  using B = xsimd::batch<T, A>;

  B turns;
  B rest;
  xsimd::batch_bool<T, A> beyond;  // where |x| is too large for it, infinite or NaN

  explicit quarter_turns(const B& x) {
    const B size = xsimd::abs(x);
    turns = lane::nearbyint(size * xsimd::constants::twoopi<B>());
    if constexpr (has_fma) {
      rest = rest_of(size, turns);
      beyond = ~(size <= B(most));
    } else {
      // In parts so short that their multiples are exact, and what the last difference loses.
      const B two =
          size - turns * xsimd::constants::pio2_1<B>() - turns * xsimd::constants::pio2_2<B>();
      const B third = turns * xsimd::constants::pio2_3<B>();
      const B sum = two - third;
      rest = sum - (turns * xsimd::constants::pio2_3t<B>() - ((two - sum) - third));
      beyond = ~(size <= xsimd::constants::mediumpi<B>());
    }
    turns = turns - B(T(4)) * lane::floor(turns * B(T(0.25)));
  }

  /// The largest |x| of which enough is left. With `has_fma`, as the next.
  static constexpr T most = sizeof(T) == 4 ? T(1 << 20) : T(1 << 30);

  /// What is left of a size without some turns: pi/2 is in parts, each the nearest number to what
  /// is left. The first difference is exact.
  [[nodiscard]] static B rest_of(const B& size, const B& turns) {
    constexpr bool narrow = sizeof(T) == 4;
    B rest = lane::fma(turns, B(narrow ? T(-0x1.921fb6p+0) : T(-0x1.921fb54442d18p+0)), size);
    rest = lane::fma(turns, B(narrow ? T(0x1.777a5cp-25) : T(-0x1.1a62633145c07p-54)), rest);
    return lane::fma(turns, B(narrow ? T(0x1.ee59dap-50) : T(0x1.f1976b7ed8fbcp-110)), rest);
  }

  [[nodiscard]] auto is_odd() const { return (turns == B(T(1))) | (turns == B(T(3))); }
  [[nodiscard]] static B sign_where(const xsimd::batch_bool<T, A>& mask) {
    return xsimd::select(mask, xsimd::constants::signmask<B>(), B(T(0)));
  }
};

/// sin of x, and cos, from those of what is left of it.
template <class B, class Turns>
B sine(const B& x, const Turns& by, const std::pair<B, B>& of_rest) {
  using T = typename B::value_type;
  const B result = xsimd::select(by.is_odd(), of_rest.second, of_rest.first);
  const B sign = xsimd::bitofsign(x) ^ by.sign_where(by.turns >= B(T(2)));
  return mended(
      by.beyond, result ^ sign, [](T v) { return std::sin(v); }, x);
}
template <class B, class Turns>
B cosine(const B& x, const Turns& by, const std::pair<B, B>& of_rest) {
  using T = typename B::value_type;
  const B result = xsimd::select(by.is_odd(), of_rest.first, of_rest.second);
  const B sign = by.sign_where((by.turns == B(T(1))) | (by.turns == B(T(2))));
  return mended(
      by.beyond, result ^ sign, [](T v) { return std::cos(v); }, x);
}

/// The sine of |x| + Quarters pi/2: of what is left of |x| by quarter turns, the polynomial of a
/// sine or of a cosine, whose coefficients each lane chooses, scripts/reference/sin.py. What is too
/// large for it, infinite or NaN is `one`'s. Needs `has_fma`.
template <std::uint32_t Quarters, class A, class One>
xsimd::batch<float, A> sine_of_size(const xsimd::batch<float, A>& x, One one) {
  using B = xsimd::batch<float, A>;
  using words = xsimd::batch<std::uint32_t, A>;
  static constexpr float of_sine[] = {-0.166666672F, 0.00833333191F, -0.00019840087F,
                                      2.72499256e-06F};
  static constexpr float of_cosine[] = {-0.5F, 0.0416666493F, -0.00138875889F, 2.44637886e-05F};
  const B size = xsimd::abs(x);
  const B magic(exponents<float>::to_whole);
  const B shifted = lane::fma(size, B(0x1.45f306p-1F), magic);
  const B turns = shifted - magic;
  const B r = quarter_turns<float, A>::rest_of(size, turns);
  const words quarter = lane::bits_as<std::uint32_t>(shifted) + words(Quarters);
  const auto is_odd = lane::mask_cast<float>((quarter & words(1U)) != words(0U));
  const auto p = [&](int i) { return xsimd::select(is_odd, B(of_cosine[i]), B(of_sine[i])); };
  const B r2 = r * r;
  const B rest = lane::fma(lane::fma(p(3), r2, p(2)), r2 * r2, lane::fma(p(1), r2, p(0)));
  const B first = xsimd::select(is_odd, B(1.0F), r);
  const B result = lane::fma(first * r2, rest, first);
  const B sign = lane::bits_as<float>(words((quarter << 30) & words(0x80000000U)));
  return mended(~(size <= B(quarter_turns<float, A>::most)), result ^ sign, one, size);
}

}  // namespace detail

/// sin and cos.
template <class T, class A>
std::pair<xsimd::batch<T, A>, xsimd::batch<T, A>> sincos(const xsimd::batch<T, A>& x) {
  const detail::quarter_turns<T, A> by(x);
  const auto of_rest = xsimd::sincos(by.rest);
  return {detail::sine(x, by, of_rest), detail::cosine(x, by, of_rest)};
}
template <class T, class A>
xsimd::batch<T, A> sin(const xsimd::batch<T, A>& x) {
  if constexpr (std::is_same_v<T, float> && has_fma) {
    return detail::sine_of_size<0>(x, [](float v) { return std::sin(v); }) ^ xsimd::bitofsign(x);
  } else {
    const detail::quarter_turns<T, A> by(x);
    return detail::sine(x, by, xsimd::sincos(by.rest));
  }
}
template <class T, class A>
xsimd::batch<T, A> cos(const xsimd::batch<T, A>& x) {
  if constexpr (std::is_same_v<T, float> && has_fma) {
    return detail::sine_of_size<1>(x, [](float v) { return std::cos(v); });
  } else {
    const detail::quarter_turns<T, A> by(x);
    return detail::cosine(x, by, xsimd::sincos(by.rest));
  }
}
template <class T, class A>
xsimd::batch<T, A> tan(const xsimd::batch<T, A>& x) {
  using B = xsimd::batch<T, A>;
  const detail::quarter_turns<T, A> by(x);
  const B tangent = xsimd::tan(by.rest);
  const B result = xsimd::select(by.is_odd(), B(T(-1)) / tangent, tangent);
  return detail::mended(
      by.beyond, result ^ xsimd::bitofsign(x), [](T v) { return std::tan(v); }, x);
}

}  // namespace topos::lane
