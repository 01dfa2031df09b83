// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What queued work failed with, and what that work was.

#include <exception>
#include <new>
#include <optional>
#include <topos/core/error.hpp>
#include <topos/core/visibility.hpp>
#include <utility>

namespace topos::detail {

/// An exception that is no topos::error, with its origin: what a buffer is poisoned with then.
struct TOPOS_SHARED foreign_failure {
  std::exception_ptr failure;
  failure_origin origin;
};

/// The exception being handled, as the poison of what an operation writes; without its origin where
/// there is no memory to tell that.
[[nodiscard]] inline std::exception_ptr current_failure(
    const std::optional<failure_origin>& origin) noexcept {
  const std::exception_ptr now = std::current_exception();
  if (!origin) return now;
  try {
    std::rethrow_exception(now);
  } catch (error& e) {
    try {
      e.set_origin(*origin);
    } catch (const std::bad_alloc&) {
    }
    return now;
  } catch (...) {
    return std::make_exception_ptr(foreign_failure{now, *origin});
  }
}

/// Calls `use(failure, origin)` with what poison stands for.
template <class Use>
decltype(auto) with_failure(const std::exception_ptr& poison, const Use& use) {
  try {
    std::rethrow_exception(poison);
  } catch (const foreign_failure& f) {
    return use(f.failure, std::optional(f.origin));
  } catch (const error& e) {
    return use(poison, e.origin());
  } catch (...) {
    return use(poison, std::optional<failure_origin>());
  }
}

/// The exception that the user sees; null for null.
[[nodiscard]] inline std::exception_ptr failure_of(const std::exception_ptr& poison) {
  if (!poison) return nullptr;
  return with_failure(poison, [](const std::exception_ptr& f, const auto&) { return f; });
}

/// Throws what poison stands for, if there is any.
inline void rethrow(const std::exception_ptr& poison) {
  if (const std::exception_ptr failure = failure_of(poison)) std::rethrow_exception(failure);
}

/// The operation that failed, where it is known.
[[nodiscard]] inline std::optional<failure_origin> origin_of(const std::exception_ptr& poison) {
  if (!poison) return std::nullopt;
  return with_failure(poison,
                      [](const auto&, const std::optional<failure_origin>& o) { return o; });
}

}  // namespace topos::detail
