// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on CUDA GPUs through cuBLAS.

#include <topos/core/config.hpp>

#if TOPOS_HAS_CUBLAS && TOPOS_HAS_CUDA

#include <cublas_v2.h>

#include <map>
#include <memory>
#include <mutex>
#include <topos/backend/cuda.hpp>
#include <topos/core/error.hpp>
#include <topos/linalg/epilogue.hpp>
#include <topos/memory/buffer.hpp>
#include <utility>

namespace topos::detail {

/// Products by cuBLAS in full float precision. How it sums, and so the last bits, is its own.
struct cublas_provider {
  struct weights {
    buffer plain;  // (n, k), as given
  };

  static weights prepare(const backend::cuda::stream& /*stream*/, const buffer& w, index_t /*n*/,
                         index_t /*k*/) {
    return {w};
  }

  static void run(const backend::cuda::stream& stream, const weights& w, const product& p) {
    if (p.m == 0 || p.n == 0) return;
    const float one = 1.0f;
    const float zero = 0.0f;
    const auto m = static_cast<int>(p.m);
    const auto n = static_cast<int>(p.n);
    const auto k = static_cast<int>(p.k);
    const backend::cuda_scope scope(stream.index());
    cublasHandle_t handle = handle_of(stream);
    // cuBLAS is column-major: y^T (n, m) = w (n, k) x^T (k, m).
    check(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one,
                      static_cast<const float*>(w.plain.data()), k, p.x, k, &zero, p.y, n));
    run_epilogue(stream, p);
  }

 private:
  static void check(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw backend_error(concat("matmul: cuBLAS: ", cublasGetStatusString(status)));
  }

  // One handle a GPU, made when first needed and kept: making one allocates and synchronises.
  static cublasHandle_t handle_of(const backend::cuda::stream& stream) {
    static std::mutex& mutex = *new std::mutex;
    static auto& handles = *new std::map<int, cublasHandle_t>;
    const std::lock_guard lock(mutex);
    cublasHandle_t& handle = handles[stream.index()];
    if (handle == nullptr) check(cublasCreate(&handle));
    check(cublasSetStream(handle, stream.native()));
    return handle;
  }
};

}  // namespace topos::detail

#endif
