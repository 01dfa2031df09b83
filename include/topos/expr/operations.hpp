// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The elementwise operations.

#include <topos/expr/detail/arithmetic_operations.hpp>
#include <topos/expr/detail/bit_operations.hpp>
#include <topos/expr/detail/comparison_operations.hpp>
#include <topos/expr/detail/math_operations.hpp>
#include <topos/expr/detail/parts_operations.hpp>
#include <topos/expr/detail/power_operations.hpp>
