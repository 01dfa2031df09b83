// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which keys of a long row stand at some place in its order, found by the host without sorting it:
/// a sample says between which two keys that is, and one pass counts what is below and keeps what
/// is between. Floyd and Rivest, "Expected time bounds for selection", 1975.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <topos/kernels/rows.hpp>
#include <vector>

namespace topos::detail::host_rows {

/// Columns that one item looks at.
inline constexpr index_t selected_piece = index_t{1} << 16;

/// The key at a place, the next one, and the largest of all.
template <class Key>
struct neighbours {
  Key at;
  Key next;
  Key largest;
};

/// What a piece has of the keys below, at and between two others, and its largest.
template <class Key>
struct piece_counts {
  index_t below = 0;
  index_t low = 0;
  index_t high = 0;
  index_t between = 0;
  Key largest = 0;
};

/// Item i counts a piece of a row, and moves what is between to where the piece begins in `kept`.
template <class Key, class Row>
struct bracket_kernel {
  Row row;
  index_t columns;
  Key low;
  Key high;
  Key* kept;
  piece_counts<Key>* counts;

  template <class Team>
  void operator()(const Team& /*team*/, index_t i) const {
    const index_t first = i * selected_piece;
    const index_t past = std::min(first + selected_piece, columns);
    const Key width = low < high ? static_cast<Key>(high - low - 1) : Key(0);
    Key* to = kept + first;
    piece_counts<Key> all;
    for (index_t c = first; c < past; c += at_once) {
      const index_t n = std::min(at_once, past - c);
      Key keys[at_once];
      assign(keys, 1, row, c, c + n);
      count(all, keys, static_cast<int>(n));
      for (index_t k = 0; k < n; ++k) {  // without a branch: none could be foretold
        *to = keys[k];
        to += static_cast<Key>(keys[k] - low - 1) < width ? 1 : 0;
      }
    }
    all.between = to - (kept + first);
    counts[i] = all;
  }

 private:
  static constexpr index_t at_once = 1024;

  void count(piece_counts<Key>& all, const Key* keys, int n) const {
    int below = 0;
    int at_low = 0;
    int at_high = 0;
    Key largest = all.largest;
    TOPOS_INDEPENDENT_STEPS
    for (int k = 0; k < n; ++k) {
      below += keys[k] < low ? 1 : 0;
      at_low += keys[k] == low ? 1 : 0;
      at_high += keys[k] == high ? 1 : 0;
      largest = keys[k] > largest ? keys[k] : largest;
    }
    all.below += below;
    all.low += at_low;
    all.high += at_high;
    all.largest = largest;
  }
};

/// Finds neighbours in a row; `room` is for as many keys as it has columns.
template <class Key>
class selection {
 public:
  selection(index_t columns, Key* room)
      : columns_(columns),
        kept_(room),
        pieces_(static_cast<std::size_t>((columns + selected_piece - 1) / selected_piece)) {}

  template <class Stream, class Row>
  [[nodiscard]] neighbours<Key> find(const Stream& stream, const Row& row, index_t place) {
    choose_bracket(row, place);
    const auto items = static_cast<index_t>(pieces_.size());
    stream.for_each("topos::select", items, 2 * selected_piece, 0,
                    bracket_kernel<Key, Row>{row, columns_, low_, high_, kept_, pieces_.data()});
    add_up();
    const index_t next = std::min(place + 1, columns_ - 1);
    if (place < all_.below || next >= columns_ - above()) {  // the sample was not like the row
      assign(kept_, 1, row, 0, columns_);
      all_ = {0, 0, 0, columns_, all_.largest};
    }
    Key* const past = kept_ + all_.between;
    const index_t before = all_.below + all_.low;
    const auto of_kept = [&](index_t p) { return p >= before && p < before + all_.between; };
    if (of_kept(place)) std::nth_element(kept_, kept_ + (place - before), past);
    const auto key_at = [&](index_t p) {
      if (p < before) return low_;
      if (!of_kept(p)) return high_;
      if (p == place) return kept_[p - before];
      return *std::min_element(kept_ + (p - before), past);
    };
    return {key_at(place), key_at(next), all_.largest};
  }

 private:
  static constexpr index_t segment = 64;  // neighbours that are sampled together

  // Keys that are, but for one in some thousand rows, on either side of the place.
  template <class Row>
  void choose_bracket(const Row& row, index_t place) {
    const index_t segments = std::clamp<index_t>(columns_ / (128 * segment), 128, 1024);
    const index_t apart = columns_ / segments;
    std::uint32_t random = 1;
    for (index_t s = 0; s < segments; ++s) {
      random = random * 1664525U + 1013904223U;
      const index_t from = s * apart + static_cast<index_t>(random >> 8) % (apart - segment + 1);
      assign(kept_ + s * segment, 1, row, from, from + segment);
    }
    const index_t count = segments * segment;
    const double share = static_cast<double>(place) / static_cast<double>(columns_ - 1);
    const auto middle = static_cast<index_t>(share * static_cast<double>(count));
    const auto margin =
        static_cast<index_t>(3.5 * std::sqrt(static_cast<double>(count) * share * (1 - share)) + 8);
    const auto key_at = [&](index_t p) {
      std::nth_element(kept_, kept_ + p, kept_ + count);
      return kept_[p];
    };
    low_ = middle > margin ? key_at(middle - margin) : Key(0);
    high_ = middle + margin < count ? key_at(middle + margin) : static_cast<Key>(~Key(0));
  }

  // Of all pieces, whose keys between move to the front.
  void add_up() {
    all_ = {};
    const Key* from = kept_;
    for (const piece_counts<Key>& piece : pieces_) {
      std::copy(from, from + piece.between, kept_ + all_.between);
      from += selected_piece;
      all_.below += piece.below;
      all_.low += piece.low;
      all_.high += piece.high;
      all_.between += piece.between;
      all_.largest = std::max(all_.largest, piece.largest);
    }
    if (low_ == high_) all_.high = 0;
  }

  // Keys beyond the bracket.
  [[nodiscard]] index_t above() const {
    return columns_ - all_.below - all_.low - all_.between - all_.high;
  }

  index_t columns_;
  Key* kept_;
  std::vector<piece_counts<Key>> pieces_;
  piece_counts<Key> all_;
  Key low_ = 0;
  Key high_ = 0;
};

}  // namespace topos::detail::host_rows
