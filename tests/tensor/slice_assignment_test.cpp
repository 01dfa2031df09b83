// SPDX-License-Identifier: Apache-2.0

/// Assignment to parts of a tensor: what is read is what was there before, and copies keep theirs.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/scatter.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <vector>

#include "../async/gate.hpp"
#include "../support/devices.hpp"

namespace slice_assignment_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::index_t;
using topos::range;
using topos::tensor;

std::vector<int> counted(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(slice_assignment, changes_its_part_alone) {
  on_each_device([](topos::device d) {
    tensor<int, 2> x = topos::zeros<int, 2>({3, 4}, d);

    x.slice(1) = vector_on<int>(d, {1, 2, 3, 4});
    x.slice(range{}, range(0, {}, 3)) = 9;
    x.slice(0, range({}, {}, -1)) += vector_on<int>(d, {1, 2, 3, 4});
    x.slice(2, 1) -= 5;

    EXPECT_EQ(values_of(x), (std::vector<int>{13, 3, 2, 10, 9, 2, 3, 9, 9, -5, 0, 9}));
  });
}

TEST(slice_assignment, a_slice_is_an_operand_everywhere) {
  on_each_device([](topos::device d) {
    tensor<int, 2> x = tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4});

    const tensor<int, 1> converted = x.slice(0);
    const tensor deduced = x.slice(1);
    const auto computed = topos::eval(x.slice(range{}, 0));
    const auto moved = topos::device_put(x.slice(range{}, 1), topos::cpu());
    static_assert(std::is_same_v<decltype(deduced), const tensor<int, 1>>);
    x.slice(0) = 9;

    EXPECT_EQ(values_of(converted), (std::vector<int>{1, 2}));
    EXPECT_EQ(values_of(deduced), (std::vector<int>{3, 4}));
    EXPECT_EQ(values_of(computed), (std::vector<int>{1, 3}));
    EXPECT_EQ(values_of(moved), (std::vector<int>{2, 4}));
    EXPECT_EQ(values_of(x), (std::vector<int>{9, 9, 3, 4}));
  });
}

TEST(slice_assignment, broadcasts_and_converts) {
  on_each_device([](topos::device d) {
    tensor<float, 2> x = topos::zeros<float, 2>({2, 3}, d);

    x.slice(range{}, range(1, {})) = vector_on<std::int8_t>(d, {5, -6});
    x.slice(1) *= tensor_on<1>(d, {1}, std::vector<double>{0.5});
    x.slice(0, 0) = topos::full<float, 0>({}, 7, d);

    EXPECT_EQ(values_of(x), (std::vector<float>{7, 5, -6, 0, 2.5f, -3}));
  });
}

TEST(slice_assignment, reads_what_was_there_before) {
  on_each_device([](topos::device d) {
    for (const int n : {7, 33, 40'000}) {
      const std::vector<int> before = counted(n);
      const range head{{}, -1};
      const range tail{1, {}};
      const range back{{}, {}, -1};

      tensor<int, 1> moved = vector_on(d, before);
      moved.slice(tail) = moved.slice(head);
      tensor<int, 1> summed = vector_on(d, before);
      summed.slice(tail) += summed.slice(head);
      tensor<int, 1> turned = vector_on(d, before);
      turned.slice(back) = turned;
      tensor<int, 1> folded = vector_on(d, before);
      folded.slice(back) += folded;
      tensor<int, 1> whole = vector_on(d, before);
      whole += whole.slice(back);

      const std::vector<int> by_one = values_of(moved);
      const std::vector<int> sums = values_of(summed);
      const std::vector<int> reversed = values_of(turned);
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_EQ(by_one[at], i == 0 ? 0 : i - 1) << n;
        ASSERT_EQ(sums[at], i == 0 ? 0 : 2 * i - 1) << n;
        ASSERT_EQ(reversed[at], n - 1 - i) << n;
      }
      EXPECT_EQ(values_of(folded), std::vector<int>(static_cast<std::size_t>(n), n - 1));
      EXPECT_EQ(values_of(whole), std::vector<int>(static_cast<std::size_t>(n), n - 1));
    }
  });
}

TEST(slice_assignment, of_rows_to_all_rows_reads_the_old_row) {
  on_each_device([](topos::device d) {
    tensor<int, 2> x = tensor_on<2>(d, {3, 2}, std::vector<int>{1, 2, 10, 20, 100, 200});
    tensor<int, 2> y = x * 1;

    x += x.slice(0);
    y.slice(range{}) -= y.slice(1);

    EXPECT_EQ(values_of(x), (std::vector<int>{2, 4, 11, 22, 101, 202}));
    EXPECT_EQ(values_of(y), (std::vector<int>{-9, -18, 0, 0, 90, 180}));
  });
}

TEST(update, by_what_reads_the_tensor_in_another_order_reads_the_old_one) {
  on_each_device([](topos::device d) {
    for (const index_t n : {3, 70}) {
      const std::vector<int> before = counted(static_cast<int>(n * n));
      tensor<int, 2> x = tensor_on<2>(d, {n, n}, before);
      x += transpose(x);
      const std::vector<int> got = values_of(x);
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j < n; ++j)
          ASSERT_EQ(got[static_cast<std::size_t>(i * n + j)], (i * n + j) + (j * n + i));
      }
      tensor<int, 2> y = tensor_on<2>(d, {n, n}, before);
      y -= slice(y, range({}, {}, -1));
      EXPECT_EQ(values_of(y)[0], before[0] - before[static_cast<std::size_t>((n - 1) * n)]);
      EXPECT_EQ(values_of(y).back(), before.back() - before[static_cast<std::size_t>(n - 1)]);
    }
  });
}

// Whatever shares the rows among threads, and reads them by columns or by steps.
TEST(update, changes_each_element_once) {
  on_each_device([](topos::device d) {
    for (const index_t rows : {3, 33, 64, 130}) {
      for (const index_t columns : {2, 63, 65, 100, 111, 112, 140}) {
        const auto count = static_cast<std::size_t>(rows * columns);
        tensor<int, 2> x = topos::full<int>({rows, columns}, 5, d);
        const tensor<int, 2> y = topos::full<int>({columns, rows}, 3, d);
        x += transpose(y);
        x = x - flip(transpose(y), 1) * 2;
        ASSERT_EQ(values_of(x), std::vector<int>(count, 2)) << rows << ' ' << columns;

        tensor<int, 2> wide = topos::full<int>({rows, 3 * columns}, 2, d);
        wide.slice(range{}, range{1, {}, 3}) *= 5;
        wide.slice(range{}, range{2, {}, 3}) -= transpose(y);
        std::vector<int> expected;
        for (std::size_t i = 0; i < count; ++i) expected.insert(expected.end(), {2, 10, -1});
        ASSERT_EQ(values_of(wide), expected) << rows << ' ' << columns;
      }
    }
  });
}

TEST(update, by_itself_is_in_place) {
  on_each_device([](topos::device d) {
    tensor<float, 1> x = vector_on<float>(d, {1, 2, 3});
    const float* const memory = x.data();
    x += x;
    x *= x;
    x -= 1;
    x /= 5;
    EXPECT_EQ(x.data(), memory);
    EXPECT_EQ(values_of(x), (std::vector<float>{0.6f, 3, 7}));
  });
}

TEST(slice_assignment, between_parts_of_one_tensor_keeps_its_memory) {
  on_each_device([](topos::device d) {
    tensor<int, 1> x = vector_on(d, counted(10));
    const int* const memory = x.data();
    x.slice(range(0, 5)) = x.slice(range(5, 10));
    x.slice(range(1, {})) += x.slice(range({}, -1));
    EXPECT_EQ(x.data(), memory);
    EXPECT_EQ(values_of(x), (std::vector<int>{5, 11, 13, 15, 17, 14, 11, 13, 15, 17}));
  });
}

TEST(slice_assignment, leaves_copies_as_they_were) {
  on_each_device([](topos::device d) {
    tensor<int, 1> x = vector_on(d, counted(5));
    const tensor<int, 1> copy = x;
    const tensor<int, 2> reshaped = x.reshape<2>({5, 1});
    const auto lazy = copy * 10;

    x.slice(range(1, 3)) = -1;
    x.slice(4) += 1;
    x += 100;

    EXPECT_EQ(values_of(x), (std::vector<int>{100, 99, 99, 103, 105}));
    EXPECT_EQ(values_of(copy), counted(5));
    EXPECT_EQ(values_of(reshaped), counted(5));
    EXPECT_EQ(values_of(topos::eval(lazy)), (std::vector<int>{0, 10, 20, 30, 40}));
  });
}

TEST(slice_assignment, of_a_part_that_shares_memory_leaves_the_whole) {
  on_each_device([](topos::device d) {
    const tensor<int, 2> x = tensor_on<2>(d, {2, 3}, counted(6));
    tensor<int, 1> row = x.row(1);

    row.slice(0) = 99;
    row += 1;

    EXPECT_EQ(values_of(row), (std::vector<int>{100, 5, 6}));
    EXPECT_EQ(values_of(x), counted(6));
  });
}

TEST(copy_on_write, holds_while_earlier_work_is_still_queued) {
  auto& queue = topos::detail::queue_of(topos::cpu(), std::source_location::current());
  tensor<int, 1> x = vector_on(topos::cpu(), counted(100));
  tensor<int, 1> doubled;
  tensor<int, 1> later;
  {
    const support::gate held(queue);
    doubled = x * 2;             // reads x when the gate opens
    x.slice(range(0, 50)) = -1;  // after that, in queue order
    const tensor<int, 1> copy = x;
    x += 1000;  // the copy holds the memory
    later = copy + doubled;
    EXPECT_FALSE(later.is_ready());
  }
  const std::vector<int> d = values_of(doubled);
  const std::vector<int> l = values_of(later);
  const std::vector<int> now = values_of(x);
  for (int i = 0; i < 100; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int mid = i < 50 ? -1 : i;
    EXPECT_EQ(d[at], 2 * i);
    EXPECT_EQ(l[at], mid + 2 * i);
    EXPECT_EQ(now[at], mid + 1000);
  }
}

TEST(slice_assignment, of_random_parts_is_that_of_element_by_element_copies) {
  on_each_device([](topos::device d) {
    for (unsigned seed = 0; seed < 150; ++seed) {
      std::mt19937 engine(seed);
      const auto roll = [&](index_t low, index_t high) {
        return low + static_cast<index_t>(engine() % static_cast<unsigned>(high - low + 1));
      };
      const index_t n = roll(2, 60);
      std::vector<int> expected = counted(static_cast<int>(n));
      tensor<int, 1> x = vector_on(d, expected);
      std::vector<tensor<int, 1>> copies;
      std::vector<std::vector<int>> kept;
      for (int step = 0; step < 6; ++step) {
        if (roll(0, 2) == 0) {
          copies.push_back(x);
          kept.push_back(expected);
        }
        const index_t count = roll(1, n / 2);
        const index_t to = roll(0, n - count);
        const index_t from = roll(0, n - count);
        const bool back = roll(0, 1) == 1;
        const range target{to, to + count};
        const range source =
            back ? range{from + count - 1, from == 0 ? std::optional<index_t>{} : from - 1, -1}
                 : range{from, from + count};
        const std::vector<int> before = expected;
        const bool add = roll(0, 1) == 1;
        if (add)
          x.slice(target) += x.slice(source);
        else
          x.slice(target) = x.slice(source) * 2 - 1;
        for (index_t i = 0; i < count; ++i) {
          const int read = before[static_cast<std::size_t>(back ? from + count - 1 - i : from + i)];
          int& written = expected[static_cast<std::size_t>(to + i)];
          written = add ? written + read : 2 * read - 1;
        }
      }
      ASSERT_EQ(values_of(x), expected) << "seed " << seed;
      for (std::size_t i = 0; i < copies.size(); ++i)
        ASSERT_EQ(values_of(copies[i]), kept[i]) << "seed " << seed << ", copy " << i;
    }
  });
}

TEST(slice_assignment, of_what_does_not_fit_is_refused_and_changes_nothing) {
  tensor<int, 2> x = topos::zeros<int, 2>({2, 3});
  const auto four = topos::ones<int, 1>({4});

  const std::string message =
      refusal<topos::shape_mismatch>([&] { x.slice(range{}, range(0, 2)) = four; });
  const std::string larger = refusal<topos::shape_mismatch>([&] {
    x.slice(range(0, 1)) = topos::ones<int, 2>({2, 3});
  });
  const std::string updated = refusal<topos::shape_mismatch>([&] {
    x += topos::ones<int, 2>({4, 3});
  });
  const std::string grown = refusal<topos::shape_mismatch>([&] {
    x.slice(range(0, 1)) += topos::ones<int, 2>({2, 3});
  });

  EXPECT_TRUE(contains(message, "(2, 2)") && contains(message, "(4,)")) << message;
  EXPECT_TRUE(contains(larger, "(1, 3)") && contains(larger, "(2, 3)")) << larger;
  EXPECT_TRUE(contains(updated, "(2, 3)") && contains(updated, "(4, 3)")) << updated;
  EXPECT_TRUE(contains(grown, "(1, 3)") && contains(grown, "(2, 3)")) << grown;
  EXPECT_EQ(values_of(x), std::vector<int>(6, 0));
}

TEST(slice_assignment, of_a_number_that_the_type_does_not_have_is_refused) {
  auto x = topos::zeros<std::int8_t, 1>({3});
  const std::string text = support::refusal<topos::invalid_argument>([&] { x.slice(0) = 300; });
  EXPECT_TRUE(support::contains(text, "300 does not fit int8")) << text;
  EXPECT_THROW((void)scatter_add(x, topos::array({0, 1}), -129), topos::invalid_argument);
  x.slice(0) = -128;
  EXPECT_EQ(values_of(x), (std::vector<std::int8_t>{-128, 0, 0}));
}

TEST(slice_assignment, of_a_tensor_that_was_assigned_another_shape_is_refused) {
  tensor<int, 1> x = topos::zeros<int, 1>({100});
  const auto part = x.slice(range(50, 100));
  x = topos::ones<int, 1>({100});
  part = 2;
  x = topos::ones<int, 1>({10});

  const std::string written = refusal<topos::shape_mismatch>([&] { part = 3; });
  const std::string read = refusal<topos::shape_mismatch>([&] { (void)eval(part + 1); });

  EXPECT_TRUE(contains(written, "(100,)") && contains(written, "(10,)")) << written;
  EXPECT_TRUE(contains(read, "(100,)") && contains(read, "(10,)")) << read;
  EXPECT_EQ(values_of(x), std::vector<int>(10, 1));
}

TEST(slice_assignment, across_devices_is_refused_and_names_both) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  tensor<int, 1> x = topos::zeros<int, 1>({3});
  const auto there = topos::ones<int, 1>({3}, topos::gpu());

  const std::string message = refusal<topos::device_mismatch>([&] { x.slice(range{}) = there; });

  EXPECT_TRUE(contains(message, "cpu") && contains(message, "cuda:0")) << message;
}

TEST(slice_assignment, of_nothing_changes_nothing) {
  on_each_device([](topos::device d) {
    tensor<int, 1> x = vector_on(d, counted(4));
    x.slice(range(2, 2)) = 9;
    x.slice(range(4, {})) += 9;
    x.slice(range(3, 1)) = topos::zeros<int, 1>({0}, d);
    EXPECT_EQ(values_of(x), counted(4));
  });
}

TEST(slice_assignment, a_slice_of_one_element_has_its_value) {
  on_each_device([](topos::device d) {
    auto x = tensor_on<2>(d, {2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5});
    EXPECT_EQ(x.slice(1, 2).item(), 5);
    EXPECT_THROW((void)x.slice(1).item(), topos::shape_mismatch);
  });
}

}  // namespace slice_assignment_test
