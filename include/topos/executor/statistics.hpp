// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an executor has done so far.

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace topos {

/// How long something took, many times over: counts in buckets whose bounds lie an eighth of a
/// power of two apart, from nanoseconds to hours.
class latencies {
 public:
  void add(std::chrono::nanoseconds time) noexcept {
    const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count()));
    ++counts_[bucket(n)];
    ++count_;
    sum_ += n;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  /// All times together; no more than the type holds.
  [[nodiscard]] std::chrono::nanoseconds sum() const noexcept {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(sum_, most)));
  }

  /// 0 where there is none.
  [[nodiscard]] std::chrono::nanoseconds mean() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(count_ == 0 ? 0 : sum_ / count_));
  }

  /// Calls `f(bound, count)` for each bucket that is not empty, in ascending order: so many times
  /// were no longer than the bound and longer than any bound before. That of times beyond the hours
  /// is `nanoseconds::max()`. A cumulative histogram is their running sum:
  ///
  ///     std::uint64_t below = 0;
  ///     s.total.for_each_bucket([&](std::chrono::nanoseconds bound, std::uint64_t count) {
  ///       write(bound, below += count);
  ///     });
  template <std::invocable<std::chrono::nanoseconds, std::uint64_t> F>
  void for_each_bucket(F f) const {
    for (std::size_t i = 0; i < buckets; ++i) {
      if (counts_[i] == 0) continue;
      f(i + 1 < buckets ? std::chrono::nanoseconds(upper(i)) : std::chrono::nanoseconds::max(),
        counts_[i]);
    }
  }

  /// The time that a share of all did not exceed, to an eighth: 0.5 is the median, 0.99 what one in
  /// a hundred exceeds, at most (the nearest rank). 0 where there is none.
  [[nodiscard]] std::chrono::nanoseconds quantile(double share) const noexcept {
    if (count_ == 0) return {};
    if (!(share > 0.0)) share = 0.0;  // not a number, too
    // A share may be a little more than it is written, and a count beyond 2^53 be rounded up.
    constexpr double little = 1e-12;
    const double those =
        std::ceil(std::min(share, 1.0) * static_cast<double>(count_) * (1 - little));
    const auto rank = std::min(count_, static_cast<std::uint64_t>(std::max(those, 1.0))) - 1;
    std::uint64_t below = 0;
    std::size_t i = 0;
    while (below + counts_[i] <= rank) below += counts_[i++];
    return std::chrono::nanoseconds(upper(i));
  }

  latencies& operator+=(const latencies& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    return *this;
  }

 private:
  static constexpr std::size_t parts = 8;  // of a power of two
  static constexpr std::size_t buckets = parts * 42;

  // Numbers below `parts` have a bucket each.
  [[nodiscard]] static constexpr std::size_t bucket(std::uint64_t n) noexcept {
    if (n < parts) return static_cast<std::size_t>(n);
    const auto power = static_cast<std::size_t>(std::bit_width(n)) - 4;
    return std::min(buckets - 1, power * parts + static_cast<std::size_t>(n >> power));
  }
  [[nodiscard]] static constexpr std::int64_t upper(std::size_t i) noexcept {
    if (i < parts) return static_cast<std::int64_t>(i);
    const std::size_t power = i / parts - 1;
    return static_cast<std::int64_t>((i % parts + parts + 1) << power) - 1;
  }

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;  // of nanoseconds
};

/// What one replica has done, and the times of what it ran: see `statistics`.
struct replica_statistics {
  std::uint64_t batches = 0;
  std::uint64_t items = 0;
  latencies queue{};
  latencies compute{};
  latencies total{};

  replica_statistics& operator+=(const replica_statistics& other) {
    batches += other.batches;
    items += other.items;
    queue += other.queue;
    compute += other.compute;
    total += other.total;
    return *this;
  }
  /// Whether the counts are equal; times are not compared.
  friend bool operator==(const replica_statistics& a, const replica_statistics& b) {
    return a.batches == b.batches && a.items == b.items;
  }
};

/// Counts of items, and of the batches they ran in. Of what was submitted, each item ends as done,
/// failed, cancelled, expired or shed; it is counted there before its future is ready.
struct statistics {
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  /// Their deadline passed first.
  std::uint64_t expired = 0;
  /// Given up for newer ones, where the queue was full.
  std::uint64_t shed = 0;
  /// Refused, and not counted as submitted: the queue was full, or they were too large, or the
  /// function of their cost threw. (Such in a request of a stream have failed.)
  std::uint64_t refused = 0;
  /// Of what has not ended, the items in batches that have started.
  std::uint64_t running = 0;
  /// Calls of the model for parts of a batch that had failed.
  std::uint64_t reruns = 0;
  /// How many batches of each size have run, failed ones too, reruns not; one that a lost replica
  /// gave back counts again.
  std::map<std::size_t, std::uint64_t> batch_sizes{};
  /// By number of the replica.
  std::vector<replica_statistics> replicas{};
  /// From submission to the start of the batch, for each item of each batch, so that what a lost
  /// replica gave back counts again.
  latencies queue{};
  /// Of each call of the model, reruns too.
  latencies compute{};
  /// From submission to the result, for each item that its batch ended. What ends without, as where
  /// all replicas are lost, is not in it.
  latencies total{};

  /// Items submitted that have not ended.
  [[nodiscard]] std::uint64_t pending() const noexcept {
    return submitted - done - failed - cancelled - expired - shed;
  }

  /// Of these, the ones in no batch yet.
  [[nodiscard]] std::uint64_t waiting() const noexcept {
    const std::uint64_t all = pending();
    return all - std::min(all, running);
  }

  /// Batches that have run.
  [[nodiscard]] std::uint64_t batches() const noexcept {
    std::uint64_t count = 0;
    for (const auto& [size, times] : batch_sizes) count += times;
    return count;
  }

  /// Adds another executor's or endpoint's counts.
  statistics& operator+=(const statistics& other) {
    submitted += other.submitted;
    done += other.done;
    failed += other.failed;
    cancelled += other.cancelled;
    expired += other.expired;
    shed += other.shed;
    refused += other.refused;
    running += other.running;
    reruns += other.reruns;
    for (const auto& [size, times] : other.batch_sizes) batch_sizes[size] += times;
    replicas.resize(std::max(replicas.size(), other.replicas.size()));
    for (std::size_t i = 0; i < other.replicas.size(); ++i) replicas[i] += other.replicas[i];
    queue += other.queue;
    compute += other.compute;
    total += other.total;
    return *this;
  }

  /// Whether the counts of items and batches are equal; times and replicas are not compared.
  friend bool operator==(const statistics& a, const statistics& b) {
    return a.submitted == b.submitted && a.done == b.done && a.failed == b.failed &&
           a.cancelled == b.cancelled && a.expired == b.expired && a.shed == b.shed &&
           a.refused == b.refused && a.running == b.running && a.reruns == b.reruns &&
           a.batch_sizes == b.batch_sizes;
  }
};

namespace detail {

/// Statistics as they are read, of a queue where so many items wait: what else has not ended runs,
/// and the times are those of all replicas together.
[[nodiscard]] inline statistics as_read(statistics s, std::size_t waiting) {
  s.running = s.pending() - waiting;
  for (const replica_statistics& r : s.replicas) {
    s.queue += r.queue;
    s.compute += r.compute;
    s.total += r.total;
  }
  return s;
}

}  // namespace detail

}  // namespace topos
