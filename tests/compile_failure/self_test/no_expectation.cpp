// SPDX-License-Identifier: Apache-2.0

#ifdef TOPOS_MUST_FAIL
static_assert(false, "topos refuses this");
#endif
