// SPDX-License-Identifier: Apache-2.0

/// Sums of products over axes, and all products, against NumPy's.

#include <gtest/gtest.h>

#include <string>
#include <topos/linalg/outer.hpp>
#include <topos/linalg/tensordot.hpp>
#include <vector>

#include "numpy_cases.hpp"

namespace tensordot_test {

using support::contains;
using support::cut_from;
using support::extents_t;
using support::on_each_device;
using support::operand_values;
using support::refusal;
using support::shaped;
using support::values_of;
using topos::outer;
using topos::tensor;
using topos::tensordot;

template <std::size_t Rank>
tensor<float, Rank> first(topos::device d, const extents_t& extents) {
  return shaped<Rank>(d, extents, operand_values<float>(extents, cut_from::start));
}
template <std::size_t Rank>
tensor<float, Rank> second(topos::device d, const extents_t& extents) {
  return shaped<Rank>(d, extents, operand_values<float>(extents, cut_from::second));
}

TEST(tensordot, gives_numpys_sums) {
  on_each_device([](topos::device d) {
    support::expected_results<float> expected("tensordot");
    const auto check = [&](const auto& c, const auto& shape) {
      EXPECT_EQ(c.shape(), shape);
      expected.check(values_of(c));
      expected.skip(c.size());
    };
    const auto a = first<3>(d, {3, 4, 5});

    check(tensordot(a, second<3>(d, {4, 3, 2}), {1, 0}, {0, 1}), topos::shape<2>{5, 2});
    check(tensordot(a, second<2>(d, {5, 4}), {2, 1}, {0, 1}), topos::shape<1>{3});
    check(tensordot(a, second<3>(d, {4, 5, 2})), topos::shape<2>{3, 2});
    check(tensordot<0>(first<2>(d, {2, 3}), second<2>(d, {4, 5})), topos::shape<4>{2, 3, 4, 5});
    check(tensordot<1>(first<1>(d, {6}), second<1>(d, {6})), topos::shape<0>{});
    check(tensordot(first<3>(d, {2, 3, 4}), second<4>(d, {3, 5, 2, 4}), {-1, 0}, {3, 2}),
          topos::shape<3>{3, 3, 5});
    check(tensordot<1>(first<2>(d, {2, 0}), second<2>(d, {0, 3})), topos::shape<2>{2, 3});
    EXPECT_TRUE(expected.at_end());
  });
}

TEST(tensordot, takes_expressions_and_views) {
  on_each_device([](topos::device d) {
    const auto a = first<3>(d, {3, 4, 5});
    const auto b = second<2>(d, {5, 2});
    const std::vector<float> plain = values_of(tensordot<1>(a, b));

    EXPECT_EQ(values_of(tensordot<1>(a * 1.0f, topos::transpose(topos::eval(topos::transpose(b))))),
              plain);
    EXPECT_EQ(values_of(tensordot<1>(topos::flip(a, 1), b)),
              values_of(topos::eval(topos::flip(tensordot<1>(a, b), 1))));
  });
}

TEST(tensordot, refuses_axes_that_do_not_fit) {
  const auto a = first<3>(topos::cpu(), {3, 4, 5});
  const auto b = second<2>(topos::cpu(), {5, 4});

  const std::string message =
      refusal<topos::shape_mismatch>([&] { static_cast<void>(tensordot(a, b, {0}, {0})); });

  EXPECT_TRUE(contains(message, "(3, 4, 5)") && contains(message, "(5, 4)")) << message;
  EXPECT_TRUE(contains(message, "axis 0 of a has 3")) << message;
  EXPECT_THROW(static_cast<void>(tensordot(a, b, {3}, {0})), topos::out_of_range);
  EXPECT_THROW(static_cast<void>(tensordot(a, b, {1, -2}, {1, 1})), topos::invalid_argument);
}

TEST(outer, multiplies_every_pair_of_elements) {
  on_each_device([](topos::device d) {
    const auto a = support::vector_on(d, std::vector<float>{1, 2});
    const auto b = support::tensor_on<2>(d, {2, 2}, std::vector<float>{1, 0, -1, 3});

    EXPECT_EQ(values_of(topos::eval(outer(a, b))), (std::vector<float>{1, 0, -1, 3, 2, 0, -2, 6}));
    EXPECT_EQ(outer(b, a).shape(), (topos::shape<2>{4, 2}));
  });
}

TEST(outer, of_two_devices_is_refused_where_it_is_called) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "there is no GPU";
  const auto here = topos::zeros<float>({2});
  const auto there = topos::zeros<float>({2}, topos::gpu(0));
  try {
    static_cast<void>(outer(here, there));
    FAIL() << "it was accepted";
  } catch (const topos::device_mismatch& e) {
    EXPECT_TRUE(contains(e.where().file_name(), "tensordot_test.cpp"));
  }
}

}  // namespace tensordot_test
