// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What comes of a request whose items may fail alone.

#include <cstddef>
#include <exception>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/outcome.hpp>
#include <utility>
#include <vector>

namespace topos::detail {

/// What came of the items of a request, part by part.
template <class Out>
class request_results {
 public:
  /// Of the next items what a call has left.
  void add(batch_results<Out>& made) {
    if (made.each) {
      for (outcome<Out>& one : made.outcomes) {
        if (one)
          add_value(std::move(one.value()));
        else
          add_failure(std::move(one).failure());
      }
    } else if (values_.empty() && outcomes_.empty()) {
      values_ = std::move(made.values);
    } else {
      for (Out& one : made.values) add_value(std::move(one));
    }
  }

  /// Of the next `count` items one failure.
  void fail(const std::exception_ptr& failure, std::size_t count) {
    if (values_.empty() && outcomes_.empty()) together_ = count;
    for (; count > 0; --count) add_failure(failure);
  }

  /// Of the next `count` items that they did not run to an end of their own.
  void cancel(const std::exception_ptr& why, std::size_t count) {
    fail(why, count);
    cancelled_ += count;
  }

  /// What the first item failed with; null where none has.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
  /// Items without a value, and those of them that were cancelled.
  [[nodiscard]] std::size_t failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t cancelled() const noexcept { return cancelled_; }

  /// All, where none has failed; else what came of each item, or nothing where none fared better.
  [[nodiscard]] std::vector<Out> values() && { return std::move(values_); }
  [[nodiscard]] std::vector<outcome<Out>> outcomes() && {
    return together_ == outcomes_.size() ? std::vector<outcome<Out>>() : std::move(outcomes_);
  }

 private:
  void add_value(Out&& value) {
    if (failed_ == 0)
      values_.push_back(std::move(value));
    else
      outcomes_.emplace_back(std::move(value));
  }
  void add_failure(std::exception_ptr failure) {
    if (failed_++ == 0) {
      failure_ = failure;
      outcomes_.reserve(values_.size() + 1);
      for (Out& one : values_) outcomes_.emplace_back(std::move(one));
      values_.clear();
    }
    outcomes_.emplace_back(std::move(failure));
  }

  std::vector<Out> values_;             // while none has failed
  std::vector<outcome<Out>> outcomes_;  // from then on
  std::exception_ptr failure_;
  std::size_t failed_ = 0;
  std::size_t cancelled_ = 0;
  std::size_t together_ = 0;  // the first, that have one failure
};

}  // namespace topos::detail
