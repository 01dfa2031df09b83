// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Several reductions of the same elements as one: each element is read, or computed, once, and
/// combined by each operation in the order in which that operation alone would combine it.

#include <concepts>
#include <cstddef>
#include <topos/expr/operations.hpp>
#include <topos/expr/row.hpp>
#include <topos/kernels/detail/team_reduction.hpp>
#include <type_traits>
#include <utility>

namespace topos::detail {

/// An element of a row, or lanes of them, as it is by itself. g++ would fuse a user's product with
/// the sum that it goes into, but not where it goes into several.
template <class Row, class V>
[[nodiscard, gnu::always_inline]] inline V by_itself(const V& value) {
  if constexpr (!has_elements<Row> && (std::floating_point<V> || floating_lanes<V>))
    return lane::rounded(value);
  else
    return value;
}

/// What each of N operations has combined so far: values, or lanes of them.
template <class T, std::size_t N>
struct joint_values {
  T of[N];
};

template <class T, class B, std::size_t N>
inline void store_lanes(joint_values<T, N>* to, const joint_values<B, N>& lanes) {
  constexpr index_t width = lane::width<lane::value_t<B>>;
  for (std::size_t n = 0; n != N; ++n) {
    T values[width];
    lane::store(values, lanes.of[n]);
    for (index_t i = 0; i < width; ++i) to[i].of[n] = values[i];
  }
}

template <class B, std::size_t N>
inline joint_values<B, N> blended(index_t count, joint_values<B, N> a,
                                  const joint_values<B, N>& b) {
  for (std::size_t n = 0; n != N; ++n) a.of[n] = lane::blended(count, a.of[n], b.of[n]);
  return a;
}

template <class Indices, class... Ops>
struct joint_op_of;

/// The operations side by side, as one.
template <std::size_t... I, class... Ops>
struct joint_op_of<std::index_sequence<I...>, Ops...> : part<I, Ops>... {
  static constexpr std::size_t count = sizeof...(Ops);

  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION auto operator()(const joint_values<T, count>& a,
                                                const joint_values<T, count>& b) const {
    return joint_values<T, count>{{static_cast<T>(part<I, Ops>::value(a.of[I], b.of[I]))...}};
  }
  template <class B>
    requires(has_lanes<Ops, B, B>&&...)
  [[nodiscard, gnu::always_inline]] auto lanes(const joint_values<B, count>& a,
                                               const joint_values<B, count>& b) const {
    return joint_values<B, count>{{static_cast<B>(part<I, Ops>::value.lanes(a.of[I], b.of[I]))...}};
  }
  /// The operations whose operands come in their order.
  [[nodiscard]] KOKKOS_FUNCTION auto in_order() const {
    return joint(device_rows::in_order(part<I, Ops>::value)...);
  }

 private:
  template <class... Others>
  static KOKKOS_FUNCTION auto joint(const Others&... ops) {
    return joint_op_of<std::index_sequence<I...>, Others...>{{ops}...};
  }
};

template <class... Ops>
[[nodiscard]] KOKKOS_FUNCTION auto joint_op(const Ops&... ops) {
  return joint_op_of<std::index_sequence_for<Ops...>, Ops...>{{ops}...};
}

/// Makes N times an element of it, on a device.
template <std::size_t N>
struct spread_out {
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION joint_values<T, N> operator()(const T& value) const {
    joint_values<T, N> all;
    for (T& each : all.of) each = value;
    return all;
  }
};

/// A row each of whose elements stands N times side by side.
template <class Row, std::size_t N>
struct joint_row {
  using value_type = joint_values<typename Row::value_type, N>;
  // Sixteen-bit floats one by one: not every operation on their lanes rounds.
  static constexpr index_t width = is_half<typename Row::value_type> ? 0 : Row::width;
  Row row;

  [[nodiscard]] value_type operator[](index_t j) const { return spread(by_itself<Row>(row[j])); }
  template <class Count>
  [[nodiscard, gnu::always_inline]] auto lanes(index_t j, Count count) const {
    return spread(by_itself<Row>(row.lanes(j, count)));
  }
  [[nodiscard]] bool is_dense() const { return row.is_dense(); }
  [[nodiscard]] auto dense() const {
    return joint_row<std::decay_t<decltype(row.dense())>, N>{row.dense()};
  }

 private:
  template <class V>
  [[nodiscard, gnu::always_inline]] static joint_values<V, N> spread(const V& value) {
    joint_values<V, N> all;
    for (V& v : all.of) v = value;
    return all;
  }
};

/// Such rows.
template <class Rows, std::size_t N>
struct joint_rows {
  const Rows& rows;
  [[nodiscard]] auto row(index_t r) const {
    return joint_row<std::decay_t<decltype(rows.row(r))>, N>{rows.row(r)};
  }
};

}  // namespace topos::detail
