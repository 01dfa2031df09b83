// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The types of which a typed test has instances.

#include <gtest/gtest.h>

#include <cstddef>
#include <tuple>

namespace support {

/// All types named; where TOPOS_TEST_FEW_TYPES is defined, the last alone. What takes long to build
/// (sanitizers, nvcc) need not see each type: the plain build does.
#ifdef TOPOS_TEST_FEW_TYPES
inline constexpr bool few_types = true;
template <class... Types>
using types = testing::Types<std::tuple_element_t<sizeof...(Types) - 1, std::tuple<Types...>>>;
#else
inline constexpr bool few_types = false;
template <class... Types>
using types = testing::Types<Types...>;
#endif

}  // namespace support
