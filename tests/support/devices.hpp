// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One test body for every kind of device that is here, and tensors made and read in one line.

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <topos/device/device.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <vector>

namespace support {

/// Calls body(device) for the CPU and then for the last GPU; failures name the device. Of several
/// GPUs that is not the one which CUDA would take of itself.
template <class Body>
void on_each_device(Body body) {
  std::vector<topos::device> kinds{topos::cpu()};
  if (const int gpus = topos::num_gpus(); gpus > 0) kinds.push_back(topos::gpu(gpus - 1));
  for (const topos::device& d : kinds) {
    SCOPED_TRACE(topos::to_string(d));
    body(d);
  }
}

/// The same without emulated GPUs, for which a body would take too long: see tests/emulated_gpu.
template <class Body>
void on_each_real_device(Body body) {
  on_each_device([&](const topos::device& d) {
    if (topos::properties(d).name != "emulated") body(d);
  });
}

/// Extents that are empty, single, odd, just over a SIMD batch, and beside a kernel's chunk.
inline const std::vector<topos::index_t>& sizes() {
  static const std::vector<topos::index_t> all{0,  1,  7,    15,   16,   17,   33,
                                               64, 65, 4095, 4096, 4097, 8193, 40001};
  return all;
}

/// A tensor of one axis, or of a shape.
template <class T>
topos::tensor<T, 1> vector_on(topos::device d, const std::vector<T>& values) {
  return topos::from_host<T, 1>(std::span<const T>(values),
                                {static_cast<topos::index_t>(values.size())}, d);
}
template <std::size_t Rank, class T>
topos::tensor<T, Rank> tensor_on(topos::device d, topos::shape<Rank> extents,
                                 const std::vector<T>& values) {
  return topos::from_host<T, Rank>(std::span<const T>(values), extents, d);
}

/// The elements of a tensor on any device.
template <class T, std::size_t Rank>
std::vector<T> values_of(const topos::tensor<T, Rank>& x) {
  const topos::tensor<T, Rank> here = topos::device_put(x, topos::cpu());
  const std::span<const T> all = here.host();
  return {all.begin(), all.end()};
}

/// `count` values without a pattern: reals in [-2, 2) that are exact in float, or any integers.
template <class T = float>
std::vector<T> varied(topos::index_t count, int seed = 1) {
  std::vector<T> values(static_cast<std::size_t>(count));
  unsigned state = 2654435761U * static_cast<unsigned>(seed);
  for (T& v : values) {
    state = 1664525U * state + 1013904223U;
    if constexpr (std::is_integral_v<T>) {
      v = static_cast<T>(state >> 20U);
    } else {
      v = static_cast<T>(static_cast<int>(state >> 10U) - (1 << 21)) / static_cast<T>(1 << 20);
    }
  }
  return values;
}

/// Whether two ranges of numbers have the same bits.
template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return same_bits(std::span<const T>(a), std::span<const T>(b));
}

/// What `action` throws, as text; a failure, and "", if it is not an `Error`.
template <class Error, class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& failure) {
    return failure.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

/// Whether a message has a part.
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace support
