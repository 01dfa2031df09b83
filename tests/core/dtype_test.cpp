// SPDX-License-Identifier: Apache-2.0

/// Each element type has NumPy's name and the size that it has in memory.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <topos/core/dtype.hpp>

namespace dtype_test {

using topos::dtype;

static_assert(topos::element<float> && topos::element<bool> && topos::element<topos::bf16>);
static_assert(topos::element<Kokkos::complex<double>>);
static_assert(!topos::element<std::string> && !topos::element<float*> && !topos::element<void>);
static_assert(!topos::element<const float> && !topos::element<float&>);
static_assert(!topos::element<long double> && !topos::element<char>);

template <class T, dtype Value>
struct expected {
  using type = T;
  static constexpr dtype value = Value;
};

template <class Expected>
class every_dtype : public testing::Test {};

using dtypes =
    testing::Types<expected<bool, dtype::bool8>, expected<std::int8_t, dtype::int8>,
                   expected<std::int16_t, dtype::int16>, expected<std::int32_t, dtype::int32>,
                   expected<std::int64_t, dtype::int64>, expected<std::uint8_t, dtype::uint8>,
                   expected<std::uint16_t, dtype::uint16>, expected<std::uint32_t, dtype::uint32>,
                   expected<std::uint64_t, dtype::uint64>, expected<topos::f16, dtype::float16>,
                   expected<topos::bf16, dtype::bfloat16>, expected<float, dtype::float32>,
                   expected<double, dtype::float64>,
                   expected<Kokkos::complex<float>, dtype::complex64>,
                   expected<Kokkos::complex<double>, dtype::complex128>>;
TYPED_TEST_SUITE(every_dtype, dtypes);

TYPED_TEST(every_dtype, is_the_same_at_compile_time_and_at_run_time) {
  using type = typename TypeParam::type;

  EXPECT_EQ(topos::dtype_v<type>, TypeParam::value);
  EXPECT_EQ(topos::size_of(TypeParam::value), sizeof(type));
  EXPECT_EQ(topos::to_string(TypeParam::value), topos::dtype_name_v<type>);
}

TEST(dtype, names_are_numpys) {
  EXPECT_EQ(topos::to_string(dtype::bool8), "bool");
  EXPECT_EQ(topos::to_string(dtype::int8), "int8");
  EXPECT_EQ(topos::to_string(dtype::int16), "int16");
  EXPECT_EQ(topos::to_string(dtype::int32), "int32");
  EXPECT_EQ(topos::to_string(dtype::int64), "int64");
  EXPECT_EQ(topos::to_string(dtype::uint8), "uint8");
  EXPECT_EQ(topos::to_string(dtype::uint16), "uint16");
  EXPECT_EQ(topos::to_string(dtype::uint32), "uint32");
  EXPECT_EQ(topos::to_string(dtype::uint64), "uint64");
  EXPECT_EQ(topos::to_string(dtype::float16), "float16");
  EXPECT_EQ(topos::to_string(dtype::bfloat16), "bfloat16");
  EXPECT_EQ(topos::to_string(dtype::float32), "float32");
  EXPECT_EQ(topos::to_string(dtype::float64), "float64");
  EXPECT_EQ(topos::to_string(dtype::complex64), "complex64");
  EXPECT_EQ(topos::to_string(dtype::complex128), "complex128");
}

}  // namespace dtype_test
