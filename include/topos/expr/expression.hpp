// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Expressions: typed trees that own what they read and have not run yet.
///
/// A node knows its shape and device, the buffers it reads, and how to become an evaluator: a
/// bare object that gives the expression's rows inside a kernel.

#include <algorithm>
#include <concepts>
#include <iterator>
#include <optional>
#include <topos/core/broadcast.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/device.hpp>
#include <topos/expr/row.hpp>
#include <topos/memory/buffer.hpp>
#include <utility>
#include <vector>

namespace topos {

namespace detail {

/// How a kernel walks an expression of a shape: as `rows` rows of `columns`. Where every leaf is
/// contiguous over the whole shape, it is one long row.
template <std::size_t Rank>
struct walk {
  shape<Rank> extents;
  bool flat;

  [[nodiscard]] index_t columns() const {
    if (flat || Rank == 0) return size_of_shape(extents);
    return extents[Rank - 1];
  }
  [[nodiscard]] index_t rows() const {
    const index_t size = size_of_shape(extents);
    if (flat || Rank == 0) return 1;
    return size == 0 ? 0 : size / extents[Rank - 1];
  }
};

/// Rows of a tensor broadcast to `Rank` axes, inside a kernel.
template <class T, std::size_t Rank>
struct tensor_rows {
  static constexpr std::size_t leading = Rank > 1 ? Rank - 1 : 1;
  const T* data;
  index_t step;
  index_t extents[leading];  // std::array is host code to nvcc
  index_t strides[leading];

  KOKKOS_FUNCTION memory_row<T> row(index_t r) const {
    if constexpr (Rank <= 2) return {data + r * strides[0], step};
    const T* at = data;
    for (std::size_t axis = leading; axis-- > 0;) {
      at += r % extents[axis] * strides[axis];
      r /= extents[axis];
    }
    return {at, step};
  }
};

template <class T>
struct constant_rows {
  T value;
  KOKKOS_FUNCTION constant_row<T> row(index_t /*r*/) const { return {value}; }
};

template <class Op, class A>
struct unary_rows {
  A a;
  KOKKOS_FUNCTION auto row(index_t r) const { return unary_row<Op, decltype(a.row(r))>{a.row(r)}; }
};

template <class Op, class A, class B>
struct binary_rows {
  A a;
  B b;
  KOKKOS_FUNCTION auto row(index_t r) const {
    return binary_row<Op, decltype(a.row(r)), decltype(b.row(r))>{a.row(r), b.row(r)};
  }
};

/// A tensor as a leaf of an expression: row-major memory from an offset on.
template <class T, std::size_t Rank>
struct tensor_node {
  using value_type = T;
  static constexpr std::size_t rank = Rank;
  buffer memory;
  index_t offset;
  topos::shape<Rank> extents;

  [[nodiscard]] const topos::shape<Rank>& shape() const { return extents; }
  [[nodiscard]] std::optional<topos::device> device() const { return memory.where(); }
  void collect(std::vector<buffer>& reads) const { reads.push_back(memory); }

  template <std::size_t N>
  [[nodiscard]] bool is_whole(const topos::shape<N>& target) const {
    if constexpr (N != Rank)
      return false;
    else
      return extents == target;
  }

  template <std::size_t N>
  [[nodiscard]] tensor_rows<T, N> rows(const walk<N>& w) const {
    tensor_rows<T, N> result{static_cast<const T*>(memory.data()) + offset, 1, {}, {}};
    std::fill(std::begin(result.extents), std::end(result.extents), 1);
    if (w.flat) return result;
    index_t stride = 1;
    for (std::size_t back = 1; back <= N; ++back) {
      const index_t own = back <= Rank ? extents[Rank - back] : 1;
      const index_t step = own == 1 ? 0 : stride;
      if (back == 1) {
        result.step = step;
      } else {
        result.extents[N - back] = w.extents[N - back];
        result.strides[N - back] = step;
      }
      stride *= own;
    }
    return result;
  }
};

/// A scalar: it takes the type of what it meets.
template <class T>
struct constant_node {
  using value_type = T;
  static constexpr std::size_t rank = 0;
  T value;

  [[nodiscard]] topos::shape<0> shape() const { return {}; }
  [[nodiscard]] std::optional<topos::device> device() const { return std::nullopt; }
  void collect(std::vector<buffer>& /*reads*/) const {}
  template <std::size_t N>
  [[nodiscard]] bool is_whole(const topos::shape<N>& /*target*/) const {
    return true;
  }
  template <std::size_t N>
  [[nodiscard]] constant_rows<T> rows(const walk<N>& /*w*/) const {
    return {value};
  }
};

}  // namespace detail

/// What can be computed: an operation on other expressions, or a tensor.
template <class E>
concept expression = requires(const E& e, std::vector<buffer>& reads) {
  typename E::value_type;
  { E::rank } -> std::convertible_to<std::size_t>;
  { e.shape() } -> std::convertible_to<shape<E::rank>>;
  { e.device() } -> std::same_as<std::optional<device>>;
  e.collect(reads);
};

/// What an operator takes: an expression, or a tensor (whose `node()` is one).
template <class X>
concept operand = expression<X> || requires(const X& x) {
  { x.node() } -> expression;
};

namespace detail {

/// An operation on one expression.
template <class Op, expression A>
struct [[nodiscard]] unary_node {
  using value_type = typename A::value_type;
  static constexpr std::size_t rank = A::rank;
  A a;

  [[nodiscard]] topos::shape<rank> shape() const { return a.shape(); }
  [[nodiscard]] std::optional<topos::device> device() const { return a.device(); }
  void collect(std::vector<buffer>& reads) const { a.collect(reads); }
  template <std::size_t N>
  [[nodiscard]] bool is_whole(const topos::shape<N>& target) const {
    return a.is_whole(target);
  }
  template <std::size_t N>
  [[nodiscard]] auto rows(const walk<N>& w) const {
    return unary_rows<Op, decltype(a.rows(w))>{a.rows(w)};
  }
};

/// An operation on two expressions of one type, on one device, whose shapes broadcast.
template <class Op, expression A, expression B>
struct [[nodiscard]] binary_node {
  using value_type = typename A::value_type;
  static constexpr std::size_t rank = std::max(A::rank, B::rank);
  A a;
  B b;
  topos::shape<rank> extents;

  binary_node(const char* name, A left, B right)
      : a(std::move(left)), b(std::move(right)), extents(broadcast(name, a.shape(), b.shape())) {
    if (a.device() && b.device() && *a.device() != *b.device()) {
      throw device_mismatch(concat(name, ": the left operand ", to_string(a.shape()), " is on ",
                                   *a.device(), ", the right operand ", to_string(b.shape()),
                                   " on ", *b.device(),
                                   "; move one of them with device_put first"));
    }
  }

  [[nodiscard]] const topos::shape<rank>& shape() const { return extents; }
  [[nodiscard]] std::optional<topos::device> device() const {
    return a.device() ? a.device() : b.device();
  }
  void collect(std::vector<buffer>& reads) const {
    a.collect(reads);
    b.collect(reads);
  }
  template <std::size_t N>
  [[nodiscard]] bool is_whole(const topos::shape<N>& target) const {
    return a.is_whole(target) && b.is_whole(target);
  }
  template <std::size_t N>
  [[nodiscard]] auto rows(const walk<N>& w) const {
    return binary_rows<Op, decltype(a.rows(w)), decltype(b.rows(w))>{a.rows(w), b.rows(w)};
  }
};

/// The expression that an operand stands for.
template <operand X>
[[nodiscard]] decltype(auto) as_node(const X& x) {
  if constexpr (expression<X>)
    return (x);
  else
    return x.node();
}

template <operand X>
using node_t = std::decay_t<decltype(as_node(std::declval<const X&>()))>;

/// How a kernel walks an expression.
template <expression E>
[[nodiscard]] walk<E::rank> walk_of(const E& e) {
  const shape<E::rank> extents = e.shape();
  return {extents, e.is_whole(extents)};
}

}  // namespace detail
}  // namespace topos
