// SPDX-License-Identifier: Apache-2.0

/// Conversions of the sixteen-bit floats: every pattern there and back, and rounding as NumPy's
/// (float16) and as the definition says (bfloat16).

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <ios>
#include <limits>
#include <topos/core/half.hpp>
#include <type_traits>

#include "../support/folders.hpp"

namespace half_test {

using topos::bf16;
using topos::f16;

static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2);
static_assert(std::is_trivially_copyable_v<f16> && std::is_trivially_copyable_v<bf16>);
static_assert(!std::is_convertible_v<float, f16> && !std::is_convertible_v<float, bf16>);
static_assert(std::is_convertible_v<f16, float> && std::is_convertible_v<bf16, float>);

template <class Half>
Half of_bits(std::uint32_t bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

float f32(std::uint32_t bits) { return std::bit_cast<float>(bits); }

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Half>
class every_half : public testing::Test {};
using halves = testing::Types<f16, bf16>;
TYPED_TEST_SUITE(every_half, halves);

TYPED_TEST(every_half, survives_the_way_through_float) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto before = of_bits<TypeParam>(bits);
    const float value = before;
    const TypeParam after(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(after))) << std::hex << bits;
      EXPECT_EQ(after.bits >> 15U, bits >> 15U) << std::hex << bits;
    } else {
      EXPECT_EQ(after.bits, bits) << std::hex << bits;
    }
  }
}

TYPED_TEST(every_half, grows_with_its_bits) {
  const std::uint32_t top = TypeParam(infinity).bits;
  for (std::uint32_t bits = 0; bits < top; ++bits) {
    EXPECT_LT(float(of_bits<TypeParam>(bits)), float(of_bits<TypeParam>(bits + 1)));
    EXPECT_EQ(float(of_bits<TypeParam>(bits | 0x8000U)), -float(of_bits<TypeParam>(bits)));
  }
}

TYPED_TEST(every_half, rounds_to_nearest_and_ties_to_even) {
  const std::uint32_t top = TypeParam(infinity).bits;
  for (std::uint32_t bits = 0; bits + 1 < top; ++bits) {
    const float low = of_bits<TypeParam>(bits);
    const float high = of_bits<TypeParam>(bits + 1);
    const float tie = low + (high - low) / 2;  // exact: a half has far fewer digits
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;

    EXPECT_EQ(TypeParam(tie).bits, even);
    EXPECT_EQ(TypeParam(-tie).bits, even | 0x8000U);
    EXPECT_EQ(TypeParam(std::nextafter(tie, 0.0F)).bits, bits);
    EXPECT_EQ(TypeParam(std::nextafter(tie, infinity)).bits, bits + 1);
  }
}

TYPED_TEST(every_half, keeps_the_sign_of_zero) {
  EXPECT_EQ(TypeParam(0.0F).bits, 0x0000);
  EXPECT_EQ(TypeParam(-0.0F).bits, 0x8000);
  EXPECT_EQ(TypeParam().bits, 0x0000);
}

TYPED_TEST(every_half, keeps_infinity_and_nan) {
  EXPECT_EQ(float(TypeParam(infinity)), infinity);
  EXPECT_EQ(float(TypeParam(-infinity)), -infinity);
  for (const std::uint32_t nan : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU,
                                  0x7fbfffffU, 0x7f808000U}) {
    EXPECT_TRUE(std::isnan(float(TypeParam(f32(nan))))) << std::hex << nan;
  }
}

TEST(f16, converts_as_numpy) {
  std::ifstream file(support::data_folder() / "core" / "f16.txt");
  ASSERT_TRUE(file) << "scripts/reference/io.py makes it";
  int count = 0;
  for (std::uint32_t from = 0, to = 0; file >> std::hex >> from >> to; ++count) {
    EXPECT_EQ(f16(f32(from)).bits, to) << std::hex << from;
    EXPECT_EQ(f16(-f32(from)).bits, to | 0x8000U) << std::hex << from;
  }
  EXPECT_GT(count, 200);
}

TEST(f16, has_the_values_of_binary16) {
  EXPECT_EQ(float(of_bits<f16>(0x3c00)), 1.0F);
  EXPECT_EQ(float(of_bits<f16>(0xc000)), -2.0F);
  EXPECT_EQ(float(of_bits<f16>(0x7bff)), 65504.0F);
  EXPECT_EQ(float(of_bits<f16>(0x0400)), 0x1p-14F);
  EXPECT_EQ(float(of_bits<f16>(0x03ff)), 0x3ffp-24F);
  EXPECT_EQ(float(of_bits<f16>(0x0001)), 0x1p-24F);
  EXPECT_EQ(float(of_bits<f16>(0x3555)), 0x1.554p-2F);
}

TEST(f16, overflows_and_underflows_where_rounding_says) {
  EXPECT_EQ(f16(65519.996F).bits, 0x7bff);
  EXPECT_EQ(f16(65520.0F).bits, 0x7c00);
  EXPECT_EQ(f16(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(f16(-1e30F).bits, 0xfc00);
  EXPECT_EQ(f16(0x1p-25F).bits, 0x0000);
  EXPECT_EQ(f16(0x1.000002p-25F).bits, 0x0001);
  EXPECT_EQ(f16(-0x1p-149F).bits, 0x8000);
  EXPECT_EQ(f16(0x1.ffep-15F).bits, 0x0400);  // the largest subnormal rounds up to a normal
}

TEST(bf16, has_the_values_of_the_upper_half_of_a_float) {
  for (const std::uint32_t bits : {0x3f80U, 0xc000U, 0x7f7fU, 0x0080U, 0x0001U, 0x3eabU}) {
    EXPECT_EQ(float(of_bits<bf16>(bits)), f32(bits << 16U));
  }
}

TEST(bf16, overflows_where_rounding_says) {
  EXPECT_EQ(bf16(f32(0x7f7f7fff)).bits, 0x7f7f);
  EXPECT_EQ(bf16(f32(0x7f7f8000)).bits, 0x7f80);
  EXPECT_EQ(bf16(-std::numeric_limits<float>::max()).bits, 0xff80);
  EXPECT_EQ(bf16(f32(0x00008000)).bits, 0x0000);
  EXPECT_EQ(bf16(f32(0x00008001)).bits, 0x0001);
}

}  // namespace half_test
