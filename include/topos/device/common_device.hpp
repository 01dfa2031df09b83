// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The device that the operands of an operation are on together.

#include <optional>
#include <source_location>
#include <string>
#include <topos/core/error.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/device.hpp>

namespace topos::detail {

/// "a (2, 3) on cpu": an operand in a message.
template <class X>
[[nodiscard]] std::string described(const char* name, const X& x) {
  const std::optional<device> on = x.device();
  return concat(name, " ", to_string(x.shape()), on ? concat(" on ", *on) : std::string());
}

/// Throws `device_mismatch` for two operands that are described.
[[noreturn]] inline void refuse_devices(const char* operation, const std::string& a,
                                        const std::string& b, std::source_location where) {
  throw device_mismatch(
      concat(operation, ": ", a, ", ", b, "; move one of them with device_put first"), where);
}

/// The device of two operands, of which one or both may have none. Throws `device_mismatch`, which
/// gives the names, shapes and devices of both.
template <class A, class B>
std::optional<device> common_device(const char* operation, const char* name_a, const A& a,
                                    const char* name_b, const B& b, std::source_location where) {
  const std::optional<device> on_a = a.device();
  const std::optional<device> on_b = b.device();
  if (on_a && on_b && *on_a != *on_b)
    refuse_devices(operation, described(name_a, a), described(name_b, b), where);
  return on_a ? on_a : on_b;
}

}  // namespace topos::detail
