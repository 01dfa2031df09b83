// SPDX-License-Identifier: Apache-2.0

/// A tensor is a value: cheap to copy, never changed through another, readable when it is ready.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <topos/expr/gather.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "../async/gate.hpp"
#include "../support/death_test.hpp"
#include "../support/devices.hpp"

namespace tensor_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::index_t;
using topos::tensor;

static_assert(std::is_nothrow_move_constructible_v<tensor<float, 2>>);
static_assert(std::is_nothrow_move_assignable_v<tensor<float, 2>>);
static_assert(
    std::is_same_v<decltype(tensor(tensor<int, 3>() + tensor<int, 1>())), tensor<int, 3>>);
static_assert(!std::is_default_constructible_v<tensor<float, 0>>);  // it has one element
static_assert(!std::is_convertible_v<topos::shape<1>, tensor<float, 1>>);

TEST(tensor, default_has_no_elements) {
  const tensor<float, 2> none;

  EXPECT_EQ(none.shape(), (topos::shape<2>{0, 0}));
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.device(), topos::cpu());
  EXPECT_TRUE(none.is_ready());
  EXPECT_TRUE(none.host().empty());
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_TRUE(values_of(eval(none + none)).empty());
}

TEST(tensor, knows_shape_size_and_device) {
  on_each_device([](topos::device d) {
    const tensor<double, 3> x({2, 3, 4}, d);

    EXPECT_EQ(x.shape(), (topos::shape<3>{2, 3, 4}));
    EXPECT_EQ(x.shape(1), 3);
    EXPECT_EQ(x.shape(-1), 4);
    EXPECT_THROW((void)x.shape(3), topos::out_of_range);
    EXPECT_EQ(x.size(), 24);
    EXPECT_EQ(x.device(), d);
    EXPECT_EQ(x.get_device(), d == topos::cpu() ? -1 : d.index());
    EXPECT_GE(x.memory().size(), 24 * sizeof(double));
  });
}

TEST(tensor, copies_share_memory_and_keep_their_values) {
  on_each_device([](topos::device d) {
    tensor<float, 1> x = vector_on<float>(d, {1, 2, 3});
    const tensor<float, 1> before = x;
    EXPECT_EQ(before.data(), x.data()) << "nothing is copied";

    x = x * 10;

    EXPECT_EQ(values_of(before), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(values_of(x), (std::vector<float>{10, 20, 30}));
  });
}

TEST(tensor, moved_from_has_no_elements_until_it_is_assigned) {
  on_each_device([](topos::device d) {
    tensor<float, 1> x = vector_on<float>(d, {1, 2, 3});
    const float* const memory = x.data();
    const tensor<float, 1> y = std::move(x);
    EXPECT_EQ(y.data(), memory) << "nothing is copied";
    // NOLINTBEGIN(bugprone-use-after-move): what is tested
    EXPECT_EQ(x.shape(), topos::shape<1>{0});
    EXPECT_TRUE(x.is_ready());
    EXPECT_TRUE(values_of(x).empty());
    EXPECT_TRUE(values_of(eval(x + 1)).empty());
    x += 1;
    x.slice() = 1;
    EXPECT_EQ(x.size(), 0);
    EXPECT_THROW(static_cast<void>(x.row(0)), topos::out_of_range);
    EXPECT_THROW(static_cast<void>(x + y), topos::error) << "(0,) and (3,)";
    // NOLINTEND(bugprone-use-after-move)

    tensor<float, 1> z;
    z = y + 1;
    x = std::move(z);
    x = std::move(*&x);
    EXPECT_EQ(values_of(x), (std::vector<float>{2, 3, 4}));
    EXPECT_EQ(z.size(), 0);  // NOLINT(bugprone-use-after-move)
  });
}

TEST(tensor, of_no_axes_refuses_to_be_used_once_moved_from) {
  on_each_device([](topos::device d) {
    tensor<float, 0> x({}, d);
    x = x * 0 + 3;
    tensor<float, 0> y = std::move(x);
    EXPECT_EQ(y.item(), 3);
    // NOLINTBEGIN(bugprone-use-after-move): what is tested
    EXPECT_THROW(static_cast<void>(x.item()), topos::invalid_argument);
    EXPECT_THROW(static_cast<void>(x.host()), topos::invalid_argument);
    EXPECT_THROW(static_cast<void>(x + 1), topos::invalid_argument);
    EXPECT_THROW(x += 1, topos::invalid_argument);
    EXPECT_THROW(x.slice() = 1, topos::invalid_argument);
    // NOLINTEND(bugprone-use-after-move)
    x = std::move(y);
    EXPECT_EQ(x.item(), 3);
  });
}

TEST(tensor, of_an_expression_that_was_moved_from_is_refused) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x = vector_on<float>(d, {1, 2, 3});
    auto twice = x * 2;
    const auto kept = std::move(twice);
    EXPECT_EQ(values_of(eval(kept)), (std::vector<float>{2, 4, 6}));
    // NOLINTBEGIN(bugprone-use-after-move): what is tested
    EXPECT_THROW(static_cast<void>(eval(twice)), topos::invalid_argument);
    EXPECT_THROW(static_cast<void>(eval(kept + twice)), topos::invalid_argument);
    auto first = take(x, topos::arange<int>(0, 2, 1, d), 0);
    const auto taken = std::move(first);
    EXPECT_EQ(values_of(eval(taken)), (std::vector<float>{1, 2}));
    EXPECT_THROW(static_cast<void>(eval(first)), topos::invalid_argument);
    // NOLINTEND(bugprone-use-after-move)
  });
}

TEST(tensor, reshape_takes_extents_in_braces) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x = vector_on<float>(d, {1, 2, 3, 4, 5, 6});
    const tensor<float, 2> y = x.reshape({2, -1});
    EXPECT_EQ(y.shape(), (topos::shape<2>{2, 3}));
    EXPECT_EQ(y.data(), x.data()) << "nothing is copied";
    EXPECT_THROW(static_cast<void>(x.reshape({4, 2})), topos::shape_mismatch);
  });
}

TEST(tensor, may_be_assigned_what_it_is_part_of) {
  on_each_device([](topos::device d) {
    tensor<float, 1> x = topos::ones<float, 1>({40'000}, d);
    for (int i = 0; i < 10; ++i) x = x + x;
    EXPECT_EQ(values_of(x), std::vector<float>(40'000, 1024));
  });
}

TEST(tensor, gives_its_memory_back) {
  on_each_device([](topos::device d) {
    topos::block_until_ready(d);
    const std::size_t before = topos::memory_stats(d).in_use;
    {
      const auto x = topos::ones<float, 1>({100'000}, d);
      const tensor<float, 1> y = x * 2;
      EXPECT_GT(topos::memory_stats(d).in_use, before);
    }
    topos::block_until_ready(d);
    EXPECT_EQ(topos::memory_stats(d).in_use, before);
  });
}

TEST(tensor, returns_before_its_content_is_computed) {
  auto& queue = topos::detail::queue_of(topos::cpu(), std::source_location::current());
  std::optional<tensor<float, 1>> x;
  {
    const support::gate held(queue);
    x = topos::full<float, 1>({100'000}, 3);
    x = *x + 1;
    EXPECT_FALSE(x->is_ready());
  }
  EXPECT_EQ(&x->block_until_ready(), &*x);
  EXPECT_TRUE(x->is_ready());
  EXPECT_EQ(x->host()[99'999], 4);
}

TEST(tensor, failure_is_rethrown_by_whatever_reads_it) {
  on_each_device([](topos::device d) {
    const tensor<float, 1> x({100}, d);
    topos::detail::queue_of(d, std::source_location::current())
        .submit({}, {x.memory()}, topos::detail::always_queued,
                [](const auto&) { throw std::domain_error("no such number"); });
    const tensor<float, 1> y = x + 1;
    const tensor<float, 2> z = y.reshape<2>({10, 10});
    const tensor<float, 1> unrelated = topos::ones<float, 1>({3}, d);

    EXPECT_THROW(x.block_until_ready(), std::domain_error);
    EXPECT_EQ(refusal<std::domain_error>([&] { y.block_until_ready(); }), "no such number");
    EXPECT_THROW(static_cast<void>(values_of(z.row(3))), std::domain_error);
    EXPECT_EQ(values_of(unrelated), std::vector<float>(3, 1));
  });
}

TEST(tensor, host_of_another_device_is_refused) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "every tensor is on the host: there is no GPU";
  const tensor<float, 2> x = topos::zeros<float, 2>({2, 3}, topos::gpu());

  const std::string message = refusal<topos::device_mismatch>([&] { static_cast<void>(x.host()); });

  EXPECT_TRUE(contains(message, "(2, 3)") && contains(message, "cuda:0")) << message;
}

TEST(tensor, reshape_keeps_elements_and_memory) {
  on_each_device([](topos::device d) {
    const auto x = vector_on<int>(d, {1, 2, 3, 4, 5, 6});

    const tensor<int, 2> y = x.reshape<2>({2, 3});

    EXPECT_EQ(y.shape(), (topos::shape<2>{2, 3}));
    EXPECT_EQ(y.data(), x.data());
    EXPECT_EQ(values_of(y), values_of(x));
    EXPECT_EQ(values_of(y.row(1)), (std::vector<int>{4, 5, 6}));
    EXPECT_EQ((x.reshape<3>({1, 6, 1}).reshape<1>({6}).data()), x.data());
  });
}

TEST(tensor, reshape_to_another_size_is_refused) {
  const auto x = topos::zeros<float, 2>({2, 3});

  const std::string message =
      refusal<topos::shape_mismatch>([&] { static_cast<void>(x.reshape<1>({7})); });

  EXPECT_TRUE(contains(message, "(2, 3)") && contains(message, "(7,)")) << message;
  EXPECT_THROW(static_cast<void>(x.reshape<2>({-2, -3})), topos::shape_mismatch);
  const std::string two_open = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(x.reshape<2>({-1, -1}));
  });
  for (const char* part : {"reshape", "(2, 3)", "(-1, -1)"})
    EXPECT_TRUE(contains(two_open, part)) << two_open;
}

TEST(tensor, reshape_leaves_nothing_to_guess) {
  const auto none = topos::zeros<float, 2>({0, 3});
  EXPECT_THROW(static_cast<void>(none.reshape<2>({0, -1})), topos::shape_mismatch);
  EXPECT_EQ(none.reshape<2>({-1, 3}).shape(), (topos::shape<2>{0, 3}));
  EXPECT_EQ(none.reshape<1>({-1}).shape(), (topos::shape<1>{0}));
}

TEST(tensor, row_is_a_part_without_a_copy) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<3>(d, {2, 2, 2}, std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});

    const tensor<int, 1> y = x.row(1).row(0);

    EXPECT_EQ(values_of(x.row(1)), (std::vector<int>{5, 6, 7, 8}));
    EXPECT_EQ(values_of(y), (std::vector<int>{5, 6}));
    EXPECT_EQ(values_of(y.row(1)), std::vector<int>{6});
    EXPECT_EQ(y.memory(), x.memory());
    EXPECT_EQ(values_of(eval(y * y + x.row(0).row(1))), (std::vector<int>{28, 40}));
    EXPECT_EQ(values_of(y.reshape<2>({2, 1})), (std::vector<int>{5, 6}));
    EXPECT_EQ(values_of(x.row(-1)), values_of(x.row(x.shape()[0] - 1)));
  });
}

TEST(tensor, row_outside_is_refused) {
  const auto x = topos::zeros<float, 2>({2, 3});

  for (const index_t i : {index_t{-3}, index_t{2}, std::numeric_limits<index_t>::max(),
                          std::numeric_limits<index_t>::min()}) {
    const std::string message = refusal<topos::out_of_range>([&] { static_cast<void>(x.row(i)); });
    EXPECT_TRUE(contains(message, std::to_string(i)) && contains(message, "(2, 3)")) << message;
  }
  EXPECT_EQ((topos::zeros<float, 2>({2, 0}).row(1).size()), 0);
}

TEST(tensor, shapes_that_no_memory_holds_are_refused_at_the_call) {
  on_each_device([](topos::device d) {
    EXPECT_THROW((tensor<float, 1>({-1}, d)), topos::shape_mismatch);
    EXPECT_THROW((tensor<float, 1>({index_t{1} << 60}, d)), topos::error);
    EXPECT_THROW((tensor<float, 1>({index_t{1} << 62}, d)), topos::error) << "2^64 bytes";
    EXPECT_THROW((tensor<double, 1>({(index_t{1} << 61) + 1}, d)), topos::error);
    EXPECT_THROW((tensor<float, 2>({index_t{1} << 40, index_t{1} << 40}, d)),
                 topos::shape_mismatch);
  });
}

TEST(tensor, shape_with_a_zero_is_empty_whatever_else_it_has) {
  const tensor<float, 3> x({index_t{1} << 40, index_t{1} << 22, 0});

  EXPECT_EQ(x.size(), 0);
  EXPECT_TRUE(x.host().empty());
}

TEST(tensor, goes_where_its_operands_are) {
  on_each_device([](topos::device d) {
    const auto x = topos::ones<float, 1>({3}, d);
    const topos::default_device elsewhere(topos::cpu());

    EXPECT_EQ(eval(x + 1).device(), d);
    EXPECT_EQ(topos::zeros<float>(topos::shape<1>{2}).device(), topos::cpu());
  });
}

// What a process does whose runtime ends before its tensors do.
[[noreturn]] void read_after_the_runtime() {
  tensor<float, 1> x = topos::ones<float, 1>({100'000});
  x = x + 1;
  Kokkos::finalize();
  const bool right = x.is_ready() && x.host()[99'999] == 2;
  x = tensor<float, 1>();
  std::_Exit(right ? 0 : 1);
}

[[noreturn]] void end_with_a_static_tensor() {
  static tensor<float, 1> kept;
  kept = topos::ones<float, 1>({100'000}) * 2;
  Kokkos::finalize();
  std::exit(0);
}

[[noreturn]] void compute_after_the_runtime() {
  const auto x = topos::ones<float, 1>({3});
  Kokkos::finalize();
  try {
    static_cast<void>(eval(x + 1));
  } catch (const topos::runtime_not_started&) {
    std::_Exit(0);
  }
  std::_Exit(1);
}

using tensor_death = support::death_test;

TEST_F(tensor_death, outlives_the_runtime_and_is_read_after_it) {
  EXPECT_EXIT(read_after_the_runtime(), testing::ExitedWithCode(0), "");
}

TEST_F(tensor_death, static_one_may_end_after_main) {
  EXPECT_EXIT(end_with_a_static_tensor(), testing::ExitedWithCode(0), "");
}

TEST_F(tensor_death, computing_after_the_runtime_is_refused) {
  EXPECT_EXIT(compute_after_the_runtime(), testing::ExitedWithCode(0), "");
}

}  // namespace tensor_test
