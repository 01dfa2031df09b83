// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A name for a model's member function on batches.

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <topos/executor/fixed_string.hpp>
#include <topos/executor/future.hpp>
#include <type_traits>
#include <vector>

namespace topos {

/// What can be an item of a batch, or its result: an object that can be moved. Not `bool`, whose
/// vector has no elements that a span could show.
template <class T>
concept batch_item =
    future_value<T> && std::same_as<T, std::remove_cv_t<T>> && !std::same_as<T, bool>;

namespace detail {

/// The parts of a member function `std::vector<Out> Model::f(std::span<const In>)`.
template <class Function>
struct batch_signature {
  static constexpr bool matches = false;
};

template <class Model, class Input, class Output>
struct matching_batch_signature {
  static constexpr bool matches = true;
  using model = Model;
  using in = Input;
  using out = Output;
};

template <class M, class In, class Out>
struct batch_signature<std::vector<Out> (M::*)(std::span<const In>)>
    : matching_batch_signature<M, In, Out> {};
template <class M, class In, class Out>
struct batch_signature<std::vector<Out> (M::*)(std::span<const In>) const>
    : matching_batch_signature<M, In, Out> {};
template <class M, class In, class Out>
struct batch_signature<std::vector<Out> (M::*)(std::span<const In>) noexcept>
    : matching_batch_signature<M, In, Out> {};
template <class M, class In, class Out>
struct batch_signature<std::vector<Out> (M::*)(std::span<const In>) const noexcept>
    : matching_batch_signature<M, In, Out> {};

// What all endpoints have in common, to tell them from other types.
struct endpoint_base {};

}  // namespace detail

/// A pointer to a member function `std::vector<Out> f(std::span<const In> batch)`, const or not,
/// that returns one result for each item, in order.
template <class Function>
concept batch_function = detail::batch_signature<Function>::matches;

/// What a deployment offers under a name: `endpoint<"/encode", &SentenceEncoder::encode>`. The
/// types of its items and results are those of the function.
template <fixed_string Name, auto Function>
  requires batch_function<decltype(Function)>
struct endpoint : detail::endpoint_base {
  using model = typename detail::batch_signature<decltype(Function)>::model;
  using in = typename detail::batch_signature<decltype(Function)>::in;
  using out = typename detail::batch_signature<decltype(Function)>::out;
  static_assert(
      batch_item<in> && batch_item<out>,
      "topos::endpoint: items and results must be objects that can be moved, and not bool");

  [[nodiscard]] static constexpr std::string_view name() noexcept { return Name.view(); }
  static constexpr auto function = Function;
};

namespace detail {

/// Where among the endpoints a name stands; their count if it does not.
template <class... Endpoints>
[[nodiscard]] consteval std::size_t find_endpoint(std::string_view name) {
  std::size_t i = 0;
  // The assignment ends the fold at the first that matches.
  static_cast<void>(((Endpoints::name() == name || (++i, false)) || ...));
  return i;
}

template <class... Endpoints>
[[nodiscard]] consteval bool names_are_unique() {
  std::size_t i = 0;
  return ((find_endpoint<Endpoints...>(Endpoints::name()) == i++) && ...);
}

}  // namespace detail

/// An `endpoint<...>` of a function that this model has.
template <class T, class Model>
concept endpoint_of =
    std::derived_from<T, detail::endpoint_base> && std::derived_from<Model, typename T::model>;

}  // namespace topos
