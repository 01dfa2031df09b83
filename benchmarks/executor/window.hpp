// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A producer of single items that has at most so many on their way.

#include <cstddef>
#include <topos/executor/future.hpp>
#include <utility>
#include <vector>

namespace bench {

template <class Out>
class window {
 public:
  explicit window(std::size_t size) : futures_(size) {}

  /// Submits `count` items, `submit(i)` each, and takes all results.
  template <class Submit>
  void run(std::size_t count, Submit submit) {
    for (std::size_t i = 0; i < count; ++i) {
      topos::future<Out>& oldest = futures_[i % futures_.size()];
      if (oldest.valid()) oldest.get();
      oldest = submit(i);
    }
    for (std::size_t i = 0; i < futures_.size(); ++i) {
      topos::future<Out>& oldest = futures_[(count + i) % futures_.size()];
      if (oldest.valid()) oldest.get();
    }
  }

 private:
  std::vector<topos::future<Out>> futures_;
};

}  // namespace bench
