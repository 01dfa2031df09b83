// SPDX-License-Identifier: Apache-2.0
// expect: topos refuses this

static_assert(false, "topos refuses this");
