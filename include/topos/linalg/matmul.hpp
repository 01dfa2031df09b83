// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Products of matrices, and of stacks of them.

#include <topos/core/promotion.hpp>
#include <topos/device/common_device.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/views.hpp>
#include <topos/linalg/detail/matrices.hpp>
#include <topos/linalg/detail/small_products.hpp>
#include <topos/linalg/provider.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/reduction.hpp>

namespace topos {

namespace detail {

/// How many elements cost as much as a product, where that is little enough to run on one thread;
/// else it has the threads of OpenMP.
template <class T>
[[nodiscard]] index_t cost_of(const matrix_product<T>& p) {
  const double elements = static_cast<double>(p.m) * static_cast<double>(p.n) *
                          static_cast<double>(p.k) * static_cast<double>(p.batch()) /
                          terms_per_cost;
  return elements <= backend::host::stream::small_work ? static_cast<index_t>(elements)
                                                       : always_queued;
}

/// Runs products by the first provider that can.
template <class Stream, class T>
void multiply_matrices(const Stream& stream, const matrix_product<T>& p) {
  if constexpr (builtin_provider::multiplies<T> &&
                std::same_as<typename Stream::backend, backend::host>) {
    if (are_small(p)) {
      const small_products_kernel<T> products(p);
      return stream.for_each("topos::matmul", products.items(), products.cost(), 0, products);
    }
  }
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

/// Where a product is computed. Throws `device_mismatch`.
template <expression A, expression B>
[[nodiscard]] device device_of(const char* operation, const A& a, const B& b,
                               std::source_location where) {
  return common_device(operation, "a", a, "b", b, where).value_or(default_device::current());
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

template <expression A, expression B, class... Why>
[[noreturn]] void refuse_product(const A& a, const B& b, std::source_location where,
                                 const Why&... why) {
  throw shape_mismatch(concat("matmul: ", described("a", a), ", ", described("b", b), ": ", why...),
                       where);
}

/// The device of two operands of which each row of one fits each column of the other.
template <expression A, expression B>
[[nodiscard]] device device_of_product(const A& a, const B& b, std::source_location where) {
  const device d = device_of("matmul", a, b, where);
  const index_t columns = a.shape()[A::rank - 1];
  const index_t rows = b.shape()[B::rank == 1 ? 0 : B::rank - 2];
  if (columns != rows)
    refuse_product(a, b, where, "a has ", columns, " columns and b ", rows, " rows");
  return d;
}

/// A vector whose elements are read more than once, as neighbours in memory: further apart they
/// would look like the matrix's rows.
template <expression E>
[[nodiscard]] auto kept_in_memory(const E& e, device d, std::source_location where) {
  using T = typename E::value_type;
  if constexpr (is_memory<E>) {
    return e.where.strides[0] == 1 ? e : tensor<T, 1>(e, where).node();
  } else {
    const default_device scope(d);
    return tensor<T, 1>(e, where).node();
  }
}

/// The sums along an axis of products of two operands that broadcast, each product read once.
template <class T, expression A, expression B>
[[nodiscard]] auto sum_products(const A& a, const B& b, std::size_t axis,
                                std::source_location where) {
  constexpr std::size_t rank = std::max(A::rank, B::rank);
  using number = wide_t<T>;
  axis_set<rank> set{};
  set[axis] = true;
  const auto summed = [&](auto multiply, auto add) {
    const auto products =
        make_node("matmul", where, multiply, convert<number>(a), convert<number>(b));
    return tensor<T, rank - 1>(
        make_reduction<rank - 1>(products, set, add, convert_op<T>{}, number(0), where));
  };
  if constexpr (std::same_as<T, bool>)
    return summed(bitwise_and_op{}, bitwise_or_op{});
  else
    return summed(multiply_op{}, add_op{});
}

/// matmul where one operand is a vector: it reads each element of a matrix once, which memory
/// bounds, and so is a reduction and not a library's product.
template <class T, expression A, expression B>
[[nodiscard]] auto multiply_vectors(const A& a, const B& b, std::source_location where) {
  const device d = device_of_product(a, b, where);
  if constexpr (A::rank == 1 && B::rank == 1) {
    return sum_products<T>(a, b, 0, where);
  } else if constexpr (B::rank == 1) {
    return sum_products<T>(a, kept_in_memory(b, d, where), A::rank - 1, where);
  } else {
    const auto column = seen_as(kept_in_memory(a, d, where), expand_view<2>{1});
    return sum_products<T>(column, b, B::rank - 2, where);
  }
}

/// matmul of two stacks of matrices, of at least two axes each.
template <class T, expression A, expression B>
[[nodiscard]] auto multiply_expressions(const A& a, const B& b, std::source_location where) {
  constexpr std::size_t rank = std::max(A::rank, B::rank);
  constexpr std::size_t batch_axes = rank - 2;
  const device d = device_of_product(a, b, where);
  const shape<rank> left = with_axes<rank>(a).shape();
  const shape<rank> right = with_axes<rank>(b).shape();
  shape<batch_axes> batch{};
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (left[axis] != right[axis] && left[axis] != 1 && right[axis] != 1) {
      refuse_product(a, b, where, "stacks of ", left[axis], " and of ", right[axis],
                     " matrices do not broadcast");
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
/// Which library multiplies matrices is the answer of matmul_provider<T>(kind); stacks of matrices
/// of a few elements topos multiplies itself on the CPU, and a product with an operand of one axis
/// is a reduction, as `sum` is. Throws `shape_mismatch` and `device_mismatch`.
template <operand A, operand B>
[[nodiscard]] auto matmul(const A& a, const B& b,
                          std::source_location where = std::source_location::current()) {
  constexpr std::size_t a_rank = detail::node_t<A>::rank;
  constexpr std::size_t b_rank = detail::node_t<B>::rank;
  static_assert(a_rank > 0 && b_rank > 0, "topos: matmul takes no operand without axes");
  using T = promote_t<detail::value_of_t<A>, detail::value_of_t<B>>;
  const auto left = detail::node_as<T>(a);
  const auto right = detail::node_as<T>(b);
  if constexpr (a_rank == 1 || b_rank == 1)
    return detail::multiply_vectors<T>(left, right, where);
  else
    return detail::multiply_expressions<T>(left, right, where);
}

}  // namespace topos
