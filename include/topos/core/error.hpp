// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The errors of topos: one hierarchy, each with the place in the user's source that it is about.

#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace topos {

/// The base of all that topos throws: `what()` says which operation failed, what it got, what it
/// expected and what to do; `where()` is the user's line that asked for it.
class error : public std::runtime_error {
 public:
  explicit error(const std::string& message,
                 std::source_location where = std::source_location::current())
      : std::runtime_error(message), where_(where) {}

  /// The line of the call that failed.
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }

 private:
  std::source_location where_;
};

/// A device string or index that names nothing, or nothing that is here.
struct invalid_device : error {
  using error::error;
};

/// Operands of one operation live on different devices.
struct device_mismatch : error {
  using error::error;
};

/// Shapes that do not fit the operation or each other.
struct shape_mismatch : error {
  using error::error;
};

/// Elements of another type than the one asked for.
struct dtype_mismatch : error {
  using error::error;
};

/// An argument whose value is not among those allowed.
struct invalid_argument : error {
  using error::error;
};

/// An index, axis or offset outside of what it indexes.
struct out_of_range : error {
  using error::error;
};

/// A device has no memory left for what was asked.
struct out_of_memory : error {
  using error::error;
};

/// The build or the device lacks what was asked for.
struct not_supported : error {
  using error::error;
};

/// A file that cannot be read or written, or whose content is not what its format says.
struct io_error : error {
  using error::error;
};

/// A call into a vendor's library failed; the message holds its own words.
struct backend_error : error {
  using error::error;
};

/// topos was used before `runtime` was made or after it ended.
struct runtime_not_started : error {
  using error::error;
};

namespace detail {

/// Joins what can be streamed into one string, for messages.
template <class... Parts>
[[nodiscard]] std::string concat(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return std::move(stream).str();
}

}  // namespace detail
}  // namespace topos
