// SPDX-License-Identifier: Apache-2.0

/// Elements moved round the end of an axis: numpy.roll, and what is computed of them without a
/// copy.

#include <gtest/gtest.h>

#include <cstdint>

#include <string>
#include <topos/topos.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace roll_test {

using support::on_each_device;
using support::same_bits;
using support::tensor_on;
using support::values_of;
using support::vector_on;
using topos::eval;
using topos::index_t;
using topos::range;
using topos::shape;
using topos::tensor;

template <class T>
std::vector<T> numbers(index_t n) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<T>(static_cast<float>(i * 7919 % 127));
  return values;
}

// By the definition: element i of an axis of n comes to (i + places) mod n.
template <class T>
std::vector<T> moved(const std::vector<T>& of, const shape<3>& e, index_t places, int axis) {
  std::vector<T> to(of.size());
  const index_t n = e[axis];
  for (index_t i = 0; i < e[0]; ++i) {
    for (index_t j = 0; j < e[1]; ++j) {
      for (index_t k = 0; k < e[2]; ++k) {
        index_t at[] = {i, j, k};
        const index_t from = (at[0] * e[1] + at[1]) * e[2] + at[2];
        at[axis] = ((at[axis] + places) % n + n) % n;
        to[(at[0] * e[1] + at[1]) * e[2] + at[2]] = of[from];
      }
    }
  }
  return to;
}

const std::vector<shape<3>>& shapes() {
  static const std::vector<shape<3>> all{{1, 1, 5},  {3, 1, 4},   {5, 4, 3},   {30, 7, 2},
                                         {2, 3, 70}, {3, 1, 300}, {1, 2, 4100}};
  return all;
}

template <class T>
void expect_as_defined(const topos::device& d) {
  for (const shape<3>& extents : shapes()) {
    const std::vector<T> values = numbers<T>(topos::size_of_shape(extents));
    const tensor<T, 3> x = tensor_on<3>(d, extents, values);
    for (const index_t places : {-1, 0, 1, 2, 66, -4101}) {
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(values_of(eval(roll(x, places, axis))), moved(values, extents, places, axis))
            << topos::to_string(extents) << ' ' << places << ' ' << axis;
      }
    }
  }
}

TEST(roll, moves_round_the_end) {
  on_each_device([](topos::device d) {
    const auto x = vector_on(d, std::vector<int>{0, 1, 2, 3, 4});
    EXPECT_EQ(values_of(eval(roll(x, 2))), (std::vector<int>{3, 4, 0, 1, 2}));
    EXPECT_EQ(values_of(eval(roll(x, -2))), (std::vector<int>{2, 3, 4, 0, 1}));
    EXPECT_EQ(values_of(eval(roll(x, 11))), (std::vector<int>{4, 0, 1, 2, 3}));
    EXPECT_EQ(values_of(eval(roll(x, -5))), (std::vector<int>{0, 1, 2, 3, 4}));
    expect_as_defined<float>(d);
  });
}

TEST(roll, is_of_any_type) {
  if constexpr (!support::few_types) {
    expect_as_defined<std::uint8_t>(topos::cpu());
    expect_as_defined<topos::f16>(topos::cpu());
    expect_as_defined<std::int64_t>(topos::cpu());
    expect_as_defined<Kokkos::complex<float>>(topos::cpu());
  }
}

TEST(roll, goes_over_the_ends_of_rows_without_an_axis) {
  on_each_device([](topos::device d) {
    const auto y = tensor_on<2>(d, {2, 3}, std::vector<int>{0, 1, 2, 3, 4, 5});
    EXPECT_EQ(values_of(eval(roll(y, 1))), (std::vector<int>{5, 0, 1, 2, 3, 4}));
    EXPECT_EQ(values_of(eval(roll(y, -2))), (std::vector<int>{2, 3, 4, 5, 0, 1}));
    // Rows that are cut in other columns each, or not at all.
    EXPECT_EQ(values_of(eval(slice(roll(y, 1), {}, {1, {}}))), (std::vector<int>{0, 1, 3, 4}));
    EXPECT_EQ(values_of(eval(transpose(roll(y, 2)))), (std::vector<int>{4, 1, 5, 2, 0, 3}));
    EXPECT_EQ(values_of(eval(roll(transpose(y), 1))), (std::vector<int>{5, 0, 3, 1, 4, 2}));
    const auto z = tensor_on<2>(d, {6, 200}, numbers<float>(1200));
    for (const index_t places : {150, 250, -70, 601}) {
      const tensor<float, 2> copy = roll(z, places);
      EXPECT_EQ(values_of(eval(slice(roll(z, places), {}, {1, {}}) - slice(z, {}, {1, {}}))),
                values_of(eval(slice(copy, {}, {1, {}}) - slice(z, {}, {1, {}}))));
      EXPECT_EQ(values_of(eval(sum(slice(roll(z, places), {}, {0, 150}), 1))),
                values_of(eval(sum(slice(copy, {}, {0, 150}), 1))));
      EXPECT_EQ(values_of(eval(max(slice(roll(z, places), {}, {0, 150}), 0))),
                values_of(eval(max(slice(copy, {}, {0, 150}), 0))));
    }
  });
}

TEST(roll, of_what_is_to_be_computed_is_a_tensor) {
  on_each_device([](topos::device d) {
    const auto y = tensor_on<2>(d, {2, 3}, std::vector<int>{0, 1, 2, 3, 4, 5});
    const tensor<int, 2> along = roll(y + 1, 1, 1);
    EXPECT_EQ(values_of(along), (std::vector<int>{3, 1, 2, 6, 4, 5}));
    const tensor<int, 2> over_rows = roll(y * 2, 1);
    EXPECT_EQ(values_of(over_rows), (std::vector<int>{10, 0, 2, 4, 6, 8}));
  });
}

TEST(roll, of_nothing_is_nothing) {
  EXPECT_EQ(roll(topos::ones<float>({0, 2}), 3).shape(), (shape<2>{0, 2}));
  EXPECT_EQ(eval(roll(topos::ones<float>({0, 2}), 3, 0)).size(), 0);
  EXPECT_EQ(eval(roll(topos::ones<float>({0, 2}), 3, 1)).size(), 0);
}

TEST(roll, knows_its_axes) {
  const auto x = topos::ones<float>({3});
  EXPECT_THROW((void)roll(x, 1, 1), topos::out_of_range);
  EXPECT_EQ(values_of(eval(roll(topos::arange(6).reshape({2, 3}), 1, -2))),
            (std::vector<int>{3, 4, 5, 0, 1, 2}));
}

TEST(roll, is_a_view_of_views_and_has_views) {
  on_each_device([](topos::device d) {
    const auto wide = tensor_on<2>(d, {6, 280}, numbers<float>(6 * 280));
    const auto expect_of = [&](const auto& view) {
      const auto copy = eval(view);
      for (const index_t axis : {0, 1}) {
        const auto lazy = roll(view, 3, axis);
        const tensor<float, 2> made = roll(copy, 3, axis);
        EXPECT_EQ(values_of(eval(lazy)), values_of(made));
        EXPECT_EQ(values_of(eval(lazy - copy)), values_of(eval(made - copy)));
        const auto expect_seen = [&](const auto& look) {
          EXPECT_EQ(values_of(eval(look(lazy))), values_of(eval(look(made))));
          EXPECT_EQ(values_of(eval(look(lazy) + look(copy))),
                    values_of(eval(look(made) + look(copy))));
        };
        expect_seen([](const auto& v) { return slice(v, range{1, {}, 2}, range{0, 250, 3}); });
        expect_seen([](const auto& v) { return flip(v, 1); });
        if constexpr (!support::few_types) {
          expect_seen([](const auto& v) { return slice(v, 1); });
          expect_seen([](const auto& v) { return slice(v, range{}, range{{}, 1, -2}); });
          expect_seen([](const auto& v) { return transpose(v); });
          expect_seen([](const auto& v) { return flip(v, 0); });
          expect_seen([](const auto& v) { return reshape(v, {-1}); });
        }
      }
    };
    expect_of(wide);
    expect_of(slice(wide, range{}, range{0, {}, 2}));
    expect_of(transpose(wide));
    expect_of(flip(wide, 1));
    expect_of(broadcast_to(slice(wide, range{0, 1}, range{}), {4, 280}));
  });
}

TEST(roll, is_computed_with_as_its_copy) {
  support::on_each_real_device([](topos::device d) {
    for (const shape<2>& extents : {shape<2>{40, 5}, shape<2>{7, 300}, shape<2>{2, 5000}}) {
      const auto x = tensor_on<2>(d, extents, numbers<float>(topos::size_of_shape(extents)));
      const auto lazy = roll(x, 1, 1);
      const tensor<float, 2> made = lazy;
      const auto expect_alike = [&](const auto& of) {
        EXPECT_TRUE(same_bits(values_of(eval(of(lazy))), values_of(eval(of(made)))))
            << topos::to_string(extents);
      };
      expect_alike([&](const auto& r) { return sum(x * r, 1); });
      expect_alike([&](const auto& r) { return sum(r * 0.25f, 0); });
      expect_alike([&](const auto& r) { return cumsum(r, 1); });
      if constexpr (!support::few_types) {
        expect_alike([&](const auto& r) { return max(x - r, 0); });
        expect_alike([&](const auto& r) { return sum(r); });
        expect_alike([&](const auto& r) { return argmax(x - r, 1); });
        expect_alike([&](const auto& r) { return softmax(r, 1); });
        expect_alike([&](const auto& r) { return sort(r, 1); });
        expect_alike([&](const auto& r) { return var(r, 1); });
        expect_alike([&](const auto& r) { return exp(r * 0.01f) * x + exp(r * 0.01f); });
        expect_alike([&](const auto& r) { return where(r < x, r, exp(x * 0.01f)); });
        expect_alike([&](const auto& r) { return topos::concatenate({r + 1, r + 2}); });
        expect_alike([&](const auto& r) {
          const auto part = slice(r, range{}, range{0, 5});  // whose sums are exact
          return matmul(part, transpose(part));
        });
        expect_alike([&](const auto& r) { return topos::astype<std::uint8_t>(r) * 2; });
      }
    }
  });
}

TEST(roll, is_copied_by_the_kernel_that_reads_it) {
  const auto u = tensor_on<2>(topos::cpu(), {50, 300}, numbers<float>(15000));
  const auto step = u + 0.1f * (roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1));
  EXPECT_EQ(topos::explain(step).kernels, 1);
  EXPECT_EQ(topos::explain(step).bytes_read, 4 * u.size());
  const auto half = [&](index_t first) { return slice(u, range{first, first + 25}, range{}); };
  EXPECT_EQ(topos::explain(half(0) + roll(half(25), 1, 0)).bytes_read, 4 * u.size());
  EXPECT_EQ(topos::explain(half(25) + roll(half(25), 1, 0)).bytes_read, 2 * u.size());
}

// Elements of another type are loaded as those of the expression, by as many lanes.
TEST(roll, has_the_lanes_of_what_it_is_of) {
  const auto expect_alike = [](const auto& x, const auto& of) {
    const tensor rolled = eval(roll(x, 3, 1));
    const auto lanes_of = [](const auto& e) {
      const std::string path = topos::explain(e).path;
      return path.substr(path.rfind(", "));
    };
    EXPECT_EQ(lanes_of(of(roll(x, 3, 1))), lanes_of(of(x)));
    EXPECT_EQ(values_of(eval(of(roll(x, 3, 1)))), values_of(eval(of(rolled))));
  };
  const auto x = tensor_on<2>(topos::cpu(), {3, 500}, numbers<float>(1500));
  expect_alike(x, [&](const auto& r) { return r * 0.5; });
  expect_alike(x, [&](const auto& r) { return topos::astype<double>(r) + 0.1; });
  if constexpr (!support::few_types) {
    expect_alike(eval(x > 60), [&](const auto& r) { return where(r, x, exp(x * 0.1f)); });
    expect_alike(eval(topos::astype<std::uint8_t>(x)),
                 [&](const auto& r) { return exp(topos::astype<float>(r) * 0.1f); });
    expect_alike(eval(topos::astype<topos::f16>(x)), [&](const auto& r) { return r * 0.5f + x; });
    expect_alike(eval(topos::astype<std::int16_t>(x)),
                 [&](const auto& r) { return topos::astype<topos::f16>(r) * 0.5f; });
  }
}

TEST(roll, may_be_written_where_it_is_read_from) {
  on_each_device([](topos::device d) {
    tensor<float, 2> x = tensor_on<2>(d, {5, 100}, numbers<float>(500));
    tensor<float, 2> expected = eval(roll(x, 1, 0));
    x = roll(x, 1, 0);
    EXPECT_EQ(values_of(x), values_of(expected));
    expected = eval(x + eval(roll(x, -3, 1)));
    x = x + roll(x, -3, 1);
    EXPECT_EQ(values_of(x), values_of(expected));
    x.slice(range{}, range{1, {}}) = slice(roll(x, 1, 1), range{}, range{1, {}});
    EXPECT_EQ(values_of(eval(slice(x, range{}, range{1, {}}))),
              values_of(eval(slice(expected, range{}, range{0, 99}))));
  });
}

TEST(roll, goes_past_the_caches) {
  const auto x = tensor_on<2>(topos::cpu(), {3, index_t{3} << 20}, numbers<float>(9 << 20));
  const auto values = values_of(x);
  const auto rolled = values_of(eval(roll(x, 5, 1)));
  const index_t n = index_t{3} << 20;
  for (index_t i = 0; i < 3 * n; ++i)
    ASSERT_EQ(rolled[i], values[i / n * n + (i % n + n - 5) % n]) << i;
}

}  // namespace roll_test
