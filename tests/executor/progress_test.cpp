// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <topos/executor/progress.hpp>
#include <type_traits>

namespace progress_test {

using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<topos::progress>);

std::string cells(std::size_t count, const std::string& cell = "━") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += cell;
  return text;
}

std::string lit(const std::string& text) { return "\x1b[32m" + text + "\x1b[0m"; }
std::string dim(const std::string& text) { return "\x1b[90m" + text + "\x1b[0m"; }
std::string line(const std::string& bar, const std::string& text) {
  return "\rWorking... " + bar + text + "\x1b[K";
}

class progress_bar : public testing::Test {
 protected:
  // What was drawn since it was asked last.
  std::string drawn() {
    std::string text = out.str();
    out.str("");
    return text;
  }

  std::ostringstream out;
  topos::manual_time time;
  topos::progress_options options{.out = &out, .time = &time};
};

TEST_F(progress_bar, starts_with_nothing_done) {
  const topos::progress bar(314, options);
  EXPECT_EQ(drawn(), line(dim(cells(40)), " 0:00:00 0.0 step/s 0/314 steps"));
}

TEST_F(progress_bar, shows_half_a_cell) {
  topos::progress bar(314, options);
  drawn();
  time.advance(18s);
  bar.step(271);
  EXPECT_EQ(drawn(), line(lit(cells(34) + "╸") + dim(cells(5)),
                          " 0:00:18 15.1 step/s 271/314 steps, 0:00:03 left"));
}

TEST_F(progress_bar, ends_as_the_steps_are_done) {
  topos::progress bar(314, options);
  time.advance(20800ms);
  bar.step(314);
  drawn();
  bar.finish();
  EXPECT_EQ(drawn(),
            line(lit(cells(40)), " 0:00:20 15.1 step/s 314 steps done in 20 seconds") + "\n");
  bar.finish();
  EXPECT_EQ(drawn(), "");
}

TEST_F(progress_bar, is_drawn_at_most_ten_times_a_second) {
  topos::progress bar(10, options);
  drawn();
  time.advance(99ms);
  bar.step();
  EXPECT_EQ(drawn(), "");
  time.advance(1ms);
  bar.step();
  EXPECT_EQ(drawn(),
            line(lit(cells(8)) + dim(cells(32)), " 0:00:00 20.0 step/s 2/10 steps, 0:00:01 left"));
  bar.step();
  EXPECT_EQ(drawn(), "");
}

TEST_F(progress_bar, runs_to_and_fro_where_the_end_is_not_known) {
  topos::progress bar(std::nullopt, options);
  EXPECT_EQ(drawn(), line(lit(cells(10)) + dim(cells(30)), " 0:00:00 0.0 step/s 0 steps"));
  time.advance(1s);  // 20 beats
  bar.step();
  EXPECT_EQ(drawn(),
            line(dim(cells(20)) + lit(cells(10)) + dim(cells(10)), " 0:00:01 1.0 step/s 1 step"));
  time.advance(1s);  // 40 beats: 30 to the end, and 10 back
  bar.step();
  EXPECT_EQ(drawn(),
            line(dim(cells(20)) + lit(cells(10)) + dim(cells(10)), " 0:00:02 1.0 step/s 2 steps"));
  bar.finish();
  EXPECT_EQ(drawn(), line(lit(cells(40)), " 0:00:02 1.0 step/s 2 steps done in 2 seconds") + "\n");
}

TEST_F(progress_bar, ends_its_line_when_it_is_left_early) {
  {
    topos::progress bar(4, options);
    bar.step();
    drawn();
    time.advance(1s);
  }
  EXPECT_EQ(
      drawn(),
      line(lit(cells(10)) + dim(cells(30)), " 0:00:01 1.0 step/s 1 step done in 1 second") + "\n");
}

TEST_F(progress_bar, says_hours_and_minutes) {
  topos::progress bar(1, options);
  time.advance(1h + 2min + 5s);
  bar.step();
  drawn();
  bar.finish();
  EXPECT_EQ(
      drawn(),
      line(lit(cells(40)), " 1:02:05 0.0 step/s 1 step done in 1 hour 2 minutes 5 seconds") + "\n");
}

TEST_F(progress_bar, of_no_steps_is_done_at_once) {
  topos::progress bar(0, options);
  drawn();
  bar.finish();
  EXPECT_EQ(drawn(), line(lit(cells(40)), " 0:00:00 0.0 step/s 0 steps done in 0 seconds") + "\n");
}

TEST_F(progress_bar, more_steps_than_expected_fill_the_bar) {
  topos::progress bar(2, options);
  drawn();
  time.advance(1s);
  bar.step(3);
  EXPECT_EQ(drawn(), line(lit(cells(40)), " 0:00:01 3.0 step/s 3/2 steps"));
}

TEST_F(progress_bar, fits_into_a_narrow_terminal) {
  options.columns = 60;
  const topos::progress wide(314, options);
  EXPECT_EQ(drawn(), line(dim(cells(18)), " 0:00:00 0.0 step/s 0/314 steps"));
  options.columns = 20;
  const topos::progress narrow(314, options);
  EXPECT_EQ(drawn(), line(dim(cells(8)), " 0:00:00 0.0 step/s 0/314 steps"));
}

TEST_F(progress_bar, is_not_drawn_where_there_is_no_terminal) {
  if (::isatty(STDERR_FILENO) != 0) GTEST_SKIP() << "the standard error stream is a terminal";
  testing::internal::CaptureStderr();
  {
    topos::progress bar(2, {.time = &time});
    time.advance(1s);
    bar.step(2);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace progress_test
