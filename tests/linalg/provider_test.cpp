// SPDX-License-Identifier: Apache-2.0

/// Each provider of matmul that the build found, also those that are not the first choice here.

#include <gtest/gtest.h>

#include <source_location>
#include <topos/expr/views.hpp>
#include <topos/linalg/detail/matrices.hpp>
#include <topos/linalg/provider.hpp>
#include <tuple>
#include <vector>

#include "../support/types.hpp"
#include "numpy_cases.hpp"

namespace provider_test {

using support::cut_from;
using support::matmul_case;
using support::operand_values;
using support::shaped;
using support::values_of;
using topos::index_t;
using topos::tensor;
using topos::detail::matrix_product;
using topos::detail::product_of;

using multiplied = support::types<Kokkos::complex<float>, Kokkos::complex<double>, topos::bf16,
                                  topos::f16, double, float>;

// The product of two stacks of matrices by one provider.
template <class Backend, class Provider, class T, class A, class B>
std::vector<T> product_by(const A& a, const B& b, topos::device d) {
  const topos::shape<1> batch{a.shape()[0]};
  const tensor<T, 3> c({batch[0], a.shape()[1], b.shape()[2]}, d);
  const matrix_product<T> p = product_of<T, 1>(a, b, batch, c.data());
  topos::detail::queue_of(d, std::source_location::current())
      .submit(
          {a.source.memory, b.source.memory}, {c.memory()}, topos::detail::always_queued,
          [p](const auto& stream) {
            if constexpr (std::is_same_v<typename std::decay_t<decltype(stream)>::backend, Backend>)
              Provider::multiply(stream, p);
          });
  return values_of(c);
}

template <class T, std::size_t Rank>
auto by_columns(const tensor<T, Rank>& x) {
  return topos::eval(topos::swapaxes(x, -1, -2));
}

// The tensor, its matrices stored in reverse.
template <class T>
auto stored_backwards(const tensor<T, 3>& x) {
  return topos::flip(topos::eval(topos::flip(x, 0)), 0);
}

// The one matrix of a tensor, three times.
template <class T>
auto repeated(const tensor<T, 3>& x) {
  return topos::broadcast_to(x, topos::shape<3>{3, x.shape()[1], x.shape()[2]});
}

template <class Backend, class Provider, class T>
void check_products(topos::device d) {
  support::expected_results<T> expected("matmul");
  for (const matmul_case& c : support::matmul_cases()) {
    SCOPED_TRACE(topos::to_string(c.a) + " and " + topos::to_string(c.b));
    const bool stacks = c.a.size() == 3 && c.b.size() == 3 && c.a[0] == c.b[0];
    if ((stacks || (c.a.size() == 2 && c.b.size() == 2)) && support::result_size(c) > 0 &&
        c.a.back() > 0) {
      matmul_case three = c;
      if (!stacks) three = {{1, c.a[0], c.a[1]}, {1, c.b[0], c.b[1]}};
      const auto a = shaped<3>(d, three.a, operand_values<T>(c.a, cut_from::start));
      const auto b = shaped<3>(d, three.b, operand_values<T>(c.b, cut_from::second));
      const auto a_turned = by_columns(a);
      const auto b_turned = by_columns(b);
      const auto seen_a = topos::swapaxes(a_turned, -1, -2);
      const auto seen_b = topos::swapaxes(b_turned, -1, -2);
      expected.check(product_by<Backend, Provider, T>(a.node(), b.node(), d));
      expected.check(product_by<Backend, Provider, T>(seen_a, b.node(), d));
      expected.check(product_by<Backend, Provider, T>(a.node(), seen_b, d));
      expected.check(product_by<Backend, Provider, T>(seen_a, seen_b, d));
      const auto a_backwards = stored_backwards(a);
      expected.check(product_by<Backend, Provider, T>(a_backwards, b.node(), d));
      expected.check(product_by<Backend, Provider, T>(a_backwards, stored_backwards(b), d));
      if (!stacks) {
        const auto all = product_by<Backend, Provider, T>(repeated(a), repeated(b), d);
        const auto size = static_cast<std::ptrdiff_t>(all.size() / 3);
        for (auto one = all.begin(); one != all.end(); one += size)
          expected.check(std::vector<T>(one, one + size));
      }
    }
    expected.skip(support::result_size(c));
  }
}

template <class Backend, class Provider, class T>
void check_type(topos::device d) {
  if constexpr (Provider::template multiplies<T>) {
    SCOPED_TRACE(topos::dtype_name_v<T>);
    if (Provider::template works<T>()) check_products<Backend, Provider, T>(d);
  }
}

template <class Backend, class Provider, class... T>
void check_provider(testing::Types<T...>, topos::device d) {
  SCOPED_TRACE(Provider::name);
  (check_type<Backend, Provider, T>(d), ...);
}

TEST(providers, give_numpys_products) {
  support::on_each_real_device([](topos::device d) {
    topos::backend::visit(d.kind(), [&](auto backend) {
      using type = decltype(backend);
      std::apply([&](auto... all) { (check_provider<type, decltype(all)>(multiplied{}, d), ...); },
                 typename topos::detail::matmul_providers<type>::type{});
    });
  });
}

TEST(providers, of_every_type_have_a_name) {
  for (const topos::device& d : topos::devices()) {
    EXPECT_FALSE(topos::matmul_provider<float>(d.kind()).empty());
    EXPECT_FALSE(topos::matmul_provider<topos::f16>(d.kind()).empty());
    EXPECT_EQ(topos::matmul_provider<int>(d.kind()), "built-in");
  }
}

}  // namespace provider_test
