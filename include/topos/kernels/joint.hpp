// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Several kernels over one grid as one launch: what they read in common is read once, and what
/// they compute in common where they know how.

#include <topos/backend/backend.hpp>
#include <topos/core/config.hpp>
#include <topos/kernels/detail/shared_blocks.hpp>
#include <utility>

namespace topos::detail {

template <std::size_t I, class Kernel>
struct joined {
  Kernel kernel;
};

/// Whether the items of some kernels can be done as one: `shares(others...)` then says whether it
/// gains to do so, and `run_with(team, i, others...)` is item i of all.
template <class Kernel, class... Others>
concept can_share = requires(const Kernel& kernel, const Others&... others) {
  kernel.shares(others...);
};

template <class Indices, class... Kernels>
struct joint_kernel_of;

/// Item i is item i of each kernel: of all at once where they share what they compute, else one
/// after the other.
template <std::size_t... I, class... Kernels>
struct joint_kernel_of<std::index_sequence<I...>, Kernels...> : joined<I, Kernels>... {
  static constexpr bool may_share_blocks = host_rows::may_share_blocks<Kernels...>;

  bool shared;
  host_rows::together on_host = host_rows::together::nothing;  // and if it is something, not so

  explicit joint_kernel_of(const Kernels&... kernels)
      : joined<I, Kernels>{kernels}..., shared(share(kernels...)) {
    if constexpr (may_share_blocks) {
      if (!shared || has_parts_of_its_own(kernels...)) on_host = host_rows::shared_by(kernels...);
    }
  }

  /// Whether items are done as one for what their blocks have in common.
  [[nodiscard]] bool shares_on_host() const { return on_host != host_rows::together::nothing; }

  TOPOS_HOST_BRANCH
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t i) const {
    if constexpr (Team::on_host && may_share_blocks) {
      if (shares_on_host())
        return host_rows::run_together(on_host, i, joined<I, Kernels>::kernel...);
    }
    if (shared) return run_shared(team, i, joined<I, Kernels>::kernel...);
    (joined<I, Kernels>::kernel(team, i), ...);
  }

 private:
  template <class First, class... Rest>
  static bool share(const First& first, const Rest&... rest) {
    if constexpr (can_share<First, Rest...>)
      return first.shares(rest...);
    else
      return false;
  }
  // Whether it gains to write down what the elements that all kernels share have in common: that is
  // not found as they are shared, but where they are computed in runs.
  template <class First, class... Rest>
  static bool has_parts_of_its_own(const First& first, const Rest&... /*rest*/) {
    if constexpr (host_rows::takes_blocks<First>)
      return !first.paired_on_host.any() &&
             host_rows::own_gain(first, first.columns) >
                 host_rows::weight_of_keeping * static_cast<int>(2 + sizeof...(Rest));
    else
      return false;
  }
  template <class Team, class First, class... Rest>
  static KOKKOS_FUNCTION void run_shared(const Team& team, index_t i, const First& first,
                                         const Rest&... rest) {
    if constexpr (can_share<First, Rest...>) first.run_with(team, i, rest...);
  }
};

template <class... Kernels>
using joint_kernel = joint_kernel_of<std::index_sequence_for<Kernels...>, Kernels...>;

}  // namespace topos::detail
