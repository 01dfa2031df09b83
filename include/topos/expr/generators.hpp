// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arrays that follow from their index: expressions that read no memory.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <topos/core/promotion.hpp>
#include <topos/device/default_device.hpp>
#include <topos/expr/expression.hpp>
#include <topos/expr/operations.hpp>
#include <type_traits>

namespace topos {

namespace detail {

/// Elements that follow from their number, as a source on a device.
template <class Elements>
struct generated_source {
  using value_type = typename Elements::value_type;
  Elements made;
  topos::device place;

  [[nodiscard]] std::optional<topos::device> device() const { return place; }
  void collect(std::vector<buffer>& /*reads*/) const {}
  [[nodiscard]] const Elements& elements() const { return made; }
};

template <class Elements, std::size_t Rank>
[[nodiscard]] auto generated(const Elements& elements, const shape<Rank>& extents, device d) {
  using source = generated_source<Elements>;
  return strided_node<source, Rank>(source{elements, d}, layout<Rank>::dense(extents));
}

// 0, 1, ... for each lane: a constant, which a loop keeps in a register.
template <class T>
struct lane_numbers {
  alignas(64) T value[lane::width<T>];
};
template <class T>
inline constexpr lane_numbers<T> ramp = [] {
  lane_numbers<T> numbers{};
  for (index_t i = 0; i < lane::width<T>; ++i) numbers.value[i] = static_cast<T>(i);
  return numbers;
}();

/// Lane i holds the number o + i.
template <class T>
[[nodiscard]] inline auto numbers_from(index_t o) {
  return lane::load(ramp<T>.value) + lane::splat(static_cast<T>(o));
}

/// The same as floating-point numbers, rounded once, of numbers that 32 bits hold.
template <class T>
[[nodiscard]] inline auto floats_from(index_t o) {
  if constexpr (std::same_as<T, float>)
    return lane::to_float(numbers_from<std::int32_t>(o));
  else
    return numbers_from<T>(o);
}
/// Whether batches from o on are of such numbers.
template <class T>
[[nodiscard]] inline bool are_of_32_bits(index_t o) {
  return o <= (index_t{1} << 31) - lane::width<T>;
}
/// Lanes of elements one by one, where they are beyond these.
template <class T, class Elements>
[[nodiscard, gnu::noinline, gnu::cold]] auto lanes_one_by_one(const Elements& elements, index_t o) {
  return lane::generate<T>([&](index_t i) { return elements(o + i); });
}

template <class T>
struct constant_elements {
  using value_type = T;
  T value;

  KOKKOS_FUNCTION T operator()(index_t /*o*/) const { return value; }
  template <class Count>
    requires lane::element<T>
  [[nodiscard]] auto lanes(index_t /*o*/, Count /*count*/) const { return lane::splat(value); }
};

/// One value everywhere.
template <class T, std::size_t Rank>
[[nodiscard]] auto filled(const T& value, const shape<Rank>& extents, device d) {
  return generated(constant_elements<T>{value}, extents, d);
}

template <class T>
struct arange_elements {
  using value_type = T;
  using counting = T;
  T start;
  T step;

  KOKKOS_FUNCTION T operator()(index_t o) const {
    if constexpr (is_half<T>) {
      return T(static_cast<float>(start) +
               lane::rounded(static_cast<float>(o) * static_cast<float>(step)));
    } else if constexpr (std::floating_point<T>) {
      return start + lane::rounded(static_cast<T>(o) * step);
    } else {
      return add_op{}(start, multiply_op{}(static_cast<T>(o), step));
    }
  }
  template <class Count>
    requires(lane::element<T> && sizeof(T) >= 4)
  [[nodiscard]] auto lanes(index_t o, Count /*count*/) const {
    if (!are_of_32_bits<T>(o)) [[unlikely]]
      return lanes_one_by_one<T>(*this, o);
    if constexpr (std::floating_point<T>) {
      return lane::splat(start) + lane::rounded(floats_from<T>(o) * lane::splat(step));
    } else {
      // As unsigned numbers, whose sums and products wrap around.
      using word = std::make_unsigned_t<T>;
      const auto from = lane::splat(static_cast<word>(start));
      const auto n = numbers_from<word>(o);
      return lane::bits_as<T>(step == T(1) ? from + n : from + n * lane::splat(word(step)));
    }
  }
};

/// Numbers that an arange is made of without its type being named.
template <class T>
concept real_number = element<T> &&(std::floating_point<T> || is_integer<T>);

/// The type of the numbers between others: of integers that promote to no integer one of 64 bits.
template <class A, class... More>
struct range_of {
  static constexpr bool whole = std::integral<A> && (std::integral<More> && ...);
  using promoted = promote_t<A, typename range_of<More...>::type>;
  using type = std::conditional_t<whole && !std::integral<promoted>, index_t, promoted>;
};
template <class A>
struct range_of<A> {
  using type = A;
};

/// The type of a range's bounds.
template <class T>
using range_bound =
    std::conditional_t<is_half<T>, float, std::conditional_t<is_integer<T>, integer_bound<T>, T>>;

// How many numbers an arange has, if that is finite and fits. Of integers it is counted as unsigned
// ones of 64 bits, where the distance of any two is exact.
template <class T>
[[nodiscard]] std::optional<index_t> arange_count(T start, T stop, T step) {
  if constexpr (std::integral<T>) {
    const bool up = step > T(0);
    if (up ? start >= stop : start <= stop) return 0;
    const auto from = static_cast<std::uint64_t>(up ? start : stop);
    const auto to = static_cast<std::uint64_t>(up ? stop : start);
    const auto by = static_cast<std::uint64_t>(step);
    const std::uint64_t whole_steps = (to - from - 1) / (up ? by : 0 - by);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<index_t>::max());
    if (whole_steps >= most) return std::nullopt;
    return static_cast<index_t>(whole_steps + 1);
  } else {
    const double count = std::ceil((static_cast<double>(stop) - static_cast<double>(start)) /
                                   static_cast<double>(step));
    if (!(count < 9e18)) return std::nullopt;  // NaN too
    return count < 0 ? 0 : static_cast<index_t>(count);
  }
}

/// The elements of an arange of T. Throws `invalid_argument`: see arange.
template <class T>
[[nodiscard]] auto arange_of(range_bound<T> start, range_bound<T> stop, range_bound<T> step,
                             device d, std::source_location where) {
  const auto refuse = [&](const auto&... why) {
    throw invalid_argument(concat("arange: from ", start, " to ", stop, " by ", step, ": ", why...),
                           where);
  };
  if (step == range_bound<T>(0)) refuse("the step must not be 0");
  const std::optional<index_t> count = arange_count(start, stop, step);
  if (!count) refuse("the number of elements must be finite, and fit 63 bits");
  if constexpr (std::integral<T>) {
    // The last number, which is before `stop`: unsigned, as steps of the way may be beyond T.
    const auto steps = static_cast<std::uint64_t>(*count - 1);
    const std::uint64_t last =
        static_cast<std::uint64_t>(start) + steps * static_cast<std::uint64_t>(step);
    for (const auto number : {start, static_cast<range_bound<T>>(last)}) {
      if (*count != 0 && !std::in_range<T>(number))
        refuse("the number ", number, " does not fit ", dtype_name_v<T>);
    }
  }
  return generated(arange_elements<T>{static_cast<T>(start), static_cast<T>(step)},
                   shape<1>{*count}, d);
}

/// start + o * step, and stop itself at the end: NumPy's linspace.
template <class T>
struct linspace_elements {
  using value_type = T;
  T start;
  T stop;
  T step;
  index_t last;  // the number that is `stop` itself; the largest: none

  KOKKOS_FUNCTION T operator()(index_t o) const {
    return o == last ? stop : start + lane::rounded(static_cast<T>(o) * step);
  }
  template <class Count>
    requires(std::same_as<T, float>)
  [[nodiscard]] auto lanes(index_t o, Count /*count*/) const {
    if (!are_of_32_bits<T>(o) || o > last - lane::width<T>) [[unlikely]]
      return lanes_one_by_one<T>(*this, o);
    return lane::splat(start) + lane::rounded(floats_from<T>(o) * lane::splat(step));
  }
};

template <class T>
struct eye_elements {
  using value_type = T;
  index_t columns;
  index_t diagonal;

  KOKKOS_FUNCTION T operator()(index_t o) const {
    return o % columns - o / columns == diagonal ? T(1) : T(0);
  }
  template <class Count>
    requires lane::element<T>
  [[nodiscard]] auto lanes(index_t o, Count /*count*/) const {
    if (columns < lane::width<T>) [[unlikely]]
      return one_by_one(o);
    // Of two rows at most.
    const index_t row = o / columns;
    const auto numbers = numbers_from<T>(0);
    return lane::select(
        (numbers == lane::splat(one_of(row, o))) | (numbers == lane::splat(one_of(row + 1, o))),
        lane::splat(T(1)), lane::splat(T(0)));
  }

 private:
  // The lane, or one that is not there, which has the one of a row.
  [[nodiscard]] T one_of(index_t row, index_t o) const {
    if (diagonal < -row || diagonal >= columns - row) return T(lane::width<T>);
    const index_t at = row * columns + (row + diagonal) - o;
    return static_cast<T>(0 <= at && at < lane::width<T> ? at : lane::width<T>);
  }
  [[gnu::noinline, gnu::cold]] auto one_by_one(index_t o) const {
    return lane::generate<T>([&](index_t i) { return (*this)(o + i); });
  }
};

}  // namespace detail

/// start, start + step, ... up to, not including, stop: an expression of one axis. Bounds may be
/// beyond T: `arange<std::uint8_t>(256)` has all its numbers. Throws `invalid_argument` if step is
/// 0 or the number of elements is not finite, or T does not have all of them.
template <element T>
  requires(detail::is_real_floating<T> || detail::is_integer<T>)
[[nodiscard]] auto arange(detail::range_bound<T> start, detail::range_bound<T> stop,
                          detail::range_bound<T> step = 1, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return detail::arange_of<T>(start, stop, step, d, where);
}
template <element T>
  requires(detail::is_real_floating<T> || detail::is_integer<T>)
[[nodiscard]] auto arange(detail::range_bound<T> start, detail::range_bound<T> stop, device d,
                          std::source_location where = std::source_location::current()) {
  return detail::arange_of<T>(start, stop, 1, d, where);
}
/// 0, 1, ... up to, not including, stop.
template <element T>
  requires(detail::is_real_floating<T> || detail::is_integer<T>)
[[nodiscard]] auto arange(detail::range_bound<T> stop, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return detail::arange_of<T>(0, stop, 1, d, where);
}

/// The same in the type of the numbers, or that which theirs promote to: `arange(5)` is of int, and
/// `arange(0, v.size())` of int64.
template <int = 0, detail::real_number A, detail::real_number B, detail::real_number C>
[[nodiscard]] auto arange(A start, B stop, C step, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  using T = typename detail::range_of<A, B, C>::type;
  return arange<T>(static_cast<T>(start), static_cast<T>(stop), static_cast<T>(step), d, where);
}
template <int = 0, detail::real_number A, detail::real_number B>
[[nodiscard]] auto arange(A start, B stop, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  using T = typename detail::range_of<A, B>::type;
  return arange<T>(static_cast<T>(start), static_cast<T>(stop), T(1), d, where);
}
template <int = 0, detail::real_number T>
[[nodiscard]] auto arange(T stop, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return arange<T>(stop, d, where);
}

/// `count` numbers from start to stop, both included, at equal distances: an expression of one
/// axis. Throws `invalid_argument` if count is negative, or T has no number as large as stop less
/// start, which are finite.
template <std::floating_point T>
[[nodiscard]] auto linspace(std::type_identity_t<T> start, std::type_identity_t<T> stop,
                            index_t count = 50, device d = default_device::current(),
                            std::source_location where = std::source_location::current()) {
  if (count < 0) {
    throw invalid_argument(
        detail::concat("linspace: ", count, " numbers; the count must not be negative"), where);
  }
  if (std::isfinite(start) && std::isfinite(stop) && !std::isfinite(stop - start)) {
    throw invalid_argument(
        detail::concat("linspace: from ", start, " to ", stop, " is further than ", dtype_name_v<T>,
                       " holds; take a wider type"),
        where);
  }
  const index_t intervals = count > 1 ? count - 1 : 1;
  const T step = (stop - start) / static_cast<T>(intervals);
  constexpr index_t none = std::numeric_limits<index_t>::max();
  return detail::generated(
      detail::linspace_elements<T>{start, stop, step, count > 1 ? intervals : none},
      shape<1>{count}, d);
}
/// The same in the type of the numbers, or that which theirs promote to; of integers in float.
template <int = 0, detail::real_number A, detail::real_number B>
[[nodiscard]] auto linspace(A start, B stop, index_t count = 50,
                            device d = default_device::current(),
                            std::source_location where = std::source_location::current()) {
  using T = detail::floating_t<typename detail::range_of<A, B>::type>;
  return linspace<T>(static_cast<T>(start), static_cast<T>(stop), count, d, where);
}

/// Ones on a diagonal, zeros elsewhere: an expression (rows, columns). Diagonal 1 is the one above
/// the main diagonal, -1 the one below.
template <element T = float>
[[nodiscard]] auto eye(index_t rows, index_t columns, index_t diagonal = 0,
                       device d = default_device::current(),
                       std::source_location where = std::source_location::current()) {
  (void)size_of_shape(shape<2>{rows, columns}, where);
  return detail::generated(detail::eye_elements<T>{columns, diagonal}, shape<2>{rows, columns}, d);
}
template <element T = float>
[[nodiscard]] auto eye(index_t rows, index_t columns, device d,
                       std::source_location where = std::source_location::current()) {
  return eye<T>(rows, columns, 0, d, where);
}
/// The identity matrix (rows, rows).
template <element T = float>
[[nodiscard]] auto eye(index_t rows, device d = default_device::current(),
                       std::source_location where = std::source_location::current()) {
  return eye<T>(rows, rows, 0, d, where);
}

}  // namespace topos
