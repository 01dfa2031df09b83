// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tensor: elements in rows on one device, a value that is cheap to copy.

#include <algorithm>
#include <concepts>
#include <limits>
#include <source_location>
#include <span>
#include <topos/async/event.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/shape.hpp>
#include <topos/device/default_device.hpp>
#include <topos/expr/generators.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/own_memory.hpp>
#include <topos/expr/reshape.hpp>
#include <topos/expr/slice.hpp>
#include <topos/kernels/map.hpp>
#include <topos/tensor/kept_span.hpp>
#include <type_traits>
#include <utility>

namespace topos {

template <class T, std::size_t Rank, std::size_t Whole>
class tensor_slice;

// The operators in place, of tensors and of their slices, each with the function that it stands
// for.
#define TOPOS_IN_PLACE_OPERATORS(each)                                                       \
  each(+=, add) each(-=, subtract) each(*=, multiply) each(/=, divide) each(%=, remainder)   \
      each(&=, bitwise_and) each(|=, bitwise_or) each(^=, bitwise_xor) each(<<=, left_shift) \
          each(>>=, right_shift)

/// A dense row-major array of `Rank` axes on one device. Copies share memory; no operation changes
/// what another tensor holds. Its content may still be being computed: reading it waits.
template <element T, std::size_t Rank>
class tensor : public detail::operand_base<tensor<T, Rank>> {
 public:
  using value_type = T;
  static constexpr std::size_t rank = Rank;

  /// A tensor without elements, on the CPU.
  tensor() requires(Rank > 0) : extents_{} {}

  /// Room for a shape on a device, with any content. Throws `out_of_memory`.
  explicit tensor(topos::shape<Rank> extents, topos::device d = default_device::current(),
                  std::source_location where = std::source_location::current())
      : extents_(extents), memory_(d, bytes_of(extents, where), where) {}

  /// Enqueues one fused kernel that computes an expression, and returns at once.
  template <expression E>
    requires(std::same_as<typename E::value_type, T>&& E::rank == Rank)
  tensor(const E& e, std::source_location where = std::source_location::current())
      : tensor(for_work(e.shape(), e.device().value_or(default_device::current()), where)) {
    detail::map(e, memory_, whole(), where);
  }

  tensor(const tensor&) = default;
  tensor& operator=(const tensor&) = default;

  /// Takes over what a tensor holds. That one has no elements from then on, as if it were new; one
  /// of no axes, which cannot be empty, throws `invalid_argument` where it is used.
  tensor(tensor&& x) noexcept
      : extents_(std::exchange(x.extents_, {})),
        memory_(std::move(x.memory_)),
        offset_(std::exchange(x.offset_, 0)) {}
  tensor& operator=(tensor&& x) noexcept {
    extents_ = std::exchange(x.extents_, {});
    memory_ = std::move(x.memory_);
    offset_ = std::exchange(x.offset_, 0);
    return *this;
  }
  ~tensor() = default;

  /// Enqueues one fused kernel that computes an expression, and returns at once. It is computed in
  /// place, where nobody else holds this memory: `y = y + x`, if the expression is not a name's and
  /// reads each element only where it is written; and `y = x + 1`, if what was there is computed.
  template <class E>
    requires(expression<std::remove_cvref_t<E>>&& std::same_as<
                 typename std::remove_cvref_t<E>::value_type, T>&& std::remove_cvref_t<E>::rank ==
             Rank)
  tensor& operator=(E&& e) {
    const std::source_location where = detail::made_at(e);
    if (!may_hold(e, std::is_rvalue_reference_v<E&&>, where)) return *this = tensor(e, where);
    detail::map(e, memory_, whole(), where);
    return *this;
  }

  /// A tensor keeps its element type and its number of axes.
  template <operand X>
    requires(!std::same_as<detail::value_of_t<X>, T> || detail::node_t<X>::rank != Rank)
  tensor& operator=(const X& /*x*/) {
    static_assert(detail::is_never<X>,
                  "topos: what is assigned has other elements or axes than this tensor: convert it "
                  "with astype or reshape, or make a new tensor of it, auto y = eval(...)");
    return *this;
  }

  /// A tensor over memory that is written already, or by queued work that knows the buffer.
  tensor(buffer memory, index_t offset, topos::shape<Rank> extents)
      : extents_(extents), memory_(std::move(memory)), offset_(offset) {}

  /// Room for what this thread enqueues next, and what writes all of it: see room_for_work.
  [[nodiscard]] static tensor for_work(const topos::shape<Rank>& extents, topos::device d,
                                       std::source_location where) {
    return {detail::room_for_work(d, bytes_of(extents, where), sizeof(T), where), 0, extents};
  }

  [[nodiscard]] topos::device device() const noexcept { return memory_.where(); }
  [[nodiscard]] const topos::shape<Rank>& shape() const noexcept { return extents_; }
  using detail::operand_base<tensor>::shape;
  [[nodiscard]] index_t size() const noexcept {
    std::size_t size = 1;  // which may wrap on the way to 0
    for (const index_t extent : extents_) size *= static_cast<std::size_t>(extent);
    return static_cast<index_t>(size);
  }

  /// The index of its GPU, -1 on the CPU.
  [[nodiscard]] int get_device() const noexcept {
    return device().kind() == device_kind::cpu ? -1 : device().index();
  }

  /// True once its content is computed (or has failed to be).
  [[nodiscard]] bool is_ready() const { return detail::is_ready(memory_); }

  /// Waits until its content is computed; rethrows what its computation failed with.
  const tensor& block_until_ready() const {
    detail::block_until_ready(memory_);
    return *this;
  }

  /// The elements in row-major order. Waits for them. Throws `device_mismatch` if the tensor is
  /// not on the CPU: see cpu(). Valid as long as a copy of this tensor lives; of a tensor that is
  /// only returned the span keeps the memory itself.
  [[nodiscard]] std::span<const T> host(
      std::source_location where = std::source_location::current()) const& {
    if (device() != topos::cpu()) {
      throw device_mismatch(detail::concat("host: the tensor ", to_string(extents_), " is on ",
                                           device(), "; copy it with .cpu() first"),
                            where);
    }
    require_held(where);
    block_until_ready();
    return {data(), static_cast<std::size_t>(size())};
  }
  [[nodiscard]] kept_span<T> host(std::source_location where = std::source_location::current()) && {
    return {std::as_const(*this).host(where), memory_};
  }

  /// Element `i` of the first axis, a negative one from its end, without a copy. Throws
  /// `out_of_range`.
  [[nodiscard]] tensor<T, Rank - 1> row(
      index_t i, std::source_location where = std::source_location::current()) const
      requires(Rank > 0) {
    const index_t at = i < 0 ? i + extents_[0] : i;
    if (at < 0 || at >= extents_[0]) {
      throw out_of_range(detail::concat("row: index ", i, " is out of range for a tensor of shape ",
                                        to_string(extents_)),
                         where);
    }
    topos::shape<Rank - 1> rest;
    std::copy(extents_.begin() + 1, extents_.end(), rest.begin());
    return {memory_, offset_ + at * (size() / extents_[0]), rest};
  }

  /// The tensor as a leaf of an expression.
  [[nodiscard]] detail::tensor_node<T, Rank> node() const& {
    require_held();
    return {detail::memory_source<T>{memory_}, whole()};
  }
  [[nodiscard]] detail::tensor_node<T, Rank> node() && {
    return static_cast<const tensor&>(tensor(std::move(*this))).node();
  }

  /// A part of the tensor that can be assigned to, by one index for each of its first axes: see
  /// slice. `x.slice(range{0, 2}) = y` changes x alone: tensors that shared its memory keep theirs.
  /// It refers to x: a part that is to outlive x is `slice(x, ...)`, which owns what it reads.
  template <detail::axis_index I = detail::braced, detail::axis_index J = detail::braced,
            detail::axis_index K = detail::braced, detail::axis_index L = detail::braced,
            detail::axis_index M = detail::braced, detail::axis_index N = detail::braced,
            detail::axis_index O = detail::braced, detail::axis_index P = detail::braced>
  [[nodiscard]] auto slice(
      I i = {}, J j = {}, K k = {}, L l = {}, M m = {}, N n = {}, O o = {}, P p = {},
      std::source_location where = std::source_location::current()) & TOPOS_LIFETIMEBOUND {
    const auto view = detail::view_at(extents_, where, i, j, k, l, m, n, o, p);
    const auto part =
        view(detail::layout<Rank>::dense(extents_));  // of the tensor, wherever it begins
    return tensor_slice<T, decltype(view)::rank, Rank>(*this, part, where);
  }
  using detail::operand_base<tensor>::slice;

  /// There is no slice by a mask or by a tensor of indices. What is returned can be assigned to
  /// only for the sake of the compiler's message.
  template <operand Mask>
  tensor_slice<T, Rank, Rank> slice(const Mask& /*mask*/) & {
    static_assert(detail::is_never<Mask>,
                  "topos: slice takes numbers and ranges: to assign by a mask, write "
                  "x = where(mask, value, x)");
    return this->slice(range{});
  }

  /// There is no element to refer to: it may be on another device, or yet to be computed.
  template <class I>
  void operator[](const I& /*index*/) const {
    static_assert(detail::is_never<I>,
                  "topos: a tensor has no [] and no (): write slice(x, 1) for a part, x.slice(1) = "
                  "y to assign to one, x.item(1, 2) for a value, x.host()[0] for many");
  }
  template <std::integral... I>
    requires(sizeof...(I) != 0)
  void operator()(I... /*indices*/) const { operator[](0); }

  /// Combines it with an operand or scalar that broadcasts to this shape, in place where nobody
  /// else holds the memory. Throws `shape_mismatch`, `device_mismatch`.
#define TOPOS_IN_PLACE(sign, function)                                                       \
  template <detail::operand_or_scalar X>                                                     \
  friend tensor& operator sign(detail::located<tensor> a, const X& x) {                      \
    return a.value.in_place(#sign, x, a.where,                                               \
                            [&](const auto& by) { return function(a.value, by, a.where); }); \
  }
  TOPOS_IN_PLACE_OPERATORS(TOPOS_IN_PLACE)
#undef TOPOS_IN_PLACE

  /// Makes this the only holder of memory that may be written from here, with the same content: a
  /// copy where it is shared, or where another queue still reads it.
  void make_unique(std::source_location where = std::source_location::current()) {
    if (!detail::may_overwrite(memory_, where)) *this = tensor(node(), where);
  }

  /// The buffer that holds the elements, for queued work.
  [[nodiscard]] const buffer& memory() const {
    require_held();
    return memory_;
  }

  /// How many elements of that lie before the tensor's own.
  [[nodiscard]] index_t offset() const noexcept { return offset_; }

  /// The first element; of use on the device, to queued work or once that is done. What is written
  /// through it is seen by all that shares the memory, unless `make_unique` was called.
  [[nodiscard]] T* data() const noexcept {
    return memory_.data() == nullptr ? nullptr : static_cast<T*>(memory_.data()) + offset_;
  }

 private:
  [[nodiscard]] detail::layout<Rank> whole() const {
    return detail::layout<Rank>::dense(extents_, offset_);
  }

  template <class X>
  void require_fits(const char* name, const X& x, std::source_location where) const {
    static_assert(X::rank <= Rank, "topos: the result has more axes than this tensor");
    if constexpr (X::rank <= Rank)  // the compiler's own words of it are long
      detail::require_broadcasts_to(name, topos::shape<X::rank>(x.shape()), extents_, where);
  }

  // Asks who holds the memory before the expression, which does too, is made. A tensor of this
  // shape may be this one, which is read where it is written; the node of anything else holds what
  // it reads.
  template <class X, class Make>
  tensor& in_place(const char* name, const X& x, std::source_location where, Make make) {
    if constexpr (requires { x.memory(); }) require_fits(name, x, where);
    if constexpr (detail::scalar<X> || requires { x.memory(); }) {
      const bool alone = detail::may_overwrite(memory_, where);
      return update(alone, make(x), where);
    } else {
      decltype(auto) by = detail::as_node(x);
      require_fits(name, by, where);
      const bool alone = detail::may_overwrite(memory_, where);
      return update(alone, make(by), where);
    }
  }

  // Whether nobody but e would see that e is computed into this memory; `given`: e is no name's.
  // What is new begins without the failure of what was there.
  template <expression E>
  [[nodiscard]] bool may_hold(const E& e, bool given, std::source_location where) const {
    if (!memory_.is_own() || e.shape() != extents_) return false;
    detail::own_memory of{memory_};
    of.find(e, whole());
    if (of.apart) return false;
    if (of.leaves != 0) return given && detail::may_overwrite(memory_, where, of.leaves + 1);
    return e.device().value_or(default_device::current()) == device() &&
           detail::is_ready(memory_) && !memory_.poison() && detail::may_overwrite(memory_, where);
  }

  // `alone`: whether nobody but e held the memory.
  template <expression E>
  tensor& update(bool alone, const E& e, std::source_location where) {
    static_assert(!std::integral<T> || std::integral<typename E::value_type>,
                  "topos: the result is floating-point and would be cut off: use astype");
    static_assert(detail::is_complex<T> || !detail::is_complex<typename E::value_type>,
                  "topos: the result is complex and this tensor real");
    if constexpr (E::rank <= Rank) {
      const auto converted = detail::convert<T>(e);
      if (!alone) return *this = tensor(converted, where);
      detail::map(converted, memory_, whole(), where);
    }
    return *this;
  }

  template <class U, std::size_t R, std::size_t Whole>
  friend class tensor_slice;

  // Of no axes a tensor has one element, and memory for it unless that was moved away.
  void require_held(std::source_location where = {}) const {
    if constexpr (Rank == 0) {
      if (memory_.data() == nullptr) [[unlikely]]
        throw invalid_argument("a tensor of shape () is used after it was moved from", where);
    }
  }

  static std::size_t bytes_of(const topos::shape<Rank>& extents, std::source_location where) {
    const auto size = static_cast<std::size_t>(size_of_shape(extents, where));
    if (size > std::numeric_limits<index_t>::max() / sizeof(T)) {
      throw shape_mismatch(
          detail::concat("tensor: the bytes of shape ", to_string(extents), " do not fit 63 bits"),
          where);
    }
    return size * sizeof(T);
  }

  topos::shape<Rank> extents_;
  buffer memory_;
  index_t offset_ = 0;
};

namespace detail {

/// What `reshape` of a tensor gives: a tensor, in the same memory.
template <element T, std::size_t Rank, std::size_t N>
[[nodiscard]] tensor<T, N> reshaped(const tensor<T, Rank>& x, const shape<N>& extents,
                                    std::source_location where) {
  return {x.memory(), x.offset(), completed_shape(extents, x.size(), x.shape(), where)};
}

}  // namespace detail

/// The tensor of an expression: `tensor y(a + b)`.
template <expression E>
tensor(const E&) -> tensor<typename E::value_type, E::rank>;
template <class T, std::size_t Rank, std::size_t Whole>
tensor(const tensor_slice<T, Rank, Whole>&) -> tensor<T, Rank>;

}  // namespace topos

// What `slice` returns, and what expressions become; they need all of the above.
#include <topos/tensor/evaluation.hpp>
#include <topos/tensor/tensor_slice.hpp>
