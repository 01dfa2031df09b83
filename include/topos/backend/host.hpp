// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CPU, through Kokkos' default host execution space (OpenMP or Serial).

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <topos/backend/crew.hpp>
#include <topos/backend/kind.hpp>
#include <topos/backend/profiled_launch.hpp>
#include <topos/core/config.hpp>
#include <topos/core/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::backend {

/// One CPU thread at work on one item of a launch: what a kernel sees as its team.
class host_team {
 public:
  /// Kernels choose between SIMD lanes (host) and threads of a team (device) by this.
  static constexpr bool on_host = true;

  explicit host_team(void* scratch) : scratch_(scratch) {}

  /// Memory of this item alone, as large as the launch asked for.
  [[nodiscard]] KOKKOS_FUNCTION void* scratch() const { return scratch_; }

  /// The threads of the team, and this one's number.
  [[nodiscard]] KOKKOS_FUNCTION int threads() const { return 1; }
  [[nodiscard]] KOKKOS_FUNCTION int rank() const { return 0; }

  /// All that the team wrote is visible to the team: on the host it is one thread.
  KOKKOS_FUNCTION void barrier() const {}

 private:
  void* scratch_;
};

/// The CPU as a backend: one device, with all the threads that Kokkos was given.
struct host {
  static constexpr device_kind kind = device_kind::cpu;
  static constexpr std::string_view name = "cpu";
  using execution_space = Kokkos::DefaultHostExecutionSpace;

  /// Allocations of at least this many bytes lie in huge pages where the system offers them.
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  [[nodiscard]] static int count() noexcept { return 1; }

  /// The threads that Kokkos was given.
  [[nodiscard]] static int threads() { return execution_space().concurrency(); }

  /// Gives back the threads that OpenMP keeps for the calling thread. GNU's OpenMP counts all that
  /// it keeps: where they are more than the cores, every thread of a team sleeps between launches,
  /// and to wake it takes longer than many a kernel.
  static void release_team() noexcept {
#ifdef _OPENMP
    (void)omp_pause_resource(omp_pause_soft, omp_get_initial_device());
#endif
  }

  /// Lets the calling thread run on all cores that OpenMP may use. Where OpenMP binds threads to
  /// cores it has bound the program's first one too, and those that this one starts inherit that.
  static void unbind_thread() noexcept {
#ifdef _OPENMP
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (int place = 0; place < omp_get_num_places(); ++place) {
      std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
      omp_get_place_proc_ids(place, ids.data());
      for (const int id : ids) CPU_SET(id, &cores);
    }
    if (CPU_COUNT(&cores) != 0) (void)sched_setaffinity(0, sizeof(cores), &cores);
#endif
  }

  [[nodiscard]] static device_properties describe(int /*index*/) {
    device_properties properties;
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);) {
      if (line.starts_with("model name")) {
        properties.name = line.substr(std::min(line.size(), line.find(':') + 2));
        break;
      }
    }
    if (properties.name.empty()) properties.name = "CPU";
    properties.memory = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
    properties.cores =
        Kokkos::is_initialized() ? threads() : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    return properties;
  }

  [[nodiscard]] static void* allocate(int /*index*/, std::size_t bytes) {
    const bool huge = bytes >= huge_page;
    const std::size_t align = huge ? huge_page : alignment;
    const std::size_t rounded = (bytes + align - 1) / align * align;
    void* pointer = rounded < bytes ? nullptr : std::aligned_alloc(align, rounded);
    if (pointer == nullptr) {
      throw out_of_memory(detail::concat("cpu: no memory left for ", bytes, " bytes"));
    }
    if (huge) ::madvise(pointer, rounded, MADV_HUGEPAGE);
    return pointer;
  }

  static void deallocate(int /*index*/, void* pointer, std::size_t /*bytes*/) noexcept {
    std::free(pointer);
  }

  /// Nothing is left to wait for: what a stream runs is done when it returns.
  static void finish(int /*index*/) noexcept {}

  /// The index of the device that an execution-space instance launches on.
  [[nodiscard]] static int index_of(const execution_space& /*space*/) { return 0; }

  class stream;
  class thread_limit;
};

/// Runs launches on the CPU, one after the other, on the thread that calls.
///
/// Items are shared with a crew of as many threads as Kokkos' execution space has, not with Kokkos'
/// own, which are for a user's kernels and for libraries: see crew.hpp. `in_place` streams have
/// none.
///
/// Exactly one thread launches from a stream at a time (see async/host_worker.hpp), because a crew
/// does one thing at a time, and each thread that enters OpenMP gets a team of its own.
class host::stream {
 public:
  using backend = host;

  explicit stream(int /*index*/ = 0, bool in_place = false)
      : space_(in_place ? one_thread() : execution_space()),
        in_place_(in_place),
        crew_(in_place ? 1 : space_.concurrency(), unbind_thread) {}

  /// Launches on an execution-space instance of the user's.
  explicit stream(const execution_space& space)
      : space_(space), in_place_(false), crew_(space_.concurrency(), unbind_thread) {}

  /// The execution-space instance on which a user's own kernels run.
  [[nodiscard]] const execution_space& space() const { return space_; }

  /// The threads that share its launches.
  [[nodiscard]] topos::backend::crew& crew() const { return crew_; }

  /// True where work runs on the calling thread alone.
  [[nodiscard]] bool in_place() const { return in_place_; }

  /// Calls `kernel(team, i)` for i in [0, count), in any order, on all threads; `cost` is the
  /// number of elements that one item touches, `scratch` its bytes of scratch memory. Blocks
  /// until done. Rethrows the first exception of the kernel.
  template <class Kernel>
  void for_each(const char* label, index_t count, index_t cost, std::size_t scratch,
                const Kernel& kernel) const {
    launch(label, count, cost, scratch, items(kernel));
  }

  /// Copies bytes; regions do not overlap.
  void copy(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

  /// Blocks until all launched work is done; on the host it already is.
  void synchronize() const {}

  /// True where all launched work is done.
  [[nodiscard]] bool is_done() const { return true; }

  /// Work on fewer elements than this runs on one thread: waking others would cost more.
  static constexpr index_t small_work = 1 << 14;
  /// More than this is worth calling sleeping threads for at once.
  static constexpr index_t large_work = 8 * small_work;

  /// Whether `count` items of `cost` elements are small work.
  [[nodiscard]] static constexpr bool is_small(index_t count, index_t cost) {
    return count == 0 || cost <= small_work / count;
  }

 private:
  // An instance for what runs on the calling thread alone. A template, so that only one of its
  // branches need compile.
  template <class Space = execution_space>
  [[nodiscard]] static Space one_thread() {
    if constexpr (std::is_constructible_v<Space, int>)  // OpenMP's number of threads
      return Space(1);
    else
      return Space();
  }

  // Memory that one thread keeps from launch to launch. A launch inside of another has its own.
  class scratch_memory {
   public:
    explicit scratch_memory(std::size_t bytes) {
      if (bytes == 0) return;
      std::swap(block_, kept());
      if (block_.size >= bytes) return;
      block_ = {};
      // What is a good part of a huge page is read often enough for one.
      const std::size_t unit = bytes < huge_page / 4 ? alignment : huge_page;
      const std::size_t rounded = (bytes + unit - 1) / unit * unit;
      block_.memory.reset(allocate(0, rounded));
      block_.size = rounded;
    }
    ~scratch_memory() {
      if (block_.size > kept().size) std::swap(block_, kept());
    }
    scratch_memory(const scratch_memory&) = delete;
    scratch_memory& operator=(const scratch_memory&) = delete;
    [[nodiscard]] void* get() const { return block_.memory.get(); }

   private:
    struct block {
      std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
      std::size_t size = 0;
    };
    [[nodiscard]] static block& kept() noexcept {
      thread_local block is;
      return is;
    }
    block block_;
  };

  // Items of a kernel of any type: what launches them is compiled once, and not for each kernel.
  class items {
   public:
    template <class Kernel>
    explicit items(const Kernel& kernel) : kernel_(&kernel), run_(run_items<Kernel>) {}

    void run(const host_team& team, index_t first, index_t last) const {
      run_(kernel_, team, first, last);
    }

   private:
    template <class Kernel>
    static void run_items(const void* kernel, const host_team& team, index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) (*static_cast<const Kernel*>(kernel))(team, i);
    }

    const void* kernel_;
    void (*run_)(const void* kernel, const host_team& team, index_t first, index_t last);
  };

  // What all threads of a launch share; an exception stays with it.
  struct shared {
    items all;
    std::size_t scratch;
    index_t count;
    index_t chunk;
    mutable std::mutex mutex = {};
    mutable std::exception_ptr failure = nullptr;

    static void run(const void* self, index_t c) noexcept {
      const auto& s = *static_cast<const shared*>(self);
      try {
        const scratch_memory memory(s.scratch);
        s.all.run(host_team(memory.get()), c * s.chunk, std::min(s.count, (c + 1) * s.chunk));
      } catch (...) {
        const std::lock_guard lock(s.mutex);
        if (!s.failure) s.failure = std::current_exception();
      }
    }
  };

  void launch(const char* label, index_t count, index_t cost, std::size_t scratch,
              const items& all) const {
    const profiled_launch shown(label, *this);
    if (crew_.size() == 1 || is_small(count, cost)) {
      const scratch_memory memory(scratch);
      all.run(host_team(memory.get()), 0, count);
      return;
    }
    // Some chunks per thread, so that a slow core does not hold up the rest.
    const index_t chunk = std::max<index_t>(
        {1, count / (index_t{16} * crew_.size()), small_work / (2 * std::max<index_t>(1, cost))});
    const shared work{all, scratch, count, chunk};
    parted_job job((count + chunk - 1) / chunk, &work, shared::run, crew_.size());
    crew_.run(job, cost > large_work / count);
    if (work.failure) std::rethrow_exception(work.failure);
  }

  execution_space space_;
  bool in_place_;
  mutable topos::backend::crew crew_;
};

/// While it lives, libraries that thread by OpenMP run on the calling thread alone, if the stream
/// they are called for does, and else on exactly as many threads as OpenMP names. oneDNN takes that
/// for granted, and OpenMP does not where it may choose itself (`OMP_DYNAMIC`) or is given a limit
/// (`OMP_THREAD_LIMIT`).
class host::thread_limit {
 public:
#ifdef _OPENMP
  explicit thread_limit(const stream& s)
      : before_(omp_get_max_threads()),
        now_(s.in_place() ? 1 : std::min(before_, omp_get_thread_limit())),
        chooses_(now_ > 1 && omp_get_dynamic() != 0) {
    if (now_ != before_) omp_set_num_threads(now_);
    if (chooses_) omp_set_dynamic(0);
  }
  ~thread_limit() {
    if (now_ != before_) omp_set_num_threads(before_);
    if (chooses_) omp_set_dynamic(1);
  }
#else
  explicit thread_limit(const stream& /*s*/) {}
#endif
  thread_limit(const thread_limit&) = delete;
  thread_limit& operator=(const thread_limit&) = delete;

 private:
#ifdef _OPENMP
  const int before_;
  const int now_;
  const bool chooses_;
#endif
};

}  // namespace topos::backend
