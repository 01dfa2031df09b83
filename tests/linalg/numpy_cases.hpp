// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cases of scripts/reference/linalg.py: operands, and NumPy's results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <topos/core/promotion.hpp>
#include <topos/io/npy.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"
#include "../support/folders.hpp"

namespace support {

using extents_t = std::vector<topos::index_t>;

/// The shapes that matmul multiplies.
struct matmul_case {
  extents_t a;
  extents_t b;
};
inline const std::vector<matmul_case>& matmul_cases() {
  static const std::vector<matmul_case> all{{{3}, {3}},
                                            {{0}, {0}},
                                            {{5}, {5, 4}},
                                            {{4, 5}, {5}},
                                            {{0, 3}, {3, 2}},
                                            {{2, 0}, {0, 3}},
                                            {{2, 3}, {3, 0}},
                                            {{1, 1}, {1, 1}},
                                            {{1, 7}, {7, 1}},
                                            {{2, 3}, {3, 4}},
                                            {{7, 5}, {5, 9}},
                                            {{8, 16}, {16, 48}},
                                            {{9, 17}, {17, 49}},
                                            {{17, 33}, {33, 64}},
                                            {{131, 40}, {40, 103}},
                                            {{33, 600}, {600, 97}},
                                            {{40, 1000}, {1000, 5}},
                                            {{2, 0, 3}, {2, 3, 2}},
                                            {{3, 64, 32}, {3, 32, 80}},
                                            {{3, 2, 3}, {3, 4}},
                                            {{2, 3}, {4, 3, 5}},
                                            {{5}, {2, 5, 3}},
                                            {{2, 3, 5}, {5}},
                                            {{2, 1, 3, 4}, {5, 4, 2}},
                                            {{3, 1, 2, 3}, {1, 4, 3, 2}},
                                            {{1, 2, 1, 3, 2, 2}, {2, 3, 1, 2, 3}},
                                            {{1, 2, 1, 2, 1, 1, 2, 3}, {2, 1, 2, 2, 1, 2, 3, 1}}};
  return all;
}

template <class T>
std::vector<T> linalg_data(const std::string& name) {
  return topos::read_npy<T>(data_folder() / "linalg" / (name + ".npy")).values;
}

/// How the script names T's kind of number, and the type in which it keeps results.
template <class T>
constexpr const char* kind_of() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (topos::detail::is_integer<T>) return "int";
  return topos::detail::is_complex<T> ? "complex" : "real";
}
template <class T>
using kept_t =
    std::conditional_t<std::is_same_v<T, bool>, std::uint8_t,
                       std::conditional_t<topos::detail::is_integer<T>, std::int64_t,
                                          std::conditional_t<topos::detail::is_complex<T>,
                                                             Kokkos::complex<double>, double>>>;

/// A number that the script gives, as T: rounded once.
template <class T, class Kept>
T as(Kept value) {
  if constexpr (topos::detail::is_half<T>) {
    return T(static_cast<float>(value));  // results are exact in float
  } else {
    return T(value);
  }
}

/// The operand of a shape, from element `shift` of the pool on.
enum class cut_from { start = 0, second = 501 };
template <class T>
std::vector<T> operand_values(const extents_t& shape, cut_from where) {
  static const std::vector<std::int8_t> pool = linalg_data<std::int8_t>("pool");
  const auto at = [&](std::size_t i) {
    return static_cast<int>(pool[(i + static_cast<std::size_t>(where)) % pool.size()]);
  };
  std::vector<T> values(static_cast<std::size_t>(topos::size_of_shape(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      values[i] = at(i) % 2 != 0;
    } else if constexpr (topos::detail::is_integer<T>) {
      values[i] = static_cast<T>(at(i));
    } else if constexpr (topos::detail::is_complex<T>) {
      using real = topos::detail::real_t<T>;
      values[i] = T(static_cast<real>(at(2 * i)) / 64, static_cast<real>(at(2 * i + 1)) / 64);
    } else {
      values[i] = as<T>(at(i) / 64.0);
    }
  }
  return values;
}

/// A tensor of a shape, and of the shape whose last two axes are exchanged, with the same matrices.
template <std::size_t Rank, class T>
topos::tensor<T, Rank> shaped(topos::device d, const extents_t& extents,
                              const std::vector<T>& values) {
  topos::shape<Rank> shape{};
  EXPECT_EQ(extents.size(), Rank);
  std::copy(extents.begin(), extents.end(), shape.begin());
  topos::tensor<T, Rank> on_host(shape, topos::cpu());
  std::copy(values.begin(), values.end(), on_host.data());
  return topos::device_put(on_host, d);
}

/// Compares results with those of a file, one after the other.
template <class T>
class expected_results {
 public:
  explicit expected_results(const std::string& operation)
      : kept_(linalg_data<kept_t<T>>(operation + "_" + kind_of<T>())) {}

  /// The next result has so many elements; whoever skips it goes on.
  void skip(topos::index_t size) {
    at_ += (static_cast<std::size_t>(size) + step(size) - 1) / step(size);
  }

  /// Whether `got` is the next result.
  void check(const std::vector<T>& got) const {
    const std::size_t by = step(static_cast<topos::index_t>(got.size()));
    for (std::size_t i = 0; i < got.size(); i += by) {
      ASSERT_LT(at_ + i / by, kept_.size());
      ASSERT_TRUE(got[i] == as<T>(kept_[at_ + i / by])) << "element " << i;
    }
  }

  [[nodiscard]] bool at_end() const { return at_ == kept_.size(); }

 private:
  static std::size_t step(topos::index_t size) { return static_cast<std::size_t>(size) / 600 + 1; }

  std::vector<kept_t<T>> kept_;
  std::size_t at_ = 0;
};

/// How many elements matmul's result has.
inline topos::index_t result_size(const matmul_case& c) {
  topos::index_t size = c.a.size() > 1 ? c.a[c.a.size() - 2] : 1;
  if (c.b.size() > 1) size *= c.b.back();
  const auto batch = [](const extents_t& shape, std::size_t back) {
    return back + 2 < shape.size() ? shape[shape.size() - 3 - back] : 1;
  };
  for (std::size_t back = 0; back < 6; ++back) {
    const topos::index_t a = batch(c.a, back);
    size *= a == 1 ? batch(c.b, back) : a;
  }
  return size;
}

}  // namespace support
