// SPDX-License-Identifier: Apache-2.0

/// Random elements inside a kernel: lanes and single elements agree, wherever lanes begin.

#include <gtest/gtest.h>

#include <topos/kernels/map.hpp>
#include <topos/random/exponential.hpp>
#include <topos/random/normal.hpp>
#include <topos/random/uniform.hpp>
#include <type_traits>
#include <vector>

#include "../support/types.hpp"
#include "jax_numbers.hpp"

namespace elements_test {

namespace lane = topos::lane;
namespace random = topos::random;
namespace detail = topos::random::detail;
using topos::index_t;

constexpr index_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 129, 150, 151, 200};

// Compares as many of the lanes as there are elements.
template <class Elements, class Lanes>
void expect_elements(const Elements& elements, const Lanes& lanes, index_t from, index_t size) {
  using T = lane::value_t<Lanes>;  // float of sixteen-bit floats, words of shorter ones
  T values[lane::width<T>];
  lane::store(values, lanes);
  for (index_t i = 0; i < lane::width<T> && from + i < size; ++i) {
    ASSERT_EQ(values[i], static_cast<T>(elements(from + i)))
        << "at " << from << " + " << i << " of " << size;
  }
}

// Wherever pairs may begin.
template <class Elements>
void expect_pairs(const Elements& elements, index_t size) {
  const auto pairs = elements.paired();
  const index_t partner = elements.partner();
  constexpr index_t width = lane::width<typename Elements::value_type>;
  constexpr int batches = lane::pair_batches;
  ASSERT_GE(pairs.end(), size - partner);
  for (index_t o = 0; o + batches * width <= size - partner; ++o) {
    const auto both = pairs(o);
    for (int b = 0; b < batches; ++b) {
      expect_elements(elements, both.at[b], o + b * width, size);
      expect_elements(elements, both.at[batches + b], o + b * width + partner, size);
    }
  }
}

template <class Elements>
void expect_lanes(const Elements& elements, index_t size) {
  for (index_t o = 0; o < size; ++o) {
    expect_elements(elements, elements.lanes(o, lane::all{}), o, size);
  }
  if constexpr (requires { elements.paired(); }) {
    if (elements.partner() != 0) expect_pairs(elements, size);
  }
}

template <class T, class Then>
void expect_real_lanes(const Then& then, detail::computed<T> min) {
  for (const auto l : support::jax_layouts) {
    for (const index_t size : sizes) {
      const random::key k(5, l);
      expect_lanes(detail::real_elements<T, Then>{{k, size}, {min, 1, then}}, size);
    }
  }
}

TEST(random_elements, bits_are_the_same_in_lanes) {
  for (const auto l : support::jax_layouts) {
    for (const index_t size : sizes) {
      expect_lanes(detail::bit_elements<std::uint8_t>(random::key(5, l), size), size);
      expect_lanes(detail::bit_elements<std::uint16_t>(random::key(5, l), size), size);
      expect_lanes(detail::bit_elements<std::uint32_t>(random::key(5, l), size), size);
      expect_lanes(detail::bit_elements<std::uint64_t>(random::key(5, l), size), size);
    }
  }
}

template <class T>
class random_real_elements : public testing::Test {};
using real_types = support::types<float, double>;
TYPED_TEST_SUITE(random_real_elements, real_types);

TEST(random_elements, of_sixteen_bits_are_the_same_in_lanes) {
  const auto check = [&]<class T>(T lowest) {
    if constexpr (lane::is_half_with_lanes<T>) {
      using C = detail::computed<T>;
      expect_real_lanes<T>(detail::itself{}, C(0));
      expect_real_lanes<T>(detail::itself{}, C(-0.3));
      expect_real_lanes<T>(detail::normal_of_uniform<T>{}, C(lowest));
      expect_real_lanes<T>(detail::truncated_normal_of_uniform<T>{C(-1.2), C(0.4)}, C(-0.9));
      expect_real_lanes<T>(detail::exponential_of_uniform<T>{}, C(0));
      expect_real_lanes<T>(detail::gumbel_of_uniform<T>{}, C(0));
    }
  };
  check(topos::f16(detail::next_after<topos::f16>(-1, 0)));
  check(topos::bf16(detail::next_after<topos::bf16>(-1, 0)));
}

TYPED_TEST(random_real_elements, are_the_same_in_lanes) {
  using T = TypeParam;
  expect_real_lanes<T>(detail::itself{}, T(0));
  expect_real_lanes<T>(detail::itself{}, T(-0.3));
  expect_real_lanes<T>(detail::normal_of_uniform<T>{}, std::nextafter(T(-1), T(0)));
  expect_real_lanes<T>(detail::truncated_normal_of_uniform<T>{T(-1.2), T(0.4)}, T(-0.9));
  expect_real_lanes<T>(detail::exponential_of_uniform<T>{}, T(0));
  expect_real_lanes<T>(detail::gumbel_of_uniform<T>{}, T(0));
}

TEST(random_elements, of_more_than_two_to_the_32_are_those_of_jax) {
  const std::vector<std::int64_t> places =
      support::jax_values<std::int64_t>("bits", "words/places");
  const index_t size = 2 * ((index_t{1} << 32) - 1) + 7;
  const random::key k = support::jax_key(random::layout::original);
  const detail::bit_elements<std::uint32_t> words(k, size);
  const detail::bit_elements<std::uint8_t> bytes(k, 4 * size);

  std::vector<std::uint32_t> got;
  for (const std::int64_t place : places) {
    got.push_back(words(place));
    EXPECT_EQ(bytes(4 * place + 1), static_cast<std::uint8_t>(got.back() >> 8U));
    expect_elements(words, words.lanes(place, lane::all{}), place, size);
  }

  EXPECT_EQ(words.partner(), 0);
  EXPECT_EQ(got, support::jax_values<std::uint32_t>("bits", "words/original"));
}

TEST(random_elements, of_doubles_beyond_two_to_the_31_join_words_of_two_runs) {
  const index_t size = (index_t{1} << 31) + 5;
  const random::key k{3};
  const detail::bit_elements<std::uint64_t> doubles(k, size);
  const detail::bit_elements<std::uint32_t> words(k, 2 * size);
  for (const index_t o : {index_t{0}, size / 2, size - 1}) {
    EXPECT_EQ(doubles(o), std::uint64_t{words(o)} << 32U | words(size + o));
    expect_elements(doubles, doubles.lanes(o, lane::all{}), o, size);
  }
}

TEST(random_elements, of_partitionable_layout_count_beyond_two_to_the_32) {
  const random::key k(3, random::layout::partitionable);
  const index_t size = index_t{1} << 40;
  const detail::bit_elements<std::uint32_t> words(k, size);
  const index_t carry = (index_t{5} << 32) - 3;

  const auto block = random::threefry(0, 3, 5, 4);
  EXPECT_EQ(words(carry + 7), block.first ^ block.second);
  expect_elements(words, words.lanes(carry, lane::all{}), carry, size);

  const auto pairs = words.paired();
  constexpr index_t width = lane::width<std::uint32_t>;
  constexpr int batches = lane::pair_batches;
  const index_t last = pairs.end() - 2 * batches * width;
  for (int b = 0; b < 2 * batches; ++b)
    expect_elements(words, pairs(last).at[b], last + b * width, size);
}

// As large arrays are made: past the caches, by several items.
template <class T>
void expect_past_caches(const random::key& k, index_t size) {
  const auto drawn = random::uniform<T>(k, topos::shape<1>{size}, topos::cpu());
  const auto rows = drawn.rows(topos::detail::walk_of(drawn));
  const index_t partner = rows.row(0).dense().partner();
  const bool neighbours = partner == lane::pair_batches * lane::width<T>;
  const Kokkos::View<T*, Kokkos::HostSpace> out("out", static_cast<std::size_t>(size));
  const topos::detail::pair_kernel<T, std::decay_t<decltype(rows)>> kernel{
      out.data(), rows, size, partner, true, neighbours};
  ASSERT_NE(partner, 0);
  ASSERT_GT(kernel.count(), 1);

  for (index_t i = 0; i < kernel.count(); ++i) kernel(topos::backend::host_team(nullptr), i);

  const detail::real_elements<T> elements{{k, size}, {0, 1}};
  for (index_t o = 0; o < size; ++o) {
    ASSERT_EQ(out(static_cast<std::size_t>(o)), elements(o)) << "at " << o << " of " << size;
  }
}

TEST(random_elements, are_the_same_past_the_caches) {
  for (const auto l : support::jax_layouts) {
    for (const index_t size : {70000, 70001}) {
      expect_past_caches<float>(random::key(7, l), size);
      if constexpr (detail::bit_elements<std::uint64_t>::has_pairs)
        expect_past_caches<double>(random::key(7, l), size);
    }
  }
}

}  // namespace elements_test
