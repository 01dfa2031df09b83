// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is submitted for one function on batches, and how it ends where no batch ends it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <topos/core/error.hpp>
#include <topos/executor/detail/doomed_entries.hpp>
#include <topos/executor/detail/entry_list.hpp>
#include <topos/executor/detail/pace.hpp>
#include <topos/executor/detail/recycler.hpp>
#include <topos/executor/detail/request_parts.hpp>
#include <topos/executor/detail/ring.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/detail/slots.hpp>
#include <topos/executor/detail/submission.hpp>
#include <topos/executor/detail/waiting_line.hpp>
#include <topos/executor/future.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/statistics.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// The queue of a function on batches, but for running them: see `batch_runner`. All that is not
/// const is under the schedule's lock.
template <class In, class Out, class Parameters>
class batch_queue : public work_lane,
                    public request_queue<In, Out>,
                    public std::enable_shared_from_this<batch_queue<In, Out, Parameters>> {
 public:
  using cost_function = std::function<std::size_t(const In&)>;
  using request_ptr = std::shared_ptr<request<In, Out>>;
  using entry = submission<In, Out, Parameters>;
  using entry_ptr = std::shared_ptr<entry>;

  /// `name` is what messages call the function.
  batch_queue(std::shared_ptr<schedule> work, std::size_t replicas, executor_options options,
              std::string name, cost_function cost)
      : schedule_(std::move(work)),
        name_(std::move(name)),
        options_(std::move(options)),
        cost_(std::move(cost)),
        line_(options_),
        batches_(slots::first_of(replicas)) {
    statistics_.replicas.resize(replicas);
    schedule_->add(*this);
  }

  /// Queues an item; see `when_full` for where there is no room. Throws `rejected` once the
  /// executor shuts down, or what its last replica was lost with.
  future<Out> submit(In&& item, submit_options<Parameters>&& how) {
    require_unforked();  // before any lock, which a thread that is not here may hold
    const auto made =
        std::allocate_shared<entry>(recycling_allocator<entry, batch_queue>(kept_), std::move(item),
                                    std::move(how.parameters), *this);
    made->deadline = how.deadline;
    made->priority = std::min(how.priority, line_.levels() - 1);
    made->bytes = bytes_of(*made->item);
    try {
      if (cost_) made->cost = cost_(*made->item);
    } catch (...) {
      refuse(*made, std::current_exception());
      return future<Out>(made);
    }
    if (is_too_costly(made->cost, options_)) {
      refuse(*made, was_too_costly(name_, made->cost, options_));
      return future<Out>(made);
    }
    enqueue(made, how.stop);
    if (how.stop.stop_possible())
      static_cast<void>(
          made->stop.emplace(std::move(how.stop), typename entry::on_stop{made.get()}));
    return future<Out>(made);
  }

  /// Blocks while requests fill the queue. One that as many items as that holds have passed gets
  /// the places that come free: smaller ones would always leave too few.
  void enqueue(const request_ptr& made) override {
    require_unforked();
    divide(*made, name_, options_, cost_);
    bool notify = false;
    {
      auto lock = schedule_->lock();
      const std::uint64_t before = statistics_.submitted;
      std::size_t reserved = 0;
      const auto room = [&] {
        if (has_room(made->items.size(), 0, requested_ + reserved_ - reserved, 0)) return true;
        if (reserved_ == 0 && statistics_.submitted - before >= options_.queue_capacity)
          reserved = reserved_ = made->items.size();
        return false;
      };
      try {
        schedule_->admit(lock, room);
        reserved_ -= reserved;
      } catch (...) {
        reserved_ -= reserved;
        throw;
      }
      made->enqueued = schedule_->time().now();
      requests_.push_back(made);
      requested_ += made->items.size();
      statistics_.submitted += made->items.size();
      notify = schedule_->work_came();
    }
    schedule_->wake(notify);
  }

  bool cancel(const request_ptr& what) noexcept override {
    std::stop_source running(std::nostopstate);
    {
      auto lock = schedule_->lock();
      if (what->at == phase::running) {
        running = batches_[what->slot].stop;
        batches_[what->slot].asked_to_stop = true;
      }
      if (what->at != phase::queued || !requests_.remove(what)) {
        lock.unlock();
        running.request_stop();
        return false;
      }
      what->at = phase::ended;
      requested_ -= what->items.size();
      statistics_.cancelled += what->items.size();
      schedule_->room_came();
      schedule_->will_end();
    }
    what->end_unstarted(failure<cancelled>("the request was cancelled before it started"));
    schedule_->has_ended();
    return true;
  }

  /// Ends an item with `cancelled` if it has not ended; says whether it did.
  bool withdraw(entry& what) noexcept {
    ending of;
    if (!take_back(what, &statistics::cancelled, of)) return false;
    tell(what, of, failure<cancelled>("the item was withdrawn"));
    of.unwanted.request_stop();
    return true;
  }

  /// Ends an item with `deadline_exceeded` if it has not ended.
  void expire(entry& what) noexcept {
    ending of;
    if (!take_back(what, &statistics::expired, of)) return;
    tell(what, of, was_late());
    if (of.unwanted.stop_possible()) stop_request::post(std::move(of.unwanted));
  }

  [[nodiscard]] statistics stats() const {
    auto lock = schedule_->lock();
    return as_read(statistics_, waiting());
  }

  [[nodiscard]] std::size_t replicas() const noexcept override {
    return slots::replica_of(batches_.size());
  }
  [[nodiscard]] const result_maker* maker() const noexcept override { return schedule_.get(); }
  [[nodiscard]] bool is_made_here(const entry& what) const noexcept { return runs_here(what); }
  [[nodiscard]] bool is_made_here(const request<In, Out>& what) const noexcept override {
    return runs_here(what);
  }
  [[nodiscard]] const time_source& time() const noexcept { return schedule_->time(); }

  [[nodiscard]] std::optional<time_point> due(bool draining, bool busy) const override {
    if (!draining && statistics_.submitted < options_.hold_until) return std::nullopt;
    if (takes_request(draining)) return requests_.front()->enqueued;
    if (line_.size() == 0) return std::nullopt;
    const bool no_delay = options_.max_delay.count() == 0;
    if (busy && no_delay && !draining && !line_.is_full()) return std::nullopt;
    return line_.due(draining || !requests_.empty());  // what passes a request does not delay it
  }

  [[nodiscard]] std::unique_ptr<doomed_work> take_all(bool as_cancelled) override {
    auto all = spare_ ? std::move(spare_) : std::make_unique<doomed>(batches_.size());
    (as_cancelled ? statistics_.cancelled : statistics_.failed) += waiting();
    for (std::size_t i = 0; i < requests_.size(); ++i) requests_[i]->at = phase::ended;
    all->requests = std::exchange(requests_, {});
    requested_ = 0;
    while (entry_ptr first = line_.pop_least(all->over)) all->entries.push_back(std::move(first));
    if (as_cancelled) {
      for (running_batch& each : batches_) {
        all->running.push_back(each.stop);
        each.asked_to_stop = true;
      }
    }
    return all;
  }

  [[nodiscard]] bool idle() const override { return waiting() == 0 && running_ == 0; }

 protected:
  ~batch_queue() = default;

  // What a slot of a replica's is at.
  struct running_batch {
    std::size_t wanted = 0;  // results that somebody waits for
    std::stop_source stop{std::nostopstate};
    bool asked_to_stop = false;  // by who still waits for it: it is not to begin again
    // By anybody; it need not take a stop token.
    [[nodiscard]] bool is_stopped() const noexcept {
      return asked_to_stop || stop.stop_requested();
    }
  };

  using list = entry_list<entry>;

  using doomed = doomed_entries<entry, request<In, Out>>;

  // What is left to do when an item has ended without a batch, and the lock is released.
  struct ending {
    bool waited = false;                          // its item is still there
    std::stop_source unwanted{std::nostopstate};  // of a batch that nobody waits for any more
    list over;
  };

  // Whether an item or request is in a batch of the replica whose thread this is.
  template <class What>
  [[nodiscard]] bool runs_here(const What& what) const noexcept {
    const auto lock = schedule_->lock();
    return what.at == phase::running && schedule_->serves_here(slots::replica_of(what.slot));
  }

  [[nodiscard]] std::size_t waiting() const noexcept { return requested_ + line_.size(); }

  // An exception of this function's; where there is no memory for its text, that.
  template <class Error>
  [[nodiscard]] std::exception_ptr failure(const char* what) const noexcept {
    try {
      return std::make_exception_ptr(Error(concat(name_, ": ", what)));
    } catch (...) {
      return std::current_exception();
    }
  }
  [[nodiscard]] std::exception_ptr was_late() const noexcept {
    return failure<deadline_exceeded>("the deadline passed before the result was there");
  }
  void refuse(entry& what, std::exception_ptr why) {
    {
      auto lock = schedule_->lock();
      schedule_->require_open();
      what.at = phase::ended;
      ++statistics_.refused;
    }
    what.end_unstarted(std::move(why));
  }

  [[nodiscard]] bool has_room(std::size_t items, std::size_t bytes, std::size_t items_there,
                              std::size_t bytes_there) const noexcept {
    const auto fits = [](std::size_t has, std::size_t more, std::size_t most) {
      return more <= most && has <= most - more;
    };
    return items_there == 0 ||
           (fits(items_there, items, options_.queue_capacity) &&
            (options_.queue_bytes == 0 || fits(bytes_there, bytes, options_.queue_bytes)));
  }

  void enqueue(const entry_ptr& made, const std::stop_token& stop) {
    list victims;
    list over;
    std::exception_ptr refusal;
    bool full = false;  // which is said once the lock is released: that takes longer than all else
    bool notify = false;
    {
      auto lock = schedule_->lock();
      const auto room = [&] {
        if (has_room(1, made->bytes, line_.size(), line_.bytes())) return true;
        if (line_.press()) schedule_->wake(schedule_->work_came());
        return false;
      };
      if (options_.full == when_full::block) {
        try {
          schedule_->admit(lock, room, made->deadline, stop);
        } catch (const rejected&) {
          schedule_->require_open();  // what is submitted too late is told so at once
          refusal = std::current_exception();
        }
      } else {
        schedule_->require_open();
        // What will not run takes nobody's place.
        const bool runs = made->deadline > schedule_->time().now() && !stop.stop_requested();
        // What is more urgent is not shed: beside that there may be no room even so. Nor would it
        // do to shed all for what fits the queue only where nothing else is in it.
        const bool fits = options_.queue_bytes == 0 || made->bytes <= options_.queue_bytes;
        const auto kept = line_.above(made->priority);
        if (runs && fits && options_.full == when_full::shed_oldest &&
            has_room(1, made->bytes, kept.items, kept.bytes)) {
          while (!room()) {
            victims.push_back(line_.pop_least(over));
            ++statistics_.shed;
          }
          schedule_->room_came();  // more than it takes, perhaps
        }
        if (victims.size() != 0) schedule_->will_end();
        full = runs && !room();
      }
      const time_point now = schedule_->time().now();
      if (refusal || full) {
        made->at = phase::ended;
        ++statistics_.refused;
      } else {
        ++statistics_.submitted;
        made->enqueued = now;
        // What comes between the first and the one that closes the batch changes nothing.
        bool changes = statistics_.submitted == options_.hold_until;
        if (made->deadline <= now) {
          made->at = phase::ended;
          ++statistics_.expired;
          refusal = was_late();
        } else if (stop.stop_requested()) {
          made->at = phase::ended;
          ++statistics_.cancelled;
          refusal = failure<cancelled>("the item was withdrawn");
        } else {
          try {
            if (made->deadline != time_point::max()) {
              schedule_->watch(made->deadline, made);
              if (options_.max_delay.count() != 0)
                made->start_by = pace_.start_before(made->deadline, now);
            }
            const bool hurries = line_.push(made);
            changes = changes || hurries || line_.size() == 1 || line_.is_full();
          } catch (...) {  // no memory, or no thread for the clock
            made->at = phase::ended;
            ++statistics_.failed;
            refusal = std::current_exception();
          }
        }
        notify = schedule_->work_came() && changes;
      }
    }
    schedule_->wake(notify);
    if (full) refusal = failure<rejected>("its queue is full");
    if (refusal) made->end_unstarted(std::move(refusal));
    if (victims.size() == 0) return;
    while (const entry_ptr victim = victims.pop_front()) {
      victim->end_unstarted(
          failure<rejected>("its queue was full, and the item was shed for a newer one"));
    }
    schedule_->has_ended();
  }

  // Takes an entry that has not ended from whoever has it, and counts it; says whether it was so.
  // Its future is for `tell`.
  [[nodiscard]] bool take_back(entry& what, std::uint64_t statistics::*as, ending& of) noexcept {
    const auto lock = schedule_->lock();
    if (what.at == phase::ended) return false;
    of.waited = what.at == phase::queued;
    if (of.waited) {
      line_.remove(what, of.over);
      schedule_->room_came();
    } else {
      what.at = phase::ended;
      running_batch& with = batches_[what.slot];
      if (--with.wanted == 0) of.unwanted = with.stop;
    }
    ++(statistics_.*as);
    schedule_->will_end();
    return true;
  }
  void tell(entry& what, const ending& of, std::exception_ptr why) noexcept {
    if (of.waited) what.item.reset();  // else its batch has it
    what.set_error(std::move(why));
    schedule_->has_ended();
  }

  [[nodiscard]] bool takes_request(bool draining) const {
    if (requests_.empty() || line_.size() == 0) return !requests_.empty();
    const time_point came = requests_.front()->enqueued;  // of the lowest priority
    return came <= line_.due(draining) && !line_.passes(came);
  }

  const std::shared_ptr<schedule> schedule_;
  const std::string name_;
  const executor_options options_;
  const cost_function cost_;
  recycler<batch_queue> kept_{*this};

  waiting_line<In, Out, Parameters> line_;  // of submissions
  ring<request_ptr> requests_;
  std::size_t requested_ = 0;  // items of requests that wait
  std::size_t reserved_ = 0;   // places for a request that is blocked
  std::size_t running_ = 0;
  pace pace_;
  statistics statistics_;
  std::vector<running_batch> batches_;  // by slot
  std::unique_ptr<doomed> spare_ = std::make_unique<doomed>(batches_.size());
};

}  // namespace topos::detail
