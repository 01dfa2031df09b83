// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tensors as text, in NumPy's layout.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ostream>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <topos/tensor/detail/number_text.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/tensor.hpp>
#include <vector>
#if __has_include(<format>)
#include <format>
#endif

namespace topos {

namespace detail {

/// NumPy's print options, at their defaults.
inline constexpr index_t print_threshold = 1000;  // elements; of more only the edges are shown
inline constexpr index_t print_edge = 3;
inline constexpr std::size_t print_width = 75;

/// The elements of an array that are shown, as text, in nested brackets.
class array_layout {
 public:
  /// `texts` are those of the shown elements in row-major order; of an axis with more elements
  /// than twice `edge` that many at either end are shown.
  array_layout(std::span<const index_t> extents, std::span<const std::string> texts, index_t edge)
      : extents_(extents), texts_(texts), edge_(edge) {}

  [[nodiscard]] std::string text() { return nested(0, " ", print_width); }

  /// How many elements of an axis are shown.
  [[nodiscard]] static index_t shown(index_t extent, index_t edge) {
    return extent > 2 * edge ? 2 * edge : extent;
  }

 private:
  static constexpr std::string_view dots = "...";

  std::string nested(std::size_t axis, const std::string& indent, std::size_t width) {
    const index_t count = shown(extents_[axis], edge_);
    const bool cut = count != extents_[axis];
    const std::size_t axes_left = extents_.size() - axis;
    std::string result;
    if (axes_left == 1) {
      std::string line = indent;
      for (index_t i = 0; i < count; ++i) {
        if (cut && i == edge_) extend(result, line, dots, width, indent, false);
        extend(result, line, texts_[next_++], width, indent, i + 1 == count);
      }
      result += line;
    } else {
      const std::string separator(axes_left - 1, '\n');
      for (index_t i = 0; i < count; ++i) {
        if (cut && i == edge_) (result += indent).append(dots).append(separator);
        result += indent + nested(axis + 1, indent + ' ', width - 1);
        if (i + 1 != count) result += separator;
      }
    }
    return '[' + result.substr(indent.size()) + ']';
  }

  // Appends a word, on a new line if it would not fit and that would help.
  static void extend(std::string& text, std::string& line, std::string_view word, std::size_t width,
                     const std::string& indent, bool last) {
    if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
      line = indent;
    }
    line += word;
    if (!last) line += ' ';
  }

  std::span<const index_t> extents_;
  std::span<const std::string> texts_;
  index_t edge_;
  std::size_t next_ = 0;
};

/// Appends the numbers of the elements that are shown of an array, in row-major order, where
/// `first` is the number of its first.
inline void append_shown(std::vector<index_t>& all, std::span<const index_t> extents, index_t edge,
                         index_t first = 0) {
  if (extents.empty()) return all.push_back(first);
  const std::span<const index_t> rest = extents.subspan(1);
  const index_t row = size_of_shape(rest);
  const index_t count = array_layout::shown(extents[0], edge);
  for (index_t i = 0; i < count; ++i) {
    append_shown(all, rest, edge, first + (i < edge ? i : extents[0] - count + i) * row);
  }
}

}  // namespace detail

/// The elements as NumPy 2.4's `str(array)` gives them: floats by the fewest digits that name them,
/// at most 8 behind the point, all in one format; of more than 1000 elements the three at either
/// end of each axis. Copies them to the host and waits for them.
template <element T, std::size_t Rank>
[[nodiscard]] std::string to_string(const tensor<T, Rank>& x,
                                    std::source_location where = std::source_location::current()) {
  const tensor<T, Rank> here = device_put(x, cpu(), where);
  const T* const values = here.host(where).data();
  if constexpr (Rank == 0) {
    return detail::scalar_text(*values);
  } else {
    if (x.size() == 0) return "[]";
    const index_t edge = x.size() > detail::print_threshold ? detail::print_edge : x.size();
    std::vector<index_t> shown;
    detail::append_shown(shown, x.shape(), edge);
    const auto elements = std::make_unique<T[]>(shown.size());
    for (std::size_t i = 0; i < shown.size(); ++i) elements[i] = values[shown[i]];
    const std::vector<std::string> texts =
        detail::texts_of(std::span<const T>(elements.get(), shown.size()));
    return detail::array_layout(x.shape(), texts, edge).text();
  }
}

/// The elements of an expression, which is computed for it.
template <operand X>
[[nodiscard]] std::string to_string(const X& x,
                                    std::source_location where = std::source_location::current()) {
  using node = detail::node_t<X>;
  return to_string(tensor<typename node::value_type, node::rank>(detail::as_node(x), where), where);
}

/// Prints the elements of a tensor or an expression: see `to_string`.
template <operand X>
std::ostream& operator<<(std::ostream& out, const X& x) {
  return out << to_string(x, std::source_location{});  // an operator knows no place
}

}  // namespace topos

#ifdef __cpp_lib_format
/// Formats a tensor or an expression as `topos::to_string` does; takes no options.
template <topos::operand X>
struct std::formatter<X, char> {
  constexpr auto parse(std::format_parse_context& context) const {
    if (context.begin() != context.end() && *context.begin() != '}') {
      throw std::format_error("a tensor's format takes no options");
    }
    return context.begin();
  }
  template <class Context>
  auto format(const X& x, Context& context) const {
    return std::ranges::copy(topos::to_string(x, std::source_location{}), context.out()).out;
  }
};
#endif
