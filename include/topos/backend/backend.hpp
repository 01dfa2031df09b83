// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The contract that each of Kokkos' backends fulfils, and the choice of one at run time.
///
/// A backend is a type with static members
///
///     kind                         its device_kind
///     name                         its name in a device string
///     count()                      how many devices it has here
///     describe(index)              their properties
///     allocate(index, bytes)       raw memory, aligned to `alignment`; throws out_of_memory
///     deallocate(index, p, bytes)  takes it back
///     finish(index)                blocks until all that was launched there is done
///     stream                       an in-order queue of work on one device, see host.hpp
///     execution_space              Kokkos' own, where the backend is compiled in
///     index_of(space)              the index of the device that an instance of it launches on
///
/// and a further one is one more file beside these and one more line in `visit`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <topos/backend/cuda.hpp>
#include <topos/backend/host.hpp>
#include <topos/backend/kind.hpp>
#include <type_traits>
#include <utility>

namespace topos::backend {

/// A backend that is compiled in.
template <class Backend>
concept compiled_in = requires {
  typename Backend::execution_space;
};

template <class Space, class Backend>
struct runs_on : std::false_type {};
template <class Space, compiled_in Backend>
struct runs_on<Space, Backend> : std::is_same<Space, typename Backend::execution_space> {};

/// An execution space that topos launches on.
template <class Space>
concept execution_space = runs_on<Space, host>::value || runs_on<Space, cuda>::value;

/// The backend of an execution space.
template <execution_space Space>
using backend_of = std::conditional_t<runs_on<Space, host>::value, host, cuda>;

/// Calls `function` with the backend type of `kind`; throws `not_supported` where it is not
/// compiled in.
template <class Function>
decltype(auto) visit(device_kind kind, Function&& function) {
  if (kind == device_kind::cuda) return std::forward<Function>(function)(cuda{});
  return std::forward<Function>(function)(host{});
}

}  // namespace topos::backend
