// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Starting and ending Kokkos, unless the host program already did.

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <source_location>
#include <topos/backend/host.hpp>
#include <topos/core/config.hpp>
#include <topos/core/error.hpp>
#include <topos/core/visibility.hpp>
#include <utility>
#include <vector>

namespace topos {

namespace detail {

/// True in a process that was forked from one where topos had started threads: a copy without them.
[[nodiscard]] TOPOS_SHARED inline std::atomic<bool>& forked() noexcept {
  static std::atomic<bool> is{false};
  return is;
}

/// Has forked processes know that they are such; for whoever starts threads.
inline void note_forks() {
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { forked() = true; });
}

/// True once the queues have ended, which they do before Kokkos.
[[nodiscard]] TOPOS_SHARED inline std::atomic<bool>& ended() noexcept {
  static std::atomic<bool> is{false};
  return is;
}

}  // namespace detail

/// Starts Kokkos for as long as it lives, unless the program already did: then it does nothing.
/// Make one at the start of main; at its end all queued work is finished.
///
/// A process that was forked while it lives holds what tensors held, and can read what was
/// computed by then; all else throws `runtime_not_started` there. Fork before it is made, or start
/// another program in the child.
class [[nodiscard]] runtime {
 public:
  explicit runtime(std::source_location where = std::source_location::current()) {
    start([] { Kokkos::initialize(); }, where);
  }

  /// Takes `--kokkos-...` options out of the command line.
  runtime(int& argc, char** argv, std::source_location where = std::source_location::current()) {
    start([&] { Kokkos::initialize(argc, argv); }, where);
  }

  ~runtime() {
    // A forked copy lacks the threads that Kokkos and the queues would wait for.
    if (started_ && Kokkos::is_initialized() && !detail::forked()) Kokkos::finalize();
  }

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

 private:
  template <class Initialize>
  void start(Initialize initialize, std::source_location where) {
    if (Kokkos::is_initialized()) return;
    if (Kokkos::is_finalized()) {
      throw runtime_not_started("runtime: Kokkos was finalized and cannot be started again", where);
    }
    // Kokkos' advice on thread binding is for whole machines; a user's own setting stands.
    ::setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
    initialize();
    backend::host::release_team();  // of this thread, which leaves large work to the queue's
    started_ = true;
  }

  bool started_ = false;
};

namespace detail {

/// Throws `runtime_not_started` in a forked process.
inline void require_unforked(std::source_location where = std::source_location::current()) {
  if (!forked().load(std::memory_order_relaxed)) return;
  throw runtime_not_started(
      "this process was forked from one that uses topos, and has none of its threads: fork before "
      "the runtime is made, or start another program in the child",
      where);
}

/// What ends with Kokkos, in this order: functions that are to be called compute, and what is
/// computed needs memory.
enum class end_of { callbacks, queues, memory };

/// What is to be called when Kokkos ends.
class end_hooks {
 public:
  [[nodiscard]] TOPOS_SHARED static end_hooks& all() {
    static end_hooks& hooks = *new end_hooks;  // never destroyed: Kokkos may end after main
    return hooks;
  }

  void add(end_of what, std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    hooks_[static_cast<std::size_t>(what)].push_back(std::move(hook));
    if (!std::exchange(pushed_, true)) Kokkos::push_finalize_hook([this] { run(); });
  }

 private:
  // A hook may make what asks for its own end.
  void run() {
    std::unique_lock lock(mutex_);
    for (std::vector<std::function<void()>>& hooks : hooks_) {
      while (!hooks.empty()) {
        const std::function<void()> last = std::move(hooks.back());
        hooks.pop_back();
        lock.unlock();
        last();
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::array<std::vector<std::function<void()>>, 3> hooks_;
  bool pushed_ = false;
};

/// Has `hook` called when Kokkos ends, from any thread: of the same kind the last one first.
inline void at_end(end_of what, std::function<void()> hook) {
  end_hooks::all().add(what, std::move(hook));
}

[[noreturn]] inline void throw_ended(std::source_location where = std::source_location::current()) {
  throw runtime_not_started("topos was used after its runtime (or Kokkos) ended", where);
}

/// Throws `runtime_not_started` unless work can be run.
inline void require_runtime(std::source_location where) {
  require_unforked(where);
  const bool over = ended().load(std::memory_order_relaxed);
  if (Kokkos::is_initialized() && !over) return;
  if (over || Kokkos::is_finalized()) throw_ended(where);
  throw runtime_not_started(
      "topos was used before it was started: make a `topos::runtime` first in main (what is global "
      "is made before that: assign to it there)",
      where);
}

}  // namespace detail
}  // namespace topos
