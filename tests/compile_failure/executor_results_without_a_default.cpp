// SPDX-License-Identifier: Apache-2.0
// expect: topos::batcher: results that a function fills must have a default constructor

#include <span>
#include <topos/executor.hpp>

struct result {
#ifdef TOPOS_MUST_FAIL
  explicit result(int v) : value(v) {}
#endif
  int value = 0;
};

void use() {
  topos::batcher<int, result> b([](std::span<const int> batch, std::span<result> results) {
    for (std::size_t i = 0; i < batch.size(); ++i) results[i].value = batch[i];
  });
}
