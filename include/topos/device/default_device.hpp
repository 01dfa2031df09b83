// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where new tensors go when nobody says so.

#include <topos/core/visibility.hpp>
#include <topos/device/device.hpp>

namespace topos {

namespace detail {

[[nodiscard]] TOPOS_SHARED inline device& current_default_device() noexcept {
  thread_local device current;
  return current;
}

}  // namespace detail

/// A scope in which new tensors of this thread go to a device; scopes nest.
class [[nodiscard]] default_device {
 public:
  explicit default_device(device d) : before_(detail::current_default_device()) {
    detail::current_default_device() = d;
  }
  ~default_device() { detail::current_default_device() = before_; }
  default_device(const default_device&) = delete;
  default_device& operator=(const default_device&) = delete;

  /// The device where new tensors of this thread go: the innermost scope's, else the CPU.
  [[nodiscard]] static device current() noexcept { return detail::current_default_device(); }

 private:
  device before_;
};

}  // namespace topos
