// SPDX-License-Identifier: Apache-2.0

/// Files that break a rule of the format are refused by that rule, whatever else they hold.

#include "safetensors_file.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <topos/io/safetensors.hpp>

namespace safetensors_hostile_test {

using topos::io_error;
using topos::safetensors;
using topos_test::braced;
using topos_test::entry;
using topos_test::file_of;
using topos_test::peer_file;
using topos_test::safetensors_file;
using topos_test::says;
using topos_test::with_length;
using topos_test::write_file;

TEST_F(safetensors_file, truncated_anywhere_is_refused) {
  const std::string whole = topos_test::read_file(peer_file("tensors.safetensors"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(refusal(whole.substr(0, size)).empty()) << size;
  }
}

TEST_F(safetensors_file, with_bytes_behind_its_data_is_refused) {
  const std::string whole = topos_test::read_file(peer_file("tensors.safetensors"));

  EXPECT_TRUE(says(refusal(whole + '\0'), {"belong to no tensor"}));
  EXPECT_TRUE(says(refusal(file_of("{}", 1)), {"bytes 0 to 1 of the data belong to no tensor"}));
}

TEST_F(safetensors_file, header_length_is_bounded) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();

  EXPECT_TRUE(says(refusal(""), {"0 bytes"}));
  EXPECT_TRUE(says(refusal("1234567"), {"7 bytes"}));
  EXPECT_TRUE(says(refusal(with_length(3, "{}")), {"a header of 3 bytes does not fit"}));
  EXPECT_TRUE(says(refusal(with_length(100'000'001, "{}")), {"longer than the 100000000 allowed"}));
  for (const std::uint64_t length : {most, most - 7, most - 8, std::uint64_t{1} << 63U}) {
    EXPECT_TRUE(says(refusal(with_length(length, "{}")), {"longer than"}));
  }
  EXPECT_TRUE(says(refusal(with_length(0, "")), {"does not begin with '{'"}));
}

TEST_F(safetensors_file, header_is_one_json_object) {
  EXPECT_TRUE(says(refusal(file_of(" {}")), {"does not begin with '{'"}));
  EXPECT_TRUE(says(refusal(file_of("[]")), {"does not begin with '{'"}));
  EXPECT_TRUE(says(refusal(file_of("{")), {"found the end"}));
  EXPECT_TRUE(says(refusal(file_of("{}x")), {"expected the end, found 'x' (byte 2"}));
  EXPECT_TRUE(says(refusal(file_of(std::string_view("{}\0", 3))), {"unprintable byte"}));
  EXPECT_TRUE(says(refusal(file_of("{,}")), {"found ','"}));
  EXPECT_TRUE(says(refusal(file_of("{\"a\"}")), {"expected ':'"}));
  EXPECT_TRUE(says(refusal(file_of("{'a':1}")), {"expected '\"'"}));
  EXPECT_TRUE(says(refusal(file_of(braced(entry("t", "U8", "[0]", "[0,0]") + ","))),
                   {"expected '\"', found '}'"}));
  EXPECT_TRUE(says(refusal(file_of("{\"t\":null}")), {"tensor 't'", "expected '{', found 'n'"}));
}

TEST_F(safetensors_file, depth_costs_nothing) {
  const std::string deep(1'000'000, '[');

  EXPECT_TRUE(says(refusal(file_of("{\"t\":" + deep)), {"tensor 't'", "expected '{'"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"t":{"shape":)" + deep)), {"whole number"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"t":{"extra":)" + deep)), {"unknown key 'extra'"}));
  std::string objects = "{";
  for (int i = 0; i < 100'000; ++i) objects += R"("t":{)";
  EXPECT_TRUE(says(refusal(file_of(objects)), {"unknown key 't'"}));
}

TEST_F(safetensors_file, strings_are_utf_8) {
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf",
                          "\xe2\x82", "\xe2(\xa1", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    const std::string name = std::string("t") + bad;
    EXPECT_TRUE(says(refusal(file_of(braced(entry(name, "U8", "[0]", "[0,0]")))),
                     {"not valid UTF-8 (byte 3 "}));
  }
  for (const char* good :
       {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(open(file_of(braced(entry(good, "U8", "[0]", "[0,0]")))).contains(good));
  }
}

TEST_F(safetensors_file, strings_have_json_escapes_only) {
  const auto name = [](std::string_view text) { return "{\"" + std::string(text) + "\":{}}"; };

  EXPECT_TRUE(says(refusal(file_of(name("a\nb"))), {"control character", "(byte 3 "}));
  EXPECT_TRUE(says(refusal(file_of(name(R"(\x41)"))), {"unknown escape"}));
  EXPECT_TRUE(says(refusal(file_of(name(R"(\u12g4)"))), {"four hexadecimal digits"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"\u12)")), {"does not end"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"\)")), {"does not end"}));
  for (const char* half :
       {R"(\ud800)", R"(\udc00)", R"(\ud800\ud800)", R"(\ud800\u0041)", R"(\ud800A)"}) {
    EXPECT_TRUE(says(refusal(file_of(name(half))), {"surrogate pair"}));
  }
}

TEST_F(safetensors_file, hostile_names_are_shown_as_one_short_line) {
  const std::string name = R"(\u001b[2J\n\u009bm\u00e9)" + std::string(100'000, 'x');

  const std::string message = refusal(file_of(braced(entry(name, "none", "[0]", "[0,0]"))));

  EXPECT_TRUE(says(message, {R"(\x1b[2J\x0a\xc2\x9bm)", "\u00e9xxx", "..."}));
  EXPECT_LT(message.size(), 1000U);
}

TEST_F(safetensors_file, shape_and_offsets_are_whole_numbers) {
  for (const char* bad :
       {"-1", "-0", "1.0", "1e0", "1E2", "\"1\"", "true", "null", "[1]", "+1", "", "x", "0x1"}) {
    const std::string numbers = topos::detail::concat('[', bad, ",1]");
    EXPECT_FALSE(refusal(file_of(braced(entry("t", "U8", numbers, "[0,1]")), 1)).empty());
    EXPECT_FALSE(refusal(file_of(braced(entry("t", "U8", "[1]", numbers)), 1)).empty());
  }
  EXPECT_TRUE(says(refusal(file_of(braced(entry("t", "U8", "[01]", "[0,1]")), 1)),
                   {"a number begins with 0"}));
  EXPECT_TRUE(says(refusal(file_of(braced(entry("t", "U8", "1", "[0,1]")), 1)), {"expected '['"}));
  EXPECT_TRUE(says(refusal(file_of(braced(entry("t", "U8", "[1,]", "[0,1]")), 1)),
                   {"whole number", "found ']'"}));
}

TEST_F(safetensors_file, sizes_do_not_wrap) {
  const auto refused = [&](std::string_view type, std::string_view shape) {
    return refusal(file_of(braced(entry("t", type, shape, "[0,0]"))));
  };

  EXPECT_TRUE(says(refused("U8", "[4294967296,4294967296]"), {"tensor 't'", "63 bits"}));
  EXPECT_TRUE(says(refused("U8", "[9223372036854775807,2]"), {"does not fit 63 bits"}));
  EXPECT_TRUE(says(refused("F64", "[2305843009213693952]"), {"does not fit 63 bits"}));
  EXPECT_TRUE(says(refused("U8", "[9223372036854775808]"), {"does not fit 63 bits"}));
  EXPECT_TRUE(says(refused("U8", "[18446744073709551616]"), {"does not fit 63 bits"}));
  EXPECT_TRUE(says(refused("U8", "[9223372036854775807]"), {"takes 9223372036854775807 bytes"}));
  EXPECT_TRUE(says(refusal(file_of(braced(entry("t", "U8", "[0]", "[0,18446744073709551616]")))),
                   {"does not fit 63 bits"}));
}

TEST_F(safetensors_file, has_at_most_64_axes) {
  const auto ones = [](int count) {
    std::string shape = "[1";
    for (int i = 1; i < count; ++i) shape += ",1";
    return shape + "]";
  };

  EXPECT_EQ(open(file_of(braced(entry("t", "U8", ones(64), "[0,1]")), 1)).at("t").shape.size(),
            64U);
  EXPECT_TRUE(says(refusal(file_of(braced(entry("t", "U8", ones(65), "[0,1]")), 1)),
                   {"shape has more than 64 numbers"}));
}

TEST_F(safetensors_file, offsets_are_in_range_and_fit_the_shape) {
  const auto refused = [&](std::string_view offsets) {
    return refusal(file_of(braced(entry("t", "F32", "[2]", offsets)), 8));
  };

  EXPECT_TRUE(says(refused("[8,0]"), {"tensor 't'", "begins at 8, behind its end 0"}));
  EXPECT_TRUE(says(refused("[0,9]"), {"ends at byte 9 of only 8"}));
  EXPECT_TRUE(says(refused("[0,9223372036854775807]"), {"of only 8"}));
  EXPECT_TRUE(says(refused("[9223372036854775800,9223372036854775807]"), {"of only 8"}));
  EXPECT_TRUE(says(refused("[0,7]"), {"(2,) of float32 takes 8 bytes, data_offsets span 7"}));
  EXPECT_TRUE(says(refused("[]"), {"not two numbers"}));
  EXPECT_TRUE(says(refused("[0]"), {"not two numbers"}));
  EXPECT_TRUE(says(refused("[0,8,8]"), {"more than 2 numbers"}));
}

TEST_F(safetensors_file, tensors_neither_overlap_nor_leave_holes) {
  const auto refused = [&](std::string_view first, std::string_view second, std::size_t data) {
    return refusal(file_of(
        braced(entry("a", "U8", "[2]", first) + "," + entry("b", "U8", "[2]", second)), data));
  };

  EXPECT_TRUE(says(refused("[0,2]", "[1,3]", 3), {"tensor 'b'", "byte 1", "inside tensor 'a'"}));
  EXPECT_TRUE(says(refused("[0,2]", "[0,2]", 2), {"inside tensor"}));
  EXPECT_TRUE(says(refused("[0,2]", "[3,5]", 5), {"tensor 'b'", "bytes 2 to 3 belong to no"}));
  EXPECT_TRUE(says(refused("[3,5]", "[1,3]", 5), {"tensor 'b'", "bytes 0 to 1 belong to no"}));
  EXPECT_TRUE(says(refused("[0,2]", "[2,4]", 5), {"bytes 4 to 5 of the data belong to no"}));
  const std::string inner =
      braced(entry("a", "U8", "[4]", "[0,4]") + "," + entry("e", "U8", "[0]", "[2,2]"));
  EXPECT_TRUE(says(refusal(file_of(inner, 4)), {"tensor 'e'", "inside tensor 'a'"}));
}

TEST_F(safetensors_file, keys_are_given_once) {
  const std::string one = entry("t", "U8", "[0]", "[0,0]");
  const auto twice = [&](std::string_view member) {
    std::string text = one;
    return braced(text.insert(text.size() - 1, "," + std::string(member)));
  };

  EXPECT_TRUE(says(refusal(file_of(braced(one + "," + one))), {"tensor 't': given twice"}));
  EXPECT_TRUE(says(refusal(file_of(braced(one + "," + entry("\\u0074", "U8", "[0]", "[0,0]")))),
                   {"tensor 't': given twice"}));
  EXPECT_TRUE(says(refusal(file_of(twice(R"("dtype":"U8")"))), {"dtype given twice"}));
  EXPECT_TRUE(says(refusal(file_of(twice(R"("shape":[0])"))), {"shape given twice"}));
  EXPECT_TRUE(says(refusal(file_of(twice(R"("data_offsets":[0,0])"))), {"offsets given twice"}));
  EXPECT_TRUE(says(refusal(file_of(twice(R"("more":1)"))), {"unknown key 'more'"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"__metadata__":{"a":"","a":""}})")), {"key 'a' given"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"__metadata__":{},"__metadata__":{}})")),
                   {"__metadata__: given twice"}));
}

TEST_F(safetensors_file, tensors_have_all_three_keys) {
  EXPECT_TRUE(says(refusal(file_of(R"({"t":{}})")), {"tensor 't': no dtype"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"t":{"dtype":"U8"}})")), {"tensor 't': no shape"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"t":{"dtype":"U8","shape":[0]}})")), {"no data_offsets"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"t":{"dtype":1}})")), {"expected '\"'"}));
}

TEST_F(safetensors_file, metadata_is_strings) {
  EXPECT_TRUE(says(refusal(file_of(R"({"__metadata__":{"a":1}})")),
                   {"__metadata__: ", "expected '\"', found '1'"}));
  EXPECT_TRUE(says(refusal(file_of(R"({"__metadata__":null})")), {"__metadata__: "}));
  EXPECT_TRUE(says(refusal(file_of(R"({"__metadata__":{"a":{"b":"c"}}})")), {"__metadata__: "}));
}

// Flips, cuts and doubles pieces of good files; whatever comes out is read or refused, never worse.
TEST_F(safetensors_file, damaged_at_random_is_read_or_refused) {
  const std::string whole = topos_test::read_file(peer_file("tensors.safetensors"));
  std::uint64_t state = 1;
  const auto random = [&](std::size_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33U) % below;
  };
  std::size_t good = 0;
  std::size_t refused = 0;

  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    for (std::size_t times = 1 + random(3); times > 0; --times) {
      const std::size_t at = random(damaged.size());
      switch (random(4)) {
        case 0:
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << random(8)));
          break;
        case 1:
          damaged[at] = "0123456789{}[]\",:\\"[random(18)];
          break;
        case 2:
          damaged.erase(at, 1 + random(8));
          break;
        default:
          damaged.insert(at, damaged.substr(random(damaged.size()), 1 + random(30)));
      }
      if (damaged.empty()) break;
    }
    write_file(path(), damaged);
    try {
      const safetensors file(path());
      std::size_t bytes = 0;
      for (const safetensors::entry& tensor : file.entries()) {
        bytes += tensor.bytes.size();
        EXPECT_EQ(file.find(tensor.name), &tensor);
      }
      EXPECT_LE(bytes, damaged.size());
      ++good;
    } catch (const io_error&) {
      ++refused;
    }
  }

  EXPECT_GT(good, 0U);  // bits of the data may change
  EXPECT_GT(refused, 1000U);
}

}  // namespace safetensors_hostile_test
