// SPDX-License-Identifier: Apache-2.0

/// Whole arrays are written as NumPy writes them and read as it wrote them; broken files are
/// refused.

#include "scratch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <topos/io/npy.hpp>
#include <vector>

#include "../support/devices.hpp"

namespace npy_test {

using topos::index_t;
using topos::io_error;
using topos::load_npy;
using topos::read_npy;
using topos::write_npy;
using topos_test::message_of;
using topos_test::peer_file;
using topos_test::read_file;
using topos_test::says;
using topos_test::scratch;
using topos_test::write_file;

static_assert(topos::npy_element<float> && topos::npy_element<topos::f16>);
static_assert(topos::npy_element<bool> && topos::npy_element<Kokkos::complex<double>>);
static_assert(!topos::npy_element<topos::bf16> && !topos::npy_element<std::string>);

using shape = std::vector<index_t>;

const std::vector<float> quarters = {0, 0.25F, 0.5F, 0.75F, 1, 1.25F};

TEST(read_npy, reads_what_numpy_wrote) {
  const auto f32 = read_npy<float>(peer_file("f32_2x3.npy"));
  EXPECT_EQ(f32.shape, (shape{2, 3}));
  EXPECT_EQ(f32.values, quarters);

  const auto f64 = read_npy<double>(peer_file("f64_3.npy"));
  EXPECT_EQ(f64.shape, (shape{3}));
  EXPECT_EQ(f64.values, (std::vector{1.5, -2.25, std::numeric_limits<double>::infinity()}));

  const auto f16 = read_npy<topos::f16>(peer_file("f16_4.npy"));
  EXPECT_EQ(std::vector<float>(f16.values.begin(), f16.values.end()),
            (std::vector{0.0F, 1.0F, -0.5F, 65504.0F}));

  const auto scalar = read_npy<std::int64_t>(peer_file("i64_scalar.npy"));
  EXPECT_EQ(scalar.shape, shape{});
  EXPECT_EQ(scalar.values, std::vector<std::int64_t>{-7});

  const auto u8 = read_npy<std::uint8_t>(peer_file("u8_1x1x5.npy"));
  EXPECT_EQ(u8.shape, (shape{1, 1, 5}));
  EXPECT_EQ(u8.values, (std::vector<std::uint8_t>{0, 1, 2, 3, 4}));

  const auto flags = read_npy<std::uint8_t>(peer_file("bool_3.npy"));
  EXPECT_EQ(flags.values, (std::vector<std::uint8_t>{1, 0, 1}));

  const auto c64 = read_npy<Kokkos::complex<float>>(peer_file("c64_2.npy"));
  EXPECT_EQ(c64.values[1], Kokkos::complex<float>(3, -4));

  const auto empty = read_npy<float>(peer_file("f32_12345678x0.npy"));
  EXPECT_EQ(empty.shape, (shape{12345678, 0}));
  EXPECT_TRUE(empty.values.empty());
}

TEST(read_npy, reads_every_version) {
  for (const char* name : {"f32_2x3_v2.npy", "f32_2x3_v3.npy"}) {
    const auto array = read_npy<float>(peer_file(name));

    EXPECT_EQ(array.shape, (shape{2, 3})) << name;
    EXPECT_EQ(array.values, quarters) << name;
  }
}

TEST(read_npy, refuses_elements_of_another_type) {
  const auto refused = [](const char* name) {
    return message_of<topos::dtype_mismatch>(
        [&] { static_cast<void>(read_npy<float>(peer_file(name))); });
  };

  EXPECT_TRUE(says(refused("f64_3.npy"), {"f64_3.npy", "'<f8'", "'<f4' (float32)"}));
  EXPECT_TRUE(says(refused("bool_3.npy"), {"'|b1'"}));
}

TEST(read_npy, puts_other_orders_into_c_order) {
  const auto fortran = read_npy<float>(peer_file("f32_fortran.npy"));
  EXPECT_EQ(fortran.shape, (shape{2, 3}));
  EXPECT_EQ(fortran.values, (std::vector<float>{0, 1, 2, 3, 4, 5}));

  EXPECT_EQ(read_npy<float>(peer_file("f32_big_endian.npy")).values, (std::vector<float>{0, 1}));

  const auto both = read_npy<double>(peer_file("f64_fortran_big_endian.npy"));
  EXPECT_EQ(both.shape, (shape{2, 3, 2}));
  EXPECT_EQ(both.values, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));

  const auto complex = read_npy<Kokkos::complex<float>>(peer_file("c64_big_endian.npy"));
  EXPECT_EQ(complex.values[1], Kokkos::complex<float>(3, -4));
}

TEST(read_npy, refuses_structures) {
  const std::string message =
      message_of<io_error>([] { static_cast<void>(read_npy<float>(peer_file("structure.npy"))); });

  EXPECT_TRUE(says(message, {"arrays of structures"}));
}

TEST(read_npy, truncated_anywhere_is_refused) {
  const scratch folder;
  const std::string whole = read_file(peer_file("f32_2x3.npy"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(folder / "cut.npy", whole.substr(0, size));

    EXPECT_THROW(static_cast<void>(read_npy<float>(folder / "cut.npy")), io_error) << size;
  }
}

std::string npy_file(std::string_view header, std::string_view version = {"\1\0", 2}) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += static_cast<char>(header.size() & 0xffU);
  bytes += static_cast<char>(header.size() >> 8U);
  if (version[0] != '\1') bytes += std::string(2, '\0');
  return bytes += header;
}

std::string dictionary(std::string_view extents) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(extents) + "}";
}

TEST(read_npy, refuses_a_broken_header) {
  const scratch folder;
  const auto refused = [&](std::string_view content) {
    write_file(folder / "bad.npy", content);
    return message_of<io_error>([&] { static_cast<void>(read_npy<float>(folder / "bad.npy")); });
  };

  EXPECT_TRUE(says(refused("PK\3\4 something else"), {"it is an archive, such as .npz files are"}));
  EXPECT_TRUE(says(refused(npy_file("", {"\4\0", 2})), {"version 4.0"}));
  EXPECT_TRUE(says(refused(npy_file("", {"\1\1", 2})), {"version 1.1"}));
  EXPECT_TRUE(says(refused(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)), {"4294967295"}));
  EXPECT_TRUE(says(refused(npy_file("")), {"expected '{' at byte 0"}));
  EXPECT_TRUE(says(refused(npy_file("{}")), {"not all there"}));
  EXPECT_TRUE(says(refused(npy_file("{'descr': '<f4'}")), {"not all there"}));
  EXPECT_TRUE(says(refused(npy_file("{'descr': '<f4', 'descr': '<f4'}")), {"descr given twice"}));
  EXPECT_TRUE(says(refused(npy_file("{'other': 1}")), {"none of descr"}));
  EXPECT_TRUE(says(refused(npy_file("{'descr': '<f4")), {"a string that ends"}));
  EXPECT_TRUE(says(refused(npy_file("{'fortran_order': None}")), {"True or False"}));
  EXPECT_TRUE(says(refused(npy_file(dictionary("(1,)") + "x")), {"nothing after '}'"}));
  for (const char* bad : {"(-1,)", "(1 2)", "(1", "1", "(,)", "(1.0,)", "(x,)", "(L,)", "(1LL,)",
                          "(1l,)", "(1L)", "(1)", "[1]", "(9223372036854775808,)"}) {
    EXPECT_TRUE(says(refused(npy_file(dictionary(bad))), {"header: expected "})) << bad;
  }
}

TEST(read_npy, takes_the_long_extents_of_python_2) {
  const scratch folder;
  for (const char* extents : {"(1L, 2L)", "(1L, 2L, )", "(1, 2L)"}) {
    write_file(folder / "long.npy", npy_file(dictionary(extents)) + std::string(8, '\0'));

    EXPECT_EQ(read_npy<float>(folder / "long.npy").shape, (shape{1, 2})) << extents;
  }
}

TEST(read_npy, shape_takes_exactly_the_bytes_of_the_file) {
  const scratch folder;
  const auto refused = [&](std::string_view extents, std::size_t data) {
    write_file(folder / "bad.npy", npy_file(dictionary(extents)) + std::string(data, '\0'));
    return message_of<io_error>([&] { static_cast<void>(read_npy<float>(folder / "bad.npy")); });
  };

  EXPECT_TRUE(says(refused("(2,)", 7), {"(2,) of float32 takes 8 bytes, the file has 7"}));
  EXPECT_TRUE(says(refused("(2,)", 9), {"the file has 9"}));
  EXPECT_TRUE(says(refused("(4294967296, 4294967296)", 0), {"does not fit 63 bits"}));
  EXPECT_TRUE(says(refused("(4611686018427387904,)", 0), {"does not fit 63 bits"}));
  EXPECT_TRUE(says(refused("(0, 4294967296, 4294967296)", 0), {"does not fit 63 bits"}));
}

// Whether memory is a mapping of a file, which is read-only.
bool is_shared(const topos::buffer& memory) {
  return memory.data() != nullptr && !memory.is_unique();
}

TEST(load_npy, shares_the_file) {
  const std::size_t before = topos::memory_stats(topos::cpu()).in_use;

  const auto x = load_npy<float, 2>(peer_file("f32_2x3.npy"), topos::cpu());

  EXPECT_EQ(x.shape(), (topos::shape<2>{2, 3}));
  EXPECT_EQ(support::values_of(x), quarters);
  EXPECT_TRUE(is_shared(x.memory()));
  EXPECT_EQ(x.memory().use_count(), 1);
  EXPECT_EQ(topos::memory_stats(topos::cpu()).in_use, before);
}

TEST(load_npy, reads_every_type_to_every_device) {
  support::on_each_device([](topos::device d) {
    const auto f16 = load_npy<topos::f16, 1>(peer_file("f16_4.npy"), d);
    EXPECT_EQ(f16.device(), d);
    EXPECT_EQ(support::values_of(f16)[3], 65504.0F);
    EXPECT_EQ(support::values_of(load_npy<double, 1>(peer_file("f64_3.npy"), d))[1], -2.25);
    EXPECT_EQ(support::values_of(load_npy<std::int64_t, 0>(peer_file("i64_scalar.npy"), d))[0], -7);
    EXPECT_EQ(support::values_of(load_npy<std::int16_t, 1>(peer_file("i16_fortran_5.npy"), d))[4],
              4);
    EXPECT_EQ(support::values_of(load_npy<std::uint8_t, 3>(peer_file("u8_1x1x5.npy"), d))[4], 4);
    EXPECT_EQ(support::values_of(load_npy<bool, 1>(peer_file("bool_3.npy"), d)),
              (std::vector<bool>{true, false, true}));
    EXPECT_EQ(support::values_of(load_npy<Kokkos::complex<float>, 1>(peer_file("c64_2.npy"), d))[0],
              Kokkos::complex<float>(1, 2));
    EXPECT_EQ((load_npy<float, 2>(peer_file("f32_12345678x0.npy"), d).shape()),
              (topos::shape<2>{12345678, 0}));
  });
}

TEST(load_npy, copies_what_lies_otherwise) {
  const auto x = load_npy<double, 3>(peer_file("f64_fortran_big_endian.npy"), topos::cpu());
  EXPECT_FALSE(is_shared(x.memory()));
  EXPECT_EQ(support::values_of(x)[11], 11);

  const scratch folder;
  write_file(folder / "odd.npy",
             npy_file(dictionary("(1,)") + std::string(1, ' ')) + std::string("\0\0\x80\x3f", 4));
  const auto odd = load_npy<float, 1>(folder / "odd.npy", topos::cpu());
  EXPECT_FALSE(is_shared(odd.memory())) << "its elements are not aligned";
  EXPECT_EQ(support::values_of(odd), std::vector<float>{1});
}

TEST(load_npy, outlives_the_name_of_its_file) {
  const scratch folder;
  write_npy<float>(folder / "file.npy", shape{2, 3}, quarters);
  const auto x = load_npy<float, 2>(folder / "file.npy", topos::cpu());

  write_npy<float>(folder / "file.npy", shape{1}, std::vector<float>{9});

  EXPECT_EQ(support::values_of(x), quarters);
}

TEST(load_npy, refuses_what_is_not_such_a_tensor) {
  const scratch folder;
  write_file(folder / "bool.npy",
             npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}") + "\1\2\1");

  const std::string rank = message_of<topos::shape_mismatch>(
      [] { static_cast<void>(load_npy<float, 3>(peer_file("f32_2x3.npy"), topos::cpu())); });
  const std::string truth = message_of<io_error>(
      [&] { static_cast<void>(load_npy<bool, 1>(folder / "bool.npy", topos::cpu())); });

  EXPECT_TRUE(says(rank, {"f32_2x3.npy", "(2, 3) has 2 axes, asked for were 3"}));
  EXPECT_TRUE(says(truth, {"element 1 of a bool array is 2"}));
  EXPECT_THROW(static_cast<void>(load_npy<double, 2>(peer_file("f32_2x3.npy"), topos::cpu())),
               topos::dtype_mismatch);
}

TEST(write_npy, writes_a_tensor_from_any_device) {
  const scratch folder;
  support::on_each_device([&](topos::device d) {
    write_npy(folder / "file.npy", support::tensor_on<2>(d, {2, 3}, quarters));

    EXPECT_EQ(read_file(folder / "file.npy"), read_file(peer_file("f32_2x3.npy")));
  });
}

TEST(write_npy, computes_an_expression_for_it) {
  const scratch folder;
  support::on_each_device([&](topos::device d) {
    write_npy(folder / "file.npy", support::tensor_on<2>(d, {2, 3}, quarters) * 1.0F);

    EXPECT_EQ(read_file(folder / "file.npy"), read_file(peer_file("f32_2x3.npy")));
  });
}

TEST(write_npy, writes_numpys_bytes) {
  const scratch folder;
  const auto path = folder / "file.npy";
  const auto same = [&](const char* peer) { return read_file(path) == read_file(peer_file(peer)); };

  write_npy<float>(path, shape{2, 3}, quarters);
  EXPECT_TRUE(same("f32_2x3.npy"));
  write_npy<float>(path, shape{12345678, 0}, {});
  EXPECT_TRUE(same("f32_12345678x0.npy"));
  write_npy<double>(path, shape{3},
                    std::vector{1.5, -2.25, std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(same("f64_3.npy"));
  write_npy<std::int64_t>(path, {}, std::vector<std::int64_t>{-7});
  EXPECT_TRUE(same("i64_scalar.npy"));
  write_npy<std::uint8_t>(path, shape{1, 1, 5}, std::vector<std::uint8_t>{0, 1, 2, 3, 4});
  EXPECT_TRUE(same("u8_1x1x5.npy"));
  const bool flags[] = {true, false, true};
  write_npy<bool>(path, shape{3}, flags);
  EXPECT_TRUE(same("bool_3.npy"));
  write_npy<Kokkos::complex<float>>(path, shape{2},
                                    std::vector<Kokkos::complex<float>>{{1, 2}, {3, -4}});
  EXPECT_TRUE(same("c64_2.npy"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file.npy"});
}

TEST(write_npy, refuses_a_shape_of_another_size) {
  const scratch folder;

  EXPECT_THROW(write_npy<float>(folder / "file.npy", shape{2, 2}, quarters), topos::shape_mismatch);

  EXPECT_TRUE(folder.names().empty());
}

}  // namespace npy_test
