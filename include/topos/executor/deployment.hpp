// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A model on its devices, behind named endpoints.

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <topos/device/device.hpp>
#include <topos/executor/detail/batch_queue.hpp>
#include <topos/executor/detail/replica_threads.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/endpoint.hpp>
#include <topos/executor/fixed_string.hpp>
#include <topos/executor/future.hpp>
#include <topos/executor/item_source.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/request_stream.hpp>
#include <topos/executor/result_stream.hpp>
#include <topos/executor/statistics.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos {

/// A callable that makes a model on a device, or a `std::unique_ptr` to one; called for several
/// replicas at once. The model need not be movable.
template <class F, class Model>
concept model_factory = std::copy_constructible<F> && std::invocable<const F&, device> &&
    (std::same_as<std::invoke_result_t<const F&, device>, Model> ||
     std::convertible_to<std::invoke_result_t<const F&, device>, std::unique_ptr<Model>>);

/// Runs a model's member functions on batches of items: one instance of the model for each replica,
/// made, used and destroyed on that replica's thread alone, where new tensors go to the replica's
/// device. All members may be called from several threads at once, but not from inside the model.
///
///     topos::deployment<SentenceEncoder, topos::endpoint<"/encode", &SentenceEncoder::encode>>
///     dep{
///         {.devices = {gpu}}};
template <class Model, endpoint_of<Model>... Endpoints>
class deployment {
  static_assert(sizeof...(Endpoints) > 0, "topos::deployment: it needs at least one endpoint");
  static_assert(detail::names_are_unique<Endpoints...>(),
                "topos::deployment: two endpoints have the same name");

 public:
  using model_type = Model;

  /// Makes each replica's model as `Model(device)`. Blocks until all are made; throws what one of
  /// their constructors throws, or `invalid_argument` for options that nothing could run with.
  explicit deployment(executor_options options = {}) requires std::constructible_from<Model, device>
      : deployment(std::move(options), [](device place) { return Model(place); }) {}

  /// Makes each replica's model by a factory, for models that need more than their device.
  template <model_factory<Model> F>
  deployment(executor_options options, F factory)
      : schedule_((detail::check(options), std::make_shared<detail::schedule>(*options.time))),
        models_(options.devices.size() * options.replicas),
        queues_(make_queue<Endpoints>(options)...),
        threads_(
            schedule_, options,
            [this, factory = std::move(factory)](device place, std::size_t replica, auto serve) {
              const std::unique_ptr<Model> model = make(factory, place);
              models_[replica] = model.get();
              serve();
            }) {}

  /// Ends all work that was submitted, then the models and their threads.
  ~deployment() = default;

  deployment(const deployment&) = delete;
  deployment& operator=(const deployment&) = delete;

 private:
  // Asserted in one place, and followed by an index that exists, so that an unknown name ends in
  // one message.
  template <fixed_string Name>
  struct named {
    static constexpr std::size_t found = detail::find_endpoint<Endpoints...>(Name.view());
    static_assert(found < sizeof...(Endpoints),
                  "topos::deployment: this deployment has no endpoint of this name");
    static constexpr std::size_t index = found % sizeof...(Endpoints);
    using type = std::tuple_element_t<index, std::tuple<Endpoints...>>;
  };

  template <fixed_string Name>
  using in = typename named<Name>::type::in;
  template <fixed_string Name>
  using out = typename named<Name>::type::out;

 public:
  /// Queues one item, to share its batch with whoever else comes. Blocks while the queue is full.
  template <fixed_string Name>
  future<out<Name>> submit(in<Name> item) {
    return queue<Name>()->submit(std::move(item));
  }

  /// The results for a range or a generator of items, in order, in requests that run as one batch
  /// each. The first requests are under way when it returns.
  template <fixed_string Name, class S>
    requires item_source<S, in<Name>> result_stream<in<Name>, out<Name>> post(
        S&& source, const request_options& options = {}) {
      detail::check(options);
      return {queue<Name>(), detail::make_items<in<Name>>(std::forward<S>(source)), options};
    }

  /// As `post`, but a future for each request.
  template <fixed_string Name, class S>
    requires item_source<S, in<Name>> request_stream<in<Name>, out<Name>> requests(
        S&& source, const request_options& options = {}) {
      detail::check(options);
      return {queue<Name>(), detail::make_items<in<Name>>(std::forward<S>(source)), options};
    }

  /// What one endpoint has done.
  template <fixed_string Name>
  [[nodiscard]] statistics stats() const {
    return queue<Name>()->stats();
  }

  /// What all endpoints together have done.
  [[nodiscard]] statistics stats() const {
    statistics all;
    std::apply([&](const auto&... each) { (static_cast<void>(all += each->stats()), ...); },
               queues_);
    return all;
  }

  /// How many instances of the model there are.
  [[nodiscard]] std::size_t replicas() const noexcept { return models_.size(); }

 private:
  template <class Endpoint>
  using queue_of =
      std::shared_ptr<detail::batch_queue<typename Endpoint::in, typename Endpoint::out>>;

  template <class Endpoint>
  [[nodiscard]] queue_of<Endpoint> make_queue(const executor_options& options) {
    using in = typename Endpoint::in;
    using queue = detail::batch_queue<in, typename Endpoint::out>;
    return std::make_shared<queue>(
        schedule_, models_.size(), options, std::string(Endpoint::name()),
        [this](std::size_t replica, std::span<const in> batch) {
          return std::invoke(Endpoint::function, *models_[replica], batch);
        });
  }

  template <class F>
  [[nodiscard]] static std::unique_ptr<Model> make(const F& factory, device place) {
    if constexpr (std::same_as<std::invoke_result_t<const F&, device>, Model>) {
      return std::unique_ptr<Model>(new Model(std::invoke(factory, place)));
    } else {
      std::unique_ptr<Model> model = std::invoke(factory, place);
      if (!model) throw error("deployment: the factory made no model: it returned a null pointer");
      return model;
    }
  }

  template <fixed_string Name>
  [[nodiscard]] const auto& queue() const noexcept {
    return std::get<named<Name>::index>(queues_);
  }

  std::shared_ptr<detail::schedule> schedule_;
  std::vector<Model*> models_;  // each written and read by its replica's thread alone
  std::tuple<queue_of<Endpoints>...> queues_;
  detail::replica_threads threads_;  // the last, since it uses the others until it is gone
};

}  // namespace topos
