// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What waited in one endpoint's queue when all of it was taken.

#include <cstddef>
#include <exception>
#include <memory>
#include <topos/executor/detail/entry_list.hpp>
#include <topos/executor/detail/ring.hpp>
#include <topos/executor/detail/work_lane.hpp>

namespace topos::detail {

template <class Entry, class Request>
struct doomed_entries final : doomed_work {
  explicit doomed_entries(std::size_t batches) { running.reserve(batches); }

  void end(const std::exception_ptr& failure) noexcept override {
    while (!requests.empty()) requests.pop_front()->end_unstarted(failure);
    while (const auto e = entries.pop_front()) e->end_unstarted(failure);
  }

  ring<std::shared_ptr<Request>> requests;
  entry_list<Entry> entries;
  entry_list<Entry> over;
};

}  // namespace topos::detail
