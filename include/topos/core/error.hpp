// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The errors of topos: one hierarchy, each with the place in the user's source that it is about.

#include <locale>
#include <memory>
#include <optional>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <topos/core/visibility.hpp>
#include <utility>

namespace topos {

namespace detail {

/// Joins what can be streamed into one string, for messages: the same in every locale. An object,
/// so that a program's `concat(x, y)` of tensors does not find it.
struct concat_parts {
  template <class... Parts>
  [[nodiscard]] std::string operator()(const Parts&... parts) const {
    std::ostringstream stream;
    stream.imbue(std::locale::classic());
    stream.exceptions(std::ios::badbit);  // no memory is told as such
    (stream << ... << parts);
    return std::move(stream).str();
  }
};
inline constexpr concat_parts concat{};

/// For a static_assert that says what to write instead: false of any types.
template <class...>
inline constexpr bool is_never = false;

}  // namespace detail

/// What a failure befell that was told only later: an operation, and the call that enqueued it.
struct failure_origin {
  const char* operation;
  std::source_location where;
};

/// The base of all that topos throws: `what()` says which operation failed, what it got, what it
/// expected and what to do; `where()` is the user's line that asked for it, 0 of no file where that
/// is not known: in == and != of operands of two types, in operators of a user's own operands, in
/// << to a stream, with more arguments than are counted, of what was moved from, and where memory
/// is wanting for what a function of one operand gives to a variable that was there before, `y =
/// exp(x)`. Where it is an executor that fails, or a library in queued work, it is a line of topos'
/// own: `origin()` has the call of the latter.
class TOPOS_SHARED error : public std::runtime_error {
 public:
  explicit error(const std::string& message,
                 std::source_location where = std::source_location::current())
      : std::runtime_error(message), where_(where) {}

  [[nodiscard]] const char* what() const noexcept override {
    return message_ ? message_->c_str() : std::runtime_error::what();
  }

  /// The line of the call that failed.
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }

  /// The queued operation that failed with this, if it was one.
  [[nodiscard]] const std::optional<failure_origin>& origin() const noexcept { return origin_; }

  /// Adds the queued operation that failed with this to the message; the first one stays.
  void set_origin(const failure_origin& from) {
    if (origin_) return;
    std::string text =
        detail::concat(std::runtime_error::what(), ", while computing ", from.operation);
    if (from.where.line() != 0)
      text += detail::concat(" enqueued at ", from.where.file_name(), ':', from.where.line());
    message_ = std::make_shared<const std::string>(std::move(text));
    origin_ = from;
  }

 private:
  std::source_location where_;
  std::optional<failure_origin> origin_;
  std::shared_ptr<const std::string> message_;  // copies of an exception do not throw
};

// Each constructor is written out: nvcc 13 breaks off where one with such a default is inherited.

/// A device string or index that names nothing, or nothing that is here.
struct TOPOS_SHARED invalid_device : error {
  explicit invalid_device(const std::string& message,
                          std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// Operands of one operation live on different devices.
struct TOPOS_SHARED device_mismatch : error {
  explicit device_mismatch(const std::string& message,
                           std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// Shapes that do not fit the operation or each other.
struct TOPOS_SHARED shape_mismatch : error {
  explicit shape_mismatch(const std::string& message,
                          std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// Elements of another type than the one asked for.
struct TOPOS_SHARED dtype_mismatch : error {
  explicit dtype_mismatch(const std::string& message,
                          std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// An argument whose value is not among those allowed.
struct TOPOS_SHARED invalid_argument : error {
  explicit invalid_argument(const std::string& message,
                            std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// An index, axis or offset outside of what it indexes.
struct TOPOS_SHARED out_of_range : error {
  explicit out_of_range(const std::string& message,
                        std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// A device has no memory left for what was asked.
struct TOPOS_SHARED out_of_memory : error {
  explicit out_of_memory(const std::string& message,
                         std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// The build or the device lacks what was asked for.
struct TOPOS_SHARED not_supported : error {
  explicit not_supported(const std::string& message,
                         std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// A file that cannot be read or written, or whose content is not what its format says.
struct TOPOS_SHARED io_error : error {
  explicit io_error(const std::string& message,
                    std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// A call into a vendor's library failed; the message holds its own words.
struct TOPOS_SHARED backend_error : error {
  explicit backend_error(const std::string& message,
                         std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// A device that can do no more work, as a GPU whose kernel has failed: all that it is asked for
/// fails. A model may throw it, too: an executor's replica takes no further part then, and its
/// batch is run by the others, or fails if it was asked to stop.
struct TOPOS_SHARED device_lost : backend_error {
  explicit device_lost(const std::string& message,
                       std::source_location where = std::source_location::current())
      : backend_error(message, where) {}
};

/// topos was used before `runtime` was made or after it ended.
struct TOPOS_SHARED runtime_not_started : error {
  explicit runtime_not_started(const std::string& message,
                               std::source_location where = std::source_location::current())
      : error(message, where) {}
};

}  // namespace topos
