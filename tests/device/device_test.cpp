// SPDX-License-Identifier: Apache-2.0

/// Device strings are PyTorch's, with its words for bad ones; only devices that are here exist.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <topos/device/device.hpp>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace device_test {

using topos::device;
using topos::device_kind;

static_assert(std::is_trivially_copyable_v<device>);
static_assert(std::is_nothrow_default_constructible_v<device>);
static_assert(std::is_convertible_v<const char*, device>);
static_assert(!std::is_convertible_v<device_kind, device>);

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(device(text));
  } catch (const topos::invalid_device& error) {
    return error.what();
  }
  ADD_FAILURE() << '\'' << text << "' was taken";
  return "";
}

TEST(device, is_the_cpu_unless_said_otherwise) {
  EXPECT_EQ(device(), topos::cpu());
  EXPECT_EQ(device().kind(), device_kind::cpu);
  EXPECT_EQ(device().index(), 0);
}

TEST(device, is_parsed_from_a_string) {
  EXPECT_EQ(device("cpu"), topos::cpu());
  EXPECT_EQ(device("cpu:0"), topos::cpu());
  EXPECT_EQ(device(std::string("cpu")), topos::cpu());
  EXPECT_TRUE(topos::cpu() == "cpu");
  EXPECT_TRUE(topos::cpu() != "cuda:99");  // which need not be here
}

TEST(device, strings_that_name_no_type_are_refused_in_pytorchs_words) {
  for (const std::string text : {"random", "gpu", "CPU", "CUDA", "_", "cpux", "hip"}) {
    const std::string message = refusal(text);
    EXPECT_TRUE(message.starts_with("Expected one of cpu, cuda")) << message;
    EXPECT_TRUE(message.ends_with(" device type at start of device string: " + text)) << message;
  }
}

TEST(device, malformed_strings_are_refused_in_pytorchs_words) {
  for (const std::string text :
       {"cuda0", "cuda:", "cuda:-1", "cuda:+1", "cuda:01", "cuda:000", "cuda:1a", "cuda:1:2",
        "cuda:1 ", " cpu", "cpu ", ":1", ":", "cuda.0", "random0", "cuda: 1", "0", "cpu\n"}) {
    EXPECT_EQ(refusal(text), "Invalid device string: '" + text + "'");
  }
}

TEST(device, index_that_does_not_fit_is_refused) {
  EXPECT_NE(refusal("cuda:99999999999").find("cuda:99999999999"), std::string::npos);
  EXPECT_NE(refusal("cpu:2147483648").find("cpu:2147483648"), std::string::npos);
}

TEST(device, empty_string_is_refused) { EXPECT_FALSE(refusal("").empty()); }

TEST(device, that_is_not_here_is_refused_with_what_is) {
  std::string available;
  for (const device& d : topos::devices()) {
    available += (available.empty() ? "" : ", ") + topos::to_string(d);
  }

  const std::string none = std::to_string(topos::num_gpus());
  const std::string message = refusal("cuda:" + none);

  EXPECT_TRUE(message.starts_with("There is no cuda:" + none)) << message;
  EXPECT_TRUE(message.ends_with("; available: " + available)) << message;
  EXPECT_EQ(message.find("no CUDA support") != std::string::npos, TOPOS_HAS_CUDA == 0) << message;
  EXPECT_EQ(refusal("cpu:1"), "There is no cpu:1; available: " + available);
}

TEST(device, index_out_of_range_is_refused) {
  EXPECT_THROW(static_cast<void>(device(device_kind::cpu, 1)), topos::invalid_device);
  EXPECT_THROW(static_cast<void>(device(device_kind::cpu, -1)), topos::invalid_device);
  EXPECT_THROW(static_cast<void>(topos::gpu(-1)), topos::invalid_device);
  EXPECT_THROW(static_cast<void>(topos::gpu(topos::num_gpus())), topos::invalid_device);
  EXPECT_THROW(static_cast<void>(topos::cuda(topos::num_gpus())), topos::invalid_device);
}

TEST(device, refusal_names_the_callers_line) {
  try {
    static_cast<void>(device("random"));
    FAIL() << "nothing was thrown";
  } catch (const topos::invalid_device& error) {
    EXPECT_TRUE(std::string_view(error.where().file_name()).ends_with("device_test.cpp"));
  }
}

TEST(device, every_one_that_is_here_can_be_named) {
  for (const device& d : topos::devices()) {
    EXPECT_EQ(device(topos::to_string(d)), d);
    EXPECT_EQ(device(d.kind(), d.index()), d);
  }
}

TEST(device, prints_as_its_string) {
  std::ostringstream out;
  out << topos::cpu();

  EXPECT_EQ(out.str(), "cpu");
  EXPECT_EQ(topos::to_string(topos::cpu()), "cpu");
}

TEST(device, has_an_order_and_a_hash) {
  const std::vector<device> all = topos::devices();

  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(std::set<device>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(std::unordered_set<device>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(std::hash<device>()(device("cpu")), std::hash<device>()(topos::cpu()));
}

TEST(devices, begin_with_the_cpu) {
  const std::vector<device> all = topos::devices();

  ASSERT_EQ(all.size(), 1U + static_cast<std::size_t>(topos::num_gpus()));
  EXPECT_EQ(all[0], topos::cpu());
  EXPECT_EQ(topos::num_devices(device_kind::cpu), 1);
  EXPECT_EQ(topos::num_devices(device_kind::cuda), topos::num_gpus());
}

TEST(try_gpu, falls_back_to_the_cpu) {
  EXPECT_EQ(topos::try_gpu(topos::num_gpus()), topos::cpu());
  EXPECT_EQ(topos::try_gpu(-1), topos::cpu());
  EXPECT_EQ(topos::try_gpu(), topos::num_gpus() > 0 ? topos::gpu() : topos::cpu());
  EXPECT_FALSE(topos::try_all_gpus().empty());
}

TEST(gpu, is_the_cuda_device_of_the_index) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "no GPU";

  EXPECT_EQ(topos::to_string(topos::gpu()), "cuda:0");
  EXPECT_EQ(device("cuda"), topos::gpu(0));
  EXPECT_EQ(topos::cuda(0), topos::gpu(0));
  EXPECT_EQ(topos::try_all_gpus()[0], topos::gpu(0));
}

TEST(gpu, none_leaves_the_cpu_alone) {
  if (topos::num_gpus() != 0) GTEST_SKIP() << "there is a GPU";

  EXPECT_EQ(topos::try_all_gpus(), std::vector<device>{topos::cpu()});
  EXPECT_TRUE(refusal("cuda").starts_with("There is no cuda:0"));
}

TEST(properties, are_known_for_every_device) {
  for (const device& d : topos::devices()) {
    const topos::device_properties known = topos::properties(d);

    EXPECT_FALSE(known.name.empty());
    EXPECT_GT(known.memory, 1U << 20U);
    EXPECT_GT(known.cores, 0);
    EXPECT_EQ(known.compute_capability.empty(), d == topos::cpu());
  }
}

TEST(is_available, says_whether_a_device_is_here) {
  EXPECT_TRUE(topos::is_available(topos::cpu()));
  EXPECT_TRUE(topos::is_available("cpu"));
  EXPECT_EQ(topos::is_available("cuda"), topos::num_gpus() > 0);
  EXPECT_EQ(topos::is_available("cuda:1"), topos::num_gpus() > 1);
  EXPECT_FALSE(topos::is_available("cuda:1000"));
  EXPECT_THROW((void)topos::is_available("gpu:x"), topos::invalid_device);
}

#ifdef __cpp_lib_format
TEST(device, is_formatted_as_its_string) {
  EXPECT_EQ(std::format("{} {:>5}|", topos::cpu(), topos::cpu()), "cpu   cpu|");
}
#endif

}  // namespace device_test
