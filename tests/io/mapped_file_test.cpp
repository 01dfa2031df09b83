// SPDX-License-Identifier: Apache-2.0

/// What is mapped is what the file holds; what cannot be mapped is refused at once.

#include "scratch.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <topos/io/mapped_file.hpp>
#include <type_traits>
#include <utility>

namespace mapped_file_test {

using topos::io_error;
using topos::mapped_file;
using topos_test::message_of;
using topos_test::says;
using topos_test::scratch;
using topos_test::write_file;

static_assert(std::is_nothrow_move_constructible_v<mapped_file>);
static_assert(std::is_nothrow_move_assignable_v<mapped_file>);
static_assert(!std::is_copy_constructible_v<mapped_file>);
static_assert(!std::is_convertible_v<const char*, mapped_file>);

std::string text(const mapped_file& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// Pages of the mapping that count as this process' memory.
std::size_t resident_pages(const mapped_file& file) {
  std::ifstream smaps("/proc/self/smaps");
  const auto start = reinterpret_cast<std::size_t>(file.bytes().data());
  char expected[32];
  std::snprintf(expected, sizeof expected, "%zx-", start);
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.starts_with(expected)) inside = true;
    if (inside && line.starts_with("Rss:")) return std::stoul(line.substr(4)) * 1024 / page();
  }
  ADD_FAILURE() << "the mapping is not in /proc/self/smaps";
  return 0;
}

int touch(const mapped_file& file) {
  volatile int sum = 0;  // the reads happen even where nobody uses the sum
  for (const std::byte b : file.bytes()) sum = sum + static_cast<int>(b);
  return sum;
}

TEST(mapped_file, holds_the_bytes_of_the_file) {
  const scratch folder;
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, page(), page() + 1}) {
    const std::string content(size, 'x');
    write_file(folder / "file", content);

    const mapped_file file(folder / "file");

    EXPECT_EQ(text(file), content);
    EXPECT_EQ(file.path(), folder / "file");
  }
}

TEST(mapped_file, of_an_empty_file_is_empty) {
  const scratch folder;
  write_file(folder / "empty", "");

  const mapped_file file(folder / "empty");

  EXPECT_TRUE(file.bytes().empty());
  EXPECT_NO_THROW(file.release(0, 0));
}

TEST(mapped_file, stays_valid_when_the_name_is_removed) {
  const scratch folder;
  write_file(folder / "file", "content");
  const mapped_file file(folder / "file");

  std::filesystem::remove(folder / "file");

  EXPECT_EQ(text(file), "content");
}

TEST(mapped_file, moves_without_moving_its_bytes) {
  const scratch folder;
  write_file(folder / "one", "one");
  write_file(folder / "two", "two");
  mapped_file first(folder / "one");
  const std::byte* const before = first.bytes().data();

  mapped_file second(std::move(first));
  mapped_file third(folder / "two");
  static_cast<void>(third = std::move(second));

  EXPECT_EQ(third.bytes().data(), before);
  EXPECT_EQ(text(third), "one");
  EXPECT_EQ(third.path(), folder / "one");
}

TEST(mapped_file, refuses_what_is_no_regular_file) {
  const scratch folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);

  EXPECT_TRUE(says(message_of<io_error>([&] { static_cast<void>(mapped_file(folder / "absent")); }),
                   {"/absent': open: ", "No such file or directory"}));
  EXPECT_TRUE(says(message_of<io_error>([&] { static_cast<void>(mapped_file(folder / "")); }),
                   {"not a regular file but a directory"}));
  EXPECT_TRUE(says(message_of<io_error>([&] { static_cast<void>(mapped_file(folder / "fifo")); }),
                   {"not a regular file but a FIFO"}));
  EXPECT_TRUE(says(message_of<io_error>([] { static_cast<void>(mapped_file("/dev/zero")); }),
                   {"'/dev/zero': open: not a regular file"}));
}

TEST(mapped_file, names_the_callers_line) {
  try {
    static_cast<void>(mapped_file("/nowhere/at/all"));
    FAIL() << "nothing was thrown";
  } catch (const io_error& error) {
    EXPECT_TRUE(says(error.where().file_name(), {"mapped_file_test.cpp"}));
  }
}

TEST(mapped_file, shows_a_hostile_name_as_one_line) {
  const std::string message =
      message_of<io_error>([] { static_cast<void>(mapped_file("/nowhere/a\n\x1b[31mb")); });

  EXPECT_TRUE(says(message, {"a\\x0a\\x1b[31mb"}));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0);
}

TEST(mapped_file, release_gives_whole_pages_back) {
  const scratch folder;
  write_file(folder / "file", std::string(8 * page() + 100, '\1'));
  const mapped_file file(folder / "file");
  const int sum = touch(file);
  ASSERT_EQ(resident_pages(file), 9U);

  file.release(1, 3 * page());  // pages 1 and 2 are whole
  const std::size_t after_some = resident_pages(file);
  file.release(0, file.bytes().size());
  const std::size_t after_all = resident_pages(file);

  EXPECT_EQ(after_some, 7U);
  EXPECT_EQ(after_all, 0U);
  EXPECT_EQ(touch(file), sum);
}

TEST(mapped_file, release_of_less_than_a_page_keeps_it) {
  const scratch folder;
  write_file(folder / "file", std::string(2 * page(), '\1'));
  const mapped_file file(folder / "file");
  touch(file);

  file.release(1, page());
  file.release(0, page() - 1);

  EXPECT_EQ(resident_pages(file), 2U);
}

TEST(mapped_file, release_outside_the_file_is_refused) {
  const scratch folder;
  write_file(folder / "file", "content");
  const mapped_file file(folder / "file");

  EXPECT_THROW(file.release(0, 8), topos::out_of_range);
  EXPECT_THROW(file.release(8, 0), topos::out_of_range);
  EXPECT_THROW(file.release(1, std::size_t(-1)), topos::out_of_range);
  EXPECT_NO_THROW(file.release(7, 0));
}

}  // namespace mapped_file_test
