// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A function of tensors as a function on batches: items are gathered into one tensor on the
/// replica's device, and the rows of its result are the results, once they are computed.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
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
template <class Item>
using batch_tensor = typename batch_tensor_of<Item>::type;

/// Items of one shape, wherever they are, as the rows of one tensor on a device. Those for a GPU
/// are gathered in pinned memory, from where they are copied beside what it computes.
template <class T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank + 1> gather_items(std::span<const tensor<T, Rank>* const> items,
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
  const buffer rows = pinned   ? pinned_memory::all().allocate(bytes)
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
    copy_from_host(gathered.memory(), 0, rows.data(), bytes, where);
  }
  return gathered;
}

/// The rows of tensors that a device computes, as results on the CPU: a batch's, in order. Those of
/// one tensor share its memory.
template <class Out>
class rows_in_flight final : public flight<Out> {
 public:
  /// Calls `f(gathered)` for the items of each shape by themselves, and does not wait for what it
  /// computes. Throws `shape_mismatch` where that does not have a row for each. An item whose own
  /// computation has failed fails by itself.
  template <class T, std::size_t Rank, class F>
  rows_in_flight(F f, std::span<const tensor<T, Rank>> batch) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      try {
        batch[i].block_until_ready();
        left.push_back(i);
      } catch (...) {
        failures_.push_back(std::current_exception());
      }
    }
    while (!left.empty()) {
      const auto others = std::stable_partition(
          left.begin(), left.end(), [&, form = batch[left.front()].shape()](std::size_t i) {
            return batch[i].shape() == form;
          });
      std::vector<std::size_t> alike(left.begin(), others);
      left.erase(left.begin(), others);
      std::vector<const tensor<T, Rank>*> items;
      for (const std::size_t i : alike) items.push_back(&batch[i]);
      const batch_tensor<Out> computed(f(gather_items<T, Rank>(items, default_device::current())));
      if (computed.shape()[0] != static_cast<index_t>(alike.size())) {
        throw misshapen(concat("a batch of ", alike.size(), " items came back as a tensor of ",
                               to_string(computed.shape()), "; it must have a row for each"));
      }
      parts_.push_back({std::move(alike), computed.cpu()});
    }
  }

  void tell(const std::function<void()>& told) override {
    for (const part& p : parts_)
      when_ready(p.rows.memory(), [told](const std::exception_ptr&) { told(); });
  }

  [[nodiscard]] bool has_landed() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const part& p) { return p.rows.is_ready(); });
  }

  bool land(std::vector<Out>& results, std::vector<outcome<Out>>& each) override {
    std::vector<std::optional<Out>> rows(failures_.size());
    for (const part& p : parts_) {
      p.rows.block_until_ready();
      rows.resize(rows.size() + p.items.size());
    }
    for (const part& p : parts_) {
      for (std::size_t i = 0; i < p.items.size(); ++i)
        rows[p.items[i]].emplace(p.rows.row(static_cast<index_t>(i)));
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
