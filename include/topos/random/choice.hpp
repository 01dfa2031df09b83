// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random choices among numbers and among elements.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <topos/async/queues.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/gather.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/where.hpp>
#include <topos/kernels/search.hpp>
#include <topos/random/exponential.hpp>
#include <topos/random/integers.hpp>
#include <topos/random/permutation.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/sort.hpp>
#include <topos/tensor/tensor.hpp>
#include <vector>

namespace topos::random {

namespace detail {

/// Uniform shares of a total, from above 0 on.
template <class T>
struct shares_of {
  using value_type = T;
  real_elements<T> uniform;
  T total;
  KOKKOS_FUNCTION T operator()(index_t o) const { return total * (T(1) - uniform(o)); }
};

/// Throws `invalid_argument` unless there are as many numbers as are drawn.
inline void require_draws(const char* name, index_t draws, index_t count,
                          std::source_location where) {
  if (draws > count) {
    throw invalid_argument(
        topos::detail::concat(name, ": ", draws, " different ones of ", count, " numbers"), where);
  }
}

}  // namespace detail

/// In a choice: what was chosen once is not chosen again.
struct without_replacement_t {};
inline constexpr without_replacement_t without_replacement{};

/// Numbers from 0 up to, not including, count, each chosen for itself, as an expression:
/// jax.random.choice, which draws other numbers for int64 than for int32, JAX's default. Throws
/// `invalid_argument` if there is nothing to choose from, or more than T has numbers.
template <integer T = std::int32_t, std::size_t Rank>
[[nodiscard]] auto choice(const key& k, index_t count, const shape<Rank>& extents,
                          device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  if (count <= 0 && size_of_shape(extents, where) > 0) {
    throw invalid_argument(topos::detail::concat("choice: from ", count, " numbers"), where);
  }
  detail::require_numbers<T>("choice", count, where);
  return randint<T>(k, extents, 0, static_cast<topos::detail::integer_bound<T>>(count), d, where);
}
template <integer T = std::int32_t, std::size_t Rank>
[[nodiscard]] auto choice(const key& k, index_t count, const index_t (&extents)[Rank],
                          device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return choice<T>(k, count, std::to_array(extents), d, where);
}

/// Numbers from 0 up to, not including, count, no two of them the same. Throws `invalid_argument`
/// if there are not enough, or more than T has numbers.
template <integer T = std::int32_t, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> choice(const key& k, index_t count, const shape<Rank>& extents,
                                     without_replacement_t /*once*/,
                                     device d = default_device::current(),
                                     std::source_location where = std::source_location::current()) {
  detail::require_draws("choice", size_of_shape(extents, where), count, where);
  const tensor<T, 1> all = permutation<T>(k, count, d, where);
  return tensor<T, Rank>(all.memory(), 0, extents);
}
template <integer T = std::int32_t, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> choice(const key& k, index_t count, const index_t (&extents)[Rank],
                                     without_replacement_t once,
                                     device d = default_device::current(),
                                     std::source_location where = std::source_location::current()) {
  return choice<T>(k, count, std::to_array(extents), once, d, where);
}

/// Numbers from 0 up to, not including, that of the elements of p, each chosen for itself with a
/// probability in proportion to p's. Waits for p, which it reads on the host. Throws
/// `invalid_argument` if p is empty or has more elements than T has numbers, if any is negative,
/// infinite or NaN, or all are 0.
template <integer T = std::int32_t, operand P, std::size_t Rank>
  requires(std::floating_point<topos::detail::value_of_t<P>>&& topos::detail::node_t<P>::rank == 1)
[[nodiscard]] tensor<T, Rank> weighted_choice(
    const key& k, const P& p, const shape<Rank>& extents,
    std::source_location where = std::source_location::current()) {
  using real = topos::detail::value_of_t<P>;
  const tensor<real, 1> weights(topos::detail::as_node(p), where);
  const device d = weights.device();
  tensor<T, Rank> chosen(extents, d, where);
  if (chosen.size() == 0) return chosen;
  if (weights.size() == 0) throw invalid_argument("weighted_choice: of no weights", where);
  detail::require_numbers<T>("weighted_choice", weights.size(), where);
  const tensor<real, 1> here = device_put(weights, cpu(), where);
  const std::span<const real> all = here.host(where);
  real largest = 0;
  for (const real weight : all) {
    if (!(weight >= 0) || std::isinf(weight))
      throw invalid_argument(topos::detail::concat("weighted_choice: a weight is ", weight), where);
    largest = std::max(largest, weight);
  }
  if (largest == 0) throw invalid_argument("weighted_choice: all weights are 0", where);
  // By a power of two, which changes no choice, the largest to about 1: so no sum is infinite.
  const double scale = std::ldexp(1.0, std::min(-std::ilogb(largest), 1000));
  std::vector<real> sums;
  sums.reserve(all.size());
  double sum = 0;  // of floats as well: small ones still count beside all before them
  for (const real weight : all)
    sums.push_back(static_cast<real>(sum += static_cast<double>(weight) * scale));
  const tensor<real, 1> upto = device_put(sums, d, where);
  // Chosen is the first whose running sum reaches a share of the total.
  using shares = detail::shares_of<real>;
  const topos::detail::search_kernel<shares, T> kernel{{{{k, chosen.size()}, {0, 1}}, sums.back()},
                                                       chosen.size(),
                                                       upto.data(),
                                                       upto.size(),
                                                       false,
                                                       chosen.data()};
  topos::detail::submit_kernel("topos::weighted_choice", kernel, d, {upto.memory()},
                               {chosen.memory()}, chosen.size(), "weighted_choice", where);
  return chosen;
}
template <integer T = std::int32_t, operand P, std::size_t Rank>
  requires(std::floating_point<topos::detail::value_of_t<P>>&& topos::detail::node_t<P>::rank == 1)
[[nodiscard]] tensor<T, Rank> weighted_choice(
    const key& k, const P& p, const index_t (&extents)[Rank],
    std::source_location where = std::source_location::current()) {
  return weighted_choice<T>(k, p, std::to_array(extents), where);
}

/// The same without any number twice, by the largest of the logarithmic weights plus Gumbel numbers
/// (Vieira, "Gumbel-max trick and weighted reservoir sampling", 2014), as jax.random.choice does.
/// What weighs nothing comes last, and so do negative weights and NaN. Returns at once. Throws
/// `invalid_argument` if there are not enough elements, or more than T has numbers.
template <integer T = std::int32_t, operand P, std::size_t Rank>
  requires(std::floating_point<topos::detail::value_of_t<P>>&& topos::detail::node_t<P>::rank == 1)
[[nodiscard]] tensor<T, Rank> weighted_choice(
    const key& k, const P& p, const shape<Rank>& extents, without_replacement_t /*once*/,
    std::source_location where = std::source_location::current()) {
  using real = topos::detail::value_of_t<P>;
  const auto node = topos::detail::as_node(p);
  const index_t count = node.shape()[0];
  detail::require_draws("weighted_choice", size_of_shape(extents, where), count, where);
  detail::require_numbers<T>("weighted_choice", count, where);
  const device d = node.device().value_or(default_device::current());
  constexpr real none = -std::numeric_limits<real>::infinity();
  const auto weights = topos::where(node > real(0), log(node), none, where);
  const auto marks = add(gumbel<real>(k, shape<1>{count}, d, where), weights, where);
  const auto numbers = topk(marks, size_of_shape(extents), -1, where).indices;
  return tensor<T, Rank>(reshape(astype<T>(numbers), extents, where), where);
}
template <integer T = std::int32_t, operand P, std::size_t Rank>
  requires(std::floating_point<topos::detail::value_of_t<P>>&& topos::detail::node_t<P>::rank == 1)
[[nodiscard]] tensor<T, Rank> weighted_choice(
    const key& k, const P& p, const index_t (&extents)[Rank], without_replacement_t once,
    std::source_location where = std::source_location::current()) {
  return weighted_choice<T>(k, p, std::to_array(extents), once, where);
}

/// Elements of the first axis of x, each chosen for itself, as an expression. `Index` is the type
/// that jax.random.choice numbers them in.
template <integer Index = std::int32_t, operand X, std::size_t Rank>
  requires(topos::detail::node_t<X>::rank > 0)
[[nodiscard]] auto choice(const key& k, const X& x, const shape<Rank>& extents,
                          std::source_location where = std::source_location::current()) {
  const auto node = topos::detail::as_node(x);
  const device d = node.device().value_or(default_device::current());
  return take(node, choice<Index>(k, node.shape()[0], extents, d, where), 0, where);
}
template <integer Index = std::int32_t, operand X, std::size_t Rank>
  requires(topos::detail::node_t<X>::rank > 0)
[[nodiscard]] auto choice(const key& k, const X& x, const index_t (&extents)[Rank],
                          std::source_location where = std::source_location::current()) {
  return choice<Index>(k, x, std::to_array(extents), where);
}

/// The same with none twice, the first of a permutation. Throws `invalid_argument` if there are not
/// enough.
template <integer Index = std::int32_t, operand X, std::size_t Rank>
  requires(topos::detail::node_t<X>::rank > 0)
[[nodiscard]] auto choice(const key& k, const X& x, const shape<Rank>& extents,
                          without_replacement_t once,
                          std::source_location where = std::source_location::current()) {
  const auto node = topos::detail::as_node(x);
  const device d = node.device().value_or(default_device::current());
  return take(node, choice<Index>(k, node.shape()[0], extents, once, d, where), 0, where);
}
template <integer Index = std::int32_t, operand X, std::size_t Rank>
  requires(topos::detail::node_t<X>::rank > 0)
[[nodiscard]] auto choice(const key& k, const X& x, const index_t (&extents)[Rank],
                          without_replacement_t once,
                          std::source_location where = std::source_location::current()) {
  return choice<Index>(k, x, std::to_array(extents), once, where);
}

}  // namespace topos::random
