// SPDX-License-Identifier: Apache-2.0

/// Products and transposes of one team, at sizes on both sides of every block.

#include <gtest/gtest.h>

#include <cmath>
#include <source_location>
#include <topos/kernels/tile.hpp>
#include <topos/tensor/creation.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace tile_test {

using support::on_each_device;
using support::values_of;
using topos::index_t;
using topos::tensor;

struct multiply_once {
  float* c;
  const float* a;
  const float* b;
  index_t m, n, k, ldc, lda, ldb;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t /*i*/) const {
    topos::detail::multiply(team, c, ldc, a, lda, b, ldb, m, n, k);
  }
};

struct transpose_once {
  float* to;
  const float* from;
  index_t rows, columns, padded, ldt, ldf;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t /*i*/) const {
    topos::detail::transpose_tile(team, to, ldt, from, ldf, rows, columns, padded);
  }
};

template <class Kernel, class... Read>
void launch(const Kernel& kernel, const tensor<float, 1>& out, const Read&... read) {
  topos::detail::queue_of(out.device(), std::source_location::current())
      .submit({read.memory()...}, {out.memory()}, topos::detail::always_queued,
              [=](const auto& stream) { stream.for_each("test", 1, 1, 0, kernel); });
}

TEST(tile, products_are_chains_of_fused_multiply_adds_along_k) {
  on_each_device([](topos::device d) {
    for (const index_t m : {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 17}) {
      for (const index_t n : {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 49}) {
        for (const index_t k : {0, 1, 5, 33}) {
          const index_t lda = k + 2;
          const index_t ldb = n + 3;
          const index_t ldc = n + 1;
          const std::vector<float> a = support::varied(m * lda + 1);
          const std::vector<float> b = support::varied(k * ldb + 1, 2);
          const auto on_a = support::vector_on(d, a);
          const auto on_b = support::vector_on(d, b);
          const auto out = topos::full<float, 1>({m * ldc + 1}, 99, d);

          launch(multiply_once{out.data(), on_a.data(), on_b.data(), m, n, k, ldc, lda, ldb}, out,
                 on_a, on_b);

          std::vector<float> expected(static_cast<std::size_t>(m * ldc + 1), 99);
          for (index_t i = 0; i < m; ++i) {
            for (index_t j = 0; j < n; ++j) {
              float total = 0;
              for (index_t p = 0; p < k; ++p) {
                total = std::fma(a[static_cast<std::size_t>(i * lda + p)],
                                 b[static_cast<std::size_t>(p * ldb + j)], total);
              }
              expected[static_cast<std::size_t>(i * ldc + j)] = total;
            }
          }
          const std::vector<float> got = values_of(out);
          for (std::size_t e = 0; e < got.size(); ++e) {
            // Without fused instructions each step is rounded twice.
            ASSERT_NEAR(got[e], expected[e], 1e-5) << m << 'x' << n << 'x' << k << " at " << e;
          }
        }
      }
    }
  });
}

TEST(tile, transposes_pad_with_zeros) {
  on_each_device([](topos::device d) {
    for (const index_t rows : {0, 1, 5, 16}) {
      for (const index_t columns : {0, 1, 7}) {
        const index_t padded = 16;
        const std::vector<float> from = support::varied(rows * (columns + 2) + 1);
        const auto on_device = support::vector_on(d, from);
        const auto to = topos::full<float, 1>({columns * 18 + 1}, 99, d);

        launch(transpose_once{to.data(), on_device.data(), rows, columns, padded, 18, columns + 2},
               to, on_device);

        const std::vector<float> got = values_of(to);
        for (index_t j = 0; j < columns; ++j) {
          for (index_t i = 0; i < 18; ++i) {
            const float expected = i < rows ? from[static_cast<std::size_t>(i * (columns + 2) + j)]
                                   : i < padded ? 0.0f
                                                : 99.0f;
            ASSERT_EQ(got[static_cast<std::size_t>(j * 18 + i)], expected);
          }
        }
        EXPECT_EQ(got.back(), 99) << "nothing beyond is touched";
      }
    }
  });
}

}  // namespace tile_test
