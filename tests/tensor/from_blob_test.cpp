// SPDX-License-Identifier: Apache-2.0

/// Tensors over the caller's memory read it where it is, and give it back once.

#include <topos/tensor/from_blob.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../support/devices.hpp"

namespace from_blob_test {

using support::contains;
using support::refusal;
using support::values_of;
using topos::from_blob;
using topos::shape;

TEST(from_blob, reads_the_memory_where_it_is) {
  std::vector<float> values{1, 2, 3, 4, 5, 6};

  const auto x = from_blob(values.data(), shape<2>{2, 3});

  EXPECT_EQ(x.data(), values.data());
  EXPECT_EQ(x.shape(), (shape<2>{2, 3}));
  EXPECT_EQ(x.device(), topos::cpu());
  EXPECT_TRUE(x.is_ready());
  const topos::tensor<float, 2> y = x + 1.0F;
  EXPECT_EQ(values_of(y), (std::vector<float>{2, 3, 4, 5, 6, 7}));
}

TEST(from_blob, takes_its_shape_from_braces) {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<float>& fixed = values;
  int calls = 0;
  {
    const auto x = from_blob(values.data(), {2, 3});
    const auto y = from_blob(fixed.data(), {6}, topos::cpu(), [&](const float*) { ++calls; });

    EXPECT_EQ(x.shape(), (shape<2>{2, 3}));
    EXPECT_EQ(y.shape(), shape<1>{6});
    EXPECT_EQ(y.data(), values.data());
  }
  EXPECT_EQ(calls, 1);
}

TEST(from_blob, memory_on_any_device) {
  support::on_each_device([](topos::device d) {
    const auto owner = support::vector_on<float>(d, {1, 2, 3, 4}).block_until_ready();

    const auto x = from_blob<float, 1>(owner.data() + 1, {2}, d);

    EXPECT_EQ(x.device(), d);
    EXPECT_EQ(values_of(x), (std::vector<float>{2, 3}));
  });
}

TEST(from_blob, only_memory_that_is_not_const_may_be_written) {
  float values[2] = {1, 2};
  const float constants[2] = {1, 2};

  EXPECT_TRUE(from_blob(values, shape<1>{2}).memory().is_unique());
  EXPECT_FALSE(from_blob(constants, shape<1>{2}).memory().is_unique());
  EXPECT_FALSE((from_blob<float, 1>(constants, {2}).memory().is_unique()));
}

TEST(from_blob, calls_the_deleter_once_when_nothing_needs_the_memory) {
  int calls = 0;
  auto values = std::make_unique<float[]>(100'000);
  float* const data = values.get();
  {
    topos::tensor<float, 1> y;
    {
      auto x = from_blob(values.release(), shape<1>{100'000}, topos::cpu(), [&](float* p) {
        EXPECT_EQ(p, data);
        ++calls;
        delete[] p;
      });
      const auto copy = x;
      y = topos::tensor<float, 1>(x + copy);
    }
    y.block_until_ready();
  }
  EXPECT_EQ(calls, 1);
}

TEST(from_blob, takes_a_deleter_that_only_moves) {
  auto owner = std::make_unique<std::vector<int>>(3, 7);
  int* const data = owner->data();

  auto x = from_blob(data, shape<1>{3}, topos::cpu(),
                     [kept = std::move(owner)](int*) mutable { kept.reset(); });

  EXPECT_EQ(values_of(x), (std::vector<int>{7, 7, 7}));
}

TEST(from_blob, without_elements_needs_no_memory) {
  const auto x = from_blob(static_cast<float*>(nullptr), shape<2>{0, 3});

  EXPECT_EQ(x.size(), 0);
  EXPECT_TRUE(values_of(x).empty());
}

TEST(from_blob, refuses_what_cannot_be_a_tensor_and_leaves_it_to_the_caller) {
  int calls = 0;
  const auto count = [&](const void*) { ++calls; };
  alignas(double) char bytes[32] = {};

  const std::string null = refusal<topos::invalid_argument>([&] {
    static_cast<void>(from_blob(static_cast<float*>(nullptr), shape<1>{3}, topos::cpu(), count));
  });
  const std::string odd = refusal<topos::invalid_argument>([&] {
    static_cast<void>(
        from_blob(reinterpret_cast<double*>(bytes + 4), shape<1>{3}, topos::cpu(), count));
  });
  EXPECT_THROW(static_cast<void>(
                   from_blob(reinterpret_cast<double*>(bytes), shape<1>{-1}, topos::cpu(), count)),
               topos::shape_mismatch);

  EXPECT_TRUE(contains(null, "from_blob") && contains(null, "null pointer") &&
              contains(null, "(3,)"));
  EXPECT_TRUE(contains(odd, "8 bytes that float64 needs")) << odd;
  EXPECT_EQ(calls, 0);
}

TEST(from_blob, overflowing_shape_is_refused) {
  double value = 0;
  const topos::index_t huge = topos::index_t{1} << 62;

  EXPECT_THROW(static_cast<void>(from_blob(&value, shape<1>{huge})), topos::shape_mismatch);
}

}  // namespace from_blob_test
