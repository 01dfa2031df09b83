// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operations on expressions, as expressions.

#include <algorithm>
#include <iterator>
#include <topos/core/broadcast.hpp>
#include <topos/device/common_device.hpp>
#include <topos/expr/expression.hpp>
#include <topos/expr/operation_row.hpp>
#include <topos/expr/operations.hpp>

namespace topos::detail {

template <class Indices, class Op, class... Rows>
struct operation_rows_of;

/// The rows of an operation, inside a kernel.
template <std::size_t... I, class Op, class... Rows>
struct operation_rows_of<std::index_sequence<I...>, Op, Rows...> : part<I, Rows>... {
  static constexpr bool may_have_axes = (have_axes<Rows> || ...);
  Op op;
  operation_rows_of(const Op& o, const Rows&... rows) : part<I, Rows>{rows}..., op(o) {}
  // (Some of the rows only the host has.)
  TOPOS_HOST_BRANCH [[nodiscard]] KOKKOS_FUNCTION auto row(index_t r) const {
    return operation_row<Op, row_of<Rows>...>{{part<I, Rows>::value.row(r)}..., op};
  }
  [[nodiscard]] index_t run_from(index_t r) const requires(have_runs<Rows>&&...) {
    index_t run = no_end;  // all that are cut are cut alike: they are walked so
    ((run = run == no_end ? part<I, Rows>::value.run_from(r) : run), ...);
    return run;
  }
  [[nodiscard]] bool repeat_in_runs() const requires(have_runs<Rows>&&...) {
    return (part<I, Rows>::value.repeat_in_runs() || ...);
  }
  template <class... Parts>
  [[nodiscard, gnu::always_inline]] auto below(
      const operation_row_of<std::index_sequence<I...>, Op, Parts...>& row, index_t n) const {
    return operation_row<Op, Parts...>{
        {part<I, Rows>::value.below(static_cast<const part<I, Parts>&>(row).value, n)}..., op};
  }
  [[nodiscard]] flat_need need_flat(index_t columns) const {
    if constexpr (multiplies_alike<Op>) {
      if (op.is_square) return first_part(*this).need_flat(columns);
    }
    return (part<I, Rows>::value.need_flat(columns) + ...);
  }
  [[nodiscard]] auto flat(flat_block& block) const {
    using flat_row = operation_row<Op, decltype(part<I, Rows>::value.flat(block))...>;
    if constexpr (multiplies_alike<Op>) {
      if (op.is_square) {
        const auto factor = first_part(*this).flat(block);
        return flat_row{{factor}, {factor}, op};
      }
    }
    return flat_row{{part<I, Rows>::value.flat(block)}..., op};
  }

  bool operator==(const operation_rows_of& other) const
      requires(comparable_operation<Op> && (std::equality_comparable<Rows> && ...)) {
    return is_same_operation(op, other.op) &&
           ((part<I, Rows>::value == other.part<I, Rows>::value) && ...);
  }
};

template <class Op, class... Rows>
using operation_rows = operation_rows_of<std::index_sequence_for<Rows...>, Op, Rows...>;

/// The rows of an operation on rows.
template <class Op, class... Rows>
[[nodiscard]] auto make_rows(const Op& op, const Rows&... rows) {
  return operation_rows<Op, Rows...>(op, rows...);
}

/// A product of rows of one type, which may be the same: `d * d`.
struct multiply_alike_op : multiply_op, of_alike {
  friend bool operator==(const multiply_alike_op&, const multiply_alike_op&) { return true; }
};
template <std::equality_comparable Rows>
  requires(!has_elements<row_of<Rows>> || !row_of<Rows>::is_quick)
[[nodiscard]] auto make_rows(const multiply_op& op, const Rows& a, const Rows& b) {
  return operation_rows<multiply_alike_op, Rows, Rows>({op, {a == b}}, a, b);
}

/// Whether elements in memory are loaded as To.
template <class Elements, class To>
concept loaded_wider = lane::widens<typename Elements::value_type, To> &&
    requires(const Elements& e) {
  e.template wide_lanes<To>(index_t{}, lane::all{});
  e.template wide_lanes_apart<To>(index_t{}, index_t{});
};

/// Those of a conversion of what is in memory, where it is loaded as what it becomes.
template <class To, loaded_wider<To> Elements, std::size_t N>
[[nodiscard]] auto make_rows(const convert_op<To>& /*op*/, const strided_rows<Elements, N>& rows) {
  strided_rows<widened_elements<Elements, To>, N> wide{{rows.elements}, rows.base, rows.step,
                                                       rows.leading,    {},        {}};
  std::copy(std::begin(rows.extents), std::end(rows.extents), wide.extents);
  std::copy(std::begin(rows.strides), std::end(rows.strides), wide.strides);
  return wide;
}

template <class To, class Elements>
  requires lane::widens<typename Elements::value_type, To>
[[nodiscard]] auto make_rows(const convert_op<To>& /*op*/, const scalar_rows<Elements>& rows) {
  return scalar_rows<widened_elements<Elements, To>>{{rows.elements}, rows.at};
}

/// Those of a conversion of short integers in memory to sixteen-bit floats: by way of float, which
/// has all of them.
template <class Half, class Rows>
  requires(lane::is_half_with_lanes<Half> && sizeof(typename row_of<Rows>::value_type) <= 2 &&
           requires(const Rows& leaf) {
             leaf.row(0).elements.template wide_lanes<float>(index_t{}, lane::all{});
           })
[[nodiscard]] auto make_rows(const convert_op<Half>& op, const Rows& rows) {
  return make_rows(op, make_rows(convert_op<float>{}, rows));
}

// Truths in memory have no lanes of their own. Beside what has lanes they are loaded as numbers of
// those, or the operation would have none either.

template <class Rows>
inline constexpr bool are_bare_truths =
    row_of<Rows>::width == 0 && std::is_same_v<typename row_of<Rows>::value_type, bool>;

// The type whose lanes the first of some rows are of that has any.
template <class... Rows>
struct lane_type : std::type_identity<void> {};
template <class First, class... Rest>
struct lane_type<First, Rest...> : lane_type<Rest...> {};
template <class First, class... Rest>
  requires(row_of<First>::width > 1)
struct lane_type<First, Rest...>
    : std::type_identity<real_t<lane::value_t<lanes_t<row_of<First>>>>> {};

template <class T, class Rows>
[[nodiscard]] const Rows& beside_lanes(const Rows& rows) {
  return rows;
}
template <class T, class Rows>
  requires(are_bare_truths<Rows>&& lane::widens<bool, T>&& requires(const Rows& leaf) {
    leaf.row(0).elements;
  })
[[nodiscard]] auto beside_lanes(const Rows& rows) {
  return make_rows(convert_op<bool>{}, make_rows(convert_op<T>{}, rows));
}
template <class T, std::size_t... I, class Op, class... Rows>
  requires(are_bare_truths<operation_rows<Op, Rows...>> && (are_bare_truths<Rows> && ...))
[[nodiscard]] auto beside_lanes(
    const operation_rows_of<std::index_sequence<I...>, Op, Rows...>& rows) {
  return make_rows(rows.op, beside_lanes<T>(static_cast<const part<I, Rows>&>(rows).value)...);
}

/// The rows of an operation on those of operands.
template <class Op, class... Rows>
[[nodiscard]] auto make_operation_rows(const Op& op, const Rows&... rows) {
  using T = typename lane_type<Rows...>::type;
  if constexpr ((are_bare_truths<Rows> || ...) && !std::is_void_v<T>)
    return make_rows(op, beside_lanes<T>(rows)...);
  else
    return make_rows(op, rows...);
}

/// The shape that operands have together, and the device that they are on.
template <std::size_t Rank>
struct fit {
  topos::shape<Rank> extents;
  std::optional<topos::device> place;

  [[nodiscard]] const topos::shape<Rank>& shape() const { return extents; }
  [[nodiscard]] std::optional<topos::device> device() const { return place; }
};

/// The fit of operands with these. Throws `shape_mismatch` and `device_mismatch`, which name the
/// operation and two operands that do not fit.
template <std::size_t A>
[[nodiscard]] fit<A> common_fit(const char* /*name*/, std::source_location /*where*/,
                                const fit<A>& a) {
  return a;
}
template <std::size_t A, std::size_t B, class... More>
[[nodiscard]] auto common_fit(const char* name, std::source_location where, const fit<A>& a,
                              const fit<B>& b, const More&... more) {
  const fit<std::max(A, B)> both{broadcast(name, a.extents, b.extents, where),
                                 b.place ? b.place : a.place};
  // common_device takes nanoseconds longer, of which each operator has few.
  if (a.place && *a.place != *both.place) {
    refuse_devices(name, described("the left operand", a), described("the right operand", b),
                   where);
  }
  return common_fit(name, where, both, more...);
}

template <class Op, expression... E>
struct operation_node;

/// An operand in a view of the operation: as it is, if it is the same everywhere and others
/// (`Some`) have the axes that are viewed.
template <bool Some, expression E, std::size_t N, class View>
[[nodiscard]] decltype(auto) seen(const E& e, const topos::shape<N>& whole, const View& view) {
  if constexpr (E::rank == 0 && Some)
    return (e);
  else
    return e.viewed(whole, view);
}

template <class Indices, class... E>
struct operands_of;

/// What an operation is of.
template <std::size_t... I, class... E>
struct operands_of<std::index_sequence<I...>, E...> : part<I, E>... {
  explicit operands_of(E&&... e) : part<I, E>{std::move(e)}... {}

  template <class F>
  void each(const F& f) const {
    (f(part<I, E>::value), ...);
  }

  /// The rows of an operation on these.
  template <class Op, std::size_t N>
  [[nodiscard]] auto rows(const Op& op, const walk<N>& w) const {
    return make_operation_rows(op, part<I, E>::value.rows(w)...);
  }
  /// The operation on views of these.
  template <class Op, std::size_t N, class View>
  [[nodiscard]] auto viewed(const Op& op, const std::optional<topos::device>& place,
                            std::source_location where, const topos::shape<N>& whole,
                            const View& view) const {
    constexpr bool some = N != 0;
    using node =
        operation_node<Op, std::decay_t<decltype(seen<some>(part<I, E>::value, whole, view))>...>;
    return node(op, {view(layout<N>{0, whole, {}}).extents, place}, where,
                seen<some>(part<I, E>::value, whole, view)...);
  }
};

/// An operation on expressions on one device, whose shapes broadcast.
template <class Op, expression... E>
struct [[nodiscard]] operation_node : lazy, operand_base<operation_node<Op, E...>> {
  using value_type =
      decltype(call(std::declval<const Op&>(), std::declval<typename E::value_type>()...));
  static constexpr std::size_t rank = std::max({E::rank...});
  Op op;
  fit<rank> fitted;
  std::source_location made_at;  // by the user, where that is known
  operands_of<std::index_sequence_for<E...>, E...> parts;

  /// Throws `shape_mismatch` and `device_mismatch`, which name the operation and its operands.
  operation_node(const char* name, std::source_location where, Op o, E... e)
      : op(std::move(o)),
        fitted(common_fit(name, where, fit<E::rank>{e.shape(), e.device()}...)),
        made_at(where),
        parts(std::move(e)...) {}

  /// Of parts that are known to fit.
  operation_node(Op o, const fit<rank>& f, std::source_location where, E... e)
      : op(std::move(o)), fitted(f), made_at(where), parts(std::move(e)...) {}

  /// There is nothing to assign to.
  template <operand_or_scalar X>
  void operator=(const X& /*x*/) const {
    lazy::cannot_be_assigned_to<X>();
  }

  using operand_base<operation_node>::shape;
  [[nodiscard]] const topos::shape<rank>& shape() const { return fitted.extents; }
  [[nodiscard]] std::optional<topos::device> device() const { return fitted.place; }
  void collect(std::vector<buffer>& reads) const {
    parts.each([&](const auto& e) { e.collect(reads); });
  }
  template <class Layouts>
  void leaves(Layouts& layouts) const {
    parts.each([&](const auto& e) { e.leaves(layouts); });
  }
  void traffic(std::vector<memory_read>& all) const {
    parts.each([&](const auto& e) { e.traffic(all); });
  }
  template <std::size_t N>
  [[nodiscard]] auto rows(const walk<N>& w) const {
    return parts.rows(op, w);
  }
  /// The view of an operation is the operation on views.
  template <std::size_t N, class View>
  [[nodiscard]] auto viewed(const topos::shape<N>& whole, const View& view) const {
    return parts.viewed(op, fitted.place, made_at, whole, view);
  }
};

}  // namespace topos::detail
