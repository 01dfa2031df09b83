// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A shared object that uses topos beside the program.

/// The object that the module has where a program has `topos::detail::parking_place::of(nullptr)`.
[[gnu::visibility("default")]] const void* shared_by_module();

/// Throws `topos::shape_mismatch`.
[[gnu::visibility("default")]] void throw_from_module();
