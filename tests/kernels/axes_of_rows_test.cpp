// SPDX-License-Identifier: Apache-2.0

/// Rows that are counted by several axes, as differences of all pairs are: what kernels make of
/// them is what they make of the same elements in memory.

#include <gtest/gtest.h>

#include <cstdint>
#include <topos/expr/math.hpp>
#include <topos/expr/operators.hpp>
#include <topos/expr/views.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/softmax.hpp>
#include <topos/tensor/statistics.hpp>
#include <vector>

#include "../support/as_computed.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace axes_of_rows_test {

using support::expect_as_computed;
using support::on_each_device;
using support::on_each_real_device;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::tensor;

struct sizes {
  index_t m, n, k;  // pairs of m rows and n others, of k columns
};

std::vector<sizes> all_sizes() {
  std::vector<sizes> all;
  for (const index_t k : {1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 31, 33, 64, 100, 111, 112, 130, 300}) {
    for (const index_t n : {1, 2, 3, 4, 7, 9, 33}) all.push_back({5, n, k});
  }
  for (const sizes s : {sizes{1, 200, 16}, {200, 3, 20}, {70, 70, 2}, {2, 150, 8}, {130, 5, 65}})
    all.push_back(s);
  return all;
}

template <class T>
tensor<T, 2> some(index_t rows, index_t columns, const topos::device& d, int seed) {
  return support::tensor_on<2>(d, {rows, columns}, support::varied<T>(rows * columns, seed));
}

template <class Check>
void for_all_sizes(const topos::device& d, const Check& check) {
  for (const sizes s : all_sizes()) {
    SCOPED_TRACE(testing::Message() << s.m << " x " << s.n << " x " << s.k);
    check(some<float>(s.m, s.k, d, 1), some<float>(s.n, s.k, d, 2));
  }
}

TEST(axes_of_rows, are_written_down) {
  on_each_device([](topos::device d) {
    for_all_sizes(d, [](const tensor<float, 2>& x, const tensor<float, 2>& c) {
      const auto of_x = values_of(x);
      const auto of_c = values_of(c);
      const auto columns = static_cast<std::size_t>(x.shape(1));
      std::vector<float> differences, backwards, turned;
      for (std::size_t i = 0; i < of_x.size(); i += columns) {
        for (std::size_t j = 0; j < of_c.size(); j += columns) {
          for (std::size_t k = 0; k < columns; ++k) {
            differences.push_back(of_x[i + k] - of_c[j + k]);
            backwards.push_back(of_x[i + columns - 1 - k] - of_c[of_c.size() - columns - j + k]);
          }
        }
      }
      for (std::size_t j = 0; j < of_c.size(); j += columns) {
        for (std::size_t i = 0; i < of_x.size(); i += columns) {
          for (std::size_t k = 0; k < columns; ++k) turned.push_back(of_x[i + k] - of_c[j + k]);
        }
      }
      const auto pairs = expand_dims(x, 1) - c;
      EXPECT_EQ(values_of(eval(pairs)), differences);
      EXPECT_EQ(values_of(eval(expand_dims(flip(x, 1), 1) - flip(c, 0))), backwards);
      EXPECT_EQ(values_of(eval(swapaxes(pairs, 0, 1))), turned);
    });
  });
}

TEST(axes_of_rows, are_reduced) {
  on_each_real_device([](topos::device d) {
    for_all_sizes(d, [](const tensor<float, 2>& x, const tensor<float, 2>& c) {
      const auto pairs = expand_dims(x, 1) - c;
      for (const index_t axis : {0, 1, 2}) {
        expect_as_computed(pairs, [&](const auto& e) { return sum(e, axis); });
        if (axis > 0) expect_as_computed(pairs, [&](const auto& e) { return var(e, axis); });
      }
      expect_as_computed(pairs, [](const auto& e) { return max(e, {0, 2}); });
      if constexpr (!support::few_types) {
        expect_as_computed(swapaxes(pairs, 0, 1), [](const auto& e) { return max(e, 2); });
        expect_as_computed(pairs, [](const auto& e) { return argmin(e, 2); });
        expect_as_computed(pairs, [](const auto& e) { return softmax(e, 2); });
        const tensor<float, 2> one_each = max(c, 1, topos::keep_dims);
        expect_as_computed(pairs * one_each, [](const auto& e) { return max(e, 1); });
      }
    });
  });
}

// Parts of a tensor, whose groups of rows differ much.
TEST(axes_of_rows, are_of_views) {
  on_each_real_device([](topos::device d) {
    for (const index_t k : {3, 16, 20, 64, 130}) {
      SCOPED_TRACE(k);
      tensor<float, 3> x = some<float>(60, k, d, 1).reshape({3, 20, k});
      x.slice(1) = 1000.0f + x.slice(1);
      const auto check = [](const auto& view) {
        expect_as_computed(view, [](const auto& e) { return var(e, 2); });
        expect_as_computed(view, [](const auto& e) { return logsumexp(e, 2); });
        expect_as_computed(view, [](const auto& e) { return sum(e, 2); });
      };
      check(slice(x, {}, {0, 13}));
      check(slice(flip(x, 1), {}, {2, 4}));
      if constexpr (!support::few_types) check(slice(swapaxes(x, 0, 1), {1, 19, 2}));
    }
  });
}

TEST(axes_of_rows, are_of_any_type) {
  on_each_device([](topos::device d) {
    for (const sizes s : {sizes{5, 9, 3}, {5, 9, 16}, {6, 3, 40}, {4, 33, 130}}) {
      SCOPED_TRACE(s.k);
      const auto x = some<std::int16_t>(s.m, s.k, d, 1), c = some<std::int16_t>(s.n, s.k, d, 2);
      const auto pairs = expand_dims(x, 1) - c;
      expect_as_computed(pairs, [](const auto& e) { return sum(e, 2); });
      expect_as_computed(pairs, [](const auto& e) { return max(e, 1); });
      expect_as_computed(expand_dims(x, 1) < c, [](const auto& e) { return count_nonzero(e, 2); });
      if constexpr (!support::few_types) {
        const auto wide = topos::astype<double>(some<float>(s.m, s.k, d, 3));
        expect_as_computed(expand_dims(wide, 1) + c, [](const auto& e) { return sum(e, 2); });
      }
    }
  });
}

TEST(axes_of_rows, may_be_more) {
  on_each_device([](topos::device d) {
    for (const index_t k : {2, 16, 50, 120}) {
      const tensor<float, 4> x = some<float>(12, k, d, 1).reshape({3, 1, 4, k});
      const tensor<float, 3> c = some<float>(20, k, d, 2).reshape({5, 4, k});
      const auto pairs = x * c;
      expect_as_computed(pairs, [](const auto& e) { return max(e, 3); });
      expect_as_computed(pairs, [](const auto& e) { return max(e, {1, 3}); });
      expect_as_computed(pairs, [](const auto& e) { return max(e, 2); });
      tensor<float, 4> y = topos::zeros<float, 4>({3, 4, 5, 2 * k}, d);
      y.slice({}, {}, {}, {0, {}, 2}) = swapaxes(pairs, 1, 2);
      EXPECT_EQ(values_of(eval(slice(swapaxes(y, 1, 2), {}, {}, {}, {0, {}, 2}))),
                values_of(eval(pairs)));
    }
  });
}

}  // namespace axes_of_rows_test
