// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a device has no memory left: who keeps some gives it back, and it is asked again.

#include <atomic>
#include <topos/core/error.hpp>
#include <topos/core/visibility.hpp>

namespace topos::backend {

/// What `ask` returns; where there is no memory for it, asked once more after `make_room`.
template <class Ask, class MakeRoom>
auto ask_twice(const Ask& ask, const MakeRoom& make_room) {
  try {
    return ask();
  } catch (const out_of_memory&) {
    make_room();
  }
  return ask();
}

/// Gives back what is kept of a GPU's memory, by its index: set by who keeps it.
[[nodiscard]] TOPOS_SHARED inline std::atomic<void (*)(int)>& gpu_room() noexcept {
  static std::atomic<void (*)(int)> maker{nullptr};
  return maker;
}

/// The same for what libraries and kernels ask a GPU for by themselves.
template <class Ask>
void ask_gpu_twice(int index, const Ask& ask) {
  ask_twice(ask, [&] {
    if (const auto maker = gpu_room().load()) maker(index);
  });
}

}  // namespace topos::backend
