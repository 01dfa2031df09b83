// SPDX-License-Identifier: Apache-2.0
#pragma once

/// CUDA GPUs, through Kokkos::Cuda: with cuda_team.hpp, what kernels see of one, and cuda_call.hpp
/// the one place that knows CUDA.
///
/// Where CUDA is not compiled in, the backend has no devices and what is asked of it throws.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <topos/backend/cuda_call.hpp>
#include <topos/backend/cuda_team.hpp>
#include <topos/backend/kind.hpp>
#include <topos/backend/profiled_launch.hpp>
#include <topos/backend/room.hpp>
#include <topos/core/config.hpp>
#include <topos/core/error.hpp>

namespace topos::backend {

#if TOPOS_HAS_CUDA

/// CUDA GPUs as a backend.
struct cuda {
  static constexpr device_kind kind = device_kind::cuda;
  static constexpr std::string_view name = "cuda";
  using execution_space = Kokkos::Cuda;

  [[nodiscard]] static int count() noexcept {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) {
      cudaGetLastError();
      return 0;
    }
    return devices;
  }

  [[nodiscard]] static device_properties describe(int index) {
    cudaDeviceProp device{};
    check_cuda(cudaGetDeviceProperties(&device, index), "cudaGetDeviceProperties");
    return {device.name, device.totalGlobalMem, device.multiProcessorCount,
            detail::concat(device.major, '.', device.minor)};
  }

  [[nodiscard]] static void* allocate(int index, std::size_t bytes) {
    const cuda_scope scope(index);
    void* pointer = nullptr;
    check_cuda(cudaMalloc(&pointer, bytes), "cudaMalloc");
    return pointer;
  }

  static void deallocate(int index, void* pointer, std::size_t /*bytes*/) noexcept {
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(index);
    cudaFree(pointer);
    cudaSetDevice(before);
  }

  /// Memory of the host that every GPU copies from and to without help of the CPU, asked for as one
  /// of them: with another that has broken down it would not be had.
  [[nodiscard]] static void* allocate_pinned(int index, std::size_t bytes) {
    const cuda_scope scope(index);
    void* pointer = nullptr;
    check_cuda(cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    return pointer;
  }
  static void deallocate_pinned(void* pointer) noexcept { cudaFreeHost(pointer); }

  /// Blocks until all that was launched on a device, by anyone, is done.
  static void finish(int index) noexcept {
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(index);
    cudaDeviceSynchronize();
    cudaSetDevice(before);
  }

  /// The index of the GPU that an execution-space instance launches on.
  [[nodiscard]] static int index_of(const execution_space& space) { return space.cuda_device(); }

  /// The index of the GPU whose memory a pointer points into.
  [[nodiscard]] static int owner_of(const void* pointer) {
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes");
    return attributes.device;
  }

  /// Warps of a team that is at work on an item of a cost.
  [[nodiscard]] static constexpr int warps_of(index_t cost) {
    return device_team::threads_of(cost) / device_team::lanes;
  }

  class event;
  class stream;
};

/// A point in a stream's work, for other streams and threads to wait for. Recorded once.
class cuda::event {
 public:
  explicit event(int index) : index_(index) {
    const cuda_scope scope(index);
    check_cuda(cudaEventCreateWithFlags(&native_, cudaEventDisableTiming),
               "cudaEventCreateWithFlags");
  }
  ~event() { cudaEventDestroy(native_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  [[nodiscard]] cudaEvent_t native() const { return native_; }

  /// True once the work before it is done, or has failed.
  [[nodiscard]] bool is_done() const { return is_over(cudaEventQuery(native_)); }

  /// True once the work before it is done, and nothing failed.
  [[nodiscard]] bool has_succeeded() const { return succeeded(cudaEventQuery(native_)); }

  /// Blocks until the work before it is done; throws `backend_error` if any of it failed.
  void synchronize() const {
    const cuda_scope scope(index_);
    check_cuda(cudaEventSynchronize(native_), "cudaEventSynchronize");
  }

 private:
  int index_;
  cudaEvent_t native_ = nullptr;
};

/// Launches on one CUDA stream; every launch returns at once.
class cuda::stream {
 public:
  using backend = cuda;

  explicit stream(int index)
      : index_(index), device_(index), owned_(make(index)), native_(owned_.get()) {}

  /// Launches on an execution-space instance of the user's, whose stream stays theirs.
  explicit stream(const execution_space& space)
      : index_(index_of(space)), device_(index_), native_(space.cuda_stream()), space_(space) {}

  /// The execution-space instance on which a user's own kernels run, made when it is first asked
  /// for: waits then for all work on the GPU. Throws `device_lost` if some of it failed, which
  /// would have Kokkos end the process as it makes one.
  [[nodiscard]] const execution_space& space() const {
    std::call_once(is_adopted_, [this] {
      if (!space_) space_.emplace(adopt(index_, native_));
    });
    return *space_;
  }

  /// The index of its GPU.
  [[nodiscard]] int index() const { return index_; }

  /// The CUDA stream itself, for other libraries' calls.
  [[nodiscard]] cudaStream_t native() const { return native_; }

  [[nodiscard]] bool in_place() const { return false; }

  /// Calls what launches by itself, with its GPU as the thread's. Throws `backend_error` where CUDA
  /// refused a launch, which a kernel's caller is not told otherwise.
  template <class Launches>
  void launch(const Launches& launches) const {
    const cuda_scope scope(index_);
    cudaGetLastError();  // what others left is no failure of this
    launches();
    check_cuda(cudaGetLastError(), "launch");
  }

  /// Enqueues `kernel(team, i)` for i in [0, count), one block of threads for each i; `scratch`
  /// is the bytes of memory that such a block shares: `Kernel::scratch_bytes`, where that is.
  template <class Kernel>
  void for_each(const char* label, index_t count, index_t cost, std::size_t scratch,
                const Kernel& kernel) const {
    static_assert(sizeof(Kernel) <= most_kernel_bytes,
                  "topos: an expression has more operands than a CUDA kernel takes");
    if (count == 0) return;
    const cuda_scope scope(index_);
    const profiled_launch shown(label, *this);
    cudaGetLastError();  // what others left is no failure of this
    constexpr std::size_t unit = 16;
    const std::size_t room = (scratch + unit - 1) / unit * unit;
    const auto threads = static_cast<unsigned>(device_team::threads_of(cost));
    constexpr bool shares = always_shares<Kernel>();
    if (shares || room <= device_.scratch) {
      // For any launch of the kernel, since others of other queues may be under way.
      if (room > unasked_scratch)
        check_cuda(cudaFuncSetAttribute(cuda_items<Kernel, shares>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(device_.scratch)),
                   label);
      const auto blocks = static_cast<unsigned>(std::min(count, most_blocks));
      cuda_items<Kernel, shares><<<blocks, threads, room, native_>>>(kernel, count, nullptr, room);
    } else {
      // In the device's memory, for as many blocks as work at the same time.
      const auto blocks = static_cast<unsigned>(std::min<index_t>(count, 4 * device_.processors));
      void* memory = nullptr;
      ask_gpu_twice(index_, [&] {
        check_cuda(cudaMallocAsync(&memory, blocks * room, native_), "cudaMallocAsync");
      });
      cuda_items<Kernel, shares><<<blocks, threads, 0, native_>>>(
          kernel, count, static_cast<unsigned char*>(memory), room);
      check_cuda(cudaFreeAsync(memory, native_), "cudaFreeAsync");
    }
    check_cuda(cudaGetLastError(), label);
  }

  /// Enqueues a copy between any two of host and devices.
  void copy(void* to, const void* from, std::size_t bytes) const {
    const cuda_scope scope(index_);
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native_), "cudaMemcpyAsync");
  }

  /// Blocks until all launched work is done; throws `backend_error` if any of it failed.
  void synchronize() const {
    const cuda_scope scope(index_);
    check_cuda(cudaStreamSynchronize(native_), "cudaStreamSynchronize");
  }

  /// Marks the end of what is launched by now.
  void record(const event& mark) const {
    const cuda_scope scope(index_);
    check_cuda(cudaEventRecord(mark.native(), native_), "cudaEventRecord");
  }

  /// What is launched from now on waits for another stream's mark, on the GPU.
  void wait(const event& mark) const {
    const cuda_scope scope(index_);
    check_cuda(cudaStreamWaitEvent(native_, mark.native(), 0), "cudaStreamWaitEvent");
  }

  /// As an event's, of all launched work.
  [[nodiscard]] bool is_done() const { return is_over(cudaStreamQuery(native_)); }
  [[nodiscard]] bool has_succeeded() const { return succeeded(cudaStreamQuery(native_)); }

 private:
  // A grid's limit is 2^31 - 1.
  static constexpr index_t most_blocks = index_t{1} << 30;
  // More shared memory a kernel has to be allowed, beside the little that all use.
  static constexpr std::size_t unasked_scratch = std::size_t{40} << 10;

  // Whether a kernel says which scratch memory it needs at most, and every GPU has as much.
  template <class Kernel>
  static constexpr bool always_shares() {
    if constexpr (requires { Kernel::scratch_bytes; })
      return Kernel::scratch_bytes <= unasked_scratch;
    else
      return false;
  }

  // What launches know of a GPU.
  struct device_limits {
    int processors;
    std::size_t scratch;  // of a block in shared memory, where two are to have it at the same time

    explicit device_limits(int index)
        : processors(attribute(cudaDevAttrMultiProcessorCount, index)) {
      constexpr int others = 4 << 10;
      const int of_processor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, index);
      const int of_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
      scratch = static_cast<std::size_t>(std::min(of_processor / 2, of_block) - others);
    }
    static int attribute(cudaDeviceAttr which, int index) {
      int value = 0;
      check_cuda(cudaDeviceGetAttribute(&value, which, index), "cudaDeviceGetAttribute");
      return value;
    }
  };

  struct destroy {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  };
  using owned = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, destroy>;

  static owned make(int index) {
    const cuda_scope scope(index);
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    return owned(stream);
  }

  // Kokkos makes the stream's GPU the thread's, and clears the locks of its scratch memory on its
  // default stream, which this one does not wait for.
  static execution_space adopt(int index, cudaStream_t stream) {
    const cuda_scope scope(index);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    execution_space space(stream);
    check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
    return space;
  }

  int index_;
  device_limits device_;
  owned owned_;
  cudaStream_t native_;
  mutable std::once_flag is_adopted_;
  mutable std::optional<execution_space> space_;
};

#else

/// CUDA in a build without it: no devices, and a clear error for what is asked of one.
struct cuda {
  static constexpr device_kind kind = device_kind::cuda;
  static constexpr std::string_view name = "cuda";

  [[nodiscard]] static int count() noexcept { return 0; }
  [[noreturn]] static device_properties describe(int) { absent(); }
  [[noreturn]] static void* allocate(int, std::size_t) { absent(); }
  static void deallocate(int, void*, std::size_t) noexcept {}
  [[noreturn]] static void* allocate_pinned(int, std::size_t) { absent(); }
  static void deallocate_pinned(void*) noexcept {}
  static void finish(int) noexcept {}
  [[noreturn]] static int owner_of(const void*) { absent(); }
  [[nodiscard]] static constexpr int warps_of(index_t) { return 1; }

  class event {
   public:
    explicit event(int) { absent(); }
    [[nodiscard]] bool is_done() const { return true; }
    [[nodiscard]] bool has_succeeded() const { return true; }
    void synchronize() const {}
  };

  class stream {
   public:
    using backend = cuda;
    explicit stream(int) { absent(); }
    void record(const event&) const {}
    void wait(const event&) const {}
    [[nodiscard]] bool in_place() const { return false; }
    template <class Launches>
    void launch(const Launches&) const {}
    template <class Kernel>
    void for_each(const char*, index_t, index_t, std::size_t, const Kernel&) const {}
    void copy(void*, const void*, std::size_t) const {}
    void synchronize() const {}
    [[nodiscard]] bool is_done() const { return true; }
    [[nodiscard]] bool has_succeeded() const { return true; }
  };

 private:
  [[noreturn]] static void absent() {
    throw not_supported("this build of topos has no CUDA: Kokkos was built without it");
  }
};

#endif

}  // namespace topos::backend
