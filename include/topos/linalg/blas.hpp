// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on the CPU through any CBLAS.

#include <topos/core/config.hpp>

#if TOPOS_HAS_CBLAS

#include <cblas.h>

#include <concepts>
#include <string_view>
#include <topos/backend/host.hpp>
#include <topos/core/promotion.hpp>
#include <topos/linalg/epilogue.hpp>
#include <topos/memory/buffer.hpp>

namespace topos::detail {

/// Products by CBLAS' gemm. How it sums, and so the last bits, is the library's own.
struct blas_provider {
  static constexpr std::string_view name = "CBLAS";

  struct weights {
    buffer plain;  // (n, k), as given
  };

  static weights prepare(const backend::host::stream& /*stream*/, const buffer& w, index_t /*n*/,
                         index_t /*k*/) {
    return {w};
  }

  static void run(const backend::host::stream& stream, const weights& w, const product& p) {
    const backend::host::thread_limit limit(stream);
    const auto m = static_cast<int>(p.m);
    const auto n = static_cast<int>(p.n);
    const auto k = static_cast<int>(p.k);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, p.x, k,
                static_cast<const float*>(w.plain.data()), k, 0.0f, p.y, n);
    run_epilogue(stream, p);
  }

  template <class T>
  static constexpr bool multiplies = std::floating_point<T> || is_complex<T>;
  template <class T>
  [[nodiscard]] static constexpr bool works() {
    return true;
  }

  template <class T>
  static void multiply(const backend::host::stream& stream, const matrix_product<T>& batch) {
    const backend::host::thread_limit limit(stream);
    const auto turned_a = batch.a_column == 1 ? CblasNoTrans : CblasTrans;
    const auto turned_b = batch.b_column == 1 ? CblasNoTrans : CblasTrans;
    const int lda = static_cast<int>(batch.a_column == 1 ? batch.a_row : batch.a_column);
    const int ldb = static_cast<int>(batch.b_column == 1 ? batch.b_row : batch.b_column);
    const T one(1);
    const T zero(0);
    const index_t count = batch.batch();
    for (index_t i = 0; i < count; ++i) {
      const matrix_product<T> p = batch.at(i);
      const auto m = static_cast<int>(p.m);
      const auto n = static_cast<int>(p.n);
      const auto k = static_cast<int>(p.k);
      if constexpr (std::same_as<T, float>) {
        cblas_sgemm(CblasRowMajor, turned_a, turned_b, m, n, k, one, p.a, lda, p.b, ldb, zero, p.c,
                    n);
      } else if constexpr (std::same_as<T, double>) {
        cblas_dgemm(CblasRowMajor, turned_a, turned_b, m, n, k, one, p.a, lda, p.b, ldb, zero, p.c,
                    n);
      } else if constexpr (std::same_as<T, Kokkos::complex<float>>) {
        cblas_cgemm(CblasRowMajor, turned_a, turned_b, m, n, k, &one, p.a, lda, p.b, ldb, &zero,
                    p.c, n);
      } else {
        cblas_zgemm(CblasRowMajor, turned_a, turned_b, m, n, k, &one, p.a, lda, p.b, ldb, &zero,
                    p.c, n);
      }
    }
  }
};

}  // namespace topos::detail

#endif
