// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <topos/executor/detail/schedule.hpp>
#include <vector>

namespace schedule_test {

using namespace std::chrono_literals;
using topos::detail::doomed_work;
using topos::detail::schedule;
using topos::detail::work_lane;

struct nothing final : doomed_work {
  void end(const std::exception_ptr&) noexcept override {}
};

// Batches that are due at given times and write down when they ran.
class diary_lane final : public work_lane {
 public:
  diary_lane(std::string name, std::vector<std::string>& diary, std::vector<time_point> dues,
             double cost = 0)
      : name_(std::move(name)), diary_(diary), dues_(std::move(dues)), cost_(cost) {}

  [[nodiscard]] std::optional<time_point> due(bool, bool) const override {
    return next_ < dues_.size() ? std::optional(dues_[next_]) : std::nullopt;
  }
  ran run(std::unique_lock<std::mutex>& lock, bool, std::size_t) noexcept override {
    EXPECT_TRUE(lock.owns_lock());
    ++next_;
    diary_.push_back(name_);
    return {cost_};
  }
  [[nodiscard]] bool has_landed(std::size_t) const noexcept override { return true; }
  std::exception_ptr land(std::unique_lock<std::mutex>&, std::size_t) noexcept override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<doomed_work> take_all(bool) override {
    next_ = dues_.size();
    diary_.push_back("taken " + name_);
    return std::make_unique<doomed>(*this);
  }
  [[nodiscard]] bool idle() const override { return next_ == dues_.size(); }

 private:
  struct doomed final : doomed_work {
    explicit doomed(diary_lane& lane) : of(lane) {}
    void end(const std::exception_ptr&) noexcept override {
      of.diary_.push_back("ended " + of.name_);
    }
    diary_lane& of;
  };

  std::string name_;
  std::vector<std::string>& diary_;
  std::vector<time_point> dues_;
  double cost_;
  std::size_t next_ = 0;
};

// Batches that are all due, stay in flight until somebody waits for them, and write down where they
// were. The one of a number is lost as it lands.
class flying_lane final : public work_lane {
 public:
  flying_lane(std::vector<std::string>& diary, std::size_t batches, std::size_t lost)
      : diary_(diary), batches_(batches), lost_(lost) {}

  [[nodiscard]] std::optional<time_point> due(bool, bool) const override {
    return sent_ < batches_ ? std::optional(time_point{}) : std::nullopt;
  }
  ran run(std::unique_lock<std::mutex>& lock, bool, std::size_t slot) noexcept override {
    EXPECT_TRUE(lock.owns_lock());
    in_[slot] = sent_++;
    diary_.push_back("sent " + std::to_string(in_[slot]) + " in " + std::to_string(slot));
    return {0, nullptr, true};
  }
  [[nodiscard]] bool has_landed(std::size_t) const noexcept override { return false; }
  std::exception_ptr land(std::unique_lock<std::mutex>& lock, std::size_t slot) noexcept override {
    EXPECT_TRUE(lock.owns_lock());
    ++back_;
    diary_.push_back("back " + std::to_string(in_[slot]));
    return in_[slot] == lost_ ? std::make_exception_ptr(topos::device_lost("gone")) : nullptr;
  }
  [[nodiscard]] std::unique_ptr<doomed_work> take_all(bool) override {
    sent_ = back_ = batches_;
    return std::make_unique<nothing>();
  }
  [[nodiscard]] bool idle() const override { return back_ == batches_; }

 private:
  std::vector<std::string>& diary_;
  std::size_t batches_;
  std::size_t lost_;
  std::size_t sent_ = 0;
  std::size_t back_ = 0;
  std::size_t in_[6] = {};
};

// Batches that cost 1 and stay in flight; but for the first they come only when the diary has some
// lines.
class resuming_lane final : public work_lane {
 public:
  resuming_lane(std::string name, std::vector<std::string>& diary, std::size_t batches,
                std::size_t resumes)
      : name_(std::move(name)), diary_(diary), batches_(batches), resumes_(resumes) {}

  [[nodiscard]] std::optional<time_point> due(bool, bool) const override {
    return sent_ < batches_ && (sent_ == 0 || diary_.size() >= resumes_)
               ? std::optional(time_point{})
               : std::nullopt;
  }
  ran run(std::unique_lock<std::mutex>&, bool, std::size_t) noexcept override {
    ++sent_;
    diary_.push_back(name_);
    return {1, nullptr, true};
  }
  [[nodiscard]] bool has_landed(std::size_t) const noexcept override { return false; }
  std::exception_ptr land(std::unique_lock<std::mutex>&, std::size_t) noexcept override {
    ++back_;
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<doomed_work> take_all(bool) override {
    return std::make_unique<nothing>();
  }
  [[nodiscard]] bool idle() const override { return back_ == sent_ && !due(false, false); }

 private:
  std::string name_;
  std::vector<std::string>& diary_;
  std::size_t batches_;
  std::size_t resumes_;
  std::size_t sent_ = 0;
  std::size_t back_ = 0;
};

// What one of some replicas writes down of a lane's flights; `stopping`: it ends with the last.
std::vector<std::string> flights(std::size_t batches, std::size_t lost, std::size_t replicas,
                                 std::size_t replica, bool stopping) {
  topos::manual_time time;
  schedule work(time, replicas);
  std::vector<std::string> diary;
  flying_lane lane(diary, batches, lost);
  work.add(lane);
  if (stopping) work.stop();
  work.serve(replica);
  return diary;
}

TEST(schedule, sends_a_batch_while_another_is_in_flight) {
  EXPECT_EQ(flights(3, 99, 3, 1, true),
            (std::vector<std::string>{"sent 0 in 2", "sent 1 in 3", "back 0", "sent 2 in 2",
                                      "back 1", "back 2"}));
}

TEST(schedule, lands_what_is_in_flight_on_a_lost_replica) {
  EXPECT_EQ(flights(4, 1, 2, 0, false),
            (std::vector<std::string>{"sent 0 in 0", "sent 1 in 1", "back 0", "sent 2 in 0",
                                      "back 1", "back 2"}));
}

constexpr work_lane::time_point start{};

// Has one replica run all that two lanes have, ten seconds after the start.
void serve_both(work_lane& a, work_lane& b) {
  topos::manual_time time;
  time.advance(10s);
  schedule work(time, 1);
  work.add(a);
  work.add(b);
  work.stop();
  work.serve(0);
}

TEST(schedule, runs_what_is_due_for_longest) {
  std::vector<std::string> diary;
  diary_lane a("a", diary, {start + 2s, start + 3s});
  diary_lane b("b", diary, {start + 1s, start + 4s});
  serve_both(a, b);
  EXPECT_EQ(diary, (std::vector<std::string>{"b", "a", "a", "b"}));
}

TEST(schedule, shares_the_replicas_by_cost) {
  std::vector<std::string> diary;
  // Both wait all the time; a batch of the one costs three of the other's.
  diary_lane dear("D", diary, {start, start, start}, 3);
  diary_lane cheap("c", diary, std::vector(9, start + 1s), 1);
  serve_both(dear, cheap);
  EXPECT_EQ(diary,
            (std::vector<std::string>{"D", "c", "c", "c", "D", "c", "c", "c", "D", "c", "c", "c"}));
}

TEST(schedule, lets_what_costs_nothing_take_turns_with_the_rest) {
  std::vector<std::string> diary;
  diary_lane free("f", diary, {start, start, start}, 0);
  diary_lane other("o", diary, std::vector(3, start + 1s), 1);
  serve_both(free, other);
  EXPECT_EQ(diary, (std::vector<std::string>{"f", "o", "f", "o", "f", "o"}));
}

// This thread computes the other lane's batch, which may take long.
TEST(schedule, lands_what_is_in_flight_before_it_computes) {
  std::vector<std::string> diary;
  flying_lane flies(diary, 1, 99);
  diary_lane computes("computed", diary, {start + 1s});
  serve_both(flies, computes);
  EXPECT_EQ(diary, (std::vector<std::string>{"sent 0 in 0", "back 0", "computed"}));
}

// The other lane keeps the replica busy all the time that this one has no work.
TEST(schedule, saves_nothing_up_for_a_lane_without_work) {
  std::vector<std::string> diary;
  resuming_lane always("a", diary, 8, 0);
  resuming_lane resumes("r", diary, 4, 6);
  serve_both(always, resumes);
  EXPECT_EQ(diary, (std::vector<std::string>{"a", "r", "a", "a", "a", "a",  //
                                             "r", "a", "r", "a", "r", "a"}));
}

// A replica that became free between two lanes would start what waits in the second.
TEST(schedule, takes_all_work_out_before_it_ends_any) {
  topos::manual_time time;
  schedule work(time, 1);
  std::vector<std::string> diary;
  diary_lane a("a", diary, {time.now()});
  diary_lane b("b", diary, {time.now()});
  work.add(a);
  work.add(b);
  work.abort(nullptr);
  EXPECT_EQ(diary, (std::vector<std::string>{"taken a", "taken b", "ended a", "ended b"}));
}

TEST(schedule, is_not_idle_while_something_ends) {
  topos::manual_time time;
  schedule work(time, 1);
  {
    const auto lock = work.lock();
    work.will_end();
  }
  EXPECT_FALSE(work.wait_idle(time.now()));
  bool idle = false;
  std::thread waits([&] { idle = work.wait_idle(schedule::time_point::max()); });
  time.wait_for_waiters(1);
  work.has_ended();
  waits.join();
  EXPECT_TRUE(idle);
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

}  // namespace schedule_test
