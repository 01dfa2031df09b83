// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The handle of a device: a place where tensors live and work runs.

#include <algorithm>
#include <charconv>
#include <compare>
#include <functional>
#include <ostream>
#include <source_location>
#include <string>
#include <string_view>
#include <topos/backend/backend.hpp>
#include <topos/core/error.hpp>
#include <vector>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

namespace topos {

class device;
[[nodiscard]] std::vector<device> devices();
[[nodiscard]] bool is_available(std::string_view text, std::source_location where);

/// A device by kind and index: a small regular value that always names a device that is here.
class device {
 public:
  /// The CPU.
  constexpr device() noexcept = default;

  /// Parses "cpu", "cuda" (its first) or "cuda:1": where a device is asked for, such a string may
  /// stand for it. Throws `invalid_device` if the string is none of these or names a device that is
  /// not here; the message lists those that are.
  template <std::convertible_to<std::string_view> Text>
  device(const Text& text, std::source_location where = std::source_location::current()) {
    parse(text, where);
    require(where);
  }

  /// A device by kind and index; throws `invalid_device` if it is not here.
  explicit device(device_kind kind, int index = 0,
                  std::source_location where = std::source_location::current())
      : kind_(kind), index_(index) {
    require(where);
  }

  [[nodiscard]] constexpr device_kind kind() const noexcept { return kind_; }
  [[nodiscard]] constexpr int index() const noexcept { return index_; }

  friend constexpr bool operator==(const device&, const device&) noexcept = default;
  /// Of a string, whether or not it names a device that is here. Throws `invalid_device` for one
  /// that names none at all.
  template <std::convertible_to<std::string_view> Text>
  friend bool operator==(const device& d, const Text& text) {
    return d == named(text, std::source_location());
  }
  friend constexpr auto operator<=>(const device&, const device&) noexcept = default;

 private:
  friend bool is_available(std::string_view text, std::source_location where);

  // That a string names, here or not.
  [[nodiscard]] static device named(std::string_view text, std::source_location where) {
    device d;
    d.parse(text, where);
    return d;
  }

  // The words of the errors are PyTorch's.
  void parse(std::string_view text, std::source_location where) {
    const auto refuse = [&](const auto&... words) {
      throw invalid_device(detail::concat(words...), where);
    };
    if (text.empty()) refuse("Device string must not be empty");
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto letters =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin());
    const std::string_view type = text.substr(0, letters);
    const std::string_view suffix = text.substr(letters);
    const std::string_view digits = suffix.substr(std::min<std::size_t>(suffix.size(), 1));
    const bool whole =
        suffix.empty() ||
        (suffix[0] == ':' && !digits.empty() && (digits.size() == 1 || digits[0] != '0') &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }));
    if (type.empty() || !whole) refuse("Invalid device string: '", text, "'");
    if (type == backend::host::name) {
      kind_ = device_kind::cpu;
    } else if (type == backend::cuda::name) {
      kind_ = device_kind::cuda;
    } else {
      refuse("Expected one of cpu, cuda device type at start of device string: ", type);
    }
    if (digits.empty()) return;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), index_);
    if (parsed.ec != std::errc()) {
      refuse("Could not parse device index '", digits, "' in device string '", text, "'");
    }
  }

  void require(std::source_location where) const;

  device_kind kind_ = device_kind::cpu;
  int index_ = 0;
};

/// "cpu" or "cuda:1".
[[nodiscard]] inline std::string to_string(const device& d) {
  return d.kind() == device_kind::cpu ? "cpu" : detail::concat(backend::cuda::name, ':', d.index());
}

inline std::ostream& operator<<(std::ostream& out, const device& d) { return out << to_string(d); }

/// How many devices of a kind are here; 0 for a kind that is not compiled in.
[[nodiscard]] inline int num_devices(device_kind kind) {
  return backend::visit(kind, [](auto b) { return decltype(b)::count(); });
}

/// How many GPUs are here.
[[nodiscard]] inline int num_gpus() { return num_devices(device_kind::cuda); }

/// The CPU.
[[nodiscard]] inline device cpu() noexcept { return {}; }

/// The GPU of an index; throws `invalid_device` if it is not here.
[[nodiscard]] inline device gpu(int index = 0,
                                std::source_location where = std::source_location::current()) {
  return device(device_kind::cuda, index, where);
}

/// The CUDA GPU of an index; throws `invalid_device` if it is not here.
[[nodiscard]] inline device cuda(int index = 0,
                                 std::source_location where = std::source_location::current()) {
  return device(device_kind::cuda, index, where);
}

/// Every device that is here, the CPU first.
[[nodiscard]] inline std::vector<device> devices() {
  std::vector<device> all{cpu()};
  for (int i = 0; i < num_gpus(); ++i) all.push_back(gpu(i));
  return all;
}

/// Whether a device is here, and work can be placed on it.
template <std::same_as<device> Device>
[[nodiscard]] bool is_available(const Device& d) {
  return d.index() >= 0 && d.index() < num_devices(d.kind());
}
/// The same by its string, which `device` would refuse with `invalid_device` where it is not here:
/// `is_available("cuda:1")`. Throws only for a string that names no device at all.
[[nodiscard]] inline bool is_available(
    std::string_view text, std::source_location where = std::source_location::current()) {
  return is_available(device::named(text, where));
}

/// gpu(index) where it exists, else cpu().
[[nodiscard]] inline device try_gpu(int index = 0) {
  return index >= 0 && index < num_gpus() ? gpu(index) : cpu();
}

/// Every GPU, or the CPU alone where there is none.
[[nodiscard]] inline std::vector<device> try_all_gpus() {
  std::vector<device> all = devices();
  if (all.size() > 1) all.erase(all.begin());
  return all;
}

/// What is known of a device.
[[nodiscard]] inline device_properties properties(const device& d) {
  return backend::visit(d.kind(), [&](auto b) { return decltype(b)::describe(d.index()); });
}

inline void device::require(std::source_location where) const {
  const int here = num_devices(kind_);
  if (index_ >= 0 && index_ < here) return;
  std::string message =
      kind_ == device_kind::cpu
          ? detail::concat("There is no cpu:", index_)
          : detail::concat("There is no ", backend::cuda::name, ':', index_,
                           TOPOS_HAS_CUDA != 0 ? "" : ": this build of topos has no CUDA support");
  message += "; available: ";
  for (const device& d : devices()) message += detail::concat(d == cpu() ? "" : ", ", d);
  throw invalid_device(message, where);
}

}  // namespace topos

template <>
struct std::hash<topos::device> {
  std::size_t operator()(const topos::device& d) const noexcept {
    return static_cast<std::size_t>(d.kind()) << 16U | static_cast<std::size_t>(d.index());
  }
};

#ifdef __cpp_lib_format
/// Formats a device as its string, with a string's options: "{:>8}".
template <>
struct std::formatter<topos::device> : std::formatter<std::string> {
  auto format(const topos::device& d, std::format_context& context) const {
    return std::formatter<std::string>::format(topos::to_string(d), context);
  }
};
#endif
