// SPDX-License-Identifier: Apache-2.0

/// Tensors are printed as NumPy prints arrays: scripts/reference/print.py keeps what it does.

#include <topos/expr/views.hpp>
#include <topos/tensor/print.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "../support/devices.hpp"
#include "../support/folders.hpp"

namespace print_test {

using support::on_each_device;
using topos::index_t;

// One array, and how NumPy prints it.
struct printed_case {
  std::vector<index_t> shape;
  std::string data;  // bytes in hexadecimal, or "counted"
  std::string text;
};

std::vector<printed_case> cases_of(topos::dtype type) {
  const std::string name(topos::to_string(type));
  std::ifstream file(support::data_folder() / "tensor" / "print" / (name + ".txt"));
  std::vector<printed_case> all;
  std::string word;
  for (std::string line; std::getline(file, line);) {
    printed_case next;
    std::istringstream head(line);
    head >> word;
    for (index_t extent = 0; head >> extent;) next.shape.push_back(extent);
    std::getline(file, line);
    std::istringstream(line) >> word >> next.data;
    std::getline(file, line);
    int lines = 0;
    std::istringstream(line) >> word >> lines;
    for (int i = 0; i < lines && std::getline(file, line); ++i) {
      next.text += (i == 0 ? "" : "\n") + line;
    }
    all.push_back(next);
  }
  EXPECT_GT(all.size(), 40U) << name;
  return all;
}

// What `counted` in the script makes.
template <class T>
T counted(std::size_t i) {
  const auto remainder = static_cast<int>(i % 1009);
  if constexpr (std::is_same_v<T, bool>) {
    return remainder % 2 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(remainder % 100);
  } else {
    return static_cast<T>(static_cast<float>(remainder) / 8 - 60);
  }
}

template <class T>
std::unique_ptr<T[]> elements_of(const printed_case& c, std::size_t size) {
  auto values = std::make_unique<T[]>(size);
  if (c.data == "counted") {
    for (std::size_t i = 0; i < size; ++i) values[i] = counted<T>(i);
    return values;
  }
  EXPECT_EQ(c.data.size(), 2 * size * sizeof(T));
  std::vector<unsigned char> bytes(size * sizeof(T));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::from_chars(&c.data[2 * i], &c.data[2 * i] + 2, bytes[i], 16);
  }
  if (!bytes.empty()) std::memcpy(static_cast<void*>(values.get()), bytes.data(), bytes.size());
  return values;
}

template <class T, std::size_t Rank>
std::string print(const printed_case& c) {
  topos::shape<Rank> extents{};
  for (std::size_t axis = 0; axis != Rank; ++axis) extents[axis] = c.shape[axis];
  const auto size = static_cast<std::size_t>(topos::size_of_shape(extents));
  const auto values = elements_of<T>(c, size);
  std::ostringstream out;
  out << topos::from_host<T, Rank>(std::span<const T>(values.get(), size), extents, topos::cpu());
  return out.str();
}

template <class T>
void expect_numpys_texts() {
  for (const printed_case& c : cases_of(topos::dtype_v<T>)) {
    const std::size_t rank = c.shape.size();
    ASSERT_LE(rank, 4U);
    const std::string text = rank == 0   ? print<T, 0>(c)
                             : rank == 1 ? print<T, 1>(c)
                             : rank == 2 ? print<T, 2>(c)
                             : rank == 3 ? print<T, 3>(c)
                                         : print<T, 4>(c);
    EXPECT_EQ(text, c.text) << topos::to_string(topos::dtype_v<T>) << topos::to_string(c.shape)
                            << ' ' << c.data;
  }
}

TEST(print, booleans_as_numpy) { expect_numpys_texts<bool>(); }

TEST(print, integers_as_numpy) {
  expect_numpys_texts<std::int8_t>();
  expect_numpys_texts<std::int16_t>();
  expect_numpys_texts<std::int32_t>();
  expect_numpys_texts<std::int64_t>();
  expect_numpys_texts<std::uint8_t>();
  expect_numpys_texts<std::uint16_t>();
  expect_numpys_texts<std::uint32_t>();
  expect_numpys_texts<std::uint64_t>();
}

TEST(print, floats_as_numpy) {
  expect_numpys_texts<topos::f16>();
  expect_numpys_texts<float>();
  expect_numpys_texts<double>();
}

TEST(print, complex_numbers_as_numpy) {
  expect_numpys_texts<Kokkos::complex<float>>();
  expect_numpys_texts<Kokkos::complex<double>>();
}

// NumPy has no bfloat16: the same rules, with its two decimal digits.
TEST(print, bfloat16_by_the_fewest_digits_that_name_it) {
  const auto text = [](std::vector<float> values) {
    std::vector<topos::bf16> rounded;
    for (const float x : values) rounded.emplace_back(x);
    return topos::to_string(support::vector_on(topos::cpu(), rounded));
  };

  EXPECT_EQ(text({1, 2.5F, -0.1F}), "[ 1.   2.5 -0.1]");
  EXPECT_EQ(text({3.14159265F, 0.333333F}), "[3.14  0.334]");
  EXPECT_EQ(text({99.5F, 1}), "[99.5  1. ]");
  EXPECT_EQ(text({100, 1}), "[1.e+02 1.e+00]");
  EXPECT_EQ(text({3.38953139e38F}), "[3.39e+38]");
  EXPECT_EQ(topos::to_string(topos::full<topos::bf16, 0>({}, topos::bf16(2.5F))), "2.5");
}

TEST(print, comes_from_any_device) {
  on_each_device([](topos::device d) {
    std::ostringstream out;
    out << support::tensor_on<2, float>(d, {2, 2}, {1, 2.5F, -3, 0});
    EXPECT_EQ(out.str(), "[[ 1.   2.5]\n [-3.   0. ]]");
  });
}

TEST(print, waits_for_what_is_still_being_computed) {
  const auto x = topos::full<float, 1>({2'000'000}, 1.0F);
  const topos::tensor<float, 1> y = x + 1.0F;

  EXPECT_EQ(topos::to_string(y), "[2. 2. 2. ... 2. 2. 2.]");
}

TEST(print, computes_an_expression) {
  const auto x = support::tensor_on<2, float>(topos::cpu(), {2, 2}, {1, 2, 3, 4});
  std::ostringstream out;

  out << x * 2.0F << ' ' << topos::transpose(x) << ' ' << (x > 1.5F);

  EXPECT_EQ(out.str(), "[[2. 4.]\n [6. 8.]] [[1. 3.]\n [2. 4.]] [[False  True]\n [ True  True]]");
}

TEST(print, rethrows_what_the_elements_failed_with) {
  const auto x = topos::empty<float, 1>({3}, topos::cpu());
  x.memory().set_poison(std::make_exception_ptr(std::out_of_range("gone")));

  EXPECT_THROW(static_cast<void>(topos::to_string(x)), std::out_of_range);
}

#ifdef __cpp_lib_format
TEST(print, is_formattable) {
  const auto x = topos::full<float, 1>({2}, 1.5F);
  EXPECT_EQ(std::format("x = {}!", x), "x = [1.5 1.5]!");
}
#endif

}  // namespace print_test
