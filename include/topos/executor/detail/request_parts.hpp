// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a request is divided where a batch may not cost what it costs.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/submission.hpp>
#include <topos/executor/errors.hpp>
#include <topos/executor/options.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// Whether an item alone is more than a batch may cost, and is not to run for that.
[[nodiscard]] inline bool is_too_costly(std::size_t cost,
                                        const executor_options& options) noexcept {
  return options.max_batch_cost != 0 && cost > options.max_batch_cost &&
         options.too_large == oversize::reject;
}

/// What becomes of such an item, of a function of this name.
[[nodiscard]] inline std::exception_ptr was_too_costly(const std::string& name, std::size_t cost,
                                                       const executor_options& options) {
  return std::make_exception_ptr(
      rejected(concat(name, ": an item of cost ", cost, " does not fit a batch, which costs ",
                      options.max_batch_cost, " at most")));
}

/// Finds what the items of a request cost, and the parts of so many of them that a batch may cost
/// what they cost, in order; what has no part in a batch is one by itself. None where all is one
/// batch.
template <class In, class Out>
void divide(request<In, Out>& made, const std::string& name, const executor_options& options,
            const std::function<std::size_t(const In&)>& cost_of) {
  made.cost = 0;
  if (!cost_of && options.max_batch_cost == 0) {
    made.cost = static_cast<double>(made.items.size());
    return;
  }
  const std::size_t most = options.max_batch_cost != 0 ? options.max_batch_cost
                                                       : std::numeric_limits<std::size_t>::max();
  std::vector<request_part>& parts = made.parts;
  bool open = false;     // the last part, for more
  std::size_t left = 0;  // of its budget
  for (const In& item : made.items) {
    std::exception_ptr refused;
    std::size_t cost = 1;
    try {
      if (cost_of) cost = cost_of(item);
      if (is_too_costly(cost, options)) refused = was_too_costly(name, cost, options);
    } catch (...) {
      refused = std::current_exception();
    }
    if (!refused) made.cost += static_cast<double>(cost);
    const bool alone = refused || cost > most;
    if (alone || !open || (options.max_batch_cost != 0 && cost > left)) {
      parts.push_back({0, std::move(refused)});
      left = most;
    }
    ++parts.back().count;
    open = !alone;
    if (open) left -= std::min(cost, left);
  }
  if (parts.size() == 1 && !parts.front().refused) parts.clear();
}

}  // namespace topos::detail
