// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One operation along every path through memory: whole batches of lanes and their tails,
/// misaligned, strided and backward rows, broadcasts, and one element at a time.

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <vector>

#include "reference.hpp"

namespace support {

/// Numbers without a pattern; of floating-point types every third is a special one.
template <class T>
std::vector<T> with_special_ones(topos::index_t count, int seed) {
  std::vector<T> values = varied<T>(count, seed);
  if constexpr (std::is_floating_point_v<T>) {
    using limits = std::numeric_limits<T>;
    const T special[] = {T(0),
                         -T(0),
                         limits::infinity(),
                         -limits::infinity(),
                         limits::quiet_NaN(),
                         limits::denorm_min(),
                         -limits::min(),
                         limits::max(),
                         limits::min() / 3};
    for (std::size_t i = 1; i < values.size(); i += 3)
      values[i] = special[(i / 3 + static_cast<std::size_t>(seed)) % std::size(special)];
  }
  return values;
}

/// Expects f(x, y) to have the same bits however x, y and the result lie. One type of expression
/// stands for all of one rank, so that there is one kernel of each.
template <class T, class Make>
void expect_same_on_all_paths(const std::string& name, Make f) {
  using topos::range;
  on_each_device([&](topos::device d) {
    for (const topos::index_t n : {1, 15, 16, 17, 33, 4097}) {
      SCOPED_TRACE(name + " of " + std::to_string(n));
      // Element i of x at 4 i + 4, of y at 4 i + 6 of `spread`; both after one other in `shifted`.
      const std::vector<T> a = with_special_ones<T>(n, 1);
      const std::vector<T> b = with_special_ones<T>(n, 2);
      const auto size = static_cast<std::size_t>(n);
      std::vector<T> spread(4 * size + 4);
      std::vector<T> a_after(size + 1);
      std::vector<T> b_after(size + 1);
      for (std::size_t i = 0; i < size; ++i) {
        spread[4 * i + 4] = a_after[i + 1] = a[i];
        spread[4 * i + 6] = b_after[i + 1] = b[i];
      }
      const auto x = vector_on(d, a).node();
      const auto y = vector_on(d, b).node();
      const auto all = vector_on(d, spread);
      const auto apart_x = slice(all, range(4, {}, 4));
      const auto apart_y = slice(all, range(6, {}, 4));
      const auto shifted_x = slice(vector_on(d, a_after), range(1, {}));
      const auto shifted_y = slice(vector_on(d, b_after), range(1, {}));
      using result = typename decltype(f(x, y))::value_type;

      // One element at a time: a result whose neighbours lie apart has no lanes.
      topos::tensor<result, 2> column = topos::zeros<result, 2>({n, 2}, d);
      column.slice(range{}, 0) = f(x, y);
      const std::vector<result> alone = values_of(topos::eval(slice(column, range{}, 0)));
      const auto expect = [&](const char* how, const auto& e) {
        expect_same(how, values_of(topos::eval(e)), alone);
      };
      expect("dense", f(x, y));
      expect("misaligned", f(shifted_x, shifted_y));
      expect("misaligned on one side", f(x, shifted_y));
      expect("strided", f(apart_x, apart_y));
      expect("strided on one side", f(apart_x, y));

      std::vector<result> backward = values_of(topos::eval(f(flip(x), flip(y))));
      std::reverse(backward.begin(), backward.end());
      expect_same("backward", backward, alone);

      const auto across = [&](const auto& v) { return topos::broadcast_to<2>(v, {3, n}); };
      const auto down = [&](const auto& v) {
        return topos::broadcast_to<2>(expand_dims(v, 1), {n, 3});
      };
      const std::vector<result> rows = values_of(topos::eval(f(across(x), across(apart_y))));
      const std::vector<result> columns = values_of(topos::eval(f(down(x), down(shifted_y))));
      std::vector<result> three_rows;
      std::vector<result> three_columns;
      for (int i = 0; i < 3; ++i) three_rows.insert(three_rows.end(), alone.begin(), alone.end());
      for (const result v : alone) three_columns.insert(three_columns.end(), 3, v);
      expect_same("the same row thrice", rows, three_rows);
      expect_same("the same column thrice", columns, three_columns);
    }
  });
}

}  // namespace support
