// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The header of .npy files: a Python dictionary with the type, order and shape of an array.
///
/// Source: NumPy's documentation of the format (numpy.lib.format), versions 1.0 to 3.0.

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <topos/core/config.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/error.hpp>
#include <topos/core/shape.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

static_assert(std::endian::native == std::endian::little,
              "npy: memory is taken to be little-endian");

/// What a header says, and how many bytes it takes with all before it.
struct npy_header {
  std::string descr;
  std::vector<index_t> shape;
  bool fortran_order = false;
  std::size_t size = 0;
};

/// What is wrong with a file.
struct npy_error {
  std::string message;
};

inline constexpr std::string_view npy_magic{"\x93NUMPY", 6};

/// NumPy's code of a type that it has: "<f4".
[[nodiscard]] constexpr std::string_view npy_descr(dtype type) noexcept {
  constexpr std::string_view codes[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4",
                                        "<u8", "<f2", "",    "<f4", "<f8", "<c8", "<c16"};
  return codes[static_cast<std::size_t>(type)];
}

/// The bytes before the data, as NumPy writes them: the same length whatever the first extent.
[[nodiscard]] inline std::string npy_header_bytes(dtype type, std::span<const index_t> shape) {
  constexpr std::size_t digits = 21;  // room that NumPy leaves for the first extent to grow
  constexpr std::size_t alignment = 64;
  std::string text = concat("{'descr': '", npy_descr(type),
                            "', 'fortran_order': False, 'shape': ", to_string(shape), ", }");
  if (!shape.empty()) text.append(digits - std::to_string(shape[0]).size(), ' ');
  constexpr std::size_t before = npy_magic.size() + 4;
  const std::size_t used = before + text.size() + 1;
  text.append(alignment - used % alignment, ' ');
  text += '\n';
  if (text.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw invalid_argument(concat("npy: a shape of ", shape.size(), " axes is too long"));
  }
  std::string bytes(npy_magic);
  bytes +=
      {'\1', '\0', static_cast<char>(text.size() & 0xffU), static_cast<char>(text.size() >> 8U)};
  return bytes += text;
}

/// Reads the dictionary: Python literals, the three keys in any order; throws `npy_error`.
class npy_dictionary {
 public:
  explicit npy_dictionary(std::string_view text) noexcept : text_(text) {}

  npy_header read() {
    npy_header header;
    bool descr = false;
    bool order = false;
    bool shape = false;
    const auto once = [](bool& seen, std::string_view key) {
      if (std::exchange(seen, true)) throw npy_error{concat("header: ", key, " given twice")};
    };
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        once(descr, key);
        if (peek() == '[') throw npy_error{"arrays of structures are not supported"};
        header.descr = string();
      } else if (key == "fortran_order") {
        once(order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(shape, key);
        header.shape = tuple();
      } else {
        throw npy_error{"header: a key that is none of descr, fortran_order, shape"};
      }
      if (!accept(',') && peek() != '}') fail("',' or '}'");
    }
    skip_blanks();
    if (position_ != text_.size()) fail("nothing after '}'");
    if (!descr || !order || !shape) {
      throw npy_error{"header: descr, fortran_order and shape are not all there"};
    }
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw npy_error{concat("header: expected ", expected, " at byte ", position_)};
  }

  void skip_blanks() noexcept {
    while (position_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[position_]) != text_.npos) {
      ++position_;
    }
  }

  char peek() {
    skip_blanks();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || position_ == text_.size()) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(concat('\'', c, '\''));
  }

  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a string");
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == text_.npos) fail("a string that ends");
    const std::string_view value = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return value;
  }

  bool boolean() {
    skip_blanks();
    const bool value = text_.substr(position_).starts_with("True");
    if (!value && !text_.substr(position_).starts_with("False")) fail("True or False");
    position_ += value ? 4 : 5;
    return value;
  }

  std::vector<index_t> tuple() {
    std::vector<index_t> extents;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("',' or ')'");
      skip_blanks();
      index_t extent = 0;
      const char* const first = text_.data() + position_;
      const auto [last, status] = std::from_chars(first, text_.data() + text_.size(), extent);
      if (status != std::errc() || extent < 0) fail("an extent from 0 to 2^63 - 1");
      extents.push_back(extent);
      position_ += static_cast<std::size_t>(last - first);
      // So Python 2 wrote numbers of its type long.
      if (text_.substr(position_).starts_with('L')) ++position_;
      comma = accept(',');
    }
    if (extents.size() == 1 && !comma) fail("a tuple");
    return extents;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

/// Reads the header of a whole file; throws `npy_error`.
[[nodiscard]] inline npy_header read_npy_header(std::string_view file) {
  constexpr std::size_t longest = 65535;  // room for far more axes than an array can have
  if (!file.starts_with(npy_magic)) {
    throw npy_error{file.starts_with("PK") ? "it is an archive, such as .npz files are: unpack it"
                                           : "it does not begin with \\x93NUMPY"};
  }
  const auto byte = [&](std::size_t i) -> std::size_t {
    if (i >= file.size()) throw npy_error{"it ends inside its header"};
    return static_cast<unsigned char>(file[i]);
  };
  const std::size_t major = byte(6);
  const std::size_t minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw npy_error{concat("version ", major, '.', minor, " is none of 1.0, 2.0, 3.0")};
  }
  std::size_t length = byte(8) | byte(9) << 8U;
  if (major > 1) length |= byte(10) << 16U | byte(11) << 24U;
  const std::size_t before = major > 1 ? 12 : 10;
  if (length > longest)
    throw npy_error{concat("a header of ", length, " bytes is longer than ", longest)};
  if (length > file.size() - before) throw npy_error{"it ends inside its header"};
  npy_header header = npy_dictionary(file.substr(before, length)).read();
  header.size = before + length;
  return header;
}

}  // namespace topos::detail
