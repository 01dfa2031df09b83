// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kinds of device, and what a backend tells of one.

#include <cstddef>
#include <cstdint>
#include <string>

namespace topos {

/// The kinds of device that topos knows, whether or not they are compiled in.
enum class device_kind : std::uint8_t { cpu, cuda };

/// What is known of a device.
struct device_properties {
  std::string name;                ///< The vendor's name of it.
  std::size_t memory = 0;          ///< Bytes of memory in all.
  int cores = 0;                   ///< Threads on the CPU, multiprocessors on a GPU.
  std::string compute_capability;  ///< "9.0" on CUDA, empty on the CPU.
};

namespace backend {

/// Every allocation of every backend starts at a multiple of this many bytes.
inline constexpr std::size_t alignment = 256;

/// The most threads of a device's team, and how many of them are a warp.
inline constexpr int most_threads = 256;
inline constexpr int warp_size = 32;
inline constexpr int most_warps = most_threads / warp_size;

/// What those before one have, combined, and what all have.
template <class T>
struct scanned {
  T before;
  T all;
};

/// The most bytes of a kernel's members on a device: of 32,764 bytes of arguments, which CUDA 12.1
/// and later take, what a launch adds needs some.
inline constexpr std::size_t most_kernel_bytes = 32'600;

}  // namespace backend
}  // namespace topos
