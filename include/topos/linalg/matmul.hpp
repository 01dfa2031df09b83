// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Products of matrices, and of stacks of them.

#include <topos/core/promotion.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/views.hpp>
#include <topos/linalg/detail/matrices.hpp>
#include <topos/linalg/provider.hpp>
#include <topos/tensor/creation.hpp>

namespace topos {

namespace detail {

/// How many elements cost as much as a product, for the decision what runs in place.
template <class T>
[[nodiscard]] index_t cost_of(const matrix_product<T>& p) {
  const double terms = static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(p.k) * static_cast<double>(p.batch());
  return terms < 1e15 ? static_cast<index_t>(terms) / terms_per_cost : always_queued;
}

/// Runs products by the first provider that can.
template <class Stream, class T>
void multiply_matrices(const Stream& stream, const matrix_product<T>& p) {
  if constexpr (builtin_provider::multiplies<T>) {
    if (!p.fits_int()) return builtin_provider::multiply(stream, p);
  } else if (!p.fits_int()) {
    throw not_supported("matmul: sixteen-bit matrices of 2^31 rows or columns: take float");
  }
  with_matmul_provider<typename Stream::backend, T>(
      [&](auto provider) { provider.multiply(stream, p); });
}

/// The product of two stacks of matrices in memory on one device.
template <class T, std::size_t Batch>
[[nodiscard]] tensor<T, Batch + 2> multiply_stacks(const tensor_node<T, Batch + 2>& a,
                                                   const tensor_node<T, Batch + 2>& b,
                                                   const shape<Batch>& batch, device d,
                                                   std::source_location where) {
  shape<Batch + 2> extents{};
  std::copy(batch.begin(), batch.end(), extents.begin());
  extents[Batch] = a.where.extents[Batch];
  extents[Batch + 1] = b.where.extents[Batch + 1];
  if (b.where.extents[Batch] == 0) return zeros<T>(extents, d, where);
  tensor<T, Batch + 2> c(extents, d, where);
  if (c.size() == 0) return c;
  const matrix_product<T> p = product_of<T, Batch>(a, b, batch, c.data());
  queue_of(d, where).submit(
      {a.source.memory, b.source.memory}, {c.memory()}, cost_of(p),
      [p](const auto& stream) { multiply_matrices(stream, p); }, "matmul", where);
  return c;
}

/// "(2, 3) on cpu".
template <expression E>
[[nodiscard]] std::string described(const E& e) {
  return e.device() ? concat(to_string(e.shape()), " on ", *e.device()) : to_string(e.shape());
}

/// The device of two operands, of which one may have none.
template <expression A, expression B>
[[nodiscard]] device common_device(const char* operation, const A& a, const B& b,
                                   std::source_location where) {
  if (a.device() && b.device() && *a.device() != *b.device()) {
    throw device_mismatch(concat(operation, ": a ", described(a), ", b ", described(b),
                                 "; move one of them with device_put first"),
                          where);
  }
  if (a.device()) return *a.device();
  return b.device().value_or(default_device::current());
}

/// An expression with further leading axes of extent 1.
template <std::size_t Rank, expression E>
[[nodiscard]] auto with_axes(const E& e) {
  if constexpr (Rank == E::rank)
    return e;
  else
    return with_axes<Rank>(seen_as(e, expand_view<E::rank + 1>{0}));
}

/// Elements of a type that somebody multiplies on a device: of sixteen-bit types, maybe float.
template <class T, class Function>
decltype(auto) with_product_type(device d, Function function) {
  if constexpr (is_half<T>) {
    const bool own = backend::visit(
        d.kind(), [](auto b) { return with_matmul_provider<decltype(b), T>([](auto) {}); });
    if (!own) return function(std::type_identity<float>{});
  }
  return function(std::type_identity<T>{});
}

/// matmul of two stacks of matrices, of at least two axes each. `as_a` and `as_b` are the operands
/// as the user gave them, for errors.
template <class T, expression A, expression B, expression GivenA, expression GivenB>
[[nodiscard]] auto multiply_expressions(const A& a, const B& b, const GivenA& as_a,
                                        const GivenB& as_b, std::source_location where) {
  constexpr std::size_t rank = std::max(A::rank, B::rank);
  constexpr std::size_t batch_axes = rank - 2;
  const device d = common_device("matmul", as_a, as_b, where);
  const auto refuse = [&](const auto&... why) {
    throw shape_mismatch(
        concat("matmul: a ", described(as_a), ", b ", described(as_b), ": ", why...), where);
  };
  const shape<rank> left = with_axes<rank>(a).shape();
  const shape<rank> right = with_axes<rank>(b).shape();
  if (left[rank - 1] != right[rank - 2]) {
    refuse("a has ", left[rank - 1], " columns and b ", right[rank - 2], " rows");
  }
  shape<batch_axes> batch{};
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (left[axis] != right[axis] && left[axis] != 1 && right[axis] != 1) {
      refuse("stacks of ", left[axis], " and of ", right[axis], " matrices do not broadcast");
    }
    batch[axis] = left[axis] == 1 ? right[axis] : left[axis];
  }
  return with_product_type<T>(d, [&](auto type) {
    using number = typename decltype(type)::type;
    const auto c = multiply_stacks<number, batch_axes>(
        with_axes<rank>(in_memory(convert<number>(a), d, where)),
        with_axes<rank>(in_memory(convert<number>(b), d, where)), batch, d, where);
    if constexpr (std::same_as<number, T>)
      return c;
    else
      return tensor<T, rank>(convert<T>(c.node()), where);
  });
}

}  // namespace detail

/// Enqueues the product of two operands by NumPy's rule, and returns it at once: of matrices in the
/// last two axes, over the broadcast of all axes before them; a first operand of one axis is a row,
/// a second one a column, and that axis is not in the result. Operands are tensors or expressions;
/// a tensor, and a view of one in whose matrices the rows or the columns lie densely, is read where
/// it lies. Sixteen-bit floats are summed in float, integers wrap around, bool is `any` of `and`.
/// Which library multiplies is matmul_provider's answer. Throws `shape_mismatch` and
/// `device_mismatch`.
template <operand A, operand B>
[[nodiscard]] auto matmul(const A& a, const B& b,
                          std::source_location where = std::source_location::current()) {
  constexpr std::size_t a_rank = detail::node_t<A>::rank;
  constexpr std::size_t b_rank = detail::node_t<B>::rank;
  static_assert(a_rank > 0 && b_rank > 0, "topos: matmul takes no operand without axes");
  using T = promote_t<detail::value_of_t<A>, detail::value_of_t<B>>;
  decltype(auto) left = detail::as_node(a);
  decltype(auto) right = detail::as_node(b);
  if constexpr (a_rank == 1) {
    const auto row = detail::seen_as(left, detail::expand_view<2>{0});
    if constexpr (b_rank == 1) {
      const auto column = detail::seen_as(right, detail::expand_view<2>{1});
      return detail::multiply_expressions<T>(row, column, left, right, where).reshape(shape<0>{});
    } else {
      const auto c = detail::multiply_expressions<T>(row, right, left, right, where);
      return c.reshape(detail::without_axis(c.shape(), b_rank - 2));
    }
  } else if constexpr (b_rank == 1) {
    const auto column = detail::seen_as(right, detail::expand_view<2>{1});
    const auto c = detail::multiply_expressions<T>(left, column, left, right, where);
    return c.reshape(detail::without_axis(c.shape(), a_rank - 1));
  } else {
    return detail::multiply_expressions<T>(left, right, left, right, where);
  }
}

}  // namespace topos
