// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The requests made of a range or a generator: a future for each.

#include <cstddef>
#include <iterator>
#include <memory>
#include <topos/executor/detail/request_window.hpp>
#include <topos/executor/endpoint.hpp>
#include <topos/executor/future.hpp>
#include <utility>
#include <vector>

namespace topos {

/// An input range of one future for each request, in the order of the items, that holds the results
/// of the request's items or what went wrong with it.
///
/// At most two requests for each replica are under way, whatever the consumer does with the
/// futures: moving on blocks while there are as many. There are fewer only while the request that
/// is next is ready. Items are taken from their source on the consumer's thread: where that blocks,
/// a request that is ready waits for the items of one more, and no longer. What the source throws
/// is thrown by `begin` or `++`, after the futures of all items before it. A range that was given
/// as an lvalue, or refers to other memory, is read while requests run.
///
/// Destroying the stream withdraws requests that were not handed out and have not started, asks
/// those of them that run to stop, and blocks until all others have ended. Futures moved out of it
/// stay good.
template <batch_item In, batch_item Out>
class [[nodiscard]] request_stream {
  struct state;

 public:
  using value_type = future<std::vector<Out>>;

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = future<std::vector<Out>>;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;

    [[nodiscard]] value_type& operator*() const noexcept { return state_->current; }
    [[nodiscard]] value_type* operator->() const noexcept { return &state_->current; }

    iterator& operator++() {
      state_->advance();
      return *this;
    }
    void operator++(int) { ++*this; }

    [[nodiscard]] friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return at.state_->ended;
    }

   private:
    friend request_stream;
    explicit iterator(state* of) noexcept : state_(of) {}

    state* state_ = nullptr;
  };

  request_stream(std::shared_ptr<detail::request_queue<In, Out>> queue,
                 std::unique_ptr<detail::items<In>> source, const request_options& options,
                 std::shared_ptr<const void> parameters)
      : state_(std::make_unique<state>(std::move(queue), std::move(source), options,
                                       std::move(parameters))) {}

  request_stream(request_stream&&) noexcept = default;
  request_stream& operator=(request_stream&&) noexcept = default;

  /// The request that is next; the same one as before if there was a `begin` already and no `++`
  /// since.
  [[nodiscard]] iterator begin() {
    if (!state_->standing && !state_->ended) state_->advance();
    return iterator(state_.get());
  }

  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  // On the heap, so that iterators survive a move of the stream.
  struct state {
    state(std::shared_ptr<detail::request_queue<In, Out>> queue,
          std::unique_ptr<detail::items<In>> source, const request_options& options,
          std::shared_ptr<const void> parameters)
        : window(std::move(queue), std::move(source), options, std::move(parameters)) {}

    void advance() {
      standing = false;
      window.begin_another();
      auto request = window.next();
      ended = request == nullptr;
      standing = !ended;
      // Cast, since nvcc takes the assignment for a future that is dropped.
      if (!ended) static_cast<void>(current = value_type(std::move(request)));
    }

    detail::request_window<In, Out> window;
    value_type current;
    bool standing = false;
    bool ended = false;
  };

  std::unique_ptr<state> state_;
};

}  // namespace topos
