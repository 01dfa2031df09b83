// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on CUDA GPUs through cuBLAS.

#include <topos/core/config.hpp>

#if TOPOS_HAS_CUBLAS && TOPOS_HAS_CUDA

#include <cublas_v2.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <topos/backend/cuda.hpp>
#include <topos/backend/room.hpp>
#include <topos/core/error.hpp>
#include <topos/core/promotion.hpp>
#include <topos/linalg/epilogue.hpp>
#include <topos/memory/buffer.hpp>
#include <type_traits>

namespace topos::detail {

/// Products by cuBLAS in full float precision. How it sums, and so the last bits, is its own.
struct cublas_provider {
  static constexpr std::string_view name = "cuBLAS";

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

  template <class T>
  static constexpr bool multiplies = is_real_floating<T> || is_complex<T>;
  template <class T>
  [[nodiscard]] static constexpr bool works() {
    return true;
  }

  template <class T>
  static void multiply(const backend::cuda::stream& stream, const matrix_product<T>& batch) {
    // Steps of the innermost axis are cuBLAS' own, unless they go backwards, those of the others a
    // loop's.
    matrix_product<T> outer = batch;
    index_t count = 1;
    index_t a_step = 0;
    index_t b_step = 0;
    if (batch.axes > 0 && batch.a_steps[batch.axes - 1] >= 0 &&
        batch.b_steps[batch.axes - 1] >= 0) {
      --outer.axes;
      count = batch.extents[outer.axes];
      a_step = batch.a_steps[outer.axes];
      b_step = batch.b_steps[outer.axes];
    }
    const backend::cuda_scope scope(stream.index());
    cublasHandle_t handle = handle_of(stream);
    const scale_t<T> one(1.0f);
    const scale_t<T> zero(0.0f);
    const index_t launches = outer.batch();
    for (index_t i = 0; i < launches; ++i) {
      const matrix_product<T> p = outer.at(i);
      T* const c = batch.c + i * count * p.m * p.n;
      const bool plain_a = p.a_column == 1;
      const bool plain_b = p.b_column == 1;
      // cuBLAS is column-major: c^T (n, m) = b^T (n, k) a^T (k, m).
      for (index_t first = 0; first < count; first += most_at_once) {
        check(cublasGemmStridedBatchedEx(
            handle, plain_b ? CUBLAS_OP_N : CUBLAS_OP_T, plain_a ? CUBLAS_OP_N : CUBLAS_OP_T,
            static_cast<int>(p.n), static_cast<int>(p.m), static_cast<int>(p.k), &one,
            p.b + first * b_step, type<T>(), static_cast<int>(plain_b ? p.b_row : p.b_column),
            b_step, p.a + first * a_step, type<T>(),
            static_cast<int>(plain_a ? p.a_row : p.a_column), a_step, &zero, c + first * p.m * p.n,
            type<T>(), static_cast<int>(p.n), p.m * p.n,
            static_cast<int>(std::min(count - first, most_at_once)),
            sizeof(real_t<T>) == 8 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
      }
    }
  }

 private:
  // The type of the factors before the product and the result.
  template <class T>
  using scale_t = std::conditional_t<is_half<T>, float, T>;

  template <class T>
  static constexpr cudaDataType_t type() {
    if constexpr (std::same_as<T, f16>) return CUDA_R_16F;
    if constexpr (std::same_as<T, bf16>) return CUDA_R_16BF;
    if constexpr (std::same_as<T, float>) return CUDA_R_32F;
    if constexpr (std::same_as<T, double>) return CUDA_R_64F;
    if constexpr (std::same_as<T, Kokkos::complex<float>>) return CUDA_C_32F;
    if constexpr (std::same_as<T, Kokkos::complex<double>>) return CUDA_C_64F;
  }

  static void check(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    const std::string message = concat("matmul: cuBLAS: ", cublasGetStatusString(status));
    if (status == CUBLAS_STATUS_ALLOC_FAILED) throw out_of_memory(message);
    throw backend_error(message);
  }

  struct destroy {
    int gpu = 0;
    void operator()(cublasHandle_t handle) const noexcept {
      try {
        const backend::cuda_scope scope(gpu);
        cublasDestroy(handle);
      } catch (const error&) {  // the GPU is lost, and the handle with it
      }
    }
  };
  using owned = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, destroy>;

  // It takes memory of the GPU's, which our cache may have all of.
  static cublasHandle_t make(int gpu) {
    cublasHandle_t made = nullptr;
    backend::ask_gpu_twice(gpu, [&] {
      const cublasStatus_t status = cublasCreate(&made);
      if (status == CUBLAS_STATUS_NOT_INITIALIZED) {
        throw out_of_memory(
            "matmul: cuBLAS could not be initialized, as where the GPU has no memory left for it");
      }
      check(status);
    });
    return made;
  }

  // One handle for each GPU and thread, made when first needed and kept: making one allocates and
  // synchronises, and two threads may not set the stream of the same one.
  static cublasHandle_t handle_of(const backend::cuda::stream& stream) {
    thread_local std::map<int, owned> handles;
    owned& handle = handles[stream.index()];
    if (!handle) {
      const cublasHandle_t made = make(stream.index());
      handle = owned(made, {stream.index()});
      // Sums of sixteen-bit matrices that it cuts into parts are to be joined in float, too.
      check(cublasSetMathMode(made, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
    }
    check(cublasSetStream(handle.get(), stream.native()));
    return handle.get();
  }
};

}  // namespace topos::detail

#endif
