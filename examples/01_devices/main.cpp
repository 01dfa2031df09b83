// SPDX-License-Identifier: Apache-2.0

/// Devices: which are here, what they are called, and what is said of a name that names none.

#include <iostream>
#include <map>
#include <topos/topos.hpp>

#include "../milliseconds.hpp"

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};  // starts Kokkos; at its end all work is done
  std::cout << std::boolalpha;

  std::cout << "== here ==\n";
  // [here]
  for (const topos::device& d : topos::devices()) std::cout << d << '\n';
  std::cout << "Got GPU? " << (topos::num_gpus() > 0) << '\n';
  std::cout << "num_gpus: " << topos::num_gpus() << '\n';
  // [/here]

  std::cout << "== try ==\n";
  // [try]
  std::cout << topos::try_gpu() << ", " << topos::try_gpu(10) << '\n';
  for (const topos::device& d : topos::try_all_gpus()) std::cout << d << '\n';
  // [/try]

  std::cout << "== strings ==\n";
  // [strings]
  for (const char* text : {"cpu", "random", "cuda0", "cuda:99", ""}) {
    try {
      std::cout << topos::device{text} << " is here\n";
    } catch (const topos::invalid_device& e) {
      std::cout << e.what() << '\n';
    }
  }
  // [/strings]

  std::cout << "== values ==\n";
  // [values]
  std::map<topos::device, int> visits;  // a device is a small value: compare it, sort it, hash it
  visits[topos::cpu()] += 1;
  visits[topos::device{"cpu"}] += 1;
  visits[topos::device{topos::device_kind::cpu, 0}] += 1;
  std::cout << visits.size() << " device, " << visits[topos::cpu()] << " visits\n";
  // [/values]

  std::cout << "== properties ==\n";
  // [properties]
  const topos::device place = topos::try_gpu();
  const topos::device_properties about = topos::properties(place);
  std::cout << "name: " << about.name << '\n';
  std::cout << "memory: " << (about.memory >> 30U) << " GiB\n";
  std::cout << "cores: " << about.cores << '\n';
  // [/properties]

  std::cout << "== memory ==\n";
  // [memory]
  auto x = topos::zeros<float>({1'000'000}, place);
  std::cout << "in use: " << topos::memory_stats(place).in_use << " bytes\n";
  topos::set_memory_limit(place, 64U << 20U);
  try {
    auto y = topos::zeros<float>({100'000'000}, place);
  } catch (const topos::out_of_memory& e) {
    std::cout << e.what() << '\n';
  }
  topos::set_memory_limit(place, 0);  // none but the device's own
  // [/memory]

  std::cout << "== timings ==\n";
  // [timings]
  std::cout << "a device by its name:     " << milliseconds([] { (void)topos::device{"cpu"}; })
            << " ms\n";
  std::cout << "memory that was had once: " << milliseconds([&] {
    auto again = topos::empty<float>({1'000'000}, place);
  }) << " ms\n";
  // [/timings]
}
