// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A file that appears under its name only when it is whole.

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <source_location>
#include <span>
#include <string_view>
#include <system_error>
#include <topos/core/error.hpp>
#include <topos/io/detail/posix_file.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// Writes to a temporary file beside the target, which `close` puts in the target's place; without
/// it the destructor removes the temporary file. A target that is no regular file (a FIFO, a
/// device) is written to directly. Every failure throws `io_error`, and nothing works after one.
class output_file {
 public:
  /// Opens for writing; opening a FIFO waits for its reader.
  output_file(const std::filesystem::path& path, std::source_location where)
      : path_(path), target_(path) {
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (!exists && (errno != ENOENT || path.empty())) fail("open for writing", errno, where);
    if (exists && S_ISDIR(status.st_mode)) fail("open for writing", EISDIR, where);
    if (exists && !S_ISREG(status.st_mode)) {
      file_ = file_descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
      if (!file_.is_open()) fail("open for writing", errno, where);
      return;
    }
    // The rename needs no right to the file itself; a file made read-only shall stay as it is.
    if (exists && ::access(path.c_str(), W_OK) != 0) fail("open for writing", errno, where);
    // Replace what a link names, or make it; `stat` has told of circles.
    for (std::error_code failure; std::filesystem::is_symlink(target_, failure);) {
      target_ = target_.parent_path() / std::filesystem::read_symlink(target_, failure);
      if (failure) fail("resolve the link", failure.value(), where);
    }
    for (int attempt = 0; !file_.is_open(); ++attempt) {
      // Names have 255 bytes at most.
      temporary_ = target_.parent_path() / concat(target_.filename().string().substr(0, 200), '.',
                                                  ::getpid(), '-', attempt, ".part");
      file_ = file_descriptor(
          ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666));
      if (!file_.is_open() && errno != EEXIST) {
        const int code = errno;
        temporary_.clear();
        fail("open for writing", code, where);
      }
    }
    // What others may not read stays so.
    if (exists) static_cast<void>(!::fchmod(file_.get(), status.st_mode & 0777U));
  }

  output_file(output_file&& other) noexcept
      : path_(std::move(other.path_)),
        target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})),
        file_(std::move(other.file_)),
        buffer_(std::move(other.buffer_)) {}
  output_file& operator=(output_file&&) = delete;

  ~output_file() {
    static_cast<void>(file_.close());
    discard();
  }

  /// Whether bytes that are written already can be replaced (`overwrite`).
  [[nodiscard]] bool can_overwrite() const noexcept { return !temporary_.empty(); }

  /// Appends bytes.
  void write(std::span<const std::byte> bytes, std::source_location where) {
    require_open(where);
    if (bytes.size() < buffer_size - buffer_.size()) {
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
      return;
    }
    flush(where);
    if (bytes.size() < buffer_size) {
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    } else {
      put(bytes, where);
    }
  }

  /// Replaces the file's first bytes; needs `can_overwrite`.
  void overwrite(std::span<const std::byte> bytes, std::source_location where) {
    flush(where);
    if (::lseek(file_.get(), 0, SEEK_SET) != 0) fail("seek", errno, where);
    put(bytes, where);
    if (::lseek(file_.get(), 0, SEEK_END) < 0) fail("seek", errno, where);
  }

  /// Writes out what is left and gives the file its name.
  void close(std::source_location where) {
    flush(where);
    if (const int code = file_.close(); code != 0) fail("close", code, where);
    if (temporary_.empty()) return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename", errno, where);
    temporary_.clear();
  }

 private:
  static constexpr std::size_t buffer_size = std::size_t{1} << 18U;

  [[noreturn]] void fail(std::string_view operation, int code, std::source_location where) {
    static_cast<void>(file_.close());
    discard();
    throw_io_error(path_.string(), operation, code, where);
  }

  void discard() noexcept {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }

  void require_open(std::source_location where) const {
    if (file_.is_open()) return;
    throw io_error(concat(printable(path_.string()), ": write: the file is closed"), where);
  }

  void flush(std::source_location where) {
    require_open(where);
    put(buffer_, where);
    buffer_.clear();
  }

  void put(std::span<const std::byte> bytes, std::source_location where) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write", errno, where);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  std::filesystem::path path_;    // as the user named it
  std::filesystem::path target_;  // with links resolved
  std::filesystem::path temporary_;
  file_descriptor file_;
  std::vector<std::byte> buffer_;
};

}  // namespace topos::detail
