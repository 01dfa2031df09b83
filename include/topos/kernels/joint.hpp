// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Several kernels over one grid as one launch: what they read in common is read once.

#include <topos/backend/backend.hpp>
#include <topos/core/config.hpp>
#include <utility>

namespace topos::detail {

template <std::size_t I, class Kernel>
struct joined {
  Kernel kernel;
};

template <class Indices, class... Kernels>
struct joint_kernel_of;

/// Item i is item i of each kernel, one after the other.
template <std::size_t... I, class... Kernels>
struct joint_kernel_of<std::index_sequence<I...>, Kernels...> : joined<I, Kernels>... {
  explicit joint_kernel_of(const Kernels&... kernels) : joined<I, Kernels>{kernels}... {}

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    (joined<I, Kernels>::kernel(team, i), ...);
  }
};

template <class... Kernels>
using joint_kernel = joint_kernel_of<std::index_sequence_for<Kernels...>, Kernels...>;

}  // namespace topos::detail
