// SPDX-License-Identifier: Apache-2.0
// expect: topos::endpoint: a model's member function takes a std::span<const In>
// expect: topos::batcher: the function takes a std::span<const In>

#include <span>
#include <topos/executor.hpp>
#include <vector>

struct model {
  explicit model(topos::device) {}
  int one(int item) { return item; }
  std::vector<int> all(std::span<const int> batch) { return {batch.begin(), batch.end()}; }
};

using works = topos::deployment<model, topos::endpoint<"/all", &model::all>>;
void as_it_is() {
  works dep;
  topos::batcher<int, int> b(
      [](std::span<const int> batch) { return std::vector<int>(batch.size()); });
}

#ifdef TOPOS_MUST_FAIL
using fails = topos::deployment<model, topos::endpoint<"/one", &model::one>>;
void of_one_item() {
  fails dep;
  topos::batcher<int, int> b([](int item) { return item; });
}
#endif
