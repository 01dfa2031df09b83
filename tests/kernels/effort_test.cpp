// SPDX-License-Identifier: Apache-2.0

/// Elements that cost no more than to load them count as less work than others.

#include <gtest/gtest.h>

#include <string>
#include <topos/topos.hpp>

namespace effort_test {

using topos::index_t;
using topos::tensor;

constexpr index_t lanes = topos::lane::width<float>;
constexpr index_t at_once = lanes > 4 ? lanes / 4 : 1;

template <class X>
index_t effort(const X& x) {
  decltype(auto) e = topos::detail::as_node(x);
  const auto w = topos::detail::walk_of(e);
  return topos::detail::effort_of(e.rows(w), w.columns(), w.rows() * w.columns());
}

class effort_of : public testing::Test {
 protected:
  const tensor<float, 2> x = topos::zeros<float>({100, 1000});
  const tensor<float, 1> row = topos::zeros<float>({1000});
};

TEST_F(effort_of, arithmetic_of_neighbours_is_little) {
  EXPECT_EQ(effort(x + 1.0f), 100'000 / at_once);
  EXPECT_EQ(effort(topos::where(x > 0.0f, x * row, -x)), 100'000 / at_once);
  EXPECT_EQ(effort(topos::maximum(x, 0.0f)), 100'000 / at_once);
}

TEST_F(effort_of, functions_are_more) {
  EXPECT_EQ(effort(topos::exp(x)), 100'000);
  EXPECT_EQ(effort(topos::lgamma(x) + 1.0f), 100'000);
  EXPECT_EQ(effort(topos::random::uniform<float>(topos::random::key{1}, topos::shape<1>{10'000})),
            10'000);
}

TEST_F(effort_of, what_lies_apart_is_more) {
  EXPECT_EQ(effort(topos::transpose(x) + 1.0f), 100'000);
  EXPECT_EQ(effort(topos::flip(row, 0) + 1.0f), 1000);
}

TEST_F(effort_of, short_rows_are_more) {
  const tensor<float, 2> narrow = topos::zeros<float>({1000, 3});
  const tensor<float, 2> column = topos::zeros<float>({1000, 1});
  EXPECT_EQ(effort(narrow + column), 3000);
}

TEST_F(effort_of, nothing_is_no_work) {
  EXPECT_EQ(effort(topos::zeros<float>({0, 1000}) + row), 0);
}

TEST_F(effort_of, little_work_runs_in_place) {
  constexpr index_t most = topos::backend::host::stream::small_work * at_once;
  const auto path = [](index_t size) {
    return explain(topos::zeros<float>({size}) + topos::zeros<float>({size})).path;
  };
  EXPECT_NE(path(most).find("in place"), std::string::npos);
  EXPECT_EQ(path(most + at_once).find("in place"), std::string::npos);
}

}  // namespace effort_test
