// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How work that was given to an executor can end without a result.

#include <source_location>
#include <string>
#include <topos/core/error.hpp>
#include <topos/core/visibility.hpp>

namespace topos {

// Each constructor is written out: nvcc 13 breaks off where one with such a default is inherited.

/// Work that was withdrawn: by its future, a stop token, or an executor that was told to abort.
struct TOPOS_SHARED cancelled : error {
  explicit cancelled(const std::string& message,
                     std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// Work whose deadline passed before its result was there.
struct TOPOS_SHARED deadline_exceeded : error {
  explicit deadline_exceeded(const std::string& message,
                             std::source_location where = std::source_location::current())
      : error(message, where) {}
};

/// Work that an executor did not take, or gave up for newer work: the queue was full, the item was
/// larger than a batch may be, or the executor was shut down.
struct TOPOS_SHARED rejected : error {
  explicit rejected(const std::string& message,
                    std::source_location where = std::source_location::current())
      : error(message, where) {}
};

}  // namespace topos
