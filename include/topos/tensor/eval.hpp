// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Several results in one pass.

#include <algorithm>
#include <source_location>
#include <topos/kernels/joint.hpp>
#include <topos/tensor/tensor.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace topos {

namespace detail {

/// A result to be computed: the tensor, what is read for it, and how its kernel is launched.
///
/// A plan has
///
///     size()                        elements that it touches
///     effort()                      the work that this is, for who decides where to run it
///     count(), cost()               the items of its grid, and elements of each
///     scratch()                     bytes of scratch memory of an item
///     kernel()                      the kernel of an item
///     launch(stream)                launches all of it
///     finish(stream)                launches what follows the kernel
///     joins()                       whether its kernel may be launched with others
template <class Tensor, class Plan>
struct job {
  Tensor result;
  Plan plan;
  std::vector<buffer> reads;
};

template <expression E>
[[nodiscard]] auto job_of(const E& e, std::source_location where) {
  using result = tensor<typename E::value_type, E::rank>;
  const shape<E::rank> extents = e.shape();
  result y(extents, e.device().value_or(default_device::current()), where);
  std::vector<buffer> reads = memory_read_by(e);
  const map_plan<E> plan(e, reads, y.memory(), layout<E::rank>::dense(extents));
  return job<result, map_plan<E>>{std::move(y), plan, std::move(reads)};
}
/// A tensor's own leaf or view becomes a tensor as any expression does; a reduction has a job.
template <class X>
  requires(!expression<X> && operand<X>)
[[nodiscard]] auto job_of(const X& x, std::source_location where) {
  if constexpr (requires { x.job(where); })
    return x.job(where);
  else
    return job_of(x.node(), where);
}

template <class Job>
void submit_job(const Job& made, std::source_location where) {
  if (made.plan.size() == 0 && made.result.size() == 0) return;
  queue_of(made.result.device(), where)
      .submit(
          made.reads, {made.result.memory()}, made.plan.effort(),
          [plan = made.plan](const auto& stream) { plan.launch(stream); }, "topos::eval", where);
}

// Whether the jobs may share a launch: the same grid, and nothing that could fail for one alone.
template <class First, class... Rest>
[[nodiscard]] bool can_join(const First& first, const Rest&... rest) {
  const auto clean = [](const auto& made) {
    return std::all_of(made.reads.begin(), made.reads.end(),
                       [](const buffer& b) { return is_ready(b) && !b.poison(); });
  };
  const auto fits = [&](const auto& other) {
    return other.plan.joins() && other.plan.count() == first.plan.count() &&
           other.plan.cost() == first.plan.cost() &&
           other.result.device() == first.result.device() &&
           (other.reads == first.reads || (clean(other) && clean(first)));
  };
  return first.plan.joins() && first.plan.size() != 0 && (fits(rest) && ...);
}

// Launches one of several plans, whose failure is that of its result alone.
template <class Stream, class Plan>
void launch_alone(const Stream& stream, const Plan& plan, const buffer& result,
                  const failure_origin& origin) noexcept {
  try {
    plan.launch(stream);
  } catch (...) {
    result.set_poison(current_failure(origin));
  }
}

// What work keeps of its results without owning them, as the queue does.
template <class First, class... Rest>
[[nodiscard]] buffer::holds held_results(const First& first, const Rest&... rest) {
  buffer::holds held({first.result.memory(), rest.result.memory()...});
  held.disown_written();
  return held;
}

template <class... Plans>
using joint_kernel_of_plans =
    joint_kernel<std::decay_t<decltype(std::declval<Plans>().kernel())>...>;

template <class... Jobs>
void submit_joined(std::source_location where, const Jobs&... jobs) {
  std::vector<buffer> reads;
  const auto add = [&](const buffer& b) { add_buffer(reads, b); };
  (std::for_each(jobs.reads.begin(), jobs.reads.end(), add), ...);
  const auto& first = std::get<0>(std::tie(jobs...));
  queue_of(first.result.device(), where)
      .submit(
          std::move(reads), {jobs.result.memory()...}, (jobs.plan.effort() + ...),
          [plans = std::tuple(jobs.plan...), results = held_results(jobs...),
           where](const auto& stream) {
            const auto together = [&](const auto& head, const auto&... tail) {
              const index_t cost = (head.cost() + ... + tail.cost());
              const std::size_t scratch = std::max({head.scratch(), tail.scratch()...});
              using joint = joint_kernel_of_plans<std::decay_t<decltype(head)>,
                                                  std::decay_t<decltype(tail)>...>;
              stream.for_each("topos::eval", head.count(), cost, scratch,
                              joint(head.kernel(), tail.kernel()...));
              head.finish(stream);
              (tail.finish(stream), ...);
            };
            try {
              std::apply(together, plans);
            } catch (...) {  // by a user's function in one of them: the others are to have results
              auto result = results.begin();
              const auto alone = [&](const auto&... plan) {
                (launch_alone(stream, plan, *result++, {"topos::eval", where}), ...);
              };
              std::apply(alone, plans);
            }
          },
          "topos::eval", where);
}

// Has maps that go past the caches cut as jobs are that do not, where these share what they
// compute.
template <class... Jobs>
void cut_alike(Jobs&... jobs) {
  using joint = joint_kernel_of_plans<decltype(jobs.plan)...>;
  if constexpr (joint::may_share_blocks) {
    const auto cut = [](auto& plan) {
      if constexpr (requires { plan.cut_as_others(); }) plan.cut_as_others();
    };
    const auto cut_copy = [&](auto plan) {
      cut(plan);
      return plan;
    };
    const auto is_cut = [](const auto& plan) {
      if constexpr (requires { plan.cut_as_others(); })
        return plan.kernel().past_caches;
      else
        return false;
    };
    if (!(is_cut(jobs.plan) || ...) || ((jobs.plan.size() == 0) || ...)) return;
    if (joint(cut_copy(jobs.plan).kernel()...).shares_on_host()) (cut(jobs.plan), ...);
  }
}

template <class... Jobs>
auto run_jobs(std::source_location where, Jobs... jobs) {
  cut_alike(jobs...);
  if (can_join(jobs...)) {
    submit_joined(where, jobs...);
  } else {
    (submit_job(jobs, where), ...);
  }
  return std::tuple(std::move(jobs.result)...);
}

}  // namespace detail

/// Computes several expressions and reductions, and returns their results, a tuple of tensors, at
/// once. Those of one shape are computed in one pass: what they read in common is read once, and
/// the CPU computes once what takes long and occurs in several of them, maps, reductions of all
/// elements or along rows of 128 or more: `eval(mean(h), mean(h * h))`, `eval(h, sum(h))`.
template <operand X, operand Y>
[[nodiscard]] auto eval(const X& x, const Y& y,
                        std::source_location where = std::source_location::current()) {
  return detail::run_jobs(where, detail::job_of(x, where), detail::job_of(y, where));
}
template <operand X, operand Y, operand Z>
[[nodiscard]] auto eval(const X& x, const Y& y, const Z& z,
                        std::source_location where = std::source_location::current()) {
  return detail::run_jobs(where, detail::job_of(x, where), detail::job_of(y, where),
                          detail::job_of(z, where));
}
/// Those of a pair: `auto [fraction, whole] = eval(modf(x))`.
template <operand X, operand Y>
[[nodiscard]] auto eval(const std::pair<X, Y>& both,
                        std::source_location where = std::source_location::current()) {
  return eval(both.first, both.second, where);
}
template <operand... X>
  requires(sizeof...(X) > 3)
[[nodiscard]] auto eval(const X&... x) { return detail::run_jobs({}, detail::job_of(x, {})...); }

}  // namespace topos
