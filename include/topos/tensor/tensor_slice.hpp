// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A part of a tensor that can be assigned to: what `slice` of a tensor gives.

#include <source_location>
#include <topos/core/shape.hpp>
#include <topos/device/common_device.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/slice.hpp>
#include <topos/kernels/map.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>

namespace topos {

/// A part of a tensor that can be assigned to. An operand like any other, too.
template <class T, std::size_t Rank, std::size_t Whole>
class tensor_slice : public detail::operand_base<tensor_slice<T, Rank, Whole>> {
 public:
  tensor_slice(tensor<T, Whole>& of, const detail::layout<Rank>& part, std::source_location where)
      : of_(of), whole_(of.extents_), part_(part), where_(where) {}
  tensor_slice(const tensor_slice&) = default;

  using detail::operand_base<tensor_slice>::shape;
  [[nodiscard]] const topos::shape<Rank>& shape() const { return part_.extents; }
  [[nodiscard]] topos::device device() const { return of_.device(); }
  [[nodiscard]] detail::tensor_node<T, Rank> node() const {
    return {detail::memory_source<T>{of_.memory_}, placed()};
  }

  /// Enqueues a copy of the part, and returns it at once.
  operator tensor<T, Rank>() const { return tensor<T, Rank>(node(), where_); }

  /// Enqueues the assignment of an operand that broadcasts to this shape, or of a scalar. Throws
  /// `shape_mismatch`, `device_mismatch`, and `invalid_argument` for a whole number that integers
  /// of type T do not have.
  template <detail::operand_or_scalar X>
  const tensor_slice& operator=(const X& x) const {
    const bool shared = !detail::may_overwrite(of_.memory_, where_);
    if constexpr (operand<X>) {
      return assign(detail::as_node(x), false, shared);
    } else {
      detail::require_fits<T>("slice", x, where_);
      return assign(detail::filled<T>(detail::convert_op<T>{}(x), part_.extents, device()), false,
                    shared);
    }
  }
  const tensor_slice& operator=(const tensor_slice& x) const {
    return this->template operator=<tensor_slice>(x);
  }

#define TOPOS_IN_PLACE(sign, function)                                               \
  template <detail::operand_or_scalar X>                                             \
  const tensor_slice& operator sign(const X& x) const {                              \
    return in_place(x, [&](const auto& by) { return function(*this, by, where_); }); \
  }
  TOPOS_IN_PLACE_OPERATORS(TOPOS_IN_PLACE)
#undef TOPOS_IN_PLACE

 private:
  // See tensor::in_place; here a tensor's elements may go elsewhere than they are.
  template <class X, class Make>
  const tensor_slice& in_place(const X& x, Make make) const {
    const bool shared = !detail::may_overwrite(of_.memory_, where_);
    if constexpr (operand<X>) {
      decltype(auto) by = detail::as_node(x);
      require_fits(by);
      const bool alone = detail::may_overwrite(of_.memory_, where_);
      return assign(make(by), alone, shared);
    } else {
      return assign(make(x), !shared, shared);
    }
  }

  // The part in the memory that the tensor has now, which may have been assigned another shape.
  [[nodiscard]] detail::layout<Rank> placed() const {
    detail::require_sliced(whole_, of_.extents_, where_);
    detail::layout<Rank> l = part_;
    l.offset += of_.offset_;
    return l;
  }

  template <expression E>
  void require_fits(const E& e) const {
    static_assert(E::rank <= Rank, "topos: what is assigned has more axes than the slice");
    if constexpr (E::rank <= Rank) {  // the compiler's own words are long
      const topos::shape<E::rank> from = e.shape();
      detail::require_broadcasts_to("slice", from, part_.extents, where_);
    }
  }

  // `alone`: nobody but e reads the tensor's memory, each element where it is written. `shared`:
  // others than e hold it.
  template <expression E>
  const tensor_slice& assign(const E& e, bool alone, bool shared) const {
    require_fits(e);
    if constexpr (E::rank <= Rank) fill(e, alone, shared);
    return *this;
  }
  template <expression E>
  void fill(const E& e, bool alone, bool shared) const {
    detail::common_device("slice", "the slice", *this, "what is assigned to it", e, where_);
    const auto write = [&](const auto& node) {
      using from = std::decay_t<decltype(node)>;
      const topos::shape<from::rank> whole = node.shape();
      const auto spread = node.viewed(whole, detail::broadcast_view<Rank>{part_.extents});
      detail::map(spread, of_.memory_, placed(), where_);
    };
    const auto converted = detail::convert<T>(e);
    if (alone) {
      write(converted);
    } else if (detail::reads_from(of_.memory_, converted)) {
      // Its elements may be written before they are read.
      const tensor<T, E::rank> computed(converted, where_);
      if (shared) of_.make_unique(where_);
      write(computed.node());
    } else {
      of_.make_unique(where_);
      write(converted);
    }
  }

  tensor<T, Whole>& of_;
  topos::shape<Whole> whole_;  // when it was sliced
  detail::layout<Rank> part_;
  std::source_location where_;  // of the call of slice
};

#undef TOPOS_IN_PLACE_OPERATORS

}  // namespace topos
