// SPDX-License-Identifier: Apache-2.0

/// A program outside the repository: starts the runtime that it found and says which version that
/// is.

#include <iostream>
#include <topos/core/version.hpp>
#include <topos/device/device.hpp>
#include <topos/device/runtime.hpp>

int main(int argc, char** argv) {
  topos::runtime runtime{argc, argv};
  std::cout << "topos " << TOPOS_VERSION_MAJOR << '.' << TOPOS_VERSION_MINOR << '.'
            << TOPOS_VERSION_PATCH << " on " << topos::device{"cpu"} << '\n';
}
