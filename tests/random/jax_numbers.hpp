// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random numbers of tests/data/random, which scripts/reference/random_numbers.py draws with JAX.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <topos/io/safetensors.hpp>
#include <topos/random/key.hpp>
#include <topos/tensor/tensor.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "../support/folders.hpp"

namespace support {

/// The seed of all that the script draws, and the sizes of its arrays.
inline constexpr int jax_seed = 42;
inline const std::vector<topos::index_t> jax_sizes{1, 2, 3, 7, 16, 17, 33, 64, 257};

inline constexpr topos::random::layout jax_layouts[] = {topos::random::layout::original,
                                                        topos::random::layout::partitionable};

[[nodiscard]] inline topos::random::key jax_key(topos::random::layout l) {
  return topos::random::key{jax_seed, l};
}

/// The values of "distribution/type/layout" in the distribution's file.
template <class T>
std::vector<T> jax_values(const std::string& file, const std::string& name) {
  const topos::safetensors all(data_folder() / "random" / (file + ".safetensors"));
  const auto& entry = all.at(name);
  EXPECT_EQ(entry.dtype, topos::dtype_v<T>) << name;
  const std::size_t count = entry.bytes.size() / sizeof(T);
  const auto values = std::make_unique<T[]>(count);
  std::memcpy(values.get(), entry.bytes.data(), entry.bytes.size());
  return std::vector<T>(values.get(), values.get() + count);
}
inline std::string layout_name(topos::random::layout l) {
  return l == topos::random::layout::original ? "original" : "partitionable";
}
template <class T>
std::vector<T> jax_values(const std::string& file, const std::string& distribution,
                          topos::random::layout l) {
  const std::string type(topos::dtype_name_v<T>);
  return jax_values<T>(file, distribution + "/" + type + "/" + layout_name(l));
}

/// How many numbers lie between two, counted in T.
template <class T>
double ulps_between(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return 0;
    const T larger = std::max(std::abs(a), std::abs(b));
    const T spacing = std::nextafter(larger, std::numeric_limits<T>::infinity()) - larger;
    return static_cast<double>(std::abs(a - b) / spacing);
  } else if constexpr (std::is_integral_v<T>) {
    return a == b ? 0 : std::numeric_limits<double>::infinity();
  } else {
    if (static_cast<float>(a) == static_cast<float>(b)) return 0;
    return ((a.bits ^ b.bits) & 0x8000U) != 0 ? std::numeric_limits<double>::infinity()
                                              : std::abs(int{a.bits} - int{b.bits});
  }
}

/// Expects each number within some units in the last place of JAX's, and tells of the first that is
/// not.
template <class T>
void expect_ulps(const std::vector<T>& got, const std::vector<T>& jax, double allowed) {
  ASSERT_EQ(got.size(), jax.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(ulps_between<T>(got[i], jax[i]), allowed)
        << "at " << i << ": " << +got[i] << ", JAX " << +jax[i];
  }
}

/// What draw(key, shape, device) gives for each of JAX's sizes, one after the other.
template <class Draw>
auto drawn_sizes(topos::random::layout l, topos::device d, Draw draw) {
  using T = typename decltype(topos::tensor(draw(jax_key(l), topos::shape<1>{}, d)))::value_type;
  std::vector<T> all;
  for (const topos::index_t size : jax_sizes) {
    const topos::tensor<T, 1> drawn(draw(jax_key(l), topos::shape<1>{size}, d));
    const std::vector<T> part = values_of(drawn);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Expects draw(key, shape, device) within some units in the last place of JAX's numbers, in both
/// layouts and on each device.
template <class T, class Draw>
void expect_jax(const std::string& file, const std::string& distribution, double ulps, Draw draw) {
  on_each_device([&](topos::device d) {
    for (const auto l : jax_layouts) {
      SCOPED_TRACE(distribution + " " + layout_name(l));
      expect_ulps(drawn_sizes(l, d, draw), jax_values<T>(file, distribution, l), ulps);
    }
  });
}

}  // namespace support
