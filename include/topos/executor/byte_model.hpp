// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A model of raw bytes: a file's or a message's content in, a text such as JSON out.

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <source_location>
#include <span>
#include <string>
#include <topos/core/error.hpp>
#include <topos/core/printable.hpp>
#include <topos/executor/batcher.hpp>
#include <topos/executor/future.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/statistics.hpp>
#include <utility>
#include <vector>

namespace topos {

/// Serves a function on one input, a function on batches of inputs, or both, to any number of
/// threads: single inputs that come together run together.
///
/// A model with the function on batches alone runs a single input as a batch of one; one with the
/// function on one input alone runs every input by itself. With both, a batch of one runs by the
/// former. With more than one replica the functions are called by several threads at once.
///
///     topos::byte_model model({.batch_process = classify}, {.max_batch_size = 4});
///     std::string result = model.process(image);
///
/// A template, so that its executor is compiled for programs with such a model alone: see
/// byte_model.
template <class Input>
class basic_byte_model {
 public:
  using input = Input;
  using process_function = std::function<std::string(const input&)>;
  using batch_process_function = std::function<std::vector<std::string>(std::span<const input>)>;

  struct functions {
    /// The result for one input.
    process_function process = nullptr;
    /// The results for a batch of inputs: as many, in order.
    batch_process_function batch_process = nullptr;
  };

  /// The size of batches is `options.max_batch_size`. Throws `invalid_argument` if there is neither
  /// function, or for options that nothing could run with.
  explicit basic_byte_model(functions model, executor_options options = {},
                            std::source_location where = std::source_location::current())
      : has_batches_(model.batch_process != nullptr),
        batch_size_(has_batches_ ? options.max_batch_size : 1),
        batcher_(server{checked(std::move(model), where)},
                 batches_of(std::move(options), batch_size_)) {}

  /// Ends all work that was submitted.
  ~basic_byte_model() = default;

  basic_byte_model(const basic_byte_model&) = delete;
  basic_byte_model& operator=(const basic_byte_model&) = delete;

  /// The result for one input, which shares its batch with whoever else comes. Blocks; throws what
  /// the model threw.
  std::string process(input item) { return submit(std::move(item)).get(); }

  /// As `process`, but blocks only while the queue is full. Throws `rejected` once it shuts down.
  future<std::string> submit(input item) { return batcher_.submit(std::move(item)); }

  /// The results for any number of inputs, in order, out of full batches of their own. Blocks;
  /// throws what the model threw for the first batch that failed.
  std::vector<std::string> batch_process(std::span<const input> items) {
    std::vector<std::string> results;
    results.reserve(items.size());
    for (std::string& result : batcher_.map(items, {.request_size = batch_size_})) {
      results.push_back(std::move(result));
    }
    return results;
  }

  /// `process` for an input that is at hand, or the content of a file. Throws `io_error` where
  /// the file cannot be read.
  std::string test(input item) { return process(std::move(item)); }
  std::string test(const std::filesystem::path& file) { return process(content(file)); }

  /// The results for a full batch of this one input, `options.max_batch_size` times. Throws
  /// `topos::error` where the model has no function on batches.
  std::vector<std::string> test_batch(const input& item) {
    if (!has_batches_) {
      throw error("byte_model: test_batch needs a model with the function batch_process");
    }
    const std::vector<input> items(batch_size_, item);  // named: nvcc loses its type else
    return batch_process(items);
  }
  std::vector<std::string> test_batch(const std::filesystem::path& file) {
    return test_batch(content(file));
  }

  [[nodiscard]] statistics stats() const { return batcher_.stats(); }

 private:
  struct server {
    std::vector<std::string> operator()(std::span<const input> batch) const {
      if (model.process && batch.size() == 1) return {model.process(batch.front())};
      return model.batch_process(batch);
    }

    functions model;
  };

  [[nodiscard]] static functions checked(functions model, std::source_location where) {
    if (model.process || model.batch_process) return model;
    throw invalid_argument("byte_model: it needs the function process, batch_process, or both",
                           where);
  }

  [[nodiscard]] static executor_options batches_of(executor_options options, std::size_t size) {
    options.max_batch_size = size;
    return options;
  }

  [[nodiscard]] static input content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
      throw io_error(detail::concat(detail::printable(file.string()), ": cannot be opened"));
    input bytes;
    std::array<char, 65536> block;
    do {
      stream.read(block.data(), block.size());
      const auto read =
          std::as_bytes(std::span(block)).first(static_cast<std::size_t>(stream.gcount()));
      bytes.insert(bytes.end(), read.begin(), read.end());
    } while (stream);
    // It ends by going past the end; a folder can be opened, but not read.
    if (!stream.eof())
      throw io_error(detail::concat(detail::printable(file.string()), ": cannot be read"));
    return bytes;
  }

  bool has_batches_;
  std::size_t batch_size_;
  batcher<input, std::string> batcher_;
};

/// That of inputs in memory.
using byte_model = basic_byte_model<std::vector<std::byte>>;

}  // namespace topos
