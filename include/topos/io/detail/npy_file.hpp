// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A .npy file that is open: what it holds, and its elements in the order and bytes of C.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <topos/core/dtype.hpp>
#include <topos/core/error.hpp>
#include <topos/core/shape.hpp>
#include <topos/io/detail/npy_header.hpp>
#include <topos/io/mapped_file.hpp>
#include <vector>

namespace topos::detail {

/// A mapped .npy file whose elements are of type T (or bool, read as bytes).
template <element T>
class npy_file {
 public:
  /// Throws as `read_npy`.
  npy_file(const std::filesystem::path& path, std::source_location where)
      : file_(std::make_shared<mapped_file>(path, where)),
        origin_(concat(printable(path.string()), ": npy: ")) {
    const std::span<const std::byte> all = file_->bytes();
    try {
      header_ = read_npy_header({reinterpret_cast<const char*>(all.data()), all.size()});
    } catch (const npy_error& e) {
      throw io_error(origin_ + e.message, where);
    }
    require_type(where);
    elements_ = all.subspan(header_.size);
    require_size(where);
    if constexpr (std::same_as<T, bool>) require_truth(where);
  }

  [[nodiscard]] const std::vector<index_t>& shape() const noexcept { return header_.shape; }
  [[nodiscard]] std::size_t size() const noexcept { return elements_.size() / sizeof(T); }
  [[nodiscard]] const std::string& origin() const noexcept { return origin_; }

  /// The mapping, to be kept as long as its memory is used.
  [[nodiscard]] const std::shared_ptr<mapped_file>& mapping() const noexcept { return file_; }

  /// The elements in the file's own memory, row-major; null if they are not there in that form.
  [[nodiscard]] const T* in_place() const noexcept {
    const bool aligned = reinterpret_cast<std::uintptr_t>(elements_.data()) % alignof(T) == 0;
    const bool same = aligned && !swapped_ && !is_transposed();
    return same ? reinterpret_cast<const T*>(elements_.data()) : nullptr;
  }

  /// Copies the elements, row-major, to where there is room for `size` of them.
  void copy_to(void* to) const {
    if (elements_.empty()) return;
    if (!is_transposed()) {
      std::memcpy(to, elements_.data(), elements_.size());
    } else {
      copy_transposed(static_cast<std::byte*>(to));
    }
    if (swapped_) swap_bytes(static_cast<std::byte*>(to));
  }

 private:
  [[nodiscard]] bool is_transposed() const noexcept {
    return header_.fortran_order && header_.shape.size() > 1;
  }

  void require_type(std::source_location where) {
    const std::string_view wanted = npy_descr(dtype_v<T>);
    const std::string_view descr = header_.descr;
    const bool is_bool = descr == "|b1" && std::same_as<T, std::uint8_t>;
    const bool known_order =
        !descr.empty() && std::string_view("<>|=").find(descr[0]) != descr.npos;
    if (!is_bool && (!known_order || descr.substr(1) != wanted.substr(1))) {
      throw dtype_mismatch(concat(origin_, "elements are ", printable(descr), ", asked for were '",
                                  wanted, "' (", dtype_name_v<T>, ")"),
                           where);
    }
    swapped_ = descr[0] == '>' && sizeof(T) > 1;
  }

  void require_size(std::source_location where) const {
    index_t bytes = sizeof(T);
    for (const index_t extent : header_.shape) {
      if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) {
        throw io_error(concat(origin_, "shape ", to_string(header_.shape), " does not fit 63 bits"),
                       where);
      }
    }
    if (std::ranges::count(header_.shape, 0) != 0) bytes = 0;
    if (static_cast<std::size_t>(bytes) != elements_.size()) {
      throw io_error(concat(origin_, "shape ", to_string(header_.shape), " of ", dtype_name_v<T>,
                            " takes ", bytes, " bytes, the file has ", elements_.size()),
                     where);
    }
  }

  void require_truth(std::source_location where) const {
    const auto wrong =
        std::ranges::find_if(elements_, [](std::byte b) { return b > std::byte{1}; });
    if (wrong == elements_.end()) return;
    throw io_error(concat(origin_, "element ", wrong - elements_.begin(), " of a bool array is ",
                          std::to_integer<int>(*wrong)),
                   where);
  }

  // Element by element in row-major order, from where its first axis is the contiguous one.
  void copy_transposed(std::byte* to) const {
    const std::size_t rank = header_.shape.size();
    std::vector<index_t> strides(rank, 1);
    for (std::size_t axis = 1; axis < rank; ++axis) {
      strides[axis] = strides[axis - 1] * header_.shape[axis - 1];
    }
    std::vector<index_t> index(rank, 0);
    index_t from = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      std::memcpy(to + i * sizeof(T), elements_.data() + from * static_cast<index_t>(sizeof(T)),
                  sizeof(T));
      for (std::size_t axis = rank; axis-- > 0;) {
        from += strides[axis];
        if (++index[axis] < header_.shape[axis]) break;
        from -= strides[axis] * header_.shape[axis];
        index[axis] = 0;
      }
    }
  }

  // A complex number is two that are swapped each by itself.
  void swap_bytes(std::byte* to) const {
    constexpr bool is_pair =
        std::same_as<T, Kokkos::complex<float>> || std::same_as<T, Kokkos::complex<double>>;
    constexpr std::size_t number = is_pair ? sizeof(T) / 2 : sizeof(T);
    for (std::size_t at = 0; at < elements_.size(); at += number) {
      std::reverse(to + at, to + at + number);
    }
  }

  std::shared_ptr<mapped_file> file_;
  std::string origin_;
  npy_header header_;
  std::span<const std::byte> elements_;
  bool swapped_ = false;
};

}  // namespace topos::detail
