// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A function of tensors as a function on batches: items, tensors or tuples of them, are gathered
/// into one tensor, or one of each part, on the replica's device, and the rows of its result are
/// the results, once they are computed.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <topos/async/event.hpp>
#include <topos/core/error.hpp>
#include <topos/device/default_device.hpp>
#include <topos/device/device.hpp>
#include <topos/executor/detail/failure_kind.hpp>
#include <topos/executor/detail/flight.hpp>
#include <topos/executor/outcome.hpp>
#include <topos/tensor/detail/pinned_memory.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace topos::detail {

template <class T>
inline constexpr bool is_tensor = false;
template <class T, std::size_t Rank>
inline constexpr bool is_tensor<tensor<T, Rank>> = true;

/// The tensor of many such items, or void for other items.
template <class Item>
struct batch_tensor_of {
  using type = void;
};
template <class T, std::size_t Rank>
struct batch_tensor_of<tensor<T, Rank>> {
  using type = tensor<T, Rank + 1>;
};
template <class... T, std::size_t... Rank>
  requires(sizeof...(T) > 0)
struct batch_tensor_of<std::tuple<tensor<T, Rank>...>> {
  using type = std::tuple<tensor<T, Rank + 1>...>;
};
template <class Item>
using batch_tensor = typename batch_tensor_of<Item>::type;

/// The items that are the rows of tensors, or void for other types.
template <class Rows>
struct row_item_of {
  using type = void;
};
template <class T, std::size_t Rank>
  requires(Rank > 0)
struct row_item_of<tensor<T, Rank>> {
  using type = tensor<T, Rank - 1>;
};
template <class... T, std::size_t... Rank>
  requires(sizeof...(T) > 0 && ((Rank > 0) && ...))
struct row_item_of<std::tuple<tensor<T, Rank>...>> {
  using type = std::tuple<tensor<T, Rank - 1>...>;
};

// The tensors of an item, or of a batch: one, or those of a tuple.
template <class T, std::size_t Rank>
[[nodiscard]] auto parts_of(const tensor<T, Rank>& one) {
  return std::tie(one);
}
template <class... T>
[[nodiscard]] const std::tuple<T...>& parts_of(const std::tuple<T...>& all) {
  return all;
}
template <class Item, class Function>
decltype(auto) with_parts(const Item& item, Function function) {
  return std::apply(function, parts_of(item));
}
/// The shapes of an item's parts.
template <class Item>
[[nodiscard]] auto form_of(const Item& item) {
  return with_parts(item, [](const auto&... part) { return std::tuple(part.shape()...); });
}

/// Items of one shape, wherever they are, as the rows of one tensor on a device. Those for a GPU
/// are gathered in pinned memory, from where they are copied beside what it computes.
template <class T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank + 1> gather_batch(const std::vector<const tensor<T, Rank>*>& items,
                                               device d) {
  constexpr auto where = std::source_location::current();
  shape<Rank + 1> extents;
  extents[0] = static_cast<index_t>(items.size());
  std::copy_n(items.front()->shape().begin(), Rank, extents.begin() + 1);
  const std::size_t row = static_cast<std::size_t>(items.front()->size()) * sizeof(T);
  tensor<T, Rank + 1> gathered(extents, d);
  const bool to_gpu = d.kind() != device_kind::cpu;
  const std::size_t bytes = row * items.size();
  const bool pinned = to_gpu && bytes != 0 && bytes <= pinned_memory::largest;
  const buffer rows = pinned   ? pinned_memory::all().allocate(d, bytes)
                      : to_gpu ? buffer(cpu(), bytes, where)
                               : gathered.memory();
  auto* to = static_cast<std::byte*>(rows.data());
  for (const tensor<T, Rank>* item : items) {
    const tensor<T, Rank> here = item->cpu();
    if (row != 0) std::memcpy(to, here.host().data(), row);
    to += row;
  }
  if (pinned) {
    transfer_guard::pass(cpu(), d, bytes, where);
    copy_on(d, gathered.memory(), 0, rows, 0, bytes, where);
  } else if (to_gpu) {
    copy_from_host(gathered.memory(), rows.data(), bytes, where);
  }
  return gathered;
}

/// Of tuples each part by itself.
template <class... T, std::size_t... Rank>
[[nodiscard]] auto gather_batch(const std::vector<const std::tuple<tensor<T, Rank>...>*>& items,
                                device d) {
  const auto gathered = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using part = std::tuple_element_t<I, std::tuple<tensor<T, Rank>...>>;
    std::vector<const part*> parts;
    for (const auto* item : items) parts.push_back(&std::get<I>(*item));
    return gather_batch(parts, d);
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple(gathered(std::integral_constant<std::size_t, I>())...);
  }
  (std::index_sequence_for<T...>());
}

// A batch's tensors on the CPU, and what is in row i of each.
template <class T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> on_cpu(const tensor<T, Rank>& rows) {
  return rows.cpu();
}
template <class... T>
[[nodiscard]] std::tuple<T...> on_cpu(const std::tuple<T...>& rows) {
  return with_parts(rows, [](const auto&... part) { return std::tuple<T...>(part.cpu()...); });
}
template <class Out, class T, std::size_t Rank>
[[nodiscard]] Out row_as(const tensor<T, Rank>& rows, index_t i) {
  return rows.row(i);
}
template <class Out, class... T>
[[nodiscard]] Out row_as(const std::tuple<T...>& rows, index_t i) {
  return with_parts(rows, [&](const auto&... part) { return Out(part.row(i)...); });
}

/// The rows of tensors that a device computes, as results on the CPU: a batch's, in order. Those of
/// one tensor share its memory.
template <class Out>
class rows_in_flight final : public flight<Out> {
 public:
  /// Calls `f(gathered)` for the items of each shape by themselves, and does not wait for what it
  /// computes. Throws `shape_mismatch` where that does not have a row for each: of several shapes
  /// as what may be one's fault alone. An item whose own computation has failed fails by itself.
  template <class In, class F>
  rows_in_flight(F f, std::span<const In> batch) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      try {
        with_parts(batch[i], [](const auto&... part) { (part.block_until_ready(), ...); });
        left.push_back(i);
      } catch (...) {
        failures_.push_back(std::current_exception());
      }
    }
    while (!left.empty()) {
      const auto others = std::stable_partition(
          left.begin(), left.end(), [&, form = form_of(batch[left.front()])](std::size_t i) {
            return form_of(batch[i]) == form;
          });
      std::vector<std::size_t> alike(left.begin(), others);
      left.erase(left.begin(), others);
      std::vector<const In*> items;
      for (const std::size_t i : alike) items.push_back(&batch[i]);
      const batch_tensor<Out> computed(f(gather_batch(items, default_device::current())));
      const auto check = [&](const auto& part) {
        if (part.shape()[0] == static_cast<index_t>(alike.size())) return;
        const std::string why =
            concat("a batch of ", alike.size(), " items came back as a tensor of ",
                   to_string(part.shape()), "; it must have a row for each");
        if (alike.size() == batch.size()) throw misshapen(why);
        throw shape_mismatch(why);
      };
      with_parts(computed, [&](const auto&... part) { (check(part), ...); });
      parts_.push_back({std::move(alike), on_cpu(computed)});
    }
  }

  void tell(const std::function<void()>& told) override {
    const auto tell_of = [&](const auto& rows) {
      when_ready(rows.memory(), [told](const std::exception_ptr&) { told(); });
    };
    for (const part& p : parts_)
      with_parts(p.rows, [&](const auto&... rows) { (tell_of(rows), ...); });
  }

  [[nodiscard]] bool has_landed() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const part& p) {
      return with_parts(p.rows, [](const auto&... rows) { return (rows.is_ready() && ...); });
    });
  }

  bool land(std::vector<Out>& results, std::vector<outcome<Out>>& each) override {
    std::vector<std::optional<Out>> rows(failures_.size());
    for (const part& p : parts_) {
      with_parts(p.rows, [](const auto&... of) { (of.block_until_ready(), ...); });
      rows.resize(rows.size() + p.items.size());
    }
    for (const part& p : parts_) {
      for (std::size_t i = 0; i < p.items.size(); ++i)
        rows[p.items[i]].emplace(row_as<Out>(p.rows, static_cast<index_t>(i)));
    }
    results.clear();
    each.clear();
    if (failures_.empty()) {
      for (std::optional<Out>& row : rows) results.push_back(*std::move(row));
      return false;
    }
    auto failed = failures_.begin();
    for (std::optional<Out>& row : rows) {
      if (row)
        each.push_back(*std::move(row));
      else
        each.push_back(std::move(*failed++));
    }
    return true;
  }

 private:
  struct part {
    std::vector<std::size_t> items;  // whose rows these are
    batch_tensor<Out> rows;
  };

  std::vector<part> parts_;
  std::vector<std::exception_ptr> failures_;  // of the items without, in order
};

}  // namespace topos::detail
