// SPDX-License-Identifier: Apache-2.0

/// Types of results against JAX's, for every pair of types and every kind of scalar.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <topos/core/promotion.hpp>
#include <topos/io/npy.hpp>
#include <tuple>
#include <vector>

#include "../support/folders.hpp"

namespace promotion_test {

using topos::dtype;
using topos::dtype_v;

// In the order of topos::dtype.
using types = std::tuple<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                         std::uint16_t, std::uint32_t, std::uint64_t, topos::f16, topos::bf16,
                         float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
constexpr std::size_t count = std::tuple_size_v<types>;
template <std::size_t I>
using type = std::tuple_element_t<I, types>;

template <std::size_t... I>
constexpr bool in_order(std::index_sequence<I...> /*all*/) {
  return ((dtype_v<type<I>> == static_cast<dtype>(I)) && ...);
}
static_assert(in_order(std::make_index_sequence<count>()));

template <std::size_t... I>
std::vector<dtype> table(std::index_sequence<I...> /*pairs*/) {
  return {dtype_v<topos::promote_t<type<I / count>, type<I % count>>>...};
}

// bool, an integer, a real and a complex number, as scalars of C++.
template <std::size_t... I>
std::vector<dtype> weak_table(std::index_sequence<I...> /*all*/) {
  std::vector<dtype> result;
  ((result.insert(
       result.end(),
       {dtype_v<topos::weak_promote_t<type<I>, bool>>, dtype_v<topos::weak_promote_t<type<I>, int>>,
        dtype_v<topos::weak_promote_t<type<I>, double>>,
        dtype_v<topos::weak_promote_t<type<I>, Kokkos::complex<double>>>})),
   ...);
  return result;
}

// Of a scalar its kind counts alone.
using topos::weak_promote_t;
static_assert(std::is_same_v<weak_promote_t<std::int8_t, long long>, std::int8_t>);
static_assert(std::is_same_v<weak_promote_t<std::uint8_t, char>, std::uint8_t>);
static_assert(std::is_same_v<weak_promote_t<topos::f16, double>, topos::f16>);
static_assert(std::is_same_v<weak_promote_t<topos::bf16, std::uint64_t>, topos::bf16>);
static_assert(std::is_same_v<weak_promote_t<std::int64_t, topos::f16>, float>);
static_assert(
    std::is_same_v<weak_promote_t<double, Kokkos::complex<float>>, Kokkos::complex<double>>);
static_assert(topos::detail::scalar<long double> && !topos::detail::scalar<std::string>);

std::vector<std::uint8_t> reference(const std::string& name) {
  return topos::read_npy<std::uint8_t>(support::data_folder() / "expr" / (name + ".npy")).values;
}

std::string_view name(std::size_t i) { return topos::to_string(static_cast<dtype>(i)); }

TEST(promotion, of_each_pair_is_jaxs) {
  const std::vector<dtype> ours = table(std::make_index_sequence<count * count>());
  const std::vector<std::uint8_t> jax = reference("promotion");

  ASSERT_EQ(jax.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::size_t a = i / count;
    const std::size_t b = i % count;
    auto expected = static_cast<dtype>(jax[i]);
    // The one pair that no integer holds: JAX takes its default float, double here; ours is float.
    const bool none = a < 9 && b < 9 && expected == dtype::float64;
    if (none) {
      EXPECT_TRUE(a == 8 || b == 8) << name(a) << " and " << name(b);
      expected = dtype::float32;
    }
    EXPECT_EQ(ours[i], expected) << name(a) << " and " << name(b) << ": " << to_string(ours[i])
                                 << ", expected " << to_string(expected);
  }
}

TEST(promotion, of_scalars_is_jaxs_with_int32_and_float_by_default) {
  const std::vector<dtype> ours = weak_table(std::make_index_sequence<count>());
  const std::vector<std::uint8_t> jax = reference("weak_promotion");

  ASSERT_EQ(jax.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::size_t array = i / 4;
    auto expected = static_cast<dtype>(jax[i]);
    // JAX's defaults are int64, double and complex128 where it has types of 64 bits; ours are half.
    if (array == 0 && expected == dtype::int64) expected = dtype::int32;
    if (array < 9 && expected == dtype::float64) expected = dtype::float32;
    if (array < 9 && expected == dtype::complex128) expected = dtype::complex64;
    EXPECT_EQ(ours[i], expected) << name(array) << " and scalar " << i % 4 << ": "
                                 << to_string(ours[i]) << ", expected " << to_string(expected);
  }
}

TEST(promotion, is_symmetric_and_each_type_is_its_own) {
  const std::vector<dtype> ours = table(std::make_index_sequence<count * count>());
  for (std::size_t a = 0; a < count; ++a) {
    EXPECT_EQ(ours[a * count + a], static_cast<dtype>(a));
    for (std::size_t b = 0; b < count; ++b) EXPECT_EQ(ours[a * count + b], ours[b * count + a]);
  }
}

}  // namespace promotion_test
