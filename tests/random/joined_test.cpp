// SPDX-License-Identifier: Apache-2.0

/// Random leaves of several sizes and parts in one expression: each keeps its own numbers.

#include <gtest/gtest.h>

#include <topos/expr/slice.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>
#include <vector>

#include "../support/devices.hpp"

namespace joined_test {

using support::values_of;
using topos::index_t;
using topos::range;
using topos::tensor;

TEST(random_leaves, of_other_sizes_and_parts_keep_their_numbers) {
  support::on_each_device([](topos::device d) {
    const auto many = topos::random::uniform(topos::random::key{1}, {400}, d);
    const tensor<float, 1> made = many;
    const std::vector<std::pair<index_t, index_t>> parts{
        {0, 100}, {2, 100}, {0, 64}, {3, 64}, {0, 400}};
    for (const auto& [from, n] : parts) {
      const auto some = topos::random::uniform(topos::random::key{2}, {n}, d);
      const tensor<float, 1> made_some = some;
      const range part{from, from + n};

      const tensor<float, 1> left = slice(many, part) + some;
      const tensor<float, 1> right = some + slice(many, part);

      const tensor<float, 1> expected = slice(made, part) + made_some;
      EXPECT_EQ(values_of(left), values_of(expected)) << from << ' ' << n;
      EXPECT_EQ(values_of(right), values_of(expected)) << from << ' ' << n;
    }
  });
}

TEST(random_leaves, of_other_layouts_and_types_keep_their_numbers) {
  support::on_each_device([](topos::device d) {
    const topos::random::key original{1};
    const topos::random::key partitionable{2, topos::random::layout::partitionable};
    for (const index_t n : {7, 8, 127, 128, 300}) {
      const auto one = topos::random::uniform(original, {n}, d);
      const auto other = topos::random::uniform(partitionable, {n}, d);
      const auto doubles = topos::random::uniform<double>(original, {n}, d);
      const tensor<float, 1> made_one = one;
      const tensor<float, 1> made_other = other;
      const tensor<double, 1> made_doubles = doubles;

      EXPECT_EQ(values_of(tensor<float, 1>(one - other)),
                values_of(tensor<float, 1>(made_one - made_other)))
          << n;
      EXPECT_EQ(values_of(tensor<double, 1>(doubles - one)),
                values_of(tensor<double, 1>(made_doubles - made_one)))
          << n;
    }
  });
}

TEST(random_leaves, that_broadcast_keep_their_numbers) {
  support::on_each_device([](topos::device d) {
    const auto row = topos::random::uniform(topos::random::key{1}, {64}, d);
    const auto table = topos::random::uniform(topos::random::key{2}, {4, 64}, d);
    const tensor<float, 1> made_row = row;
    const tensor<float, 2> made_table = table;

    const tensor<float, 2> sum = row + table;

    EXPECT_EQ(values_of(sum), values_of(topos::eval(made_row + made_table)));
  });
}

}  // namespace joined_test
