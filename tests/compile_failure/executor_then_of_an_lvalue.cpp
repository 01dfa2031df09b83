// SPDX-License-Identifier: Apache-2.0
// expect: call it as std::move\(f\).then\(...\)

#include <topos/executor/future.hpp>
#include <utility>

void use(topos::future<int>& f) {
#ifdef TOPOS_MUST_FAIL
  f.then([](int n) { return n; });
#else
  static_cast<void>(std::move(f).then([](int n) { return n; }));
#endif
}
