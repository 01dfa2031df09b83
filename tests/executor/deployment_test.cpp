// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <topos/executor.hpp>
#include <vector>

#include "../support/devices.hpp"
#include "gate.hpp"

namespace deployment_test {

struct document {
  std::string text;
};
using embedding = std::array<float, 2>;

// Says what it was given; made, used and destroyed by one thread, or it counts a violation.
class encoder {
 public:
  explicit encoder(topos::device place) : place_(place) {
    ++alive;
    if (topos::default_device::current() != place) ++violations;
  }
  ~encoder() {
    --alive;
    if (std::this_thread::get_id() != thread_) ++violations;
  }
  encoder(const encoder&) = delete;
  encoder& operator=(const encoder&) = delete;

  std::vector<embedding> encode(std::span<const document> batch) {
    const entry guard(*this);
    std::vector<embedding> results;
    for (const document& d : batch) {
      if (d.text == "bad") throw std::domain_error("a bad document");
      results.push_back({static_cast<float>(d.text.size()), 1});
    }
    return results;
  }

  std::vector<std::string> shout(std::span<const std::string> batch) const {
    const entry guard(*this);
    std::vector<std::string> results;
    for (const std::string& s : batch) results.push_back(s + "!");
    return results;
  }

  std::vector<int> short_by_one(std::span<const int> batch) {
    return std::vector<int>(batch.size() - 1);
  }

  std::vector<topos::device> where(std::span<const int> batch) const noexcept {
    return std::vector<topos::device>(batch.size(), place_);
  }

  static inline std::atomic<int> alive = 0;
  static inline std::atomic<int> violations = 0;

 private:
  struct entry {
    explicit entry(const encoder& e) : model(e) {
      if (model.entered_.exchange(true)) ++violations;
      if (std::this_thread::get_id() != model.thread_) ++violations;
    }
    ~entry() { model.entered_ = false; }
    const encoder& model;
  };

  topos::device place_;
  std::thread::id thread_ = std::this_thread::get_id();
  mutable std::atomic<bool> entered_ = false;
};

using encoder_deployment = topos::deployment<encoder, topos::endpoint<"/encode", &encoder::encode>,
                                             topos::endpoint<"/shout", &encoder::shout>,
                                             topos::endpoint<"/short", &encoder::short_by_one>,
                                             topos::endpoint<"/where", &encoder::where>>;

struct counted_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The second one that is made throws.
struct hesitant {
  explicit hesitant(topos::device) {
    if (made++ == 1) throw counted_failure("no second one");
    ++alive;
  }
  ~hesitant() { --alive; }
  std::vector<int> run(std::span<const int> batch) { return std::vector<int>(batch.size()); }
  static inline std::atomic<int> made = 0;
  static inline std::atomic<int> alive = 0;
};

// Needs more than its device.
struct scaled {
  scaled(topos::device, int by) : factor(by) {}
  scaled(const scaled&) = delete;
  scaled& operator=(const scaled&) = delete;
  std::vector<int> run(std::span<const int> batch) const {
    std::vector<int> results;
    for (const int item : batch) results.push_back(factor * item);
    return results;
  }
  int factor;
};
using scaled_deployment = topos::deployment<scaled, topos::endpoint<"/run", &scaled::run>>;

static_assert(std::is_constructible_v<encoder_deployment, topos::executor_options>);
static_assert(!std::is_move_constructible_v<encoder_deployment>);
static_assert(topos::needs_no_factory<encoder>);
static_assert(!topos::needs_no_factory<scaled>);
static_assert(topos::model_factory<scaled (*)(topos::device), scaled>);
static_assert(topos::model_factory<std::unique_ptr<scaled> (*)(topos::device), scaled>);
static_assert(!topos::model_factory<int (*)(topos::device), scaled>);
static_assert(!topos::model_factory<scaled (*)(int, int), scaled>);

class deployment : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(encoder::alive, 0);
    EXPECT_EQ(encoder::violations, 0);
  }
};

TEST_F(deployment, encodes_documents_in_requests) {
  encoder_deployment dep{{.devices = {topos::cpu()}}};
  const std::vector<document> documents(70, document{"four"});
  std::size_t count = 0;
  for (const auto& e : dep.post<"/encode">(documents, {.request_size = 32})) {
    EXPECT_EQ(e[0], 4);
    ++count;
  }
  EXPECT_EQ(count, 70U);
  EXPECT_EQ(dep.stats<"/encode">(),
            (topos::statistics{.submitted = 70, .done = 70, .batch_sizes = {{6, 1}, {32, 2}}}));
}

TEST_F(deployment, encodes_one_document) {
  encoder_deployment dep;
  auto future = dep.submit<"/encode">({"seven77"});
  EXPECT_EQ(future.get()[0], 7);
}

TEST_F(deployment, gives_a_future_for_each_request) {
  encoder_deployment dep;
  std::vector<std::string> answers;
  for (auto& f : dep.requests<"/encode">(std::vector<document>{{"a"}, {"bad"}, {"ccc"}, {"dddd"}},
                                         {.request_size = 2})) {
    try {
      answers.push_back(std::to_string(f.get().size()));
    } catch (const std::domain_error& e) {
      answers.emplace_back(e.what());
    }
  }
  EXPECT_EQ(answers, (std::vector<std::string>{"a bad document", "2"}));
}

TEST_F(deployment, gives_each_endpoint_its_types_and_counts) {
  encoder_deployment dep;
  EXPECT_EQ(dep.submit<"/shout">("hello").get(), "hello!");
  EXPECT_EQ(dep.submit<"/where">(1).get(), topos::cpu());
  EXPECT_THROW(dep.submit<"/encode">({"bad"}).get(), std::domain_error);
  EXPECT_EQ(dep.submit<"/encode">({"good"}).get()[0], 4);
  EXPECT_EQ(dep.stats<"/shout">().done, 1U);
  EXPECT_EQ(dep.stats<"/encode">().failed, 1U);
  EXPECT_EQ(dep.stats(),
            (topos::statistics{.submitted = 4, .done = 3, .failed = 1, .batch_sizes = {{1, 4}}}));
}

TEST_F(deployment, names_the_endpoint_that_returned_a_wrong_count) {
  encoder_deployment dep;
  auto requests = dep.requests<"/short">(std::vector<int>(4));
  try {
    static_cast<void>(requests.begin()->get());
    FAIL() << "it should have thrown";
  } catch (const topos::error& e) {
    EXPECT_STREQ(e.what(),
                 "/short: 3 results came back for a batch of 4 items; it must return one for each, "
                 "in order");
  }
}

TEST_F(deployment, says_which_types_an_endpoint_by_name_has) {
  encoder_deployment dep;
  try {
    static_cast<void>(dep.submit<float>("/where", 1));
    FAIL() << "it should have thrown";
  } catch (const topos::dtype_mismatch& e) {
    EXPECT_STREQ(e.what(),
                 "deployment: endpoint \"/where\" makes topos::device of int, not float of int");
  }
}

TEST_F(deployment, has_a_model_for_each_replica_and_device) {
  encoder_deployment dep{{.devices = {topos::cpu(), topos::cpu()}, .replicas = 2}};
  EXPECT_EQ(dep.replicas(), 4U);
  EXPECT_EQ(encoder::alive, 4);
  std::vector<document> documents;
  for (std::size_t i = 0; i < 500; ++i) documents.push_back({std::string(i, 'x')});
  std::size_t next = 0;
  for (const auto& e : dep.post<"/encode">(documents, {.request_size = 3})) {
    EXPECT_EQ(e[0], static_cast<float>(next++));
  }
  EXPECT_EQ(next, 500U);
}

TEST_F(deployment, takes_items_in_braces) {
  encoder_deployment dep;
  std::string all;
  for (const std::string& shouted : dep.post<"/shout">({"a", "bc"})) all += shouted;
  for (auto& request : dep.requests<"/shout">({"d"})) all += request.get().at(0);
  EXPECT_EQ(all, "a!bc!d!");
}

TEST_F(deployment, runs_where_it_is_told) {
  for (const topos::device& d : topos::devices()) {
    encoder_deployment dep{{.devices = {d}}};
    EXPECT_EQ(dep.submit<"/where">(0).get(), d);
  }
}

TEST_F(deployment, never_enters_a_model_twice_at_once) {
  encoder_deployment dep{{.replicas = 2, .max_batch_size = 4}};
  std::vector<std::thread> users;
  std::atomic<int> wrong = 0;
  for (int u = 0; u < 4; ++u) {
    users.emplace_back([&, u] {
      for (int i = 0; i < 300; ++i) {
        if (u % 2 == 0) {
          if (dep.submit<"/encode">({"abc"}).get()[0] != 3) ++wrong;
        } else {
          if (dep.submit<"/shout">("abc").get() != "abc!") ++wrong;
        }
      }
    });
  }
  for (auto& user : users) user.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(dep.stats().done, 1200U);
}

TEST_F(deployment, throws_what_a_models_constructor_throws) {
  using hesitant_deployment = topos::deployment<hesitant, topos::endpoint<"/run", &hesitant::run>>;
  hesitant::made = 0;
  EXPECT_THROW((hesitant_deployment{{.replicas = 3}}), counted_failure);
  EXPECT_EQ(hesitant::made, 3);
  EXPECT_EQ(hesitant::alive, 0);
}

TEST_F(deployment, makes_its_models_by_a_factory) {
  const int factor = 3;
  scaled_deployment by_value{{}, [=](topos::device d) { return scaled(d, factor); }};
  EXPECT_EQ(by_value.submit<"/run">(5).get(), 15);
  scaled_deployment by_pointer{{.replicas = 2},
                               [=](topos::device d) { return std::make_unique<scaled>(d, 4); }};
  EXPECT_EQ(by_pointer.submit<"/run">(5).get(), 20);
}

TEST_F(deployment, finds_an_endpoint_by_name_where_another_has_its_types) {
  topos::deployment<scaled, topos::endpoint<"/run", &scaled::run>,
                    topos::endpoint<"/twin", &scaled::run>>
      dep({}, [](topos::device d) { return scaled(d, 3); });
  EXPECT_EQ(dep.submit<int>("/twin", 4).get(), 12);
  EXPECT_EQ(dep.stats<"/run">().done, 0U);
  EXPECT_EQ(dep.stats<"/twin">().done, 1U);
}

TEST_F(deployment, takes_options_for_an_endpoint_by_its_name) {
  encoder_deployment dep{{.devices = {topos::cpu()}},
                         {{"/shout", {.max_batch_size = 2, .hold_until = 4}}}};
  std::vector<topos::future<std::string>> results;
  for (int i = 0; i < 4; ++i) results.push_back(dep.submit<"/shout">("a"));
  for (auto& result : results) EXPECT_EQ(result.get(), "a!");
  EXPECT_EQ(dep.stats<"/shout">().batch_sizes, (std::map<std::size_t, std::uint64_t>{{2, 2}}));
  EXPECT_EQ(dep.submit<"/encode">({"four"}).get()[0], 4);
  EXPECT_THROW((encoder_deployment{{}, {{"/none", {}}}}), topos::invalid_argument);
}

TEST_F(deployment, says_whose_options_nothing_could_run_with) {
  try {
    encoder_deployment dep{{}, {{"/shout", {.priority_levels = 1'000}}}};
    FAIL() << "it should have thrown";
  } catch (const topos::invalid_argument& e) {
    EXPECT_STREQ(e.what(),
                 "options of endpoint \"/shout\": priority_levels must be at most 256, not 1000");
  }
}

TEST_F(deployment, refuses_what_an_endpoint_cannot_have_for_itself) {
  const auto refusal = [](const topos::executor_options& all, const topos::executor_options& own) {
    return support::refusal<topos::invalid_argument>([&] {
      const encoder_deployment dep{all, {{"/shout", own}}};
    });
  };
  const char* const message =
      "options of endpoint \"/shout\": devices, replicas and time are those of the whole "
      "deployment";
  EXPECT_EQ(refusal({}, {.replicas = 2}), message);
  EXPECT_EQ(refusal({}, {.devices = {topos::cpu(), topos::cpu()}}), message);
  const topos::manual_time time;
  EXPECT_EQ(refusal({}, {.time = &time}), message);
  EXPECT_NO_THROW((encoder_deployment{{.replicas = 2}, {{"/shout", {.replicas = 2}}}}));
}

TEST_F(deployment, treats_an_item_as_told_at_an_endpoint_by_name) {
  topos::manual_time time;
  encoder_deployment dep{{.hold_until = 9, .time = &time}};
  std::stop_source stop;
  const std::string item = "a";
  auto late = dep.submit<std::string>("/shout", item, {.deadline = time.now()});
  auto stopped = dep.submit<std::string>("/shout", item, {.stop = stop.get_token()});
  stop.request_stop();
  EXPECT_THROW(late.get(), topos::deadline_exceeded);
  EXPECT_THROW(stopped.get(), topos::cancelled);
}

TEST_F(deployment, refuses_a_factory_that_makes_nothing) {
  EXPECT_THROW((scaled_deployment{{}, [](topos::device) { return std::unique_ptr<scaled>(); }}),
               topos::error);
}

TEST_F(deployment, ends_all_work_when_it_is_destroyed) {
  std::vector<topos::future<embedding>> futures;
  {
    encoder_deployment dep{{.max_batch_size = 3}};
    for (int i = 0; i < 50; ++i) futures.push_back(dep.submit<"/encode">({"ab"}));
  }
  for (auto& future : futures) {
    ASSERT_TRUE(future.is_ready());
    EXPECT_EQ(future.get()[0], 2);
  }
}

TEST_F(deployment, refuses_options_that_nothing_could_run_with) {
  EXPECT_THROW((encoder_deployment{{.devices = {}}}), topos::invalid_argument);
}

// Of two endpoints of the same types one has parameters that must be given.
struct scaler {
  struct factor {
    explicit factor(int f) : by(f) {}
    bool operator==(const factor&) const = default;
    int by;
  };
  explicit scaler(topos::device) {}
  std::vector<int> same(std::span<const int> batch) { return {batch.begin(), batch.end()}; }
  std::vector<int> scaled(std::span<const int> batch, const factor& f) {
    return std::vector<int>(batch.size(), f.by * batch[0]);
  }
};

TEST_F(deployment, asks_for_parameters_without_a_default) {
  topos::deployment<scaler, topos::endpoint<"/same", &scaler::same>,
                    topos::endpoint<"/scaled", &scaler::scaled>>
      dep;
  EXPECT_EQ(dep.submit<int>("/same", 3).get(), 3);
  EXPECT_THROW(static_cast<void>(dep.submit<int>("/scaled", 3)), topos::invalid_argument);
  EXPECT_EQ(dep.submit<"/scaled">(3, {.parameters = scaler::factor(2)}).get(), 6);
}

// Has no more work than to be stopped.
struct patient {
  explicit patient(topos::device) {}
  std::vector<int> run(std::span<const int> batch, const std::stop_token& stop) {
    running = true;
    while (!stop.stop_requested()) std::this_thread::yield();
    return std::vector<int>(batch.size());
  }
  static inline std::atomic<bool> running = false;
};

TEST_F(deployment, tells_an_endpoint_that_nobody_wants_its_results) {
  topos::deployment<patient, topos::endpoint<"/run", &patient::run>> dep;
  const auto f = dep.submit<"/run">(1);
  while (!patient::running) std::this_thread::yield();
  EXPECT_TRUE(f.cancel());
  EXPECT_TRUE(dep.drain());
}

// Writes down whose batches come, behind a gate.
struct diary {
  diary(topos::device /*place*/, gate& first, std::string& written)
      : first(&first), written(&written) {}
  std::vector<int> posted(std::span<const int> batch) { return write('p', batch); }
  std::vector<int> submitted(std::span<const int> batch) { return write('s', batch); }
  static std::size_t cost(const int& /*item*/) { return 500; }

 private:
  std::vector<int> write(char who, std::span<const int> batch) {
    first->pass();
    written->push_back(who);
    return {batch.begin(), batch.end()};
  }
  gate* first;
  std::string* written;
};

TEST_F(deployment, shares_its_replicas_by_what_requests_and_submissions_cost) {
  gate hold;
  std::string written;
  topos::deployment<diary, topos::endpoint<"/post", &diary::posted, &diary::cost>,
                    topos::endpoint<"/submit", &diary::submitted, &diary::cost>>
      dep({.max_batch_size = 2}, [&](topos::device d) { return diary(d, hold, written); });
  const std::vector<int> items(4);
  std::vector<topos::future<int>> futures;
  std::vector<decltype(dep.requests<"/post">(items))> streams;  // each with two requests under way
  for (int i = 0; i < 4; ++i) streams.push_back(dep.requests<"/post">(items, {.request_size = 2}));
  hold.await(1);
  for (int i = 0; i < 16; ++i) futures.push_back(dep.submit<"/submit">(i));

  hold.open();
  for (auto& stream : streams)
    for (auto& request : stream) request.get();
  for (auto& f : futures) f.get();

  const auto submitted = std::count(written.begin(), written.begin() + 8, 's');
  EXPECT_GE(submitted, 3) << written;
  EXPECT_LE(submitted, 5) << written;
}

}  // namespace deployment_test
