// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lets Kokkos before 4.7.1 compile with CUDA 13: the two signatures that CUDA 13 dropped, in terms
/// of those that it has. The build force-includes this file where both versions meet.

#if defined(__CUDACC__)

#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000

#include <cstddef>

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
