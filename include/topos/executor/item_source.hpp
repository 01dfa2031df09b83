// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the items of a stream of requests come from.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <topos/executor/endpoint.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos {

/// A range whose elements lie in memory and are items already, so that none has to be copied.
template <class R, class In>
concept contiguous_item_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::same_as<std::ranges::range_value_t<R>, In>;

/// A range whose elements are items, or become items as they would in a call.
template <class R, class In>
concept item_range = std::ranges::input_range<R> && std::ranges::viewable_range<R> &&
    (contiguous_item_range<R, In> || std::convertible_to<std::ranges::range_reference_t<R>, In>);

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class F, class In>
concept returns_optional_item = is_optional<std::invoke_result_t<F>> &&
    std::convertible_to<typename std::invoke_result_t<F>::value_type, In>;

}  // namespace detail

/// A callable that returns the next item as `std::optional`, and nothing at the end.
template <class F, class In>
concept item_generator = std::invocable < std::decay_t<F>
& > &&detail::returns_optional_item<std::decay_t<F>&, In>;

/// What requests can be made from.
template <class S, class In>
concept item_source = item_range<S, In> || item_generator<S, In>;

namespace detail {

/// An item source without its type.
template <class In>
class items {
 public:
  items() = default;
  items(const items&) = delete;
  items& operator=(const items&) = delete;
  virtual ~items() = default;

  /// The next items, at most `count`, and none only at the end: in the (empty) storage, or where
  /// the source keeps them. If the source throws, the storage holds those that came before.
  [[nodiscard]] virtual std::span<const In> next(std::size_t count, std::vector<In>& storage) = 0;

  /// How many items there are in all, where that is known.
  [[nodiscard]] virtual std::optional<std::size_t> size() { return std::nullopt; }

 protected:
  // A huge count is a way to say "all of them".
  static void reserve(std::vector<In>& storage, std::size_t count) {
    storage.reserve(std::min<std::size_t>(count, 256));
  }
};

/// Items that lie in memory already and are not copied.
template <class In, class View>
class contiguous_items final : public items<In> {
 public:
  explicit contiguous_items(View view) : view_(std::move(view)) {}

  [[nodiscard]] std::span<const In> next(std::size_t count, std::vector<In>&) override {
    const std::span<const In> all(std::ranges::data(view_), std::ranges::size(view_));
    const auto rest = all.subspan(std::min(taken_, all.size()));
    const auto now = rest.first(std::min(count, rest.size()));
    taken_ += now.size();
    return now;
  }

  [[nodiscard]] std::optional<std::size_t> size() override { return std::ranges::size(view_); }

 private:
  View view_;
  std::size_t taken_ = 0;
};

/// Items of any range.
template <class In, class View>
class range_items final : public items<In> {
 public:
  explicit range_items(View view) : view_(std::move(view)) {}

  [[nodiscard]] std::span<const In> next(std::size_t count, std::vector<In>& storage) override {
    this->reserve(storage, count);
    if (!at_) at_.emplace(std::ranges::begin(view_));
    while (storage.size() < count) {
      // Late, so that a range that is still being typed is not asked for more than is needed.
      if (std::exchange(taken_, false)) ++*at_;
      if (*at_ == std::ranges::end(view_)) break;
      storage.emplace_back(**at_);
      taken_ = true;
    }
    return storage;
  }

  [[nodiscard]] std::optional<std::size_t> size() override {
    if constexpr (std::ranges::sized_range<View>) {
      return static_cast<std::size_t>(std::ranges::size(view_));
    }
    return std::nullopt;
  }

 private:
  View view_;
  std::optional<std::ranges::iterator_t<View>> at_;
  bool taken_ = false;  // the item at at_
};

/// Items that a callable makes.
template <class In, class F>
class generated_items final : public items<In> {
 public:
  explicit generated_items(F f) : f_(std::move(f)) {}

  [[nodiscard]] std::span<const In> next(std::size_t count, std::vector<In>& storage) override {
    this->reserve(storage, count);
    while (!ended_ && storage.size() < count) {
      auto item = std::invoke(f_);
      if (item) {
        storage.emplace_back(*std::move(item));
      } else {
        ended_ = true;
      }
    }
    return storage;
  }

 private:
  F f_;
  bool ended_ = false;
};

/// A range that is an lvalue is referred to, anything else is taken over.
template <batch_item In, class S>
[[nodiscard]] std::unique_ptr<items<In>> make_items(S&& source) {
  static_assert(item_source<S, In>,
                "topos: map, post and requests take a range of items, or of what becomes one, or a "
                "callable that returns the next as a std::optional");
  if constexpr (item_range<S, In>) {
    using view = std::views::all_t<S>;
    if constexpr (contiguous_item_range<view, In>) {
      return std::make_unique<contiguous_items<In, view>>(std::views::all(std::forward<S>(source)));
    } else {
      return std::make_unique<range_items<In, view>>(std::views::all(std::forward<S>(source)));
    }
  } else if constexpr (item_generator<S, In>) {
    return std::make_unique<generated_items<In, std::decay_t<S>>>(std::forward<S>(source));
  } else {
    return nullptr;
  }
}

}  // namespace detail
}  // namespace topos
