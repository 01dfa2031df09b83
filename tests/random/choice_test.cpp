// SPDX-License-Identifier: Apache-2.0

/// Random choices, against JAX.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <topos/random/choice.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace choice_test {

namespace random = topos::random;
using topos::index_t;
using topos::shape;

TEST(choice, is_that_of_jax) {
  support::expect_jax<std::int64_t>("choice", "choice", 0, [](auto k, shape<1> s, topos::device d) {
    return random::choice<std::int64_t>(k, 1000, s, d);
  });
}

TEST(choice, of_elements_without_replacement_takes_those_of_its_numbers) {
  const random::key k{5};
  const auto x = topos::eval(topos::arange<int>(20) * 3);
  const std::vector<int> numbers =
      support::values_of(random::choice(k, 20, {2, 3}, random::without_replacement));
  std::vector<int> expected;
  for (const int i : numbers) expected.push_back(3 * i);
  EXPECT_EQ(
      support::values_of(topos::eval(random::choice(k, x, {2, 3}, random::without_replacement))),
      expected);
  EXPECT_THROW((void)random::choice(k, x, {21}, random::without_replacement),
               topos::invalid_argument);
}

TEST(choice, without_replacement_is_that_of_jax) {
  support::on_each_device([](topos::device d) {
    for (const auto l : support::jax_layouts) {
      const auto drawn =
          random::choice(support::jax_key(l), 1000, {50}, random::without_replacement, d);
      EXPECT_EQ(support::values_of(drawn), support::jax_values<std::int32_t>(
                                               "choice", "choice_once/" + support::layout_name(l)));
    }
  });
}

TEST(choice, of_elements_takes_what_its_numbers_name) {
  support::on_each_device([](topos::device d) {
    const random::key k{6};
    const auto x = support::tensor_on<2, float>(d, {3, 2}, {0, 1, 10, 11, 20, 21});
    const topos::tensor<std::int32_t, 2> numbers(random::choice(k, 3, {2, 4}, d));
    const topos::tensor<float, 3> drawn(random::choice(k, x, {2, 4}));
    std::vector<float> expected;
    for (const std::int32_t i : support::values_of(numbers)) {
      expected.insert(expected.end(),
                      {10.0f * static_cast<float>(i), 10.0f * static_cast<float>(i) + 1});
    }
    EXPECT_EQ(drawn.shape(), (shape<3>{2, 4, 2}));
    EXPECT_EQ(support::values_of(drawn), expected);
  });
}

TEST(choice, of_elements_ends_as_its_numbers_do) {
  support::on_each_device([](topos::device d) {
    const random::key k{11};
    const topos::tensor<double, 1> x(topos::arange<double>(300, d) * 2);
    for (const topos::index_t count : {1, 7, 8, 9, 17, 33, 4097}) {
      const topos::shape<1> s{count};
      const topos::tensor<std::int32_t, 1> numbers(random::choice(k, 300, s, d));
      const topos::tensor<std::uint8_t, 1> small(random::choice<std::uint8_t>(k, 200, s, d));
      std::vector<double> expected;
      for (const std::int32_t i : support::values_of(numbers)) expected.push_back(2.0 * i);
      std::vector<double> of_small;
      for (const std::uint8_t i : support::values_of(small)) of_small.push_back(2.0 * i);

      EXPECT_EQ(support::values_of(topos::eval(random::choice(k, x, s))), expected) << count;
      EXPECT_EQ(
          support::values_of(topos::eval(take(x, random::choice<std::uint8_t>(k, 200, s, d)))),
          of_small)
          << count;
    }
  });
}

TEST(choice, refuses_numbers_that_its_type_does_not_have) {
  const random::key k{0};
  const topos::tensor<float, 1> weights(topos::ones<float>({129}, topos::cpu()));
  EXPECT_THROW((void)random::choice<std::int8_t>(k, 129, {1}), topos::invalid_argument);
  EXPECT_THROW((void)random::choice<std::int8_t>(k, 129, {1}, random::without_replacement),
               topos::invalid_argument);
  EXPECT_THROW((void)random::weighted_choice<std::int8_t>(k, weights, {1}),
               topos::invalid_argument);
  EXPECT_EQ(topos::eval(random::choice<std::int8_t>(k, 128, {3})).size(), 3);
}

TEST(choice, refuses_to_choose_from_too_few) {
  const random::key k{0};
  EXPECT_THROW((void)random::choice(k, 0, {1}), topos::invalid_argument);
  EXPECT_THROW((void)random::choice(k, 3, {4}, random::without_replacement),
               topos::invalid_argument);
  const topos::tensor<std::int32_t, 1> none(random::choice(k, 0, {0}));
  EXPECT_EQ(none.size(), 0);
}

TEST(choice, refuses_weights_that_are_none) {
  const random::key k{0};
  const auto choose = [&](std::vector<float> weights) {
    const auto p = topos::device_put(weights, topos::cpu());
    return random::weighted_choice(k, p, {2});
  };
  EXPECT_THROW((void)choose({1, -1}), topos::invalid_argument);
  EXPECT_THROW((void)choose({1, std::numeric_limits<float>::quiet_NaN()}), topos::invalid_argument);
  EXPECT_THROW((void)choose({1, std::numeric_limits<float>::infinity()}), topos::invalid_argument);
  EXPECT_THROW((void)choose({0, 0}), topos::invalid_argument);
  EXPECT_EQ(topos::eval(choose({0, 1})).host()[0], 1);
}

template <class T>
class weighted_choice : public testing::Test {};
using real_types = support::types<float, double>;
TYPED_TEST_SUITE(weighted_choice, real_types);

TYPED_TEST(weighted_choice, is_that_of_jax) {
  using T = TypeParam;
  support::on_each_device([](topos::device d) {
    const auto p = support::vector_on<T>(d, {T(0.1), T(0.2), T(0), T(0.3), T(0.4)});
    for (const auto l : support::jax_layouts) {
      const auto drawn = support::drawn_sizes(l, d, [&](auto k, shape<1> s, topos::device) {
        return random::weighted_choice(k, p, s);
      });
      const std::string type(topos::dtype_name_v<T>);
      EXPECT_EQ(drawn, support::jax_values<std::int32_t>(
                           "choice", "choice_p/" + type + "/" + support::layout_name(l)));
    }
  });
}

TYPED_TEST(weighted_choice, without_replacement_is_that_of_jax) {
  using T = TypeParam;
  support::on_each_device([](topos::device d) {
    const auto p = support::vector_on<T>(d, {T(0.1), T(0.2), T(0), T(0.3), T(0.4)});
    for (const auto l : support::jax_layouts) {
      const auto drawn =
          random::weighted_choice(support::jax_key(l), p, {4}, random::without_replacement);
      const std::string type(topos::dtype_name_v<T>);
      EXPECT_EQ(drawn.device(), d);
      EXPECT_EQ(support::values_of(drawn),
                support::jax_values<std::int32_t>(
                    "choice", "choice_p_once/" + type + "/" + support::layout_name(l)));
    }
  });
}

TYPED_TEST(weighted_choice, without_replacement_takes_all_that_there_is_once) {
  using T = TypeParam;
  const auto p = support::vector_on<T>(topos::cpu(), {1, 2, 3, 4, 5, 6});
  const random::key k{1};
  std::vector<std::int32_t> drawn =
      support::values_of(random::weighted_choice(k, p, {2, 3}, random::without_replacement));
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW((void)random::weighted_choice(k, p, {7}, random::without_replacement),
               topos::invalid_argument);
}

TYPED_TEST(weighted_choice, without_replacement_takes_negative_weights_and_nan_last) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  support::on_each_device([&](topos::device d) {
    const auto p = support::vector_on<T>(d, {-1, 2, nan, 3, 0});
    std::vector<std::int32_t> drawn = support::values_of(
        random::weighted_choice(random::key{2}, p, {2}, random::without_replacement));
    std::sort(drawn.begin(), drawn.end());
    EXPECT_EQ(drawn, (std::vector<std::int32_t>{1, 3}));
  });
}

TYPED_TEST(weighted_choice, never_takes_what_weighs_nothing) {
  using T = TypeParam;
  support::on_each_device([](topos::device d) {
    const auto p = support::vector_on<T>(d, {0, 2, 0, 1, 0});
    const std::vector<std::int32_t> drawn =
        support::values_of(random::weighted_choice(random::key{1}, p, {100, 50}));
    EXPECT_TRUE(std::ranges::all_of(drawn, [](auto i) { return i == 1 || i == 3; }));
    EXPECT_NEAR(static_cast<double>(std::ranges::count(drawn, 1)), 5000 * 2.0 / 3, 200);
  });
}

// In float, 1 more than 2^24 is 2^24 again.
TYPED_TEST(weighted_choice, takes_each_of_many_that_weigh_little_beside_one) {
  using T = TypeParam;
  support::on_each_device([](topos::device d) {
    std::vector<T> weights(1 + 100'000, T(1));
    weights[0] = T(1 << 24);
    const auto p = support::vector_on<T>(d, weights);
    const std::vector<std::int32_t> drawn =
        support::values_of(random::weighted_choice(random::key{1}, p, {100'000}));
    const auto light = std::ranges::count_if(drawn, [](auto i) { return i != 0; });
    EXPECT_NEAR(static_cast<double>(light), 1e5 * 1e5 / (1e5 + (1 << 24)), 100);
  });
}

// The sum of such weights is infinite, or has few bits.
TEST(choice, keeps_to_weights_at_the_ends_of_their_type) {
  const auto of = [](std::vector<float> weights) {
    return support::values_of(
        random::weighted_choice(random::key{1}, support::vector_on(topos::cpu(), weights), {200}));
  };
  const std::vector<int> halves = of({1, 1});
  EXPECT_EQ(of({2e38f, 2e38f}), halves);
  EXPECT_EQ(of({1e-45f, 1e-45f}), halves);
  EXPECT_EQ(of({0, 1e-45f}), std::vector<int>(200, 1));
}

}  // namespace choice_test
