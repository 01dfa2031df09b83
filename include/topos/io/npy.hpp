// SPDX-License-Identifier: Apache-2.0
#pragma once

/// NumPy's .npy files, written and read.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <topos/core/config.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/error.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/default_device.hpp>
#include <topos/io/detail/npy_file.hpp>
#include <topos/io/detail/npy_header.hpp>
#include <topos/io/detail/output_file.hpp>
#include <topos/tensor/from_blob.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>
#include <vector>

namespace topos {

/// An element type that NumPy has too.
template <class T>
concept npy_element = element<T> && !std::same_as<T, bf16>;

/// Writes an array row by row, of shape (rows, row_shape...), in memory of one block.
///
/// The file appears under its name when `close` has returned, and not at all if anything fails
/// before: until then the rows are in a file beside it, named after it, the process and ".part". A
/// target that is a FIFO or a device is written to directly (SIGPIPE is the caller's to handle);
/// if the number of rows is not given then, all rows are held in memory until `close`. All
/// failures, a full disk too, throw `io_error`.
template <npy_element T>
class npy_writer {
 public:
  /// Opens `path`; a FIFO is waited for. `rows` is the number of rows if it is known. Throws
  /// `io_error` if nothing can be written there, `invalid_argument` for a negative extent.
  explicit npy_writer(const std::filesystem::path& path, std::vector<index_t> row_shape = {},
                      std::optional<index_t> rows = std::nullopt,
                      std::source_location where = std::source_location::current())
      : path_(path.string()),
        shape_(std::move(row_shape)),
        expected_rows_(rows),
        file_(path, where) {
    shape_.insert(shape_.begin(), rows.value_or(0));
    if (std::any_of(shape_.begin(), shape_.end(), [](index_t extent) { return extent < 0; })) {
      throw invalid_argument(
          detail::concat("npy_writer: an extent of ", to_string(shape_), " is negative"), where);
    }
    row_size_ = size_of_shape(std::span(shape_).subspan(1), where);
    put_header_last_ = !rows && !file_.can_overwrite();
    if (!put_header_last_) put_header(where);
  }

  /// Appends any number of whole rows; the values are free again on return. Throws
  /// `invalid_argument` if the last row is not whole or there are more rows than announced.
  void append(std::span<const T> values,
              std::source_location where = std::source_location::current()) {
    if (closed_)
      throw io_error(detail::concat(shown_path(), ": append: the file is closed"), where);
    const auto size = static_cast<index_t>(values.size());
    if (row_size_ == 0 ? size != 0 : size % row_size_ != 0) {
      throw invalid_argument(detail::concat(shown_path(), ": append: ", size,
                                            " values are not whole rows of ", row_size_),
                             where);
    }
    if (size == 0) return;
    append_rows(size / row_size_, where);
    const std::span<const std::byte> bytes = std::as_bytes(values);
    if (put_header_last_) {
      held_.insert(held_.end(), bytes.begin(), bytes.end());
    } else {
      file_.write(bytes, where);
    }
  }

  /// Rows appended so far.
  [[nodiscard]] index_t rows() const noexcept { return rows_; }

  /// Completes the file and puts it in its place; a second call does nothing. Throws
  /// `invalid_argument` if there are fewer rows than announced.
  void close(std::source_location where = std::source_location::current()) {
    if (closed_) return;
    if (expected_rows_ && row_size_ == 0) rows_ = *expected_rows_;  // nothing of them to append
    if (expected_rows_ && rows_ != *expected_rows_) {
      throw invalid_argument(detail::concat(shown_path(), ": close: ", rows_, " rows of ",
                                            *expected_rows_, " were appended"),
                             where);
    }
    shape_[0] = rows_;
    if (put_header_last_) {
      put_header(where);
      file_.write(held_, where);
      held_ = {};
    } else if (!expected_rows_) {
      const std::string header = detail::npy_header_bytes(dtype_v<T>, shape_);
      file_.overwrite(std::as_bytes(std::span(header)), where);
    }
    file_.close(where);
    closed_ = true;
  }

 private:
  std::string shown_path() const { return detail::printable(path_); }

  void append_rows(index_t more, std::source_location where) {
    if (expected_rows_ && more > *expected_rows_ - rows_) {
      throw invalid_argument(detail::concat(shown_path(), ": append: more rows than the ",
                                            *expected_rows_, " announced"),
                             where);
    }
    rows_ += more;
  }

  void put_header(std::source_location where) {
    const std::string header = detail::npy_header_bytes(dtype_v<T>, shape_);
    file_.write(std::as_bytes(std::span(header)), where);
  }

  std::string path_;
  std::vector<index_t> shape_;
  std::optional<index_t> expected_rows_;
  detail::output_file file_;
  index_t row_size_ = 0;
  index_t rows_ = 0;
  bool put_header_last_ = false;
  bool closed_ = false;
  std::vector<std::byte> held_;
};

/// Writes a whole array, as `npy_writer` does; throws `shape_mismatch` if the shape has another
/// number of elements than there are values.
template <npy_element T>
void write_npy(const std::filesystem::path& path, std::span<const index_t> shape,
               std::span<const T> values,
               std::source_location where = std::source_location::current()) {
  if (size_of_shape(shape, where) != static_cast<index_t>(values.size())) {
    throw shape_mismatch(
        detail::concat("write_npy: ", values.size(), " values for shape ", to_string(shape)),
        where);
  }
  const std::string header = detail::npy_header_bytes(dtype_v<T>, shape);
  detail::output_file file(path, where);
  file.write(std::as_bytes(std::span(header)), where);
  file.write(std::as_bytes(values), where);
  file.close(where);
}

/// Writes the elements of a tensor on any device; waits for them.
template <npy_element T, std::size_t Rank>
void write_npy(const std::filesystem::path& path, const tensor<T, Rank>& x,
               std::source_location where = std::source_location::current()) {
  const tensor<T, Rank> here = device_put(x, cpu(), where);
  write_npy<T>(path, here.shape(), here.host(where), where);
}

/// Writes the elements of an expression or a slice, which are computed for it; waits for them.
template <operand X>
  requires npy_element<detail::value_of_t<X>>
void write_npy(const std::filesystem::path& path, const X& x,
               std::source_location where = std::source_location::current()) {
  write_npy(path, eval(x, where), where);
}

/// An array that was read: its extents, and its values in row-major order.
template <npy_element T>
struct npy_array {
  std::vector<index_t> shape;
  std::vector<T> values;
};

/// Reads an array of type T (of a file of bool: std::uint8_t), of either byte order, in C or
/// Fortran order. Throws `io_error` if the file is not a .npy file of exactly the bytes that its
/// shape takes, and `dtype_mismatch` if its elements have another type.
template <npy_element T>
  requires(!std::same_as<T, bool>)
[[nodiscard]] npy_array<T> read_npy(const std::filesystem::path& path,
                                    std::source_location where = std::source_location::current()) {
  const detail::npy_file<T> file(path, where);
  npy_array<T> array{file.shape(), std::vector<T>(file.size())};
  file.copy_to(array.values.data());
  return array;
}

/// A tensor of an array in a .npy file. On the CPU it shares the file's pages, which are read when
/// they are used and never written, unless the elements have another order of bytes or axes than
/// the tensor: then, and to a GPU, they are copied, which blocks. The file must not change as long
/// as the tensor and what is computed from it need it. Throws as `read_npy`, and `shape_mismatch`
/// if the array has another number of axes.
template <npy_element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> load_npy(
    const std::filesystem::path& path, device d = default_device::current(),
    std::source_location where = std::source_location::current()) {
  const detail::npy_file<T> file(path, where);
  if (file.shape().size() != Rank) {
    throw shape_mismatch(
        detail::concat(file.origin(), "the array ", to_string(file.shape()), " has ",
                       file.shape().size(), " axes, asked for were ", Rank),
        where);
  }
  shape<Rank> extents{};
  for (std::size_t axis = 0; axis != Rank; ++axis) extents[axis] = file.shape()[axis];
  const T* const elements = file.in_place();
  if (elements == nullptr || file.size() == 0) {
    tensor<T, Rank> here(extents, cpu(), where);
    file.copy_to(here.data());
    return device_put(here, d, where);
  }
  const auto mapped =
      detail::adopt_elements<T>("load_npy", elements, extents, cpu(), file.mapping(), where);
  return device_put(mapped, d, where);
}

}  // namespace topos
