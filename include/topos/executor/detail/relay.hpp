// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a result goes from one that waits for it to the next.

#include <topos/executor/detail/callback_threads.hpp>

namespace topos::detail {

/// A continuation that is called by a thread for callbacks, and that may go on as a quick one: then
/// it passes a result on, to another such perhaps. A thread does that for one after the other, not
/// for one inside of the other: they may be more than a stack has room for.
struct relay : continuation {
  void run() noexcept final {
    if (!quick) return call();
    thread_local relay* others = nullptr;
    thread_local bool passes = false;
    if (passes) {
      next = others;
      others = this;
      return;
    }
    passes = true;
    pass_on();
    while (relay* const one = others) {
      others = static_cast<relay*>(one->next);
      one->pass_on();
    }
    passes = false;
  }

 protected:
  ~relay() = default;

 private:
  /// What it is there for; may make it quick, and have it follow another result.
  virtual void call() noexcept = 0;
  /// Where it is quick: once, when that result is there.
  virtual void pass_on() noexcept = 0;
};

}  // namespace topos::detail
