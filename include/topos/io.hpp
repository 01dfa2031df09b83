// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files: what topos reads and writes.

#include <topos/io/mapped_file.hpp>
#include <topos/io/npy.hpp>
#include <topos/io/safetensors.hpp>
