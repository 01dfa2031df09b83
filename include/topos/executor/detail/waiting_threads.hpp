// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Threads that make results and wait for results meanwhile, perhaps for one another's.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <topos/core/visibility.hpp>
#include <vector>

namespace topos::detail {

/// Who makes results on threads of its own.
class result_maker : public std::enable_shared_from_this<result_maker> {
 public:
  /// The one whose thread this is, or null; and which of its threads.
  struct place {
    result_maker* maker = nullptr;
    std::size_t replica = 0;
  };
  [[nodiscard]] static const place& here() noexcept { return here_now(); }

  /// Makes a thread one of a maker's, while it lives.
  class works_here {
   public:
    works_here(result_maker& maker, std::size_t replica) noexcept {
      here_now() = {&maker, replica};
    }
    ~works_here() { here_now() = {}; }
    works_here(const works_here&) = delete;
    works_here& operator=(const works_here&) = delete;
  };

  result_maker() = default;
  result_maker(const result_maker&) = delete;
  result_maker& operator=(const result_maker&) = delete;

  /// How many threads make results. Takes no lock.
  [[nodiscard]] virtual std::size_t threads() const noexcept = 0;

  /// Ends what has not begun, which nobody would make: all threads wait for it.
  virtual void fail_what_waits() noexcept = 0;

 protected:
  ~result_maker() = default;

 private:
  [[nodiscard]] TOPOS_SHARED static place& here_now() noexcept {
    thread_local place is;
    return is;
  }
};

/// What a thread can wait for.
class awaited {
 public:
  awaited() = default;
  awaited(const awaited&) = delete;
  awaited& operator=(const awaited&) = delete;

  [[nodiscard]] virtual bool is_ready() const noexcept = 0;

  /// Who makes it, where that is known.
  [[nodiscard]] virtual const result_maker* maker() const noexcept { return nullptr; }

  /// Whether this thread is making it, and would wait for itself.
  [[nodiscard]] virtual bool is_made_here() const noexcept { return false; }

 protected:
  ~awaited() = default;
};

/// A maker's thread that waits for what a maker makes.
struct waiting_thread {
  result_maker* waits = nullptr;
  const awaited* what = nullptr;
  const result_maker* maker = nullptr;
};

/// All of them. A set of makers all of whose threads wait for makers of the set waits for ever.
class waiting_threads {
 public:
  [[nodiscard]] TOPOS_SHARED static waiting_threads& all() {
    // Never destroyed: static objects may wait, too.
    static auto& one = *new waiting_threads;
    return one;
  }

  /// One is about to wait, until `end`; or it is not, where it would wait for ever: says how many
  /// makers would wait for one another, or else 0.
  [[nodiscard]] std::size_t begin(const waiting_thread& one) {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(&one);
    std::vector<result_maker*> stuck;
    try {
      stuck = those_stuck();
    } catch (...) {
      waiting_.pop_back();
      throw;
    }
    if (std::find(stuck.begin(), stuck.end(), one.maker) == stuck.end()) return 0;
    waiting_.pop_back();
    return stuck.size();
  }
  /// The same where it has to wait: what has not begun of all such makers fails instead.
  void begin_anyway(const waiting_thread& one) {
    {
      const std::lock_guard guard(mutex_);
      waiting_.push_back(&one);
    }
    fail_stuck();
  }
  void end(const waiting_thread& one) noexcept {
    const std::lock_guard guard(mutex_);
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &one));
  }

  /// Has what waits for ever fail, where a maker has lost a thread.
  void fail_stuck() {
    std::vector<std::shared_ptr<result_maker>> stuck;  // alive, whoever else lets go of them
    {
      const std::lock_guard guard(mutex_);
      for (result_maker* each : those_stuck()) stuck.push_back(each->weak_from_this().lock());
    }
    for (const auto& each : stuck) {
      if (each != nullptr) each->fail_what_waits();
    }
  }

 private:
  // The largest set of makers all of whose threads wait for makers of the set. The lock is held.
  [[nodiscard]] std::vector<result_maker*> those_stuck() const {
    std::vector<const waiting_thread*> held_up;  // whose result is not there
    std::vector<result_maker*> stuck;
    const auto is_stuck = [&](const result_maker* maker) {
      return std::find(stuck.begin(), stuck.end(), maker) != stuck.end();
    };
    for (const waiting_thread* each : waiting_) {
      if (each->what->is_ready()) continue;  // asleep as it may still be
      held_up.push_back(each);
      if (!is_stuck(each->waits)) stuck.push_back(each->waits);
    }
    const auto has_another = [&](const result_maker* maker) {
      const auto in_vain = std::count_if(held_up.begin(), held_up.end(), [&](const auto* each) {
        return each->waits == maker && is_stuck(each->maker);
      });
      return static_cast<std::size_t>(in_vain) < maker->threads();
    };
    for (;;) {
      const auto freed = std::find_if(stuck.begin(), stuck.end(), has_another);
      if (freed == stuck.end()) return stuck;
      stuck.erase(freed);
    }
  }

  std::mutex mutex_;
  std::vector<const waiting_thread*> waiting_;
};

/// While it lives its thread waits for something, perhaps of a maker's whose thread it is.
class waiting_here {
 public:
  enum class may { refuse, not_refuse };

  /// Unless it must not refuse to, it does not wait where that would be for ever.
  waiting_here(const awaited& what, may refuse) {
    result_maker* const here = result_maker::here().maker;
    if (here == nullptr) return;
    one_ = {here, &what, what.maker()};
    if (one_.maker == nullptr) return;
    if (refuse == may::not_refuse)
      waiting_threads::all().begin_anyway(one_);
    else if (one_.waits == one_.maker && what.is_made_here())
      circle_ = 1;
    else
      circle_ = waiting_threads::all().begin(one_);
  }
  ~waiting_here() {
    if (one_.maker != nullptr && !refused()) waiting_threads::all().end(one_);
  }
  waiting_here(const waiting_here&) = delete;
  waiting_here& operator=(const waiting_here&) = delete;

  [[nodiscard]] bool refused() const noexcept { return circle_ > 0; }
  /// Why it does not wait, to go on after "executor: ".
  [[nodiscard]] std::string why() const {
    if (circle_ == 1)
      return "a model would wait for itself: no replica of its executor is left that does not wait";
    return "the models of " + std::to_string(circle_) +
           " executors would wait for one another: no replica of theirs is left that does not wait";
  }

 private:
  waiting_thread one_;
  std::size_t circle_ = 0;  // makers that would wait for one another
};

}  // namespace topos::detail
