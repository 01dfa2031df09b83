// SPDX-License-Identifier: Apache-2.0
// expect: topos needs IEEE arithmetic

#ifdef TOPOS_MUST_FAIL
#define __FAST_MATH__ 1  // as compilers do by -ffast-math
#endif

#include <topos/core/config.hpp>
