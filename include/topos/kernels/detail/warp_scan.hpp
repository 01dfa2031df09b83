// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A part of a row that one warp of a device's team scans.

#include <topos/expr/operation_row.hpp>
#include <topos/expr/operations.hpp>
#include <topos/kernels/detail/scan_total.hpp>
#include <topos/kernels/detail/team_scan.hpp>

namespace topos::detail::device_rows {

/// The most elements of a part.
inline constexpr int scanned_part = 512;

/// Elements [first, past) of a row, or as many of them as make a part; made by all lanes of a warp,
/// each of which has packs of neighbours, between which those of the other lanes are. What is
/// combined in which order depends on how many elements there are.
template <class Team, class Op, class Running, class T>
class warp_scan {
 public:
  using kept = scan_total<Op, Running>;
  using total_type = typename kept::type;

  /// `room` is memory of the warp's for a part, aligned as a pack.
  template <class Row>
  KOKKOS_FUNCTION warp_scan(const Team& team, const Op& op, const Row& row, index_t first,
                            index_t past, const total_type& neutral, T* room)
      : team_(team),
        op_(op),
        count_(static_cast<int>(past - first < scanned_part ? past - first : scanned_part)),
        room_(room),
        total_(neutral) {
    load_from(row, first, static_cast<T>(kept::value(neutral)));
    if (count_ <= of_warp) {
      scan_packs<1>(0, neutral);
    } else {
      // As many as registers are left for.
      constexpr int at_once = sizeof(T) > 4 ? 2 : packs;
      TOPOS_UNROLLED
      for (int p = 0; p < packs; p += at_once) scan_packs<at_once>(p, neutral);
    }
  }

  /// What all elements come to.
  [[nodiscard]] KOKKOS_FUNCTION const total_type& total() const { return total_; }

  /// Writes what each element comes to with all before it and `start`, to every step-th.
  template <class To>
  KOKKOS_FUNCTION void write(const total_type& start, To* out, index_t step) {
    TOPOS_UNROLLED
    for (int p = 0; p < packs; ++p) {
      if (p * of_warp >= count_) break;
      Running so_far = kept::value(kept::join(op_, start, before_[p]));
      TOPOS_UNROLLED
      for (int k = 0; k < width; ++k) {
        T& value = values_[p].value[k];
        so_far = op_(so_far, static_cast<Running>(value));
        value = static_cast<T>(so_far);
      }
    }
    if (step == 1 && count_ == scanned_part && is_packed<To, width>(out)) return store<To>(out);
    team_.warp_barrier();
    store<T>(room_);
    team_.warp_barrier();
    for (int k = team_.lane(); k < count_; k += Team::lanes)
      out[k * step] = convert_op<To>{}(room_[k]);
  }

 private:
  static constexpr int width = pack_size<T> > 4 ? pack_size<T> : 4;
  static constexpr int of_warp = width * Team::lanes;
  static constexpr int packs = scanned_part / of_warp;

  // The first element of a lane's pack.
  [[nodiscard]] KOKKOS_FUNCTION int place(int p) const {
    return p * of_warp + team_.lane() * width;
  }

  // The totals of some packs, which do not wait for each other.
  template <int Count>
  KOKKOS_FUNCTION void scan_packs(int first, const total_type& neutral) {
    using totals = pack<total_type, Count>;
    totals mine;
    totals none;
    TOPOS_UNROLLED
    for (int p = 0; p < Count; ++p) {
      mine.value[p] = kept::of(op_, neutral, values_[first + p]);
      none.value[p] = neutral;
    }
    const auto found = team_.scan_lanes(mine, none, [&](const totals& a, const totals& b) {
      totals both;
      TOPOS_UNROLLED
      for (int p = 0; p < Count; ++p) both.value[p] = kept::join(op_, a.value[p], b.value[p]);
      return both;
    });
    TOPOS_UNROLLED
    for (int p = 0; p < Count; ++p) {
      before_[first + p] = kept::join(op_, total_, found.before.value[p]);
      total_ = kept::join(op_, total_, found.all.value[p]);
    }
  }

  // Straight, if it lies so and is quick to compute; else through the warp's memory.
  template <class Row>
  KOKKOS_FUNCTION void load_from(const Row& row, index_t first, T neutral) {
    if constexpr (Row::is_quick) {
      if (count_ == scanned_part && is_contiguous(row)) {
        const auto dense = contiguous(row);
        if (dense.template packs<pack_size<T>>(first)) return load(dense, first);
      }
    }
    team_.warp_barrier();
    const int padded = count_ <= of_warp ? of_warp : scanned_part;
    for (int k = team_.lane(); k < padded; k += Team::lanes)
      room_[k] = k < count_ ? row[first + k] : neutral;
    team_.warp_barrier();
    load(memory_row<T>{{room_}}, 0);
  }

  template <class Row>
  KOKKOS_FUNCTION void load(const Row& row, index_t first) {
    constexpr int size = pack_size<T>;
    TOPOS_UNROLLED
    for (int p = 0; p < packs; ++p) {
      if (p > 0 && count_ <= of_warp) break;
      TOPOS_UNROLLED
      for (int k = 0; k < width; k += size) {
        const auto some = row.template packed<size>(first + place(p) + k);
        TOPOS_UNROLLED
        for (int i = 0; i < size; ++i) values_[p].value[k + i] = some.value[i];
      }
    }
  }

  template <class To>
  KOKKOS_FUNCTION void store(To* out) const {
    TOPOS_UNROLLED
    for (int p = 0; p < packs; ++p) {
      if (p * of_warp >= count_) break;
      pack<To, width> made;
      TOPOS_UNROLLED
      for (int k = 0; k < width; ++k) made.value[k] = convert_op<To>{}(values_[p].value[k]);
      reinterpret_cast<pack<To, width>*>(out)[p * Team::lanes + team_.lane()] = made;
    }
  }

  const Team& team_;
  const Op& op_;
  int count_;
  T* room_;
  pack<T, width> values_[packs];
  total_type before_[packs];
  total_type total_;
};

}  // namespace topos::detail::device_rows
