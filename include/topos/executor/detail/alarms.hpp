// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is to be told when its time has come.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <topos/executor/detail/work_lane.hpp>
#include <topos/executor/time_source.hpp>
#include <vector>

namespace topos::detail {

/// Things with a deadline, the earliest first. They are held weakly: nothing of the user's ends
/// with them, under whatever lock this is.
class alarms {
 public:
  using time_point = time_source::time_point;

  /// Says whether it is the earliest.
  bool add(time_point deadline, const std::shared_ptr<timed>& what) {
    heap_.push_back({deadline, what});
    std::push_heap(heap_.begin(), heap_.end());
    // What is gone before its time is forgotten when it is half of all.
    if (heap_.size() >= sweep_at_) {
      std::erase_if(heap_, [](const alarm& a) { return a.what.expired(); });
      std::make_heap(heap_.begin(), heap_.end());
      sweep_at_ = std::max<std::size_t>(64, 2 * heap_.size());
    }
    return heap_.front().at == deadline;
  }

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] time_point earliest() const noexcept { return heap_.front().at; }

  /// The earliest, or null if it is gone.
  [[nodiscard]] std::shared_ptr<timed> take() noexcept {
    std::pop_heap(heap_.begin(), heap_.end());
    std::shared_ptr<timed> what = heap_.back().what.lock();
    heap_.pop_back();
    return what;
  }

  void clear() noexcept { heap_.clear(); }

 private:
  struct alarm {
    time_point at;
    std::weak_ptr<timed> what;
    // The heap's top is the earliest.
    friend bool operator<(const alarm& a, const alarm& b) noexcept { return a.at > b.at; }
  };

  std::vector<alarm> heap_;
  std::size_t sweep_at_ = 64;
};

}  // namespace topos::detail
