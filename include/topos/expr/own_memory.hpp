// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether an expression may be computed into memory that it reads.

#include <cstddef>
#include <topos/core/layout.hpp>
#include <topos/expr/operand.hpp>
#include <topos/memory/buffer.hpp>

namespace topos::detail {

/// How an expression holds memory that it is to be computed into.
struct own_memory {
  const buffer& memory;
  std::size_t leaves = 0;  // that hold it, and read each element where it is to be written
  bool apart = false;      // something reads it otherwise

  template <expression E, std::size_t Rank>
  void find(const E& e, const layout<Rank>& target) {
    if constexpr (requires { e.parts.each(*this); }) {
      e.parts.each([&](const auto& part) { find(part, target); });
    } else if constexpr (requires { e.source.memory == memory; }) {
      if (e.source.memory != memory) return;
      ++leaves;
      if constexpr (E::rank == Rank)
        apart = apart || e.where != target;
      else
        apart = true;
    } else {
      apart = apart || reads_from(memory, e);
    }
  }
};

}  // namespace topos::detail
