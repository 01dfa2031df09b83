// SPDX-License-Identifier: Apache-2.0

/// Loading takes all parameters by name, or none and says all that is wrong.

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <topos/io/safetensors.hpp>
#include <topos/nn/load.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace load_test {

using support::contains;
using support::on_each_device;
using support::values_of;
using topos::index_t;
using topos::nn::load;
using topos::nn::parameter;

// A file in memory.
class source {
 public:
  struct entry {
    topos::dtype dtype = topos::dtype::float32;
    std::vector<index_t> shape;
    std::vector<float> values;
    std::span<const std::byte> bytes;
  };

  void add(const std::string& name, std::vector<index_t> shape, std::vector<float> values,
           topos::dtype type = topos::dtype::float32) {
    entry& e = entries_[name];
    e = {type, std::move(shape), std::move(values), {}};
    e.bytes = std::as_bytes(std::span(e.values));
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, e] : entries_) all.push_back(name);
    return all;
  }
  [[nodiscard]] bool contains(const std::string& name) const { return entries_.contains(name); }
  [[nodiscard]] const entry& at(const std::string& name) const { return entries_.at(name); }

 private:
  std::map<std::string, entry> entries_;
};

struct inner {
  explicit inner(topos::device d) : weight({2, 2}, d) {}
  template <class Visit>
  void parameters(const Visit& visit) {
    visit("weight", weight);
  }
  void loaded() { ++told; }
  parameter<2> weight;
  int told = 0;
};

struct outer {
  explicit outer(topos::device d) : first(d), second(d), bias({3}, d) {}
  template <class Visit>
  void parameters(const Visit& visit) {
    visit("first", first);
    visit("stack.0", second);
    visit("bias", bias);
  }
  void loaded() { inner_told = first.told + second.told; }
  inner first;
  inner second;
  parameter<1> bias;
  int inner_told = 0;
};

static_assert(topos::nn::module<outer>);
static_assert(!topos::nn::module<parameter<1>>);
static_assert(!topos::nn::module<int>);
static_assert(topos::nn::tensor_source<source>);
static_assert(topos::nn::tensor_source<topos::safetensors>);
static_assert(!topos::nn::tensor_source<std::map<std::string, int>>);

source complete() {
  source s;
  s.add("first.weight", {2, 2}, {1, 2, 3, 4});
  s.add("stack.0.weight", {2, 2}, {5, 6, 7, 8});
  s.add("bias", {3}, {9, 10, 11});
  return s;
}

TEST(load, copies_every_parameter_to_the_modules_device) {
  on_each_device([](topos::device d) {
    outer m(d);
    {
      const source s = complete();
      load(m, s);
    }
    EXPECT_EQ(values_of(m.first.weight.value()), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(values_of(m.second.weight.value()), (std::vector<float>{5, 6, 7, 8}));
    EXPECT_EQ(values_of(m.bias.value()), (std::vector<float>{9, 10, 11}));
    EXPECT_EQ(m.bias.value().device(), d);
  });
}

TEST(load, tells_modules_inner_ones_first) {
  outer m(topos::cpu());
  load(m, complete());
  EXPECT_EQ(m.inner_told, 2);
}

TEST(load, lists_all_that_is_wrong_in_one_error) {
  outer m(topos::cpu());
  source s;
  s.add("first.weight", {2, 3}, {1, 2, 3, 4, 5, 6});
  s.add("bias", {3}, {1, 2, 3}, topos::dtype::int32);
  s.add("pooler.weight", {1}, {1});
  s.add("pooler.bias", {1}, {1});

  const std::string message =
      support::refusal<topos::invalid_argument>([&] { load(m, s, {"pooler.bias"}); });

  EXPECT_TRUE(contains(message, "missing: stack.0.weight")) << message;
  EXPECT_TRUE(contains(message, "first.weight is float32 (2, 3), expected float32 (2, 2)"))
      << message;
  EXPECT_TRUE(contains(message, "bias is int32 (3,), expected float32 (3,)")) << message;
  EXPECT_TRUE(contains(message, "unexpected: 'pooler.weight'")) << message;
  EXPECT_FALSE(contains(message, "pooler.bias")) << message;
}

TEST(load, refuses_bytes_that_are_not_those_of_the_shape) {
  outer m(topos::cpu());
  source s = complete();
  s.add("bias", {3}, {1, 2});

  const std::string message = support::refusal<topos::invalid_argument>([&] { load(m, s); });

  EXPECT_TRUE(contains(message, "bias has 8 bytes, expected 12")) << message;
}

TEST(load, shows_hostile_names_as_one_line) {
  outer m(topos::cpu());
  source s = complete();
  s.add("a\n\x1b[2J", {1}, {1});

  const std::string message = support::refusal<topos::invalid_argument>([&] { load(m, s); });

  EXPECT_TRUE(contains(message, R"(unexpected: 'a\x0a\x1b[2J')")) << message;
}

TEST(load, that_fails_changes_nothing) {
  outer m(topos::cpu());
  load(m, complete());
  source s = complete();
  s.add("bias", {3}, {-1, -1, -1});
  s.add("stack.0.weight", {1, 4}, {-1, -1, -1, -1});

  EXPECT_THROW(load(m, s), topos::invalid_argument);

  EXPECT_EQ(values_of(m.bias.value()), (std::vector<float>{9, 10, 11}));
  EXPECT_EQ(values_of(m.second.weight.value()), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(m.first.told, 1) << "nobody is told";
}

TEST(load, passes_over_what_is_ignored) {
  outer m(topos::cpu());
  source s = complete();
  s.add("position_ids", {1}, {0});

  EXPECT_THROW(load(m, s), topos::invalid_argument);
  EXPECT_NO_THROW(load(m, s, {"position_ids", "and_what_is_not_there"}));
}

TEST(load, of_what_is_ignored_and_needed_still_misses_it) {
  outer m(topos::cpu());
  source s;
  s.add("first.weight", {2, 2}, {1, 2, 3, 4});
  s.add("stack.0.weight", {2, 2}, {5, 6, 7, 8});

  const std::string message =
      support::refusal<topos::invalid_argument>([&] { load(m, s, {"bias"}); });

  EXPECT_TRUE(contains(message, "missing: bias")) << message;
}

}  // namespace load_test
