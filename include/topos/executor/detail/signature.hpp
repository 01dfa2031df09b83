// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a function takes and returns.

#include <type_traits>

namespace topos::detail {

// A function's result and its parameters, for a template of both.
template <class R, class... A>
struct signature_parts {
  using result = R;
  template <template <class...> class Of>
  using as = Of<R, A...>;
};

/// The signature of a pointer to a function or to a member function, with its class; of other types
/// nothing.
template <class Function>
struct signature {};
template <class R, class... A>
struct signature<R (*)(A...)> : signature_parts<R, A...> {};
template <class R, class... A>
struct signature<R (*)(A...) noexcept> : signature_parts<R, A...> {};
template <class M, class R, class... A>
struct signature<R (M::*)(A...)> : signature_parts<R, A...> {
  using of = M;
};
template <class M, class R, class... A>
struct signature<R (M::*)(A...) const> : signature_parts<R, A...> {
  using of = M;
};
template <class M, class R, class... A>
struct signature<R (M::*)(A...) noexcept> : signature_parts<R, A...> {
  using of = M;
};
template <class M, class R, class... A>
struct signature<R (M::*)(A...) const noexcept> : signature_parts<R, A...> {
  using of = M;
};

template <class... Parts>
struct only_parameter_in {
  using type = void;
};
template <class R, class A>
struct only_parameter_in<R, A> {
  using type = std::remove_cvref_t<A>;
};

/// What a callable takes by value or reference, where its type says so without a call: void for a
/// generic lambda, overloads, and more or less than one parameter.
template <class F>
struct only_parameter {
  using type = void;
};
template <class F>
  requires requires { typename signature<F>::result; }
struct only_parameter<F> : signature<F>::template as<only_parameter_in> {};
template <class F>
  requires requires { typename signature<decltype(&F::operator())>::of; }
struct only_parameter<F> : signature<decltype(&F::operator())>::template as<only_parameter_in> {};

}  // namespace topos::detail
