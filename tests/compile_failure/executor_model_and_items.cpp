// SPDX-License-Identifier: Apache-2.0
// expect: topos::deployment: a model that is not made as Model.device. needs a factory
// expect: topos: map, post and requests take a range of items

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
  (void)dep.post<"/run">(std::vector<model*>());
#else
  executor dep({}, [](topos::device d) { return model(d, 1); });
  (void)dep.post<"/run">({1, 2});
#endif
}
