// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A function of tensors as a function on batches: items are gathered into one tensor on the
/// replica's device, and the rows of its result are the results.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <source_location>
#include <span>
#include <topos/core/error.hpp>
#include <topos/device/default_device.hpp>
#include <topos/device/device.hpp>
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

/// Results of `f(gathered)` for a batch, in order, on the CPU; items of each shape are gathered by
/// themselves. Blocks until they are computed. The results of one call share its memory.
template <class T, std::size_t Rank, class Out, class F>
void call_with_rows(F f, std::span<const tensor<T, Rank>> batch, std::vector<Out>& results) {
  using item = tensor<T, Rank>;
  using computed = batch_tensor<Out>;
  std::vector<std::optional<Out>> rows(batch.size());
  std::vector<std::size_t> left(batch.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (!left.empty()) {
    const auto others = std::stable_partition(
        left.begin(), left.end(), [&, form = batch[left.front()].shape()](std::size_t i) {
          return batch[i].shape() == form;
        });
    std::vector<const item*> alike;
    for (auto i = left.begin(); i != others; ++i) alike.push_back(&batch[*i]);
    const computed made =
        computed(f(gather_items<T, Rank>(alike, default_device::current()))).cpu();
    made.block_until_ready();
    if (made.shape()[0] != static_cast<index_t>(alike.size())) {
      throw shape_mismatch(concat("a batch of ", alike.size(), " items came back as a tensor of ",
                                  to_string(made.shape()), "; it must have a row for each"));
    }
    for (auto i = left.begin(); i != others; ++i)
      rows[*i].emplace(made.row(static_cast<index_t>(i - left.begin())));
    left.erase(left.begin(), others);
  }
  results.clear();
  for (std::optional<Out>& row : rows) results.push_back(*std::move(row));
}

}  // namespace topos::detail
