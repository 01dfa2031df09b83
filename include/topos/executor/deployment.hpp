// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A model on its devices, behind named endpoints.

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <topos/device/device.hpp>
#include <topos/executor/detail/batch_function.hpp>
#include <topos/executor/detail/batch_runner.hpp>
#include <topos/executor/detail/executor_core.hpp>
#include <topos/executor/detail/replica_threads.hpp>
#include <topos/executor/detail/schedule.hpp>
#include <topos/executor/detail/type_name.hpp>
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

/// A model that is made as `Model(device)`.
template <class Model>
concept needs_no_factory = std::constructible_from<Model, device>;

/// Runs a model's member functions on batches of items: one instance of the model for each replica,
/// made, used and destroyed on that replica's thread alone, where new tensors go to the replica's
/// device. Where the model has a member `warm_up()`, it is called before the constructor returns.
/// All members may be called from several threads at once, and from inside the model too, but that
/// an item for which there is no room is refused there, whatever the options say.
///
///     topos::deployment<SentenceEncoder, topos::endpoint<"/encode", &SentenceEncoder::encode>>
///     dep{
///         {.devices = {gpu}}};
template <class Model, endpoint_of<Model>... Endpoints>
class deployment : public detail::executor_core {
  static_assert(sizeof...(Endpoints) > 0, "topos::deployment: it needs at least one endpoint");
  static_assert(detail::names_are_unique<Endpoints...>(),
                "topos::deployment: two endpoints have the same name");

 public:
  /// Options of single endpoints.
  using options_by_name = std::map<std::string, executor_options, std::less<>>;

  /// Makes each replica's model as `Model(device)`. Blocks until all are made; throws what one of
  /// their constructors throws, or `invalid_argument` for options that nothing could run with.
  explicit deployment(executor_options options = {})
      : deployment(std::move(options), options_by_name()) {}

  /// The same with options of single endpoints, as below.
  deployment(executor_options options, const options_by_name& each)
      : deployment(
            std::move(options),
            [](device place) -> Model {
              static_assert(needs_no_factory<Model>,
                            "topos::deployment: a model that is not made as Model(device) "
                            "needs a factory: deployment(options, "
                            "[](topos::device d) { return Model(d, more); })");
              if constexpr (needs_no_factory<Model>) return Model(place);
              std::abort();
            },
            each) {}

  /// Makes each replica's model by a factory, for models that need more than their device. `each`:
  /// the options of single endpoints, by name, in the place of the executor's, of which they
  /// inherit nothing; only what says how their work is batched counts. Throws `invalid_argument`
  /// for a name that no endpoint has, and for devices, replicas or a time of an endpoint's own:
  /// other than the executor's and the default.
  template <model_factory<Model> F>
  deployment(executor_options options, F factory, const options_by_name& each = {})
      : executor_core((check_all(options, each), *options.time),
                      options.devices.size() * options.replicas),
        models_(std::make_shared<models>(options.devices.size() * options.replicas)),
        queues_(make_queue<Endpoints>(options, each)...) {
    threads_ = std::make_unique<detail::replica_threads>(
        schedule_, options,
        [all = models_, factory = std::move(factory)](device place, std::size_t replica,
                                                      const auto& serve) {
          const std::unique_ptr<Model> model = make(factory, place);
          (*all)[replica] = model.get();
          if constexpr (detail::warms_up<Model>) model->warm_up();
          serve();
        },
        [queues = queues_] { std::apply([](auto&... each) { (each->close(), ...); }, queues); });
  }

  /// Ends all work that was submitted, then the models and their threads. Blocks until then, but
  /// where an item, a result or a model has the last of it and ends on one of these threads: then
  /// they go on to the end of the work by themselves, for which `options.time` and the runtime must
  /// be there yet.
  ~deployment() { detail::replica_threads::end(std::move(threads_)); }

  deployment(const deployment&) = delete;  // nor can it be moved: hold it by a pointer
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
  template <fixed_string Name>
  using parameters = typename named<Name>::type::parameters;

 public:
  /// Queues one item, to share its batch with whoever else comes. Where the queue is full it
  /// blocks, unless the options say otherwise. Throws as `batcher::submit`; all else that goes
  /// wrong comes out of the future.
  template <fixed_string Name>
  future<out<Name>> submit(in<Name> item, submit_options<parameters<Name>> options = {}) {
    return queue<Name>()->submit(std::move(item), std::move(options));
  }

  /// As `submit<name>`, of an endpoint whose name is known when the program runs, with its
  /// parameters' default. Throws
  /// `invalid_argument` that lists the endpoints if there is none of that name, or if its
  /// parameters have no default, and `dtype_mismatch` if it takes or returns other types.
  template <batch_item Out, batch_item In>
  future<Out> submit(std::string_view name, In item, submit_options<> options = {}) {
    std::optional<future<Out>> result;
    const bool found = (try_submit<Endpoints>(name, item, options, result) || ...);
    if (!found) throw unknown(name);
    return *std::move(result);
  }

  /// The names of the endpoints.
  [[nodiscard]] static std::vector<std::string_view> endpoints() { return {Endpoints::name()...}; }

  /// The results for a range or a generator of items, or for items in braces, in order, in requests
  /// that run as one batch each, with parameters of the endpoint's type. The first are under way
  /// when it returns.
  template <fixed_string Name, class S>
  result_stream<in<Name>, out<Name>> post(S&& source, const request_options& options = {},
                                          parameters<Name> further = {}) {
    detail::check(options);
    return {queue<Name>(), detail::make_items<in<Name>>(std::forward<S>(source)), options,
            std::make_shared<const parameters<Name>>(std::move(further))};
  }
  template <fixed_string Name>
  result_stream<in<Name>, out<Name>> post(std::initializer_list<in<Name>> source,
                                          const request_options& options = {},
                                          parameters<Name> further = {}) {
    return post<Name>(std::vector<in<Name>>(source), options, std::move(further));
  }

  /// As `post`, but a future for each request.
  template <fixed_string Name, class S>
  request_stream<in<Name>, out<Name>> requests(S&& source, const request_options& options = {},
                                               parameters<Name> further = {}) {
    detail::check(options);
    return {queue<Name>(), detail::make_items<in<Name>>(std::forward<S>(source)), options,
            std::make_shared<const parameters<Name>>(std::move(further))};
  }
  template <fixed_string Name>
  request_stream<in<Name>, out<Name>> requests(std::initializer_list<in<Name>> source,
                                               const request_options& options = {},
                                               parameters<Name> further = {}) {
    return requests<Name>(std::vector<in<Name>>(source), options, std::move(further));
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
  [[nodiscard]] std::size_t replicas() const noexcept { return models_->size(); }

 private:
  using models = std::vector<Model*>;  // each written and read by its replica's thread alone
  template <class Endpoint>
  using queue_type = detail::batch_runner<typename Endpoint::in, typename Endpoint::out,
                                          typename Endpoint::parameters>;
  template <class Endpoint>
  using queue_of = std::shared_ptr<queue_type<Endpoint>>;

  static void check_all(const executor_options& options, const options_by_name& each) {
    detail::check(options);
    for (const auto& [name, own] : each) {
      if (detail::find_endpoint<Endpoints...>(name) == sizeof...(Endpoints)) throw unknown(name);
      const std::string of = detail::concat("options of endpoint \"", name, '"');
      detail::check(own, of);
      const executor_options untold;
      const auto is_own = [&](auto executor_options::*member) {
        return own.*member != options.*member && own.*member != untold.*member;
      };
      if (is_own(&executor_options::devices) || is_own(&executor_options::replicas) ||
          is_own(&executor_options::time))
        throw invalid_argument(
            detail::concat(of, ": devices, replicas and time are those of the whole deployment"));
    }
  }

  // An endpoint's function of one model.
  template <class Endpoint>
  struct bound {
    Model* model;
    template <class... Arguments>
      requires std::invocable<decltype(Endpoint::function), Model&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) const {
      return std::invoke(Endpoint::function, *model, std::forward<Arguments>(arguments)...);
    }
  };

  template <class Endpoint>
  [[nodiscard]] queue_of<Endpoint> make_queue(const executor_options& options,
                                              const options_by_name& each) {
    using in = typename Endpoint::in;
    using out = typename Endpoint::out;
    using parameters = typename Endpoint::parameters;
    const auto own = each.find(Endpoint::name());
    std::function<std::size_t(const in&)> cost;
    if constexpr (!std::is_null_pointer_v<std::remove_cv_t<decltype(Endpoint::cost)>>)
      cost = Endpoint::cost;
    return std::make_shared<queue_type<Endpoint>>(
        schedule_, models_->size(), own == each.end() ? options : own->second,
        std::string(Endpoint::name()), std::move(cost),
        detail::can_stop<bound<Endpoint>, in, out, parameters>,
        [all = models_](std::size_t replica, std::span<const in> batch, const parameters& further,
                        const std::stop_token& stop, detail::batch_results<out>& to) {
          bound<Endpoint> function{(*all)[replica]};
          detail::call_batch(function, batch, further, stop, to);
        });
  }

  [[nodiscard]] static invalid_argument unknown(std::string_view name) {
    std::string names;
    for (const std::string_view each : endpoints())
      names += detail::concat(names.empty() ? "" : ", ", '"', each, '"');
    return invalid_argument(
        detail::concat("deployment: no endpoint \"", name, "\"; there is: ", names));
  }

  // Whether the name is this endpoint's, to which the item then goes.
  template <class Endpoint, class In, class Out>
  [[nodiscard]] bool try_submit(std::string_view name, In& item, submit_options<>& options,
                                std::optional<future<Out>>& result) {
    if (Endpoint::name() != name) return false;
    using takes = typename Endpoint::in;
    using returns = typename Endpoint::out;
    if constexpr (!std::same_as<takes, In> || !std::same_as<returns, Out>) {
      throw dtype_mismatch(
          detail::concat("deployment: endpoint \"", name, "\" makes ", detail::type_name<returns>(),
                         " of ", detail::type_name<takes>(), ", not ", detail::type_name<Out>(),
                         " of ", detail::type_name<In>()));
    } else if constexpr (!std::default_initializable<typename Endpoint::parameters>) {
      throw invalid_argument(detail::concat("deployment: endpoint \"", name,
                                            "\" needs parameters, which submit<name> takes"));
    } else {
      // By index: endpoints of equal types have queues of one type.
      constexpr std::size_t index = detail::find_endpoint<Endpoints...>(Endpoint::name());
      result = std::get<index>(queues_)->submit(std::move(item),
                                                {.deadline = options.deadline,
                                                 .priority = options.priority,
                                                 .parameters = typename Endpoint::parameters{},
                                                 .stop = std::move(options.stop)});
      return true;
    }
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

  const std::shared_ptr<models> models_;
  std::tuple<queue_of<Endpoints>...> queues_;
  std::unique_ptr<detail::replica_threads> threads_;
};

}  // namespace topos
