// SPDX-License-Identifier: Apache-2.0
// expect: this deployment has no endpoint of this name

#include <span>
#include <topos/executor.hpp>
#include <vector>

struct model {
  explicit model(topos::device) {}
  std::vector<int> encode(std::span<const int> batch) { return {batch.begin(), batch.end()}; }
};

int use(topos::deployment<model, topos::endpoint<"/encode", &model::encode>>& dep) {
#ifdef TOPOS_MUST_FAIL
  return dep.submit<"/decode">(1).get();
#else
  return dep.submit<"/encode">(1).get();
#endif
}
