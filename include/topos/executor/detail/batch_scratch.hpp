// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a slot of a replica's works with.

#include <cstddef>
#include <memory>
#include <span>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/detail/submission.hpp>
#include <topos/executor/detail/waiting_line.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

/// A batch that runs, its items and its results; kept from batch to batch for its memory.
template <class In, class Out, class Parameters>
struct batch_scratch {
  std::shared_ptr<detail::request<In, Out>> request;  // that runs, or else
  typename waiting_line<In, Out, Parameters>::selection batch;
  std::size_t taken = 0;  // of the waiting line, with those that came too late
  std::vector<In> items;
  batch_results<Out> made;
  time_source::time_point started;  // the call that made the results

  /// What the function is called with.
  [[nodiscard]] std::span<const In> all() const {
    return request ? request->items : std::span<const In>(items);
  }

  /// Ends items before their results are handed out: whoever sees these may count on it.
  void give_up(std::size_t first, std::size_t last) noexcept {
    if (last - first == items.size()) return items.clear();
    if constexpr (std::is_nothrow_move_constructible_v<In>) {
      for (; first < last && first < items.size(); ++first)
        static_cast<void>(In(std::move(items[first])));
    }
  }

  /// Lets go of submissions, their items and results.
  void clear() noexcept {
    items.clear();
    batch.entries.clear();
    batch.over.clear();
  }
};

}  // namespace topos::detail
