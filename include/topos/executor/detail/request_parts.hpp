// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a request is divided where a batch may not cost what it costs.

#include <cstddef>
#include <exception>
#include <functional>
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

/// The parts of so many of a request's items that a batch may cost what they cost, in order; what
/// has no part in a batch is one by itself. None where all is one batch.
template <class In>
[[nodiscard]] std::vector<request_part> parts_of(
    std::span<const In> items, const std::string& name, const executor_options& options,
    const std::function<std::size_t(const In&)>& cost_of) {
  std::vector<request_part> parts;
  bool open = false;     // the last part, for more
  std::size_t left = 0;  // of its budget
  for (const In& item : items) {
    std::exception_ptr refused;
    std::size_t cost = 1;
    try {
      if (cost_of) cost = cost_of(item);
      if (is_too_costly(cost, options)) refused = was_too_costly(name, cost, options);
    } catch (...) {
      refused = std::current_exception();
    }
    const bool alone = refused || cost > options.max_batch_cost;
    if (alone || !open || cost > left) {
      parts.push_back({0, std::move(refused)});
      left = options.max_batch_cost;
    }
    ++parts.back().count;
    open = !alone;
    if (open) left -= cost;
  }
  if (parts.size() == 1 && !parts.front().refused) parts.clear();
  return parts;
}

}  // namespace topos::detail
