// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a kernel sees of a CUDA GPU, the threads of a block, and how one is launched.

#include <cstdint>
#include <cstring>
#include <topos/backend/kind.hpp>
#include <topos/core/config.hpp>

#if TOPOS_HAS_CUDA

namespace topos::backend {

/// The threads of one block at work on one item of a launch: what a kernel sees as its team. They
/// are numbered warp by warp.
class device_team {
 public:
  static constexpr bool on_host = false;

  /// Threads that run in step.
  static constexpr int lanes = warp_size;

  KOKKOS_FUNCTION explicit device_team(void* scratch) : scratch_(scratch) {}

  /// Memory that the whole team shares, as large as the launch asked for.
  [[nodiscard]] KOKKOS_FUNCTION void* scratch() const { return scratch_; }

  /// How many threads a launch has at work on items of a cost, at least.
  [[nodiscard]] static constexpr KOKKOS_FUNCTION int threads_of(index_t cost) {
    return cost >= most_threads ? most_threads : cost >= 64 ? 64 : lanes;
  }

  /// The threads of the team, and this one's number.
  [[nodiscard]] KOKKOS_FUNCTION int threads() const {
    KOKKOS_IF_ON_DEVICE((return static_cast<int>(blockDim.x);))
    KOKKOS_IF_ON_HOST((return 1;))
  }
  [[nodiscard]] KOKKOS_FUNCTION int rank() const {
    KOKKOS_IF_ON_DEVICE((return static_cast<int>(threadIdx.x);))
    KOKKOS_IF_ON_HOST((return 0;))
  }

  /// The warps of the team, this thread's, and the thread's number in that.
  [[nodiscard]] KOKKOS_FUNCTION int warps() const { return threads() / lanes; }
  [[nodiscard]] KOKKOS_FUNCTION int warp() const { return rank() / lanes; }
  [[nodiscard]] KOKKOS_FUNCTION int lane() const { return rank() % lanes; }

  /// All that the team wrote is visible to the team.
  KOKKOS_FUNCTION void barrier() const { KOKKOS_IF_ON_DEVICE((__syncthreads();)) }

  /// The values of the first `count` lanes, combined in their order as a tree; for lane 0. All
  /// lanes of the warp call it.
  template <class T, class Op>
  [[nodiscard]] KOKKOS_FUNCTION T combine_lanes(T value, int count, const Op& op) const {
    for (int step = 1; step < lanes; step *= 2) {
      const T other = of_lane(value, lane() + step);
      if (lane() + step < count) value = static_cast<T>(op(value, other));
    }
    return value;
  }

  /// What the lanes before this one have, combined in their order, and what all have. All lanes of
  /// the warp call it. By doubling: Hillis and Steele, "Data parallel algorithms", 1986.
  template <class T, class Join>
  [[nodiscard]] KOKKOS_FUNCTION scanned<T> scan_lanes(const T& mine, const T& neutral,
                                                      const Join& join) const {
    T so_far = mine;
    for (int step = 1; step < lanes; step *= 2) {
      const T other = of_lane(so_far, lane() - step);
      if (lane() >= step) so_far = join(other, so_far);
    }
    const T before = of_lane(so_far, lane() - 1);
    return {lane() == 0 ? neutral : before, of_lane(so_far, lanes - 1)};
  }

  /// Of the lanes of the warp that have this one's value, if they have any: how many come before
  /// it, and whether it is the last. All lanes call it. Values have so many bits, at most: each is
  /// voted on, which takes less than to look for every value in turn.
  struct equals {
    int before;
    bool is_last;
  };
  template <int Bits>
  [[nodiscard]] KOKKOS_FUNCTION equals equal_lanes(bool has_one, unsigned value) const {
    KOKKOS_IF_ON_DEVICE((return find_equal<Bits>(has_one, value);))
    KOKKOS_IF_ON_HOST((static_cast<void>(has_one); static_cast<void>(value); return {0, true};))
  }

  /// Tells the other teams of a launch a word, and says what was told last: the word alone, nothing
  /// else that was written before it.
  template <class T>
  static KOKKOS_FUNCTION void tell(T* word, T value) {
    *static_cast<volatile T*>(word) = value;
  }
  template <class T>
  [[nodiscard]] static KOKKOS_FUNCTION T told(const T* word) {
    return *static_cast<const volatile T*>(word);
  }

  /// All that a warp wrote is visible to the warp.
  KOKKOS_FUNCTION void warp_barrier() const { KOKKOS_IF_ON_DEVICE((__syncwarp();)) }

  /// The value of lane 0, for all lanes of the warp, all of which call it.
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION T of_lane_0(const T& value) const {
    return of_lane(value, 0);
  }

  /// The values of all threads, combined in their order; for each of them. All threads call it.
  template <class T, class Op>
  [[nodiscard]] KOKKOS_FUNCTION T combine(T value, const Op& op) const {
    value = combine_lanes(value, lanes, op);
    KOKKOS_IF_ON_DEVICE((value = combine_warps(value, op);))
    return value;
  }

 private:
  // What a lane of the warp has.
  template <class T>
  static KOKKOS_FUNCTION T of_lane(const T& value, int lane) {
    KOKKOS_IF_ON_DEVICE((return shuffled(value, lane);))
    KOKKOS_IF_ON_HOST((static_cast<void>(lane); return value;))
  }
  template <class T>
  static __device__ T shuffled(const T& value, int lane) {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned& word : words) word = __shfl_sync(~0U, word, lane);
    T other;
    memcpy(&other, words, sizeof(T));
    return other;
  }

  template <int Bits>
  __device__ equals find_equal(bool has_one, unsigned value) const {
    unsigned same = __ballot_sync(~0U, has_one);
    for (int bit = 0; bit < Bits; ++bit) {
      const bool is_set = (value & (1U << bit)) != 0;
      const unsigned set = __ballot_sync(~0U, is_set);
      same &= is_set ? set : ~set;
    }
    const unsigned up_to = 1U << lane();
    return {__popc(same & (up_to - 1)), same < 2 * std::uint64_t{up_to}};
  }

  // Of what the lanes 0 have.
  template <class T, class Op>
  __device__ T combine_warps(const T& value, const Op& op) const {
    __shared__ alignas(16) unsigned char memory[lanes * sizeof(T)];
    T* const of_warps = reinterpret_cast<T*>(memory);
    barrier();  // what was there was read
    if (lane() == 0) of_warps[warp()] = value;
    barrier();
    T result = of_warps[0];
    for (int w = 1; w < warps(); ++w) result = static_cast<T>(op(result, of_warps[w]));
    return result;
  }

  void* scratch_;
};

/// What is launched: each block works on items until there are none. `memory` is `room` bytes for
/// each block; where it is null they are in its shared memory, and always so where it `Shares`:
/// there the compiler knows where they are.
template <class Kernel, bool Shares>
__global__ void __launch_bounds__(most_threads, 4)
    cuda_items(const __grid_constant__ Kernel kernel, index_t count, unsigned char* memory,
               std::size_t room) {
  extern __shared__ uint4 shared_memory[];
  const device_team team(Shares || memory == nullptr ? static_cast<void*>(shared_memory)
                                                     : memory + blockIdx.x * room);
  for (index_t i = blockIdx.x; i < count; i += gridDim.x) {
    kernel(team, i);
    if (i + gridDim.x < count) team.barrier();
  }
}

}  // namespace topos::backend

#endif
