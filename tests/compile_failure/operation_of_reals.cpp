// SPDX-License-Identifier: Apache-2.0
// expect: topos: complex numbers have no such operation: take real\(x\), imag\(x\) or abs\(x\)

#include <topos/expr/math.hpp>
#include <topos/tensor/tensor.hpp>

using complex = Kokkos::complex<float>;

auto root(const topos::tensor<complex, 1>& x) { return topos::cbrt(topos::abs(x)); }

#ifdef TOPOS_MUST_FAIL
auto of_complex(const topos::tensor<complex, 1>& x) { return topos::cbrt(x); }
#endif
