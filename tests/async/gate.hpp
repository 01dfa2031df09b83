// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work that holds a queue up until it is let go.

#include <memory>
#include <semaphore>
#include <topos/async/queues.hpp>
#include <utility>
#include <vector>

namespace support {

/// Holds the CPU's worker from its making: what is submitted then waits until `open`, or its end.
class gate {
 public:
  explicit gate(topos::detail::work_queue& q, std::vector<topos::buffer> writes = {}) {
    q.submit({}, std::move(writes), topos::detail::always_queued, [s = state_](const auto&) {
      s->entered.release();
      s->opened.acquire();
    });
    state_->entered.acquire();
  }
  ~gate() { open(); }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  void open() {
    if (!std::exchange(done_, true)) state_->opened.release();
  }

 private:
  struct semaphores {
    std::binary_semaphore entered{0};
    std::binary_semaphore opened{0};
  };
  std::shared_ptr<semaphores> state_ = std::make_shared<semaphores>();
  bool done_ = false;
};

}  // namespace support
