// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Calls of CUDA: their errors as exceptions, and which GPU they are of.

#include <string>
#include <topos/core/config.hpp>
#include <topos/core/error.hpp>

#if TOPOS_HAS_CUDA

namespace topos::backend {

/// Whether a GPU does nothing any more for this process after such an error (the CUDA runtime's
/// list of errors says so of each).
[[nodiscard]] inline bool is_lost(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
#endif
    case cudaErrorExternalDevice:
    case cudaErrorMpsClientTerminated:
    case cudaErrorDevicesUnavailable:
      return true;
    default:
      return false;
  }
}

/// Throws what a CUDA call reports, with the call's name.
inline void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a sticky error would be reported again by an unrelated call
  const std::string message =
      detail::concat(call, ": ", cudaGetErrorName(status), ": ", cudaGetErrorString(status));
  if (status == cudaErrorMemoryAllocation) throw out_of_memory(message);
  if (is_lost(status)) throw device_lost(message);
  throw backend_error(message);
}

/// Whether work is over, done or failed, by what a query of it says.
[[nodiscard]] inline bool is_over(cudaError_t status) {
  // Else "not ready" stays this thread's last error, and the next launch would be blamed for it.
  if (status == cudaErrorNotReady) cudaGetLastError();
  return status != cudaErrorNotReady;
}
[[nodiscard]] inline bool succeeded(cudaError_t status) {
  return is_over(status) && status == cudaSuccess;
}

/// Makes a device current for as long as it lives.
class cuda_scope {
 public:
  explicit cuda_scope(int index) {
    check_cuda(cudaGetDevice(&before_), "cudaGetDevice");
    // Even if it is: what a GPU has broken down with is to throw here, since it would have Kokkos,
    // which makes the same call, end the process.
    check_cuda(cudaSetDevice(index), "cudaSetDevice");
  }
  ~cuda_scope() { cudaSetDevice(before_); }
  cuda_scope(const cuda_scope&) = delete;
  cuda_scope& operator=(const cuda_scope&) = delete;

 private:
  int before_ = 0;
};

}  // namespace topos::backend

#endif
