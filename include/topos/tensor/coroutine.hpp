// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Waiting for a tensor in a coroutine: `co_await x`.

#include <coroutine>
#include <exception>
#include <topos/async/event.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>

namespace topos {

namespace detail {

/// What `co_await` of a tensor waits by.
template <class T, std::size_t Rank>
class tensor_awaiter {
 public:
  explicit tensor_awaiter(tensor<T, Rank> x) : x_(std::move(x)) {}

  [[nodiscard]] bool await_ready() const { return x_.is_ready(); }
  void await_suspend(std::coroutine_handle<> waiting) const {
    when_ready(x_.memory(), [waiting](const std::exception_ptr&) { waiting.resume(); });
  }
  tensor<T, Rank> await_resume() const { return x_.block_until_ready(); }

 private:
  tensor<T, Rank> x_;
};

}  // namespace detail

/// Suspends a coroutine until the tensor is computed, gives the tensor, and rethrows what its
/// computation failed with. The coroutine goes on at once where the tensor is ready, and else where
/// on_ready calls back: see there for what it may do. On the CPU it must not wait for further work
/// there, as `sum(x).item()` does, which throws if the coroutine was suspended: it awaits that,
/// too, `co_await eval(sum(x))`. A scope of a thread (`queue_scope`,
/// `default_device`, `in_place_scope`, `transfer_guard`) must not reach across it: the coroutine
/// may go on on another thread.
template <element T, std::size_t Rank>
[[nodiscard]] detail::tensor_awaiter<T, Rank> operator co_await(tensor<T, Rank> x) {
  return detail::tensor_awaiter<T, Rank>(std::move(x));
}

}  // namespace topos
