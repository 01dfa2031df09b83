// SPDX-License-Identifier: Apache-2.0

/// What is said of an expression before it runs.

#include <gtest/gtest.h>

#include <sstream>
#include <topos/expr/views.hpp>
#include <topos/tensor/explain.hpp>

#include "../support/devices.hpp"

namespace explain_test {

using topos::explain;

TEST(explain, counts_what_is_read_and_written_once) {
  const auto x = topos::zeros<float, 1>({200'000});

  const topos::explanation e = explain(x * x + 1);

  EXPECT_EQ(e.kernels, 1);
  EXPECT_EQ(e.bytes_read, 800'000);
  EXPECT_EQ(e.bytes_written, 800'000);
  EXPECT_NE(e.path.find("on cpu, queued, one row of 200000 elements"), std::string::npos) << e.path;
}

TEST(explain, counts_repeated_elements_once) {
  const auto x = topos::zeros<double, 2>({40, 50});
  const auto row = topos::zeros<double, 1>({50});

  const topos::explanation e = explain(x + row);

  EXPECT_EQ(e.bytes_read, (40 * 50 + 50) * sizeof(double));
  EXPECT_NE(e.path.find("in place"), std::string::npos) << e.path;
  EXPECT_NE(e.path.find("40 rows of 50 elements"), std::string::npos) << e.path;
}

TEST(explain, generators_read_no_memory) {
  EXPECT_EQ(explain(topos::linspace<float>(0, 1, 100) * 2).bytes_read, 0);
}

TEST(explain, of_nothing_needs_no_kernel) {
  const topos::explanation e = explain(topos::zeros<float, 2>({0, 7}) + 1);

  EXPECT_EQ(e.kernels, 0);
  EXPECT_EQ(e.bytes_read + e.bytes_written, 0);
}

TEST(explain, is_printed_in_a_line) {
  std::ostringstream text;
  text << explain(topos::zeros<float, 1>({4}) + 1);
  EXPECT_EQ(text.str().find("1 kernel, reads 16 bytes, writes 16 bytes; on cpu"), 0) << text.str();
}

TEST(explain, of_a_reduction_runs_nothing_and_counts_its_kernels) {
  const auto x = topos::zeros<float, 1>({1'000'000});
  const auto table = topos::zeros<float, 2>({100, 50});
  topos::block_until_ready(topos::cpu());
  const std::size_t before = topos::memory_stats(topos::cpu()).in_use;

  const topos::explanation whole = explain(sum(x * x));
  const topos::explanation rows = explain(sum(table, 1));

  EXPECT_EQ(topos::memory_stats(topos::cpu()).in_use, before);
  EXPECT_GE(whole.kernels, 2);  // parts, and what combines them
  EXPECT_EQ(whole.bytes_read, 4'000'000);
  EXPECT_EQ(whole.bytes_written, sizeof(float));
  EXPECT_NE(whole.path.find("1000000 elements to 1"), std::string::npos) << whole.path;
  EXPECT_EQ(rows.kernels, 1);
  EXPECT_EQ(rows.bytes_written, 100 * sizeof(float));
}

}  // namespace explain_test
