// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Values in the order of random words, which shuffles them.

#include <cstdint>
#include <source_location>
#include <topos/async/queues.hpp>
#include <topos/kernels/sort.hpp>
#include <topos/memory/buffer.hpp>
#include <topos/tensor/tensor.hpp>
#include <vector>

namespace topos::random::detail {

/// Puts values in the order of their keys, of equal ones the first first, and the keys too. Returns
/// at once.
template <class T>
void sort_by(const tensor<std::uint32_t, 1>& keys, const tensor<T, 1>& values,
             std::source_location where) {
  using pairs = topos::detail::keyed<std::uint32_t, T>;
  const device d = keys.device();
  const index_t n = keys.size();
  const index_t piece = topos::detail::sort_piece(d);
  const tensor<std::uint32_t, 1> other_keys(keys.shape(), d, where);
  const tensor<T, 1> other_values(keys.shape(), d, where);
  const tensor<index_t, 1> counts({topos::detail::sort_counts(1, n, piece)}, d, where);
  const std::vector<buffer> all{keys.memory(), values.memory(), other_keys.memory(),
                                other_values.memory(), counts.memory()};
  topos::detail::queue_of(d, where).submit(
      all, all, 16 * n,
      [n, piece, these = pairs{keys.data(), values.data()},
       others = pairs{other_keys.data(), other_values.data()},
       room = counts.data()](const auto& stream) {
        topos::detail::sort_rows(stream, these, others, 1, n, piece, room);
      },
      "permutation", where);
}

}  // namespace topos::random::detail
