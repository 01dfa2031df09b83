// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A name for a model's member function on batches.

#include <concepts>
#include <cstddef>
#include <string_view>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/fixed_string.hpp>
#include <topos/executor/future.hpp>
#include <type_traits>

namespace topos {

/// What can be an item of a batch, or its result: an object that can be moved. Not `bool`, whose
/// vector has no elements that a span could show.
template <class T>
concept batch_item =
    future_value<T> && std::same_as<T, std::remove_cv_t<T>> && !std::same_as<T, bool>;

namespace detail {

// What all endpoints have in common, to tell them from other types.
struct endpoint_base {};

// In the place of a function's that is none on batches, so that nothing is said but that.
struct no_signature {
  struct model {};
  using in = int;
  using out = int;
  using parameters = no_parameters;
};

}  // namespace detail

/// A pointer to a member function of a model on batches, const or not, in one of these forms; the
/// results are one for each item, in order:
///
///     std::vector<Out> f(std::span<const In> batch);
///     std::vector<outcome<Out>> f(std::span<const In> batch);  // each can fail by itself
///     void f(std::span<const In> batch, std::span<Out> results);
///     tensor<U, S + 1> f(const tensor<T, R + 1>& rows);
///
/// each of which may take further `const Parameters&`, which are equal for all items of the batch,
/// and last a `std::stop_token`, or a `const std::stop_token&`, which is asked to stop when nobody
/// wants its results any more.
///
/// The last form is for items `tensor<T, R>` with results `tensor<U, S>`: the items, wherever they
/// are, are gathered into one tensor on the replica's device, those of each shape by themselves,
/// and the rows of the result come back on the CPU. Rows of one call share their memory. Items of
/// several tensors are tuples, as are the batch and, where there are several, the results:
/// `tensor<float, 1> f(const std::tuple<tensor<int, 2>, tensor<float, 2>>& batch)`. The function
/// need not wait for what it computes: while the device is at one batch, a second one, if
/// it is full or its delay is over, is gathered, copied there and queued.
template <class Function>
concept batch_function = detail::batch_signature<Function>::matches;

/// What a deployment offers under a name: `endpoint<"/encode", &SentenceEncoder::encode>`. The
/// types of its items, results and parameters are those of the function. `Cost`, a function of an
/// item, says what it counts for in a batch: 1 where there is none.
template <fixed_string Name, auto Function, auto Cost = nullptr>
struct endpoint : detail::endpoint_base {
  static_assert(
      batch_function<decltype(Function)>,
      "topos::endpoint: a model's member function takes a std::span<const In> and returns "
      "a std::vector<Out>, or takes a std::span<Out> as well and returns nothing; or it "
      "takes and returns tensors, of one axis more than an item; what follows is parameters as "
      "a const P&, a std::stop_token, or both in this order: see batch_function");

 private:
  using signature =
      std::conditional_t<batch_function<decltype(Function)>,
                         detail::batch_signature<decltype(Function)>, detail::no_signature>;

 public:
  using model = typename signature::model;
  using in = typename signature::in;
  using out = typename signature::out;
  using parameters = typename signature::parameters;
  static_assert(
      batch_item<in> && batch_item<out>,
      "topos::endpoint: items and results must be objects that can be moved, and not bool");
  static_assert(std::is_null_pointer_v<decltype(Cost)> ||
                    std::is_invocable_r_v<std::size_t, decltype(Cost), const in&>,
                "topos::endpoint: a cost is a function of an item that returns a std::size_t");

  static_assert(std::equality_comparable<parameters>,
                "topos::endpoint: parameters must have an operator==: only items with equal ones "
                "share a batch");

  [[nodiscard]] static constexpr std::string_view name() noexcept { return Name.view(); }
  static constexpr auto function = Function;
  static constexpr auto cost = Cost;
};

namespace detail {

/// Where among the endpoints a name stands; their count if it does not.
template <class... Endpoints>
[[nodiscard]] constexpr std::size_t find_endpoint(std::string_view name) {
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
