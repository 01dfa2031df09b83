// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lets Kokkos 4.7 work with CUDA 13. The build force-includes this file where both versions meet.
///
/// Kokkos 4.7.0 calls two functions by signatures that CUDA 13 dropped: here they are, in terms of
/// those that it has. And a View has members without an address of their own, which CUDA 13 places
/// otherwise on a GPU than g++ does on the host: a kernel found its View elsewhere than it had been
/// put (https://github.com/kokkos/mdspan/pull/434, in Kokkos 5). Here they have addresses.

#if defined(__CUDACC__)

#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000

#include <cstddef>

#define MDSPAN_IMPL_USE_ATTRIBUTE_NO_UNIQUE_ADDRESS 1
#define MDSPAN_IMPL_USE_FAKE_ATTRIBUTE_NO_UNIQUE_ADDRESS
#define MDSPAN_IMPL_NO_UNIQUE_ADDRESS

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

inline cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                        cudaStream_t stream = nullptr) {
  cudaMemLocation place{};
  // CUDA 12 named the host by a device number of its own; CUDA 13 by a kind of place.
  place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  place.id = device == cudaCpuDeviceId ? 0 : device;
  return cudaMemPrefetchAsync(pointer, bytes, place, 0, stream);
}

#endif
#endif
