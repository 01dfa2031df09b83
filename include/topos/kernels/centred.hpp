// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reductions about a centre, such as a variance: elements are combined to their centre, then what
/// each is beside that is summed up. Both passes are over a piece that is in a cache, so memory is
/// read once; what pieces give is joined by a formula.

#include <concepts>
#include <topos/core/config.hpp>
#include <topos/expr/lanes.hpp>
#include <topos/kernels/detail/joint_reduction.hpp>

namespace topos::detail {

/// Sums of what some elements are beside their centre: numbers, or lanes of them.
template <class V, std::size_t N>
struct sums_about {
  V centre;
  V sums[N];
};
/// The same of so many elements.
template <class T, std::size_t N>
struct centred_sums : sums_about<T, N> {
  static constexpr std::size_t terms = N;
  index_t count;
};

/// An operation about a centre. `first_op` combines elements to one value, and `centre_of(value,
/// count)` is their centre then; `terms_of(element, centre)` are the N that are summed up, as
/// joint_values, and `settle(centre, sums, count)` makes of those what is kept. `join(a, b,
/// weights)` is what two parts give together, of so many elements that their weights are
/// `weigh(count, count)`. All three take numbers, or lanes on the host. No function is named as a
/// member of sums_about: nvcc takes `a.centre < b.centre` for a template then.
template <class Op>
concept centring = requires {
  typename Op::first_op;
  { Op::terms } -> std::convertible_to<std::size_t>;
};

/// What an operation combines elements of T to.
template <class Op, class T>
struct combined_of {
  using type = T;
};
template <centring Op, class T>
struct combined_of<Op, T> {
  using type = centred_sums<T, Op::terms>;
};
template <class Op, class T>
using combined_t = typename combined_of<Op, T>::type;

/// The operation that elements are combined by.
template <class Op>
struct on_elements {
  using type = Op;
};
template <centring Op>
struct on_elements<Op> {
  using type = typename Op::first_op;
};
template <class Op>
using on_elements_t = typename on_elements<Op>::type;

/// Sums terms up.
struct add_terms_op {
  template <class T, std::size_t N>
    requires(!lane::numbers<T>)
  [[nodiscard]] KOKKOS_FUNCTION joint_values<T, N> operator()(const joint_values<T, N>& a,
                                                              const joint_values<T, N>& b) const {
    joint_values<T, N> result;
    for (std::size_t n = 0; n != N; ++n) result.of[n] = a.of[n] + b.of[n];
    return result;
  }
  template <lane::numbers B, std::size_t N>
  [[nodiscard, gnu::always_inline]] joint_values<B, N> lanes(const joint_values<B, N>& a,
                                                             const joint_values<B, N>& b) const {
    joint_values<B, N> result;
    for (std::size_t n = 0; n != N; ++n) result.of[n] = a.of[n] + b.of[n];
    return result;
  }
  /// The lanes of each term combined with each other.
  template <index_t Width, class B, std::size_t N>
    requires lane::has_turns<lane::value_t<B>>
  [[nodiscard]] auto folded(const joint_values<B, N>& sums) const {
    joint_values<lane::value_t<B>, N> result;
    for (std::size_t n = 0; n != N; ++n) {
      result.of[n] =
          lane::fold_lanes<Width>(sums.of[n], [](const auto& a, const auto& b) { return a + b; });
    }
    return result;
  }
};

/// Joins what parts of an operation about a centre give.
template <centring Op>
struct join_op {
  template <class C>
  KOKKOS_FUNCTION C operator()(const C& a, const C& b) const {
    return {Op::join(a, b, Op::weigh(a.count, b.count)), a.count + b.count};
  }
};

/// The operation on what an operation has combined elements to.
template <class Op>
[[nodiscard]] auto on_combined(const Op& op) {
  if constexpr (centring<Op>)
    return join_op<Op>{};
  else
    return op;
}

}  // namespace topos::detail
