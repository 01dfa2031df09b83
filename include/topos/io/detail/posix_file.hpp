// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A file descriptor that closes itself, and the errors of the system calls on it.

#include <unistd.h>

#include <cerrno>
#include <source_location>
#include <string>
#include <string_view>
#include <system_error>
#include <topos/core/error.hpp>
#include <topos/core/printable.hpp>
#include <utility>

namespace topos::detail {

/// Throws `io_error`: the path, what was tried on it and what the system says to that.
[[noreturn]] inline void throw_io_error(const std::string& path, std::string_view operation,
                                        int code, std::source_location where) {
  throw io_error(
      concat(printable(path), ": ", operation, ": ", std::system_category().message(code)), where);
}

/// Owns a file descriptor.
class file_descriptor {
 public:
  file_descriptor() = default;
  explicit file_descriptor(int number) noexcept : number_(number) {}
  file_descriptor(file_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    file_descriptor taken(std::move(other));
    std::swap(number_, taken.number_);
    return *this;
  }
  ~file_descriptor() { static_cast<void>(close()); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }

  /// Closes it; returns the system's error code, 0 if there was none.
  [[nodiscard]] int close() noexcept {
    // Linux frees the number even where close fails: a second try could hit another file.
    const int number = std::exchange(number_, -1);
    return number >= 0 && ::close(number) != 0 ? errno : 0;
  }

 private:
  int number_ = -1;
};

}  // namespace topos::detail
