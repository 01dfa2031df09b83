// SPDX-License-Identifier: Apache-2.0

/// Functions of tensors whose rows are gathered from items, and scattered to results.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <topos/executor.hpp>
#include <topos/topos.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "../support/devices.hpp"
#include "gate.hpp"

namespace tensor_batch_test {

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
    const std::vector<row> items{values({1, 2, 4}), values({1, 1, 1})};
    std::vector<float> totals;
    for (const auto& each : dep.post<"/total">(items, {}, 2)) totals.push_back(each.item());
    EXPECT_EQ(totals, (std::vector{14.0f, 6.0f}));
  });
}

TEST(tensor_batch, wants_a_row_for_each_item) {
  topos::batcher<row, row> b(
      [](const rows& x) -> rows {
        return topos::tensor(topos::slice(x, topos::range{0, 1}));
      },
      {.devices = {topos::cpu()}, .idempotent = true, .hold_until = 2});
  auto first = b.submit(values({1}));
  auto second = b.submit(values({2}));
  EXPECT_THROW(first.get(), topos::shape_mismatch);
  EXPECT_THROW(second.get(), topos::shape_mismatch);
  EXPECT_EQ(b.stats().reruns, 0u);  // one by one they would have had a row each
}

TEST(tensor_batch, takes_lazy_results_and_streams) {
  topos::batcher<row, row> b([](const rows& x) { return x + 1.0f; }, {.devices = {topos::cpu()}});
  std::vector<row> items;
  for (int i = 0; i < 70; ++i) items.push_back(values({static_cast<float>(i)}));
  int i = 0;
  for (const row& result : b.map(items)) EXPECT_EQ(content(result), std::vector{++i * 1.0f});
  EXPECT_EQ(i, 70);
}

// Doubles on the CPU, in work that waits for a gate and fails where there is a negative number.
struct gated_doubler {
  explicit gated_doubler(gate& g) : work_gate(&g) {}

  rows operator()(const rows& x) {
    rows result(x.shape(), topos::cpu());
    topos::enqueue(topos::cpu(), topos::reads(x), topos::writes(result),
                   [g = work_gate](const auto&, const auto& from, const auto& to) {
                     g->pass();
                     for (std::size_t i = 0; i < from.extent(0); ++i) {
                       for (std::size_t j = 0; j < from.extent(1); ++j) {
                         if (from(i, j) < 0) throw std::runtime_error("a negative number");
                         to(i, j) = 2 * from(i, j);
                       }
                     }
                   });
    call_gate->pass();
    return result;
  }

  gate* work_gate;
  std::shared_ptr<gate> call_gate = [] {
    auto open = std::make_shared<gate>();
    open->open();
    return open;
  }();
};

TEST(tensor_batch, prepares_a_batch_while_the_device_computes_another) {
  gate computing;
  const gated_doubler model(computing);
  topos::batcher<row, row> b(model,
                             {.devices = {topos::cpu()}, .max_batch_size = 2, .hold_until = 5});
  std::vector<topos::future<row>> futures;
  for (const float x : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f}) futures.push_back(b.submit(values({x})));
  model.call_gate->await(2);  // twice, though the first batch is not computed
  EXPECT_FALSE(futures[0].is_ready());
  computing.open();
  for (std::size_t i = 0; i < futures.size(); ++i)
    EXPECT_EQ(content(futures[i].get()), std::vector{2.0f * static_cast<float>(i + 1)});
  EXPECT_EQ(b.stats().batch_sizes, (std::map<std::size_t, std::size_t>{{1, 1}, {2, 2}}));
}

TEST(tensor_batch, lets_others_join_until_the_device_is_free) {
  gate computing;
  const gated_doubler model(computing);
  topos::batcher<row, row> b(model, {.devices = {topos::cpu()}, .max_batch_size = 3});
  auto first = b.submit(values({1}));
  model.call_gate->await(1);
  auto second = b.submit(values({2}));
  auto third = b.submit(values({3}));
  computing.open();
  EXPECT_EQ(content(first.get()), std::vector{2.0f});
  EXPECT_EQ(content(second.get()), std::vector{4.0f});
  EXPECT_EQ(content(third.get()), std::vector{6.0f});
  EXPECT_EQ(b.stats().batch_sizes, (std::map<std::size_t, std::size_t>{{1, 1}, {2, 1}}));
}

TEST(tensor_batch, fails_the_item_alone_that_the_device_fails_on) {
  gate computing;
  computing.open();
  topos::batcher<row, row> b(
      gated_doubler(computing),
      {.devices = {topos::cpu()}, .max_batch_size = 4, .idempotent = true, .hold_until = 8});
  std::vector<topos::future<row>> futures;
  for (const float x : {1.0f, 2.0f, -3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f})
    futures.push_back(b.submit(values({x})));
  for (std::size_t i = 0; i < futures.size(); ++i) {
    if (i == 2)
      EXPECT_THROW(futures[i].get(), std::runtime_error);
    else
      EXPECT_EQ(content(futures[i].get()), std::vector{2.0f * static_cast<float>(i + 1)});
  }
  EXPECT_EQ(b.stats().reruns, 4u);
}

// What somebody else hands in harms nobody.
TEST(tensor_batch, fails_an_item_alone_that_was_computed_in_vain) {
  gate computing;
  computing.open();
  gated_doubler model(computing);
  topos::batcher<row, row> b([](const rows& x) { return x + 1.0f; },
                             {.devices = {topos::cpu()}, .hold_until = 3});
  const rows computed = model(topos::tensor(topos::stack(std::vector{values({-1})})));
  auto first = b.submit(values({1}));
  auto bad = b.submit(computed.row(0));
  auto last = b.submit(values({2}));
  EXPECT_EQ(content(first.get()), std::vector{2.0f});
  EXPECT_THROW(bad.get(), std::runtime_error);
  EXPECT_EQ(content(last.get()), std::vector{3.0f});
  EXPECT_EQ(b.stats().failed, 1u);
  const std::vector<row> items{values({1}), computed.row(0)};
  auto results = b.map(items, {.request_size = 1});
  auto at = results.begin();
  EXPECT_EQ(content(*at), std::vector{2.0f});
  EXPECT_THROW(++at, std::runtime_error);
}

TEST(tensor_batch, ends_what_is_in_flight_with_the_batcher) {
  gate computing;
  const gated_doubler model(computing);
  std::vector<topos::future<row>> futures;
  {
    topos::batcher<row, row> b(model,
                               {.devices = {topos::cpu()}, .max_batch_size = 2, .hold_until = 4});
    for (const float x : {1.0f, 2.0f, 3.0f, 4.0f}) futures.push_back(b.submit(values({x})));
    model.call_gate->await(2);
    EXPECT_TRUE(futures[0].cancel());
    computing.open();
  }
  EXPECT_THROW(futures[0].get(), topos::cancelled);
  for (std::size_t i = 1; i < futures.size(); ++i)
    EXPECT_EQ(content(futures[i].get()), std::vector{2.0f * static_cast<float>(i + 1)});
}

static_assert(topos::batch_function<decltype(&doubler::twice)>);
static_assert(!topos::batch_function<row (*)(rows)>);
static_assert(!topos::batch_callable<rows (*)(const rows&), row, topos::tensor<int, 1>>);

using number = topos::tensor<float, 0>;

// Of items that have several parts, and results that do.
struct several {
  explicit several(topos::device d) : place(d) {}

  rows scaled(const std::tuple<rows, row>& batch) {
    const auto& [x, factor] = batch;
    EXPECT_EQ(x.device(), place);
    EXPECT_EQ(factor.device(), place);
    return x * expand_dims(factor, 1);
  }
  std::tuple<row, rows> sums(std::tuple<rows, rows> batch) {
    const auto& [x, y] = batch;
    return {sum(x, 1), x + y};
  }

  topos::device place;
};

using several_parts = topos::deployment<several, topos::endpoint<"/scaled", &several::scaled>,
                                        topos::endpoint<"/sums", &several::sums>>;

TEST(tensor_batch, gathers_each_part_of_items_that_have_several) {
  support::on_each_device([](topos::device d) {
    several_parts dep({.devices = {d}, .hold_until = 3});
    const auto factor = [](float f) {
      return number(topos::full<float>(topos::shape<0>{}, f, topos::cpu()));
    };
    auto first = dep.submit<"/scaled">({values({1, 2}), factor(10)});
    auto second = dep.submit<"/scaled">({values({3, 4}), factor(100)});
    auto longer = dep.submit<"/scaled">({values({1, 1, 1}), factor(-1)});
    EXPECT_EQ(content(first.get()), (std::vector<float>{10, 20}));
    EXPECT_EQ(content(second.get()), (std::vector<float>{300, 400}));
    EXPECT_EQ(content(longer.get()), (std::vector<float>{-1, -1, -1}));
    EXPECT_EQ(dep.stats<"/scaled">().batches(), 1U);
  });
}

TEST(tensor_batch, scatters_each_part_of_results_that_have_several) {
  support::on_each_device([](topos::device d) {
    several_parts dep({.devices = {d}, .max_batch_size = 2, .hold_until = 2});
    auto first = dep.submit<"/sums">({values({1, 2}), values({5, 5})});
    auto second = dep.submit<"/sums">({values({3, 4}), values({7, 9})});
    const auto [total, sums] = first.get();
    EXPECT_EQ(total.item(), 3);
    EXPECT_EQ(content(sums), (std::vector<float>{6, 7}));
    EXPECT_EQ(std::get<0>(second.get()).item(), 7);
  });
}

TEST(tensor_batch, of_a_callable_takes_tuples_too) {
  topos::batcher<std::tuple<row, row>, row> b(
      [](const std::tuple<rows, rows>& both) {
        return rows(std::get<0>(both) + std::get<1>(both));
      },
      {.queue_bytes = 1 << 20});
  EXPECT_EQ(content(b.submit({values({1, 2}), values({3, 4})}).get()), (std::vector<float>{4, 6}));
}

struct throws_always {
  float operator()(float) const { throw std::domain_error("a part"); }
};

TEST(tensor_batch, an_item_whose_part_has_failed_fails_by_itself) {
  topos::batcher<std::tuple<row, row>, row> b(
      [](const std::tuple<rows, rows>& both) {
        return rows(std::get<0>(both) + std::get<1>(both));
      },
      {.hold_until = 2});
  auto good = b.submit({values({1}), values({2})});
  auto bad = b.submit({values({1}), row(topos::map(throws_always{}, values({2})))});
  EXPECT_EQ(content(good.get()), (std::vector<float>{3}));
  EXPECT_THROW(bad.get(), std::domain_error);
}

TEST(tensor_batch, of_several_shapes_fails_the_items_alone_whose_shape_is_at_fault) {
  topos::batcher<row, row> b(
      [](const rows& x) {
        return x.shape()[1] == 2 ? rows({7, 1}, topos::cpu()) : rows(x + 1.0f);
      },
      {.devices = {topos::cpu()}, .idempotent = true, .hold_until = 3});
  auto one = b.submit(values({1, 2, 3}));
  auto bad = b.submit(values({1, 2}));
  auto other = b.submit(values({4, 5, 6}));
  EXPECT_EQ(content(one.get()), (std::vector<float>{2, 3, 4}));
  EXPECT_THROW(bad.get(), topos::shape_mismatch);
  EXPECT_EQ(content(other.get()), (std::vector<float>{5, 6, 7}));
}

}  // namespace tensor_batch_test
