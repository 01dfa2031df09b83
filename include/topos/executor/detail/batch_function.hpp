// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The forms that a function on batches can have, and one call for all of them.

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <topos/executor/detail/flight.hpp>
#include <topos/executor/detail/signature.hpp>
#include <topos/executor/detail/tensor_batch.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/outcome.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

template <class T>
struct results_of {
  using type = void;
};
template <class Out>
struct results_of<std::vector<Out>> {
  using type = Out;
};
template <class Out>
struct results_of<std::vector<outcome<Out>>> {
  using type = Out;
};

// What follows the items (and the results): nothing, parameters, a stop token, or both.
template <class... Rest>
struct further_arguments {
  static constexpr bool matches = false;
};
template <>
struct further_arguments<> {
  static constexpr bool matches = true;
  using parameters = no_parameters;
};
template <>
struct further_arguments<std::stop_token> : further_arguments<> {};
template <>
struct further_arguments<const std::stop_token&> : further_arguments<> {};
template <class Parameters>
struct further_arguments<const Parameters&> {
  static constexpr bool matches = true;
  using parameters = Parameters;
};
template <class Parameters>
struct further_arguments<const Parameters&, std::stop_token>
    : further_arguments<const Parameters&> {};
template <class Parameters>
struct further_arguments<const Parameters&, const std::stop_token&>
    : further_arguments<const Parameters&> {};

template <class Result, class... Arguments>
struct batch_form {
  static constexpr bool matches = false;
};
template <class Result, class In, class... Rest>
  requires(!std::is_void_v<typename results_of<Result>::type> &&
           further_arguments<Rest...>::matches)
struct batch_form<Result, std::span<const In>, Rest...> {
  static constexpr bool matches = true;
  using in = In;
  using out = typename results_of<Result>::type;
  using parameters = typename further_arguments<Rest...>::parameters;
};
template <class In, class Out, class... Rest>
  requires(!std::is_const_v<Out> && further_arguments<Rest...>::matches)
struct batch_form<void, std::span<const In>, std::span<Out>, Rest...> {
  static constexpr bool matches = true;
  using in = In;
  using out = Out;
  using parameters = typename further_arguments<Rest...>::parameters;
};

// A function of the items' rows in one tensor, or a tuple of them, which returns those of the
// results.
template <class Rows>
inline constexpr bool has_rows = !std::is_void_v<typename row_item_of<Rows>::type>;

template <class Result, class Rows, class... Rest>
  requires(has_rows<Result>&& has_rows<Rows>&& further_arguments<Rest...>::matches)
struct batch_form<Result, Rows, Rest...> {
  static constexpr bool matches = true;
  using in = typename row_item_of<Rows>::type;
  using out = typename row_item_of<Result>::type;
  using parameters = typename further_arguments<Rest...>::parameters;
};
template <class Result, class Rows, class... Rest>
  requires(has_rows<Result>&& has_rows<Rows>&& further_arguments<Rest...>::matches)
struct batch_form<Result, const Rows&, Rest...> : batch_form<Result, Rows, Rest...> {};

/// The parts of a member function on batches.
template <class Function>
struct batch_signature {
  static constexpr bool matches = false;
};
template <class Function>
  requires requires { typename signature<Function>::of; }
struct batch_signature<Function> : signature<Function>::template as<batch_form> {
  using model = typename signature<Function>::of;
};

/// Where a call leaves the results of a batch; kept from call to call for its memory.
template <class Out>
struct batch_results {
  std::vector<Out> values;
  std::vector<outcome<Out>> outcomes;  // instead of the values, where each item has its own
  bool each = false;
  std::unique_ptr<detail::flight<Out>> flight;  // that will bring the values, if there is one

  [[nodiscard]] std::size_t size() const noexcept { return each ? outcomes.size() : values.size(); }
};

/// How a callable takes what follows its first arguments.
template <class F, class Parameters, class... First>
inline constexpr bool takes_stop = std::invocable<F&, First..., std::stop_token> ||
                                   std::invocable<F&, First..., const Parameters&, std::stop_token>;

template <class F, class Parameters, class... First>
inline constexpr bool takes_further =
    std::invocable<F&, First...> || std::invocable<F&, First..., const Parameters&> ||
    takes_stop<F, Parameters, First...>;

template <class F, class Parameters, class... First>
decltype(auto) call_with_further(F& f, const Parameters& parameters, const std::stop_token& stop,
                                 First... first) {
  if constexpr (std::invocable<F&, First..., const Parameters&, std::stop_token>)
    return f(first..., parameters, stop);
  else if constexpr (std::invocable<F&, First..., const Parameters&>)
    return f(first..., parameters);
  else if constexpr (std::invocable<F&, First..., std::stop_token>)
    return f(first..., stop);
  else
    return f(first...);
}

template <class F, class Parameters, class... First>
struct result_with_further {
  using type = void;
};
template <class F, class Parameters, class... First>
  requires takes_further<F, Parameters, First...>
struct result_with_further<F, Parameters, First...> {
  using type = decltype(call_with_further(std::declval<F&>(), std::declval<const Parameters&>(),
                                          std::stop_token(), std::declval<First>()...));
};

template <class F, class In, class Out, class Parameters>
inline constexpr bool returns_results =
    std::same_as<Out, typename results_of<std::remove_cvref_t<typename result_with_further<
                          F, Parameters, std::span<const In>>::type>>::type>;

template <class F, class In, class Out, class Parameters>
inline constexpr bool fills_results = std::default_initializable<Out>&&
    takes_further<F, Parameters, std::span<const In>, std::span<Out>>;

template <class F, class In, class Out, class Parameters>
inline constexpr bool computes_rows = false;
template <class F, class In, class Out, class Parameters>
  requires(!std::is_void_v<batch_tensor<In>> && !std::is_void_v<batch_tensor<Out>>)
inline constexpr bool computes_rows<F, In, Out, Parameters> =
    std::convertible_to<typename result_with_further<F, Parameters, const batch_tensor<In>&>::type,
                        batch_tensor<Out>>;

template <class F, class In, class Out, class Parameters>
[[nodiscard]] consteval bool rows_can_stop() {
  if constexpr (computes_rows<F, In, Out, Parameters>)
    return takes_stop<F, Parameters, const batch_tensor<In>&>;
  else
    return false;  // and a generic callable is not asked, as its body might not compile
}

/// Whether the callable is told when nobody wants its results any more.
template <class F, class In, class Out, class Parameters>
inline constexpr bool can_stop = takes_stop<F, Parameters, std::span<const In>> ||
                                 takes_stop<F, Parameters, std::span<const In>, std::span<Out>> ||
                                 rows_can_stop<F, In, Out, Parameters>();

/// Calls it in the form that it has. A function of tensors leaves a flight.
template <class In, class Out, class Parameters, class F>
void call_batch(F& f, std::span<const In> batch, const Parameters& parameters,
                const std::stop_token& stop, batch_results<Out>& to) {
  if constexpr (returns_results<F, In, Out, Parameters>) {
    auto made = call_with_further(f, parameters, stop, batch);
    to.each = std::is_same_v<decltype(made), std::vector<outcome<Out>>>;
    if constexpr (std::is_same_v<decltype(made), std::vector<outcome<Out>>>)
      to.outcomes = std::move(made);
    else
      to.values = std::move(made);
  } else if constexpr (computes_rows<F, In, Out, Parameters>) {
    to.each = false;
    to.flight = std::make_unique<rows_in_flight<Out>>(
        [&](const batch_tensor<In>& rows) -> batch_tensor<Out> {
          return call_with_further<F, Parameters, const batch_tensor<In>&>(f, parameters, stop,
                                                                           rows);
        },
        batch);
  } else {
    to.each = false;
    to.values.clear();  // each result begins afresh
    to.values.resize(batch.size());
    call_with_further(f, parameters, stop, batch, std::span<Out>(to.values));
  }
}

}  // namespace topos::detail
