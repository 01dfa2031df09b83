// SPDX-License-Identifier: Apache-2.0

/// Products of matrices at random: stacks that broadcast, vectors, views, and nothing at all.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/linalg/matmul.hpp>
#include <topos/linalg/outer.hpp>
#include <topos/linalg/tensordot.hpp>

#include "../support/types.hpp"
#include "cases.hpp"

namespace product_properties_test {

using support::is_one_of;
using support::operand_on;
using support::property_case;
using topos::index_t;

// matmul of operands of some ranks, which leading axes of extent 1 do not change.
template <class T, std::size_t A, std::size_t B>
void run_matmul(topos::device d, const property_case& c, support::case_runner& run) {
  run("matmul", [&] {
    return matmul(operand_on<T, A>(d, c.operands[0]), operand_on<T, B>(d, c.operands[1]));
  });
}

// tensordot over one axis of each operand, or over two.
template <class T>
void run_tensordot(topos::device d, const property_case& c, support::case_runner& run) {
  const auto a = operand_on<T, 3>(d, c.operands[0]);
  const auto b = operand_on<T, 3>(d, c.operands[1]);
  const auto of_a = c.axes("a", 0);
  const auto of_b = c.axes("b", 0);
  if (of_a.size() == 1)
    run("tensordot", [&] { return tensordot(a, b, {of_a[0]}, {of_b[0]}); });
  else
    run("tensordot", [&] { return tensordot(a, b, {of_a[0], of_a[1]}, {of_b[0], of_b[1]}); });
}

template <class T>
class product_properties : public testing::Test {};
using topos::f16;
using types = support::types<std::int32_t, f16, Kokkos::complex<float>, double, float>;
TYPED_TEST_SUITE(product_properties, types);

TYPED_TEST(product_properties, are_numpys) {
  using T = TypeParam;
  support::for_each_case<T>("products", [](auto d, const auto& c, auto& run) {
    const std::size_t a = c.operands[0].extents.size();
    const std::size_t b = c.operands[1].extents.size();
    if constexpr (is_one_of<T, f16, float>) {
      run("outer", [&] {
        return outer(operand_on<T, 2>(d, c.operands[0]), operand_on<T, 1>(d, c.operands[1]));
      });
      if (c.function == "outer") return;
    }
    if constexpr (is_one_of<T, std::int32_t, float>) {
      if (c.function == "tensordot") return run_tensordot<T>(d, c, run);
    }
    if constexpr (is_one_of<T, f16, float>) {
      if (a == 1 && b == 1) return run_matmul<T, 1, 1>(d, c, run);
      if (a == 1) return run_matmul<T, 1, 4>(d, c, run);
      if (b == 1) return run_matmul<T, 4, 1>(d, c, run);
    }
    if constexpr (is_one_of<T, double, float>) {
      if (a == 2 && b == 2) return run_matmul<T, 2, 2>(d, c, run);
    }
    run_matmul<T, 4, 4>(d, c, run);
  });
}

}  // namespace product_properties_test
