// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the shared objects of one process have in common.

/// On a function whose static or thread_local variables are one for the process, and on the types
/// of exceptions: shared by its modules where these are compiled with -fvisibility=hidden, too.
#ifdef __GNUC__
#define TOPOS_SHARED [[gnu::visibility("default")]]
#else
#define TOPOS_SHARED
#endif
