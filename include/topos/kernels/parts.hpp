// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Expressions that are the parts of one result.

#include <algorithm>
#include <cstddef>
#include <topos/kernels/map.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

// Parts are of one type in a vector, or of several in a tuple.
template <class Part, class Body>
void for_each_part(const std::vector<Part>& parts, const Body& body) {
  for (const Part& part : parts) body(part);
}
template <class... Part, class Body>
void for_each_part(const std::tuple<Part...>& parts, const Body& body) {
  std::apply([&](const Part&... part) { (body(part), ...); }, parts);
}

/// What `make` makes of each part, in turn.
template <class Part, class Make>
[[nodiscard]] auto made_of_parts(const std::vector<Part>& parts, const Make& make) {
  std::vector<decltype(make(parts[0]))> result;
  result.reserve(parts.size());
  for (const Part& part : parts) result.push_back(make(part));
  return result;
}
template <class... Part, class Make>
[[nodiscard]] auto made_of_parts(const std::tuple<Part...>& parts, const Make& make) {
  return std::apply(
      [&](const Part&... part) {
        return std::tuple<decltype(make(part))...>{make(part)...};  // braces: in their order
      },
      parts);
}

/// On the host: item i is some rows of a result, of all of its parts, so that its memory is written
/// from one end to the other.
template <class Plans>
struct parts_kernel {
  const Plans& plans;
  index_t rows;
  index_t some;  // rows of an item

  template <class Team>
  void operator()(const Team& team, index_t i) const {
    const index_t past = std::min((i + 1) * some, rows);
    for_each_part(plans,
                  [&](const auto& plan) { plan.kernel().run_some(team, i * some, past, rows); });
  }
};

/// The parts of a result of rows, in each of which they lie side by side.
template <class Plans>
class parts_plan {
 public:
  parts_plan(Plans plans, index_t rows, index_t columns, bool past_caches)
      : plans_(std::move(plans)),
        rows_(rows),
        columns_(columns),
        chunk_(past_caches ? streamed_chunk : map_chunk) {
    for_each_part(plans_, [this](const auto& plan) {
      ++parts_;
      together_ = together_ && plan.joins() && !plan.crosses() && plan.kernel().falls_into(rows_);
    });
  }

  [[nodiscard]] index_t size() const { return rows_ * columns_; }
  [[nodiscard]] index_t effort() const {
    index_t all = 0;
    for_each_part(plans_, [&](const auto& plan) { all += plan.effort(); });
    return all;
  }

  template <class Stream>
  void launch(const Stream& stream) const {
    if constexpr (std::is_same_v<typename Stream::backend, backend::host>) {
      if (together_) {
        const index_t some = rows_of_item();
        return stream.for_each("topos::map", (rows_ + some - 1) / some, some * columns_, 0,
                               parts_kernel<Plans>{plans_, rows_, some});
      }
    }
    for_each_part(plans_, [&](const auto& plan) {
      if (plan.size() != 0) plan.launch(stream);
    });
  }

 private:
  // Rows of an item: a chunk, or so many that it takes longer to write a part's elements than to
  // come to that part, while there are items for all threads.
  [[nodiscard]] index_t rows_of_item() const {
    constexpr index_t elements_of_part = 64;
    const index_t worth = elements_of_part * parts_ / columns_;
    const index_t shared = rows_ / (2 * backend::host::threads());
    return std::max({index_t{1}, chunk_ / columns_, std::min(worth, shared)});
  }

  Plans plans_;
  index_t rows_;
  index_t columns_;
  index_t chunk_;
  index_t parts_ = 0;
  bool together_ = true;  // whether one kernel computes all of them
};

/// Enqueues the parts of a new result, which has rows and columns. `place` says, of each in turn,
/// where it goes; `apart`: how many of a part's axes lie within a row. Short rows of parts are
/// computed together, by the CPU.
template <class Nodes, class Place>
void map_parts(const Nodes& nodes, const buffer& out, index_t rows, index_t columns,
               std::size_t apart, Place place, std::source_location where) {
  const bool past_caches = goes_past_caches(out.size(), {}, out);
  if (out.where() != cpu() || rows == 1 || columns > streamed_chunk) {
    return for_each_part(nodes, [&]<class E>(const E& node) {
      submit_map(map_plan<E>(node, out, place(node), past_caches), memory_read_by(node), out,
                 where);
    });
  }
  std::vector<buffer> reads;
  for_each_part(nodes, [&](const auto& node) {
    const std::vector<buffer> of_part = memory_read_by(node);
    reads.insert(reads.end(), of_part.begin(), of_part.end());
  });
  take_once(reads);
  auto plans = made_of_parts(nodes, [&]<class E>(const E& node) {
    return map_plan<E>(node, out, place(node), past_caches, apart);
  });
  submit_map(parts_plan(std::move(plans), rows, columns, past_caches), std::move(reads), out,
             where);
}

}  // namespace topos::detail
