// SPDX-License-Identifier: Apache-2.0

/// Placement: where tensors live, how they are moved, and what moving costs.
///
/// Usage: 02_placement [elements of the timed chain, 100,000,000 if not given]

#include <cstdlib>
#include <iostream>
#include <random>
#include <topos/topos.hpp>

#include "../milliseconds.hpp"

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};
  const topos::index_t n = argc > 1 ? std::atoll(argv[1]) : 100'000'000;
  std::cout << std::boolalpha;

  std::cout << "== where ==\n";
  // [where]
  auto x = topos::array({1, 2, 3});
  std::cout << x << " on " << x.device() << '\n';
  // [/where]

  std::cout << "== create ==\n";
  // [create]
  auto X = topos::ones<float>({2, 3}, topos::try_gpu());
  std::cout << X << " on " << X.device() << '\n';
  // [/create]

  std::cout << "== second ==\n";
  // [second]
  const topos::device second = topos::try_gpu(1);
  const topos::random::key key{0};
  auto Y = topos::device_put(topos::random::uniform(key, {2, 3}), second);
  std::cout << Y << " on " << Y.device() << '\n';
  // [/second]

  std::cout << "== move ==\n";
  // [move]
  auto Z = topos::device_put(X, second);
  std::cout << Y + Z << '\n';
  // [/move]

  std::cout << "== same ==\n";
  // [same]
  auto Z2 = topos::device_put(Z, second);
  std::cout << "the same memory: " << (Z2.data() == Z.data()) << '\n';
  // [/same]

  std::cout << "== members ==\n";
  // [members]
  std::cout << "x device: " << x.get_device() << '\n';
  x = x.to(topos::device{"cpu"});  // there already: not a copy
  x = x.cpu();
  try {
    x = x.gpu(7);
  } catch (const topos::invalid_device& e) {
    std::cout << e.what() << '\n';
  }
  std::cout << "x device: " << x.get_device() << '\n';
  // [/members]

  std::cout << "== mismatch ==\n";
  // [mismatch]
  try {
    auto here = topos::ones<float>({2, 3}, topos::cpu());
    auto there = topos::ones<float>({2, 3}, topos::try_gpu());
    std::cout << here + there << '\n';  // with a GPU these are two places
  } catch (const topos::device_mismatch& e) {
    std::cout << e.what() << '\n';
  }
  // [/mismatch]

  std::cout << "== default ==\n";
  // [default]
  {
    topos::default_device scope{topos::try_gpu()};  // for this thread, until the brace
    auto u = topos::zeros<float>({2});
    std::cout << "inside on the default device: " << (u.device() == topos::try_gpu()) << '\n';
  }
  std::cout << "outside: " << topos::zeros<float>({2}).device() << '\n';
  // [/default]

  std::cout << "== guard ==\n";
  // [guard]
  {
    topos::transfer_guard guard{topos::transfer::disallow};
    auto sum = topos::eval(Y + Z);  // no copy crosses devices, or this would throw
    auto again = topos::device_put(sum, second);
    std::cout << "copies between devices: " << topos::transfer_guard::count() << '\n';
  }
  // [/guard]

  std::cout << "== bottleneck ==\n";
  // [bottleneck]
  using topos::random::uniform;
  std::random_device seed;
  const topos::device fast = topos::try_gpu();

  const auto back_and_forth = [&] {
    topos::default_device scope{fast};
    topos::tensor<float, 1> u = uniform(topos::random::key{seed()}, {n});  // on the GPU
    auto u_cpu = topos::device_put(u, topos::cpu());                       // move to the CPU
    auto y_cpu = topos::eval(square(u_cpu) - 0.5f);                        // calculate there
    auto y = topos::device_put(y_cpu, fast);                               // move to the GPU
    auto z = topos::eval(y * y * y - 0.2f);                                // calculate there
    z.block_until_ready();
  };
  const auto step_by_step = [&](topos::device where) {
    topos::default_device scope{where};
    topos::tensor<float, 1> u = uniform(topos::random::key{seed()}, {n});
    auto y = topos::eval(square(u) - 0.5f);
    auto z = topos::eval(y * y * y - 0.2f);
    z.block_until_ready();
  };
  const auto fused = [&](topos::device where) {
    topos::default_device scope{where};
    auto y = square(uniform(topos::random::key{seed()}, {n})) - 0.5f;  // `auto`: nothing runs
    auto z = topos::eval(pow(y, 3) - 0.2f);  // one kernel, no memory between
    z.block_until_ready();
  };
  std::cout << "with copies:         " << milliseconds(back_and_forth) << " ms\n";
  std::cout << "CPU, step by step:   " << milliseconds([&] { step_by_step(topos::cpu()); })
            << " ms\n";
  std::cout << "fast, step by step:  " << milliseconds([&] { step_by_step(fast); }) << " ms\n";
  std::cout << "fast, in one kernel: " << milliseconds([&] { fused(fast); }) << " ms\n";
  // [/bottleneck]
}
