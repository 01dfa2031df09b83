// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Launches as Kokkos' tools see them.

#include <cstdint>
#include <topos/core/config.hpp>

namespace topos::backend {

/// Shows a launch on a stream to Kokkos' tools, where some are loaded, as long as it lives.
class profiled_launch {
 public:
  template <class Stream>
  profiled_launch(const char* label, const Stream& stream)
      : is_on_(Kokkos::Tools::profileLibraryLoaded()) {
    if (is_on_)
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(stream.space()),
                                      &kernel_);
  }
  ~profiled_launch() {
    if (is_on_) Kokkos::Tools::endParallelFor(kernel_);
  }
  profiled_launch(const profiled_launch&) = delete;
  profiled_launch& operator=(const profiled_launch&) = delete;

 private:
  const bool is_on_;
  std::uint64_t kernel_ = 0;
};

}  // namespace topos::backend
