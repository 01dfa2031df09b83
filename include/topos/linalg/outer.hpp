// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All products of two elements.

#include <source_location>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/views.hpp>

namespace topos {

/// All products of an element of a and one of b, each taken in row-major order, as an expression of
/// two axes. Throws `device_mismatch`.
template <operand A, operand B>
[[nodiscard]] auto outer(const A& a, const B& b,
                         std::source_location where = std::source_location::current()) {
  return multiply(expand_dims(detail::flattened(a), 1), expand_dims(detail::flattened(b), 0),
                  where);
}

}  // namespace topos
