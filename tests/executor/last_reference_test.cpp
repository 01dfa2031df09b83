// SPDX-License-Identifier: Apache-2.0

/// Executors that are destroyed by their own work.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <span>
#include <topos/executor/batcher.hpp>
#include <topos/executor/deployment.hpp>
#include <utility>
#include <vector>

namespace last_reference_test {

using namespace std::chrono_literals;

// An item or a result that holds something.
using held = std::shared_ptr<void>;
using executor = topos::batcher<held, held>;

constexpr int rounds = 100;

std::vector<held> same(std::span<const held> batch) { return {batch.begin(), batch.end()}; }

// Ready when all that was given copies of `sign` is gone: an executor's callable goes last.
class end {
 public:
  std::shared_ptr<void> sign() {
    return {nullptr, [told = told_](void*) { told->set_value(); }};
  }
  void wait() { told_->get_future().wait(); }

 private:
  std::shared_ptr<std::promise<void>> told_ = std::make_shared<std::promise<void>>();
};

// Lets go of what it holds once it may.
held when_told(std::shared_future<void> told, held what) {
  return {nullptr, [told = std::move(told), what = std::move(what)](void*) mutable {
            told.wait();
            what.reset();
          }};
}

// Of an executor whose first item holds it, to let go of it when told, and which has more work.
void end_by_an_item(const topos::executor_options& options) {
  end over;
  std::promise<void> let_go;
  std::vector<topos::future<held>> results;
  {
    const auto own = std::make_shared<executor>(
        [sign = over.sign()](std::span<const held> batch) {
          return std::vector<held>(batch.size());
        },
        options);
    results.push_back(own->submit(when_told(let_go.get_future().share(), own)));
    for (int k = 0; k < 3; ++k) results.push_back(own->submit(nullptr));
  }
  let_go.set_value();
  for (auto& result : results) EXPECT_EQ(result.get(), nullptr);
  over.wait();
}

TEST(last_reference, may_be_an_items) {
  for (int i = 0; i < rounds; ++i)
    end_by_an_item({.replicas = 2, .max_batch_size = 1, .hold_until = 4});
}

TEST(last_reference, may_be_an_items_whose_executor_has_work_left) {
  end_by_an_item({.max_batch_size = 1});  // the one replica is at the first, and the others wait
}

TEST(last_reference, may_be_a_results) {
  for (int i = 0; i < rounds; ++i) {
    end over;
    {
      const auto own = std::make_shared<executor>(
          [sign = over.sign()](std::span<const held> batch) { return same(batch); });
      static_cast<void>(own->submit(own));  // whose future nobody keeps
    }
    over.wait();
  }
}

TEST(last_reference, may_be_an_items_at_its_deadline) {
  for (int i = 0; i < rounds; ++i) {
    topos::manual_time time;
    end over;
    std::promise<void> let_go;
    topos::future<held> late;
    topos::future<held> waits;
    {
      const auto own = std::make_shared<executor>(
          [sign = over.sign()](std::span<const held> batch) { return same(batch); },
          topos::executor_options{.hold_until = 9, .time = &time});
      late =
          own->submit(when_told(let_go.get_future().share(), own), {.deadline = time.now() + 1s});
      waits = own->submit(nullptr);
    }
    time.wait_for_waiters(1);
    time.advance(1s);
    let_go.set_value();
    EXPECT_THROW(late.get(), topos::deadline_exceeded);
    EXPECT_EQ(waits.get(), nullptr);
    over.wait();
  }
}

// Holds the deployment that it is a model of, until it is told to let go.
struct keeper {
  keeper(topos::device, held s) : sign(std::move(s)) {}
  std::vector<held> run(std::span<const held> batch) {
    for (const held& item : batch) {
      if (item)
        deployment = item;
      else
        deployment.reset();
    }
    return std::vector<held>(batch.size());
  }
  held sign;
  held deployment;
};
using keepers = topos::deployment<keeper, topos::endpoint<"/run", &keeper::run>>;

TEST(last_reference, may_be_a_models) {
  for (int i = 0; i < rounds; ++i) {
    end over;
    topos::future<held> kept;
    topos::future<held> let_go;
    topos::future<held> after;
    {
      const auto own =
          std::make_shared<keepers>(topos::executor_options{.max_batch_size = 1, .hold_until = 3},
                                    [sign = over.sign()](topos::device place) {
                                      return std::make_unique<keeper>(place, sign);
                                    });
      kept = own->submit<"/run">(own);
      let_go = own->submit<"/run">(nullptr);
      after = own->submit<"/run">(nullptr);
    }
    EXPECT_EQ(kept.get(), nullptr);
    EXPECT_EQ(let_go.get(), nullptr);
    EXPECT_EQ(after.get(), nullptr);
    over.wait();
  }
}

// A lost replica's model ends on its thread, which serves no more.
struct lost_keeper : keeper {
  using keeper::keeper;
  std::vector<held> lose(std::span<const held> batch) {
    deployment = batch.front();
    throw topos::device_lost("it is gone");
  }
};

TEST(last_reference, may_be_a_lost_models) {
  end over;
  topos::future<held> failed;
  {
    using lost_keepers =
        topos::deployment<lost_keeper, topos::endpoint<"/lose", &lost_keeper::lose>>;
    const auto own = std::make_shared<lost_keepers>(
        topos::executor_options{}, [sign = over.sign()](topos::device place) {
          return std::make_unique<lost_keeper>(place, sign);
        });
    failed = own->submit<"/lose">(own);
  }
  EXPECT_THROW(failed.get(), topos::device_lost);
  over.wait();
}

}  // namespace last_reference_test
