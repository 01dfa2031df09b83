// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which provider multiplies on which backend, by what the build found and the machine has.

#include <string_view>
#include <topos/backend/backend.hpp>
#include <topos/core/dtype.hpp>
#include <topos/linalg/blas.hpp>
#include <topos/linalg/builtin.hpp>
#include <topos/linalg/cublas.hpp>
#include <topos/linalg/digits.hpp>
#include <topos/linalg/onednn.hpp>
#include <topos/linalg/precision.hpp>
#include <tuple>
#include <type_traits>

namespace topos::detail {

#if TOPOS_HAS_ONEDNN
using host_provider = onednn_provider;
#elif TOPOS_HAS_CBLAS
using host_provider = blas_provider;
#else
using host_provider = builtin_provider;
#endif

#if TOPOS_HAS_CUBLAS && TOPOS_HAS_CUDA
using cuda_provider = cublas_provider;
#else
using cuda_provider = builtin_provider;
#endif

template <class Backend>
using provider =
    std::conditional_t<std::is_same_v<Backend, backend::host>, host_provider, cuda_provider>;

/// Calls function(provider) for who multiplies by prepared weights on a backend, to a precision.
template <class Backend, class Function>
decltype(auto) with_weights_provider(precision wanted, Function function) {
  if (wanted == precision::reproducible) return function(builtin_provider{});
#if TOPOS_HAS_AMX
  if constexpr (std::is_same_v<Backend, backend::host>) {
    if (wanted == precision::high && digit_provider::works()) return function(digit_provider{});
  }
#endif
  return function(provider<Backend>{});
}

/// The providers of matmul on a kind of device, the first choice first; the built-in is the last.
/// On the CPU it is the first where it has wide SIMD: it is as fast as the libraries then, and its
/// bits depend neither on the number of threads nor on the machine.
template <class Backend>
struct matmul_providers {
  using type = std::tuple<cuda_provider, builtin_provider>;
};
template <>
struct matmul_providers<backend::host> {
  static constexpr bool wide = TOPOS_HAS_XSIMD != 0 && host_tile::block_width<float> >= 8;
  using before = std::conditional_t<wide, std::tuple<builtin_provider>, std::tuple<>>;
#if TOPOS_HAS_ONEDNN
  using first = std::tuple<onednn_provider>;
#else
  using first = std::tuple<>;
#endif
#if TOPOS_HAS_CBLAS
  using second = std::tuple<blas_provider>;
#else
  using second = std::tuple<>;
#endif
  using type =
      decltype(std::tuple_cat(before{}, first{}, second{}, std::tuple<builtin_provider>{}));
};

/// Calls function(provider) for the first provider of a backend that multiplies T on this machine;
/// says whether there is one: not for sixteen-bit types, which become float then.
template <class Backend, class T, class Function>
bool with_matmul_provider(Function function) {
  const auto try_one = [&](auto provider) {
    if constexpr (decltype(provider)::template multiplies<T>) {
      if (!provider.template works<T>()) return false;
      function(provider);
      return true;
    }
    return false;
  };
  return std::apply([&](auto... providers) { return (try_one(providers) || ...); },
                    typename matmul_providers<Backend>::type{});
}

}  // namespace topos::detail

namespace topos {

/// Who multiplies by prepared matrices on a kind of device, to a precision: "oneDNN", "CBLAS",
/// "AMX", "cuBLAS" or "built-in".
[[nodiscard]] inline std::string_view matmul_provider(device_kind kind,
                                                      precision wanted = precision::highest) {
  const auto name = [](auto provider) { return provider.name; };
  return backend::visit(
      kind, [&](auto b) { return detail::with_weights_provider<decltype(b)>(wanted, name); });
}

/// Who computes matmul of T on a kind of device.
template <element T>
[[nodiscard]] std::string_view matmul_provider(device_kind kind) {
  std::string_view name;
  const auto ask = [&](auto provider) { name = provider.name; };
  return backend::visit(kind, [&](auto b) {
    if (!detail::with_matmul_provider<decltype(b), T>(ask))
      detail::with_matmul_provider<decltype(b), float>(ask);
    return name;
  });
}

}  // namespace topos
