// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the tests' files are.

#include <filesystem>

namespace support {

/// tests/data.
[[nodiscard]] std::filesystem::path data_folder();

/// The folder of all-MiniLM-L6-v2: $TOPOS_MODEL_DIR, or else where the build found it; empty if
/// there is none.
[[nodiscard]] std::filesystem::path model_folder();

}  // namespace support
