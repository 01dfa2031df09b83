// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One's own Kokkos code in a device's queue.

#include <concepts>
#include <cstddef>
#include <source_location>
#include <topos/async/queue.hpp>
#include <topos/tensor/tensor.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace topos {

namespace detail {

/// A tensor's elements as a kernel's View is made of them; `T` is const where it only reads.
template <class T, std::size_t Rank>
struct view_parts {
  T* data;
  topos::shape<Rank> extents;
};

template <class T, std::size_t Rank>
struct pointers {
  using type = typename pointers<T, Rank - 1>::type*;
};
template <class T>
struct pointers<T, 0> {
  using type = T;
};

template <class Space, class T, std::size_t Rank>
using kernel_view =
    Kokkos::View<typename pointers<T, Rank>::type, Kokkos::LayoutRight,
                 typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Space, class T, std::size_t Rank>
[[nodiscard]] kernel_view<Space, T, Rank> view_of(const view_parts<T, Rank>& parts) {
  Kokkos::LayoutRight layout;
  std::size_t axis = 0;
  for (const index_t extent : parts.extents) {
    layout.dimension[axis++] = static_cast<std::size_t>(extent);
  }
  return kernel_view<Space, T, Rank>(parts.data, layout);
}

/// A functor of some tensors as work of a queue.
template <class Function, class... Parts>
struct user_work;

template <class Function, class... T, std::size_t... Rank>
struct user_work<Function, view_parts<T, Rank>...> {
  Function function;
  std::tuple<view_parts<T, Rank>...> parts;

  template <class Backend>
  static constexpr bool takes() {
    if constexpr (backend::compiled_in<Backend>) {
      using space = typename Backend::execution_space;
      return std::invocable<const Function&, const space&, kernel_view<space, T, Rank>...>;
    } else {
      return false;
    }
  }

  template <class Stream>
  void operator()(const Stream& stream) const {
    using own = typename Stream::backend;
    if constexpr (takes<own>()) {  // else refused at the call
      using space = typename own::execution_space;
      std::apply([&](const auto&... p) { function(stream.space(), view_of<space>(p)...); }, parts);
    }
  }
};

/// The tensors that a functor reads, or those that it writes.
template <class... Tensors>
struct read_list {
  std::tuple<Tensors...> tensors;
};
template <class... Tensors>
struct write_list {
  std::tuple<Tensors&...> tensors;
};

template <class... Tensors>
void require_device(const std::tuple<Tensors...>& tensors, const char* list, device d,
                    std::source_location where) {
  int position = 0;
  const auto check = [&](const auto& x) {
    ++position;
    if (x.device() == d) return;
    throw device_mismatch(
        concat("enqueue: tensor ", position, ' ', to_string(x.shape()), " of ", list, " is on ",
               x.device(), ", the work on ", d, "; move it there with device_put first"),
        where);
  };
  std::apply([&](const auto&... x) { (void)(check(x), ...); }, tensors);
}

}  // namespace detail

/// The tensors whose elements a functor given to `enqueue` reads. Keeps them alive.
template <element... T, std::size_t... Rank>
[[nodiscard]] detail::read_list<tensor<T, Rank>...> reads(const tensor<T, Rank>&... x) {
  return {{x...}};
}

/// The tensors whose elements a functor given to `enqueue` writes, wholly or in part.
template <element... T, std::size_t... Rank>
[[nodiscard]] detail::write_list<tensor<T, Rank>...> writes(tensor<T, Rank>&... y) {
  return {{y...}};
}

/// Calls `function(space, view...)` in the order of a device's queue, with the queue's
/// execution-space instance and an unmanaged row-major View for each tensor, of const elements for
/// those that it reads, and returns at once. What it launches has to name that instance; it may
/// launch any pattern, and call libraries.
///
/// On the CPU it is called on the queue's thread (inside of an in_place_scope on this one, with an
/// instance of one thread; in a queue of `queue::adopt` on this one); on a GPU on this thread, and
/// what it launches runs later. What it throws poisons the tensors that it writes; if one of its
/// tensors has failed, it is not called, and all that it writes fail likewise. An exception may not
/// leave a kernel that it launches.
///
/// A tensor that shares its memory with another, or with what is read, gets memory of its own
/// first, with its content: what is written is seen through it alone.
///
/// A functor that cannot be called with a GPU's instance compiles, and is for the CPU alone.
/// Throws `device_mismatch` if a tensor is not on the device, and `not_supported` if the functor
/// is not for it.
template <class... X, class... Y, class Function>
void enqueue(device d, detail::read_list<X...> read, detail::write_list<Y...> written,
             Function function, std::source_location where = std::source_location::current()) {
  using work =
      detail::user_work<Function, detail::view_parts<const typename X::value_type, X::rank>...,
                        detail::view_parts<typename Y::value_type, Y::rank>...>;
  static_assert(
      work::template takes<backend::host>() || work::template takes<backend::cuda>(),
      "enqueue: the functor has to take an execution-space instance, then a View of const "
      "elements for each tensor that it reads, then a View for each that it writes");
  if (!backend::visit(d.kind(), [](auto b) { return work::template takes<decltype(b)>(); })) {
    throw not_supported(
        detail::concat("enqueue: the functor cannot be called with what runs on ", d), where);
  }
  detail::require_device(read.tensors, "reads", d, where);
  detail::require_device(written.tensors, "writes", d, where);
  std::apply([&](auto&... y) { (y.make_unique(where), ...); }, written.tensors);
  // What it writes it may read as well: a failure of that is one of its inputs too.
  std::vector<buffer> inputs;
  std::vector<buffer> outputs;
  std::apply([&](const auto&... x) { (inputs.push_back(x.memory()), ...); }, read.tensors);
  std::apply([&](const auto&... y) { (inputs.push_back(y.memory()), ...); }, written.tensors);
  std::apply([&](const auto&... y) { (outputs.push_back(y.memory()), ...); }, written.tensors);
  auto parts = std::tuple_cat(
      std::apply(
          [](const auto&... x) {
            return std::tuple(
                detail::view_parts<const typename X::value_type, X::rank>{x.data(), x.shape()}...);
          },
          read.tensors),
      std::apply(
          [](const auto&... y) {
            return std::tuple(
                detail::view_parts<typename Y::value_type, Y::rank>{y.data(), y.shape()}...);
          },
          written.tensors));
  detail::queue_of(d, where).submit(std::move(inputs), std::move(outputs), detail::always_queued,
                                    work{std::move(function), std::move(parts)}, "topos::enqueue",
                                    where);
}

}  // namespace topos
