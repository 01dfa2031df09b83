// SPDX-License-Identifier: Apache-2.0
// expect: nor can it be moved: hold it by a pointer

#include <memory>
#include <topos/executor.hpp>
#include <utility>

using executor = topos::batcher<int, int>;

#ifdef TOPOS_MUST_FAIL
executor use(executor& b) { return executor(std::move(b)); }
#else
std::unique_ptr<executor> use(std::unique_ptr<executor>& b) { return std::move(b); }
#endif
