// SPDX-License-Identifier: Apache-2.0
// expect: topos::endpoint: .* what follows is parameters as a const P&

#include <span>
#include <topos/executor/endpoint.hpp>
#include <vector>

struct model {
#ifdef TOPOS_MUST_FAIL
  std::vector<int> run(std::span<const int> batch, int) { return {batch.begin(), batch.end()}; }
#else
  std::vector<int> run(std::span<const int> batch, const int&) {
    return {batch.begin(), batch.end()};
  }
#endif
};

using run = topos::endpoint<"/run", &model::run>;
static_assert(run::name() == "/run");
