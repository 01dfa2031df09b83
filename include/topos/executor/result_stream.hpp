// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The results for a range or a generator of items, in order.

#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <topos/executor/detail/request_window.hpp>
#include <topos/executor/endpoint.hpp>
#include <topos/executor/outcome.hpp>
#include <utility>
#include <vector>

namespace topos {

/// An input range of the results of all items, in the order of the items; each may be moved from.
///
/// Two requests for each replica are under way at most: memory is bounded whatever the number of
/// items. There are fewer only while results are ready when they are asked for. Items are taken
/// from their source on the consumer's thread: where that blocks, results that are ready wait for
/// the items of one request more, and no longer. A range that was given as an lvalue, or refers to
/// other memory, is read while requests run.
///
/// A request that fails is thrown, with its own type, by the `begin` or `++` that would come to its
/// first result; the others are not harmed: calling `begin` again, or `++` of the iterator, which
/// refers to nothing meanwhile, goes on with the request after it. Where the endpoint is
/// idempotent, or its model returns an `outcome` for each item, a request is not lost with one bad
/// item: that alone is thrown, where its result would come, and `begin` goes on with the item after
/// it. Of a request that is several batches, for `max_batch_cost`, the items of those that fail are
/// thrown, each by itself. What the source throws comes likewise, after the results of all items
/// before it, and is the end.
///
///     for (auto results = dep.post<"/encode">(documents);;) {
///       try {
///         for (auto& embedding : results) use(embedding);
///         break;
///       } catch (const std::exception& failure) { ... }  // one, or request_size documents, failed
///     }
///
/// Destroying the stream withdraws requests that have not started, asks the others to stop, and
/// blocks until they end.
template <batch_item In, batch_item Out>
class [[nodiscard]] result_stream {
  struct state;

 public:
  using value_type = Out;

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Out;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;

    [[nodiscard]] Out& operator*() const noexcept { return state_->results[state_->index]; }
    [[nodiscard]] Out* operator->() const noexcept { return &**this; }

    iterator& operator++() {
      if (++state_->index >= state_->results.size()) state_->advance();  // 0 after one that threw
      return *this;
    }
    void operator++(int) { ++*this; }

    [[nodiscard]] friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return at.state_->ended;
    }

   private:
    friend result_stream;
    explicit iterator(state* of) noexcept : state_(of) {}

    state* state_ = nullptr;
  };

  result_stream(std::shared_ptr<detail::request_queue<In, Out>> queue,
                std::unique_ptr<detail::items<In>> source, const request_options& options,
                std::shared_ptr<const void> parameters)
      : state_(std::make_unique<state>(std::move(queue), std::move(source), options,
                                       std::move(parameters))) {}

  result_stream(result_stream&&) noexcept = default;
  result_stream& operator=(result_stream&&) noexcept = default;

  /// The result that is next; the same one as before if there was a `begin` already and no `++`
  /// since. Blocks until it is there.
  [[nodiscard]] iterator begin() {
    if (state_->index == state_->results.size() && !state_->ended) state_->advance();
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
      index = 0;
      results.clear();
      if (from == each.size()) {
        const auto request = window.next();
        ended = request == nullptr;
        if (ended) return;
        request->wait();
        // Before the results are consumed, and so that the model does not wait for that.
        window.begin_another();
        from = 0;
        each = std::move(request->each);
        if (each.empty()) return static_cast<void>(results = request->take());
      }
      // Up to the next that has failed.
      while (from != each.size() && each[from]) results.push_back(std::move(each[from++].value()));
      if (results.empty()) std::rethrow_exception(std::move(each[from++]).failure());
    }

    detail::request_window<In, Out> window;
    std::vector<Out> results;
    std::size_t index = 0;
    std::vector<outcome<Out>> each;  // of a request some of whose items have failed
    std::size_t from = 0;            // of these the first that is not among the results
    bool ended = false;
  };

  std::unique_ptr<state> state_;
};

}  // namespace topos
