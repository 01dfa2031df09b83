// SPDX-License-Identifier: Apache-2.0

/// Laziness and asynchrony: when an expression is computed, by how many kernels, who waits for it,
/// and what becomes of its errors.
///
/// Usage: 03_lazy_and_async [elements of the timed chain, 10,000,000 if not given]

#include <cstdlib>
#include <future>
#include <iostream>
#include <stdexcept>
#include <topos/topos.hpp>

#include "../milliseconds.hpp"

namespace {

// [functor]
struct checked_root {
  KOKKOS_FUNCTION float operator()(float x) const {
    KOKKOS_IF_ON_HOST((if (x < 0) throw std::domain_error("the root of a negative number");))
    return Kokkos::sqrt(x);
  }
};
// [/functor]

}  // namespace

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};
  const topos::index_t n = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  std::cout << std::boolalpha;

  std::cout << "== lazy ==\n";
  // [lazy]
  auto x = topos::linspace<float>(0, 1, 5);  // an expression: five numbers to come
  auto y = x * x - 0.5f;                     // an expression of an expression: nothing has run
  topos::tensor<float, 1> t = y;             // a tensor: one kernel computes it all
  std::cout << t << '\n';
  // [/lazy]

  std::cout << "== explain ==\n";
  // [explain]
  auto a = topos::ones<float>({1000});
  auto b = topos::full<float>({1000}, 4);
  std::cout << topos::explain(sqrt(a * b) + a / b) << '\n';
  // [/explain]

  std::cout << "== owns ==\n";
  // [owns]
  const auto make = [] {
    auto local = topos::array<float>({1, 2, 3});
    return local * 2.0f;  // the expression owns what it reads: nothing dangles
  };
  std::cout << make() + 1.0f << '\n';
  // [/owns]

  std::cout << "== several ==\n";
  // [several]
  auto lazy = y * y;
  auto [squares, lowest, highest] = topos::eval(lazy, min(lazy), max(lazy));
  std::cout << squares << " from " << lowest << " to " << highest << '\n';
  // [/several]

  std::cout << "== dispatch ==\n";
  // [dispatch]
  const auto chain = [&] {
    auto numbers = topos::linspace<float>(0, 100, n);
    return topos::eval(pow(numbers, 0.5f) - log(abs(numbers)));
  };
  std::cout << "until it is enqueued: " << milliseconds([&] { auto z = chain(); }) << " ms\n";
  std::cout << "until it is ready:    " << milliseconds([&] { chain().block_until_ready(); })
            << " ms\n";
  // [/dispatch]

  std::cout << "== wait ==\n";
  // [wait]
  auto z = chain();             // enqueued
  auto w = topos::eval(z - z);  // enqueued behind it: no need to wait in between
  w.block_until_ready();        // now both are there
  std::cout << "ready: " << z.is_ready() << ", " << w.is_ready() << '\n';
  // [/wait]

  std::cout << "== callback ==\n";
  // [callback]
  std::promise<void> told;
  topos::on_ready(chain(), [&](std::exception_ptr failure) {
    std::cout << "ready, without a failure: " << (failure == nullptr) << '\n';
    told.set_value();
  });
  told.get_future().wait();
  // [/callback]

  std::cout << "== errors ==\n";
  // [errors]
  try {
    auto sum = topos::ones<float>({2, 3}) + topos::ones<float>({2, 4});
  } catch (const topos::shape_mismatch& e) {  // what can be checked is checked at the call
    std::cout << e.what() << '\n';
  }

  auto bad = topos::eval(topos::map(checked_root{}, topos::array<float>({4, 1, -1})));
  auto worse = topos::eval(bad + 1.0f);  // computed from what failed: fails with it
  auto fine = topos::eval(a + b);        // unrelated: unharmed
  try {
    worse.block_until_ready();
  } catch (const std::domain_error& e) {  // the type that was thrown
    std::cout << e.what() << ", in " << topos::origin_of(worse)->operation << '\n';
  }
  std::cout << sum(fine) << '\n';
  // [/errors]
}
