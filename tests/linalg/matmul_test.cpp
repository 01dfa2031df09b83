// SPDX-License-Identifier: Apache-2.0

/// Products of matrices against NumPy's, to the bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <topos/async/in_place_scope.hpp>
#include <topos/linalg/matmul.hpp>
#include <vector>

#include "../support/types.hpp"
#include "numpy_cases.hpp"

namespace matmul_test {

using support::contains;
using support::cut_from;
using support::extents_t;
using support::matmul_case;
using support::on_each_device;
using support::operand_values;
using support::refusal;
using support::shaped;
using support::values_of;
using topos::index_t;
using topos::matmul;
using topos::tensor;

template <class A, class B>
concept multiplies = requires(const A& a, const B& b) {
  matmul(a, b);
};

static_assert(multiplies<tensor<float, 2>, tensor<double, 1>>);
static_assert(!multiplies<tensor<float, 2>, float>);
static_assert(
    std::is_same_v<decltype(matmul(tensor<float, 1>(), tensor<float, 3>())), tensor<float, 2>>);
static_assert(std::is_same_v<decltype(matmul(tensor<topos::f16, 2>(), tensor<float, 4>())),
                             tensor<float, 4>>);

// The tensor's matrices, stored by columns.
template <class T, std::size_t Rank>
auto stored_by_columns(const tensor<T, Rank>& x) {
  return tensor<T, Rank>(topos::swapaxes(x, -1, -2));
}

// matmul of a case, its operands stored by rows and by columns.
template <std::size_t A, std::size_t B, class T>
void check_case(topos::device d, const matmul_case& c,
                const support::expected_results<T>& expected) {
  const auto a = shaped<A>(d, c.a, operand_values<T>(c.a, cut_from::start));
  const auto b = shaped<B>(d, c.b, operand_values<T>(c.b, cut_from::second));
  expected.check(values_of(matmul(a, b)));
  if constexpr (A >= 2) {
    const auto by_columns = stored_by_columns(a);
    expected.check(values_of(matmul(topos::swapaxes(by_columns, -1, -2), b)));
  }
  if constexpr (B >= 2) {
    const auto by_columns = stored_by_columns(b);
    expected.check(values_of(matmul(a, topos::swapaxes(by_columns, -1, -2))));
  }
}

// The cases of some ranks; the others are passed over.
template <class T, std::size_t... Ranks>
void check_cases(topos::device d, std::index_sequence<Ranks...> /*ten for each of a, one for b*/) {
  support::expected_results<T> expected("matmul");
  for (const matmul_case& c : support::matmul_cases()) {
    SCOPED_TRACE(topos::to_string(c.a) + " and " + topos::to_string(c.b));
    const std::size_t ranks = 10 * c.a.size() + c.b.size();
    ((ranks == Ranks ? check_case<Ranks / 10, Ranks % 10>(d, c, expected) : void()), ...);
    expected.skip(support::result_size(c));
  }
  EXPECT_TRUE(expected.at_end());
}

template <class T>
class matmul_of : public testing::Test {};
using types =
    support::types<double, topos::f16, topos::bf16, Kokkos::complex<float>, Kokkos::complex<double>,
                   std::int8_t, std::int32_t, std::uint64_t, bool>;
TYPED_TEST_SUITE(matmul_of, types);

TEST(matmul, gives_numpys_products_at_every_rank) {
  on_each_device([](topos::device d) {
    check_cases<float>(d,
                       std::index_sequence<11, 12, 21, 22, 33, 32, 23, 13, 31, 43, 44, 65, 88>{});
  });
}

TYPED_TEST(matmul_of, gives_numpys_products) {
  on_each_device([](topos::device d) { check_cases<TypeParam>(d, std::index_sequence<22, 33>{}); });
}

TEST(matmul, takes_expressions_and_views) {
  on_each_device([](topos::device d) {
    const auto a = support::tensor_on<2>(d, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    const auto b = support::tensor_on<2>(d, {3, 2}, std::vector<float>{1, 0, 2, -1, 0, 3});
    const std::vector<float> product{5, 7, 14, 13};

    EXPECT_EQ(values_of(matmul(a + 0.0f, b * 1.0f)), product);
    EXPECT_EQ(values_of(matmul(topos::flip(topos::flip(a)), b)), product)
        << "an expression of views";
    // A view whose rows and columns both have gaps, and one that repeats a row.
    const auto wide =
        support::tensor_on<2>(d, {2, 6}, std::vector<float>{1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9});
    EXPECT_EQ(values_of(matmul(topos::slice(wide, topos::range{}, topos::range{0, 6, 2}), b)),
              product);
    EXPECT_EQ(values_of(matmul(topos::broadcast_to(a.row(0), topos::shape<2>{2, 3}), b)),
              (std::vector<float>{5, 7, 5, 7}));
    // Columns of a matrix, which are no neighbours.
    EXPECT_EQ(values_of(matmul(a, topos::slice(b, topos::range{}, 1))),
              (std::vector<float>{7, 13}));
    EXPECT_EQ(
        values_of(matmul(topos::slice(a, topos::range{}, 2), b.reshape(topos::shape<2>{2, 3}))),
        (std::vector<float>{-3, 0, 24}));
    EXPECT_EQ(values_of(matmul(topos::flip(a, 0), b)), (std::vector<float>{14, 13, 5, 7}));
  });
}

TEST(matmul, promotes_types) {
  on_each_device([](topos::device d) {
    const auto a = support::tensor_on<2>(d, {1, 2}, std::vector<std::int32_t>{1, 2});
    const auto b = support::tensor_on<2>(d, {2, 1}, std::vector<float>{0.5f, 0.25f});
    const auto c = matmul(a, b);
    static_assert(std::is_same_v<decltype(c), const tensor<float, 2>>);
    EXPECT_EQ(values_of(c), std::vector<float>{1});
  });
}

// jax.numpy.matmul: 257 is 256 in bf16.
TEST(matmul, rounds_what_is_promoted) {
  on_each_device([](topos::device d) {
    const auto ones = topos::ones<topos::bf16, 2>({2, 3}, d);
    const auto numbers = topos::full<int, 2>({3, 1}, 257, d);
    const std::vector<topos::bf16> expected(2, topos::bf16(768.0f));
    EXPECT_EQ(values_of(matmul(ones, numbers)), expected);
    EXPECT_EQ(values_of(matmul(ones, numbers.reshape(3))), expected);
  });
}

TEST(matmul, multiplies_a_stack_by_one_matrix_and_one_by_a_stack) {
  on_each_device([](topos::device d) {
    const auto stack =
        support::tensor_on<3>(d, {3, 4, 5}, operand_values<float>({60}, cut_from::start));
    const auto one =
        support::tensor_on<2>(d, {5, 2}, operand_values<float>({10}, cut_from::second));
    const auto all = values_of(matmul(stack, one));
    const auto turned = values_of(matmul(topos::transpose(one), topos::swapaxes(stack, -1, -2)));
    for (index_t i = 0; i < 3; ++i) {
      const std::vector<float> alone = values_of(matmul(stack.row(i), one));
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + i * 8)) << i;
      const auto across = values_of(tensor<float, 2>(topos::transpose(matmul(stack.row(i), one))));
      EXPECT_TRUE(std::equal(across.begin(), across.end(), turned.begin() + i * 8)) << i;
    }
  });
}

TEST(matmul, gives_the_same_bits_for_any_number_of_threads_and_rows) {
  if (topos::matmul_provider<float>(topos::device_kind::cpu) != "built-in")
    GTEST_SKIP() << "a library multiplies";
  const auto d = topos::cpu();
  for (const auto& [m, k, n] :
       {std::array<index_t, 3>{131, 700, 197}, {64, 1100, 48}, {520, 90, 400}, {20, 9000, 30}}) {
    const auto a = support::tensor_on<2>(d, {m, k}, support::varied(m * k));
    const auto b = support::tensor_on<2>(d, {k, n}, support::varied(k * n, 2));
    const std::vector<float> all = values_of(matmul(a, b));
    const topos::in_place_scope one_thread;
    EXPECT_TRUE(support::same_bits(values_of(matmul(a, b)), all)) << m << ' ' << k << ' ' << n;
    for (const index_t rows : {1, 2, 7, 9}) {
      const auto some = values_of(matmul(topos::slice(a, topos::range{3, 3 + rows}), b));
      EXPECT_TRUE(support::same_bits(
          some, std::vector<float>(all.begin() + 3 * n, all.begin() + (3 + rows) * n)))
          << rows;
    }
  }
}

// Of a matrix whose rows lie together, and of one whose columns do.
template <class T>
void expect_columns_alone_as_among_others(index_t m, index_t k) {
  constexpr index_t most = 64;
  const auto d = topos::cpu();
  const auto a = support::tensor_on<2>(d, {m, k}, support::varied<T>(m * k));
  const auto b = support::tensor_on<2>(d, {k, most}, support::varied<T>(k * most, 2));
  const auto by_columns = stored_by_columns(a);
  const tensor<T, 2> all = matmul(a, b);
  for (const index_t n : {1, 2, 3, 5, 8, 9, 12, 15, 16, 17, 24, 33}) {
    SCOPED_TRACE(topos::to_string(topos::shape<3>{m, k, n}));
    const tensor<T, 2> some = topos::slice(b, topos::range{}, topos::range{7, 7 + n});
    const auto expected =
        values_of(tensor<T, 2>(topos::slice(all, topos::range{}, topos::range{7, 7 + n})));
    EXPECT_TRUE(support::same_bits(values_of(matmul(a, some)), expected));
    EXPECT_TRUE(
        support::same_bits(values_of(matmul(topos::swapaxes(by_columns, -1, -2), some)), expected));
  }
}

TEST(matmul, gives_the_same_bits_for_any_number_of_columns) {
  if (topos::matmul_provider<float>(topos::device_kind::cpu) != "built-in")
    GTEST_SKIP() << "a library multiplies";
  for (const index_t m : {1, 5, 17, 50, 100}) {
    for (const index_t k : {1, 3, 90, 700, 5000}) {
      expect_columns_alone_as_among_others<float>(m, k);
      expect_columns_alone_as_among_others<double>(m, k);
    }
  }
}

TEST(matmul, of_more_terms_than_are_summed_at_a_time_is_as_on_one_thread) {
  if (topos::matmul_provider<double>(topos::device_kind::cpu) != "built-in")
    GTEST_SKIP() << "a library multiplies";
  if (support::few_types) GTEST_SKIP() << "it takes long";
  const auto d = topos::cpu();
  const auto a = support::tensor_on<2>(d, {64, 17000}, support::varied<double>(64 * 17000));
  const auto b = support::tensor_on<2>(d, {17000, 64}, support::varied<double>(64 * 17000, 2));
  const std::vector<double> all = values_of(matmul(a, b));
  const topos::in_place_scope one_thread;
  EXPECT_TRUE(support::same_bits(values_of(matmul(a, b)), all));
}

TEST(matmul, depends_on_its_operands_failures) {
  on_each_device([](topos::device d) {
    const tensor<float, 2> failed({3, 3}, d);
    topos::detail::queue_of(d, std::source_location::current())
        .submit({}, {failed.memory()}, topos::detail::always_queued,
                [](const auto&) { throw std::domain_error("gone"); });
    const auto good = topos::ones<float, 2>({3, 3}, d);

    EXPECT_THROW(values_of(matmul(failed, good)), std::domain_error);
    EXPECT_THROW(values_of(matmul(good, failed)), std::domain_error);
    EXPECT_EQ(values_of(matmul(good, good)), std::vector<float>(9, 3));
  });
}

TEST(matmul, names_both_operands_that_do_not_fit) {
  const auto a = topos::zeros<float, 2>({2, 3}, topos::cpu());
  const std::string columns =
      refusal<topos::shape_mismatch>([&] { static_cast<void>(matmul(a, a)); });
  const std::string row = refusal<topos::shape_mismatch>(
      [&] { static_cast<void>(matmul(topos::zeros<float, 1>({4}, topos::cpu()), a)); });
  const std::string stacks = refusal<topos::shape_mismatch>([&] {
    static_cast<void>(matmul(topos::zeros<float, 3>({2, 4, 2}, topos::cpu()),
                             topos::zeros<float, 3>({3, 2, 4}, topos::cpu())));
  });

  EXPECT_TRUE(contains(columns, "a (2, 3) on cpu") && contains(columns, "b (2, 3) on cpu"))
      << columns;
  EXPECT_TRUE(contains(columns, "3 columns") && contains(columns, "2 rows")) << columns;
  EXPECT_TRUE(contains(row, "a (4,) on cpu")) << row;
  EXPECT_TRUE(contains(stacks, "(2, 4, 2)") && contains(stacks, "(3, 2, 4)")) << stacks;
}

TEST(matmul, names_both_devices) {
  if (topos::num_gpus() == 0) GTEST_SKIP() << "one device is not two: there is no GPU";
  const auto here = topos::zeros<float, 2>({2, 2}, topos::cpu());
  const auto there = topos::zeros<float, 2>({2, 2}, topos::gpu());
  const std::string message =
      refusal<topos::device_mismatch>([&] { static_cast<void>(matmul(here, there)); });
  EXPECT_TRUE(contains(message, "a (2, 2) on cpu") && contains(message, "b (2, 2) on cuda:0"))
      << message;
}

TEST(matmul, says_where_it_was_called) {
  const auto a = topos::zeros<float, 2>({2, 3}, topos::cpu());
  try {
    static_cast<void>(matmul(a, a));
    FAIL();
  } catch (const topos::error& e) {
    EXPECT_TRUE(contains(e.where().file_name(), "matmul_test.cpp"));
  }
}

}  // namespace matmul_test
