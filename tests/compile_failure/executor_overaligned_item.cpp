// SPDX-License-Identifier: Apache-2.0
// expect: items, results and parameters of an executor are aligned to 64 bytes at most

#include <span>
#include <topos/executor.hpp>
#include <vector>

#ifdef TOPOS_MUST_FAIL
struct alignas(128) item {
#else
struct alignas(64) item {
#endif
  int value = 0;
};

int use(topos::batcher<item, int>& b) { return b.submit(item{}).get(); }
