// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A regular file as read-only memory.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <source_location>
#include <span>
#include <topos/core/error.hpp>
#include <topos/io/detail/posix_file.hpp>
#include <utility>

namespace topos {

/// A regular file, mapped into memory for reading as long as the object lives; only what is read
/// becomes resident. The file must not be shortened meanwhile: the system answers a read past its
/// new end with SIGBUS. Move-only; moving leaves an empty mapping and keeps the bytes in place.
class [[nodiscard]] mapped_file {
 public:
  /// Maps the file of a path. Throws `io_error` if it cannot be opened or is not a regular file;
  /// never waits on a FIFO or device.
  explicit mapped_file(std::filesystem::path path,
                       std::source_location where = std::source_location::current())
      : path_(std::move(path)) {
    // O_NONBLOCK: opening a FIFO would otherwise wait for its writer.
    const detail::file_descriptor file(
        ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file.is_open()) detail::throw_io_error(path_.string(), "open", errno, where);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
      detail::throw_io_error(path_.string(), "stat", errno, where);
    }
    if (!S_ISREG(status.st_mode)) {
      throw io_error(
          detail::concat(detail::printable(path_.string()), ": open: not a regular file but a ",
                         S_ISDIR(status.st_mode) ? "directory" : "FIFO, socket or device"),
          where);
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return;  // mmap refuses an empty range
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (memory == MAP_FAILED) detail::throw_io_error(path_.string(), "mmap", errno, where);
    bytes_ = {static_cast<const std::byte*>(memory), size};
  }

  mapped_file(mapped_file&& other) noexcept
      : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}
  mapped_file& operator=(mapped_file&& other) noexcept {
    mapped_file taken(std::move(other));
    std::swap(path_, taken.path_);
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  ~mapped_file() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }

  /// The whole content; empty for an empty file. The start is aligned to a page.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Gives the whole pages inside [offset, offset + size) back to the system: they no longer count
  /// as resident, and a later read fetches them from the file again. Throws `out_of_range` if the
  /// range is not inside the file.
  void release(std::size_t offset, std::size_t size,
               std::source_location where = std::source_location::current()) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      throw out_of_range(detail::concat(detail::printable(path_.string()), ": release: ", size,
                                        " bytes from offset ", offset, " are not inside a file of ",
                                        bytes_.size(), " bytes"),
                         where);
    }
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t first = (offset + page - 1) / page * page;
    std::size_t last = (offset + size) / page * page;
    if (offset + size == bytes_.size()) last = bytes_.size();  // nothing else is on its page
    if (first >= last) return;
    // Advice only: where the system does not follow it (locked memory), nothing is wrong.
    static_cast<void>(
        ::madvise(const_cast<std::byte*>(bytes_.data()) + first, last - first, MADV_DONTNEED));
  }

 private:
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

}  // namespace topos
