// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of topos, as three numbers; the build reads them from here.

#define TOPOS_VERSION_MAJOR 0
#define TOPOS_VERSION_MINOR 1
#define TOPOS_VERSION_PATCH 0
