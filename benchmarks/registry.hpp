// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Benchmarks that run on every device there is; main.cpp registers them once topos' runtime has
/// found the devices.

#include <benchmark/benchmark.h>

#include <string>
#include <topos/device/default_device.hpp>
#include <topos/device/device.hpp>
#include <utility>
#include <vector>

namespace bench {

/// What a benchmark reports as its time: that on the wall, or what it says itself; of a few
/// iterations, where what it does not say takes so long that a time would be minutes.
enum class timing { real, manual, manual_of_few };

/// Runs a function as `<name>/<side>/<device>/<dtype>/<size>`, with the device as the default one.
struct on_each_device {
  using function = void (*)(benchmark::State&);

  on_each_device(std::string name, std::string size, function run, timing time = timing::real,
                 std::string side = "topos", std::string dtype = "f32") {
    all().push_back(
        {std::move(name), std::move(side), std::move(dtype), std::move(size), run, time});
  }

  static void register_all() {
    for (const topos::device& d : topos::devices()) {
      for (const entry& e : all()) {
        const std::string name =
            e.name + '/' + e.side + '/' + topos::to_string(d) + '/' + e.dtype + '/' + e.size;
        auto* made = benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          const topos::default_device scope{d};
          e.run(state);
        });
        if (e.time == timing::manual_of_few)
          made->UseManualTime()->Iterations(200);
        else if (e.time == timing::manual)
          made->UseManualTime();
        else
          made->UseRealTime();
      }
    }
  }

 private:
  struct entry {
    std::string name;
    std::string side;
    std::string dtype;
    std::string size;
    function run;
    timing time;
  };

  static std::vector<entry>& all() {
    static std::vector<entry> entries;
    return entries;
  }
};

}  // namespace bench
