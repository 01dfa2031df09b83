// SPDX-License-Identifier: Apache-2.0

/// A program outside the repository: starts the runtime that it found, says which version that is,
/// and shares with a module what is one for the process.

#include <iostream>
#include <topos/core/error.hpp>
#include <topos/core/version.hpp>
#include <topos/device/device.hpp>
#include <topos/device/runtime.hpp>
#include <topos/executor/detail/parking_place.hpp>

#include "module.hpp"

int main(int argc, char** argv) {
  topos::runtime runtime{argc, argv};
  std::cout << "topos " << TOPOS_VERSION_MAJOR << '.' << TOPOS_VERSION_MINOR << '.'
            << TOPOS_VERSION_PATCH << " on " << topos::device{"cpu"} << '\n';
  if (shared_by_module() != &topos::detail::parking_place::of(nullptr)) {
    std::cout << "the module has a parking place of its own\n";
    return 1;
  }
  try {
    throw_from_module();
  } catch (const topos::shape_mismatch&) {
    return 0;
  }
}
