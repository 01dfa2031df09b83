// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <topos/executor/item_source.hpp>
#include <utility>
#include <vector>

namespace item_source_test {

using topos::detail::make_items;

using strings = std::vector<std::string>;

static_assert(topos::item_source<std::vector<int>&, int>);
static_assert(topos::item_source<const std::vector<int>&, int>);
static_assert(topos::item_source<std::vector<int>, int>);
static_assert(topos::item_source<std::span<const int>, long>);
static_assert(topos::item_source<std::optional<int> (&)(), int>);
static_assert(!topos::item_source<int (&)(), int>);
static_assert(!topos::item_source<int, int>);
static_assert(!topos::item_source<std::vector<int>&, std::string>);
static_assert(!topos::item_source<std::vector<int>&, std::vector<int>>);  // not by size
static_assert(topos::item_source<std::vector<std::unique_ptr<int>>&, std::unique_ptr<int>>);
static_assert(!topos::item_source<std::list<std::unique_ptr<int>>&, std::unique_ptr<int>>);
static_assert(topos::contiguous_item_range<std::span<const int>, int>);
static_assert(!topos::contiguous_item_range<std::span<const int>, long>);

template <class In>
std::vector<In> take(topos::detail::items<In>& source, std::size_t count) {
  std::vector<In> storage;
  const auto some = source.next(count, storage);
  return {some.begin(), some.end()};
}

TEST(item_source, refers_to_an_lvalue_in_memory) {
  const std::vector<int> numbers{1, 2, 3, 4, 5};
  const auto source = make_items<int>(numbers);
  std::vector<int> storage;
  EXPECT_EQ(source->size(), 5U);
  EXPECT_EQ(source->next(2, storage).data(), numbers.data());
  EXPECT_EQ(source->next(2, storage).data(), numbers.data() + 2);
  EXPECT_EQ(source->next(2, storage).size(), 1U);
  EXPECT_EQ(source->next(2, storage).size(), 0U);
  EXPECT_TRUE(storage.empty());
}

TEST(item_source, takes_over_an_rvalue) {
  const auto source = make_items<std::string>(strings{"a", "b", "c"});
  EXPECT_EQ(take(*source, 2), (strings{"a", "b"}));
  EXPECT_EQ(take(*source, 2), (strings{"c"}));
  EXPECT_EQ(take(*source, 2), (strings{}));
}

TEST(item_source, converts_as_a_call_would) {
  const std::array<const char*, 3> words{"x", "y", "z"};
  const auto source = make_items<std::string>(words);
  EXPECT_EQ(source->size(), 3U);
  EXPECT_EQ(take(*source, 8), (strings{"x", "y", "z"}));
}

TEST(item_source, knows_the_size_of_what_has_one) {
  std::list<int> numbers{1, 2, 3};
  EXPECT_EQ(make_items<int>(numbers)->size(), 3U);
  EXPECT_EQ(make_items<int>(numbers | std::views::filter([](int) { return true; }))->size(),
            std::nullopt);
  EXPECT_EQ(make_items<int>([] { return std::optional<int>{}; })->size(), std::nullopt);
}

TEST(item_source, takes_a_huge_count_for_all) {
  const auto source = make_items<int>(std::views::iota(0, 1000));
  EXPECT_EQ(take(*source, static_cast<std::size_t>(-1)).size(), 1000U);
  EXPECT_EQ(take(*source, static_cast<std::size_t>(-1)).size(), 0U);
}

TEST(item_source, reads_a_single_pass_range_no_further_than_needed) {
  std::istringstream input("1 2 3 4 5");
  const auto source = make_items<int>(std::views::istream<int>(input));
  EXPECT_EQ(take(*source, 2), (std::vector{1, 2}));
  std::string rest;
  input >> rest;  // was not taken yet
  EXPECT_EQ(rest, "3");
  EXPECT_EQ(take(*source, 9), (std::vector{4, 5}));
  EXPECT_EQ(take(*source, 9), std::vector<int>{});
}

TEST(item_source, calls_a_generator_until_its_end_and_not_after) {
  int calls = 0;
  const auto source = make_items<int>([&calls]() -> std::optional<int> {
    return ++calls <= 3 ? std::optional(calls) : std::nullopt;
  });
  EXPECT_EQ(take(*source, 2), (std::vector{1, 2}));
  EXPECT_EQ(take(*source, 2), (std::vector{3}));
  EXPECT_EQ(take(*source, 2), std::vector<int>{});
  EXPECT_EQ(calls, 4);
}

TEST(item_source, lets_a_generator_make_what_only_moves) {
  const auto source = make_items<std::unique_ptr<int>>([n = 0]() mutable {
    return n < 2 ? std::optional(std::make_unique<int>(n++)) : std::nullopt;
  });
  std::vector<std::unique_ptr<int>> storage;
  const auto all = source->next(5, storage);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(*all[1], 1);
}

TEST(item_source, keeps_what_came_before_a_throw) {
  const auto check = [](auto&& range_or_generator) {
    const auto source =
        make_items<int>(std::forward<decltype(range_or_generator)>(range_or_generator));
    std::vector<int> storage;
    EXPECT_THROW(static_cast<void>(source->next(10, storage)), std::runtime_error);
    EXPECT_EQ(storage, (std::vector{0, 1, 2}));
  };
  const auto or_throw = [](int n) {
    if (n == 3) throw std::runtime_error("no more");
    return n;
  };
  check(std::views::iota(0) | std::views::transform(or_throw));
  check([n = 0, or_throw]() mutable { return std::optional(or_throw(n++)); });
}

}  // namespace item_source_test
