// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A result, or what went wrong instead of it.

#include <concepts>
#include <exception>
#include <topos/core/error.hpp>
#include <utility>
#include <variant>

namespace topos {

/// A value or the exception that came instead: what a model returns for each item where some can
/// fail without the others.
template <std::movable T>
class [[nodiscard]] outcome {
 public:
  using value_type = T;

  // Implicit both, so that a model can return the one or the other.
  outcome(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  // A null pointer is a failure of which nothing is known.
  outcome(std::exception_ptr failure)
      : content_(std::in_place_index<1>, failure ? std::move(failure) : unknown()) {}

  /// The outcome that is this exception.
  template <class E>
    requires std::derived_from<E, std::exception>
  static outcome failed(E exception) {
    return outcome(std::make_exception_ptr(std::move(exception)));
  }

  [[nodiscard]] bool has_value() const noexcept { return content_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  /// The value, or throws the exception with its own type.
  [[nodiscard]] T& value() & {
    require();
    return *std::get_if<0>(&content_);
  }
  [[nodiscard]] const T& value() const& {
    require();
    return *std::get_if<0>(&content_);
  }
  [[nodiscard]] T value() && {
    require();
    return std::move(*std::get_if<0>(&content_));
  }

  /// The exception; null where there is a value.
  [[nodiscard]] std::exception_ptr failure() const& noexcept {
    return has_value() ? nullptr : *std::get_if<1>(&content_);
  }
  [[nodiscard]] std::exception_ptr failure() && noexcept {
    return has_value() ? nullptr : std::move(*std::get_if<1>(&content_));
  }

 private:
  [[nodiscard]] static std::exception_ptr unknown() {
    return std::make_exception_ptr(error("outcome: it was made of a null std::exception_ptr"));
  }

  void require() const {
    if (const auto* failure = std::get_if<1>(&content_)) std::rethrow_exception(*failure);
  }

  std::variant<T, std::exception_ptr> content_;
};

}  // namespace topos
