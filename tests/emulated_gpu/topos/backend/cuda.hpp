// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two GPUs that are threads of the CPU, found by the tests in the place of the real
/// topos/backend/cuda.hpp: what topos does on a GPU, its kernels' device branches and its queues,
/// runs where there is none, and under sanitizers.
///
/// A stream is a thread that works off what was launched. A block is some threads, each of them a
/// warp of one lane; between two barriers they come in any order, as a sanitizer is to see. Two
/// blocks are at work at once. What is not here: that memory is a device's own, and its libraries.

#include <algorithm>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <topos/backend/kind.hpp>
#include <topos/core/config.hpp>
#include <topos/core/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace emulated {

inline constexpr int most_warps = 2;   // as many as meet each other, and no more to wait for
inline constexpr int most_blocks = 2;  // as many as wait for each other

/// The warps of a block, and what they tell each other through.
class block {
 public:
  /// The largest value that they combine.
  static constexpr std::size_t slot_bytes = 256;

  explicit block(int warps) : warps_(warps), gate_(warps) {}

  [[nodiscard]] int warps() const { return warps_; }
  void wait() { gate_.arrive_and_wait(); }
  [[nodiscard]] std::byte* slot(int warp) { return slots_[warp]; }

 private:
  const int warps_;
  std::barrier<> gate_;
  alignas(std::max_align_t) std::byte slots_[most_warps][slot_bytes];
};

}  // namespace emulated

namespace topos::backend {

/// The threads of one block at work on one item of a launch: what a kernel sees as its team. Where
/// it asks for threads by number, each warp is one.
class device_team {
 public:
  static constexpr bool on_host = false;
  static constexpr int lanes = 1;

  device_team(emulated::block& all, int warp, void* scratch)
      : all_(all), warp_(warp), scratch_(scratch) {}

  [[nodiscard]] static constexpr int threads_of(index_t cost) {
    return cost >= 64 ? emulated::most_warps : 1;
  }

  [[nodiscard]] void* scratch() const { return scratch_; }
  [[nodiscard]] int warps() const { return all_.warps(); }
  [[nodiscard]] int warp() const { return warp_; }
  [[nodiscard]] int lane() const { return 0; }
  [[nodiscard]] int threads() const { return warps(); }
  [[nodiscard]] int rank() const { return warp(); }
  void barrier() const { all_.wait(); }
  void warp_barrier() const {}

  struct equals {
    int before;
    bool is_last;
  };
  template <int Bits>
  [[nodiscard]] equals equal_lanes(bool /*has_one*/, unsigned /*value*/) const {
    return {0, true};
  }

  template <class T>
  static void tell(T* word, T value) {
    std::atomic_ref<T>(*word).store(value, std::memory_order_relaxed);
  }
  template <class T>
  [[nodiscard]] static T told(const T* word) {
    return std::atomic_ref<T>(*const_cast<T*>(word)).load(std::memory_order_relaxed);
  }

  template <class T, class Join>
  [[nodiscard]] scanned<T> scan_lanes(const T& mine, const T& neutral, const Join& /*join*/) const {
    return {neutral, mine};
  }

  template <class T, class Op>
  [[nodiscard]] T combine_lanes(T value, int /*count*/, const Op& /*op*/) const {
    return value;
  }
  template <class T>
  [[nodiscard]] T of_lane_0(const T& value) const {
    return value;
  }
  template <class T, class Op>
  [[nodiscard]] T combine(T value, const Op& op) const {
    static_assert(sizeof(T) <= emulated::block::slot_bytes);
    static_assert(std::is_trivially_copyable_v<T>);
    all_.wait();
    std::memcpy(all_.slot(warp()), &value, sizeof(T));
    all_.wait();
    for (int w = 0; w < warps(); ++w) {
      T of_warp;
      std::memcpy(&of_warp, all_.slot(w), sizeof(T));
      value = w == 0 ? of_warp : static_cast<T>(op(value, of_warp));
    }
    return value;
  }

 private:
  emulated::block& all_;
  int warp_;
  void* scratch_;
};

/// Two GPUs.
struct cuda {
  static constexpr device_kind kind = device_kind::cuda;
  static constexpr std::string_view name = "cuda";
  using execution_space = Kokkos::Serial;  // for the user's own kernels, which run at once

  [[nodiscard]] static int count() noexcept { return 2; }
  [[nodiscard]] static device_properties describe(int /*index*/) {
    return {"emulated", std::size_t{8} << 30, 1, "0.0"};
  }

  /// With a content that nobody expects.
  [[nodiscard]] static void* allocate(int index, std::size_t bytes) {
    void* const pointer = take(bytes, index);
    std::memset(pointer, 0xA5, std::min(bytes, std::size_t{1} << 20));
    return pointer;
  }
  static void deallocate(int index, void* pointer, std::size_t /*bytes*/) noexcept {
    finish(index);
    forget(pointer);
  }
  [[nodiscard]] static void* allocate_pinned(int /*index*/, std::size_t bytes) {
    return take(bytes, -1);
  }
  static void deallocate_pinned(void* pointer) noexcept { forget(pointer); }

  static void finish(int index) noexcept;

  /// From now on a GPU reports that it is lost, whatever its threads do yet.
  static void lose(int index) { lost(index) = true; }

  [[nodiscard]] static int index_of(const execution_space& /*space*/) { return 0; }

  [[nodiscard]] static int owner_of(const void* pointer) {
    const std::lock_guard lock(known().mutex);
    const piece* const found = find(pointer);
    if (found == nullptr || found->index < 0) throw backend_error("no memory of a GPU");
    return found->index;
  }

  [[nodiscard]] static constexpr int warps_of(index_t cost) {
    return device_team::threads_of(cost) / device_team::lanes;
  }

  class event;
  class stream;

 private:
  struct piece {
    std::size_t bytes;
    int index;  // -1: pinned memory of the host
  };
  struct registry {
    std::mutex mutex;
    std::map<const void*, piece> memory;
    std::set<stream*> streams;
  };
  static registry& known() {
    static registry& all = *new registry;
    return all;
  }

  static std::atomic<bool>& lost(int index) {
    static std::atomic<bool> all[2];
    return all[index];
  }

  static void* take(std::size_t bytes, int index) {
    if (bytes > std::size_t{1} << 40) throw out_of_memory("emulated: out of memory");
    void* const pointer =
        std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (pointer == nullptr) throw out_of_memory("emulated: out of memory");
    const std::lock_guard lock(known().mutex);
    known().memory[pointer] = {bytes, index};
    return pointer;
  }
  static void forget(void* pointer) noexcept {
    {
      const std::lock_guard lock(known().mutex);
      known().memory.erase(pointer);
    }
    std::free(pointer);
  }
  // The piece of memory of a GPU's, or pinned, that a pointer points into.
  static const piece* find(const void* pointer) {
    auto next = known().memory.upper_bound(pointer);
    if (next == known().memory.begin()) return nullptr;
    --next;
    const auto* const first = static_cast<const std::byte*>(next->first);
    return static_cast<const std::byte*>(pointer) < first + next->second.bytes ? &next->second
                                                                               : nullptr;
  }
  // Whether a copy from or to it runs later, and not before `copy` returns.
  static bool is_copied_later(const void* pointer) {
    const std::lock_guard lock(known().mutex);
    return find(pointer) != nullptr;
  }
};

/// A point in a stream's work.
class cuda::event {
 public:
  explicit event(int index) : index_(index) {}

  [[nodiscard]] bool is_done() const { return lost(index_) || state_->done.load(); }
  [[nodiscard]] bool has_succeeded() const { return !lost(index_) && state_->done.load(); }
  void synchronize() const {
    state_->wait();
    if (lost(index_)) throw device_lost("emulated: the GPU is lost");
  }

 private:
  friend struct cuda;
  friend class cuda::stream;
  struct state {
    std::atomic<bool> done{true};  // of what was not recorded

    void wait() const { done.wait(false); }
    void set() {
      done.store(true);
      done.notify_all();
    }
  };
  int index_;
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// One thread that works off what is launched, and further ones that are warps with it.
class cuda::stream {
 public:
  using backend = cuda;

  explicit stream(const execution_space& space) : stream(index_of(space)) {}
  explicit stream(int index) : index_(index), thread_([this] { work_off(); }) {
    for (int worker = 1; worker < most_workers; ++worker)
      workers_.emplace_back([this, worker] { attend(worker); });
    const std::lock_guard lock(known().mutex);
    known().streams.insert(this);
  }
  ~stream() {
    {
      const std::lock_guard lock(known().mutex);
      known().streams.erase(this);
    }
    push({});
    thread_.join();
    job_ = nullptr;
    begin_.arrive_and_wait();
    for (std::thread& t : workers_) t.join();
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// For the user's own kernels, which come after all that is launched.
  [[nodiscard]] execution_space space() const {
    synchronize();
    return {};
  }
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] bool in_place() const { return false; }
  template <class Launches>
  void launch(const Launches& launches) const {
    launches();
  }

  template <class Kernel>
  void for_each(const char* /*label*/, index_t count, index_t cost, std::size_t scratch,
                const Kernel& kernel) const {
    static_assert(sizeof(Kernel) <= most_kernel_bytes,
                  "topos: an expression has more operands than a CUDA kernel takes");
    if (count == 0) return;
    const int warps = device_team::threads_of(cost);
    push({[this, count, warps, scratch, kernel] {
      const int blocks =
          warps == 1 ? 1 : static_cast<int>(std::min<index_t>(count, emulated::most_blocks));
      // Its content is what the last block left, or nobody's.
      std::vector<std::unique_ptr<void, decltype(&std::free)>> memory;
      std::vector<std::unique_ptr<emulated::block>> all;
      for (int b = 0; b < blocks; ++b) {
        memory.emplace_back(
            scratch == 0 ? nullptr : std::aligned_alloc(64, (scratch + 63) / 64 * 64), &std::free);
        all.push_back(std::make_unique<emulated::block>(warps));
      }
      run(blocks * warps, [&](int worker) {
        const int b = blocks - 1 - worker / warps;  // the first begins last
        const int warp = worker % warps;
        for (index_t i = b; i < count; i += blocks) {
          kernel(device_team(*all[b], warp, memory[b].get()), i);
          all[b]->wait();
        }
      });
    }});
  }

  void copy(void* to, const void* from, std::size_t bytes) const {
    push({[=] { std::memcpy(to, from, bytes); }});
    if (!is_copied_later(to) || !is_copied_later(from)) synchronize();
  }
  void synchronize() const {
    const event end(index_);
    record(end);
    end.synchronize();
  }
  void record(const event& mark) const {
    mark.state_->done = false;
    push({.run = nullptr, .end = mark.state_});
  }
  void wait(const event& mark) const {
    push({[state = mark.state_] { state->wait(); }});
  }
  [[nodiscard]] bool is_done() const { return lost(index_) || is_idle(); }
  [[nodiscard]] bool has_succeeded() const { return !lost(index_) && is_idle(); }

 private:
  // What is launched, or an event; neither is the last one.
  struct task {
    std::function<void()> run = nullptr;
    std::shared_ptr<event::state> end = nullptr;
  };

  bool is_idle() const {
    const std::lock_guard lock(mutex_);
    return tasks_.empty();
  }
  // Tasks stay in line until they are done: who was told of an event finds nothing before it there.
  void push(task next) const {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(next));
    wake_.notify_one();
  }
  void work_off() {
    for (;;) {
      const task* next = nullptr;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return !tasks_.empty(); });
        next = &tasks_.front();
      }
      if (!next->run && !next->end) return;
      if (next->run) next->run();
      const std::shared_ptr<event::state> end = next->end;
      {
        const std::lock_guard lock(mutex_);
        tasks_.pop_front();
      }
      if (end) end->set();
    }
  }

  // Calls job(worker) by as many threads.
  void run(int workers, const std::function<void(int)>& job) const {
    if (workers == 1) return job(0);
    job_ = &job;
    wanted_ = workers;
    begin_.arrive_and_wait();
    job(0);
    end_.arrive_and_wait();
  }
  void attend(int worker) {
    for (;;) {
      begin_.arrive_and_wait();
      if (job_ == nullptr) return;
      if (worker < wanted_) (*job_)(worker);
      end_.arrive_and_wait();
    }
  }

  static constexpr int most_workers = emulated::most_blocks * emulated::most_warps;

  int index_;
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  mutable std::deque<task> tasks_;
  mutable std::barrier<> begin_{most_workers};
  mutable std::barrier<> end_{most_workers};
  mutable const std::function<void(int)>* job_ = nullptr;
  mutable int wanted_ = 0;
  std::vector<std::thread> workers_;
  std::thread thread_;
};

inline void cuda::finish(int index) noexcept {
  std::vector<std::unique_ptr<event>> ends;
  {
    const std::lock_guard lock(known().mutex);
    for (const stream* s : known().streams) {
      if (s->index() == index) s->record(*ends.emplace_back(std::make_unique<event>(index)));
    }
  }
  for (const auto& end : ends) end->state_->wait();
}

}  // namespace topos::backend
