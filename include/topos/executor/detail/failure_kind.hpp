// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is to be done about an exception that a function on batches has thrown.

#include <exception>
#include <new>
#include <source_location>
#include <string>
#include <topos/core/error.hpp>
#include <topos/core/visibility.hpp>
#include <topos/executor/errors.hpp>

namespace topos::detail {

/// A function that did not return one result for each item.
struct TOPOS_SHARED miscounted : error {
  explicit miscounted(const std::string& message,
                      std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// The same of tensors: a row for each item.
struct TOPOS_SHARED misshapen : shape_mismatch {
  explicit misshapen(const std::string& message,
                     std::source_location where = std::source_location::current())
      : shape_mismatch(message, where) {}
};

enum class failure_kind {
  ordinary,   ///< some item may be at fault
  no_memory,  ///< a smaller batch may pass
  lost,       ///< another replica may run it
  miscount    ///< no other batch will fare better
};

[[nodiscard]] inline failure_kind kind_of(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const device_lost&) {
    return failure_kind::lost;
  } catch (const out_of_memory&) {
    return failure_kind::no_memory;
  } catch (const std::bad_alloc&) {
    return failure_kind::no_memory;
  } catch (const miscounted&) {
    return failure_kind::miscount;
  } catch (const misshapen&) {
    return failure_kind::miscount;
  } catch (...) {
    return failure_kind::ordinary;
  }
}

}  // namespace topos::detail
