// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The items that wait for one function on batches, and which of them are next.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <topos/executor/detail/entry_list.hpp>
#include <topos/executor/detail/ring.hpp>
#include <topos/executor/detail/submission.hpp>
#include <topos/executor/options.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

/// Submissions by priority, each level in the order of their coming. Used under the schedule's
/// lock.
///
/// An entry that ends while it waits is counted out at once, and leaves its place when it comes to
/// the front, or when there are many such: the front of each level always waits. What leaves so is
/// added to a list, `over`, that the caller lets go when the lock is released.
template <class In, class Out, class Parameters>
class waiting_line {
 public:
  using entry = submission<In, Out, Parameters>;
  using entry_ptr = std::shared_ptr<entry>;
  using list = entry_list<entry>;
  using time_point = time_source::time_point;

  /// What is taken, and memory for choosing it, which is kept.
  struct selection {
    std::vector<entry_ptr> entries;
    list late;                                               // their deadline has passed
    list over;                                               // to let go
    std::vector<std::pair<std::size_t, entry*>> candidates;  // by distance of costs
    std::vector<entry*> heads;                               // of the levels, while they are merged
  };

  /// The options must outlive it.
  explicit waiting_line(const executor_options& options)
      : options_(options), levels_(options.priority_levels), waiting_(options.priority_levels) {}

  [[nodiscard]] std::size_t levels() const noexcept { return levels_.size(); }
  /// How many wait, and their bytes.
  struct amount {
    std::size_t items = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] std::size_t size() const noexcept { return all_.items; }
  [[nodiscard]] std::size_t bytes() const noexcept { return all_.bytes; }
  /// The same of those that are more urgent than a priority. Linear in the levels.
  [[nodiscard]] amount above(std::size_t priority) const noexcept {
    amount sum;
    for (std::size_t level = priority + 1; level < waiting_.size(); ++level) {
      sum.items += waiting_[level].items;
      sum.bytes += waiting_[level].bytes;
    }
    return sum;
  }

  /// Says whether a deadline has the next batch start earlier.
  bool push(entry_ptr e) {
    const entry& pushed = *e;
    levels_[e->priority].push_back(std::move(e));  // which may find no memory
    count_in(pushed);
    if (pushed.start_by >= start_by_) return false;
    start_by_ = pushed.start_by;
    return true;
  }

  /// Closes a batch of those that wait: others find no room for as long as these do. Says whether
  /// that is news.
  bool press() noexcept { return size() != 0 && !std::exchange(pressed_, true); }

  /// Puts one back that had been taken.
  void push_front(entry_ptr e) {
    entry& pushed = *e;
    levels_[e->priority].push_front(std::move(e));
    pushed.at = phase::queued;
    count_in(pushed);
    start_by_ = std::min(start_by_, pushed.start_by);
  }

  /// Ends one that waits.
  void remove(entry& e, list& over) noexcept {
    count_out(e, phase::ended);
    forget(levels_[e.priority], over);
    if (size() != 0) return;
    pressed_ = false;
    start_by_ = time_point::max();
  }

  /// Takes out, as ended, the oldest of the least urgent; null where none waits.
  [[nodiscard]] entry_ptr pop_least(list& over) noexcept {
    for (auto& level : levels_) {
      if (level.empty()) continue;
      entry_ptr first = level.pop_front();
      count_out(*first, phase::ended);
      forget(level, over);
      return first;
    }
    return nullptr;
  }

  /// Lets go of what has ended.
  void clear() noexcept {
    for (auto& level : levels_) level = {};
  }

  /// Whether those that wait close a batch, as all that there is room for do.
  [[nodiscard]] bool is_full() const noexcept {
    return pressed_ || size() >= std::min(options_.max_batch_size, options_.queue_capacity) ||
           (options_.max_batch_cost != 0 && cost_ >= options_.max_batch_cost);
  }

  /// When the next batch may start; one waits.
  [[nodiscard]] time_point due(bool draining) const noexcept {
    time_point oldest = time_point::max();
    for (const auto& level : levels_) {
      if (!level.empty()) oldest = std::min(oldest, level.front()->enqueued);
    }
    if (draining || is_full()) return oldest;
    // A delay of "for ever" must not wrap around.
    const time_point delayed = options_.max_delay < time_point::max() - oldest
                                   ? oldest + options_.max_delay
                                   : time_point::max();
    return std::max(oldest, std::min(delayed, start_by_));
  }

  /// Whether one that waits is so much more urgent than what came at a time, of the lowest
  /// priority, that its turn is before.
  [[nodiscard]] bool passes(time_point came) const noexcept {
    for (std::size_t p = 1; p < levels_.size(); ++p) {
      if (!levels_[p].empty() && is_before({p, levels_[p].front()->enqueued}, {0, came}))
        return true;
    }
    return false;
  }

  /// Room in a selection for one item: that much of a batch is found without memory for more.
  void prepare(selection& to) const {
    to.entries.reserve(1);
    to.candidates.reserve(1);
    to.heads.reserve(levels_.size());
  }

  /// Takes the next batch for a slot: the oldest, by priorities with ageing, and those that may
  /// share its batch; into what was prepared once.
  void take(selection& to, std::size_t slot, time_point now) noexcept {
    if (levels_.size() == 1 && options_.look_ahead == 0 && std::is_empty_v<Parameters>)
      take_in_order(to, slot, now);
    else
      take_alike(to, slot, now);
    pressed_ = false;
    if (start_by_ != time_point::max() && !is_full()) find_start();
  }

 private:
  // What closes a batch alone counts no more than that: a sum of more might wrap around.
  [[nodiscard]] std::size_t counted(const entry& e) const noexcept {
    return std::min(e.cost, options_.max_batch_cost);
  }
  void count_in(const entry& e) noexcept {
    cost_ += counted(e);
    for (amount* const sum : {&waiting_[e.priority], &all_}) {
      ++sum->items;
      sum->bytes += e.bytes;
    }
  }
  void count_out(entry& e, phase to) noexcept {
    cost_ -= counted(e);
    for (amount* const sum : {&waiting_[e.priority], &all_}) {
      --sum->items;
      sum->bytes -= e.bytes;
    }
    e.at = to;
  }

  // Whether a place is one that was left: by what was taken, which is no longer held, as its result
  // must not end under the lock, or by what has ended.
  [[nodiscard]] static bool is_over(const entry_ptr& e) noexcept {
    return e == nullptr || e->at != phase::queued;
  }

  // Of the few that are left.
  void find_start() noexcept {
    start_by_ = time_point::max();
    for (auto& level : levels_) {
      for (std::size_t i = 0; i < level.size(); ++i)
        if (!is_over(level[i])) start_by_ = std::min(start_by_, level[i]->start_by);
    }
  }

  void forget(ring<entry_ptr>& level, list& over) noexcept {
    const auto let_go = [&](entry_ptr& e) {
      if (e != nullptr) over.push_back(std::move(e));
    };
    while (!level.empty() && is_over(level.front())) {
      entry_ptr first = level.pop_front();
      let_go(first);
    }
    if (level.size() <= 2 * size() + 64) return;
    level.remove_if([&](entry_ptr& e) {
      const bool gone = is_over(e);
      if (gone) let_go(e);
      return gone;
    });
  }

  // Budgets are hard, but for one alone.
  [[nodiscard]] bool fits(std::size_t count, std::size_t cost, const entry& next) const noexcept {
    return count == 0 ||
           (count < options_.max_batch_size &&
            (options_.max_batch_cost == 0 ||
             (cost <= options_.max_batch_cost && next.cost <= options_.max_batch_cost - cost)));
  }

  // Says false, and leaves it where it is, where there is no memory for more.
  [[nodiscard]] bool start(selection& to, entry_ptr& e, std::size_t slot) noexcept {
    entry& started = *e;
    try {
      to.entries.push_back(std::move(e));
    } catch (const std::bad_alloc&) {
      return false;
    }
    count_out(started, phase::running);
    started.slot = slot;
    return true;
  }

  void take_in_order(selection& to, std::size_t slot, time_point now) {
    ring<entry_ptr>& level = levels_.front();
    std::size_t cost = 0;
    for (forget(level, to.over); !level.empty(); forget(level, to.over)) {
      const entry& next = *level.front();
      if (next.deadline <= now) {
        drop_late(to, level[0]);
        continue;
      }
      if (!fits(to.entries.size(), cost, next)) break;
      cost += next.cost;
      if (!start(to, level[0], slot)) break;
    }
  }

  void take_alike(selection& to, std::size_t slot, time_point now) {
    gather(to, now);
    if (!to.candidates.empty()) {
      const entry& leader = *to.candidates.front().second;
      if (options_.look_ahead != 0) {
        for (auto& [distance, e] : to.candidates)
          distance = e->cost < leader.cost ? leader.cost - e->cost : e->cost - leader.cost;
        std::stable_sort(to.candidates.begin() + 1, to.candidates.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
      }
      std::size_t cost = 0;
      for (const auto& [distance, e] : to.candidates) {
        if (!is_alike(*e, leader)) continue;
        if (!fits(to.entries.size(), cost, *e)) {
          if (options_.look_ahead == 0) break;
          continue;  // a cheaper one may follow
        }
        cost += e->cost;
        if (!start(to, levels_[e->priority][e->position], slot)) break;
      }
    }
    for (auto& level : levels_) forget(level, to.over);
  }

  // One that cannot be compared shares no batch.
  [[nodiscard]] static bool is_alike(const entry& e, const entry& leader) noexcept {
    if (&e == &leader) return true;
    try {
      return e.parameters == leader.parameters;
    } catch (...) {
      return false;
    }
  }

  void drop_late(selection& to, entry_ptr& e) noexcept {
    count_out(*e, phase::ended);
    to.late.push_back(std::move(e));
  }

  struct turn {
    std::size_t priority;
    time_point enqueued;
  };
  [[nodiscard]] static turn turn_of(const entry& e) noexcept { return {e.priority, e.enqueued}; }

  // An item counts as if it had come earlier by what its priority is worth, which alone may be more
  // than a time can hold: what one came later is compared for each level that it is above.
  [[nodiscard]] bool is_before(const turn& a, const turn& b) const noexcept {
    if (a.priority == b.priority) return a.enqueued < b.enqueued;
    if (a.priority < b.priority) return !is_before(b, a);
    const auto later = a.enqueued - b.enqueued;
    const auto levels = static_cast<std::int64_t>(a.priority - b.priority);
    return later / levels < options_.ageing ||
           (later / levels == options_.ageing && later % levels <= later.zero());
  }

  // The first of a level that waits, from a place on; null where there is none.
  [[nodiscard]] entry* first_from(std::size_t at, ring<entry_ptr>& level, selection& to,
                                  time_point now) noexcept {
    for (; at < level.size(); ++at) {
      if (is_over(level[at])) continue;
      if (level[at]->deadline > now) {
        level[at]->position = at;
        return level[at].get();
      }
      drop_late(to, level[at]);
    }
    return nullptr;
  }

  // Those that wait, in the order of their turns, as many as are looked through: the levels merged
  // by a heap of their first ones.
  void gather(selection& to, time_point now) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const std::size_t further = std::is_empty_v<Parameters> ? 1 : 4;  // some may not be alike
    const std::size_t reach = options_.look_ahead != 0
                                  ? std::max(options_.look_ahead, options_.max_batch_size)
                                  : further * std::min(options_.max_batch_size, most / further);
    const auto is_after = [&](const entry* a, const entry* b) {
      return is_before(turn_of(*b), turn_of(*a));
    };
    to.candidates.clear();
    to.heads.clear();
    for (std::size_t p = 0; p < levels_.size(); ++p) {
      if (waiting_[p].items == 0) continue;
      if (entry* const first = first_from(0, levels_[p], to, now)) to.heads.push_back(first);
    }
    std::make_heap(to.heads.begin(), to.heads.end(), is_after);
    while (!to.heads.empty() && to.candidates.size() < reach) {
      std::pop_heap(to.heads.begin(), to.heads.end(), is_after);
      entry& next = *to.heads.back();
      to.heads.pop_back();
      try {
        to.candidates.emplace_back(0, &next);
      } catch (const std::bad_alloc&) {
        break;
      }
      if (entry* const after = first_from(next.position + 1, levels_[next.priority], to, now)) {
        to.heads.push_back(after);
        std::push_heap(to.heads.begin(), to.heads.end(), is_after);
      }
    }
  }

  const executor_options& options_;
  std::vector<ring<entry_ptr>> levels_;
  std::vector<amount> waiting_;  // by level
  amount all_;
  std::size_t cost_ = 0;
  bool pressed_ = false;
  // No later than when the next batch has to start for the sake of deadlines.
  time_point start_by_ = time_point::max();
};

}  // namespace topos::detail
