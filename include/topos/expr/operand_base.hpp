// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The members that tensors, expressions and what else stands for one have alike.

#include <array>
#include <concepts>
#include <source_location>
#include <topos/core/layout.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/device.hpp>
#include <topos/expr/located_operators.hpp>
#include <type_traits>

namespace topos::detail {

struct braced;

/// A number given to a member that takes several, the first of which knows where in the user's
/// source they stand: behind them is no room for a default argument.
struct located_index {
  index_t value;
  std::source_location where;

  // Not explicit: the conversion is made where the member is called.
  template <std::integral I>
  located_index(I i, std::source_location w = std::source_location::current())
      : value(static_cast<index_t>(i)), where(w) {}
};

// Functions that members of their names would hide, found by what they are of.
template <class X, std::size_t N>
[[nodiscard]] auto reshaped(const X& x, const topos::shape<N>& extents,
                            std::source_location where) {
  return reshape(x, extents, where);
}
template <class X, class... A>
[[nodiscard]] auto sliced(const X& x, const A&... a) {
  return slice(x, a...);
}

/// The base of operands. `to`, `cpu`, `gpu`, `cuda` and `item`, for which tensor/placement.hpp has
/// to be included, compute what is not computed yet, each time: keep `eval(x)` of what is asked
/// twice.
template <class Self>
struct operand_base : located_operators<Self> {
  /// The extent of an axis, a negative one from the last. Throws `out_of_range`.
  [[nodiscard]] index_t shape(index_t axis,
                              std::source_location where = std::source_location::current()) const {
    return self().shape()[checked_axis("shape", axis, node_t<Self>::rank, where)];
  }

  /// The number of elements.
  [[nodiscard]] index_t size(std::source_location where = std::source_location::current()) const {
    return size_of_shape(topos::shape<node_t<Self>::rank>(self().shape()), where);
  }

  /// The same elements in the same order under another shape, one of whose extents may be -1: what
  /// is left. Lazy; of a tensor a tensor, without a copy. Throws `shape_mismatch` if the number of
  /// elements differs.
  template <std::size_t N>
  [[nodiscard]] auto reshape(const topos::shape<N>& extents,
                             std::source_location where = std::source_location::current()) const {
    return reshaped(self(), extents, where);
  }
  template <std::size_t N>
  [[nodiscard]] auto reshape(const index_t (&extents)[N],
                             std::source_location where = std::source_location::current()) const {
    return reshape(std::to_array(extents), where);
  }
  template <std::integral... I>
  [[nodiscard]] auto reshape(located_index first, I... more) const {
    return reshape(topos::shape<1 + sizeof...(I)>{first.value, static_cast<index_t>(more)...},
                   first.where);
  }

  /// A part by one index for each of the first axes, lazy: the function of this name.
  template <class I = braced, class J = braced, class K = braced, class L = braced,
            class M = braced, class N = braced, class O = braced, class P = braced>
  [[nodiscard]] auto slice(I i = {}, J j = {}, K k = {}, L l = {}, M m = {}, N n = {}, O o = {},
                           P p = {},
                           std::source_location where = std::source_location::current()) const& {
    return sliced(self(), i, j, k, l, m, n, o, p, where);
  }

  /// The tensor of it on a device: computed where what it reads is, then moved; a tensor that is
  /// there already is itself, without a copy. See device_put.
  [[nodiscard]] auto to(topos::device d,
                        std::source_location where = std::source_location::current()) const {
    return device_put(self(), d, where);
  }
  [[nodiscard]] auto cpu(std::source_location where = std::source_location::current()) const {
    return to(topos::cpu(), where);
  }
  [[nodiscard]] auto gpu(int index = 0,
                         std::source_location where = std::source_location::current()) const {
    return to(topos::gpu(index, where), where);
  }
  [[nodiscard]] auto cuda(int index = 0,
                          std::source_location where = std::source_location::current()) const {
    return to(topos::cuda(index, where), where);
  }

  /// The value of what has one element, from any device. Waits for it. Throws `shape_mismatch` if
  /// there are more or none.
  [[nodiscard]] auto item(std::source_location where = std::source_location::current()) const {
    return only_value(self(), where);
  }

  /// The value at an index, one for each axis, negative ones from the end: of an expression that
  /// element alone is computed. Waits for it. Throws `out_of_range`.
  template <std::size_t N, class X = Self>
    requires(N == node_t<X>::rank)
  [[nodiscard]] auto item(const topos::shape<N>& index,
                          std::source_location where = std::source_location::current()) const {
    return only_value(element_at(self(), index, where), where);
  }
  template <std::size_t N, class X = Self>
    requires(N == node_t<X>::rank)
  [[nodiscard]] auto item(const index_t (&index)[N],
                          std::source_location where = std::source_location::current()) const {
    return item(std::to_array(index), where);
  }
  template <std::integral... I, class X = Self>
    requires(1 + sizeof...(I) == node_t<X>::rank)
  [[nodiscard]] auto item(located_index first, I... more) const {
    return item(topos::shape<1 + sizeof...(I)>{first.value, static_cast<index_t>(more)...},
                first.where);
  }

  /// The value of what has no axes as a number: `float(sum(x))`, `while (norm(r) > 0.1f)`.
  template <scalar T, class X = Self>
    requires(node_t<X>::rank == 0 && std::is_constructible_v<T, value_of_t<X>>)
  explicit operator T() const {
    if constexpr (expression<X>)
      return static_cast<T>(self().item(made_at(self())));
    else
      return static_cast<T>(self().item());
  }

  /// There is no memory to look at yet.
  template <class... I>
  void host(const I&... /*where*/) const {
    static_assert(is_never<I...>, "topos: this is not computed yet: write eval(x).host()");
  }
  /// Nor anything to wait for.
  template <class... I>
  void block_until_ready(const I&... /*nothing*/) const {
    static_assert(is_never<I...>,
                  "topos: this is not computed yet: write eval(x).block_until_ready()");
  }

  /// It is no range: elements may be on another device, or yet to be computed.
  template <class X = Self>
  void begin() const {
    static_assert(is_never<X>,
                  "topos: no range: write for (float v : x.host()), of an expression "
                  "eval(x).host(), or x.row(i) for i < x.shape(0)");
  }
  template <class X = Self>
  void end() const {}

 private:
  [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace topos::detail
