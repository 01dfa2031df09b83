// SPDX-License-Identifier: Apache-2.0

/// Reductions at random: over one axis, several or all, of any shape and layout.

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/softmax.hpp>
#include <topos/tensor/statistics.hpp>

#include "../support/types.hpp"
#include "cases.hpp"

namespace reduction_properties_test {

using support::is_one_of;
using support::numbers;
using support::operand_on;
using support::property_case;
using topos::index_t;
using topos::keep_dims;

constexpr std::size_t rank = 5;

// Calls f with the axes that a case names: none for all, one, or a list. If they are kept, what f
// gives has one type.
template <class Function>
auto over_one(const property_case& c, const Function& f) {
  if (c.options.at("axis") == "all") return f();
  return f(c.axes("axis", rank - c.operands[0].extents.size()).at(0));
}
template <class Function>
auto over_any(const property_case& c, const Function& f) {
  if (c.options.at("axis") == "all") return f();
  const numbers a = c.axes("axis", rank - c.operands[0].extents.size());
  const index_t two[] = {a[0], a.size() > 1 ? a[1] : 0};
  if (a.size() == 2) return f(two);
  const index_t three[] = {a[0], two[1], a.size() > 2 ? a[2] : 0};
  if (a.size() == 3) return f(three);
  const index_t four[] = {a[0], two[1], three[2], a.size() > 3 ? a[3] : 0};
  if (a.size() == 4) return f(four);
  const index_t five[] = {a[0], two[1], three[2], four[3], a.size() > 4 ? a[4] : 0};
  if (a.size() == 5) return f(five);
  return f(a[0]);
}

template <class T>
class reduction_properties : public testing::Test {};
using c64 = Kokkos::complex<float>;
using std::int32_t;
using std::int64_t;
using std::uint8_t;
using topos::bf16;
using topos::f16;
using types =
    support::types<bool, uint8_t, std::int32_t, std::int64_t, c64, f16, bf16, double, float>;
TYPED_TEST_SUITE(reduction_properties, types);

// Sums and products of what the script chose are exact, but for products of complex numbers.
TYPED_TEST(reduction_properties, are_numpys) {
  using T = TypeParam;
  support::for_each_case<T>("reductions", [](auto d, const auto& c, auto& run) {
    const auto x = operand_on<T, rank>(d, c.operands[0]);
    const auto along = [&] { return c.axes("axis", rank - c.operands[0].extents.size()).at(0); };
    if constexpr (std::same_as<T, float>) {
      if (c.options.contains("drop") && c.options.at("axis") == "all") {
        run("sum", [&] { return sum(x); });
        return run("argmax", [&] { return argmax(x); });
      }
      if (c.options.contains("drop")) {
        run("sum", [&] { return sum(x, along()); });
        return run("argmax", [&] { return argmax(x, along()); });
      }
    }
    const auto over = [&](const char* name, const auto& f, const support::tolerance& allowed = {}) {
      run(
          name, [&] { return over_one(c, f); }, allowed);
    };
    run("sum",
        [&] { return over_any(c, [&](const auto&... a) { return sum(x, a..., keep_dims); }); });
    if constexpr (is_one_of<T, c64, int32_t, float>) {
      const double off = std::same_as<T, c64> ? 64 : 0;
      over("prod", [&](const auto&... a) { return prod(x, a..., keep_dims); }, {off, 0});
    }
    if constexpr (is_one_of<T, f16, float>)
      over("mean", [&](const auto&... a) { return mean(x, a..., keep_dims); }, {1, 0});
    if constexpr (is_one_of<T, bool, f16, float>)
      over("argmax", [&](const auto&... a) { return argmax(x, a..., keep_dims); });
    if constexpr (is_one_of<T, int64_t, double, float>)
      over("argmin", [&](const auto&... a) { return argmin(x, a..., keep_dims); });
    if constexpr (is_one_of<T, double, float>)
      over("min", [&](const auto&... a) { return min(x, a..., keep_dims); });
    if constexpr (is_one_of<T, uint8_t, bf16, float>)
      over("max", [&](const auto&... a) { return max(x, a..., keep_dims); });
    if constexpr (is_one_of<T, bool, float>)
      over("any", [&](const auto&... a) { return any(x, a..., keep_dims); });
    if constexpr (is_one_of<T, uint8_t, float>)
      over("all", [&](const auto&... a) { return all(x, a..., keep_dims); });
    if constexpr (is_one_of<T, f16, float>)
      over("count_nonzero", [&](const auto&... a) { return count_nonzero(x, a..., keep_dims); });
    if constexpr (std::same_as<T, float>)
      over("logsumexp", [&](const auto&... a) { return logsumexp(x, a..., keep_dims); }, {4, 4});
    const auto less = [&] { return topos::ddof(std::stod(c.options.at("ddof"))); };
    if constexpr (is_one_of<T, c64, float>)
      over("var", [&](const auto&... a) { return var(x, a..., less(), keep_dims); }, {16, 0});
    if constexpr (std::same_as<T, double>)
      over("std", [&](const auto&... a) { return topos::std(x, a..., less(), keep_dims); },
           {16, 0});
    if constexpr (is_one_of<T, bf16, float>)
      over("norm", [&](const auto&... a) { return norm(x, a..., keep_dims); }, {2, 0});
    if constexpr (std::same_as<T, float>)
      run("softmax", [&] { return softmax(x, along()); }, {8, 0});
    if constexpr (std::same_as<T, float>)
      run("log_softmax", [&] { return log_softmax(x, along()); }, {4, 8});
  });
}

}  // namespace reduction_properties_test
