// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an executor has done so far.

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace topos {

/// How long something took, many times over: counts in buckets whose bounds lie an eighth of a
/// power of two apart, from nanoseconds to hours.
class latencies {
 public:
  void add(std::chrono::nanoseconds time) noexcept {
    ++counts_[bucket(static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count())))];
    ++count_;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  /// The time that a share of all stayed below, to an eighth: 0.5 is the median, 0.99 what one in a
  /// hundred exceeds. 0 where there is none.
  [[nodiscard]] std::chrono::nanoseconds quantile(double share) const noexcept {
    if (count_ == 0) return {};
    if (!(share > 0.0)) share = 0.0;  // not a number, too
    // A count beyond 2^53 may be rounded up.
    const auto rank = std::min(
        count_ - 1,
        static_cast<std::uint64_t>(std::min(share, 1.0) * static_cast<double>(count_ - 1)));
    std::uint64_t below = 0;
    std::size_t i = 0;
    while (below + counts_[i] <= rank) below += counts_[i++];
    return std::chrono::nanoseconds(upper(i));
  }

  latencies& operator+=(const latencies& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
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
  /// Refused, and not counted as submitted: the queue was full, or they were too large.
  std::uint64_t refused = 0;
  /// Calls of the model for parts of a batch that had failed.
  std::uint64_t reruns = 0;
  /// How many batches of each size have run, failed ones too, reruns not.
  std::map<std::size_t, std::uint64_t> batch_sizes{};
  /// By number of the replica.
  std::vector<replica_statistics> replicas{};
  /// From submission to the start of the batch, for each item; of the model's call, for each batch;
  /// from submission to the result, for each item that was done or failed.
  latencies queue{};
  latencies compute{};
  latencies total{};

  /// Items submitted that have not ended.
  [[nodiscard]] std::uint64_t pending() const noexcept {
    return submitted - done - failed - cancelled - expired - shed;
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
           a.refused == b.refused && a.reruns == b.reruns && a.batch_sizes == b.batch_sizes;
  }
};

namespace detail {

/// Statistics whose times are those of all replicas together.
[[nodiscard]] inline statistics with_times_of_replicas(statistics s) {
  for (const replica_statistics& r : s.replicas) {
    s.queue += r.queue;
    s.compute += r.compute;
    s.total += r.total;
  }
  return s;
}

}  // namespace detail

}  // namespace topos
