// SPDX-License-Identifier: Apache-2.0

/// What is written row by row appears whole or not at all, and every failure is told.

#include "scratch.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <topos/io/npy.hpp>
#include <topos/tensor/creation.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace npy_writer_test {

using topos::index_t;
using topos::io_error;
using topos::npy_writer;
using topos::read_npy;
using topos::write_npy;
using topos_test::message_of;
using topos_test::peer_file;
using topos_test::read_file;
using topos_test::says;
using topos_test::scratch;
using topos_test::write_file;

static_assert(std::is_move_constructible_v<npy_writer<float>>);
static_assert(!std::is_copy_constructible_v<npy_writer<float>>);
static_assert(!std::is_convertible_v<std::filesystem::path, npy_writer<float>>);

using shape = std::vector<index_t>;

const std::vector<float> quarters = {0, 0.25F, 0.5F, 0.75F, 1, 1.25F};

TEST(npy_writer, writes_numpys_bytes_whether_or_not_it_knows_the_count) {
  const scratch folder;
  for (const std::optional<index_t> rows : {std::optional<index_t>(), std::optional<index_t>(2)}) {
    npy_writer<float> writer(folder / "file.npy", {3}, rows);
    writer.append(std::span(quarters).first(3));
    writer.append({});
    writer.append(std::span(quarters).last(3));
    EXPECT_EQ(writer.rows(), 2);
    writer.close();
    writer.close();

    EXPECT_EQ(read_file(folder / "file.npy"), read_file(peer_file("f32_2x3.npy")));
  }
}

TEST(npy_writer, writes_any_number_of_rows) {
  const scratch folder;
  for (const std::size_t rows : {0, 1, 9, 10, 65535, 65536, 65537, 200'001}) {
    std::vector<float> all(rows * 2);
    std::iota(all.begin(), all.end(), 0.0F);
    npy_writer<float> writer(folder / "file.npy", {2});
    for (std::size_t done = 0, step = 1; done < all.size(); done += step) {
      step = std::min(all.size() - done, step * 6);  // even, from a few bytes to more than a buffer
      writer.append(std::span(all).subspan(done, step));
    }
    writer.close();

    const auto array = read_npy<float>(folder / "file.npy");
    EXPECT_EQ(array.shape, (shape{static_cast<index_t>(rows), 2}));
    EXPECT_EQ(array.values, all);
  }
}

TEST(npy_writer, of_a_vector_has_rows_of_one_value) {
  const scratch folder;

  npy_writer<double> writer(folder / "file.npy");
  writer.append(std::vector{1.5, -2.25, std::numeric_limits<double>::infinity()});
  writer.close();

  EXPECT_EQ(read_file(folder / "file.npy"), read_file(peer_file("f64_3.npy")));
}

TEST(npy_writer, of_empty_rows_has_those_announced) {
  const scratch folder;

  npy_writer<float> writer(folder / "file.npy", {0}, 12345678);
  writer.append({});
  writer.close();

  EXPECT_EQ(writer.rows(), 12345678);
  EXPECT_EQ(read_file(folder / "file.npy"), read_file(peer_file("f32_12345678x0.npy")));
}

TEST(npy_writer, keeps_the_old_file_until_close) {
  const scratch folder;
  write_file(folder / "file.npy", "old");
  {
    npy_writer<float> abandoned(folder / "file.npy", {3});
    abandoned.append(quarters);
    EXPECT_EQ(read_file(folder / "file.npy"), "old");
    EXPECT_EQ(folder.names().size(), 2U);
  }
  EXPECT_EQ(read_file(folder / "file.npy"), "old");
  EXPECT_EQ(folder.names().size(), 1U);

  npy_writer<float> writer(folder / "file.npy", {3});
  writer.append(quarters);
  writer.close();

  EXPECT_EQ(read_npy<float>(folder / "file.npy").values, quarters);
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(npy_writer, names_its_temporary_file_after_target_and_process) {
  const scratch folder;

  const npy_writer<float> first(folder / "file.npy");
  const npy_writer<float> second(folder / "file.npy");

  EXPECT_EQ(folder.names().size(), 2U);
  for (const std::string& name : folder.names()) {
    EXPECT_TRUE(name.starts_with("file.npy." + std::to_string(::getpid())));
    EXPECT_TRUE(name.ends_with(".part"));
  }
}

TEST(npy_writer, writes_files_of_the_longest_names) {
  const scratch folder;
  const std::string name(255, 'n');
  topos::write_npy(folder / name, topos::zeros<float, 1>({3}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{name});
}

TEST(npy_writer, can_be_moved) {
  const scratch folder;
  npy_writer<float> first(folder / "file.npy", {3});
  first.append(std::span(quarters).first(3));

  npy_writer<float> second(std::move(first));
  second.append(std::span(quarters).last(3));
  second.close();

  EXPECT_EQ(read_npy<float>(folder / "file.npy").values, quarters);
}

TEST(npy_writer, checks_what_is_appended) {
  const scratch folder;
  npy_writer<float> writer(folder / "file.npy", {3}, 2);

  EXPECT_THROW(writer.append(std::span(quarters).first(4)), topos::invalid_argument);
  writer.append(std::span(quarters).first(3));
  EXPECT_TRUE(says(message_of<topos::invalid_argument>([&] { writer.close(); }),
                   {"file.npy", "1 rows of 2"}));
  EXPECT_TRUE(says(message_of<topos::invalid_argument>([&] { writer.append(quarters); }),
                   {"more rows than the 2 announced"}));
  writer.append(std::span(quarters).last(3));
  writer.close();

  EXPECT_EQ(read_npy<float>(folder / "file.npy").values, quarters);
  EXPECT_THROW(npy_writer<float>(folder / "other.npy", {-1}), topos::invalid_argument);
  EXPECT_THROW(npy_writer<float>(folder / "other.npy", {1}, -1), topos::invalid_argument);
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(npy_writer, append_after_close_is_refused) {
  const scratch folder;
  npy_writer<float> writer(folder / "file.npy");
  writer.close();

  EXPECT_TRUE(says(message_of<io_error>([&] { writer.append(quarters); }), {"closed"}));

  EXPECT_EQ(read_npy<float>(folder / "file.npy").shape, shape{0});

  npy_writer<float> nowhere("/dev/null");  // whose rows are held until it is closed
  nowhere.close();
  EXPECT_TRUE(says(message_of<io_error>([&] { nowhere.append(quarters); }), {"closed"}));
}

TEST(npy_writer, refuses_at_once_what_cannot_be_written) {
  const scratch folder;
  std::filesystem::create_directory(folder / "sub");
  const auto refused = [](const std::filesystem::path& path) {
    return message_of<io_error>([&] { npy_writer<float>{path}; });
  };

  EXPECT_TRUE(says(refused(folder / "absent/file.npy"),
                   {"absent/file.npy': open for writing: No such file or directory"}));
  EXPECT_TRUE(says(refused(folder / "sub"), {"Is a directory"}));
  EXPECT_TRUE(says(refused(""), {"open for writing"}));
  EXPECT_TRUE(says(refused(folder / std::string(300, 'x')), {"File name too long"}));
}

TEST(npy_writer, respects_permissions) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const scratch folder;
  write_file(folder / "read_only.npy", "old");
  std::filesystem::permissions(folder / "read_only.npy", std::filesystem::perms::owner_read);

  EXPECT_TRUE(says(message_of<io_error>([&] { npy_writer<float>{folder / "read_only.npy"}; }),
                   {"Permission denied"}));

  EXPECT_EQ(read_file(folder / "read_only.npy"), "old");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(npy_writer, keeps_the_permissions_of_the_old_file) {
  const scratch folder;
  write_file(folder / "file.npy", "old");
  const auto secret = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(folder / "file.npy", secret);

  write_npy<float>(folder / "file.npy", shape{6}, quarters);

  EXPECT_EQ(std::filesystem::status(folder / "file.npy").permissions(), secret);
}

TEST(npy_writer, writes_through_a_link) {
  const scratch folder;
  write_file(folder / "real.npy", "old");
  std::filesystem::create_symlink("real.npy", folder / "link.npy");

  write_npy<float>(folder / "link.npy", shape{6}, quarters);

  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npy"));
  EXPECT_EQ(read_npy<float>(folder / "real.npy").values, quarters);
}

TEST(npy_writer, makes_what_a_link_names) {
  const scratch folder;
  std::filesystem::create_symlink("next.npy", folder / "link.npy");
  std::filesystem::create_symlink(folder / "real.npy", folder / "next.npy");
  std::filesystem::create_symlink("none/real.npy", folder / "lost.npy");

  write_npy<float>(folder / "link.npy", shape{6}, quarters);

  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npy"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "next.npy"));
  EXPECT_EQ(read_npy<float>(folder / "real.npy").values, quarters);
  EXPECT_THROW(write_npy<float>(folder / "lost.npy", shape{6}, quarters), topos::io_error);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "lost.npy"));
}

TEST(npy_writer, writes_to_a_fifo) {
  const scratch folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const std::optional<index_t> rows : {std::optional<index_t>(), std::optional<index_t>(2)}) {
    std::string received;
    std::thread reader([&] { received = read_file(folder / "fifo"); });

    {
      npy_writer<float> writer(folder / "fifo", {3}, rows);
      writer.append(quarters);
      writer.close();
    }

    reader.join();
    EXPECT_EQ(received, read_file(peer_file("f32_2x3.npy")));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "fifo"));
}

TEST(npy_writer, writes_to_a_device) {
  npy_writer<float> writer("/dev/null", {3});
  writer.append(quarters);

  EXPECT_NO_THROW(writer.close());

  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(npy_writer, reports_a_full_device) {
  const std::vector<float> many(1'000'000);
  for (const std::optional<index_t> rows :
       {std::optional<index_t>(), std::optional<index_t>(1'000'000)}) {
    const std::string message = message_of<io_error>([&] {
      npy_writer<float> writer("/dev/full", {}, rows);
      writer.append(many);
      writer.close();
    });

    EXPECT_TRUE(says(message, {"'/dev/full': write: No space left on device"}));
  }
  EXPECT_TRUE(says(message_of<io_error>([] {
                     npy_writer<float> writer("/dev/full");
                     writer.append(quarters);
                     writer.close();
                   }),
                   {"No space left on device"}));
}

// A limit on the size of files stands in for a full disk.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(npy_writer, leaves_nothing_behind_when_the_disk_is_full) {
  const scratch folder;
  write_file(folder / "old.npy", "old");
  const std::vector<float> many(1'000'000);
  std::string on_append;
  std::string on_close;
  std::string after;

  {
    const file_size_limit limit(1000);
    npy_writer<float> large(folder / "old.npy");
    on_append = message_of<io_error>([&] { large.append(many); });
    after = message_of<io_error>([&] { large.close(); });
    npy_writer<float> small(folder / "new.npy");
    small.append(std::span(many).first(300));
    on_close = message_of<io_error>([&] { small.close(); });
    EXPECT_EQ(folder.names().size(), 1U);
  }

  EXPECT_TRUE(says(on_append, {"old.npy': write: File too large"}));
  EXPECT_TRUE(says(on_close, {"new.npy': write: File too large"}));
  EXPECT_TRUE(says(after, {"closed"}));
  EXPECT_EQ(read_file(folder / "old.npy"), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"old.npy"});
}

}  // namespace npy_writer_test
