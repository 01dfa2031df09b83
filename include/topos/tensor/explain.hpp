// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What computing an expression will cost, before it is computed.

#include <algorithm>
#include <ostream>
#include <string>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/reduction.hpp>
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

namespace detail {

/// A stream that counts what is launched on it, and runs nothing.
struct launch_counter {
  mutable int launches = 0;
  template <class Kernel>
  void for_each(const char* /*label*/, index_t /*count*/, index_t /*cost*/, std::size_t /*scratch*/,
                const Kernel& /*kernel*/) const {
    ++launches;
  }
};

/// What is known of all that runs: `source` is what is read, `elements` how much of it.
template <class Source>
[[nodiscard]] explanation explained(const Source& source, std::size_t bytes_written,
                                    index_t elements, index_t effort, const std::string& how) {
  std::vector<memory_read> reads;
  source.traffic(reads);
  explanation result;
  result.bytes_written = bytes_written;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto before = reads.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(reads.begin(), before, reads[i]) == before) result.bytes_read += reads[i].bytes;
  }
  if (elements == 0) {
    result.path = "nothing to compute";
    return result;
  }
  result.kernels = 1;
  const device d = source.device().value_or(default_device::current());
  const char* when = effort <= backend::host::stream::small_work
                         ? ", in place where nothing is queued, "
                         : ", queued, ";
  result.path = concat("on ", d, d.kind() == device_kind::cpu ? when : ", ", how);
  return result;
}

}  // namespace detail

/// How `x` would run if it were assigned to a tensor now. Computes nothing. (What is needed again
/// and again inside of a larger expression, as in `x - mean(x)`, was enqueued when that was built,
/// and is a leaf of it.)
template <operand X>
[[nodiscard]] explanation explain(const X& x) {
  decltype(auto) e = detail::as_node(x);
  using node = detail::node_t<X>;
  const index_t size = size_of_shape(shape<node::rank>(e.shape()));
  const auto w = detail::walk_of(e);
  using row = decltype(e.rows(w).row(0));
  const bool here = e.device().value_or(default_device::current()).kind() == device_kind::cpu;
  const std::string rows = w.axes == 1
                               ? detail::concat("one row of ", w.columns(), " elements")
                               : detail::concat(w.rows(), " rows of ", w.columns(), " elements");
  const std::string lanes =
      row::width > 1 ? detail::concat(", ", row::width, " lanes") : ", one by one";
  return detail::explained(e, static_cast<std::size_t>(size) * sizeof(typename node::value_type),
                           size, detail::effort_of(e.rows(w), w.columns(), size),
                           rows + (here ? lanes : ""));
}

/// The same of a reduction. The kernels that combine the results of its first one's parts count,
/// and what they read does not: it is next to nothing.
template <expression E, std::size_t Rank, class How>
[[nodiscard]] explanation explain(const reduction<E, Rank, How>& x) {
  const auto made = x.job(std::source_location::current());
  const index_t size = made.plan.size();
  const index_t results = made.result.size();
  explanation result = detail::explained(
      x.reduced(), static_cast<std::size_t>(results) * sizeof(typename How::value_type),
      size + results, made.plan.effort(), detail::concat(size, " elements to ", results));
  if (result.kernels != 0) {
    const detail::launch_counter counter;
    made.plan.launch(counter);
    result.kernels = counter.launches;
  }
  return result;
}

}  // namespace topos
