// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A bar on the terminal that says how far a stream of requests has come.

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <topos/core/error.hpp>
#include <topos/executor/time_source.hpp>

namespace topos {

/// Where and how a progress bar is drawn.
struct progress_options {
  /// Null: the standard error stream, where that is a terminal, else nothing is drawn.
  std::ostream* out = nullptr;
  /// The width that the bar must fit into; 0: the terminal's own, or as wide as it gets.
  std::size_t columns = 0;
  /// Must outlive the bar.
  const time_source* time = &steady_time::instance();
};

/// Draws `Working... ━━━━━━╸━━━ 0:00:20 15.1 step/s 300/314 steps, 0:00:01 left` over itself, at
/// most ten times a second, and at the end `... 314 steps done in 20 seconds`. For one thread.
class progress {
 public:
  /// `total`: the steps to expect; without it the bar runs to and fro.
  explicit progress(std::optional<std::size_t> total, const progress_options& options = {})
      : out_(options.out),
        total_(total),
        columns_(options.columns),
        time_(*options.time),
        started_(time_.now()) {
    if (out_ == nullptr && is_terminal()) {
      out_ = &std::cerr;
      if (columns_ == 0) columns_ = terminal_columns();
    }
    draw(started_);
  }

  ~progress() {
    try {
      finish();
    } catch (...) {  // a stream that throws where it cannot write costs the last line, no more
    }
  }

  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Counts steps that are done.
  void step(std::size_t count = 1) {
    done_ += count;
    if (out_ == nullptr) return;
    const auto now = time_.now();
    if (now - drawn_ >= std::chrono::milliseconds(100)) draw(now);
  }

  /// Draws the last line and leaves it standing; afterwards nothing more is drawn.
  void finish() {
    if (finished_) return;
    finished_ = true;
    draw(time_.now());
  }

 private:
  using time_point = time_source::time_point;

  static constexpr std::size_t longest_bar = 40;
  static constexpr std::size_t shortest_bar = 8;

  [[nodiscard]] static bool is_terminal() {
    const char* const kind = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) != 0 && !(kind != nullptr && std::string_view(kind) == "dumb");
  }

  [[nodiscard]] static std::size_t terminal_columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  }

  void draw(time_point now) {
    if (out_ == nullptr) return;
    drawn_ = now;
    constexpr std::string_view title = "Working... ";
    const std::string text = describe(now);
    const std::size_t taken = title.size() + text.size();
    std::size_t cells = longest_bar;
    if (columns_ != 0) {
      cells = std::clamp(columns_ - std::min(columns_, taken), shortest_bar, longest_bar);
    }
    // One write, so that the line never stands half drawn; the rest of an older one is erased.
    *out_ << detail::concat('\r', title, bar(now, cells), text, "\x1b[K", finished_ ? "\n" : "")
          << std::flush;
  }

  /// ` 0:00:20 15.1 step/s 300/314 steps, 0:00:01 left`
  [[nodiscard]] std::string describe(time_point now) const {
    const std::chrono::duration<double> elapsed = now - started_;
    const auto seconds = static_cast<std::size_t>(elapsed.count());
    const double rate = elapsed.count() > 0 ? static_cast<double>(done_) / elapsed.count() : 0.0;
    char number[40];  // with a point in every locale
    const char* const past =
        std::to_chars(std::begin(number), std::end(number), rate, std::chars_format::fixed, 1).ptr;
    const std::string head = detail::concat(
        ' ', clock(seconds), ' ', std::string_view(number, static_cast<std::size_t>(past - number)),
        " step/s ");
    if (finished_) return detail::concat(head, plural(done_, "step"), " done in ", words(seconds));
    if (!total_) return detail::concat(head, plural(done_, "step"));
    std::string text = detail::concat(head, done_, '/', plural(*total_, "step"));
    if (rate > 0 && done_ < *total_) {
      const double left = std::ceil(static_cast<double>(*total_ - done_) / rate);
      text += detail::concat(", ", clock(static_cast<std::size_t>(left)), " left");
    }
    return text;
  }

  /// "1:02:03"
  [[nodiscard]] static std::string clock(std::size_t seconds) {
    char text[40];
    std::snprintf(text, sizeof text, "%zu:%02zu:%02zu", seconds / 3600, seconds / 60 % 60,
                  seconds % 60);
    return text;
  }

  [[nodiscard]] static std::string plural(std::size_t count, std::string_view noun) {
    return detail::concat(count, ' ', noun, count == 1 ? "" : "s");
  }

  /// "1 hour 2 minutes 3 seconds"
  [[nodiscard]] static std::string words(std::size_t seconds) {
    std::string text;
    if (seconds >= 3600) text += plural(seconds / 3600, "hour") + ' ';
    if (seconds >= 60) text += plural(seconds / 60 % 60, "minute") + ' ';
    return text + plural(seconds % 60, "second");
  }

  [[nodiscard]] std::string bar(time_point now, std::size_t cells) const {
    std::size_t before = 0;  // dim cells on the left
    std::size_t halves = 2 * cells;
    if (total_ && *total_ > 0) {
      halves = static_cast<std::size_t>(static_cast<double>(2 * cells) *
                                        static_cast<double>(std::min(done_, *total_)) /
                                        static_cast<double>(*total_));
    } else if (!finished_) {
      const std::size_t lit = cells / 4;
      const std::size_t way = cells - lit;
      const auto beat = static_cast<std::size_t>((now - started_) / std::chrono::milliseconds(50));
      const std::size_t at = beat % (2 * way);
      before = at <= way ? at : 2 * way - at;
      halves = 2 * lit;
    }
    const std::size_t lit = (halves + 1) / 2;
    std::string text;
    text += paint("\x1b[90m", before, false);
    text += paint("\x1b[32m", lit, halves % 2 != 0);
    text += paint("\x1b[90m", cells - before - lit, false);
    return text;
  }

  [[nodiscard]] static std::string paint(std::string_view color, std::size_t cells,
                                         bool last_is_half) {
    if (cells == 0) return {};
    std::string text(color);
    for (std::size_t i = 0; i < cells; ++i) {
      text += last_is_half && i + 1 == cells ? "╸" : "━";
    }
    return text += "\x1b[0m";
  }

  std::ostream* out_;
  std::optional<std::size_t> total_;
  std::size_t columns_;
  const time_source& time_;
  time_point started_;
  time_point drawn_;
  std::size_t done_ = 0;
  bool finished_ = false;
};

}  // namespace topos
