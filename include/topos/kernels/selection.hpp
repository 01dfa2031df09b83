// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which keys can be among the smallest: the others need not be sorted.

#include <algorithm>
#include <topos/core/config.hpp>
#include <topos/core/shape.hpp>

namespace topos::detail {

/// Groups of keys whose minima say how large the first `kept` keys are at most. With twice as many
/// as are kept, random keys leave some 1.4 times those.
[[nodiscard]] inline index_t selection_groups(index_t kept) {
  return std::max<index_t>(32, 2 * kept);
}

/// Whether to leave out of a sort of n keys those that cannot be among the first `kept`. The fewer
/// bytes keys have, the quicker they are sorted.
template <class Key>
[[nodiscard]] bool selects(index_t kept, index_t n) {
  return kept > 0 && n >= 2 * selection_groups(kept) &&
         n >= 32 / static_cast<index_t>(sizeof(Key)) * kept;
}

namespace host_rows {

/// Keys that are looked at together.
inline constexpr index_t selection_block = 64;

/// Whether one of a block of keys is within a limit.
template <class Key>
bool has_any_within(const Key* keys, Key limit) {
  Key least = keys[0];
  TOPOS_STEPS_TO_LEAST
  for (index_t k = 1; k < selection_block; ++k) least = keys[k] < least ? keys[k] : least;
  return least <= limit;
}

/// Moves those of n keys that can be among the first `kept` of a stable sort to the front, in
/// their order, with the numbers of where they were; says how many they are. `spare` is room for
/// as many keys as there are groups.
template <class Key, class Number>
index_t select(Key* keys, Number* numbers, index_t n, index_t kept, Key* spare) {
  // Neighbours are in different groups. Of `kept` groups the smallest key is within the limit.
  const index_t groups = selection_groups(kept);
  std::copy(keys, keys + groups, spare);
  for (index_t j = groups; j < n; j += groups) {
    const Key* const from = keys + j;
    const index_t count = std::min(groups, n - j);
    TOPOS_INDEPENDENT_STEPS
    for (index_t g = 0; g < count; ++g) spare[g] = from[g] < spare[g] ? from[g] : spare[g];
  }
  std::nth_element(spare, spare + (kept - 1), spare + groups);
  const Key most = spare[kept - 1];
  Key limit = most;
  index_t found = 0;
  for (index_t j = 0; j < n; j += selection_block) {
    const index_t past = std::min(j + selection_block, n);
    if (past - j == selection_block && !has_any_within(keys + j, limit)) continue;
    for (index_t k = j; k < past; ++k) {  // without a branch: none could be foretold
      const Key key = keys[k];
      keys[found] = key;
      numbers[found] = static_cast<Number>(k);
      found += key <= limit ? 1 : 0;
    }
    // Of keys that equal the limit only the first count.
    if (limit == most && found >= kept) {
      if (most == 0) break;
      --limit;
    }
  }
  return found;
}

}  // namespace host_rows

}  // namespace topos::detail
