// SPDX-License-Identifier: Apache-2.0
// expect: what the function returns must be an object that can be moved, or nothing; not a
// reference

#include <topos/executor/future.hpp>
#include <utility>

topos::future<int> use(topos::future<int> f) {
#ifdef TOPOS_MUST_FAIL
  return std::move(f).then([](const int& x) -> const int& { return x; });
#else
  return std::move(f).then([](const int& x) { return x; });
#endif
}
