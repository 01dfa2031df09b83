// SPDX-License-Identifier: Apache-2.0

/// Deployments: several endpoints, replicas, priorities, deadlines, failures, and what follows.

#include <chrono>
#include <coroutine>
#include <exception>
#include <future>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <topos/executor.hpp>
#include <topos/topos.hpp>
#include <vector>

// [model]
struct rounding {
  int digits = 0;
  friend bool operator==(const rounding&, const rounding&) = default;
};

class text_model {
 public:
  explicit text_model(topos::device) {}

  std::vector<int> length(std::span<const std::string> texts) {
    std::vector<int> results;
    for (const std::string& text : texts) {
      if (text.empty()) throw std::invalid_argument("an empty text");
      results.push_back(static_cast<int>(text.size()));
    }
    return results;
  }

  // Results into memory that is there; parameters that all items of a batch have in common.
  void show(std::span<const double> numbers, std::span<std::string> results, const rounding& how) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string all = std::to_string(numbers[i]);
      results[i] = all.substr(0, all.find('.') + 1 + static_cast<std::size_t>(how.digits));
    }
  }
};

using executor = topos::deployment<text_model, topos::endpoint<"/length", &text_model::length>,
                                   topos::endpoint<"/show", &text_model::show>>;
// [/model]

// [coroutine]
// The least that a coroutine needs to hand its result to a std::future.
struct answer : std::future<int> {
  struct promise_type : std::promise<int> {
    answer get_return_object() { return {get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(int value) { set_value(value); }
    void unhandled_exception() { set_exception(std::current_exception()); }
  };
};

answer total_length(executor& dep, std::string a, std::string b) {
  auto first = dep.submit<"/length">(std::move(a));  // both are on their way
  auto second = dep.submit<"/length">(std::move(b));
  co_return co_await std::move(first) + co_await std::move(second);
}
// [/coroutine]

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};

  std::cout << "== endpoints ==\n";
  // [endpoints]
  executor dep{{.devices = {topos::cpu()}, .replicas = 2, .max_batch_size = 4}};
  auto length = dep.submit<"/length">("seven..");
  auto number = dep.submit<"/show">(3.14159, {.parameters = {.digits = 2}});
  std::cout << length.get() << ", " << number.get() << ", " << dep.replicas() << " replicas\n";
  for (const std::string& each : dep.post<"/show">(std::vector{2.5, 0.25}, {}, {.digits = 1}))
    std::cout << each << '\n';
  // [/endpoints]

  std::cout << "== names ==\n";
  // [names]
  for (const std::string name : {"/length", "/width"}) {
    try {
      std::cout << dep.submit<int>(name, std::string("five.")).get() << '\n';
    } catch (const topos::invalid_argument& e) {
      std::cout << e.what() << '\n';
    }
  }
  // [/names]

  std::cout << "== then ==\n";
  // [then]
  auto doubled = dep.submit<"/length">("four").then([](int n) { return 2 * n; });
  std::cout << doubled.get() << '\n';
  // [/then]

  std::cout << "== await ==\n";
  // [await]
  std::cout << total_length(dep, "one", "three").get() << '\n';
  // [/await]

  std::cout << "== priorities ==\n";
  // [priorities]
  std::string order;
  {
    // One item a batch, and none starts before four have come.
    topos::batcher<char, int> busy(
        [&](std::span<const char> batch) {
          order += batch.front();
          return std::vector<int>(1);
        },
        {.max_batch_size = 1,
         .priority_levels = 2,
         .ageing = std::chrono::hours(1),
         .hold_until = 4});
    std::vector<topos::future<int>> futures;
    futures.push_back(busy.submit('a'));
    futures.push_back(busy.submit('b'));
    futures.push_back(busy.submit('U', {.priority = 1}));
    futures.push_back(busy.submit('V', {.priority = 1}));
  }  // ends when all work has
  std::cout << order << '\n';
  // [/priorities]

  std::cout << "== deadlines ==\n";
  // [deadlines]
  executor slow{{.devices = {topos::cpu()}, .idempotent = true, .hold_until = 6}};
  auto late = slow.submit<"/length">("late", {.deadline = std::chrono::steady_clock::now()});
  auto unwanted = slow.submit<"/length">("unwanted");
  unwanted.cancel();
  // [/deadlines]

  // [failure]
  auto good = slow.submit<"/length">("good");
  auto bad = slow.submit<"/length">("");
  auto fine = slow.submit<"/length">("fine as well");
  auto last = slow.submit<"/length">("last");
  for (auto* each : {&late, &unwanted, &good, &bad, &fine, &last}) {
    try {
      std::cout << each->get() << '\n';
    } catch (const topos::deadline_exceeded&) {
      std::cout << "too late\n";
    } catch (const topos::cancelled&) {
      std::cout << "cancelled\n";
    } catch (const std::invalid_argument& e) {
      std::cout << "failed: " << e.what() << '\n';
    }
  }
  // [/failure]

  std::cout << "== going_on ==\n";
  // [going_on]
  executor patient{{.devices = {topos::cpu()}, .idempotent = true}};
  for (auto lengths = patient.post<"/length">(std::vector<std::string>{"one", "", "three"});;) {
    try {
      for (const int each : lengths) std::cout << each << '\n';
      break;
    } catch (const std::invalid_argument& e) {
      std::cout << "failed: " << e.what() << '\n';
    }
  }
  // [/going_on]

  std::cout << "== stats ==\n";
  // [stats]
  const bool all = slow.drain(std::chrono::steady_clock::now() + std::chrono::seconds(10));
  const topos::statistics s = slow.stats<"/length">();
  std::cout << "all ended: " << std::boolalpha << all << '\n'
            << s.submitted << " submitted: " << s.done << " done, " << s.failed << " failed, "
            << s.cancelled << " cancelled, " << s.expired << " expired\n"
            << s.batches() << " batch of " << s.batch_sizes.begin()->first << ", and " << s.reruns
            << " runs of parts of it\n";
  // [/stats]
}
