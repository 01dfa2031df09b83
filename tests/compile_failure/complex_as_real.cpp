// SPDX-License-Identifier: Apache-2.0
// expect: topos: a complex number is no real one: take real\(x\), imag\(x\) or abs\(x\)

#include <topos/expr/elementwise.hpp>
#include <topos/tensor/tensor.hpp>

using complex = Kokkos::complex<float>;

auto widened(const topos::tensor<float, 1>& x) { return topos::astype<complex>(x); }

#ifdef TOPOS_MUST_FAIL
auto narrowed(const topos::tensor<complex, 1>& x) { return topos::astype<float>(x); }
#endif
