// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Loading a module's parameters by name.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <topos/core/dtype.hpp>
#include <topos/core/printable.hpp>
#include <topos/nn/parameter.hpp>
#include <topos/tensor/creation.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::nn {

namespace detail {

/// A visitor that does nothing: what the module concept is checked with.
struct any_visitor {
  template <class Part>
  void operator()(const char*, Part&) const {}
};

}  // namespace detail

/// Something with parameters: `parameters(visit)` calls visit(name, part) for each parameter and
/// each module within, in any order. A module that has `loaded()` is told when all are there,
/// inner modules first.
template <class M>
concept module = requires(M& m, const detail::any_visitor& visit) {
  m.parameters(visit);
};

/// A file of named tensors, `safetensors` for one: `names()` is a range of strings, `at(name)`
/// has `dtype`, `shape` and `bytes`.
template <class S>
concept tensor_source = requires(const S& source, const std::string& name) {
  source.names();
  { source.contains(name) } -> std::convertible_to<bool>;
  { source.at(name).dtype } -> std::convertible_to<dtype>;
  {std::span<const index_t>(source.at(name).shape)};
  { source.at(name).bytes } -> std::convertible_to<std::span<const std::byte>>;
};

namespace detail {

/// Calls use(full name, parameter) for every parameter of a module and of those within.
template <class M, class Use>
void for_each_parameter(M& m, const std::string& prefix, const Use& use) {
  m.parameters([&](const char* name, auto& part) {
    if constexpr (module<std::decay_t<decltype(part)>>) {
      for_each_parameter(part, prefix + name + ".", use);
    } else {
      use(prefix + name, part);
    }
  });
}

/// Tells a source that can give memory back that a tensor is not needed any more.
template <class Source>
void release(const Source& source, const std::string& name) {
  if constexpr (requires { source.release(name); }) source.release(name);
}

template <class M>
void tell_loaded(M& m) {
  m.parameters([](const char*, auto& part) {
    if constexpr (module<std::decay_t<decltype(part)>>) tell_loaded(part);
  });
  if constexpr (requires { m.loaded(); }) m.loaded();
}

}  // namespace detail

/// Copies every parameter of a module from a file to the module's device, by name. `ignored` are
/// names that the file may hold and the module does not have. Blocks until the file is read.
///
/// Throws `invalid_argument`, and changes nothing, if any parameter is missing from the file, has
/// another shape or dtype there, or the file holds a name that is neither: the message lists all.
template <module M, tensor_source Source>
void load(M& m, const Source& source, const std::vector<std::string>& ignored = {},
          std::source_location where = std::source_location::current()) {
  std::string missing;
  std::string wrong;
  std::string unexpected;
  std::set<std::string> known(ignored.begin(), ignored.end());
  detail::for_each_parameter(m, "", [&](const std::string& name, const auto& p) {
    known.insert(name);
    if (!source.contains(name)) {
      missing += (missing.empty() ? "; missing: " : ", ") + name;
      return;
    }
    const auto& found = source.at(name);
    const std::span<const index_t> have(found.shape);
    const std::span<const index_t> want(p.shape());
    const std::size_t bytes = static_cast<std::size_t>(size_of_shape(p.shape())) * sizeof(float);
    if (!std::ranges::equal(have, want) || found.dtype != dtype::float32) {
      wrong += topos::detail::concat(wrong.empty() ? "; wrong: " : ", ", name, " is ",
                                     to_string(found.dtype), " ", to_string(have),
                                     ", expected float32 ", to_string(want));
    } else if (found.bytes.size() != bytes) {
      wrong += topos::detail::concat(wrong.empty() ? "; wrong: " : ", ", name, " has ",
                                     found.bytes.size(), " bytes, expected ", bytes);
    }
  });
  for (const auto& name : source.names()) {
    if (known.contains(std::string(name))) continue;
    unexpected += unexpected.empty() ? "; unexpected: " : ", ";
    unexpected += topos::detail::printable(name);
  }
  if (!(missing + wrong + unexpected).empty()) {
    throw invalid_argument("load: the file does not fit the module" + missing + wrong + unexpected,
                           where);
  }
  detail::for_each_parameter(m, "", [&](const std::string& name, auto& p) {
    const std::span<const std::byte> bytes = source.at(name).bytes;
    auto value = empty<float>(p.shape(), p.device(), where);
    topos::detail::copy_from_host(value.memory(), bytes.data(), bytes.size(), where);
    p.set(std::move(value));
    detail::release(source, name);
  });
  detail::tell_loaded(m);
}

}  // namespace topos::nn
