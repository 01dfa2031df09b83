// SPDX-License-Identifier: Apache-2.0

/// Alone knows paths of this checkout, so that a cache of compiled tests serves all checkouts.

#include "folders.hpp"

#include <cstdlib>

namespace support {

std::filesystem::path data_folder() { return TOPOS_TEST_DATA_DIR; }

std::filesystem::path model_folder() {
  if (const char* named = std::getenv("TOPOS_MODEL_DIR")) return named;
  const std::filesystem::path folder = TOPOS_TEST_MODEL_DIR;
  return exists(folder / "model.safetensors") ? folder : std::filesystem::path();
}

}  // namespace support
