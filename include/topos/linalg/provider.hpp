// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which provider multiplies on which backend, by what the build found.

#include <string_view>
#include <topos/backend/backend.hpp>
#include <topos/linalg/blas.hpp>
#include <topos/linalg/builtin.hpp>
#include <topos/linalg/cublas.hpp>
#include <topos/linalg/onednn.hpp>

namespace topos::detail {

#if TOPOS_HAS_ONEDNN
using host_provider = onednn_provider;
inline constexpr std::string_view host_provider_name = "oneDNN";
#elif TOPOS_HAS_CBLAS
using host_provider = blas_provider;
inline constexpr std::string_view host_provider_name = "CBLAS";
#else
using host_provider = builtin_provider;
inline constexpr std::string_view host_provider_name = "built-in";
#endif

#if TOPOS_HAS_CUBLAS && TOPOS_HAS_CUDA
using cuda_provider = cublas_provider;
inline constexpr std::string_view cuda_provider_name = "cuBLAS";
#else
using cuda_provider = builtin_provider;
inline constexpr std::string_view cuda_provider_name = "built-in";
#endif

template <class Backend>
struct provider;
template <>
struct provider<backend::host> {
  using type = host_provider;
};
template <>
struct provider<backend::cuda> {
  using type = cuda_provider;
};

/// The provider of the backend that a stream belongs to.
template <class Stream>
using provider_of = typename provider<typename std::decay_t<Stream>::backend>::type;

}  // namespace topos::detail

namespace topos {

/// Who multiplies matrices on a kind of device: "oneDNN", "CBLAS", "cuBLAS" or "built-in".
[[nodiscard]] constexpr std::string_view matmul_provider(device_kind kind) noexcept {
  return kind == device_kind::cpu ? detail::host_provider_name : detail::cuda_provider_name;
}

}  // namespace topos
