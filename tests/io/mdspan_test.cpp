// SPDX-License-Identifier: Apache-2.0

/// Tensors on the CPU are shown as mdspans, and mdspans of any layout become tensors.

#include <topos/io/mdspan.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "../support/devices.hpp"

namespace mdspan_test {

using support::values_of;
using topos::as_mdspan;
using topos::from_mdspan;
using topos::index_t;
using topos::shape;

// The library that has mdspan here.
#ifdef __cpp_lib_mdspan
namespace library = std;
#else
namespace library = Kokkos;
#endif

static_assert(topos::mdspan_like<library::mdspan<float, library::dextents<int, 2>>>);
static_assert(topos::mdspan_like<library::mdspan<const bool, library::extents<int, 2>>>);
static_assert(!topos::mdspan_like<library::mdspan<std::string, library::dextents<int, 2>>>);
static_assert(!topos::mdspan_like<std::vector<float>>);

const std::vector<float> six{0, 1, 2, 3, 4, 5};

TEST(as_mdspan, waits_for_the_elements_and_shows_them) {
  const auto x = topos::full<float, 2>({1000, 1000}, 1.0F, topos::cpu());
  const topos::tensor<float, 2> y = x + 1.0F;

  const auto shown = as_mdspan(y);

  static_assert(std::is_same_v<decltype(shown)::element_type, const float>);
  static_assert(std::is_same_v<decltype(shown)::layout_type, library::layout_right>);
  EXPECT_EQ(shown.data_handle(), y.data());
  EXPECT_EQ(shown.extent(1), 1000);
  EXPECT_EQ(shown.data_handle()[shown.mapping()(999, 999)], 2.0F);
}

TEST(as_mdspan, is_row_major) {
  const auto x = support::tensor_on<2>(topos::cpu(), {2, 3}, six);

  const auto shown = as_mdspan(x);

  EXPECT_EQ((shown[std::array<index_t, 2>{1, 2}]), 5.0F);
  EXPECT_EQ((shown[std::array<index_t, 2>{1, 0}]), 3.0F);
  EXPECT_EQ(as_mdspan(support::tensor_on<0, int>(topos::cpu(), {}, {7})).data_handle()[0], 7);
}

TEST(as_mdspan, rethrows_what_the_elements_failed_with) {
  const auto x = topos::empty<float, 1>({3}, topos::cpu());
  x.memory().set_poison(std::make_exception_ptr(std::out_of_range("gone")));

  EXPECT_THROW(static_cast<void>(as_mdspan(x)), std::out_of_range);
}

TEST(as_mdspan, refuses_a_tensor_that_is_elsewhere) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "no GPU here";
  const auto x = support::vector_on<float>(topos::gpu(), {1, 2, 3});

  EXPECT_THROW(static_cast<void>(as_mdspan(x)), topos::device_mismatch);
}

TEST(from_mdspan, copies_the_elements_to_a_device) {
  support::on_each_device([](topos::device d) {
    std::vector<float> values = six;
    const library::mdspan<float, library::dextents<int, 2>> m(values.data(), 2, 3);

    const topos::tensor<float, 2> x = from_mdspan(m, d);
    values[0] = 9;

    EXPECT_EQ(x.device(), d);
    EXPECT_EQ(x.shape(), (shape<2>{2, 3}));
    EXPECT_EQ(values_of(x), six);
  });
}

TEST(from_mdspan, puts_other_layouts_into_rows) {
  using extents = library::dextents<int, 2>;
  const std::vector<float> columns{0, 3, 1, 4, 2, 5};
  const library::mdspan<const float, extents, library::layout_left> left(columns.data(), 2, 3);
  const std::vector<float> wide{9, 0, 9, 1, 9, 2, 9, 9, 9, 3, 9, 4, 9, 5};
  const std::array<int, 2> strides{8, 2};
  const library::mdspan<const float, extents, library::layout_stride> strided(
      wide.data() + 1, library::layout_stride::mapping<extents>(extents(2, 3), strides));

  EXPECT_EQ(values_of(from_mdspan(left, topos::cpu())), six);
  EXPECT_EQ(values_of(from_mdspan(strided, topos::cpu())), six);
}

TEST(from_mdspan, takes_every_rank_and_static_extents) {
  const std::int64_t one = -7;
  const bool flags[4] = {true, false, false, true};
  const library::mdspan<const std::int64_t, library::extents<int>> scalar(&one);
  const library::mdspan<const bool, library::extents<int, 2, 2>> square(flags);
  const library::mdspan<const float, library::dextents<int, 3>> empty(nullptr, 2, 0, 3);

  EXPECT_EQ(values_of(from_mdspan(scalar, topos::cpu())), std::vector<std::int64_t>{-7});
  EXPECT_EQ(values_of(from_mdspan(square, topos::cpu())),
            (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(from_mdspan(empty, topos::cpu()).shape(), (shape<3>{2, 0, 3}));
}

TEST(from_mdspan, gives_back_what_as_mdspan_shows) {
  const auto x = support::tensor_on<3>(topos::cpu(), {1, 3, 2}, six);

  EXPECT_EQ(values_of(from_mdspan(as_mdspan(x), topos::cpu())), six);
}

TEST(from_mdspan, is_what_device_put_does) {
  support::on_each_device([](topos::device d) {
    const auto x = support::tensor_on<2, float>(topos::cpu(), {2, 3}, {1, 2, 3, 4, 5, 6});
    const topos::tensor<float, 2> y = topos::device_put(topos::as_mdspan(x), d);
    EXPECT_EQ(y.device(), d);
    EXPECT_EQ(support::values_of(y), support::values_of(x));
  });
}

}  // namespace mdspan_test
