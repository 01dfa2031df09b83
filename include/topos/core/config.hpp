// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What this build of topos has: the one place, besides backend/, that asks Kokkos and the build.
///
/// The build defines TOPOS_HAS_XSIMD, TOPOS_HAS_ONEDNN, TOPOS_HAS_CBLAS and TOPOS_HAS_CUBLAS to 1
/// for each optional library it found; what is not defined is absent. TOPOS_HAS_AMX=0 does without
/// the matrix unit of x86 CPUs.

#include <Kokkos_Core.hpp>
#include <cstddef>

#if defined(KOKKOS_ENABLE_THREADS) || defined(KOKKOS_ENABLE_HPX)
#error \
    "topos launches from a worker thread, which Kokkos' Threads and HPX backends refuse: use OpenMP or Serial"
#endif

#ifndef TOPOS_ALLOW_FAST_MATH
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || __FINITE_MATH_ONLY__ + 0
#error \
    "topos needs IEEE arithmetic, with NaN, infinities and sums in their order: drop -ffast-math, -Ofast, -funsafe-math-optimizations and -ffinite-math-only (-fno-finite-math-only behind them is not enough), or define TOPOS_ALLOW_FAST_MATH: see docs/support.md"
#endif
#endif

#ifndef TOPOS_HAS_XSIMD
#define TOPOS_HAS_XSIMD 0
#endif
#ifndef TOPOS_HAS_ONEDNN
#define TOPOS_HAS_ONEDNN 0
#endif
#ifndef TOPOS_HAS_CBLAS
#define TOPOS_HAS_CBLAS 0
#endif
#ifndef TOPOS_HAS_CUBLAS
#define TOPOS_HAS_CUBLAS 0
#endif

// What the compiler can do with AMX; whether the CPU has it is asked at run time.
#ifndef TOPOS_HAS_AMX
#if defined(__x86_64__) && defined(__linux__) && (defined(__clang__) || __GNUC__ >= 11)
#define TOPOS_HAS_AMX 1
#else
#define TOPOS_HAS_AMX 0
#endif
#endif

#ifdef KOKKOS_ENABLE_CUDA
#define TOPOS_HAS_CUDA 1
#else
#define TOPOS_HAS_CUDA 0
#endif

// Kokkos' own mdspan, which stands in where the standard library has none.
#ifdef KOKKOS_ENABLE_IMPL_MDSPAN
#define TOPOS_HAS_KOKKOS_MDSPAN 1
#else
#define TOPOS_HAS_KOKKOS_MDSPAN 0
#endif

/// Before a function for host and device one of whose branches, chosen at compile time, is host
/// code: tells nvcc that this is meant.
#ifdef __CUDACC__
#define TOPOS_HOST_BRANCH _Pragma("nv_exec_check_disable")
#else
#define TOPOS_HOST_BRANCH
#endif

/// Before a loop whose steps do not depend on each other, and do not throw: has g++ make lanes of
/// it where it would not by itself, as at -O2. The other is for steps that depend on each other in
/// `least` alone, the least of what they compute.
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__)
#define TOPOS_INDEPENDENT_STEPS _Pragma("omp simd")
#define TOPOS_STEPS_TO_LEAST _Pragma("omp simd reduction(min : least)")
#else
#define TOPOS_INDEPENDENT_STEPS
#define TOPOS_STEPS_TO_LEAST
#endif

/// Before a loop of the host's whose steps are short: eight for each look whether it ends.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TOPOS_EIGHT_STEPS _Pragma("GCC unroll 8")
#else
#define TOPOS_EIGHT_STEPS
#endif

/// Before a loop of a GPU's code whose steps are known to the compiler: all of them one after the
/// other, so that arrays that it goes through are registers.
#if defined(__CUDACC__)
#define TOPOS_UNROLLED _Pragma("unroll")
#else
#define TOPOS_UNROLLED
#endif

/// After a member function: what it returns refers to the object, and must not outlive it. Clang
/// warns where it does; g++ would warn of the attribute.
#if defined(__has_cpp_attribute) && !defined(__CUDACC__)
#if __has_cpp_attribute(clang::lifetimebound)
#define TOPOS_LIFETIMEBOUND [[clang::lifetimebound]]
#endif
#endif
#ifndef TOPOS_LIFETIMEBOUND
#define TOPOS_LIFETIMEBOUND
#endif

namespace topos {

/// Sizes, extents and offsets, in elements unless said otherwise.
using index_t = std::ptrdiff_t;

}  // namespace topos
