// SPDX-License-Identifier: Apache-2.0

/// Random numbers: keys instead of hidden state, and the same bits on every device.

#include <iostream>
#include <topos/topos.hpp>

#include "../milliseconds.hpp"

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};
  std::cout << std::boolalpha;

  std::cout << "== key ==\n";
  // [key]
  namespace random = topos::random;
  const random::key key{0};
  std::cout << random::uniform(key, {2, 3}) << '\n';
  std::cout << "again: " << random::uniform(key, {3}) << '\n';
  std::cout << "again: " << random::uniform(key, {3}) << '\n';  // a key is used up by nobody
  // [/key]

  std::cout << "== split ==\n";
  // [split]
  const auto [first, second] = random::split(key);
  std::cout << first << ", " << second << '\n';
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::cout << "epoch " << epoch << ": " << random::uniform(random::fold_in(first, epoch), {3})
              << '\n';
  }
  // [/split]

  std::cout << "== distributions ==\n";
  // [distributions]
  const auto keys = random::split<8>(second);
  std::cout << "uniform:     " << random::uniform(keys[0], {4}, {.min = -1, .max = 1}) << '\n';
  std::cout << "normal:      " << random::normal(keys[1], {4}) << '\n';
  std::cout << "exponential: " << random::exponential(keys[2], {4}) << '\n';
  std::cout << "randint:     " << random::randint(keys[3], {4}, 1, 7) << '\n';
  std::cout << "bernoulli:   " << random::bernoulli(keys[4], 0.3, {4}) << '\n';
  std::cout << "permutation: " << random::permutation(keys[5], 6) << '\n';
  std::cout << "choice:      "
            << random::choice(keys[6], topos::array<float>({0.5f, 1.5f, 2.5f}), {4}) << '\n';
  const auto logits = topos::array<float>({{0, 0, 5}, {5, 0, 0}});  // a row for each choice
  std::cout << "categorical: " << random::categorical(keys[7], logits) << '\n';
  // [/distributions]

  std::cout << "== lazy ==\n";
  // [lazy]
  auto noise = random::normal(first, {1000, 1000});  // drawn in the kernel that uses it
  auto image = topos::eval(clip(0.5f + 0.1f * noise, 0.0f, 1.0f));
  std::cout << mean(image) << " +- " << topos::std(image) << '\n';
  // [/lazy]

  std::cout << "== layouts ==\n";
  // [layouts]
  const random::key partitionable{0, random::layout::partitionable};
  std::cout << random::uniform(partitionable, {2, 3}) << '\n';
  // [/layouts]

  std::cout << "== places ==\n";
  // [places]
  topos::tensor<float, 1> here = random::uniform(key, {100'001}, topos::cpu());
  topos::tensor<float, 1> there = random::uniform(key, {100'001}, topos::try_gpu());
  std::cout << "the same bits: " << all(here == there.cpu()) << '\n';
  // [/places]

  std::cout << "== timings ==\n";
  // [timings]
  const topos::index_t n = 250'000;
  const auto drawn = [&](const auto& numbers) { topos::eval(numbers).block_until_ready(); };
  std::cout << "250,000 uniform:             "
            << milliseconds([&] { drawn(random::uniform(key, {n})); }) << " ms\n";
  std::cout << "250,000 normal:              "
            << milliseconds([&] { drawn(random::normal(key, {n})); }) << " ms\n";
  std::cout << "uniform and their powers:    "
            << milliseconds([&] { drawn(pow(random::uniform(key, {n}), 2) - 0.5f); }) << " ms\n";
  // [/timings]
}
