// SPDX-License-Identifier: Apache-2.0
// expect: topos::future: co_await takes the result out of the future.* write co_await
// std::move\(f\)

#include <coroutine>
#include <topos/executor/future.hpp>
#include <utility>

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

task use(topos::future<int> f) {
#ifdef TOPOS_MUST_FAIL
  co_await f;
#else
  co_await std::move(f);
#endif
}
