// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What waits for one function on batches, how it is cut into batches, and what becomes of them.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/detail/recycler.hpp>
#include <topos/executor/detail/ring.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/detail/submission.hpp>
#include <topos/executor/future.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/statistics.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

/// The queue of a function on batches.
///
/// A batch of submissions closes when it holds as many items, or costs as much, as it may, or when
/// its oldest has waited for `max_delay`; until a replica is free to start it, it grows. All that
/// is not const is under the schedule's lock, but for the scratch: each replica has its own.
template <class In, class Out, class Parameters>
class batch_queue final : public work_lane,
                          public request_queue<In, Out>,
                          public std::enable_shared_from_this<batch_queue<In, Out, Parameters>> {
 public:
  using results = batch_results<Out>;
  using function = std::function<void(std::size_t replica, std::span<const In> batch,
                                      const Parameters&, const std::stop_token&, results&)>;
  using cost_function = std::function<std::size_t(const In&)>;
  using request_ptr = std::shared_ptr<request<In, Out>>;
  using entry = submission<In, Out, Parameters>;
  using entry_ptr = std::shared_ptr<entry>;

  /// `name` is what messages call the function, which may be called by several replicas at once;
  /// `stops`: it takes a stop token.
  batch_queue(std::shared_ptr<schedule> work, std::size_t replicas, executor_options options,
              std::string name, cost_function cost, bool stops, function f)
      : schedule_(std::move(work)),
        name_(std::move(name)),
        options_(std::move(options)),
        cost_(std::move(cost)),
        stops_(stops),
        function_(std::move(f)),
        levels_(options_.priority_levels),
        scratch_(replicas) {
    statistics_.replicas.resize(replicas);
    schedule_->add(*this);
  }

  /// Queues an item; see `when_full` for where there is no room. Throws `error` once the executor
  /// shuts down, or what its last replica was lost with.
  future<Out> submit(In&& item, submit_options<Parameters>&& how) {
    const auto made =
        std::allocate_shared<entry>(recycling_allocator<entry>(kept_), std::move(item),
                                    std::move(how.parameters), this->shared_from_this());
    made->deadline = how.deadline;
    made->priority = std::min(how.priority, levels_.size() - 1);
    made->bytes = bytes_of(*made->item);
    try {
      if (cost_) made->cost = cost_(*made->item);
    } catch (...) {
      refuse(*made, std::current_exception());
      return future<Out>(made);
    }
    if (options_.max_batch_cost != 0 && made->cost > options_.max_batch_cost &&
        options_.too_large == oversize::reject) {
      refuse(*made, std::make_exception_ptr(rejected(concat(name_, ": an item of cost ", made->cost,
                                                            " does not fit a batch, which costs ",
                                                            options_.max_batch_cost, " at most"))));
      return future<Out>(made);
    }
    enqueue(made);
    if (how.stop.stop_possible())
      made->stop.emplace(std::move(how.stop), typename entry::on_stop{made.get()});
    return future<Out>(made);
  }

  /// Blocks while the queue is full.
  void enqueue(const request_ptr& made) override {
    bool notify = false;
    {
      auto lock = schedule_->lock();
      schedule_->admit(lock, [&] { return has_room(made->items.size(), 0); });
      made->enqueued = schedule_->time().now();
      requests_.push_back(made);
      waiting_ += made->items.size();
      statistics_.submitted += made->items.size();
      notify = schedule_->work_came();
    }
    schedule_->wake(notify);
  }

  /// Ends a request that has not started with `cancelled`; says whether it was so.
  bool cancel(const request_ptr& what) override {
    {
      auto lock = schedule_->lock();
      if (!requests_.remove(what)) return false;
      waiting_ -= what->items.size();
      statistics_.cancelled += what->items.size();
      schedule_->room_came();
    }
    what->set_error(was_cancelled("the request was cancelled before it started"));
    return true;
  }

  /// Ends an item with `cancelled` if it has not ended; says whether it did.
  bool withdraw(entry& what) noexcept {
    std::stop_source unwanted(std::nostopstate);
    {
      auto lock = schedule_->lock();
      if (!end(what, unwanted)) return false;
      ++statistics_.cancelled;
    }
    unwanted.request_stop();
    what.set_error(was_cancelled("the item was withdrawn"));
    return true;
  }

  /// Ends an item with `deadline_exceeded` if it has not ended.
  void expire(std::unique_lock<std::mutex>& lock, entry& what) noexcept {
    std::stop_source unwanted(std::nostopstate);
    if (!end(what, unwanted)) return;
    ++statistics_.expired;
    lock.unlock();
    unwanted.request_stop();
    what.set_error(was_late());
    lock.lock();
  }

  [[nodiscard]] statistics stats() const {
    auto lock = schedule_->lock();
    return statistics_;
  }

  [[nodiscard]] std::size_t replicas() const noexcept override { return scratch_.size(); }
  [[nodiscard]] const time_source& time() const noexcept { return schedule_->time(); }

  /// Lets go of the function and of what has ended; after the last batch.
  void close() noexcept {
    for (auto& level : levels_) level = {};
    function_ = nullptr;
  }

  [[nodiscard]] std::optional<time_point> due(bool draining) const override {
    if (!draining && statistics_.submitted < options_.hold_until) return std::nullopt;
    if (takes_request(draining)) return requests_.front()->enqueued;
    if (live_ == 0) return std::nullopt;
    return submissions_due(draining);
  }

  ran run(std::unique_lock<std::mutex>& lock, bool draining,
          std::size_t replica) noexcept override {
    return takes_request(draining) ? run_request(lock, replica) : run_submissions(lock, replica);
  }

  void fail_all(std::unique_lock<std::mutex>& lock, const std::exception_ptr& failure,
                bool cancelled) noexcept override {
    std::uint64_t& count = cancelled ? statistics_.cancelled : statistics_.failed;
    while (!requests_.empty()) {
      const request_ptr first = requests_.pop_front();
      waiting_ -= first->items.size();
      count += first->items.size();
      lock.unlock();
      first->set_error(failure);
      lock.lock();
    }
    for (auto& level : levels_) {
      while (!level.empty()) {
        const entry_ptr first = level.pop_front();
        if (first->at != phase::queued) continue;
        leave(*first);
        first->at = phase::ended;
        ++count;
        lock.unlock();
        first->set_error(failure);
        lock.lock();
      }
    }
  }

  [[nodiscard]] bool idle() const override { return waiting_ == 0 && running_ == 0; }

 private:
  // Kept from batch to batch for its memory.
  struct scratch {
    std::vector<entry_ptr> entries;
    std::vector<entry_ptr> late;
    std::vector<std::pair<std::size_t, entry*>> near;  // by distance of costs
    std::vector<std::size_t> cursors;
    std::vector<In> items;
    results made;
    std::stop_source stop{std::nostopstate};
    std::size_t wanted = 0;  // results that somebody waits for
  };

  [[nodiscard]] std::exception_ptr was_cancelled(const char* how) const noexcept {
    return std::make_exception_ptr(cancelled(concat(name_, ": ", how)));
  }
  [[nodiscard]] std::exception_ptr was_late() const noexcept {
    return std::make_exception_ptr(
        deadline_exceeded(concat(name_, ": the deadline passed before the result was there")));
  }

  void refuse(entry& what, std::exception_ptr why) {
    {
      auto lock = schedule_->lock();
      schedule_->require_open();
      what.at = phase::ended;
      ++statistics_.refused;
    }
    what.set_error(std::move(why));
  }

  [[nodiscard]] bool has_room(std::size_t items, std::size_t bytes) const noexcept {
    const auto fits = [](std::size_t has, std::size_t more, std::size_t most) {
      return more <= most && has <= most - more;
    };
    return waiting_ == 0 ||
           (fits(waiting_, items, options_.queue_capacity) &&
            (options_.queue_bytes == 0 || fits(waiting_bytes_, bytes, options_.queue_bytes)));
  }

  void enqueue(const entry_ptr& made) {
    std::vector<entry_ptr> victims;
    std::exception_ptr refusal;
    bool notify = false;
    {
      auto lock = schedule_->lock();
      const auto room = [&] { return has_room(1, made->bytes); };
      if (options_.full == when_full::block) {
        try {
          schedule_->admit(lock, room);
        } catch (const rejected&) {
          refusal = std::current_exception();
        }
      } else {
        schedule_->require_open();
        while (options_.full == when_full::shed_oldest && !room()) {
          entry_ptr victim = oldest_of_least();
          if (!victim) break;
          victim->at = phase::ended;
          leave(*victim);
          ++statistics_.shed;
          victims.push_back(std::move(victim));
        }
        if (!room())
          refusal = std::make_exception_ptr(rejected(concat(name_, ": its queue is full")));
      }
      const time_point now = schedule_->time().now();
      if (refusal) {
        made->at = phase::ended;
        ++statistics_.refused;
      } else {
        ++statistics_.submitted;
        made->enqueued = now;
        if (made->deadline <= now) {
          made->at = phase::ended;
          ++statistics_.expired;
          refusal = was_late();
        } else {
          levels_[made->priority].push_back(made);
          ++live_;
          ++waiting_;
          live_cost_ += made->cost;
          waiting_bytes_ += made->bytes;
          if (made->deadline != time_point::max()) schedule_->watch(made->deadline, made);
          // What comes between the first and the one that closes the batch changes nothing.
          notify = schedule_->work_came() &&
                   (live_ == 1 || is_full() || statistics_.submitted == options_.hold_until);
        }
      }
    }
    schedule_->wake(notify);
    if (refusal) made->set_error(std::move(refusal));
    for (const entry_ptr& victim : victims) {
      victim->set_error(std::make_exception_ptr(
          rejected(concat(name_, ": its queue was full, and the item was shed for a newer one"))));
    }
  }

  // It no longer waits.
  void leave(const entry& what) noexcept {
    --live_;
    --waiting_;
    live_cost_ -= what.cost;
    waiting_bytes_ -= what.bytes;
  }

  // Ends an entry whoever has it; `unwanted`: the running batch that nobody waits for any more.
  [[nodiscard]] bool end(entry& what, std::stop_source& unwanted) noexcept {
    if (what.at == phase::ended) return false;
    if (what.at == phase::queued) {
      leave(what);
      what.item.reset();
      what.at = phase::ended;
      forget(levels_[what.priority]);
      schedule_->room_came();
    } else {
      what.at = phase::ended;
      scratch& with = scratch_[what.replica];
      if (--with.wanted == 0) unwanted = with.stop;
    }
    return true;
  }

  // Takes ended entries out: from the front at once, from between where there are many.
  void forget(ring<entry_ptr>& level) noexcept {
    while (!level.empty() && level.front()->at != phase::queued)
      static_cast<void>(level.pop_front());
    if (level.size() > 2 * live_ + 64)
      level.remove_if([](const entry_ptr& e) { return e->at != phase::queued; });
  }

  [[nodiscard]] entry_ptr oldest_of_least() noexcept {
    for (auto& level : levels_) {
      while (!level.empty()) {
        entry_ptr first = level.pop_front();
        if (first->at == phase::queued) return first;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool is_full() const noexcept {
    return live_ >= options_.max_batch_size ||
           (options_.max_batch_cost != 0 && live_cost_ >= options_.max_batch_cost);
  }

  // Each level's front waits: see forget().
  [[nodiscard]] time_point submissions_due(bool draining) const {
    time_point oldest = time_point::max();
    for (const auto& level : levels_) {
      if (!level.empty()) oldest = std::min(oldest, level.front()->enqueued);
    }
    if (draining || is_full()) return oldest;
    // A delay of "for ever" must not wrap around.
    return options_.max_delay < time_point::max() - oldest ? oldest + options_.max_delay
                                                           : time_point::max();
  }

  [[nodiscard]] bool takes_request(bool draining) const {
    if (requests_.empty()) return false;
    return live_ == 0 || requests_.front()->enqueued <= submissions_due(draining);
  }

  // An item counts as if it had come earlier by what its priority is worth.
  [[nodiscard]] time_point counted_from(const entry& e) const noexcept {
    return e.enqueued - options_.ageing * static_cast<std::int64_t>(e.priority);
  }

  [[nodiscard]] bool fits(std::size_t count, std::size_t cost, const entry& next) const noexcept {
    return count == 0 ||
           (count < options_.max_batch_size &&
            (options_.max_batch_cost == 0 || cost + next.cost <= options_.max_batch_cost));
  }

  void start(scratch& with, entry_ptr what, std::size_t replica) {
    leave(*what);
    what->at = phase::running;
    what->replica = replica;
    with.entries.push_back(std::move(what));
  }

  // Fills the scratch with the batch that is next, and with what has come too late for it.
  void take_batch(scratch& with, std::size_t replica, time_point now) {
    std::size_t cost = 0;
    if (levels_.size() == 1 && options_.look_ahead == 0 && std::is_empty_v<Parameters>) {
      ring<entry_ptr>& level = levels_.front();
      while (!level.empty()) {
        const entry& next = *level.front();
        if (next.at == phase::queued && next.deadline > now) {
          if (!fits(with.entries.size(), cost, next)) break;
          cost += next.cost;
          start(with, level.pop_front(), replica);
        } else {
          drop_front(with, level);
        }
      }
      return;
    }
    gather_candidates(with, now);
    if (with.near.empty()) return;
    const entry& leader = *with.near.front().second;
    if (options_.look_ahead != 0) {
      for (auto& [distance, e] : with.near)
        distance = e->cost < leader.cost ? leader.cost - e->cost : e->cost - leader.cost;
      std::stable_sort(with.near.begin() + 1, with.near.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    for (const auto& [distance, e] : with.near) {
      if (!(e->parameters == leader.parameters)) continue;
      if (!fits(with.entries.size(), cost, *e)) {
        if (options_.look_ahead == 0) break;
        continue;  // a cheaper one may follow
      }
      cost += e->cost;
      start(with, levels_[e->priority][e->position], replica);
    }
    for (auto& level : levels_) forget(level);
  }

  void drop_front(scratch& with, ring<entry_ptr>& level) {
    entry_ptr first = level.pop_front();
    if (first->at != phase::queued) return;
    leave(*first);
    first->at = phase::ended;
    ++statistics_.expired;
    with.late.push_back(std::move(first));
  }

  // The waiting entries in the order of their turns, as many as are looked through.
  void gather_candidates(scratch& with, time_point now) {
    const std::size_t reach = std::max(options_.look_ahead, 4 * options_.max_batch_size);
    with.near.clear();
    with.cursors.assign(levels_.size(), 0);
    while (with.near.size() < reach) {
      entry* next = nullptr;
      for (std::size_t p = 0; p < levels_.size(); ++p) {
        std::size_t& at = with.cursors[p];
        ring<entry_ptr>& level = levels_[p];
        while (at < level.size() && (level[at]->at != phase::queued || level[at]->deadline <= now))
          ++at;
        if (at == level.size()) continue;
        entry& candidate = *level[at];
        candidate.position = at;
        if (next == nullptr || counted_from(candidate) < counted_from(*next) ||
            (counted_from(candidate) == counted_from(*next) && candidate.priority > next->priority))
          next = &candidate;
      }
      if (next == nullptr) break;
      ++with.cursors[next->priority];
      with.near.emplace_back(0, next);
    }
  }

  ran run_request(std::unique_lock<std::mutex>& lock, std::size_t replica) noexcept {
    scratch& with = scratch_[replica];
    request_ptr what = requests_.pop_front();
    const std::size_t count = what->items.size();
    waiting_ -= count;
    running_ += count;
    const time_point started = begin_batch(replica, count);
    for (std::size_t i = 0; i < count; ++i) statistics_.queue.add(started - what->enqueued);
    schedule_->batch_left(*this);
    lock.unlock();

    std::vector<Out> made;
    const std::exception_ptr failure = fulfil(with, replica, what->items, made);
    const bool is_lost = lost(failure);
    // Freed before the results are handed out: whoever sees them may count on it.
    if (!is_lost) std::vector<In>().swap(what->storage);
    lock.lock();
    running_ -= count;
    if (is_lost) {
      waiting_ += count;
      requests_.push_front(std::move(what));
      return {0, failure};
    }
    (failure ? statistics_.failed : statistics_.done) += count;
    for (std::size_t i = 0; i < count; ++i)
      statistics_.total.add(schedule_->time().now() - what->enqueued);
    lock.unlock();
    if (failure) {
      what->set_error(failure);
    } else {
      what->set_value(std::move(made));
    }
    what.reset();
    lock.lock();
    return {static_cast<double>(count)};
  }

  // A request's results, all of them or the first exception; without memory for them all, half by
  // half.
  [[nodiscard]] std::exception_ptr fulfil(scratch& with, std::size_t replica,
                                          std::span<const In> items, std::vector<Out>& made) {
    std::exception_ptr failure = call(with, replica, items, Parameters{}, {});
    if (!failure) {
      if (with.made.each) {
        for (outcome<Out>& each : with.made.outcomes) {
          if (!each) return each.failure();
          made.push_back(std::move(each).value());
        }
      } else if (made.empty()) {
        made = std::move(with.made.values);
      } else {
        std::move(with.made.values.begin(), with.made.values.end(), std::back_inserter(made));
      }
      with.made = {};
      return nullptr;
    }
    if (items.size() < 2 || !no_memory(failure)) return failure;
    const std::size_t half = items.size() / 2;
    count_rerun();
    failure = fulfil(with, replica, items.first(half), made);
    if (failure) return failure;
    count_rerun();
    return fulfil(with, replica, items.subspan(half), made);
  }

  ran run_submissions(std::unique_lock<std::mutex>& lock, std::size_t replica) noexcept {
    scratch& with = scratch_[replica];
    const time_point now = schedule_->time().now();
    take_batch(with, replica, now);
    const std::size_t count = with.entries.size();
    double cost = 0;
    for (const entry_ptr& e : with.entries) {
      cost += static_cast<double>(e->cost);
      statistics_.queue.add(now - e->enqueued);
    }
    if (count != 0) begin_batch(replica, count);
    running_ += count;
    with.wanted = count;
    if (stops_) with.stop = std::stop_source();
    schedule_->batch_left(*this);
    lock.unlock();

    for (const entry_ptr& e : with.late) e->set_error(was_late());
    with.late.clear();
    std::exception_ptr failure;
    std::size_t held = 0;  // whose items are in the batch
    if (count != 0) {
      try {
        with.items.reserve(count);
        for (; held < count; ++held) {
          with.items.push_back(std::move(*with.entries[held]->item));
          with.entries[held]->item.reset();
        }
      } catch (...) {  // an item that cannot be moved, or no memory for it
        failure = std::current_exception();
      }
      if (failure) {
        deliver(with, 0, count, failure);
        failure = nullptr;
      } else {
        failure = settle(with, replica, 0, count);
      }
    }
    lock.lock();
    if (failure) give_back(with);
    running_ -= count;
    with.stop = std::stop_source(std::nostopstate);
    lock.unlock();
    with.items.clear();
    with.entries.clear();
    lock.lock();
    return {cost, failure};
  }

  // Runs a part of the batch and delivers what comes of it. Returns what the replica was lost with.
  [[nodiscard]] std::exception_ptr settle(scratch& with, std::size_t replica, std::size_t first,
                                          std::size_t last) {
    const std::size_t count = last - first;
    const std::exception_ptr failure =
        call(with, replica, std::span<const In>(with.items).subspan(first, count),
             with.entries[first]->parameters, with.stop.get_token());
    if (lost(failure)) return failure;
    const bool again =
        failure && count > 1 && !miscalled(failure) && (options_.idempotent || no_memory(failure));
    if (!again) {
      deliver(with, first, last, failure);
      return nullptr;
    }
    const std::size_t middle = first + count / 2;
    count_rerun();
    if (auto gone = settle(with, replica, first, middle)) return gone;
    count_rerun();
    return settle(with, replica, middle, last);
  }

  // Hands results out, or the one exception, to those that have not ended otherwise.
  void deliver(scratch& with, std::size_t first, std::size_t last,
               const std::exception_ptr& failure) noexcept {
    {
      auto lock = schedule_->lock();
      const time_point now = schedule_->time().now();
      for (std::size_t i = first; i < last; ++i) {
        entry_ptr& e = with.entries[i];
        if (e->at == phase::ended) {
          e.reset();
          continue;
        }
        e->at = phase::ended;
        --with.wanted;
        const bool failed =
            failure || (with.made.each && !with.made.outcomes[i - first].has_value());
        ++(failed ? statistics_.failed : statistics_.done);
        statistics_.total.add(now - e->enqueued);
      }
    }
    for (std::size_t i = first; i < last; ++i) {
      entry_ptr& e = with.entries[i];
      if (!e) continue;
      if (failure) {
        e->set_error(failure);
      } else if (with.made.each) {
        outcome<Out>& each = with.made.outcomes[i - first];
        if (each)
          e->set_value(std::move(each).value());
        else
          e->set_error(each.failure());
      } else {
        e->set_value(std::move(with.made.values[i - first]));
      }
      e.reset();
    }
  }

  // Puts what a lost replica has not settled back to the front.
  void give_back(scratch& with) noexcept {
    for (std::size_t i = with.entries.size(); i-- > 0;) {
      entry_ptr& e = with.entries[i];
      if (!e || e->at == phase::ended) continue;
      e->item.emplace(std::move(with.items[i]));
      e->at = phase::queued;
      ++live_;
      ++waiting_;
      live_cost_ += e->cost;
      waiting_bytes_ += e->bytes;
      levels_[e->priority].push_front(std::move(e));
    }
  }

  [[nodiscard]] std::exception_ptr call(scratch& with, std::size_t replica,
                                        std::span<const In> items, const Parameters& parameters,
                                        const std::stop_token& stop) noexcept {
    const time_point started = schedule_->time().now();
    std::exception_ptr failure;
    try {
      function_(replica, items, parameters, stop, with.made);
      if (with.made.size() != items.size()) {
        throw miscounted(concat(name_, ": ", with.made.size(), " results came back for a batch of ",
                                items.size(), " items; it must return one for each, in order"));
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const auto lock = schedule_->lock();
    statistics_.compute.add(schedule_->time().now() - started);
    return failure;
  }

  // A function that does not keep to its form will not do so for a part either.
  struct miscounted : error {
    explicit miscounted(const std::string& message) : error(message) {}
  };

  template <class... E>
  [[nodiscard]] static bool is_any(const std::exception_ptr& failure) noexcept {
    if (!failure) return false;
    const auto is = [&]<class One>(std::type_identity<One>) {
      try {
        std::rethrow_exception(failure);
      } catch (const One&) {
        return true;
      } catch (...) {
        return false;
      }
    };
    return (is(std::type_identity<E>{}) || ...);
  }
  [[nodiscard]] static bool lost(const std::exception_ptr& f) noexcept {
    return is_any<device_lost>(f);
  }
  [[nodiscard]] static bool no_memory(const std::exception_ptr& f) noexcept {
    return is_any<out_of_memory, std::bad_alloc>(f);
  }
  [[nodiscard]] static bool miscalled(const std::exception_ptr& f) noexcept {
    return is_any<miscounted>(f);
  }

  time_point begin_batch(std::size_t replica, std::size_t count) {
    ++statistics_.batch_sizes[count];
    ++statistics_.replicas[replica].batches;
    statistics_.replicas[replica].items += count;
    return schedule_->time().now();
  }

  void count_rerun() {
    const auto lock = schedule_->lock();
    ++statistics_.reruns;
  }

  const std::shared_ptr<schedule> schedule_;
  const std::string name_;
  const executor_options options_;
  const cost_function cost_;
  const bool stops_;  // batches have a stop token
  function function_;
  const std::shared_ptr<recycler> kept_ = std::make_shared<recycler>();

  std::vector<ring<entry_ptr>> levels_;  // by priority; the front of each waits
  ring<request_ptr> requests_;
  std::size_t live_ = 0;  // submissions that wait
  std::size_t live_cost_ = 0;
  std::size_t waiting_ = 0;  // items that wait
  std::size_t waiting_bytes_ = 0;
  std::size_t running_ = 0;
  statistics statistics_;
  std::vector<scratch> scratch_;
};

}  // namespace topos::detail
