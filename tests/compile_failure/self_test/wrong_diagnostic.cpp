// SPDX-License-Identifier: Apache-2.0
// expect: topos refuses this

#ifdef TOPOS_MUST_FAIL
static_assert(false, "something else");
#endif
