// SPDX-License-Identifier: Apache-2.0

/// Views, assignment into parts, and reductions.

#include <iostream>
#include <topos/tensor/scan.hpp>
#include <topos/tensor/sort.hpp>
#include <topos/topos.hpp>

#include "../milliseconds.hpp"

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};
  topos::default_device scope{topos::try_gpu()};
  std::cout << std::boolalpha;

  std::cout << "== views ==\n";
  // [views]
  topos::tensor x = reshape(topos::arange<float>(12), {3, 4});
  std::cout << x << '\n';
  std::cout << "x[1]:         " << slice(x, 1) << '\n';
  std::cout << "x[-1, 1:3]:   " << slice(x, -1, {1, 3}) << '\n';
  std::cout << "x[:, 2]:      " << slice(x, {}, 2) << '\n';
  std::cout << "x[0, -1::-1]: " << slice(x, 0, {-1, {}, -1}) << '\n';
  std::cout << "transposed:\n" << transpose(x) << '\n';
  // [/views]

  std::cout << "== broadcasting ==\n";
  // [broadcasting]
  auto row = topos::array<float>({1, 10, 100, 1000});
  auto column = expand_dims(topos::array<float>({1, 2, 3}), 1);  // (3, 1), a view
  std::cout << row * column << '\n';
  // [/broadcasting]

  std::cout << "== assignment ==\n";
  // [assignment]
  auto y = x;                    // shares x's memory ...
  y.slice({0, 2}, {2, {}}) = 0;  // ... until one of them is written
  y.slice(2) += row;
  std::cout << y << '\n';
  std::cout << "x is as it was: " << all(x == reshape(topos::arange<float>(12), {3, 4})) << '\n';
  // [/assignment]

  std::cout << "== memory ==\n";
  // [memory]
  const float* before = x.data();
  x *= 2;             // nobody else holds its memory any more: written in place,
  x = maximum(x, 0);  // and so is what reads each element only where it is written
  std::cout << "in place: " << (x.data() == before) << '\n';
  auto copy = x;
  x += 1;  // copy holds it too: x gets memory of its own
  std::cout << "in place: " << (x.data() == before) << '\n';
  // [/memory]

  std::cout << "== reductions ==\n";
  // [reductions]
  std::cout << "sum: " << sum(x) << ", of columns: " << sum(x, 0) << '\n';
  std::cout << "mean of rows: " << mean(x, 1) << '\n';
  std::cout << "min: " << min(x) << ", max: " << max(x, -1) << '\n';
  std::cout << "argmax: " << argmax(x) << ", of rows: " << argmax(x, 1) << '\n';
  std::cout << "any > 22: " << any(x > 22) << ", all > 0: " << all(x > 0, 0) << '\n';
  std::cout << "std: " << topos::std(x) << '\n';
  // [/reductions]

  std::cout << "== fused ==\n";
  // [fused]
  using topos::keep_dims;
  std::cout << "squares: " << sum(square(x)) << '\n';  // no memory for the squares
  topos::tensor centred = x - mean(x, 1, keep_dims);
  std::cout << centred << '\n';
  // [/fused]

  std::cout << "== scans ==\n";
  // [scans]
  auto steps = topos::array({{3, 1, 2, 5, 4}, {6, 9, 8, 7, 0}});
  std::cout << "cumsum of all: " << cumsum(steps) << '\n';
  std::cout << "cumsum of rows:\n" << cumsum(steps, 1) << '\n';
  std::cout << "sorted rows:\n" << sort(steps) << '\n';
  std::cout << "their order:\n" << argsort(steps) << '\n';
  auto [values, indices] = topk(steps, 2);
  std::cout << "the largest two:\n" << values << "\nat\n" << indices << '\n';
  // [/scans]

  std::cout << "== errors ==\n";
  // [errors]
  try {
    auto gone = slice(x, 3);
  } catch (const topos::out_of_range& e) {
    std::cout << e.what() << '\n';
  }
  try {
    topos::tensor total = sum(x, 2);
  } catch (const topos::out_of_range& e) {
    std::cout << e.what() << '\n';
  }
  // [/errors]

  std::cout << "== timings ==\n";
  // [timings]
  const auto large = topos::eval(topos::linspace<float>(0, 1, 1'000'000));
  const auto table = topos::eval(reshape(large, {500, 2000}));
  std::cout << "sum of a million:     " << milliseconds([&] { (void)sum(large).item(); })
            << " ms\n";
  std::cout << "a transposed view:    " << milliseconds([&] { (void)transpose(table); }) << " ms\n";
  std::cout << "its copy in memory:   "
            << milliseconds([&] { topos::eval(transpose(table)).block_until_ready(); }) << " ms\n";
  // [/timings]
}
