// SPDX-License-Identifier: Apache-2.0
//
// Encodes texts to embeddings with all-MiniLM-L6-v2, on a device chosen at run time.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <topos/device/device.hpp>
#include <topos/device/runtime.hpp>
#include <topos/executor.hpp>
#include <topos/io/mapped_file.hpp>
#include <topos/io/npy.hpp>
#include <topos/linalg/precision.hpp>
#include <vector>

#include "encoder.hpp"
#include "model_config.hpp"
#include "wordpiece.hpp"

namespace {

using sentence_encoder::embedding;
using sentence_encoder::encoder;

using executor = topos::deployment<encoder, topos::endpoint<"/encode", &encoder::encode>>;

const std::map<std::string, topos::precision> precisions{
    {"high", topos::precision::high},
    {"highest", topos::precision::highest},
    {"reproducible", topos::precision::reproducible}};

struct options {
  std::string device = "cpu";
  // Signed: CLI11 would take -1 for the largest unsigned number.
  std::int64_t request_size = 32;
  std::int64_t count = 10'000;
  std::string input;
  std::string output;
  std::string model = TOPOS_MODEL_DIR;
  std::string precision = "high";
  bool tokens = false;
};

/// The lines of a file, one after the other; a line break at the end begins no further line.
class lines {
 public:
  explicit lines(const std::string& path) : file_(path) {
    const auto bytes = file_.bytes();
    rest_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    count_ = static_cast<std::size_t>(std::ranges::count(rest_, '\n'));
    if (!rest_.empty() && rest_.back() != '\n') ++count_;
  }

  [[nodiscard]] std::size_t count() const { return count_; }

  [[nodiscard]] std::string next() {
    const std::size_t length = std::min(rest_.find('\n'), rest_.size());
    const std::string line(rest_.substr(0, length));
    rest_.remove_prefix(std::min(length + 1, rest_.size()));
    return line;
  }

 private:
  topos::mapped_file file_;
  std::string_view rest_;
  std::size_t count_ = 0;
};

/// The texts to encode, in order: each is asked for once.
class texts {
 public:
  explicit texts(const options& o) : count_(static_cast<std::size_t>(o.count)) {
    if (o.input.empty()) return;
    lines_.emplace(o.input);
    count_ = lines_->count();
  }

  [[nodiscard]] std::size_t count() const { return count_; }

  [[nodiscard]] auto range() {
    return std::views::iota(std::size_t{0}, count_) | std::views::transform([this](std::size_t) {
             return lines_ ? lines_->next()
                           : "Using a GPU allows you to significantly speed up encoding.";
           });
  }

 private:
  std::size_t count_;
  std::optional<lines> lines_;
};

void require_output() {
  if (!std::cout.flush()) throw std::runtime_error("standard output: cannot be written");
}

void print_tokens(const options& o) {
  const auto config = sentence_encoder::read_model_config(o.model);
  const sentence_encoder::wordpiece tokens(std::filesystem::path(o.model) / "vocab.txt",
                                           config.max_tokens);
  texts all(o);
  std::vector<std::int32_t> ids;
  std::string line;
  for (const std::string& text : all.range()) {
    ids.clear();
    line.clear();
    tokens.encode(text, ids);
    for (const std::int32_t id : ids) {
      if (!line.empty()) line += ' ';
      line += std::to_string(id);
    }
    if (!(std::cout << line << '\n')) break;
  }
  require_output();
}

/// What encoding cost, and what the model makes of three short texts.
void report(executor& dep, const options& o, std::size_t count, std::chrono::duration<double> time,
            std::chrono::duration<double> load_time) {
  const double seconds = std::max(time.count(), 1e-9);
  const auto request_size = static_cast<std::size_t>(o.request_size);
  const auto steps = static_cast<double>((count + request_size - 1) / request_size);
  std::printf("%zu texts in %.2f s on %s: %.1f step/s, %.1f texts/s\n", count, time.count(),
              o.device.c_str(), steps / seconds, static_cast<double>(count) / seconds);
  std::printf("weights on %s in %.3f s\n", o.device.c_str(), load_time.count());
  const std::vector<std::string> samples{"The cat sits on the mat.", "A kitten rests on a rug.",
                                         "Stock prices fell sharply today."};
  std::vector<embedding> vectors;
  for (embedding& e : dep.post<"/encode">(samples)) vectors.push_back(std::move(e));
  for (std::size_t a = 0; a < samples.size(); ++a) {
    for (std::size_t b = a + 1; b < samples.size(); ++b) {
      const float cosine =
          std::inner_product(vectors[a].begin(), vectors[a].end(), vectors[b].begin(), 0.0f);
      std::printf("similarity %6.3f  \"%s\" and \"%s\"\n", cosine, samples[a].c_str(),
                  samples[b].c_str());
    }
  }
}

void encode(const options& o) {
  const topos::device place(o.device);
  const auto config = sentence_encoder::read_model_config(o.model);
  texts all(o);
  std::optional<topos::npy_writer<float>> output;
  if (!o.output.empty()) {
    output.emplace(o.output, std::vector<topos::index_t>{config.bert.hidden},
                   static_cast<topos::index_t>(all.count()));
  }
  const auto model =
      std::make_shared<const sentence_encoder::model>(place, o.model, precisions.at(o.precision));
  // A replica for each core of a CPU; a GPU is kept busy by one.
  const int cores = place == topos::cpu() ? topos::properties(place).cores : 1;
  executor dep({.devices = {place}, .replicas = static_cast<std::size_t>(cores)},
               [&](topos::device) { return encoder(model); });
  const auto start = std::chrono::steady_clock::now();
  for (const embedding& e : dep.post<"/encode">(
           all.range(),
           {.request_size = static_cast<std::size_t>(o.request_size), .show_progress = true})) {
    if (output) output->append(e);
  }
  const auto time = std::chrono::steady_clock::now() - start;
  if (output) output->close();
  report(dep, o, all.count(), time, model->load_time());
  if (std::fflush(stdout) != 0) throw std::runtime_error("standard output: cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  try {
    const topos::runtime runtime{argc, argv};
    CLI::App app{"Encodes texts to sentence embeddings with all-MiniLM-L6-v2.", "sentence_encoder"};
    app.add_option("--device", o.device, "Where to run: cpu, cuda, cuda:1")->capture_default_str();
    app.add_option("--request-size", o.request_size, "Texts in a request, which runs as one batch")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
    app.add_option("--count", o.count, "How often to encode the sample text, without --input")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
    app.add_option("--input", o.input, "File of texts, one a line");
    app.add_option("--output", o.output, "File to write the embeddings to: .npy, float32");
    app.add_option("--model", o.model, "Folder of the model")->capture_default_str();
    app.add_option("--precision", o.precision,
                   "Of matrix products: highest; high, which is faster on CPUs with AMX; or "
                   "reproducible, by which a text's embedding depends on no other text in any bit")
        ->capture_default_str()
        ->check(CLI::IsMember(precisions));
    app.add_flag("--tokens", o.tokens, "Print the token ids of each text, and stop");
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      std::cout << app.help();
      require_output();
      return 0;
    } catch (const CLI::ParseError& failure) {
      std::cerr << "sentence_encoder: " << failure.what() << "; see --help\n";
      return 2;
    }
    if (o.tokens) {
      print_tokens(o);
    } else {
      encode(o);
    }
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "sentence_encoder: " << failure.what() << '\n';
    return 1;
  }
}
