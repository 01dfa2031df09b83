// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The structures of DLPack 1.0, by which libraries hand arrays to each other in memory.
///
/// Source: the DLPack specification (dmlc.github.io/dlpack). They have the layout of those of its
/// header under the names there: `dlpack::managed_tensor_versioned` is DLManagedTensorVersioned.

#include <cstddef>
#include <cstdint>

namespace topos::dlpack {

/// The version of the structures; those of one major version have one layout.
struct version {
  std::uint32_t major;
  std::uint32_t minor;
};

/// The version that topos writes, and whose major version it reads.
inline constexpr version current{1, 0};

/// Where memory is, of what topos reads.
enum class device_type : std::int32_t {
  cpu = 1,
  cuda = 2,
  cuda_host = 3,      ///< Page-locked memory of the host.
  cuda_managed = 13,  ///< Memory that moves between host and GPUs.
};

struct device {
  device_type type;
  std::int32_t index;
};

/// What the bits of an element are.
enum class type_code : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6,
};

struct data_type {
  type_code code;
  std::uint8_t bits;
  std::uint16_t lanes;
  friend constexpr bool operator==(const data_type&, const data_type&) = default;
};

/// An array; strides are in elements, and null for a dense, row-major one.
struct tensor {
  void* data;
  dlpack::device device;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// An array and how to give it back, as it was before version 1.0.
struct managed_tensor {
  tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed_tensor* self);
};

/// An array, how to give it back, and what may be done with it.
struct managed_tensor_versioned {
  dlpack::version version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned* self);
  std::uint64_t flags;
  tensor dl_tensor;
};

/// Flags of a versioned tensor.
inline constexpr std::uint64_t read_only = 1;  ///< Nobody may write it.
inline constexpr std::uint64_t is_copied = 2;  ///< Made for the consumer: nobody else has it.

static_assert(sizeof(void*) != 8 || (sizeof(tensor) == 48 && sizeof(managed_tensor) == 64 &&
                                     sizeof(managed_tensor_versioned) == 80));

}  // namespace topos::dlpack
