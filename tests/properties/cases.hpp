// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cases of tests/data/properties, which scripts/reference/properties.py writes and describes:
/// a line of text each, which a failure shows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <topos/core/promotion.hpp>
#include <topos/expr/views.hpp>
#include <topos/io/npy.hpp>
#include <topos/io/safetensors.hpp>
#include <topos/tensor/reduction.hpp>
#include <utility>
#include <vector>

#include "../support/devices.hpp"
#include "../support/folders.hpp"

namespace support {

using numbers = std::vector<topos::index_t>;

/// Takes a word of a case apart.
class word_reader {
 public:
  explicit word_reader(std::string_view word) : rest_(word) {}

  [[nodiscard]] bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// What comes before the next of some characters.
  std::string until(const char* ends) {
    const std::size_t length = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string part(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return part;
  }
  topos::index_t number() { return std::stoll(until(",:)@[TB")); }
  /// What is left of "(2,3)".
  numbers list() {
    numbers all;
    EXPECT_TRUE(take('('));
    while (!take(')')) {
      all.push_back(number());
      static_cast<void>(take(','));
    }
    return all;
  }

 private:
  std::string_view rest_;
};

inline numbers numbers_in(const std::string& list) { return word_reader("(" + list + ")").list(); }

/// An operand as the script names it: part of the pool, seen in some way.
struct operand_text {
  std::string dtype;
  numbers extents;
  std::size_t row = 0;
  std::size_t at = 0;
  std::vector<topos::range> slices;
  numbers order;
  numbers broadcast;

  explicit operand_text(std::string_view word) {
    word_reader in(word);
    dtype = in.until("(");
    extents = in.list();
    static_cast<void>(in.take('@'));
    row = std::stoul(in.until(":"));
    static_cast<void>(in.take(':'));
    at = std::stoul(in.until("[TB"));
    if (in.take('[')) {
      while (!in.take(']')) {
        slices.push_back(range_in(in.until(",]")));
        static_cast<void>(in.take(','));
      }
    }
    if (in.take('T')) order = in.list();
    if (in.take('B')) broadcast = in.list();
  }

 private:
  // Python's start:stop:step.
  static topos::range range_in(const std::string& text) {
    word_reader in(text);
    const auto index = [&]() -> std::optional<topos::index_t> {
      const std::string digits = in.until(":");
      static_cast<void>(in.take(':'));
      return digits.empty() ? std::optional<topos::index_t>() : std::stoll(digits);
    };
    topos::range r;
    r.start = index();
    r.stop = index();
    r.step = index().value_or(1);
    return r;
  }
};

/// A function of operands, and what NumPy makes of it.
struct property_case {
  std::string line;
  std::string function;
  std::map<std::string, std::string> options;
  std::vector<operand_text> operands;
  bool refused = false;
  std::string dtype;
  numbers extents;
  std::string kept_as;
  std::size_t kept_at = 0;

  explicit property_case(std::string text) : line(std::move(text)) {
    std::istringstream words(line);
    words >> function;
    std::string word;
    while (words >> word && word != "=") {
      const std::size_t equals = word.find('=');
      if (word.find('@') != std::string::npos)
        operands.emplace_back(word);
      else
        options[word.substr(0, equals)] =
            equals == std::string::npos ? "" : word.substr(equals + 1);
    }
    words >> word;
    refused = word == "refused";
    if (refused) return;
    word_reader result(word);
    dtype = result.until("(");
    extents = result.list();
    words >> word;
    word_reader kept(word);
    kept_as = kept.until("@");
    static_cast<void>(kept.take('@'));
    kept_at = static_cast<std::size_t>(kept.number());
  }

  /// Axes that an option names, of an operand to which leading axes of extent 1 were added.
  [[nodiscard]] numbers axes(const std::string& option, std::size_t added) const {
    numbers named = numbers_in(options.at(option));
    for (topos::index_t& axis : named) axis += axis < 0 ? 0 : static_cast<topos::index_t>(added);
    return named;
  }
};

/// All cases of a file, and their results.
class property_file {
 public:
  explicit property_file(const std::string& name)
      : results_(data_folder() / "properties" / (name + ".safetensors")) {
    std::ifstream file(data_folder() / "properties" / (name + ".txt"));
    for (std::string line; std::getline(file, line);) cases_.emplace_back(line);
  }

  /// Those whose first operands have some types.
  [[nodiscard]] std::vector<const property_case*> of(
      const std::vector<std::string_view>& types) const {
    std::vector<const property_case*> found;
    for (const property_case& c : cases_) {
      bool fits = true;
      for (std::size_t i = 0; i < types.size(); ++i) fits &= c.operands.at(i).dtype == types[i];
      if (fits) found.push_back(&c);
    }
    EXPECT_FALSE(found.empty()) << "no case of " << types.front();
    return found;
  }

  /// Element i of the result of a case.
  template <class T>
  [[nodiscard]] T expected(const property_case& c, std::size_t i) const {
    if constexpr (topos::detail::is_complex<T>) {
      using real = topos::detail::real_t<T>;
      return T(expected_real<real>(c, 2 * i), expected_real<real>(c, 2 * i + 1));
    } else {
      return expected_real<T>(c, i);
    }
  }

 private:
  template <class T>
  [[nodiscard]] T expected_real(const property_case& c, std::size_t i) const {
    const auto to = [](auto number) {
      if constexpr (topos::detail::is_half<T>)
        return T(static_cast<float>(number));
      else
        return static_cast<T>(number);
    };
    if (c.kept_as == "int8") return to(kept<std::int8_t>(c, i));
    if (c.kept_as == "int16") return to(kept<std::int16_t>(c, i));
    if (c.kept_as == "int32") return to(kept<std::int32_t>(c, i));
    if (c.kept_as == "int64") return to(kept<std::int64_t>(c, i));
    if (c.kept_as == "float16") return to(static_cast<float>(kept<topos::f16>(c, i)));
    if (c.kept_as == "float32") return to(kept<float>(c, i));
    return to(kept<double>(c, i));
  }

  template <class Kept>
  [[nodiscard]] Kept kept(const property_case& c, std::size_t i) const {
    Kept number{};
    const std::span<const std::byte> bytes = results_.at(c.kept_as).bytes;
    const std::size_t first = (c.kept_at + i) * sizeof(Kept);
    EXPECT_LE(first + sizeof(Kept), bytes.size()) << c.line;
    std::memcpy(&number, bytes.data() + first, sizeof(Kept));
    return number;
  }

  topos::safetensors results_;
  std::vector<property_case> cases_;
};

/// What a number of the pool stands for.
template <class T>
T decoded(int code, std::size_t row) {
  if constexpr (std::is_same_v<T, bool>) {
    return code % 2 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    using limits = std::numeric_limits<T>;
    const T edges[] = {limits::max(),
                       limits::min(),
                       static_cast<T>(limits::max() - 1),
                       0,
                       static_cast<T>(limits::min() + 1),
                       static_cast<T>(T{1} << (4 * sizeof(T)))};
    if (code >= 1000) return edges[code - 1000];
    return static_cast<T>(std::is_signed_v<T> ? code : std::abs(code));
  } else if constexpr (topos::detail::is_half<T>) {
    T edge{};
    if (code == 1004) edge.bits = std::is_same_v<T, topos::f16> ? 0x7bff : 0x7f7f;
    if (code == 1005) edge.bits = std::is_same_v<T, topos::f16> ? 0x0400 : 0x0080;
    return code >= 1004 ? edge : T(decoded<float>(code, row));
  } else {
    using limits = std::numeric_limits<T>;
    const T edges[] = {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), T(-0.0),
                       limits::max(),      limits::min()};
    if (code >= 1000) return edges[code - 1000];
    return static_cast<T>(code) / static_cast<T>(row == 1 ? 2 : 16);
  }
}

/// The numbers from element `at` of a row of the pool on.
template <class T>
std::vector<T> pool_values(std::size_t row, std::size_t at, topos::index_t count) {
  static const auto pool = topos::read_npy<std::int16_t>(data_folder() / "properties" / "pool.npy");
  const auto columns = static_cast<std::size_t>(pool.shape.at(1));
  const auto code = [&](std::size_t i) { return pool.values[row * columns + (at + i) % columns]; };
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (topos::detail::is_complex<T>) {
      using real = topos::detail::real_t<T>;
      values[i] = T(decoded<real>(code(2 * i), row), decoded<real>(code(2 * i + 1), row));
    } else {
      values[i] = decoded<T>(code(i), row);
    }
  }
  return values;
}

/// Extents with leading ones, for a rank.
template <std::size_t Rank>
topos::shape<Rank> padded(const numbers& extents) {
  topos::shape<Rank> result{};
  result.fill(1);
  EXPECT_LE(extents.size(), Rank);
  std::copy(extents.begin(), extents.end(),
            result.end() - static_cast<std::ptrdiff_t>(extents.size()));
  return result;
}

/// A tensor of values, of bools too.
template <std::size_t Rank, class T>
topos::tensor<T, Rank> stored_on(topos::device d, const topos::shape<Rank>& extents,
                                 const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, bool>)
    return tensor_on<Rank>(d, extents, std::vector<std::uint8_t>(values.begin(), values.end())) !=
           0;
  else
    return tensor_on<Rank>(d, extents, values);
}

/// An operand of a case, with leading axes of extent 1 up to a rank, so that all of an element type
/// have one type, and a test few kernels.
template <class T, std::size_t Rank>
topos::detail::tensor_node<T, Rank> operand_on(topos::device d, const operand_text& text) {
  EXPECT_EQ(text.dtype, topos::dtype_name_v<T>);
  const std::size_t added = Rank - text.extents.size();
  const auto values = pool_values<T>(text.row, text.at, topos::size_of_shape(text.extents));
  auto x = stored_on<Rank>(d, padded<Rank>(text.extents), values).node();
  if (!text.slices.empty()) {
    std::array<topos::range, Rank> ranges{};
    std::copy(text.slices.begin(), text.slices.end(),
              ranges.begin() + static_cast<std::ptrdiff_t>(added));
    x = [&]<std::size_t... I>(std::index_sequence<I...> /*axes*/) {
      return topos::slice(x, ranges[I]...);
    }
    (std::make_index_sequence<Rank>());
  }
  if (!text.order.empty()) {
    std::array<topos::index_t, Rank> order{};
    for (std::size_t i = 0; i < Rank; ++i) {
      order[i] = static_cast<topos::index_t>(i);
      if (i >= added) order[i] = text.order[i - added] + static_cast<topos::index_t>(added);
    }
    x = topos::permute(x, order);
  }
  if (!text.broadcast.empty()) x = topos::broadcast_to(x, padded<Rank>(text.broadcast));
  return x;
}

/// How far a number may be from the expected one e: so many units of its type's precision, times
/// |e|, or the smallest normal number, and beside that.
struct tolerance {
  double relative = 0;
  double absolute = 0;
};

template <class T>
inline constexpr double precision = std::numeric_limits<topos::detail::real_t<T>>::epsilon();
template <>
inline constexpr double precision<topos::f16> = 0x1p-10;
template <>
inline constexpr double precision<topos::bf16> = 0x1p-7;

/// NaN is the same as NaN, and infinity near itself alone.
template <class T>
bool is_same(const T& got, const T& expected) {
  if constexpr (topos::detail::is_complex<T>)
    return is_same(got.real(), expected.real()) && is_same(got.imag(), expected.imag());
  else
    return got == expected || (got != got && expected != expected);
}
template <class T>
bool is_near(const T& got, const T& expected, const tolerance& allowed) {
  if (is_same(got, expected)) return true;
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    using wide = std::conditional_t<topos::detail::is_complex<T>, Kokkos::complex<double>, double>;
    const double distance = Kokkos::abs(wide(got) - wide(expected));
    using real = topos::detail::real_t<topos::detail::wide_t<T>>;
    const double size =
        std::max<double>(Kokkos::abs(wide(expected)), std::numeric_limits<real>::min());
    return std::isfinite(size) &&
           distance <= precision<T> * (allowed.relative * size + allowed.absolute);
  }
}

template <class T>
std::string shown_number(const T& x) {
  std::ostringstream text;
  text.precision(17);
  if constexpr (topos::detail::is_complex<T>)
    text << x.real() << (x.imag() < 0 ? "" : "+") << x.imag() << 'j';
  else if constexpr (topos::detail::is_half<T>)
    text << static_cast<float>(x);
  else
    text << +x;
  return text.str();
}

/// Expects the result of a case.
template <class T, std::size_t Rank>
void expect_result(const property_file& file, const property_case& c,
                   const topos::tensor<T, Rank>& got, const tolerance& allowed) {
  ASSERT_EQ(c.dtype, topos::dtype_name_v<T>) << c.line;
  ASSERT_EQ(padded<Rank>(c.extents), got.shape()) << c.line;
  const std::vector<T> values = values_of(got);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T expected = file.expected<T>(c, i);
    ASSERT_TRUE(is_near<T>(values[i], expected, allowed))
        << c.line << "\nelement " << i << " is " << shown_number<T>(values[i]) << ", expected "
        << shown_number<T>(expected);
  }
}

/// The types of which a function has cases: each is a kernel to compile.
template <class T, class... Others>
constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

/// Runs a case by one of several functions, each offered under its name.
class case_runner {
 public:
  case_runner(const property_file& file, const property_case& c) : file_(file), case_(c) {}
  case_runner(const case_runner&) = delete;
  case_runner& operator=(const case_runner&) = delete;
  ~case_runner() {
    EXPECT_TRUE(known_) << "a function that the test does not know: " << case_.line;
  }

  /// `make` gives a tensor or an expression, if the case is of this function.
  template <class Make>
  void operator()(std::string_view function, Make make, const tolerance& allowed = {}) {
    if (case_.function != function) return;
    known_ = true;
    try {
      expect(topos::eval(make()), allowed);
    } catch (const topos::invalid_argument& refused) {
      EXPECT_TRUE(case_.refused) << case_.line << '\n' << refused.what();
    } catch (const std::exception& failure) {
      ADD_FAILURE() << case_.line << '\n' << failure.what();
    }
  }

 private:
  template <class T, std::size_t Rank>
  void expect(const topos::tensor<T, Rank>& got, const tolerance& allowed) const {
    if (case_.refused)
      ADD_FAILURE() << "this was not refused: " << case_.line;
    else
      expect_result(file_, case_, got, allowed);
  }

  const property_file& file_;
  const property_case& case_;
  bool known_ = false;
};

/// Calls body(device, case, run) for the cases of a file that begin with operands of some types.
template <class... Types, class Body>
void for_each_case(const std::string& name, Body body) {
  const property_file file(name);
  on_each_device([&](topos::device d) {
    for (const property_case* c : file.of({topos::dtype_name_v<Types>...})) {
      case_runner run(file, *c);
      body(d, *c, run);
    }
  });
}

}  // namespace support
