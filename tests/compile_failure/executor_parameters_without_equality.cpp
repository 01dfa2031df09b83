// SPDX-License-Identifier: Apache-2.0
// expect: topos::endpoint: parameters must have an operator==

#include <span>
#include <topos/executor/endpoint.hpp>
#include <vector>

struct parameters {
  int k = 0;
#ifndef TOPOS_MUST_FAIL
  bool operator==(const parameters&) const = default;
#endif
};

struct model {
  std::vector<int> run(std::span<const int> batch, const parameters&) {
    return {batch.begin(), batch.end()};
  }
};

using run = topos::endpoint<"/run", &model::run>;
static_assert(run::name() == "/run");
