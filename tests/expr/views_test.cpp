// SPDX-License-Identifier: Apache-2.0

/// Views composed at random, against copies made element by element.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <topos/expr/math.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace views_test {

using support::contains;
using support::on_each_device;
using support::tensor_on;
using support::values_of;
using topos::eval;
using topos::index_t;
using topos::range;
using topos::shape;
using topos::tensor;

// An array that is always copied.
template <std::size_t Rank>
struct model {
  shape<Rank> extents{};
  std::vector<int> values;

  [[nodiscard]] int at(const shape<Rank>& index) const {
    index_t number = 0;
    for (std::size_t axis = 0; axis < Rank; ++axis) {
      EXPECT_TRUE(0 <= index[axis] && index[axis] < extents[axis]);
      number = number * extents[axis] + index[axis];
    }
    return values.at(static_cast<std::size_t>(number));
  }
  // Of a shape, with element i that of `from` at source(i).
  template <std::size_t From, class Source>
  static model of(const shape<Rank>& extents, const model<From>& from, Source source) {
    model result{extents, {}};
    const index_t size = topos::size_of_shape(extents);
    for (index_t number = 0; number < size; ++number) {
      shape<Rank> index{};
      index_t rest = number;
      for (std::size_t axis = Rank; axis-- > 0;) {
        index[axis] = rest % extents[axis];
        rest /= extents[axis];
      }
      result.values.push_back(from.at(source(index)));
    }
    return result;
  }
};

// The indices that Python's start:stop:step takes of an axis.
std::vector<index_t> indices_of(const range& r, index_t extent) {
  std::vector<index_t> result;
  for (index_t i = r.step > 0 ? 0 : extent - 1; 0 <= i && i<extent; i += r.step> 0 ? 1 : -1) {
    const auto from_start = [&](index_t at) { return at < 0 ? at + extent : at; };
    if (r.start && (r.step > 0 ? i < from_start(*r.start) : i > from_start(*r.start))) continue;
    if (r.stop && (r.step > 0 ? i >= from_start(*r.stop) : i <= from_start(*r.stop))) break;
    result.push_back(i);
  }
  const auto by = static_cast<std::size_t>(std::abs(r.step));
  std::vector<index_t> stepped;
  for (std::size_t i = 0; i < result.size(); i += by) stepped.push_back(result[i]);
  return stepped;
}

class dice {
 public:
  explicit dice(unsigned seed) : engine_(seed) {}
  index_t operator()(index_t low, index_t high) {
    return low + static_cast<index_t>(engine_() % static_cast<unsigned>(high - low + 1));
  }
  index_t axis(std::size_t rank, std::size_t& chosen) {
    chosen = static_cast<std::size_t>((*this)(0, static_cast<index_t>(rank) - 1));
    const auto at = static_cast<index_t>(chosen);
    return (*this)(0, 1) == 0 ? at : at - static_cast<index_t>(rank);
  }
  range slice(index_t extent) {
    range r;
    if ((*this)(0, 2) != 0) r.start = (*this)(-extent - 2, extent + 2);
    if ((*this)(0, 2) != 0) r.stop = (*this)(-extent - 2, extent + 2);
    do {
      r.step = (*this)(-3, 3);
    } while (r.step == 0);
    return r;
  }

 private:
  std::mt19937 engine_;
};

// One view of both, by chance. The node keeps its type.
template <class Node>
void look(dice& roll, Node& node, model<3>& copy) {
  std::size_t first = 0;
  std::size_t second = 0;
  const model<3> before = copy;
  const shape<3>& e = before.extents;
  switch (roll(0, 7)) {
    case 0: {
      std::array<std::size_t, 3> axes{0, 1, 2};
      for (std::size_t i = 2; i > 0; --i)
        std::swap(axes[i], axes[static_cast<std::size_t>(roll(0, static_cast<index_t>(i)))]);
      std::array<index_t, 3> named{};
      for (std::size_t i = 0; i < 3; ++i)
        named[i] = static_cast<index_t>(axes[i]) - (roll(0, 1) == 0 ? 0 : 3);
      node = permute(node, named);
      copy = model<3>::of({e[axes[0]], e[axes[1]], e[axes[2]]}, before, [&](const shape<3>& i) {
        shape<3> from{};
        for (std::size_t a = 0; a < 3; ++a) from[axes[a]] = i[a];
        return from;
      });
      break;
    }
    case 1:
      node = transpose(node);
      copy = model<3>::of({e[2], e[1], e[0]}, before, [](const shape<3>& i) {
        return shape<3>{i[2], i[1], i[0]};
      });
      break;
    case 2: {
      const index_t a = roll.axis(3, first);
      const index_t b = roll.axis(3, second);
      node = swapaxes(node, a, b);
      shape<3> extents = e;
      std::swap(extents[first], extents[second]);
      copy = model<3>::of(extents, before, [&](shape<3> i) {
        std::swap(i[first], i[second]);
        return i;
      });
      break;
    }
    case 3: {
      node = flip(node, roll.axis(3, first));
      copy = model<3>::of(e, before, [&](shape<3> i) {
        i[first] = e[first] - 1 - i[first];
        return i;
      });
      break;
    }
    case 4:
      node = flip(node);
      copy = model<3>::of(e, before, [&](const shape<3>& i) {
        return shape<3>{e[0] - 1 - i[0], e[1] - 1 - i[1], e[2] - 1 - i[2]};
      });
      break;
    case 5: {
      const range r[] = {roll.slice(e[0]), roll.slice(e[1]), roll.slice(e[2])};
      node = slice(node, r[0], r[1], r[2]);
      const std::vector<index_t> at[] = {indices_of(r[0], e[0]), indices_of(r[1], e[1]),
                                         indices_of(r[2], e[2])};
      shape<3> extents{};
      for (std::size_t a = 0; a < 3; ++a) extents[a] = static_cast<index_t>(at[a].size());
      copy = model<3>::of(extents, before, [&](const shape<3>& i) {
        return shape<3>{at[0][static_cast<std::size_t>(i[0])],
                        at[1][static_cast<std::size_t>(i[1])],
                        at[2][static_cast<std::size_t>(i[2])]};
      });
      break;
    }
    case 6: {
      // One index of the first axis, and an axis in its place that is then repeated.
      if (e[0] == 0) break;
      const index_t picked = roll(-e[0], e[0] - 1);
      const auto plane = slice(node, picked);
      const index_t axis = roll.axis(3, first);
      shape<3> extents{};
      for (std::size_t a = 0, from = 1; a < 3; ++a) extents[a] = a == first ? 4 : e[from++];
      node = broadcast_to<3>(expand_dims(plane, axis), extents);
      copy = model<3>::of(extents, before, [&](const shape<3>& i) {
        shape<3> from{picked < 0 ? picked + e[0] : picked, 0, 0};
        for (std::size_t a = 0, to = 1; a < 3; ++a) {
          if (a != first) from[to++] = i[a];
        }
        return from;
      });
      break;
    }
    default: {
      std::size_t at = 0;
      const index_t axis = roll.axis(4, at);
      node = squeeze(expand_dims(node, axis), static_cast<index_t>(at));
    }
  }
}

model<3> counted(dice& roll) {
  const shape<3> extents{roll(1, 7), roll(1, 6), roll(1, 19)};
  model<3> made{extents, std::vector<int>(static_cast<std::size_t>(topos::size_of_shape(extents)))};
  std::iota(made.values.begin(), made.values.end(), 1);
  return made;
}

TEST(views, of_tensors_composed_at_random_are_as_copies) {
  on_each_device([](topos::device d) {
    for (unsigned seed = 0; seed < 300; ++seed) {
      dice roll(seed);
      model<3> copy = counted(roll);
      auto node = tensor_on<3>(d, copy.extents, copy.values).node();
      for (index_t depth = roll(1, 6); depth > 0; --depth) look(roll, node, copy);

      ASSERT_EQ(node.shape(), copy.extents) << "seed " << seed;
      ASSERT_EQ(values_of(eval(node)), copy.values) << "seed " << seed;
    }
  });
}

TEST(views, of_operations_are_operations_on_views) {
  on_each_device([](topos::device d) {
    for (unsigned seed = 0; seed < 200; ++seed) {
      dice roll(seed);
      model<3> copy = counted(roll);
      const auto x = tensor_on<3>(d, copy.extents, copy.values);
      std::vector<int> last(static_cast<std::size_t>(copy.extents[2]));
      std::iota(last.begin(), last.end(), 1000);
      const auto row = support::vector_on(d, last);
      for (std::size_t i = 0; i < copy.values.size(); ++i)
        copy.values[i] = copy.values[i] * 3 - last[i % last.size()];
      // The first view brings all operands to three axes; later ones keep the type.
      auto node = permute(x * 3 - row, {0, 1, 2});
      for (index_t depth = roll(1, 5); depth > 0; --depth) look(roll, node, copy);

      ASSERT_EQ(values_of(eval(node)), copy.values) << "seed " << seed;
    }
  });
}

TEST(views, of_what_has_no_axes_give_it_some) {
  on_each_device([](topos::device d) {
    const auto s = topos::full<float, 0>({}, 3, d);
    EXPECT_EQ(values_of(eval(broadcast_to(s * 2.0f, {3}))), (std::vector<float>{6, 6, 6}));
    EXPECT_EQ(expand_dims(2 - s, {0, 1}).shape(), (shape<2>{1, 1}));
    EXPECT_EQ(values_of(eval(reshape(s + s, {1, 1}) + s)), std::vector<float>{9});
    topos::tensor<int, 1> x = topos::zeros<int, 1>({3}, d);
    x.slice(topos::range{1, 3}) = topos::astype<int>(s) * 2;
    EXPECT_EQ(values_of(x), (std::vector<int>{0, 6, 6}));
  });
}

TEST(views, take_several_axes) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<int>{1, 2, 3, 4, 5, 6});
    const auto wide = expand_dims(x, {-1, 0, 2});
    EXPECT_EQ(wide.shape(), (shape<5>{1, 2, 1, 3, 1}));
    EXPECT_EQ(values_of(eval(wide)), values_of(x));
    EXPECT_EQ(squeeze(wide, {4, 0}).shape(), (shape<3>{2, 1, 3}));
    EXPECT_EQ(values_of(eval(squeeze(wide * 2, {0, 2, -1}))), values_of(eval(x * 2)));
    EXPECT_EQ(values_of(eval(flip(wide, {3, 1}))), (std::vector<int>{6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(values_of(eval(flip(x, {1}))), (std::vector<int>{3, 2, 1, 6, 5, 4}));
  });
  const auto x = topos::zeros<int, 3>({1, 3, 1});
  EXPECT_THROW(static_cast<void>(expand_dims(x, {0, -5})), topos::invalid_argument);
  EXPECT_THROW(static_cast<void>(squeeze(x, {0, 3})), topos::out_of_range);
  EXPECT_THROW(static_cast<void>(squeeze(x, {0, 1})), topos::shape_mismatch);
  EXPECT_THROW(static_cast<void>(flip(x, {1, -2})), topos::invalid_argument);
}

// Of any length around those of lanes: alone, and in an operation.
TEST(views, of_every_second_and_of_reversed_elements_are_as_copies) {
  on_each_device([](topos::device d) {
    for (const index_t n : {1, 2, 15, 16, 17, 31, 33, 64, 131}) {
      const std::vector<float> in = support::varied(2 * n);
      const auto x = support::vector_on(d, in);
      const auto second = x.slice(range(1, 2 * n, 2));
      const auto reversed = topos::flip(x.slice(range(0, n)), 0);
      std::vector<float> seconds;
      std::vector<float> reverse(in.rend() - n, in.rend());
      std::vector<float> sums;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        seconds.push_back(in[2 * i + 1]);
        sums.push_back(in[2 * i + 1] + reverse[i]);
      }
      EXPECT_EQ(values_of(eval(second)), seconds) << n;
      EXPECT_EQ(values_of(eval(reversed)), reverse) << n;
      EXPECT_EQ(values_of(eval(second + reversed)), sums) << n;
    }
  });
}

TEST(views, of_reshaped_views_are_as_copies) {
  on_each_device([](topos::device d) {
    for (unsigned seed = 0; seed < 200; ++seed) {
      dice roll(seed);
      model<3> copy = counted(roll);
      auto node = tensor_on<3>(d, copy.extents, copy.values).node();
      for (index_t depth = roll(0, 3); depth > 0; --depth) look(roll, node, copy);
      // The same elements in row-major order, with the first two axes joined and one set apart.
      const shape<3> extents{1, copy.extents[0] * copy.extents[1], copy.extents[2]};
      auto again = reshape(node * 1, extents);
      copy.extents = extents;
      for (index_t depth = roll(0, 4); depth > 0; --depth) look(roll, again, copy);

      ASSERT_EQ(values_of(eval(again + 1 - 1)), copy.values) << "seed " << seed;
      const auto flat = reshape(again, shape<1>{topos::size_of_shape(copy.extents)});
      ASSERT_EQ(values_of(eval(flat)), copy.values) << "seed " << seed;
    }
  });
}

// Large enough for tiles, chunks and batches to have ends.
TEST(views, of_large_arrays_reach_every_element) {
  on_each_device([](topos::device d) {
    for (const topos::shape<2>& extents :
         std::vector<topos::shape<2>>{{65, 130}, {3, 4097}, {4097, 3}, {1, 9000}}) {
      const index_t rows = extents[0];
      const index_t columns = extents[1];
      const std::vector<float> in = support::varied(rows * columns);
      const auto x = tensor_on<2>(d, {rows, columns}, in);
      const std::vector<float> turned = values_of(eval(transpose(x)));
      const std::vector<float> mixed = values_of(eval(flip(x, 1) + x * 2));
      const std::vector<float> both = values_of(eval(transpose(flip(x)) - transpose(x)));
      const std::vector<float> part = values_of(eval(slice(x, range{}, range(1, {}, 3)) * 1));
      const auto at = [&](index_t r, index_t c) {
        return in[static_cast<std::size_t>(r * columns + c)];
      };
      const index_t kept = (columns - 1 + 2) / 3;
      ASSERT_EQ(part.size(), static_cast<std::size_t>(rows * kept));
      for (index_t r = 0; r < rows; ++r) {
        for (index_t c = 0; c < columns; ++c) {
          const auto across = static_cast<std::size_t>(c * rows + r);
          ASSERT_EQ(turned[across], at(r, c));
          ASSERT_EQ(mixed[static_cast<std::size_t>(r * columns + c)],
                    at(r, columns - 1 - c) + at(r, c) * 2);
          ASSERT_EQ(both[across], at(rows - 1 - r, columns - 1 - c) - at(r, c));
        }
        for (index_t k = 0; k < kept; ++k)
          ASSERT_EQ(part[static_cast<std::size_t>(r * kept + k)], at(r, 1 + 3 * k));
      }
    }
  });
}

TEST(views, of_scalars_and_of_eight_axes) {
  on_each_device([](topos::device d) {
    const auto one = topos::full<int, 0>({}, 7, d);
    EXPECT_EQ(values_of(eval(transpose(one))), std::vector<int>{7});
    EXPECT_EQ(values_of(eval(flip(one))), std::vector<int>{7});
    EXPECT_EQ(values_of(eval(broadcast_to<2>(one, {2, 2}))), std::vector<int>(4, 7));
    EXPECT_EQ(values_of(eval(expand_dims(one, 0))), std::vector<int>{7});

    std::vector<int> all(256);
    std::iota(all.begin(), all.end(), 0);
    const auto x = tensor_on<8>(d, {2, 2, 2, 2, 2, 2, 2, 2}, all);
    const std::vector<int> turned = values_of(eval(transpose(x) + 0));
    const std::vector<int> mixed = values_of(eval(transpose(x) + x));
    for (int i = 0; i < 256; ++i) {
      int bits = 0;
      for (int b = 0; b < 8; ++b) bits |= (i >> b & 1) << (7 - b);
      EXPECT_EQ(turned[static_cast<std::size_t>(i)], bits);
      EXPECT_EQ(mixed[static_cast<std::size_t>(i)], bits + i);
    }
  });
}

TEST(views, own_what_they_read) {
  on_each_device([](topos::device d) {
    const auto make = [&] {
      return transpose(tensor_on<2>(d, {2, 2}, std::vector<int>{1, 2, 3, 4}));
    };
    const auto view = make();
    const auto other = topos::zeros<int, 2>({2, 2}, d);
    EXPECT_EQ(values_of(eval(view + other)), (std::vector<int>{1, 3, 2, 4}));
  });
}

// Expects an Error that names the parts and this file.
template <class Error, class Action>
void expect_refused(Action action, std::initializer_list<const char*> parts) {
  try {
    static_cast<void>(action());
    ADD_FAILURE() << *parts.begin() << " was taken";
  } catch (const Error& refused) {
    for (const char* part : parts) EXPECT_TRUE(contains(refused.what(), part)) << refused.what();
    EXPECT_TRUE(contains(refused.where().file_name(), "views_test.cpp")) << refused.what();
  }
}

TEST(views, of_what_does_not_fit_are_refused) {
  using topos::invalid_argument;
  using topos::out_of_range;
  using topos::shape_mismatch;
  const auto x = topos::zeros<float, 2>({2, 3});

  expect_refused<out_of_range>([&] { return flip(x, 2); }, {"flip", "axis 2"});
  expect_refused<out_of_range>([&] { return swapaxes(x, 0, -3); }, {"swapaxes", "-3"});
  expect_refused<out_of_range>([&] { return permute(x, {0, 2}); }, {"permute", "axis 2"});
  expect_refused<invalid_argument>([&] { return permute(x, {1, -1}); }, {"permute", "twice"});
  expect_refused<out_of_range>([&] { return expand_dims(x, 3); }, {"expand_dims", "axis 3"});
  expect_refused<out_of_range>([&] { return expand_dims(x, -4); }, {"expand_dims", "-4"});
  expect_refused<shape_mismatch>([&] { return squeeze(x, 1); },
                                 {"squeeze", "(2, 3)", "3 elements"});
  expect_refused<shape_mismatch>(
      [&] {
        return broadcast_to<2>(x, {2, 4});
      },
      {"broadcast_to", "(2, 3)", "(2, 4)"});
  expect_refused<shape_mismatch>(
      [&] {
        return broadcast_to<2>(x, {1, 3});
      },
      {"broadcast_to", "(2, 3)", "(1, 3)"});
  expect_refused<shape_mismatch>([&] { return broadcast_to<2>(x, {2, -3}); }, {"-3"});
  expect_refused<shape_mismatch>(
      [&] {
        return reshape(x * 2, shape<2>{4, -1});
      },
      {"reshape", "(2, 3)", "(4, -1)"});
  expect_refused<shape_mismatch>(
      [&] {
        return reshape(x, shape<2>{-1, -1});
      },
      {"one extent at most may be -1"});
  expect_refused<shape_mismatch>(
      [&] {
        return reshape(broadcast_to<2>(slice(x, range{0, 0}), {0, 3}), shape<2>{0, -1});
      },
      {"-1 could be any"});
  constexpr index_t huge = index_t{1} << 40;
  expect_refused<shape_mismatch>(
      [&] {
        return reshape(x * 2, shape<3>{huge, huge, -1});
      },
      {"reshape", "(2, 3)"});
}

TEST(reshape, completes_one_extent) {
  on_each_device([](topos::device d) {
    const auto x = tensor_on<2>(d, {2, 3}, std::vector<int>{1, 2, 3, 4, 5, 6});

    EXPECT_EQ(reshape(x * 2, shape<2>{3, -1}).shape(), (shape<2>{3, 2}));
    EXPECT_EQ(reshape(transpose(x), shape<1>{-1}).shape(), (shape<1>{6}));
    EXPECT_EQ(values_of(eval(reshape(transpose(x), shape<1>{-1}))),
              (std::vector<int>{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(values_of(eval(reshape(x * 0 + 5, shape<4>{1, 6, 1, 1}))), std::vector<int>(6, 5));
  });
}

}  // namespace views_test
