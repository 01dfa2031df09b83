// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading safetensors files: named tensors behind a JSON header, used in place.
///
/// The format: 8 bytes with the header's length, little-endian; the header, a JSON object that maps
/// each name to {"dtype", "shape", "data_offsets": [begin, end]} and "__metadata__" to strings;
/// then the tensors' bytes, which cover the rest of the file without overlap and without holes.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <topos/core/config.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/error.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/default_device.hpp>
#include <topos/io/detail/json_reader.hpp>
#include <topos/io/mapped_file.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>
#include <vector>

namespace topos {

/// A safetensors file, open for reading: checked whole when it is opened, its tensors left where
/// they are until they are read.
class [[nodiscard]] safetensors {
 public:
  /// One tensor of the file. The bytes live as long as the file object, row-major, little-endian
  /// and aligned to nothing: copy them before they are used as numbers.
  struct entry {
    std::string name;
    topos::dtype dtype = topos::dtype::float32;
    std::vector<index_t> shape;
    std::span<const std::byte> bytes;
  };

  /// Longest header that is read, in bytes.
  static constexpr std::size_t max_header = 100'000'000;
  /// Most axes of a tensor.
  static constexpr std::size_t max_rank = 64;
  /// Most tensors, and most strings of metadata: bounds what a hostile header can make us hold.
  static constexpr std::size_t max_entries = std::size_t{1} << 20U;

  /// Opens a file and reads its header; throws `io_error` with the file, the tensor and what is
  /// wrong if it breaks any rule of the format.
  explicit safetensors(std::filesystem::path path,
                       std::source_location where = std::source_location::current())
      : file_(std::move(path), where) {
    static_assert(std::endian::native == std::endian::little, "the format is little-endian");
    const std::span<const std::byte> all = file_.bytes();
    std::uint64_t length = 0;
    if (all.size() < sizeof length) {
      fail(where, "the file has ", all.size(), " bytes, the header's length alone takes 8");
    }
    std::memcpy(&length, all.data(), sizeof length);
    if (length > max_header) {
      fail(where, "a header of ", length, " bytes is longer than the ", max_header, " allowed");
    }
    if (length > all.size() - sizeof length) {
      fail(where, "a header of ", length, " bytes does not fit a file of ", all.size());
    }
    data_ = all.subspan(sizeof length + length);
    parse(std::string_view(reinterpret_cast<const char*>(all.data()) + sizeof length, length),
          where);
    check_layout(where);
    sort_names(where);
  }

  /// The tensors in the order in which they lie in the file.
  [[nodiscard]] std::span<const entry> entries() const noexcept { return entries_; }

  /// Their names, in the same order.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    all.reserve(entries_.size());
    for (const entry& e : entries_) all.push_back(e.name);
    return all;
  }

  [[nodiscard]] bool contains(std::string_view name) const noexcept {
    return find(name) != nullptr;
  }

  /// The tensor of a name, or nullptr.
  [[nodiscard]] const entry* find(std::string_view name) const noexcept {
    const auto found =
        std::lower_bound(by_name_.begin(), by_name_.end(), name,
                         [&](std::size_t i, std::string_view n) { return entries_[i].name < n; });
    if (found == by_name_.end() || entries_[*found].name != name) return nullptr;
    return &entries_[*found];
  }

  /// The tensor of a name; throws `out_of_range` if there is none.
  [[nodiscard]] const entry& at(
      std::string_view name, std::source_location where = std::source_location::current()) const {
    if (const entry* found = find(name)) return *found;
    throw out_of_range(
        detail::concat(detail::printable(file_.path().string()), ": no tensor ",
                       detail::printable(name), " among the ", entries_.size(), " in the file"),
        where);
  }

  /// Gives the memory of a tensor back after it was copied; it can still be read, from the file
  /// again. Throws `out_of_range` if there is no such tensor.
  void release(std::string_view name,
               std::source_location where = std::source_location::current()) const {
    const std::span<const std::byte> bytes = at(name, where).bytes;
    file_.release(static_cast<std::size_t>(bytes.data() - file_.bytes().data()), bytes.size(),
                  where);
  }

  /// The strings under "__metadata__".
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept {
    return metadata_;
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }

 private:
  template <class... Parts>
  [[noreturn]] void fail(std::source_location where, const Parts&... parts) const {
    throw io_error(
        detail::concat(detail::printable(file_.path().string()), ": safetensors: ", parts...),
        where);
  }

  void parse(std::string_view header, std::source_location where) {
    std::string current;  // what is being read, for messages
    try {
      if (!header.starts_with('{')) throw detail::json_error{"it does not begin with '{'", 0};
      detail::json_reader json(header);
      bool has_metadata = false;
      json.object([&](std::string name) {
        current = detail::concat("tensor ", detail::printable(name), ": ");
        if (name == "__metadata__") {
          current = "__metadata__: ";
          if (has_metadata) json.fail("given twice");
          has_metadata = true;
          parse_metadata(json);
        } else {
          if (entries_.size() == max_entries) {
            json.fail(detail::concat("more than ", max_entries, " tensors"));
          }
          parse_entry(json, std::move(name));
        }
        current.clear();
      });
      json.expect_end();
    } catch (const detail::json_error& e) {
      fail(where, current, e.message, " (byte ", e.position, " of the header)");
    }
  }

  void parse_metadata(detail::json_reader& json) {
    json.object([&](std::string key) {
      std::string value = json.string();
      if (metadata_.size() == max_entries) {
        json.fail(detail::concat("more than ", max_entries, " strings"));
      }
      const auto [where, added] = metadata_.emplace(std::move(key), std::move(value));
      if (!added)
        json.fail(detail::concat("key ", detail::printable(where->first), " given twice"));
    });
  }

  void parse_entry(detail::json_reader& json, std::string name) {
    std::optional<topos::dtype> type;
    std::optional<std::vector<index_t>> shape;
    std::optional<std::vector<index_t>> offsets;
    const auto counts = [&](std::optional<std::vector<index_t>>& to, const char* key,
                            std::size_t most) {
      if (to) json.fail(detail::concat(key, " given twice"));
      to.emplace();
      json.array([&] {
        if (to->size() == most) json.fail(detail::concat(key, " has more than ", most, " numbers"));
        to->push_back(json.count());
      });
    };
    json.object([&](const std::string& key) {
      if (key == "dtype") {
        if (type) json.fail("dtype given twice");
        const std::string text = json.string();
        type = parse_dtype(text);
        if (!type)
          json.fail(detail::concat("dtype ", detail::printable(text), " is not supported"));
      } else if (key == "shape") {
        counts(shape, "shape", max_rank);
      } else if (key == "data_offsets") {
        counts(offsets, "data_offsets", 2);
      } else {
        json.fail(detail::concat("unknown key ", detail::printable(key)));
      }
    });
    if (!type) json.fail("no dtype");
    if (!shape) json.fail("no shape");
    if (!offsets) json.fail("no data_offsets");
    if (offsets->size() != 2) json.fail("data_offsets are not two numbers");
    const index_t begin = (*offsets)[0];
    const index_t end = (*offsets)[1];
    if (begin > end) json.fail(detail::concat("it begins at ", begin, ", behind its end ", end));
    if (static_cast<std::uint64_t>(end) > data_.size()) {
      json.fail(detail::concat("it ends at byte ", end, " of only ", data_.size(), " of data"));
    }
    index_t bytes = static_cast<index_t>(size_of(*type));
    for (const index_t extent : *shape) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) {
        json.fail(detail::concat("shape ", to_string(*shape), " does not fit 63 bits"));
      }
    }
    if (bytes != end - begin) {
      json.fail(detail::concat("shape ", to_string(*shape), " of ", to_string(*type), " takes ",
                               bytes, " bytes, data_offsets span ", end - begin));
    }
    entries_.push_back(
        {std::move(name), *type, *std::move(shape),
         data_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))});
  }

  static std::optional<topos::dtype> parse_dtype(std::string_view text) noexcept {
    using enum topos::dtype;
    constexpr std::array<std::pair<std::string_view, topos::dtype>, 14> known{{
        {"F64", float64},
        {"F32", float32},
        {"F16", float16},
        {"BF16", bfloat16},
        {"I64", int64},
        {"I32", int32},
        {"I16", int16},
        {"I8", int8},
        {"U64", uint64},
        {"U32", uint32},
        {"U16", uint16},
        {"U8", uint8},
        {"BOOL", bool8},
        {"C64", complex64},
    }};
    for (const auto& [name, type] : known) {
      if (name == text) return type;
    }
    return std::nullopt;
  }

  // Sorts by offset; each tensor then begins where the one before it ends.
  void check_layout(std::source_location where) {
    std::stable_sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
      return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
    });
    std::size_t covered = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const entry& e = entries_[i];
      const auto begin = static_cast<std::size_t>(e.bytes.data() - data_.data());
      if (begin < covered) {
        fail(where, "tensor ", detail::printable(e.name), ": it begins at byte ", begin,
             " of the data, inside tensor ", detail::printable(entries_[i - 1].name));
      }
      if (begin > covered) {
        fail(where, "tensor ", detail::printable(e.name), ": it begins at byte ", begin,
             " of the data, bytes ", covered, " to ", begin, " belong to no tensor");
      }
      covered = begin + e.bytes.size();
    }
    if (covered != data_.size()) {
      fail(where, "bytes ", covered, " to ", data_.size(), " of the data belong to no tensor");
    }
  }

  void sort_names(std::source_location where) {
    by_name_.resize(entries_.size());
    for (std::size_t i = 0; i < by_name_.size(); ++i) by_name_[i] = i;
    std::sort(by_name_.begin(), by_name_.end(),
              [&](std::size_t a, std::size_t b) { return entries_[a].name < entries_[b].name; });
    const auto twice = std::adjacent_find(
        by_name_.begin(), by_name_.end(),
        [&](std::size_t a, std::size_t b) { return entries_[a].name == entries_[b].name; });
    if (twice != by_name_.end()) {
      fail(where, "tensor ", detail::printable(entries_[*twice].name), ": given twice");
    }
  }

  mapped_file file_;
  std::span<const std::byte> data_;
  std::vector<entry> entries_;
  std::vector<std::size_t> by_name_;
  std::map<std::string, std::string> metadata_;
};

/// A tensor of a file's on a device, as a copy. Blocks until it is read. Throws `out_of_range` for
/// the name, `dtype_mismatch` for another type, `shape_mismatch` for another number of axes, and
/// `io_error` for bools that are neither 0 nor 1.
template <element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> load_safetensor(
    const safetensors& file, std::string_view name, device d = default_device::current(),
    std::source_location where = std::source_location::current()) {
  const safetensors::entry& found = file.at(name, where);
  if (found.dtype != dtype_v<T>) {
    throw dtype_mismatch(
        detail::concat("load_safetensor: ", detail::printable(name), " holds ",
                       to_string(found.dtype), ", asked for was ", dtype_name_v<T>),
        where);
  }
  if (found.shape.size() != Rank) {
    throw shape_mismatch(detail::concat("load_safetensor: ", detail::printable(name), " of shape ",
                                        to_string(found.shape), " has ", found.shape.size(),
                                        " axes, asked for were ", Rank),
                         where);
  }
  if constexpr (std::same_as<T, bool>) {
    if (std::ranges::any_of(found.bytes, [](std::byte b) { return b > std::byte{1}; })) {
      throw io_error(detail::concat(detail::printable(file.path().string()), ": ",
                                    detail::printable(name), " holds bools that are not 0 or 1"),
                     where);
    }
  }
  shape<Rank> extents{};
  std::copy_n(found.shape.begin(), Rank, extents.begin());
  tensor<T, Rank> result(extents, d, where);
  detail::copy_from_host(result.memory(), found.bytes.data(), found.bytes.size(), where);
  return result;
}

}  // namespace topos
