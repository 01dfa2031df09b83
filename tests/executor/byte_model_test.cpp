// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <topos/executor/byte_model.hpp>
#include <vector>

namespace byte_model_test {

using input = topos::byte_model::input;
using histogram = std::map<std::size_t, std::uint64_t>;

input bytes_of(std::string_view text) {
  input bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

std::string text_of(const input& bytes) {
  std::string text;
  for (const std::byte b : bytes) text.push_back(static_cast<char>(b));
  return text;
}

std::string one(const input& item) { return "one " + text_of(item); }

std::vector<std::string> many(std::span<const input> batch) {
  std::vector<std::string> results;
  for (const input& item : batch) {
    results.push_back("of " + std::to_string(batch.size()) + ' ' + text_of(item));
  }
  return results;
}

// A file that is gone with the test.
class scratch_file {
 public:
  explicit scratch_file(std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~scratch_file() { std::filesystem::remove(path); }

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("topos_byte_model_" +
       std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST(byte_model, runs_a_single_input_as_a_batch_of_one) {
  topos::byte_model model({.batch_process = many}, {.max_batch_size = 4});
  EXPECT_EQ(model.process(bytes_of("a")), "of 1 a");
}

TEST(byte_model, runs_each_input_by_itself_without_a_function_on_batches) {
  topos::byte_model model({.process = one}, {.max_batch_size = 4});
  const std::vector<input> items{bytes_of("a"), bytes_of("b"), bytes_of("c")};
  EXPECT_EQ(model.batch_process(items), (std::vector<std::string>{"one a", "one b", "one c"}));
  EXPECT_EQ(model.stats().batch_sizes, (histogram{{1, 3}}));
}

TEST(byte_model, prefers_the_function_on_one_input_for_a_batch_of_one) {
  topos::byte_model model({.process = one, .batch_process = many}, {.max_batch_size = 2});
  const std::vector<input> items{bytes_of("a"), bytes_of("b"), bytes_of("c")};
  EXPECT_EQ(model.process(bytes_of("x")), "one x");
  EXPECT_EQ(model.batch_process(items), (std::vector<std::string>{"of 2 a", "of 2 b", "one c"}));
}

TEST(byte_model, makes_full_batches_of_a_list) {
  topos::byte_model model({.batch_process = many}, {.max_batch_size = 4});
  const std::vector<input> items(10, bytes_of("a"));
  EXPECT_EQ(model.batch_process(items).size(), 10u);
  EXPECT_EQ(model.stats().batch_sizes, (histogram{{2, 1}, {4, 2}}));
  EXPECT_TRUE(model.batch_process({}).empty());
}

TEST(byte_model, keeps_every_byte) {
  topos::byte_model model({.process = [](const input& item) { return text_of(item); }});
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  EXPECT_EQ(model.process(bytes_of(all)), all);
  EXPECT_EQ(model.process({}), "");
}

TEST(byte_model, tests_one_input_and_a_full_batch_of_it) {
  topos::byte_model model({.batch_process = many}, {.max_batch_size = 3});
  EXPECT_EQ(model.test(bytes_of("a")), "of 1 a");
  EXPECT_EQ(model.test_batch(bytes_of("a")), std::vector<std::string>(3, "of 3 a"));
}

TEST(byte_model, tests_the_content_of_a_file) {
  const scratch_file file("line\r\n\x01");
  topos::byte_model model({.batch_process = many}, {.max_batch_size = 2});
  EXPECT_EQ(model.test(file.path), "of 1 line\r\n\x01");
  EXPECT_EQ(model.test_batch(file.path), std::vector<std::string>(2, "of 2 line\r\n\x01"));
}

TEST(byte_model, says_which_file_it_cannot_read) {
  topos::byte_model model({.batch_process = many});
  try {
    model.test("no/such/file");
    FAIL() << "a file that is not there was read";
  } catch (const topos::io_error& failure) {
    EXPECT_NE(std::string(failure.what()).find("no/such/file"), std::string::npos);
  }
  EXPECT_THROW(model.test(std::filesystem::temp_directory_path()), topos::io_error);
}

TEST(byte_model, needs_a_function) {
  EXPECT_THROW(topos::byte_model({}), topos::invalid_argument);
  topos::byte_model model({.process = one});
  EXPECT_THROW(model.test_batch(bytes_of("a")), topos::error);
}

TEST(byte_model, passes_on_what_the_model_throws) {
  topos::byte_model model({.process = [](const input& item) -> std::string {
    if (item.empty()) throw std::domain_error("empty");
    return one(item);
  }});
  topos::future<std::string> bad = model.submit({});
  topos::future<std::string> good = model.submit(bytes_of("a"));
  EXPECT_THROW(bad.get(), std::domain_error);
  EXPECT_EQ(good.get(), "one a");
  EXPECT_THROW(model.batch_process(std::vector<input>{bytes_of("a"), {}}), std::domain_error);
}

TEST(byte_model, says_when_results_are_missing) {
  topos::byte_model model(
      {.batch_process = [](std::span<const input>) { return std::vector<std::string>(3); }});
  EXPECT_THROW(model.process(bytes_of("a")), topos::error);
}

}  // namespace byte_model_test
