// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on the CPU through any CBLAS.

#include <topos/core/config.hpp>

#if TOPOS_HAS_CBLAS

#include <cblas.h>

#include <topos/backend/host.hpp>
#include <topos/linalg/epilogue.hpp>
#include <topos/memory/buffer.hpp>

namespace topos::detail {

/// Products by CBLAS' sgemm. How it sums, and so the last bits, is the library's own.
struct blas_provider {
  struct weights {
    buffer plain;  // (n, k), as given
  };

  static weights prepare(const backend::host::stream& /*stream*/, const buffer& w, index_t /*n*/,
                         index_t /*k*/) {
    return {w};
  }

  static void run(const backend::host::stream& stream, const weights& w, const product& p) {
    const auto m = static_cast<int>(p.m);
    const auto n = static_cast<int>(p.n);
    const auto k = static_cast<int>(p.k);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, p.x, k,
                static_cast<const float*>(w.plain.data()), k, 0.0f, p.y, n);
    run_epilogue(stream, p);
  }
};

}  // namespace topos::detail

#endif
