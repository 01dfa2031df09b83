// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What topos exchanges with files and other libraries.

#include <topos/io/dlpack.hpp>
#include <topos/io/dlpack_abi.hpp>
#include <topos/io/kokkos_view.hpp>
#include <topos/io/mapped_file.hpp>
#include <topos/io/mdspan.hpp>
#include <topos/io/npy.hpp>
#include <topos/io/safetensors.hpp>
