// SPDX-License-Identifier: Apache-2.0

/// Views and tensors share memory, and Views are kept as long as tensors read them.

#include <topos/io/kokkos_view.hpp>
#include <topos/io/mdspan.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "../support/death_test.hpp"
#include "../support/devices.hpp"

namespace kokkos_view_test {

using support::on_each_device;
using support::values_of;
using topos::as_view;
using topos::from_view;
using topos::shape;

static_assert(topos::kokkos_view<Kokkos::View<float**, Kokkos::HostSpace>>);
static_assert(topos::kokkos_view<Kokkos::View<const Kokkos::complex<double>*, Kokkos::HostSpace>>);
static_assert(!topos::kokkos_view<Kokkos::View<std::string*, Kokkos::HostSpace>>);
static_assert(!topos::kokkos_view<std::vector<float>>);
static_assert(!topos::kokkos_view<
              Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Atomic>>>);

template <class View>
View counted(const View& view) {
  int next = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i) {
    for (std::size_t j = 0; j < view.extent(1); ++j) view(i, j) = static_cast<float>(next++);
  }
  return view;
}

const std::vector<float> six{0, 1, 2, 3, 4, 5};

TEST(from_view, shares_a_row_major_view) {
  const auto view =
      counted(Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>("view", 2, 3));

  const topos::tensor<float, 2> x = from_view(view);

  EXPECT_EQ(x.data(), view.data());
  EXPECT_EQ(x.shape(), (shape<2>{2, 3}));
  EXPECT_EQ(x.device(), topos::cpu());
  EXPECT_EQ(values_of(x), six);
}

TEST(from_view, keeps_the_view_as_long_as_it_is_needed) {
  Kokkos::View<float*, Kokkos::HostSpace> view("view", 50'000);
  Kokkos::deep_copy(view, 2.0F);
  topos::tensor<float, 1> y;
  {
    auto x = from_view(view);
    EXPECT_EQ(view.use_count(), 2);
    y = topos::tensor<float, 1>(x * x);
  }
  EXPECT_EQ(values_of(y)[49'999], 4.0F);
  topos::block_until_ready(topos::cpu());
  EXPECT_EQ(view.use_count(), 1);
}

TEST(from_view, is_never_written_through) {
  Kokkos::View<float*, Kokkos::HostSpace> view("view", 2);
  auto x = from_view(view);

  x += 1.0F;

  EXPECT_EQ(values_of(x), (std::vector<float>{1, 1}));
  EXPECT_EQ(view(0), 0.0F);
}

TEST(from_view, reads_other_layouts_in_place) {
  const auto left =
      counted(Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace>("left", 2, 3));
  const auto wide =
      counted(Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>("wide", 4, 6));
  const auto part = Kokkos::subview(wide, std::pair(1, 3), std::pair(2, 5));
  const Kokkos::View<float**, Kokkos::LayoutStride, Kokkos::HostSpace> strided = part;

  const auto columns = from_view(left);
  static_assert(topos::expression<std::remove_const_t<decltype(columns)>>);
  const topos::tensor<float, 2> x(columns + 0.0F);
  const topos::tensor<float, 2> y(from_view(strided));

  EXPECT_EQ(values_of(x), six);
  EXPECT_EQ(values_of(y), (std::vector<float>{8, 9, 10, 14, 15, 16}));
}

TEST(from_view, copies_padded_rows) {
  const auto wide =
      counted(Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>("wide", 4, 6));
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> padded =
      Kokkos::subview(wide, std::pair(0, 2), std::pair(0, 3));
  ASSERT_EQ(padded.stride(0), 6U);

  const topos::tensor<float, 2> x = from_view(padded);

  EXPECT_NE(x.data(), wide.data());
  EXPECT_EQ(values_of(x), (std::vector<float>{0, 1, 2, 6, 7, 8}));
}

TEST(from_view, takes_views_of_every_rank) {
  Kokkos::View<std::int64_t, Kokkos::HostSpace> scalar("scalar");
  scalar() = -7;
  EXPECT_EQ(values_of(from_view(scalar)), std::vector<std::int64_t>{-7});

  const Kokkos::View<double*, Kokkos::HostSpace> empty;
  EXPECT_EQ(from_view(empty).shape(), shape<1>{0});

  const Kokkos::View<float* [2][1][3], Kokkos::LayoutRight, Kokkos::HostSpace> four("four", 5);
  EXPECT_EQ(from_view(four).shape(), (shape<4>{5, 2, 1, 3}));
}

TEST(from_view, takes_views_that_own_nothing) {
  float values[3] = {1, 2, 3};
  const Kokkos::View<const float*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> view(
      values, 3);

  EXPECT_EQ(from_view(view).data(), values);
}

// The space of the devices' own memory: the host's where there is no GPU.
using device_space = Kokkos::DefaultExecutionSpace::memory_space;
using device_view = Kokkos::View<float*, device_space>;

TEST(from_view, is_on_the_device_of_its_memory) {
  const device_view view("view", 3);
  Kokkos::deep_copy(view, 3.0F);

  const auto x = from_view(view);

  constexpr bool is_hosts = std::is_same_v<device_space, Kokkos::HostSpace>;
  EXPECT_EQ(x.device(), is_hosts ? topos::cpu() : topos::try_gpu());
  EXPECT_EQ(values_of(x), (std::vector<float>{3, 3, 3}));
}

TEST(as_view, waits_for_the_elements_and_shares_them) {
  const auto x = topos::full<float, 1>({1'000'000}, 1.0F, topos::cpu());
  const topos::tensor<float, 1> y = x + 1.0F;

  const auto view = as_view(y);

  static_assert(std::is_same_v<decltype(view(0)), const float&>);
  EXPECT_EQ(view.data(), y.data());
  EXPECT_EQ(view.extent(0), 1'000'000U);
  EXPECT_EQ(view(999'999), 2.0F);
  EXPECT_EQ(view.use_count(), 0) << "it owns nothing";
}

TEST(as_view, is_row_major) {
  const auto x = support::tensor_on<2>(topos::cpu(), {2, 3}, six);

  const auto view = as_view(x);

  EXPECT_EQ(view(1, 2), 5.0F);
  EXPECT_EQ(view(1, 0), 3.0F);
  EXPECT_EQ(as_view(support::tensor_on<0, int>(topos::cpu(), {}, {7}))(), 7);
}

TEST(as_view, in_the_space_of_the_device) {
  const auto x = support::vector_on<float>(topos::try_gpu(), {1, 2, 3});

  const auto view = as_view<device_space>(x);

  float sum = 0;
  Kokkos::View<float*, Kokkos::HostSpace> here("here", 3);
  Kokkos::deep_copy(here, view);
  for (int i = 0; i < 3; ++i) sum += here(i);
  EXPECT_EQ(sum, 6.0F);
}

TEST(as_view, refuses_a_tensor_that_is_elsewhere) {
  if constexpr (topos::detail::reads_space<topos::backend::cuda, Kokkos::HostSpace>())
    GTEST_SKIP() << "these GPUs read the host's memory";
  for (const topos::device& d : topos::devices()) {
    if (d == topos::cpu()) continue;
    const auto x = support::vector_on<float>(d, {1, 2, 3});

    const std::string message =
        support::refusal<topos::device_mismatch>([&] { static_cast<void>(as_view(x)); });

    EXPECT_TRUE(support::contains(message, "as_view: the tensor (3,) is on cuda")) << message;
    EXPECT_TRUE(support::contains(message, "Host")) << message;
  }
  if (topos::num_gpus() == 0) GTEST_SKIP() << "no GPU here";
}

TEST(as_view, rethrows_what_the_elements_failed_with) {
  const auto x = topos::empty<float, 1>({3}, topos::cpu());
  x.memory().set_poison(std::make_exception_ptr(std::out_of_range("gone")));

  EXPECT_THROW(static_cast<void>(as_view(x)), std::out_of_range);
}

using host_vector = Kokkos::View<float*, Kokkos::HostSpace>;

using from_view_death = support::death_test;

TEST_F(from_view_death, outlives_kokkos) {
  EXPECT_EXIT(
      {
        const host_vector view("view", 3);
        auto* x = new auto(from_view(view));
        Kokkos::finalize();
        delete x;
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(device_put, of_a_view_shares_it_on_its_own_device) {
  const auto view =
      counted(Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>("view", 2, 3));
  EXPECT_EQ(topos::device_put(view, topos::cpu()).data(), view.data());
  on_each_device([&](topos::device d) {
    const topos::tensor<float, 2> x = topos::device_put(view, d);
    EXPECT_EQ(x.device(), d);
    EXPECT_EQ(values_of(x), six);
  });
}

}  // namespace kokkos_view_test
