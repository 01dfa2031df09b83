// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The types of which a typed test has instances.

#include <gtest/gtest.h>

#include <cstddef>
#include <tuple>

namespace support {

namespace detail {

template <class... Types>
struct first_and_last {
  using list = std::tuple<Types...>;
  using type = testing::Types<std::tuple_element_t<0, list>,
                              std::tuple_element_t<sizeof...(Types) - 1, list>>;
};

}  // namespace detail

/// All types named; where TOPOS_TEST_FEW_TYPES is defined, the first and the last alone. What takes
/// long to build (sanitizers, nvcc) need not see each type: the plain build does.
#ifdef TOPOS_TEST_FEW_TYPES
template <class... Types>
using types = typename detail::first_and_last<Types...>::type;
#else
template <class... Types>
using types = testing::Types<Types...>;
#endif

}  // namespace support
