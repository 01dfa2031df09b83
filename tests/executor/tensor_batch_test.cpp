// SPDX-License-Identifier: Apache-2.0

/// Functions of tensors whose rows are gathered from items, and scattered to results.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <topos/executor.hpp>
#include <topos/topos.hpp>
#include <utility>
#include <vector>

#include "../support/devices.hpp"

namespace {

using row = topos::tensor<float, 1>;
using rows = topos::tensor<float, 2>;

row values(std::vector<float> of) { return topos::device_put(of, topos::cpu()); }

std::vector<float> content(const row& x) {
  const auto all = x.host();
  return {all.begin(), all.end()};
}

struct doubler {
  explicit doubler(topos::device d) : place(d) {}

  rows twice(const rows& x) {
    EXPECT_EQ(x.device(), place);
    return x * 2.0f;
  }
  topos::tensor<float, 1> total(const rows& x, const int& factor) {
    return sum(x, 1) * static_cast<float>(factor);
  }

  topos::device place;
};

using doubling = topos::deployment<doubler, topos::endpoint<"/twice", &doubler::twice>,
                                   topos::endpoint<"/total", &doubler::total>>;

TEST(tensor_batch, gathers_items_and_scatters_results) {
  support::on_each_device([](topos::device d) {
    doubling dep({.devices = {d}, .max_batch_size = 4, .hold_until = 4});
    std::vector<topos::future<row>> futures;
    for (int i = 0; i < 4; ++i) {
      const auto x = static_cast<float>(i);
      futures.push_back(dep.submit<"/twice">(values({x, x + 1, x + 2})));
    }
    for (int i = 0; i < 4; ++i) {
      const auto x = static_cast<float>(i);
      const row result = futures[static_cast<std::size_t>(i)].get();
      EXPECT_EQ(result.device(), topos::cpu());
      EXPECT_EQ(content(result), (std::vector{2 * x, 2 * x + 2, 2 * x + 4}));
    }
    EXPECT_EQ(dep.stats<"/twice">().batch_sizes.at(4), 1u);
  });
}

TEST(tensor_batch, takes_items_from_every_device_and_of_every_shape) {
  support::on_each_device([](topos::device d) {
    doubling dep({.devices = {d}, .hold_until = 5});
    std::vector<topos::future<row>> futures;
    futures.push_back(dep.submit<"/twice">(values({1, 2})));
    futures.push_back(dep.submit<"/twice">(values({3})));
    futures.push_back(dep.submit<"/twice">(values({4, 5}).to(d)));
    futures.push_back(dep.submit<"/twice">(values({})));
    futures.push_back(dep.submit<"/twice">(values({6})));
    const std::vector<std::vector<float>> expected{{2, 4}, {6}, {8, 10}, {}, {12}};
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(content(futures[i].get()), expected[i]);
  });
}

TEST(tensor_batch, passes_parameters_and_gives_scalars) {
  support::on_each_device([](topos::device d) {
    doubling dep({.devices = {d}});
    topos::future<topos::tensor<float, 0>> result =
        dep.submit<"/total">(values({1, 2, 4}), {.parameters = 10});
    EXPECT_EQ(result.get().item(), 70.0f);
  });
}

TEST(tensor_batch, wants_a_row_for_each_item) {
  topos::batcher<row, row> b(
      [](const rows& x) -> rows {
        return topos::tensor(topos::slice(x, topos::range{0, 1}));
      },
      {.devices = {topos::cpu()}, .hold_until = 2});
  auto first = b.submit(values({1}));
  auto second = b.submit(values({2}));
  EXPECT_THROW(first.get(), topos::shape_mismatch);
  EXPECT_THROW(second.get(), topos::shape_mismatch);
}

TEST(tensor_batch, takes_lazy_results_and_streams) {
  topos::batcher<row, row> b([](const rows& x) { return x + 1.0f; }, {.devices = {topos::cpu()}});
  std::vector<row> items;
  for (int i = 0; i < 70; ++i) items.push_back(values({static_cast<float>(i)}));
  int i = 0;
  for (const row& result : b.map(items)) EXPECT_EQ(content(result), std::vector{++i * 1.0f});
  EXPECT_EQ(i, 70);
}

static_assert(topos::batch_function<decltype(&doubler::twice)>);
static_assert(!topos::batch_function<row (*)(rows)>);
static_assert(!topos::batch_callable<rows (*)(const rows&), row, topos::tensor<int, 1>>);

}  // namespace
