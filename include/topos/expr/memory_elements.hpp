// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements in memory, as the rows of a kernel see them: by number, by lanes, or some neighbours at
/// once.

#include <cstdint>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <type_traits>

namespace topos::detail {

/// Neighbouring elements that a thread of a device takes at once: by loads of 16 bytes, the most
/// that there is, to which they are aligned, or to their size if that is less.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) pack {
  T value[N];
};

/// Elements that go into 16 bytes.
template <class T>
inline constexpr int pack_size = sizeof(T) < 16 ? static_cast<int>(16 / sizeof(T)) : 1;

template <class T, int N>
KOKKOS_FUNCTION bool is_packed(const T* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(pack<T, N>) == 0;
}

/// Elements in memory.
template <class T>
struct memory_elements {
  using value_type = T;
  using in_memory = T;  ///< The type that is loaded.
  const T* data;

  friend bool operator==(const memory_elements&, const memory_elements&) = default;
  /// Where they are, and the same of other memory.
  [[nodiscard]] const T* address() const { return data; }
  [[nodiscard]] static memory_elements of(const T* from) { return {from}; }
  /// Those from element o on, of which nothing is fetched.
  [[nodiscard]] memory_elements from(index_t o) const { return {data + o}; }
  KOKKOS_FUNCTION T operator()(index_t o) const {
    // Loops that read truths as such are not made lanes of.
    if constexpr (std::is_same_v<T, bool>)
      return reinterpret_cast<const unsigned char*>(data)[o] != 0;
    else
      return data[o];
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION pack<T, N> packed(index_t o) const {
    return *reinterpret_cast<const pack<T, N>*>(data + o);
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION bool packs(index_t o) const {
    return is_packed<T, N>(data + o);
  }
  [[nodiscard]] auto lanes(index_t o, lane::all) const requires lane::element<lane::made_of<T>> {
    return lane::load(data + o);
  }
  [[nodiscard]] auto lanes(index_t o,
                           index_t count) const requires lane::element<lane::made_of<T>> {
    return lane::load_partial(data + o, count);
  }
  [[nodiscard]] auto lanes_apart(index_t o,
                                 index_t step) const requires lane::element<lane::made_of<T>> {
    return lane::load_apart(data + o, step);
  }
  template <class To>
    requires lane::widens<T, To>
  [[nodiscard]] auto wide_lanes(index_t o, lane::all) const {
    return lane::load_wide<To>(data + o);
  }
  template <class To>
    requires lane::widens<T, To>
  [[nodiscard]] auto wide_lanes(index_t o, index_t count) const {
    return lane::load_wide<To>(data + o, count);
  }
  template <class To>
    requires lane::widens<T, To>
  [[nodiscard]] auto wide_lanes_apart(index_t o, index_t step) const {
    return lane::load_wide_apart<To>(data + o, step);
  }
};

/// Elements in memory as those of a wider type.
template <class Elements, class To>
struct widened_elements {
  using value_type = To;
  using in_memory = typename Elements::in_memory;
  Elements elements;

  friend bool operator==(const widened_elements&, const widened_elements&) = default;
  [[nodiscard]] const in_memory* address() const { return elements.address(); }
  [[nodiscard]] static widened_elements of(const in_memory* from) { return {Elements::of(from)}; }
  [[nodiscard]] auto from(index_t o) const {
    return widened_elements<decltype(elements.from(o)), To>{elements.from(o)};
  }
  KOKKOS_FUNCTION To operator()(index_t o) const { return static_cast<To>(elements(o)); }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION pack<To, N> packed(index_t o) const {
    const auto narrow = elements.template packed<N>(o);
    pack<To, N> result;
    for (int i = 0; i < N; ++i) result.value[i] = static_cast<To>(narrow.value[i]);
    return result;
  }
  template <int N>
  [[nodiscard]] KOKKOS_FUNCTION bool packs(index_t o) const {
    return elements.template packs<N>(o);
  }
  template <class Count>
  [[nodiscard]] auto lanes(index_t o, Count count) const {
    return elements.template wide_lanes<To>(o, count);
  }
  [[nodiscard]] auto lanes_apart(index_t o, index_t step) const {
    return elements.template wide_lanes_apart<To>(o, step);
  }
};

/// Elements in memory of which a loop's next ones are fetched into the caches meanwhile: see
/// fetch_distance.hpp.
template <class T>
struct fetched_elements : memory_elements<T> {
  index_t ahead = 0;  ///< From what is loaded to what is fetched then.

  friend bool operator==(const fetched_elements&, const fetched_elements&) = default;
  [[nodiscard]] static fetched_elements of(const T* from) { return {{from}}; }
  template <class Count>
    requires lane::element<lane::made_of<T>>
  [[nodiscard]] auto lanes(index_t o, Count count) const {
    // Not one by one: compilers make no lanes of loops that fetch.
    if constexpr (std::is_same_v<Count, lane::all> && (lane::width<lane::made_of<T>>) > 1)
      __builtin_prefetch(this->data + o + ahead);
    return memory_elements<T>::lanes(o, count);
  }
  template <class To, class Count>
    requires lane::widens<T, To>
  [[nodiscard]] auto wide_lanes(index_t o, Count count) const {
    if constexpr (std::is_same_v<Count, lane::all>) __builtin_prefetch(this->data + o + ahead);
    return memory_elements<T>::template wide_lanes<To>(o, count);
  }
};

}  // namespace topos::detail
