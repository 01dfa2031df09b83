// SPDX-License-Identifier: Apache-2.0

/// What good files hold is read, as their writer meant it.

#include "safetensors_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <topos/io/safetensors.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "../support/devices.hpp"

namespace safetensors_test {

using topos::dtype;
using topos::index_t;
using topos::safetensors;
using topos_test::braced;
using topos_test::entry;
using topos_test::file_of;
using topos_test::message_of;
using topos_test::peer_file;
using topos_test::safetensors_file;
using topos_test::says;

static_assert(std::is_nothrow_move_constructible_v<safetensors>);
static_assert(!std::is_copy_constructible_v<safetensors>);

template <class T>
std::vector<T> values(const safetensors::entry& tensor) {
  std::vector<T> all(tensor.bytes.size() / sizeof(T));
  std::copy_n(tensor.bytes.data(), tensor.bytes.size(), reinterpret_cast<std::byte*>(all.data()));
  return all;
}

template <class T>
void expect_tensor(const safetensors& file, std::string_view name, dtype type,
                   const std::vector<index_t>& shape, const std::vector<T>& expected) {
  const safetensors::entry& tensor = file.at(name);
  EXPECT_EQ(tensor.name, name);
  EXPECT_EQ(tensor.dtype, type) << name;
  EXPECT_EQ(tensor.shape, shape) << name;
  EXPECT_EQ(values<T>(tensor), expected) << name;
}

TEST(safetensors, reads_what_the_peer_wrote) {
  const safetensors file(peer_file("tensors.safetensors"));

  EXPECT_EQ(file.entries().size(), 15U);
  expect_tensor<float>(file, "weight", dtype::float32, {2, 3}, {0, .25F, .5F, .75F, 1, 1.25F});
  expect_tensor<double>(file, "bias", dtype::float64, {2}, {1.5, -2.25});
  expect_tensor<std::uint16_t>(file, "half", dtype::float16, {4}, {0, 0x3c00, 0xb800, 0x7bff});
  expect_tensor<std::int64_t>(file, "ids", dtype::int64, {2, 2}, {1, -2, 3, -4});
  expect_tensor<std::int32_t>(file, "i32", dtype::int32, {1}, {-5});
  expect_tensor<std::int16_t>(file, "i16", dtype::int16, {2}, {-6, 7});
  expect_tensor<std::int8_t>(file, "i8", dtype::int8, {1}, {-8});
  expect_tensor<std::uint64_t>(file, "u64", dtype::uint64, {1}, {~std::uint64_t{0}});
  expect_tensor<std::uint32_t>(file, "u32", dtype::uint32, {1}, {~std::uint32_t{0}});
  expect_tensor<std::uint16_t>(file, "u16", dtype::uint16, {1}, {0xffff});
  expect_tensor<std::uint8_t>(file, "u8", dtype::uint8, {1}, {0xff});
  expect_tensor<std::uint8_t>(file, "mask", dtype::bool8, {3}, {1, 0, 1});
  expect_tensor<float>(file, "scalar", dtype::float32, {}, {0.5F});
  expect_tensor<float>(file, "empty", dtype::float32, {0, 3}, {});
  expect_tensor<float>(file, "naïve/名前 \"x\"\n", dtype::float32, {1}, {42});
  EXPECT_EQ(file.metadata().size(), 1U);
  EXPECT_EQ(file.metadata().at("note"), "café \U0001f600 \"quoted\"\\");
}

TEST(safetensors, tensors_are_loaded_as_copies) {
  const safetensors file(peer_file("tensors.safetensors"));

  support::on_each_device([&](topos::device d) {
    const auto weight = topos::load_safetensor<float, 2>(file, "weight", d);
    EXPECT_EQ(weight.device(), d);
    EXPECT_EQ(weight.shape(), (topos::shape<2>{2, 3}));
    EXPECT_EQ(support::values_of(weight), (std::vector<float>{0, .25F, .5F, .75F, 1, 1.25F}));
  });
  EXPECT_TRUE(says(message_of<topos::dtype_mismatch>(
                       [&] { (void)topos::load_safetensor<double, 2>(file, "weight"); }),
                   {"asked for was float64"}));
  EXPECT_TRUE(says(message_of<topos::shape_mismatch>(
                       [&] { (void)topos::load_safetensor<float, 1>(file, "weight"); }),
                   {"(2, 3) has 2 axes, asked for were 1"}));
  EXPECT_THROW((void)(topos::load_safetensor<float, 1>(file, "none")), topos::out_of_range);
}

TEST(safetensors, find_and_at_tell_what_is_missing) {
  const safetensors file(peer_file("tensors.safetensors"));

  EXPECT_TRUE(file.contains("bias"));
  EXPECT_EQ(file.find("bias"), &file.at("bias"));
  for (const char* absent : {"", "a", "bia", "biases", "zzz", "__metadata__"}) {
    EXPECT_FALSE(file.contains(absent));
    EXPECT_EQ(file.find(absent), nullptr);
  }
  EXPECT_TRUE(says(message_of<topos::out_of_range>([&] { static_cast<void>(file.at("zzz")); }),
                   {"tensors.safetensors", "no tensor 'zzz'", "15"}));
}

TEST(safetensors, release_keeps_the_values_readable) {
  const safetensors file(peer_file("tensors.safetensors"));

  for (const std::string& name : file.names()) file.release(name);

  EXPECT_EQ(values<double>(file.at("bias")), (std::vector{1.5, -2.25}));
  EXPECT_THROW(file.release("zzz"), topos::out_of_range);
}

TEST(safetensors, survives_a_move) {
  safetensors before(peer_file("tensors.safetensors"));
  const std::byte* const bytes = before.at("bias").bytes.data();

  const safetensors after(std::move(before));

  EXPECT_EQ(after.at("bias").bytes.data(), bytes);
  EXPECT_EQ(values<double>(after.at("bias")), (std::vector{1.5, -2.25}));
}

TEST_F(safetensors_file, lists_names_in_the_order_of_their_bytes) {
  const std::string header =
      braced(entry("c", "U8", "[2]", "[3,5]") + "," + entry("z", "F32", "[0]", "[3,3]") + "," +
             entry("b", "U8", "[3]", "[0,3]"));

  const safetensors file = open(file_of(header, 5));

  EXPECT_EQ(file.names(), (std::vector<std::string>{"b", "z", "c"}));
  EXPECT_EQ(values<char>(file.at("b")), (std::vector<char>{0, 1, 2}));
  EXPECT_EQ(values<char>(file.at("c")), (std::vector<char>{3, 4}));
}

TEST_F(safetensors_file, may_hold_nothing) {
  const safetensors file = open(file_of("{}"));

  EXPECT_TRUE(file.entries().empty());
  EXPECT_TRUE(file.names().empty());
  EXPECT_TRUE(file.metadata().empty());
  EXPECT_FALSE(file.contains(""));
}

TEST_F(safetensors_file, knows_every_dtype_of_its_own) {
  const std::vector<std::pair<std::string, dtype>> known = {
      {"F64", dtype::float64},   {"F32", dtype::float32},  {"F16", dtype::float16},
      {"BF16", dtype::bfloat16}, {"I64", dtype::int64},    {"I32", dtype::int32},
      {"I16", dtype::int16},     {"I8", dtype::int8},      {"U64", dtype::uint64},
      {"U32", dtype::uint32},    {"U16", dtype::uint16},   {"U8", dtype::uint8},
      {"BOOL", dtype::bool8},    {"C64", dtype::complex64}};
  for (const auto& [name, type] : known) {
    const std::size_t bytes = 3 * topos::size_of(type);

    const safetensors file =
        open(file_of(braced(entry("t", name, "[3]", "[0," + std::to_string(bytes) + "]")), bytes));

    EXPECT_EQ(file.at("t").dtype, type);
    EXPECT_EQ(file.at("t").bytes.size(), bytes);
  }
  for (const char* unknown : {"F8_E4M3", "f32", "", "F", "BF1", "F32 "}) {
    EXPECT_TRUE(says(refusal(file_of(braced(entry("t", unknown, "[0]", "[0,0]")))),
                     {"tensor 't'", "dtype '", unknown, "' is not supported"}));
  }
}

TEST_F(safetensors_file, of_bools_that_are_none_is_not_loaded) {
  std::string bytes = file_of(braced(entry("t", "BOOL", "[2]", "[0,2]")), 2);
  bytes.back() = '\2';
  const safetensors file = open(bytes);
  EXPECT_TRUE(says(message_of<topos::io_error>(
                       [&] { static_cast<void>(topos::load_safetensor<bool, 1>(file, "t")); }),
                   {"'t' holds bools that are not 0 or 1"}));
}

TEST_F(safetensors_file, allows_blanks_where_json_does) {
  const safetensors file = open(file_of(
      "{ \"t\" :\t{\"data_offsets\" : [ 0 , 2 ] ,\n\"dtype\":\"U8\",\r\"shape\": [ 1,2 ] } }   ",
      2));

  EXPECT_EQ(file.at("t").shape, (std::vector<index_t>{1, 2}));
}

TEST_F(safetensors_file, resolves_every_escape) {
  const safetensors file = open(
      file_of(R"({"__metadata__":{"\"\\\/\b\f\n\r\t":"\u0041\u00e9\u540d\ud83d\ude00\u0000!"}})"));

  using namespace std::string_literals;
  EXPECT_EQ(file.metadata().at("\"\\/\b\f\n\r\t"), "Aé名\U0001f600\0!"s);
}

}  // namespace safetensors_test
