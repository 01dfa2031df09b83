// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements of a tensor that nobody else may keep.

#include <span>
#include <topos/memory/buffer.hpp>
#include <utility>

namespace topos {

/// A span of elements that keeps their memory, as long as it or a copy of it lives.
template <class T>
class kept_span : public std::span<const T> {
 public:
  kept_span(std::span<const T> elements, buffer memory) noexcept
      : std::span<const T>(elements), memory_(std::move(memory)) {}

 private:
  buffer memory_;
};

}  // namespace topos
