// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What computing an expression will cost, before it is computed.

#include <algorithm>
#include <ostream>
#include <string>
#include <topos/tensor/eval.hpp>
#include <vector>

namespace topos {

/// How an expression would run.
struct explanation {
  int kernels = 0;                ///< Launches, each one pass over its elements.
  std::size_t bytes_read = 0;     ///< From memory; what is read twice at once counts once.
  std::size_t bytes_written = 0;  ///< To memory.
  std::string path;               ///< Where and how it is launched, in words.

  friend std::ostream& operator<<(std::ostream& out, const explanation& e) {
    return out << e.kernels << (e.kernels == 1 ? " kernel" : " kernels") << ", reads "
               << e.bytes_read << " bytes, writes " << e.bytes_written << " bytes; " << e.path;
  }
};

/// How `x` would run if it were assigned to a tensor now. Computes nothing but what x's own
/// reductions need first.
template <operand X>
[[nodiscard]] explanation explain(const X& x) {
  decltype(auto) e = detail::as_node(x);
  using node = detail::node_t<X>;
  using value = typename node::value_type;
  const shape<node::rank> extents = e.shape();
  const device d = e.device().value_or(default_device::current());
  const auto w = detail::walk_of(e);
  using row = decltype(e.rows(w).row(0));
  std::vector<detail::memory_read> reads;
  e.traffic(reads);
  explanation result;
  const index_t size = size_of_shape(extents);
  result.bytes_written = static_cast<std::size_t>(size) * sizeof(value);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto before = reads.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(reads.begin(), before, reads[i]) == before) result.bytes_read += reads[i].bytes;
  }
  if (size == 0) {
    result.path = "nothing to compute";
    return result;
  }
  result.kernels = 1;
  const std::string rows = w.axes == 1
                               ? detail::concat("one row of ", w.columns(), " elements")
                               : detail::concat(w.rows(), " rows of ", w.columns(), " elements");
  if (d.kind() != device_kind::cpu) {
    result.path = detail::concat("on ", d, ", ", rows);
    return result;
  }
  result.path = detail::concat(
      "on ", d,
      detail::effort_of(e.rows(w), w.columns(), size) <= backend::host::stream::small_work
          ? ", in place where nothing is queued, "
          : ", queued, ",
      rows, row::width > 1 ? detail::concat(", ", row::width, " lanes") : ", one by one");
  return result;
}

}  // namespace topos
