// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sorted elements, and the order that sorts them.

#include <topos/expr/elementwise.hpp>
#include <topos/expr/generators.hpp>
#include <topos/kernels/piece_sort.hpp>
#include <topos/kernels/reduction_order.hpp>
#include <topos/tensor/detail/sort_by.hpp>
#include <topos/tensor/tensor.hpp>

namespace topos {

/// Which elements come first. NaN is larger than all others.
enum class sort_order { ascending, descending };
using enum sort_order;

/// Elements and where they were.
template <element T, std::size_t Rank>
struct chosen_elements {
  tensor<T, Rank> values;
  tensor<std::int64_t, Rank> indices;
};

namespace detail {

/// What is asked of a sort.
struct sort_request {
  bool values;
  bool numbers;
  bool backwards;
  index_t kept;  // elements of each row
};

template <element T, std::size_t Rank>
struct sort_results {
  std::optional<tensor<T, Rank>> values;
  std::optional<tensor<std::int64_t, Rank>> numbers;
};

template <class T, expression K>
[[nodiscard]] auto make_piece_sort(const K& keys, const sort_request& asked, index_t piece) {
  const walk<K::rank> w = walk_of(keys, 1);
  return piece_sort_kernel<T, decltype(keys.rows(w))>{
      keys.rows(w), {{}, asked.backwards}, w.rows(), w.columns(), piece, asked.kept};
}

template <class Kernel>
void submit_piece_sort(Kernel kernel, device d, std::vector<buffer> reads,
                       std::vector<buffer> writes, std::source_location where) {
  kernel.plan(d);
  submit_kernel("topos::sort", kernel, d, std::move(reads), std::move(writes),
                kernel.count * kernel.columns * 16, "sort", where);
}

/// The first elements of rows that one team sorts.
template <class T, expression K, std::size_t Rank>
void sort_short_rows(const K& keys, const sort_request& asked, index_t piece,
                     const sort_results<T, Rank>& results, device d, std::source_location where) {
  std::vector<buffer> writes;
  auto kernel = make_piece_sort<T>(keys, asked, piece);
  if (results.values) kernel.values = results.values->data();
  if (results.numbers) kernel.numbers = results.numbers->data();
  if (results.values) writes.push_back(results.values->memory());
  if (results.numbers) writes.push_back(results.numbers->memory());
  submit_piece_sort(kernel, d, memory_read_by(keys), std::move(writes), where);
}

/// The few first elements of long rows, and their numbers: the best of each piece, and then of
/// those, until one team can hold them.
template <class T, expression K, std::size_t Rank>
void choose_from_long_rows(const K& keys, const sort_request& asked, index_t piece,
                           const sort_results<T, Rank>& results, device d,
                           std::source_location where) {
  using key = sort_key_t<T>;
  const sort_request round{true, true, false, asked.kept};
  auto first = make_piece_sort<key>(keys, round, piece);
  tensor<key, 2> best({first.count, first.results()}, d, where);
  tensor<std::int64_t, 2> places(best.shape(), d, where);
  first.values = best.data();
  first.numbers = places.data();
  submit_piece_sort(first, d, memory_read_by(keys), {best.memory(), places.memory()}, where);
  while (best.shape()[1] > piece) {
    auto next = make_piece_sort<key>(best.node(), round, piece);
    tensor<key, 2> better({next.count, next.results()}, d, where);
    tensor<std::int64_t, 2> where_from(better.shape(), d, where);
    next.values = better.data();
    next.numbers = where_from.data();
    next.row_numbers = places.data();
    submit_piece_sort(next, d, {best.memory(), places.memory()},
                      {better.memory(), where_from.memory()}, where);
    best = better;
    places = where_from;
  }
  auto end = make_piece_sort<T>(best.node(), asked, piece);
  end.values = results.values->data();
  end.numbers = results.numbers->data();
  end.row_numbers = places.data();
  submit_piece_sort(end, d, {best.memory(), places.memory()},
                    {results.values->memory(), results.numbers->memory()}, where);
}

/// Whole rows, each sorted by all teams.
template <class T, expression K, std::size_t Rank>
void sort_long_rows(const K& keys, const sort_request& asked, const sort_results<T, Rank>& results,
                    device d, std::source_location where) {
  const shape<Rank> extents = keys.shape();
  const tensor<sort_key_t<T>, Rank> all(keys, where);
  if (results.numbers) {
    const shape<1> columns{extents[Rank - 1]};
    const auto numbers = generated(arange_elements<std::int64_t>{0, 1}, columns, d);
    map(numbers.viewed(columns, broadcast_view<Rank>{extents}), results.numbers->memory(),
        layout<Rank>::dense(extents), where);
  }
  sort_by(all, results.numbers ? &*results.numbers : nullptr, "sort", where);
  if (results.values) {
    map(make_node("", where, from_sort_key<T>{{}, asked.backwards}, all.node()),
        results.values->memory(), layout<Rank>::dense(extents), where);
  }
}

/// Sorts along the last axis. `Few`: there may be fewer elements to keep than a row has.
template <bool Few, expression E>
[[nodiscard]] auto sorted_rows(const E& e, const sort_request& asked, std::source_location where) {
  using T = typename E::value_type;
  constexpr std::size_t rank = E::rank;
  const device d = e.device().value_or(default_device::current());
  const shape<rank> extents = e.shape();
  const index_t columns = extents[rank - 1];
  shape<rank> kept = extents;
  kept[rank - 1] = asked.kept;
  sort_results<T, rank> results;
  if (asked.values) results.values.emplace(kept, d, where);
  if (asked.numbers) results.numbers.emplace(kept, d, where);
  if (size_of_shape(kept, where) == 0) return results;
  const index_t piece = sort_piece(d);
  const auto keys = make_node("sort", where, to_sort_key<T>{{}, asked.numbers, asked.backwards}, e);
  if (columns <= piece) {
    sort_short_rows(keys, asked, piece, results, d, where);
    return results;
  }
  if constexpr (Few) {
    if (asked.kept <= piece / 4) {
      choose_from_long_rows(keys, asked, piece, results, d, where);
      return results;
    }
    if (asked.kept < columns) {
      const sort_results<T, rank> all{tensor<T, rank>(extents, d, where),
                                      tensor<std::int64_t, rank>(extents, d, where)};
      sort_long_rows(keys, asked, all, d, where);
      range_view<rank> first{{}, {}, kept};
      first.step.fill(1);
      results.values.emplace(all.values->node().viewed(extents, first), where);
      results.numbers.emplace(all.numbers->node().viewed(extents, first), where);
      return results;
    }
  }
  sort_long_rows(keys, asked, results, d, where);
  return results;
}

/// Sorts along any axis.
template <bool Few, expression E>
[[nodiscard]] auto sorted_along(const E& e, const sort_request& asked, std::size_t along,
                                std::source_location where) {
  constexpr std::size_t rank = E::rank;
  if constexpr (rank > 1) {
    if (along != rank - 1) {
      // Through memory whose last axis it is, and back.
      const permute_view<rank> there = with_last<rank>(along);
      permute_view<rank> back{};
      for (std::size_t i = 0; i != rank; ++i) back.axes[there.axes[i]] = i;
      const tensor<typename E::value_type, rank> moved(e.viewed(shape<rank>(e.shape()), there),
                                                       where);
      auto results = sorted_rows<Few>(moved.node(), asked, where);
      const auto returned = [&](auto& part) {
        using result = std::decay_t<decltype(*part)>;
        if (part) part = result(part->node().viewed(part->shape(), back), where);
      };
      returned(results.values);
      returned(results.numbers);
      return results;
    }
  }
  return sorted_rows<Few>(e, asked, where);
}

/// Sorts all elements along an axis, or finds what sorts them.
template <operand X>
[[nodiscard]] auto sorted(const char* name, const X& x, index_t axis, sort_order order,
                          bool numbers, std::source_location where) {
  constexpr std::size_t rank = node_t<X>::rank;
  static_assert(!is_complex<value_of_t<X>>, "topos: complex numbers have no order");
  static_assert(rank > 0, "topos: a sort is along an axis");
  decltype(auto) e = as_node(x);
  const std::size_t along = checked_axis(name, axis, rank, where);
  const index_t count = shape<rank>(e.shape())[along];
  return sorted_along<false>(e, {!numbers, numbers, order == descending, count}, along, where);
}

}  // namespace detail

/// The elements in order along an axis: `sort(x, -1, descending)` has the largest first. NaN is
/// larger than all numbers, and 0 than -0. Enqueues it, and returns the tensor at once. Throws
/// `out_of_range` for the axis.
template <operand X>
[[nodiscard]] auto sort(const X& x, index_t axis = -1, sort_order order = ascending,
                        std::source_location where = std::source_location::current()) {
  return *detail::sorted("sort", x, axis, order, false, where).values;
}

template <operand X>
[[nodiscard]] auto sort(const X& x, sort_order order,
                        std::source_location where = std::source_location::current()) {
  return sort(x, -1, order, where);
}

/// The indices, as int64, that sort x along an axis; equal elements, -0 and 0 among them, stay in
/// their order, whichever comes first. Enqueues and throws as `sort`.
template <operand X>
[[nodiscard]] auto argsort(const X& x, index_t axis = -1, sort_order order = ascending,
                           std::source_location where = std::source_location::current()) {
  return *detail::sorted("argsort", x, axis, order, true, where).numbers;
}
template <operand X>
[[nodiscard]] auto argsort(const X& x, sort_order order,
                           std::source_location where = std::source_location::current()) {
  return argsort(x, -1, order, where);
}

/// The k largest elements along an axis, the largest first, of equal ones the first, and their
/// indices. NaN is larger than all; -0 equals 0, and comes out as 0. Throws `out_of_range` for the
/// axis, and `invalid_argument` if there are not k elements.
template <operand X>
[[nodiscard]] auto topk(const X& x, index_t k, index_t axis = -1,
                        std::source_location where = std::source_location::current())
    -> chosen_elements<detail::value_of_t<X>, detail::node_t<X>::rank> {
  static_assert(!detail::is_complex<detail::value_of_t<X>>, "topos: complex numbers have no order");
  constexpr std::size_t rank = detail::node_t<X>::rank;
  static_assert(rank > 0, "topos: topk is along an axis");
  decltype(auto) e = detail::as_node(x);
  const shape<rank> extents = e.shape();
  const std::size_t along = detail::checked_axis("topk", axis, rank, where);
  if (k < 0 || k > extents[along]) {
    throw invalid_argument(detail::concat("topk: the ", k, " largest of ", extents[along],
                                          " elements; the shape is ", to_string(extents)),
                           where);
  }
  const auto found = detail::sorted_along<true>(e, {true, true, true, k}, along, where);
  return {*found.values, *found.numbers};
}

}  // namespace topos
