// SPDX-License-Identifier: Apache-2.0

// Long rows in which one number fills a row, or neighbours lie apart: they are levelled before the
// host loops along them. Whatever is computed of them has the bits that it has of dense copies.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/topos.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace levelled_rows_test {

using topos::index_t;
using topos::range;
using topos::tensor;

// A batch more or less than what is brought together at once, and than what sums cut in halves.
constexpr index_t widths[] = {113, 127, 128, 129, 255, 256, 257, 300, 4096, 4100, 9001};
constexpr index_t rows = 9;

template <class T>
tensor<T, 2> numbers(index_t n, index_t columns, topos::index_t seed) {
  std::vector<T> values(static_cast<std::size_t>(n * columns));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(static_cast<float>((static_cast<index_t>(i) * 7919 + seed) % 127));
  return support::tensor_on<2>(topos::cpu(), {n, columns}, values);
}

template <class T>
bool same_bits(const tensor<T, 1>& a, const tensor<T, 1>& b) {
  return support::values_of(a) == support::values_of(b);
}
template <class T>
bool same_bits(const tensor<T, 2>& a, const tensor<T, 2>& b) {
  return support::values_of(a) == support::values_of(b);
}

// Along which sums are compared, too: to compile them takes long.
enum class axes { last, both };

// What `make` makes of views, and of dense copies of them.
template <class T, axes Along = axes::last, class Make>
void expect_as_of_copies(Make make) {
  for (const index_t w : widths) {
    const auto x = numbers<T>(rows, w, 1);
    const auto wide = numbers<T>(rows, 3 * w, 2);
    const auto column = numbers<T>(rows, 1, 3);
    const auto line = numbers<T>(1, w, 4);
    const auto turned = numbers<T>(w, rows, 5);
    const auto apart = topos::slice(wide, range{}, range{1, 3 * w, 3});
    const auto across = topos::transpose(turned);
    const auto whole = [&](const auto& v) {
      return tensor<T, 2>(topos::broadcast_to(v, topos::shape<2>{rows, w}));
    };

    const auto of_views = make(x, column, line, apart, across);
    const auto of_copies = make(x, whole(column), whole(line), whole(apart), whole(across));

    EXPECT_TRUE(same_bits(tensor(of_views), tensor(of_copies))) << w << " columns";
    EXPECT_TRUE(same_bits(tensor(sum(of_views, 1)), tensor(sum(of_copies, 1)))) << w << " columns";
    if constexpr (Along == axes::both) {
      EXPECT_TRUE(same_bits(tensor(sum(of_views, 0)), tensor(sum(of_copies, 0)))) << w;
    }
  }
}

TEST(levelled_rows, one_number_in_a_row) {
  const auto make = [](const auto& x, const auto& column, const auto& line, const auto&,
                       const auto&) { return (x - column) * line + column; };
  expect_as_of_copies<float, axes::both>(make);
  expect_as_of_copies<topos::f16>(make);
  expect_as_of_copies<Kokkos::complex<float>>(
      [](const auto& x, const auto& column, const auto& line, const auto&, const auto&) {
        return real((x - column) * line + column);
      });
}

TEST(levelled_rows, numbers_apart) {
  const auto make = [](const auto& x, const auto& column, const auto& line, const auto& apart,
                       const auto& across) { return (x - apart) * across + column * line; };
  expect_as_of_copies<float, axes::both>(make);
  expect_as_of_copies<double>(make);
  expect_as_of_copies<std::int64_t>(make);
  expect_as_of_copies<std::uint8_t>(make);
}

TEST(levelled_rows, what_becomes_wider) {
  expect_as_of_copies<std::uint8_t, axes::both>([](const auto& x, const auto& column,
                                                   const auto& line, const auto& apart,
                                                   const auto& across) {
    using topos::astype;
    return astype<float>(x) - astype<float>(column) * astype<float>(apart) +
           astype<float>(across) * astype<float>(line);
  });
}

// What takes longer than to load its result is computed once, where it is one number in a row.
TEST(levelled_rows, functions_of_one_number) {
  expect_as_of_copies<float>(
      [](const auto& x, const auto& column, const auto& line, const auto& apart, const auto&) {
        return x * exp(column * 0.01f) + sin(line) * log1p(apart);
      });
}

TEST(levelled_rows, truths) {
  expect_as_of_copies<float>(
      [](const auto& x, const auto& column, const auto& line, const auto& apart,
         const auto& across) { return where(x < column || apart < line, x + column, across); });
}

TEST(levelled_rows, gathered) {
  const tensor<std::int32_t, 1> places = topos::arange(300) * 7 % 113;
  expect_as_of_copies<float>(
      [&](const auto&, const auto& column, const auto&, const auto& apart, const auto&) {
        return take(apart, places, 1) * topos::slice(column, range{}, range{0, 1});
      });
}

// What has no lanes of its own, which compilers make of neighbours alone.
template <class T>
void expect_reduced_as_of_copies() {
  for (const index_t w : widths) {
    const auto x = numbers<T>(rows, w, 1);
    const auto column = numbers<T>(rows, 1, 3);
    const auto wide = numbers<T>(rows, 2 * w, 2);
    const auto apart = topos::slice(wide, range{}, range{0, 2 * w, 2});
    const auto back = topos::flip(x, 1);
    const auto expect_alike = [&](const auto& of) {
      EXPECT_TRUE(same_bits(tensor(of(column, apart, back)),
                            tensor(of(tensor<T, 2>(broadcast_to(column, topos::shape<2>{rows, w})),
                                      tensor<T, 2>(apart), tensor<T, 2>(back)))))
          << w << " columns";
    };
    expect_alike([&](const auto& c, const auto& a, const auto& b) { return max(a - c + b, 1); });
    expect_alike([&](const auto&, const auto& a, const auto&) { return max(a, 1); });
    expect_alike([&](const auto& c, const auto& a, const auto& b) { return sum(a - c + b, 1); });
    expect_alike([&](const auto& c, const auto&, const auto&) { return sum(x - c, 0); });
    expect_alike([&](const auto& c, const auto& a, const auto& b) { return min(a - c - b, 0); });
    expect_alike([&](const auto& c, const auto& a, const auto& b) {
      return topos::astype<std::int32_t>(any(a - c == b, 1));
    });
    expect_alike([&](const auto& c, const auto&, const auto& b) { return where(x < c, b, c); });
  }
}

TEST(levelled_rows, of_short_integers) {
  expect_reduced_as_of_copies<std::uint8_t>();
  if constexpr (!support::few_types) {
    expect_reduced_as_of_copies<std::int16_t>();
    expect_reduced_as_of_copies<std::int32_t>();  // whose sums are of 64 bits
  }
}

// Tiles of which some array has the rows as columns are put together as one row each.
template <class T, class Make>
void expect_tiles_as_of_copies(Make make) {
  for (const auto& [n, w] : std::vector<std::pair<index_t, index_t>>{{40, 113}, {130, 257}}) {
    const auto x = numbers<T>(n, w, 1);
    const tensor<T, 2> turned = numbers<T>(w, n, 5);
    const auto across = topos::transpose(turned);
    const tensor<T, 2> copy = across;
    EXPECT_TRUE(same_bits(tensor(make(x, across)), tensor(make(x, copy)))) << n << " rows";
    auto wide = topos::zeros_like(topos::concatenate({make(x, copy), make(x, copy)}, 1));
    wide.slice(range{}, range{1, {}, 2}) = make(x, across);
    EXPECT_TRUE(
        same_bits(tensor(topos::slice(wide, range{}, range{1, {}, 2})), tensor(make(x, copy))));
  }
}

// Against loops: copies would go the same way.
template <class T>
void expect_sums_of_loops() {
  using sum_type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  for (const index_t w : {1, 3, 64, 113, 2047, 2048, 2049, 4100, 9001}) {
    const auto x = numbers<T>(rows, w, 1);
    const auto column = numbers<T>(rows, 1, 3);
    const std::vector<T> values = support::values_of(x);
    const std::vector<T> of_rows = support::values_of(column);
    std::vector<sum_type> sums;
    std::vector<sum_type> products;
    std::uint64_t all = 0;
    for (std::size_t r = 0; r < of_rows.size(); ++r) {
      std::uint64_t sum = 0;
      std::uint64_t product = 1;  // which wraps around
      for (index_t k = 0; k < w; ++k) {
        const auto d = static_cast<T>(values[r * static_cast<std::size_t>(w) + k] - of_rows[r]);
        sum += static_cast<std::uint64_t>(d);
        product *= static_cast<std::uint64_t>(d);
      }
      sums.push_back(static_cast<sum_type>(sum));
      products.push_back(static_cast<sum_type>(product));
      all += sum;
    }
    EXPECT_EQ(support::values_of(tensor(sum(x - column, 1))), sums) << w;
    EXPECT_EQ(support::values_of(tensor(prod(x - column, 1))), products) << w;
    EXPECT_EQ(sum(x - column).item(), static_cast<sum_type>(all)) << w;
  }
}

TEST(levelled_rows, sums_of_integers_that_are_widened) {
  expect_sums_of_loops<std::int32_t>();
  expect_sums_of_loops<std::uint16_t>();
  expect_sums_of_loops<std::int8_t>();
}

TEST(levelled_rows, tiles) {
  const auto sum = [](const auto& x, const auto& y) { return x + y; };
  const auto beside = [](const auto& x, const auto& y) {
    const auto column = topos::slice(x, range{}, range{0, 1});
    const auto line = topos::slice(x, range{0, 1}, range{});
    const auto numbers = topos::arange<float>(x.shape()[1], topos::cpu());
    const tensor<index_t, 1> places = topos::arange(x.shape()[1]) * 7 % 113;
    return (x - column) * y + line * numbers + take(y, places, 1) + roll(x, 2, 1) * column + column;
  };
  expect_tiles_as_of_copies<float>(sum);
  expect_tiles_as_of_copies<float>(beside);
  if constexpr (!support::few_types) {
    expect_tiles_as_of_copies<std::uint8_t>(sum);
    expect_tiles_as_of_copies<topos::f16>(sum);
    expect_tiles_as_of_copies<Kokkos::complex<double>>(
        [](const auto& x, const auto& y) { return real(x * y + x); });
    expect_tiles_as_of_copies<float>(
        [](const auto& x, const auto& y) { return where(x > y, topos::exp(y * 0.01f), y); });
  }
}

// A function of a user's own, which has no lanes.
struct product_less {
  KOKKOS_FUNCTION float operator()(float a, float b, float c) const { return a * b - c; }
};

TEST(levelled_rows, functions_without_lanes) {
  expect_as_of_copies<float>([](const auto& x, const auto& column, const auto&, const auto& apart,
                                const auto&) { return map(product_less{}, x, column, apart); });
}

// Results past the caches, where rows are long enough for it and where they are not.
TEST(levelled_rows, past_the_caches) {
  for (const index_t w : {1000, 4099}) {
    if (support::few_types && w == 1000) continue;  // a slow build
    const index_t n = (index_t{9} << 20) / w;
    const auto x = numbers<float>(n, w, 1);
    const auto column = numbers<float>(n, 1, 2);
    const tensor<float, 2> whole = broadcast_to(column, topos::shape<2>{n, w});
    EXPECT_TRUE(same_bits(tensor(x - column), tensor(x - whole))) << w << " columns";
  }
}

}  // namespace levelled_rows_test
