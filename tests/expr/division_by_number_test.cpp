// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace division_by_number_test {

using support::on_each_device;
using support::values_of;
using support::vector_on;

template <class T>
class division_by_number : public testing::Test {};
using types = support::types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                             std::int32_t, std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(division_by_number, types);

// Numbers whose quotients lie near whole ones, or near what the type has.
template <class T>
std::vector<T> numbers() {
  std::vector<T> result;
  for (int power = 0; power < std::numeric_limits<T>::digits; ++power) {
    for (const int near : {-1, 0, 1}) {
      const T value =
          static_cast<T>((std::uint64_t{1} << power) + static_cast<std::uint64_t>(near));
      result.push_back(value);
      result.push_back(static_cast<T>(~value));
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 60; ++i) result.push_back(static_cast<T>(random() >> (random() % 63)));
  for (const int small : {3, 5, 7, 10, 100}) {
    result.push_back(static_cast<T>(small));
    result.push_back(static_cast<T>(-small));
  }
  result.push_back(std::numeric_limits<T>::min());
  result.push_back(std::numeric_limits<T>::max());
  return result;
}

// By C++'s own division, which cuts off, and which has no -min / -1.
template <class T>
T floor_of(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    return static_cast<T>(a / b - (a % b != 0 && (a < T(0)) != (b < T(0))));
  } else {
    return static_cast<T>(a / b);
  }
}

TYPED_TEST(division_by_number, is_that_by_each) {
  using T = TypeParam;
  const std::vector<T> all = numbers<T>();
  on_each_device([&](topos::device d) {
    const auto x = vector_on(d, all);
    std::vector<T> divisors = all;
    if (support::few_types || d.kind() != topos::cpu().kind()) divisors.resize(all.size() / 4);
    divisors.push_back(T(0));
    for (const T by : divisors) {
      std::vector<T> quotients;
      std::vector<T> rests;
      for (const T a : all) {
        quotients.push_back(floor_of(a, by));
        const auto product =
            static_cast<std::uint64_t>(quotients.back()) * static_cast<std::uint64_t>(by);
        rests.push_back(by == T(0) ? T(0)
                                   : static_cast<T>(static_cast<std::uint64_t>(a) - product));
      }
      ASSERT_EQ(values_of(eval(floor_divide(x, by))), quotients) << +by;
      ASSERT_EQ(values_of(eval(x % by)), rests) << +by;
    }
  });
}

}  // namespace division_by_number_test
