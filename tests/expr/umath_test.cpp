// SPDX-License-Identifier: Apache-2.0

/// The functions of <cmath> within the units in the last place that NumPy's validation sets allow,
/// computed value by value, in whole batches of lanes and in parts of one.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <vector>

#include "../support/types.hpp"
#include "reference.hpp"

namespace umath_test {

using support::on_each_device;
using support::rows_of;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::tensor;

// How many numbers lie between two, and one; none between NaNs, or zeros of either sign.
template <class T>
std::uint64_t units_between(T a, T b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<std::uint64_t>::max();
  using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto place = [](T x) {
    const auto i = static_cast<std::int64_t>(std::bit_cast<bits>(x));
    const auto lowest = static_cast<std::int64_t>(std::numeric_limits<bits>::min());
    // Unsigned, since the distance of two doubles may need all 64 bits.
    return static_cast<std::uint64_t>(i < 0 ? lowest - i : i);
  };
  const std::uint64_t distance = place(a) - place(b);
  return std::min(distance, std::uint64_t{0} - distance);
}

template <class T>
struct validation_set {
  explicit validation_set(const std::string& function)
      : name(function + " of " + std::string(topos::dtype_name_v<T>)),
        rows(rows_of<T>("umath/" + function + "_" + std::string(topos::dtype_name_v<T>))) {}

  // Expects `got` to be the results from input `first` on.
  void check(std::size_t first, std::span<const T> got, std::uint64_t also_allowed) const {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const T expected = rows[1][first + i];
      const auto allowed = static_cast<std::uint64_t>(rows[2][first + i]) + also_allowed;
      EXPECT_LE(units_between(got[i], expected), allowed)
          << name << ' ' << support::shown(rows[0][first + i]) << ": " << support::shown(got[i])
          << ", expected " << support::shown(expected);
    }
  }

  std::string name;
  std::vector<std::vector<T>> rows;  // inputs, results, units that a result may be off by
};

template <class T>
class umath : public testing::Test {};
using real_types = support::types<float, double>;
TYPED_TEST_SUITE(umath, real_types);

// Calls check(name, the function of one value, the function of tensors) for each function.
template <class Check>
void for_each_function(Check check) {
#define TOPOS_CHECK(name) \
  check(#name, topos::detail::name##_op{}, [](const auto& x) { return topos::name(x); })
  TOPOS_CHECK(acos);
  TOPOS_CHECK(acosh);
  TOPOS_CHECK(asin);
  TOPOS_CHECK(asinh);
  TOPOS_CHECK(atan);
  TOPOS_CHECK(atanh);
  TOPOS_CHECK(cbrt);
  TOPOS_CHECK(cos);
  TOPOS_CHECK(cosh);
  TOPOS_CHECK(exp);
  TOPOS_CHECK(exp2);
  TOPOS_CHECK(expm1);
  TOPOS_CHECK(log);
  TOPOS_CHECK(log10);
  TOPOS_CHECK(log1p);
  TOPOS_CHECK(log2);
  TOPOS_CHECK(sin);
  TOPOS_CHECK(sinh);
  TOPOS_CHECK(tan);
  TOPOS_CHECK(tanh);
#undef TOPOS_CHECK
}

TYPED_TEST(umath, value_by_value) {
  using T = TypeParam;
  for_each_function([](const char* name, const auto& of_value, const auto&) {
    const validation_set<T> set(name);
    std::vector<T> got;
    for (const T x : set.rows[0]) got.push_back(of_value(x));
    set.check(0, got, 0);
  });
}

// Units beyond those that NumPy allows itself.
template <class T>
std::uint64_t allowed_more(const std::string& function, const topos::device& d) {
  // CUDA's own functions may be off by a unit or two more; its programming guide lists them.
  if (d != topos::cpu()) return 2;
  // So are xsimd's polynomials of these in double, by one.
  return sizeof(T) == 8 && (function == "atan" || function == "tan") ? 1 : 0;
}

TYPED_TEST(umath, in_whole_batches) {
  using T = TypeParam;
  on_each_device([](const topos::device& d) {
    for_each_function([&](const char* name, const auto&, const auto& of_tensor) {
      const validation_set<T> set(name);
      ASSERT_GT(set.rows[0].size(), 100U);
      set.check(0, values_of(tensor<T, 1>(of_tensor(vector_on(d, set.rows[0])))),
                allowed_more<T>(name, d));
    });
  });
}

TYPED_TEST(umath, in_parts_of_a_batch) {
  using T = TypeParam;
  static constexpr std::size_t part = 3;
  on_each_device([](const topos::device& d) {
    for_each_function([&](const char* name, const auto&, const auto& of_tensor) {
      const validation_set<T> set(name);
      const std::vector<T>& all = set.rows[0];
      for (std::size_t first = 0; first < all.size(); first += part) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t count = std::min(part, all.size() - first);
        const std::vector<T> some(begin, begin + static_cast<std::ptrdiff_t>(count));
        set.check(first, values_of(tensor<T, 1>(of_tensor(vector_on(d, some)))),
                  allowed_more<T>(name, d));
      }
    });
  });
}

}  // namespace umath_test
