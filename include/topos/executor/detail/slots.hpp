// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where batches run: a replica has two slots, so that it can prepare a batch while its device
/// computes another. They are numbered through, replica by replica.

#include <cstddef>

namespace topos::detail::slots {

/// The first slot of a replica's; of the number of replicas, how many slots there are.
[[nodiscard]] constexpr std::size_t first_of(std::size_t replica) noexcept { return 2 * replica; }

[[nodiscard]] constexpr std::size_t replica_of(std::size_t slot) noexcept { return slot / 2; }

/// The replica's other one.
[[nodiscard]] constexpr std::size_t other_of(std::size_t slot) noexcept { return slot ^ 1; }

}  // namespace topos::detail::slots
