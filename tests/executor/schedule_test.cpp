// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <topos/executor/detail/schedule.hpp>
#include <vector>

using namespace std::chrono_literals;
using topos::detail::schedule;
using topos::detail::work_lane;

namespace {

// Batches that are due at given times and write down when they ran.
class diary_lane final : public work_lane {
 public:
  diary_lane(std::string name, std::vector<std::string>& diary, std::vector<time_point> dues,
             double cost = 0)
      : name_(std::move(name)), diary_(diary), dues_(std::move(dues)), cost_(cost) {}

  [[nodiscard]] std::optional<time_point> due(bool) const override {
    return next_ < dues_.size() ? std::optional(dues_[next_]) : std::nullopt;
  }
  ran run(std::unique_lock<std::mutex>& lock, bool, std::size_t) noexcept override {
    EXPECT_TRUE(lock.owns_lock());
    ++next_;
    diary_.push_back(name_);
    return {cost_};
  }
  void fail_all(std::unique_lock<std::mutex>&, const std::exception_ptr&, bool) noexcept override {}
  [[nodiscard]] bool idle() const override { return next_ == dues_.size(); }

 private:
  std::string name_;
  std::vector<std::string>& diary_;
  std::vector<time_point> dues_;
  double cost_;
  std::size_t next_ = 0;
};

}  // namespace

TEST(schedule, runs_what_is_due_for_longest) {
  topos::manual_time time;
  schedule work(time, 1);
  const auto start = time.now();
  time.advance(10s);
  std::vector<std::string> diary;
  diary_lane a("a", diary, {start + 2s, start + 3s});
  diary_lane b("b", diary, {start + 1s, start + 4s});
  work.add(a);
  work.add(b);
  work.stop();
  work.serve(0);
  EXPECT_EQ(diary, (std::vector<std::string>{"b", "a", "a", "b"}));
}

TEST(schedule, shares_the_replicas_by_cost) {
  topos::manual_time time;
  schedule work(time, 1);
  const auto start = time.now();
  time.advance(10s);
  std::vector<std::string> diary;
  // Both wait all the time; a batch of the one costs three of the other's.
  diary_lane dear("D", diary, {start, start, start}, 3);
  diary_lane cheap("c", diary, std::vector(9, start + 1s), 1);
  work.add(dear);
  work.add(cheap);
  work.stop();
  work.serve(0);
  EXPECT_EQ(diary,
            (std::vector<std::string>{"D", "c", "c", "c", "D", "c", "c", "c", "D", "c", "c", "c"}));
}

TEST(schedule, waits_for_what_is_not_due) {
  topos::manual_time time;
  schedule work(time, 1);
  std::vector<std::string> diary;
  diary_lane a("a", diary, {time.now() + 2s});
  work.add(a);
  std::thread replica([&] { work.serve(0); });
  time.wait_for_waiters(1);
  time.advance(1s);
  {
    const auto lock = work.lock();
    EXPECT_TRUE(diary.empty());
  }
  time.wait_for_waiters(1);
  time.advance(1s);
  for (bool ran = false; !ran; std::this_thread::yield()) {
    const auto lock = work.lock();
    ran = diary.size() == 1;
  }
  work.stop();
  replica.join();
}

TEST(schedule, sends_blocked_producers_away_when_it_stops) {
  schedule work(topos::steady_time::instance(), 1);
  std::atomic<bool> asked = false;
  std::string told;
  std::thread producer([&] {
    auto lock = work.lock();
    try {
      work.admit(lock, [&] {
        asked = true;
        return false;
      });
    } catch (const topos::error& e) {
      told = e.what();
    }
  });
  while (!asked) std::this_thread::yield();
  // The lock is free only now that the producer sleeps.
  work.lock().unlock();
  work.stop();
  producer.join();
  EXPECT_EQ(told, "executor: work was submitted while it was shut down");
}
