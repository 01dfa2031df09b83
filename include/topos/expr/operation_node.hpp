// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operations on expressions, as expressions.

#include <algorithm>
#include <iterator>
#include <topos/core/broadcast.hpp>
#include <topos/expr/expression.hpp>
#include <topos/expr/operations.hpp>
#include <tuple>

namespace topos::detail {

template <class Indices, class Op, class... Rows>
struct operation_rows_of;

/// The rows of an operation, inside a kernel.
template <std::size_t... I, class Op, class... Rows>
struct operation_rows_of<std::index_sequence<I...>, Op, Rows...> : part<I, Rows>... {
  Op op;
  operation_rows_of(const Op& o, const Rows&... rows) : part<I, Rows>{rows}..., op(o) {}
  KOKKOS_FUNCTION auto row(index_t r) const { return make_row(op, part<I, Rows>::row.row(r)...); }

  bool operator==(const operation_rows_of& other) const
      requires(std::is_empty_v<Op> && (std::equality_comparable<Rows> && ...)) {
    return ((part<I, Rows>::row == other.part<I, Rows>::row) && ...);
  }
};

template <class Op, class... Rows>
using operation_rows = operation_rows_of<std::index_sequence_for<Rows...>, Op, Rows...>;

/// The rows of an operation on rows.
template <class Op, class... Rows>
[[nodiscard]] auto make_rows(const Op& op, const Rows&... rows) {
  return operation_rows<Op, Rows...>(op, rows...);
}

/// Those of a conversion of what is in memory, where it is loaded as what it becomes.
template <class To, class Elements, std::size_t N>
  requires lane::widens<typename Elements::value_type, To> && requires(const Elements& e) {
    e.template wide_lanes<To>(index_t{}, lane::all{});
    e.template wide_lanes_apart<To>(index_t{}, index_t{});
  }
[[nodiscard]] auto make_rows(const convert_op<To>& /*op*/, const strided_rows<Elements, N>& rows) {
  strided_rows<widened_elements<Elements, To>, N> wide{{rows.elements}, rows.base, rows.step,
                                                       rows.leading,    {},        {}};
  std::copy(std::begin(rows.extents), std::end(rows.extents), wide.extents);
  std::copy(std::begin(rows.strides), std::end(rows.strides), wide.strides);
  return wide;
}

template <class A, class B>
[[noreturn]] void refuse_devices(const char* name, const A& a, const B& b,
                                 std::source_location where) {
  throw device_mismatch(concat(name, ": the left operand ", to_string(a.shape()), " is on ",
                               *a.device(), ", the right operand ", to_string(b.shape()), " is on ",
                               *b.device(), "; move one of them with device_put first"),
                        where);
}

/// An operation on expressions on one device, whose shapes broadcast.
template <class Op, expression... E>
struct [[nodiscard]] operation_node : lazy, located_operators<operation_node<Op, E...>> {
  using value_type =
      decltype(call(std::declval<const Op&>(), std::declval<typename E::value_type>()...));
  static constexpr std::size_t rank = std::max({E::rank...});
  Op op;
  std::tuple<E...> parts;
  topos::shape<rank> extents;
  std::optional<topos::device> place;

  /// Throws `shape_mismatch` and `device_mismatch`, which name the operation and its operands.
  operation_node(const char* name, std::source_location where, Op o, E... e)
      : op(std::move(o)), parts(std::move(e)...) {
    std::apply([&](const auto&... part) { join(name, where, part...); }, parts);
  }

  /// Of parts that are known to fit.
  operation_node(Op o, const topos::shape<rank>& s, const std::optional<topos::device>& d, E... e)
      : op(std::move(o)), parts(std::move(e)...), extents(s), place(d) {}

  [[nodiscard]] const topos::shape<rank>& shape() const { return extents; }
  [[nodiscard]] std::optional<topos::device> device() const { return place; }
  void collect(std::vector<buffer>& reads) const {
    std::apply([&](const auto&... part) { (part.collect(reads), ...); }, parts);
  }
  template <class Layouts>
  void leaves(Layouts& layouts) const {
    std::apply([&](const auto&... part) { (part.leaves(layouts), ...); }, parts);
  }
  void traffic(std::vector<memory_read>& all) const {
    std::apply([&](const auto&... part) { (part.traffic(all), ...); }, parts);
  }
  template <std::size_t N>
  [[nodiscard]] auto rows(const walk<N>& w) const {
    return std::apply([&](const auto&... part) { return make_rows(op, part.rows(w)...); }, parts);
  }
  /// The view of an operation is the operation on views.
  template <std::size_t N, class View>
  [[nodiscard]] auto viewed(const topos::shape<N>& whole, const View& view) const {
    const auto seen = view(layout<N>{0, whole, {}}).extents;
    return std::apply(
        [&](const auto&... part) {
          using node = operation_node<Op, decltype(part.viewed(whole, view))...>;
          return node(op, seen, place, part.viewed(whole, view)...);
        },
        parts);
  }

 private:
  template <class A>
  void join(const char* /*name*/, std::source_location /*where*/, const A& a) {
    extents = a.shape();
    place = a.device();
  }
  template <class A, class B>
  void join(const char* name, std::source_location where, const A& a, const B& b) {
    extents = broadcast(name, a.shape(), b.shape(), where);
    place = a.device();
    if (const auto other = b.device()) {
      if (place && *place != *other) refuse_devices(name, a, b, where);
      place = other;
    }
  }
  template <class A, class B, class C, class... More>
  void join(const char* name, std::source_location where, const A& a, const B& b, const C& c,
            const More&... more) {
    const auto joined = [&](const auto& left, const auto& right) {
      using L = std::decay_t<decltype(left)>;
      using R = std::decay_t<decltype(right)>;
      return operation_node<first_of, L, R>(name, where, first_of{}, left, right);
    };
    const auto ab = joined(a, b);
    if constexpr (sizeof...(More) == 0) {
      const auto abc = joined(ab, c);
      extents = abc.shape();
      place = abc.device();
    } else {
      join(name, where, joined(ab, c), more...);
    }
  }

  // What only checks that its operands fit.
  struct first_of {
    template <class A, class B>
    A operator()(const A& a, const B& /*b*/) const {
      return a;
    }
  };
};

}  // namespace topos::detail
