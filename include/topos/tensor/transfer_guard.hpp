// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Watching over copies between devices.

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <source_location>
#include <string>
#include <topos/core/error.hpp>
#include <topos/core/visibility.hpp>
#include <topos/device/device.hpp>

namespace topos {

/// What becomes of a copy between devices.
enum class transfer : std::uint8_t { allow, log, disallow };

/// A copy between devices that a transfer_guard forbids.
struct TOPOS_SHARED transfer_forbidden : error {
  explicit transfer_forbidden(const std::string& message,
                              std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// While it lives, copies between devices that this thread asks for are allowed or
/// logged, and counted; or forbidden: then the call that asks throws `transfer_forbidden`. Scopes
/// nest; the innermost one decides.
///
/// Counted is every copy of elements from one device to another, and of host memory to a GPU:
/// device_put, to, cpu, gpu and cuda that do copy, from_host to a GPU, and printing and item of a
/// GPU's tensor. Not counted is what stays on its device: the host's memory is the CPU's.
class [[nodiscard]] transfer_guard {
 public:
  explicit transfer_guard(transfer what, std::ostream& log = std::clog)
      : what_(what), log_(&log), outer_(innermost()) {
    innermost() = this;
  }
  ~transfer_guard() {
    innermost() = outer_;
    if (outer_ != nullptr) outer_->count_ += count_;
  }
  transfer_guard(const transfer_guard&) = delete;
  transfer_guard& operator=(const transfer_guard&) = delete;

  /// How many copies this thread has made since its innermost guard; 0 where there is none.
  [[nodiscard]] static std::size_t count() noexcept {
    return innermost() == nullptr ? 0 : innermost()->count_;
  }

  /// Tells this thread's guard of a copy that is about to be made.
  static void pass(const device& from, const device& to, std::size_t bytes,
                   std::source_location where) {
    if (innermost() != nullptr) innermost()->judge(from, to, bytes, where);
  }

 private:
  [[nodiscard]] TOPOS_SHARED static transfer_guard*& innermost() noexcept {
    thread_local transfer_guard* guard = nullptr;
    return guard;
  }

  void judge(const device& from, const device& to, std::size_t bytes, std::source_location where) {
    const auto text = [&] {
      return detail::concat("transfer of ", bytes, " bytes from ", from, " to ", to, " at ",
                            where.file_name(), ':', where.line());
    };
    if (what_ == transfer::disallow) {
      throw transfer_forbidden(text() + " is forbidden by a transfer_guard", where);
    }
    ++count_;
    if (what_ == transfer::log) *log_ << "topos: " + text() + '\n';
  }

  transfer what_;
  std::ostream* log_;
  transfer_guard* outer_;
  std::size_t count_ = 0;
};

}  // namespace topos
