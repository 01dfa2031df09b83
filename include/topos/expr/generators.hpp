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
};

/// Numbers that an arange is made of without its type being named.
template <class T>
concept real_number = element<T> &&(std::floating_point<T> || is_integer<T>);

// Whether numbers are made of T: integers only of integers, which signed and unsigned ones of 64
// bits are not together.
template <class T, class... Numbers>
inline constexpr bool is_range_of = std::integral<T> == (std::integral<Numbers> && ...);

// How many numbers an arange has, if that is finite and fits. Of integers it is counted as unsigned
// ones of 64 bits, where the distance of any two is exact.
template <class T>
[[nodiscard]] std::optional<index_t> arange_count(T start, T stop, T step) {
  if (step == T(0)) return std::nullopt;
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
    // Whole numbers of 32 bits become floats rounded once, as from any wider type.
    constexpr index_t width = lane::width<T>;
    if (o > std::min(last, index_t{1} << 31) - width) [[unlikely]]
      return one_by_one(o);
    const lane::batch<T> n = lane::to_float(numbers_from<std::int32_t>(o));
    return lane::splat(start) + lane::rounded(n * lane::splat(step));
  }

 private:
  [[gnu::noinline, gnu::cold]] auto one_by_one(index_t o) const {
    return lane::generate<T>([&](index_t i) { return (*this)(o + i); });
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

/// start, start + step, ... up to, not including, stop: an expression of one axis. Throws
/// `invalid_argument` if step is 0 or the number of elements is not finite.
template <element T>
  requires(std::floating_point<T> || detail::is_integer<T>)
[[nodiscard]] auto arange(std::type_identity_t<T> start, std::type_identity_t<T> stop,
                          std::type_identity_t<T> step = T(1), device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  const std::optional<index_t> count = detail::arange_count<T>(start, stop, step);
  if (!count) {
    throw invalid_argument(detail::concat("arange: from ", +start, " to ", +stop, " by ", +step,
                                          "; the step must not be 0, and the count finite"),
                           where);
  }
  return detail::generated(detail::arange_elements<T>{start, step}, shape<1>{*count}, d);
}
template <element T>
  requires(std::floating_point<T> || detail::is_integer<T>)
[[nodiscard]] auto arange(std::type_identity_t<T> start, std::type_identity_t<T> stop, device d,
                          std::source_location where = std::source_location::current()) {
  return arange<T>(start, stop, T(1), d, where);
}
/// 0, 1, ... up to, not including, stop.
template <element T>
  requires(std::floating_point<T> || detail::is_integer<T>)
[[nodiscard]] auto arange(std::type_identity_t<T> stop, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  return arange<T>(T(0), stop, T(1), d, where);
}

/// The same in the type of the numbers, or that which theirs promote to: `arange(5)` is of int.
template <int = 0, detail::real_number A, detail::real_number B, detail::real_number C>
  requires(detail::is_range_of<promote_t<promote_t<A, B>, C>, A, B, C>)
[[nodiscard]] auto arange(A start, B stop, C step, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  using T = promote_t<promote_t<A, B>, C>;
  return arange<T>(static_cast<T>(start), static_cast<T>(stop), static_cast<T>(step), d, where);
}
template <int = 0, detail::real_number A, detail::real_number B>
  requires(detail::is_range_of<promote_t<A, B>, A, B>)
[[nodiscard]] auto arange(A start, B stop, device d = default_device::current(),
                          std::source_location where = std::source_location::current()) {
  using T = promote_t<A, B>;
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

/// Ones on a diagonal, zeros elsewhere: an expression (rows, columns). Diagonal 1 is the one above
/// the main diagonal, -1 the one below.
template <element T>
[[nodiscard]] auto eye(index_t rows, index_t columns, index_t diagonal = 0,
                       device d = default_device::current(),
                       std::source_location where = std::source_location::current()) {
  (void)size_of_shape(shape<2>{rows, columns}, where);
  return detail::generated(detail::eye_elements<T>{columns, diagonal}, shape<2>{rows, columns}, d);
}
template <element T>
[[nodiscard]] auto eye(index_t rows, index_t columns, device d,
                       std::source_location where = std::source_location::current()) {
  return eye<T>(rows, columns, 0, d, where);
}
/// The identity matrix (rows, rows).
template <element T>
[[nodiscard]] auto eye(index_t rows, device d = default_device::current(),
                       std::source_location where = std::source_location::current()) {
  return eye<T>(rows, rows, 0, d, where);
}

}  // namespace topos
