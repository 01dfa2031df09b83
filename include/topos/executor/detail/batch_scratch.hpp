// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a slot of a replica's works with.

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/detail/submission.hpp>
#include <topos/executor/detail/waiting_line.hpp>
#include <topos/executor/outcome.hpp>
#include <topos/executor/time_source.hpp>
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

  /// Whether it is several batches.
  [[nodiscard]] bool in_parts() const noexcept { return request && !request->parts.empty(); }

  /// Ends items before their results are handed out: whoever sees these may count on it.
  void give_up(std::size_t first, std::size_t last) noexcept {
    if (last - first == items.size()) return items.clear();
    if constexpr (std::is_nothrow_move_constructible_v<In>) {
      for (; first < last && first < items.size(); ++first)
        static_cast<void>(In(std::move(items[first])));
    }
  }

  /// Hands results out, or the one exception, to the submissions of a part that are still there.
  void tell(std::size_t first, std::size_t last, std::exception_ptr failure) noexcept {
    // The last one gets this thread's own share: exceptions end with those who look at them.
    while (last > first && !batch.entries[last - 1]) --last;
    for (std::size_t i = first; i < last; ++i) {
      auto& e = batch.entries[i];
      if (!e) continue;
      if (failure) {
        e->store_error(i + 1 < last ? failure : std::move(failure));
      } else if (made.each) {
        outcome<Out>& each = made.outcomes[i - first];
        if (each)
          e->store_value(std::move(each.value()));  // where its move may throw
        else
          e->store_error(std::move(each).failure());
      } else {
        e->store_value(std::move(made.values[i - first]));
      }
    }
    for (std::size_t i = first; i < last; ++i)
      if (const auto e = std::move(batch.entries[i])) e->announce();
  }

  /// Lets go of submissions, their items and results.
  void clear() noexcept {
    items.clear();
    batch.entries.clear();
    batch.over.clear();
    made.values.clear();
    made.outcomes.clear();
  }
};

}  // namespace topos::detail
