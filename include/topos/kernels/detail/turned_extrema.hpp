// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the first extrema of short rows lie, on the host: by the lanes of neighbouring rows.

#include <algorithm>
#include <cstdint>
#include <topos/kernels/detail/turned_rows.hpp>
#include <type_traits>

namespace topos::detail::host_rows {

/// Where the first extremum of each of some turned rows lies.
template <class Before, class T>
class turned_extrema {
  static constexpr bool has_lanes = lane::width<lane::made_of<T>> > 1;
  static constexpr index_t width = lane::width<lane::made_of<T>>;

 public:
  /// Rows of fewer columns are turned, since one by one they take longer: as long as a block has as
  /// many as lanes at least, and leaves some room to others.
  static constexpr index_t too_long =
      has_lanes ? std::min<index_t>(80, most_together * 7 / 8 / (sizeof(T) > 4 ? 2 : 1) /
                                            std::max<index_t>(width, short_row))
                : 64;

  turned_extrema(const turned_rows<T>& turned, index_t columns, index_t rows) {
    index_t r = 0;
    if constexpr (has_lanes) {
      for (; r + width <= rows; r += width) {
        auto best = lane::load(turned.at(0) + r);
        auto number = lane::splat(static_cast<T>(0));
        for (index_t c = 1; c < columns; ++c) {
          const auto with = lane::load(turned.at(c) + r);
          const auto better = Before{}.lanes(with, best);
          best = lane::select(better, with, best);
          number = lane::select(better, lane::splat(static_cast<T>(c)), number);
        }
        lane::store(numbers_ + r, number);
      }
    }
    // The others, down columns, of which compilers make lanes: the best where the first ones were.
    T* const best = turned.at(0);
    std::fill(numbers_ + r, numbers_ + rows, number_type(0));
    for (index_t c = 1; c < columns; ++c) {
      const T* const with = turned.at(c);
      const auto number = static_cast<number_type>(c);
      TOPOS_INDEPENDENT_STEPS
      for (index_t i = r; i < rows; ++i) {
        const bool better = Before{}(with[i], best[i]);
        best[i] = better ? with[i] : best[i];
        numbers_[i] = better ? number : numbers_[i];
      }
    }
  }

  [[nodiscard]] std::int64_t operator[](index_t r) const {
    return static_cast<std::int64_t>(numbers_[r]);
  }

 private:
  // So low that all types but bool have them, and by lanes in those of what is compared.
  using number_type = std::conditional_t<has_lanes, T, std::int32_t>;
  number_type numbers_[most_short_rows];
};

}  // namespace topos::detail::host_rows
