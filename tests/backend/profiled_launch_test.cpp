// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <topos/topos.hpp>

#include "../support/devices.hpp"

namespace profiled_launch_test {

std::set<std::string>& labels() {
  static std::set<std::string> all;
  return all;
}

void note(const char* label, std::uint32_t /*device*/, std::uint64_t* /*kernel*/) {
  labels().insert(label);
}

TEST(profiled_launch, tells_tools_what_is_launched_on_each_device) {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(note);

  support::on_each_real_device([](const topos::device& d) {
    labels().clear();
    const topos::tensor<float, 1> x(topos::full<float, 1>({10}, 1.0F, d) + 1.0F);
    x.block_until_ready();
    EXPECT_EQ(labels().count("topos::map"), 1U);
  });

  tools::set_begin_parallel_for_callback(nullptr);
}

}  // namespace profiled_launch_test
