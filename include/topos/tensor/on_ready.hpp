// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What to do once a tensor is computed, without waiting for it.

#include <concepts>
#include <exception>
#include <topos/async/event.hpp>
#include <topos/tensor/tensor.hpp>
#include <utility>

namespace topos {

/// Calls `callback(failure)` once: when the tensor is computed, with null or with what its
/// computation failed with. Returns at once, but where the tensor is ready it is called before.
///
/// On the CPU it is called on the own thread of the tensor's queue, which it holds up: it must not
/// wait for work that is still queued, which throws. On a GPU it is called on a thread for
/// callbacks, and holds up those after it. It may enqueue work. What it throws
/// is dropped. It has to be copyable.
template <element T, std::size_t Rank, std::invocable<std::exception_ptr> Callback>
void on_ready(const tensor<T, Rank>& x, Callback callback) {
  detail::when_ready(x.memory(), std::move(callback));
}

}  // namespace topos
