// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of keys sorted where they lie, and values that move with them.

#include <source_location>
#include <topos/async/queues.hpp>
#include <topos/kernels/long_sort.hpp>
#include <topos/tensor/tensor.hpp>
#include <vector>

namespace topos::detail {

/// Sorts each row of keys by all teams, and puts values, unless null, in the order of their keys,
/// of equal ones the first first. There is a key at least. Returns at once. `name` is the
/// operation's in errors.
template <class Key, class Value, std::size_t Rank>
void sort_by(const tensor<Key, Rank>& keys, const tensor<Value, Rank>* values, const char* name,
             std::source_location where) {
  const device d = keys.device();
  const index_t columns = keys.shape()[Rank - 1];
  const index_t count = keys.size() / columns;
  const index_t piece = sort_piece(d);
  const tensor<Key, Rank> other_keys(keys.shape(), d, where);
  const tensor<index_t, 1> counts({sort_counts<Key>(d, count, columns, piece)}, d, where);
  keyed<Key, Value> these{keys.data(), nullptr};
  keyed<Key, Value> others{other_keys.data(), nullptr};
  std::vector<buffer> all{keys.memory(), other_keys.memory(), counts.memory()};
  if (values) {
    const tensor<Value, Rank> other_values(keys.shape(), d, where);
    these.numbers = values->data();
    others.numbers = other_values.data();
    all.push_back(values->memory());
    all.push_back(other_values.memory());
  }
  // What is written is read, too.
  queue_of(d, where).submit(
      all, all, keys.size() * 16,
      [=, room = counts.data()](const auto& stream) {
        sort_rows(stream, these, others, count, columns, piece, room);
      },
      name, where);
}

}  // namespace topos::detail
