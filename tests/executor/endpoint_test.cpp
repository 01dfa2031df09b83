// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <concepts>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <topos/executor/endpoint.hpp>
#include <vector>

namespace endpoint_test {

struct base {
  std::vector<int> lengths(std::span<const std::string>) const { return {}; }
};

struct model : base {
  std::vector<float> plain(std::span<const int>) { return {}; }
  std::vector<float> quiet(std::span<const int>) noexcept { return {}; }
  std::vector<float> constant(std::span<const int>) const noexcept { return {}; }
  std::vector<float> writes(std::span<int>) { return {}; }
  std::vector<float> by_vector(const std::vector<int>&) { return {}; }
  float single(std::span<const int>) { return 0; }
  std::vector<float> two(std::span<const int>, int) { return {}; }
  std::vector<float> stops(std::span<const int>, std::stop_token) { return {}; }
  std::vector<float> stops_by_reference(std::span<const int>, const std::stop_token&) { return {}; }
  std::vector<float> all(std::span<const int>, const int&, const std::stop_token&) { return {}; }
  int data = 0;
};

struct stranger {
  std::vector<float> plain(std::span<const int>) { return {}; }
};

using plain = topos::endpoint<"/plain", &model::plain>;
using inherited = topos::endpoint<"/lengths", &model::lengths>;

static_assert(topos::batch_function<decltype(&model::plain)>);
static_assert(topos::batch_function<decltype(&model::quiet)>);
static_assert(topos::batch_function<decltype(&model::constant)>);
static_assert(!topos::batch_function<decltype(&model::writes)>);
static_assert(!topos::batch_function<decltype(&model::by_vector)>);
static_assert(!topos::batch_function<decltype(&model::single)>);
static_assert(!topos::batch_function<decltype(&model::two)>);
static_assert(!topos::batch_function<decltype(&model::data)>);
static_assert(!topos::batch_function<int>);

static_assert(topos::endpoint_of<plain, model>);
static_assert(topos::endpoint_of<inherited, model>);
static_assert(!topos::endpoint_of<plain, base>);
static_assert(!topos::endpoint_of<plain, stranger>);
static_assert(!topos::endpoint_of<int, model>);

static_assert(std::same_as<plain::in, int> && std::same_as<plain::out, float>);
static_assert(std::same_as<inherited::in, std::string> && std::same_as<inherited::out, int>);

template <auto Function>
using parameters_of = typename topos::endpoint<"/f", Function>::parameters;
static_assert(std::same_as<parameters_of<&model::stops>, topos::no_parameters>);
static_assert(std::same_as<parameters_of<&model::stops_by_reference>, topos::no_parameters>);
static_assert(std::same_as<parameters_of<&model::all>, int>);

static_assert(topos::batch_item<std::unique_ptr<int>>);
static_assert(!topos::batch_item<bool>);
static_assert(!topos::batch_item<const int>);
static_assert(!topos::batch_item<int&>);

TEST(endpoint, has_its_name) {
  EXPECT_EQ(plain::name(), "/plain");
  EXPECT_EQ(inherited::name(), "/lengths");
}

TEST(endpoint, is_found_by_name) {
  EXPECT_EQ((topos::detail::find_endpoint<plain, inherited>("/plain")), 0U);
  EXPECT_EQ((topos::detail::find_endpoint<plain, inherited>("/lengths")), 1U);
  EXPECT_EQ((topos::detail::find_endpoint<plain, inherited>("/other")), 2U);
  EXPECT_TRUE((topos::detail::names_are_unique<plain, inherited>()));
  EXPECT_FALSE((topos::detail::names_are_unique<plain, inherited, plain>()));
}

}  // namespace endpoint_test
