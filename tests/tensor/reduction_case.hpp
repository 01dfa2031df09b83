// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Cases of tests/data/tensor/reductions, which scripts/reference/reductions.py writes with NumPy.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <topos/expr/views.hpp>
#include <topos/io/npy.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/reduction.hpp>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"
#include "../support/folders.hpp"

namespace support {

template <class T>
topos::npy_array<T> reductions_file(const std::string& name) {
  return topos::read_npy<T>(data_folder() / "tensor" / "reductions" / (name + ".npy"));
}

/// Elements of type T, of shape (5, 7, 33), and what they are reduced to.
template <class T>
class reduction_case {
 public:
  reduction_case() : results_(reductions_file<double>(kind() + "_results").values) {}

  [[nodiscard]] topos::tensor<T, 3> x(topos::device d) const {
    constexpr bool whole = std::is_integral_v<T>;
    using stored = std::conditional_t<whole, std::int8_t, float>;
    return topos::astype<T>(
        tensor_on<3>(d, {5, 7, 33}, reductions_file<stored>(kind() + "_x").values));
  }

  /// The results of a function over the axes that have a number in the script.
  [[nodiscard]] std::vector<double> expected(std::size_t axes, const std::string& function) const {
    constexpr std::size_t counts[] = {1, 7 * 33, 5 * 33, 5 * 7, 33, 7, 5, 1};
    const std::vector<std::string> functions{
        "sum", "prod", "mean",          "min", "max", "argmin", "argmax",
        "any", "all",  "count_nonzero", "var", "std", "norm",   "logsumexp"};
    const auto found = std::find(functions.begin(), functions.end(), function);
    std::size_t first = counts[axes] * static_cast<std::size_t>(found - functions.begin());
    for (std::size_t i = 0; i < axes; ++i) first += counts[i] * functions.size();
    const auto from = results_.begin() + static_cast<std::ptrdiff_t>(first);
    return {from, from + static_cast<std::ptrdiff_t>(counts[axes])};
  }

  /// Expects an operand to have the values expected, within `units` of its type.
  template <class X>
  void check(const X& x, std::size_t axes, const std::string& function, double units = 0) const {
    SCOPED_TRACE(function + " over axes number " + std::to_string(axes));
    const double unit = std::is_same_v<T, double>        ? 1e-15
                        : std::is_same_v<T, topos::f16>  ? 1e-3
                        : std::is_same_v<T, topos::bf16> ? 8e-3
                                                         : 1e-7;
    const std::vector<double> wanted = expected(axes, function);
    const auto got = values_of(topos::eval(x));
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(got[i]), wanted[i], units * unit * (1 + std::abs(wanted[i])))
          << "at " << i;
    }
  }

 private:
  static std::string kind() {
    if constexpr (std::is_same_v<T, bool>)
      return "bool";
    else if constexpr (std::is_integral_v<T>)
      return std::is_signed_v<T> ? "signed" : "unsigned";
    else
      return "real";
  }

  std::vector<double> results_;
};

/// Calls check(y, name) with x in several arrangements of memory, as y.
template <class T, class Check>
void in_several_layouts(const topos::tensor<T, 3>& x, Check check) {
  const auto traced = [&](const char* name, const auto& y) {
    SCOPED_TRACE(name);
    check(y);
  };
  const topos::tensor<T, 3> transposed = transpose(x);
  const topos::tensor<T, 3> permuted = permute(x, {1, 0, 2});
  const topos::tensor<T, 3> flipped = flip(x, -1);
  const auto column = topos::zeros<T, 2>({7, 1}, x.device());
  const auto other = topos::zeros<T, 3>({33, 7, 5}, x.device());
  traced("transposed", transpose(transposed));
  traced("permuted", permute(permuted, {1, 0, 2}));
  traced("flipped", flip(flipped, -1));
  traced("broadcast", x + column);
  traced("crossing", x + transpose(other));
}

}  // namespace support
