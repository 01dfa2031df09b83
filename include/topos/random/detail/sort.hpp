// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The order of random words, which shuffles what is put into it.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <topos/async/queues.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <vector>

namespace topos::random::detail {

/// Writes the stable order of some words.
struct order_kernel {
  const std::uint32_t* keys;
  std::int64_t* order;
  index_t count;

  template <class Stream>
  void operator()(const Stream& /*stream*/) const {
    if (count > index_t{std::numeric_limits<std::uint32_t>::max()}) {
      std::iota(order, order + count, std::int64_t{0});
      std::stable_sort(order, order + count,
                       [this](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
      return;
    }
    // Positions below their words make all different, and their order the stable one.
    std::vector<std::uint64_t> both(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = std::uint64_t{keys[i]} << 32U | i;
    std::sort(both.begin(), both.end());
    for (std::size_t i = 0; i < both.size(); ++i) {
      order[i] = static_cast<std::int64_t>(both[i] & 0xffffffffU);
    }
  }
};

/// The positions of words in the order of their values; of equal ones, the first first. Returns at
/// once for words on the CPU; others are sorted there and come back.
[[nodiscard]] inline tensor<std::int64_t, 1> order_of(const tensor<std::uint32_t, 1>& keys,
                                                      std::source_location where) {
  if (keys.device() != cpu()) {
    return device_put(order_of(device_put(keys, cpu(), where), where), keys.device(), where);
  }
  tensor<std::int64_t, 1> order(keys.shape(), cpu(), where);
  topos::detail::queue_of(cpu(), where)
      .submit({keys.memory()}, {order.memory()}, 16 * keys.size(),
              order_kernel{keys.data(), order.data(), keys.size()}, "permutation", where);
  return order;
}

}  // namespace topos::random::detail
