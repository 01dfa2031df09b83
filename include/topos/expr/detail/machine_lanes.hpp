// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lanes by xsimd where it is found, else one at a time; and the machine's own operations on them,
/// where it has AVX2.

#include <topos/core/config.hpp>

#if TOPOS_HAS_XSIMD
#include <topos/expr/detail/xsimd_lanes.hpp>
#ifdef __AVX2__
#include <immintrin.h>
#endif
#else
#include <topos/expr/detail/scalar_lanes.hpp>
#endif
