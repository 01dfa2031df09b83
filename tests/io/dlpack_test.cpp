// SPDX-License-Identifier: Apache-2.0

/// Arrays cross through DLPack without copies, are given back once, and are refused with a reason.

#include <topos/io/dlpack.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../support/devices.hpp"

namespace dlpack_test {

using support::contains;
using support::on_each_device;
using support::refusal;
using support::values_of;
using topos::from_dlpack;
using topos::shape;
using topos::to_dlpack;
namespace dlpack = topos::dlpack;

// Where the specification puts the members, on machines with pointers of 8 bytes.
static_assert(offsetof(dlpack::tensor, ndim) == 16 && offsetof(dlpack::tensor, dtype) == 20);
static_assert(offsetof(dlpack::tensor, shape) == 24 && offsetof(dlpack::tensor, byte_offset) == 40);
static_assert(offsetof(dlpack::managed_tensor, manager_ctx) == 48);
static_assert(offsetof(dlpack::managed_tensor_versioned, deleter) == 16);
static_assert(offsetof(dlpack::managed_tensor_versioned, flags) == 24);
static_assert(offsetof(dlpack::managed_tensor_versioned, dl_tensor) == 32);

const std::vector<float> six{0, 1, 2, 3, 4, 5};

// Another library's array, which counts how often it is given back.
template <class Managed = dlpack::managed_tensor_versioned>
struct foreign {
  std::vector<float> values = six;
  std::vector<std::int64_t> extents{2, 3};
  std::vector<std::int64_t> strides{3, 1};
  int released = 0;
  Managed managed{};

  foreign() {
    if constexpr (requires { managed.version; }) managed.version = {1, 1};
    managed.dl_tensor = {values.data(),
                         {dlpack::device_type::cpu, 0},
                         2,
                         {dlpack::type_code::floating, 32, 1},
                         extents.data(),
                         strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<foreign*>(self->manager_ctx)->released; };
  }
  foreign(const foreign&) = delete;
};

TEST(from_dlpack, shares_a_dense_array_and_gives_it_back_once) {
  foreign array;
  {
    const topos::tensor<float, 2> x = from_dlpack<float, 2>(&array.managed);
    const auto copy = x;

    EXPECT_EQ(x.data(), array.values.data());
    EXPECT_EQ(x.shape(), (shape<2>{2, 3}));
    EXPECT_EQ(x.device(), topos::cpu());
    EXPECT_EQ(values_of(copy), six);
    EXPECT_EQ(array.released, 0);
  }
  EXPECT_EQ(array.released, 1);
}

TEST(from_dlpack, takes_arrays_from_before_version_1) {
  foreign<dlpack::managed_tensor> array;
  {
    const auto x = from_dlpack<float, 2>(&array.managed);
    EXPECT_EQ(values_of(x), six);
  }
  EXPECT_EQ(array.released, 1);
}

TEST(from_dlpack, null_strides_are_dense) {
  foreign array;
  array.managed.dl_tensor.strides = nullptr;

  EXPECT_EQ((from_dlpack<float, 2>(&array.managed).data()), array.values.data());
}

TEST(from_dlpack, begins_at_the_offset) {
  foreign array;
  array.extents = {1, 3};
  array.managed.dl_tensor.byte_offset = 3 * sizeof(float);

  const auto x = from_dlpack<float, 2>(&array.managed);

  EXPECT_EQ(values_of(x), (std::vector<float>{3, 4, 5}));
}

TEST(from_dlpack, copies_other_strides) {
  foreign columns;
  columns.extents = {3, 2};
  columns.strides = {1, 3};
  const auto x = from_dlpack<float, 2>(&columns.managed);
  EXPECT_EQ(values_of(x), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_NE(x.data(), columns.values.data());

  foreign backwards;
  backwards.strides = {-3, -1};
  backwards.managed.dl_tensor.byte_offset = 5 * sizeof(float);
  EXPECT_EQ(values_of(from_dlpack<float, 2>(&backwards.managed)),
            (std::vector<float>{5, 4, 3, 2, 1, 0}));

  foreign repeated;
  repeated.strides = {0, 1};
  EXPECT_EQ(values_of(from_dlpack<float, 2>(&repeated.managed)),
            (std::vector<float>{0, 1, 2, 0, 1, 2}));

  topos::block_until_ready(topos::cpu());
  EXPECT_EQ(columns.released + backwards.released + repeated.released, 3);
}

TEST(from_dlpack, copies_page_locked_memory) {
  foreign array;
  array.managed.dl_tensor.device.type = dlpack::device_type::cuda_host;

  const auto x = from_dlpack<float, 2>(&array.managed);

  EXPECT_NE(x.data(), array.values.data());
  EXPECT_EQ(values_of(x), six);
}

TEST(from_dlpack, is_never_written_through) {
  foreign array;
  auto x = from_dlpack<float, 2>(&array.managed);

  x += 1.0F;

  EXPECT_EQ(values_of(x)[0], 1.0F);
  EXPECT_EQ(array.values, six);
}

TEST(from_dlpack, needs_no_deleter_and_no_memory_without_elements) {
  foreign array;
  array.extents = {0, 3};
  array.managed.dl_tensor.data = nullptr;
  array.managed.deleter = nullptr;

  EXPECT_EQ((from_dlpack<float, 2>(&array.managed).shape()), (shape<2>{0, 3}));
}

// What `from_dlpack` says to an array that `spoil` changed; it is not given back.
template <class Error, class T = float, std::size_t Rank = 2>
std::string refused(const std::function<void(dlpack::managed_tensor_versioned&)>& spoil) {
  foreign<> array;  // whose arguments nvcc with clang does not find here by itself
  spoil(array.managed);
  const std::string message =
      refusal<Error>([&] { static_cast<void>(from_dlpack<T, Rank>(&array.managed)); });
  EXPECT_EQ(array.released, 0) << message;
  return message;
}

TEST(from_dlpack, refuses_elements_of_another_type) {
  using managed = dlpack::managed_tensor_versioned;
  const auto with_type = [](dlpack::data_type type) {
    return refused<topos::dtype_mismatch>([type](managed& m) { m.dl_tensor.dtype = type; });
  };

  EXPECT_TRUE(contains(with_type({dlpack::type_code::floating, 64, 1}), "are float64"));
  EXPECT_TRUE(contains(with_type({dlpack::type_code::integer, 32, 1}), "are int32"));
  EXPECT_TRUE(contains(with_type({dlpack::type_code::floating, 32, 4}), "float32 x 4 lanes"));
  EXPECT_TRUE(contains(with_type({static_cast<dlpack::type_code>(17), 4, 1}), "type 17 of 4"));
  EXPECT_TRUE(contains(with_type({dlpack::type_code::boolean, 8, 1}), "asked for were float32"));
  const std::string half = refused<topos::dtype_mismatch, topos::f16>([](managed&) {});
  EXPECT_TRUE(contains(half, "asked for were float16")) << half;
}

TEST(from_dlpack, refuses_other_axes) {
  const std::string rank = refused<topos::shape_mismatch, float, 3>([](auto&) {});
  const std::string negative =
      refused<topos::shape_mismatch>([](auto& m) { m.dl_tensor.shape[1] = -3; });
  const std::string huge = refused<topos::shape_mismatch>([](auto& m) {
    m.dl_tensor.shape[0] = std::int64_t{1} << 40;
    m.dl_tensor.shape[1] = std::int64_t{1} << 40;
  });

  EXPECT_TRUE(contains(rank, "has 2 axes, asked for were 3")) << rank;
  EXPECT_TRUE(contains(negative, "extent -3 is negative")) << negative;
  EXPECT_TRUE(contains(huge, "63 bits")) << huge;
}

TEST(from_dlpack, refuses_null_and_misaligned_pointers) {
  using topos::invalid_argument;
  EXPECT_TRUE(contains(refused<invalid_argument>([](auto& m) { m.dl_tensor.data = nullptr; }),
                       "null pointer for the shape (2, 3)"));
  EXPECT_TRUE(contains(refused<invalid_argument>([](auto& m) { m.dl_tensor.shape = nullptr; }),
                       "shape is a null pointer"));
  EXPECT_TRUE(contains(refused<invalid_argument>([](auto& m) { m.dl_tensor.byte_offset = 2; }),
                       "not aligned to the 4 bytes"));
  dlpack::managed_tensor* const none = nullptr;
  EXPECT_THROW(static_cast<void>(from_dlpack<float, 2>(none)), invalid_argument);
}

TEST(from_dlpack, refuses_another_version) {
  EXPECT_TRUE(contains(refused<topos::not_supported>([](auto& m) {
                         m.version = {2, 3};
                       }),
                       "DLPack 2.3; topos reads 1.x"));
}

TEST(from_dlpack, refuses_devices_that_are_not_here) {
  const auto on = [](int type, int index) {
    return refused<topos::invalid_device>([=](auto& m) {
      m.dl_tensor.device = {static_cast<dlpack::device_type>(type), index};
    });
  };

  EXPECT_TRUE(contains(on(2, 99), "cuda:99"));
  EXPECT_TRUE(contains(on(10, 0), "DLPack's type 10"));
}

TEST(from_dlpack, leaves_the_array_to_the_caller_when_there_is_no_memory_to_copy_it) {
  foreign array;
  array.strides = {1, 2};
  topos::empty_cache(topos::cpu());
  topos::set_memory_limit(topos::cpu(), topos::memory_stats(topos::cpu()).in_use + 1);

  EXPECT_THROW(static_cast<void>(from_dlpack<float, 2>(&array.managed)), topos::out_of_memory);

  topos::set_memory_limit(topos::cpu(), 0);
  EXPECT_EQ(array.released, 0);
}

TEST(to_dlpack, describes_the_tensor_and_keeps_it) {
  on_each_device([](topos::device d) {
    const std::size_t before = topos::memory_stats(d).in_use;
    dlpack::managed_tensor_versioned* out = nullptr;
    {
      const auto x = support::tensor_on<2>(d, {2, 3}, six);
      out = to_dlpack(x);

      EXPECT_EQ(out->version.major, 1U);
      EXPECT_EQ(out->dl_tensor.data, x.data());
      EXPECT_EQ(out->dl_tensor.byte_offset, 0U);
      EXPECT_EQ(out->dl_tensor.ndim, 2);
      EXPECT_EQ(out->dl_tensor.shape[0], 2);
      EXPECT_EQ(out->dl_tensor.shape[1], 3);
      EXPECT_EQ(out->dl_tensor.strides[0], 3);
      EXPECT_EQ(out->dl_tensor.strides[1], 1);
      EXPECT_EQ(static_cast<int>(out->dl_tensor.device.type), d == topos::cpu() ? 1 : 2);
      EXPECT_EQ(out->dl_tensor.device.index, d.index());
      EXPECT_EQ(out->dl_tensor.dtype, (dlpack::data_type{dlpack::type_code::floating, 32, 1}));
    }
    EXPECT_GT(topos::memory_stats(d).in_use, before);
    out->deleter(out);
    EXPECT_EQ(topos::memory_stats(d).in_use, before);
  });
}

TEST(to_dlpack, is_read_only_unless_it_was_moved_in) {
  auto x = support::vector_on<float>(topos::cpu(), {1, 2});

  auto* shared = to_dlpack(x);
  EXPECT_EQ(shared->flags, dlpack::read_only);
  shared->deleter(shared);

  auto* moved = to_dlpack(std::move(x));
  EXPECT_EQ(moved->flags, 0U);
  moved->deleter(moved);

  const float constants[2] = {1, 2};
  auto* constant = to_dlpack(topos::from_blob<float, 1>(constants, {2}));
  EXPECT_EQ(constant->flags, dlpack::read_only);
  constant->deleter(constant);
}

TEST(to_dlpack, waits_for_the_elements) {
  const auto x = topos::full<float, 1>({1'000'000}, 1.0F, topos::cpu());

  auto* out = to_dlpack(topos::tensor<float, 1>(x + 1.0F));

  EXPECT_EQ(static_cast<const float*>(out->dl_tensor.data)[999'999], 2.0F);
  out->deleter(out);
}

TEST(to_dlpack, rethrows_what_the_elements_failed_with) {
  const auto x = topos::empty<float, 1>({3}, topos::cpu());
  x.memory().set_poison(std::make_exception_ptr(std::out_of_range("gone")));

  EXPECT_THROW(static_cast<void>(to_dlpack(x)), std::out_of_range);
}

template <class T>
void expect_round_trip(topos::device d, dlpack::type_code code) {
  const auto x = topos::ones<T, 3>({2, 1, 3}, d);

  auto* versioned = to_dlpack(x);
  EXPECT_EQ(versioned->dl_tensor.dtype,
            (dlpack::data_type{code, static_cast<std::uint8_t>(8 * sizeof(T)), 1}))
      << topos::dtype_name_v<T>;
  const auto y = from_dlpack<T, 3>(versioned);
  EXPECT_EQ(y.data(), x.data());
  EXPECT_EQ(y.device(), d);
  const auto z = from_dlpack<T, 3>(topos::to_dlpack_unversioned(y));
  EXPECT_EQ(z.data(), x.data());
}

TEST(to_dlpack, gives_every_type_and_takes_it_back) {
  on_each_device([](topos::device d) {
    using dlpack::type_code;
    expect_round_trip<bool>(d, type_code::boolean);
    expect_round_trip<std::int8_t>(d, type_code::integer);
    expect_round_trip<std::int16_t>(d, type_code::integer);
    expect_round_trip<std::int32_t>(d, type_code::integer);
    expect_round_trip<std::int64_t>(d, type_code::integer);
    expect_round_trip<std::uint8_t>(d, type_code::unsigned_integer);
    expect_round_trip<std::uint16_t>(d, type_code::unsigned_integer);
    expect_round_trip<std::uint32_t>(d, type_code::unsigned_integer);
    expect_round_trip<std::uint64_t>(d, type_code::unsigned_integer);
    expect_round_trip<topos::f16>(d, type_code::floating);
    expect_round_trip<topos::bf16>(d, type_code::bfloat);
    expect_round_trip<float>(d, type_code::floating);
    expect_round_trip<double>(d, type_code::floating);
    expect_round_trip<Kokkos::complex<float>>(d, type_code::complex);
    expect_round_trip<Kokkos::complex<double>>(d, type_code::complex);
  });
}

TEST(to_dlpack, of_a_part_begins_there) {
  const auto x = support::tensor_on<2>(topos::cpu(), {2, 3}, six);

  const auto y = from_dlpack<float, 1>(to_dlpack(x.row(1)));

  EXPECT_EQ(values_of(y), (std::vector<float>{3, 4, 5}));
}

TEST(device_put, of_an_array_takes_it_over) {
  on_each_device([](topos::device d) {
    foreign array;
    foreign<dlpack::managed_tensor> older;
    {
      const auto x = topos::device_put<float, 2>(&array.managed, d);
      const auto y = topos::device_put<float, 2>(&older.managed, d);
      EXPECT_EQ(x.device(), d);
      EXPECT_EQ(values_of(x), six);
      EXPECT_EQ(values_of(y), six);
    }
    EXPECT_EQ(array.released, 1);
    EXPECT_EQ(older.released, 1);
  });
}

}  // namespace dlpack_test
