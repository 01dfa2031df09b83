// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Makes safetensors files, good and bad ones, for the tests to open.

#include "scratch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <topos/io/safetensors.hpp>

namespace topos_test {

inline std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file += rest;
}

// A file of a header and as many bytes of data, 0, 1, 2, ...
inline std::string file_of(std::string_view header, std::size_t data = 0) {
  std::string bytes(data, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return with_length(header.size(), std::string(header) + bytes);
}

inline std::string entry(std::string_view name, std::string_view type, std::string_view shape,
                         std::string_view offsets) {
  std::string text = "\"";
  return text.append(name)
      .append(R"(":{"dtype":")")
      .append(type)
      .append(R"(","shape":)")
      .append(shape)
      .append(R"(,"data_offsets":)")
      .append(offsets)
      .append("}");
}

// Members as one object.
inline std::string braced(std::string_view members) {
  std::string text = "{";
  return text.append(members).append("}");
}

class safetensors_file : public testing::Test {
 protected:
  topos::safetensors open(std::string_view content) const {
    write_file(path(), content);
    return topos::safetensors(path());
  }

  // What the reader says to a file that it must refuse.
  std::string refusal(std::string_view content) const {
    write_file(path(), content);
    std::string message =
        message_of<topos::io_error>([&] { static_cast<void>(topos::safetensors(path())); });
    EXPECT_TRUE(says(message, {path().string(), "safetensors: "}));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  }

  std::filesystem::path path() const { return folder_ / "test.safetensors"; }

 private:
  scratch folder_;
};

}  // namespace topos_test
