// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The requests of a stream that are under way.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <topos/executor/detail/submission.hpp>
#include <topos/executor/item_source.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/progress.hpp>
#include <utility>

namespace topos::detail {

/// Keeps up to two requests for each replica under way, so that none waits for the consumer while
/// there are items; takes the items from their source on the consumer's thread. Since the source
/// may block, what is ready waits for the items of one request at most.
template <class In, class Out>
class request_window {
 public:
  using queue = request_queue<In, Out>;
  using request_ptr = typename queue::request_ptr;

  request_window(std::shared_ptr<queue> where, std::unique_ptr<items<In>> source,
                 const request_options& options, std::shared_ptr<const void> parameters)
      : queue_(std::move(where)),
        source_(std::move(source)),
        parameters_(std::move(parameters)),
        request_size_(options.request_size),
        on_progress_(options.on_progress),
        width_(2 * queue_->replicas()) {
    if (options.order == result_order::as_completed) signal_ = std::make_shared<end_signal>();
    if (options.show_progress) {
      const auto count = source_->size();
      const auto steps = [&](std::size_t n) {
        return n / request_size_ + (n % request_size_ != 0);
      };
      report([&] {
        progress_.emplace(count ? std::optional(steps(*count)) : std::nullopt, options.progress);
      });
    }
    fill();
  }

  /// Withdraws the requests that nobody has seen and that have not started, and asks those that
  /// have to stop; waits for all others, which may be reading what the source refers to.
  ~request_window() {
    // The last first, or a replica would start one while those before it are withdrawn.
    for (std::size_t i = ahead_.size(); i-- > 0;) static_cast<void>(queue_->cancel(ahead_[i]));
    for (const request_ptr& running : ahead_) running->wait_anyway();
    for (const request_ptr& running : given_) running->wait_anyway();
  }

  request_window(const request_window&) = delete;
  request_window& operator=(const request_window&) = delete;

  /// The next request in order, or null after the last, when all have ended. Throws what the source
  /// has thrown, after the requests of the items before that; and inside of the last replica that
  /// does not wait so, where whoever has the request would wait for it for ever.
  [[nodiscard]] request_ptr next() {
    fill();
    while (ahead_.empty() && !ended_) {
      // The consumer has left as many requests running as there may be.
      given_.front()->wait();
      fill();
    }
    if (ahead_.empty()) {
      if (source_failure_) std::rethrow_exception(std::exchange(source_failure_, nullptr));
      while (!given_.empty()) {
        given_.front()->wait();
        retire();
      }
      report([&] {
        if (progress_) progress_->finish();
      });
      return nullptr;
    }
    if (signal_) bring_forward();
    // Who takes it waits for it: here, before it is taken from the window.
    if (!ahead_.front()->is_ready()) static_cast<void>(checked_wait(*ahead_.front()));
    request_ptr first = std::move(ahead_.front());
    ahead_.pop_front();
    given_.push_back(first);
    return first;
  }

  /// Forgets what has ended, and brings a new request under way where there is room.
  void begin_another() {
    retire();
    if (has_room()) begin_or_fail();
  }

 private:
  // Brings as many new requests under way, but none once the next to be handed out is ready: its
  // results would wait for the source.
  void fill() {
    retire();
    while (has_room() && !next_is_ready()) begin_or_fail();
  }

  [[nodiscard]] bool has_room() const noexcept {
    return !ended_ && ahead_.size() + given_.size() < width_;
  }

  [[nodiscard]] bool next_is_ready() const noexcept {
    const auto is_ready = [](const request_ptr& r) { return r->is_ready(); };
    if (signal_) return std::any_of(ahead_.begin(), ahead_.end(), is_ready);
    return !ahead_.empty() && is_ready(ahead_.front());
  }

  void begin_or_fail() noexcept {
    try {
      begin();
    } catch (...) {
      fail();
    }
  }

  void begin() {
    const auto entry = std::make_shared<request<In, Out>>(queue_);
    entry->parameters = parameters_;
    try {
      entry->items = source_->next(request_size_, entry->storage);
      ended_ = entry->items.empty();
    } catch (...) {
      fail();
      // What came before the failure is work like any other.
      entry->items = entry->storage;
    }
    if (entry->items.empty()) return;
    if (signal_) {
      entry->ended = signal_;
      static_cast<void>(entry->then(*entry));
    }
    ahead_.push_back(entry);  // before it may run: the destructor waits for what is there
    try {
      queue_->enqueue(entry);
    } catch (...) {
      ahead_.pop_back();
      throw;
    }
  }

  void retire() {
    while (!given_.empty() && given_.front()->is_ready()) {
      given_.pop_front();
      ++done_;
      report([&] {
        if (progress_) progress_->step();
      });
      report([&] {
        if (on_progress_) on_progress_(done_);
      });
    }
  }

  // What cannot be shown costs no results.
  template <class Report>
  static void report(Report shows) noexcept {
    try {
      shows();
    } catch (...) {  // its own affair
    }
  }

  // Puts the first that has ended to the front; blocks until one has.
  void bring_forward() {
    for (;;) {
      const std::size_t seen = signal_->count();
      const auto ended = std::find_if(ahead_.begin(), ahead_.end(),
                                      [](const request_ptr& r) { return r->is_ready(); });
      if (ended != ahead_.end())
        return static_cast<void>(std::rotate(ahead_.begin(), ended, ended + 1));
      const next_of_several next(*ahead_.front(), *signal_, seen);
      const checked_wait waits(next);
      signal_->wait_beyond(seen);
    }
  }

  // The end of any of several requests.
  class next_of_several final : public awaited {
   public:
    next_of_several(const awaited& one, const end_signal& ended, std::size_t seen)
        : one_(one), ended_(ended), seen_(seen) {}
    [[nodiscard]] bool is_ready() const noexcept override { return ended_.count() > seen_; }
    [[nodiscard]] const result_maker* maker() const noexcept override { return one_.maker(); }
    [[nodiscard]] bool is_made_here() const noexcept override { return one_.is_made_here(); }

   private:
    const awaited& one_;
    const end_signal& ended_;
    std::size_t seen_;
  };

  void fail() noexcept {
    ended_ = true;
    if (!source_failure_) source_failure_ = std::current_exception();
  }

  std::shared_ptr<queue> queue_;
  std::unique_ptr<items<In>> source_;
  std::shared_ptr<const void> parameters_;
  std::size_t request_size_;
  std::function<void(std::size_t)> on_progress_;
  std::size_t width_;
  std::size_t done_ = 0;
  std::shared_ptr<end_signal> signal_;  // where results are handed out as they come
  std::optional<progress> progress_;
  std::deque<request_ptr> ahead_;  // under way, and not seen by the consumer
  std::deque<request_ptr> given_;  // seen by the consumer, and perhaps running
  std::exception_ptr source_failure_;
  bool ended_ = false;
};

}  // namespace topos::detail
