// SPDX-License-Identifier: Apache-2.0

// Rows of few elements, which the host computes some at once: of any width, across the ends of
// blocks, and from sources that lie in any way.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <topos/topos.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace short_rows_test {

using support::on_each_device;
using support::values_of;
using topos::index_t;
using topos::range;
using topos::tensor;

constexpr index_t widths[] = {1, 2, 3, 4, 5, 7, 16, 17, 31, 32, 33};
constexpr index_t counts[] = {1, 2, 17,
                              support::few_types ? 300 : 1500};  // a slow build walks less

// Distinct numbers that a float has, in no order.
float at(index_t i) { return static_cast<float>((i * 7919) % 16384) / 64 - 100; }

tensor<float, 2> numbers(index_t rows, index_t columns, topos::device d) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = at(static_cast<index_t>(i));
  return support::tensor_on<2>(d, {rows, columns}, values);
}

template <class T, class Element>
void expect_elements(const tensor<T, 2>& got, Element element, const std::string& what) {
  const auto all = values_of(got);
  const index_t w = got.shape()[1];
  for (index_t i = 0; i < got.shape()[0]; ++i) {
    for (index_t j = 0; j < w; ++j)
      ASSERT_EQ(all[static_cast<std::size_t>(i * w + j)], element(i, j))
          << what << " at " << i << ", " << j << " of " << got.shape()[0] << " x "
          << got.shape()[1];
  }
}

template <class Check>
void for_each_size(Check check) {
  for (const index_t w : widths) {
    for (const index_t n : counts) check(n, w);
  }
}

TEST(short_rows, broadcast) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const auto x = numbers(n, w, d);
      const tensor<float, 1> row = topos::slice(x, 0) + 1.0f;
      const tensor<float, 2> column = topos::slice(x, range{}, range{0, 1}) * 2.0f;
      const auto xs = [w](index_t i, index_t j) { return at(i * w + j); };
      expect_elements<float>(
          x - row, [&](index_t i, index_t j) { return xs(i, j) - (xs(0, j) + 1); }, "a row");
      expect_elements<float>(
          x - column, [&](index_t i, index_t j) { return xs(i, j) - xs(i, 0) * 2; }, "a column");
      expect_elements<float>(
          column + row, [&](index_t i, index_t j) { return xs(0, j) + 1 + xs(i, 0) * 2; }, "both");
    });
  });
}

TEST(short_rows, of_views) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const auto x = numbers(n, 2 * w, d);
      const auto xs = [w](index_t i, index_t j) { return at(i * 2 * w + j); };
      expect_elements<float>(
          topos::slice(x, range{}, range{0, {}, 2}) + 0.0f,
          [&](index_t i, index_t j) { return xs(i, 2 * j); }, "every second");
      expect_elements<float>(
          topos::flip(topos::slice(x, range{}, range{w, 2 * w}), 1),
          [&](index_t i, index_t j) { return xs(i, 2 * w - 1 - j); }, "backwards");
      const auto turned = numbers(w, n, d);
      expect_elements<float>(
          topos::transpose(turned) + 1.0f, [&](index_t i, index_t j) { return at(j * n + i) + 1; },
          "turned");
    });
  });
}

TEST(short_rows, of_sources_of_other_types) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const auto x = numbers(n, w, d);
      const tensor<std::uint8_t, 1> bytes = topos::arange<std::uint8_t>(w, d);
      const tensor<bool, 1> odd = topos::arange<int>(w, d) % 2 == 1;
      const auto xs = [w](index_t i, index_t j) { return at(i * w + j); };
      expect_elements<float>(
          x + topos::astype<float>(bytes),
          [&](index_t i, index_t j) { return xs(i, j) + static_cast<float>(j); }, "bytes");
      expect_elements<float>(
          topos::where(odd, x, 0.0f),
          [&](index_t i, index_t j) { return j % 2 == 1 ? xs(i, j) : 0; }, "truths");
      expect_elements<float>(
          x * topos::arange<float>(w, d),
          [&](index_t i, index_t j) { return xs(i, j) * static_cast<float>(j); }, "no memory");
    });
  });
}

// Beside one number for each row.
TEST(short_rows, of_counted_numbers) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const tensor<std::int32_t, 1> labels = topos::arange<int>(n, d) * 7 % 11;
      const tensor<std::uint8_t, 1> narrow = topos::astype<std::uint8_t>(labels);
      const tensor<double, 1> wide = topos::astype<double>(labels);
      const auto counted = topos::arange<int>(w, d);
      const auto label = [](index_t i) { return static_cast<int>(i * 7 % 11); };
      expect_elements<float>(
          topos::astype<float>(expand_dims(labels, 1) == counted),
          [&](index_t i, index_t j) { return label(i) == j ? 1 : 0; }, "along");
      expect_elements<int>(
          expand_dims(labels, 1) + flip(counted, 0) * 2,
          [&](index_t i, index_t j) { return label(i) + static_cast<int>(w - 1 - j) * 2; },
          "backwards");
      expect_elements<int>(
          expand_dims(topos::arange<int>(n, d), 1) - counted,
          [](index_t i, index_t j) { return static_cast<int>(i - j); }, "down");
      expect_elements<double>(
          expand_dims(wide, 1) + topos::arange<double>(w, d),
          [&](index_t i, index_t j) { return label(i) + static_cast<double>(j); }, "wide");
      expect_elements<std::uint8_t>(
          expand_dims(narrow, 1) + topos::arange<std::uint8_t>(w, d),
          [&](index_t i, index_t j) { return label(i) + static_cast<int>(j); }, "narrow");
    });
  });
}

TEST(short_rows, go_into_parts) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const auto x = numbers(n, w, d);
      const auto xs = [w](index_t i, index_t j) { return at(i * w + j); };
      expect_elements<float>(
          topos::concatenate({x, x}, 1), [&](index_t i, index_t j) { return xs(i, j % w); },
          "side by side");
      tensor<float, 2> y = topos::zeros<float>({n, 3 * w}, d);
      y.slice(range{}, range{w, {}, 2}) = x;
      expect_elements<float>(
          y,
          [&](index_t i, index_t j) { return j >= w && (j - w) % 2 == 0 ? xs(i, (j - w) / 2) : 0; },
          "a slice");
    });
  });
}

TEST(short_rows, of_three_axes) {
  on_each_device([](topos::device d) {
    const topos::shape<3> extents{40, 30, 3};
    const tensor<float, 3> x = topos::reshape(numbers(1200, 3, d), extents);
    const tensor<float, 3> y = topos::slice(x, range{}, range{0, 1}, range{}) + 1.0f;
    const tensor<float, 3> sum = x + y;
    const tensor<float, 3> swapped = topos::permute(x, {1, 0, 2}) * 2.0f;
    const auto all = values_of(sum);
    const auto other = values_of(swapped);
    const auto place = [](index_t i, index_t n, index_t j, index_t k) {
      return static_cast<std::size_t>((i * n + j) * 3 + k);
    };
    for (index_t i = 0; i < 40; ++i) {
      for (index_t j = 0; j < 30; ++j) {
        for (index_t k = 0; k < 3; ++k) {
          ASSERT_EQ(all[place(i, 30, j, k)], at((i * 30 + j) * 3 + k) + (at(i * 90 + k) + 1));
          ASSERT_EQ(other[place(j, 40, i, k)], at((i * 30 + j) * 3 + k) * 2);
        }
      }
    }
  });
}

TEST(short_rows, have_extrema) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const auto x = numbers(n, w, d);
      const auto along = values_of(tensor<std::int64_t, 1>(topos::argmax(x, 1)));
      const auto down = values_of(tensor<std::int64_t, 1>(topos::argmin(x, 0)));
      const auto any = values_of(tensor<bool, 1>(topos::any(x > 90.0f, 1)));
      const auto value = [w](index_t i, index_t j) { return at(i * w + j); };
      for (index_t i = 0; i < n; ++i) {
        index_t best = 0;
        bool above = false;
        for (index_t j = 0; j < w; ++j) {
          if (value(i, j) > value(i, best)) best = j;
          above = above || value(i, j) > 90;
        }
        ASSERT_EQ(along[static_cast<std::size_t>(i)], best) << n << " x " << w;
        ASSERT_EQ(any[static_cast<std::size_t>(i)] != 0, above) << n << " x " << w;
      }
      for (index_t j = 0; j < w; ++j) {
        index_t best = 0;
        for (index_t i = 0; i < n; ++i) {
          if (value(i, j) < value(best, j)) best = i;
        }
        ASSERT_EQ(down[static_cast<std::size_t>(j)], best) << n << " x " << w;
      }
    });
  });
}

// Of NaN the first, as of what is equal.
TEST(short_rows, have_extrema_of_nans) {
  on_each_device([](topos::device d) {
    const float nan = std::nanf("");
    const auto x = topos::array<float>({{1, nan, nan}, {2, 2, 1}, {nan, 0, 3}}, d);
    EXPECT_EQ(values_of(tensor<std::int64_t, 1>(topos::argmax(x, 1))),
              (std::vector<std::int64_t>{1, 0, 0}));
    EXPECT_EQ(values_of(tensor<std::int64_t, 1>(topos::argmax(x, 0))),
              (std::vector<std::int64_t>{2, 0, 0}));
  });
}

// Combined with each other, in an order that depends on their number alone.
TEST(short_rows, are_summed) {
  on_each_device([](topos::device d) {
    for (const index_t w : {1, 2, 3, 23, 24}) {
      for (const index_t n : {1, 15, 16, 17, 64, 65, 2047, 5000}) {
        const auto whole = topos::astype<int>(numbers(n, w, d));
        const tensor<float, 2> x = topos::astype<float>(whole % 64);  // whose sums are exact
        const tensor<float, 2> column = topos::slice(x, range{}, range{0, 1});
        const auto all = values_of(x);
        std::vector<float> expected(static_cast<std::size_t>(w));
        std::vector<float> apart(static_cast<std::size_t>(w));
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < w; ++j) {
            const float value = all[static_cast<std::size_t>(i * w + j)];
            expected[static_cast<std::size_t>(j)] += value;
            apart[static_cast<std::size_t>(j)] += value - all[static_cast<std::size_t>(i * w)];
          }
        }
        EXPECT_EQ(values_of(tensor<float, 1>(topos::sum(x, 0))), expected) << n << " x " << w;
        EXPECT_EQ(values_of(tensor<float, 1>(topos::sum(x - column, 0))), apart) << n << " x " << w;
        const auto roots = [&] { return values_of(tensor<float, 1>(topos::sum(sqrt(x), 0))); };
        const auto on_all = roots();
        const topos::in_place_scope scope;
        EXPECT_EQ(roots(), on_all) << n << " x " << w;
      }
    }
  });
}

// A row's softmax does not depend on how many others there are, in any bit.
// What takes longer to compute is written down before; the order of additions is the same.
TEST(short_rows, have_sums_of_functions_with_the_same_bits_as_of_their_values) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const tensor<float, 2> x = numbers(n, w, d) / 20.0f;
      const tensor<float, 2> most = topos::max(x, 1, topos::keep_dims);
      const tensor<float, 2> made = topos::exp(x - most);
      EXPECT_EQ(values_of(topos::eval(topos::sum(topos::exp(x - most), 1))),
                values_of(topos::eval(topos::sum(made, 1))))
          << n << " x " << w;
      EXPECT_EQ(values_of(topos::eval(topos::max(topos::exp(x - most), 1))),
                values_of(topos::eval(topos::max(made, 1))))
          << n << " x " << w;
    });
  });
}

TEST(short_rows, are_softened_alike) {
  on_each_device([](topos::device d) {
    for (const index_t w : widths) {
      const auto x = numbers(300, w, d);
      const auto all = values_of(tensor<float, 2>(topos::softmax(x, 1)));
      const auto logs = values_of(tensor<float, 2>(topos::log_softmax(x, 1)));
      for (const index_t i : {index_t{0}, index_t{1}, index_t{150}, index_t{299}}) {
        const tensor<float, 2> row = topos::slice(x, range{i, i + 1});
        const auto alone = values_of(tensor<float, 2>(topos::softmax(row, 1)));
        const auto log_alone = values_of(tensor<float, 2>(topos::log_softmax(row, 1)));
        for (index_t j = 0; j < w; ++j) {
          const auto place = static_cast<std::size_t>(i * w + j);
          ASSERT_EQ(all[place], alone[static_cast<std::size_t>(j)]) << w;
          ASSERT_EQ(logs[place], log_alone[static_cast<std::size_t>(j)]) << w;
        }
      }
    }
  });
}

TEST(short_rows, are_sorted) {
  on_each_device([](topos::device d) {
    for_each_size([&](index_t n, index_t w) {
      const tensor<int, 2> x = topos::astype<int>(numbers(n, w, d) / 20.0f);
      const auto values = values_of(x);
      const auto sorted = values_of(topos::sort(x));
      const auto order = values_of(topos::argsort(x));
      const index_t k = std::min<index_t>(w, 2);
      const auto best = values_of(topos::topk(x, k).values);
      for (index_t i = 0; i < n; ++i) {
        std::vector<std::int64_t> expected(static_cast<std::size_t>(w));
        std::iota(expected.begin(), expected.end(), 0);
        const auto value = [&](std::int64_t j) {
          return values[static_cast<std::size_t>(i * w + j)];
        };
        std::stable_sort(expected.begin(), expected.end(),
                         [&](auto a, auto b) { return value(a) < value(b); });
        for (index_t j = 0; j < w; ++j) {
          const auto from = expected[static_cast<std::size_t>(j)];
          const auto place = static_cast<std::size_t>(i * w + j);
          ASSERT_EQ(order[place], from) << n << " x " << w;
          ASSERT_EQ(sorted[place], value(from)) << n << " x " << w;
        }
        ASSERT_EQ(best[static_cast<std::size_t>(i * k)], value(expected.back())) << n << " x " << w;
      }
    });
  });
}

}  // namespace short_rows_test
