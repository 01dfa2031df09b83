// SPDX-License-Identifier: Apache-2.0

/// Functions beside what has no lanes: by lanes, and with the bits of what was computed before.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/random/uniform.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/extremum.hpp>
#include <topos/tensor/reduction.hpp>
#include <topos/tensor/scan.hpp>
#include <topos/tensor/softmax.hpp>
#include <topos/tensor/statistics.hpp>
#include <utility>
#include <vector>

#include "../support/as_computed.hpp"
#include "../support/devices.hpp"
#include "../support/types.hpp"

namespace lane_parts_test {

using support::expect_as_computed;
using support::on_each_real_device;
using support::same_bits;
using support::values_of;
using topos::astype;
using topos::eval;
using topos::index_t;
using topos::tensor;

using bytes = tensor<std::int8_t, 1>;

template <class T = float>
tensor<T, 1> some(index_t n, const topos::device& d, int seed = 1) {
  return support::vector_on(d, support::varied<T>(n, seed));
}

/// Whether functions in an expression are computed by lanes once parts are written down.
template <class E>
bool gains(const E& e) {
  const auto node = topos::detail::as_node(e);
  using rows = decltype(node.rows(topos::detail::walk_of(node)));
  return topos::detail::host_rows::gains_lanes<topos::detail::row_of<rows>>;
}

constexpr bool by_lanes = (topos::lane::width<float>) > 1;

TEST(lane_parts, are_of_functions_alone) {
  const bytes s = some<std::int8_t>(70, topos::cpu());
  const tensor<float, 1> x = some(70, topos::cpu());
  EXPECT_EQ(gains(where(exp(x) < 1.0f, s, s)), by_lanes);
  EXPECT_EQ(gains(exp(astype<float>(s + s))), by_lanes);
  EXPECT_EQ(gains(astype<std::int8_t>(exp(x)) + s), by_lanes);
  EXPECT_EQ(gains(exp(0.5f * astype<float>(s + s) + x)), by_lanes);
  EXPECT_FALSE(gains(where(x < 1.0f, s, s))) << "compilers make lanes of it";
  EXPECT_FALSE(gains(x + astype<float>(s + s))) << "or of this";
  EXPECT_EQ(gains(x * astype<float>(s + s)), by_lanes) << "but not of rounded products";
  EXPECT_FALSE(gains(where(topos::arange<float>(70) < 9.0f, s, s))) << "or counts";
  EXPECT_FALSE(gains(exp(x))) << "it has lanes";
  EXPECT_FALSE(gains(astype<std::int8_t>(exp(x)))) << "what is stored is narrowed by lanes";
}

TEST(lane_parts, have_the_bits_of_what_was_computed_before) {
  on_each_real_device([](topos::device d) {
    for (const index_t n : {0, 1, 15, 64, 65, 511, 513, 5000}) {
      const auto x = some(n, d), y = some(n, d, 2);
      const auto s = some<std::int8_t>(n, d, 3), t = some<std::int8_t>(n, d, 4);
      expect_as_computed(exp(x) < y, [&](const auto& h) { return where(h, s, t); });
      expect_as_computed(astype<float>(s + t), [&](const auto& h) { return exp(h / 100) * y; });
      if constexpr (!support::few_types) {
        expect_as_computed(exp(x), [&](const auto& h) { return astype<std::int8_t>(h) * s + t; });
        expect_as_computed(exp(x), [&](const auto& h) { return sin(astype<double>(h)) + 2.0; });
        const auto whole = some<std::int64_t>(n, d, 5);
        expect_as_computed(astype<float>(whole % 7), [&](const auto& h) {
          return where(tanh(h * 0.3f) < x, s, astype<std::int8_t>(whole));
        });
        expect_as_computed(topos::random::uniform(topos::random::key{1}, {n}, d),
                           [&](const auto& h) { return where(h < 0.3f, s, t); });
        expect_as_computed(astype<float>(s + t), [&](const auto& h) {
          return astype<topos::f16>(exp(h / 50)) + astype<topos::f16>(x);
        });
      }
    }
  });
}

TEST(lane_parts, lie_in_any_way) {
  on_each_real_device([](topos::device d) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<index_t, index_t>>{{3, 5}, {40, 30}, {70, 90}, {3, 700}}) {
      const tensor<float, 2> x = some(rows * columns, d).reshape({rows, columns});
      const auto s = eval(some<std::int8_t>(rows * columns, d, 2).reshape({rows, columns}));
      const auto across = eval(some<std::int8_t>(rows * columns, d, 3).reshape({columns, rows}));
      const auto column = slice(s, {}, {0, 1});
      expect_as_computed(exp(x) < 1.0f, [&](const auto& h) { return where(h, s, column); });
      expect_as_computed(astype<float>(s - transpose(across)),
                         [](const auto& h) { return exp(h / 64); });
      if constexpr (!support::few_types) {
        expect_as_computed(exp(slice(x, {}, {{}, {}, 2})) < 1.0f, [&](const auto& h) {
          return where(h, slice(s, {}, {{}, {}, 2}), column);
        });
        tensor<std::int8_t, 2> wide = topos::zeros<std::int8_t, 2>({rows, 2 * columns}, d);
        wide.slice({}, {1, {}, 2}) = where(exp(x) < 1.0f, s, column);
        const tensor<bool, 2> computed = exp(x) < 1.0f;
        EXPECT_EQ(values_of(eval(slice(wide, {}, {1, {}, 2}))),
                  values_of(eval(where(computed, s, column))));
        tensor<float, 2> broad = topos::zeros<float, 2>({rows, 2 * columns}, d);
        broad.slice({}, {1, {}, 2}) = exp(astype<float>(s + s) / 100);
        EXPECT_TRUE(same_bits(values_of(eval(slice(broad, {}, {1, {}, 2}))),
                              values_of(eval(exp(eval(astype<float>(s + s)) / 100)))));
      }
    }
  });
}

TEST(lane_parts, are_combined_as_what_was_computed_before) {
  if (!by_lanes) GTEST_SKIP() << "then there are none, and sums are in the order of each type";
  on_each_real_device([](topos::device d) {
    for (const auto& [rows, columns] : std::vector<std::pair<index_t, index_t>>{
             {300, 5}, {50, 16}, {70, 90}, {3, 700}, {2, 9000}}) {
      const auto s = eval(some<std::int8_t>(rows * columns, d).reshape({rows, columns}));
      const auto t = eval(some<std::int8_t>(rows * columns, d, 2).reshape({rows, columns}));
      const auto h = astype<float>(s + t);
      expect_as_computed(h, [](const auto& e) { return sum(exp(e / 100)); });
      for (const index_t axis : {0, 1}) {
        expect_as_computed(h, [&](const auto& e) { return sum(exp(e / 100), axis); });
        if constexpr (!support::few_types) {
          expect_as_computed(h, [&](const auto& e) { return argmax(sin(e), axis); });
          expect_as_computed(h, [&](const auto& e) { return var(sin(e), axis); });
          expect_as_computed(h, [&](const auto& e) { return softmax(sin(e), axis); });
          expect_as_computed(h, [&](const auto& e) { return cumsum(sin(e), axis); });
        }
      }
      const auto [least, most, all] = eval(min(sin(h)), max(sin(h)), sin(h));
      EXPECT_EQ(least.item(), min(all).item());
      EXPECT_EQ(most.item(), max(all).item());
      expect_as_computed(exp(h / 100) < 1.0f, [](const auto& e) { return sum(e, 1); });
    }
  });
}

struct refusing {
  std::int8_t operator()(std::int8_t x) const {
    if (x > 50) throw std::runtime_error("too large");
    return x;
  }
};

TEST(lane_parts, that_throw_fail_their_results) {
  const bytes s = astype<std::int8_t>(topos::arange<std::int32_t>(0, 100, 1, topos::cpu()));
  const tensor<float, 1> y = exp(astype<float>(map(refusing{}, s)));
  EXPECT_THROW(y.block_until_ready(), std::exception);
}

}  // namespace lane_parts_test
