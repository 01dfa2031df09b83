// SPDX-License-Identifier: Apache-2.0

#include "module.hpp"

#include <topos/core/error.hpp>
#include <topos/executor/detail/parking_place.hpp>

const void* shared_by_module() { return &topos::detail::parking_place::of(nullptr); }

void throw_from_module() { throw topos::shape_mismatch("from the module"); }
