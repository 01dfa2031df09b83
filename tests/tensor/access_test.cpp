// SPDX-License-Identifier: Apache-2.0

/// Moving a tensor and reading single elements of it.

#include <gtest/gtest.h>

#include <topos/expr/elementwise.hpp>
#include <topos/expr/slice.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/reduction.hpp>
#include <type_traits>
#include <vector>

#include "../support/counted.hpp"
#include "../support/devices.hpp"

namespace access_test {

using support::on_each_device;
using topos::tensor;

TEST(tensor, moves_to_a_device_and_back) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on<float>(topos::cpu(), {1, 2, 3});

    const tensor<float, 1> there = x.to(d);
    const tensor<float, 1> back = there.cpu();

    EXPECT_EQ(there.device(), d);
    EXPECT_EQ(back.device(), topos::cpu());
    EXPECT_EQ(support::values_of(back), support::values_of(x));
  });
}

TEST(tensor, where_it_is_already_shares_its_memory) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on<float>(d, {1, 2, 3});
    EXPECT_EQ(x.to(d).data(), x.data());
  });
}

TEST(tensor, that_is_only_returned_keeps_its_elements) {
  const auto x = support::vector_on<float>(topos::cpu(), {1, 2, 3});
  float sum = 0;
  for (const float value : topos::eval(x * 2.0f).host()) sum += value;
  EXPECT_EQ(sum, 12);

  const auto kept = topos::eval(x * 3.0f).host();
  const auto other = topos::eval(x * 4.0f).host();
  EXPECT_EQ(std::vector<float>(kept.begin(), kept.end()), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(other[2], 12);
}

TEST(tensor, is_changed_in_place_where_nobody_else_holds_its_memory) {
  on_each_device([](topos::device d) {
    auto x = support::vector_on(d, support::varied(40'001));
    const float* const before = x.data();
    const std::vector<float> was = support::values_of(x);

    x += 1;
    x.slice(topos::range{0, 2}) *= x.slice(topos::range{2, 4});
    x *= x;

    EXPECT_EQ(x.data(), before);
    EXPECT_EQ(support::values_of(x)[4], (was[4] + 1) * (was[4] + 1));
  });
}

TEST(tensor, of_integers_is_changed_in_place_by_its_bits) {
  on_each_device([](topos::device d) {
    auto x = support::vector_on<int>(d, {5, 6, 7, 8});
    x %= 5;
    x <<= 2;
    x |= support::vector_on<int>(d, {1, 1, 2, 2});
    x.slice(topos::range{0, 2}) ^= 3;
    x.slice(topos::range{2, 4}) &= 6;
    x.slice(3) >>= 1;

    EXPECT_EQ(support::values_of(x), (std::vector<int>{2, 6, 2, 3}));
  });
}

TEST(tensor, is_copied_where_another_shares_its_memory) {
  on_each_device([](topos::device d) {
    auto x = support::vector_on<float>(d, {1, 2, 3});
    const tensor<float, 1> kept = x;

    x += 1;

    EXPECT_NE(x.data(), kept.data());
    EXPECT_EQ(support::values_of(kept), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(support::values_of(x), (std::vector<float>{2, 3, 4}));
  });
}

TEST(tensor, moves_to_a_device_named_by_a_string) {
  const std::string name = "cpu";
  const auto x = topos::zeros<float>({2}, name);
  EXPECT_EQ(x.to("cpu:0").device(), "cpu");
  EXPECT_EQ(topos::device_put(x, name).device(), topos::cpu());
  EXPECT_THROW((void)x.to("cuda:99"), topos::invalid_device);
}

TEST(tensor, on_a_gpu_that_is_not_there_is_refused) {
  const auto x = support::vector_on<float>(topos::cpu(), {1});
  EXPECT_THROW((void)x.gpu(topos::num_gpus()), topos::invalid_device);
}

TEST(tensor, gives_its_only_element) {
  on_each_device([](topos::device d) {
    EXPECT_EQ((topos::full<double, 0>({}, 2.5, d).item()), 2.5);
    EXPECT_EQ((topos::full<int, 3>({1, 1, 1}, 7, d).item()), 7);
  });
}

TEST(tensor, of_no_axes_becomes_a_number_where_one_is_asked_for) {
  on_each_device([](topos::device d) {
    const auto x = support::vector_on(d, std::vector<float>{1, 2, 3.5F});
    const tensor<float, 0> total = sum(x);
    EXPECT_EQ(float(total), 6.5F);
    EXPECT_EQ(double(total), 6.5);
    EXPECT_EQ(int(sum(x)), 6);
    EXPECT_EQ(float(sum(x) * 2), 13);
    EXPECT_EQ(float(slice(x, 2)), 3.5F);
    EXPECT_EQ(static_cast<std::size_t>(argmax(x)), 2U);
    if (any(x > 4) || !all(x > 0)) ADD_FAILURE();
    int steps = 0;
    for (auto y = x; sum(y) > 1; y *= 0.5F) ++steps;
    EXPECT_EQ(steps, 3);
  });
}

TEST(tensor, becomes_no_number_by_itself) {
  static_assert(!std::is_convertible_v<tensor<float, 0>, float>);
  static_assert(std::is_constructible_v<float, tensor<float, 0>>);
  static_assert(!std::is_constructible_v<float, tensor<float, 1>>);
  static_assert(!std::is_constructible_v<float, tensor<Kokkos::complex<float>, 0>>);
}

TEST(tensor, of_several_elements_is_no_item) {
  const std::string told =
      support::refusal<topos::shape_mismatch>([] { (void)topos::zeros<float, 1>({2}).item(); });
  EXPECT_TRUE(support::contains(told, "(2,) has 2 elements, not 1")) << told;
}

TEST(tensor, gives_an_element_by_index) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    EXPECT_EQ(x.item({0, 0}), 1);
    EXPECT_EQ(x.item({1, 2}), 6);
    EXPECT_EQ(x.item({-1, -2}), 5);
    EXPECT_EQ(x.item(1, -1), 6);
    EXPECT_EQ(x.reshape(3, 2).item(1, 0), 3);
    EXPECT_EQ(x.reshape(6).item(4), 5);
    EXPECT_THROW((void)x.item({2, 0}), topos::out_of_range);
    EXPECT_THROW((void)x.item({0, -4}), topos::out_of_range);
  });
}

TEST(expression, has_the_members_of_a_tensor) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    const auto e = x * 2;

    EXPECT_EQ(e.size(), 6);
    EXPECT_EQ(e.shape(-1), 3);
    EXPECT_EQ(e.item({1, -1}), 12);
    EXPECT_EQ(e.item(0, 1), 4);
    EXPECT_EQ(e.to(d).device(), d);
    EXPECT_EQ(support::values_of(e.cpu()), (std::vector<float>{2, 4, 6, 8, 10, 12}));
    const tensor<float, 2> by_2 = e.reshape({-1, 2});
    EXPECT_EQ(by_2.shape(), (topos::shape<2>{3, 2}));
    EXPECT_EQ(support::values_of(by_2), support::values_of(e.cpu()));
    EXPECT_EQ(e.reshape(3, 2).item(1, 0), 6);
    EXPECT_EQ(e.reshape(-1).slice({1, {}}).size(), 5);
    EXPECT_EQ(e.slice(1, {1, 3}).item(0), 10);
    EXPECT_THROW((void)e.shape(2), topos::out_of_range);
    EXPECT_THROW((void)e.item(2, 0), topos::out_of_range);
    EXPECT_THROW((void)e.reshape(5), topos::shape_mismatch);
  });
}

TEST(expression, gives_an_element_without_the_others) {
  const auto x = support::vector_on(topos::cpu(), support::varied(1000));
  support::calls = 0;
  EXPECT_EQ(topos::map(support::counted_square{}, x).item(7), x.item(7) * x.item(7));
  EXPECT_EQ(support::calls, 1);
}

TEST(reduction, has_the_members_of_a_tensor) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});

    EXPECT_EQ(sum(x, 0).size(), 3);
    EXPECT_EQ(sum(x, 0).shape(0), 3);
    EXPECT_EQ(sum(x, 0).item(-1), 9);
    EXPECT_EQ(sum(x).item(), 21);
    EXPECT_EQ(sum(x, 1).reshape(2, 1).item(1, 0), 15);
    EXPECT_EQ(support::values_of(sum(x, 0).cpu()), (std::vector<float>{5, 7, 9}));
  });
}

TEST(tensor_slice, has_the_members_of_a_tensor) {
  on_each_device([](topos::device d) {
    auto x = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});

    EXPECT_EQ(x.slice(1).size(), 3);
    EXPECT_EQ(x.slice(1).item(2), 6);
    EXPECT_EQ(x.slice(1, 2).item(), 6);
    EXPECT_EQ(support::values_of(x.slice({}, 1).cpu()), (std::vector<float>{2, 5}));
  });
}

TEST(tensor, gives_its_slices_another_shape) {
  on_each_device([](topos::device d) {
    auto x = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    const tensor<float, 1> y =
        reshape(x.slice(topos::range{}, topos::range{1, 3}), topos::shape<1>{4});
    EXPECT_EQ(support::values_of(y), (std::vector<float>{2, 3, 5, 6}));
  });
}

TEST(device_put, takes_an_expression) {
  on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2>(d, {2, 2}, std::vector<float>{1, 2, 3, 4});

    const auto y = topos::device_put(transpose(x) + 1, topos::cpu());

    EXPECT_EQ(support::values_of(y), (std::vector<float>{2, 4, 3, 5}));
  });
}

}  // namespace access_test
