// SPDX-License-Identifier: Apache-2.0
// expect: needs_no_factory

#include <span>
#include <topos/executor.hpp>
#include <vector>

struct model {
  model(topos::device, int) {}
  std::vector<int> run(std::span<const int> batch) { return {batch.begin(), batch.end()}; }
};

using executor = topos::deployment<model, topos::endpoint<"/run", &model::run>>;

void use() {
#ifdef TOPOS_MUST_FAIL
  executor dep;
#else
  executor dep({}, [](topos::device d) { return model(d, 1); });
#endif
}
