// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on the CPU through oneDNN (2.6 to 3.x), with bias and activation fused.

#include <topos/core/config.hpp>

#if TOPOS_HAS_ONEDNN

#include <dnnl.hpp>
#include <map>
#include <topos/backend/host.hpp>
#include <topos/core/error.hpp>
#include <topos/linalg/product.hpp>
#include <topos/memory/buffer.hpp>
#include <tuple>
#include <unordered_map>

namespace topos::detail {

/// Products by oneDNN's matmul, with weights in the layout that it likes best. Its kernels, and so
/// the last bits, may depend on the number of rows.
class onednn_provider {
  // oneDNN's errors are its own type; ours say who failed.
  template <class Function>
  static auto guarded(Function&& function) {
    try {
      return function();
    } catch (const dnnl::error& failure) {
      throw backend_error(concat("matmul: oneDNN: ", failure.what()));
    }
  }

 public:
  struct weights {
    buffer memory;
    dnnl::memory::desc layout;
  };

  static weights prepare(const backend::host::stream& /*stream*/, const buffer& w, index_t n,
                         index_t k) {
    return guarded([&] {
      // The layouts differ little with the rows of x: this is a typical batch.
      const key typical{512, n, k, false, activation::none};
      const dnnl::memory::desc best =
          describe(typical, {{k, n}, float32, dnnl::memory::format_tag::any}).weights_desc();
      weights made{buffer(w.where(), best.get_size()), best};
      dnnl::memory plain({{k, n}, float32, dnnl::memory::dims{1, k}}, engine(), w.data());
      dnnl::memory packed(best, engine(), made.memory.data());
      dnnl::stream stream(engine());
      dnnl::reorder(plain, packed).execute(stream, plain, packed);
      stream.wait();
      return made;
    });
  }

  static void run(const backend::host::stream& /*stream*/, const weights& w, const product& p) {
    if (p.m == 0 || p.n == 0) return;
    guarded([&] {
      std::unordered_map<int, dnnl::memory> arguments{
          {DNNL_ARG_SRC, plain(p.m, p.k, p.x)},
          {DNNL_ARG_WEIGHTS, dnnl::memory(w.layout, engine(), w.memory.data())},
          {DNNL_ARG_DST, plain(p.m, p.n, p.y)}};
      if (p.bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, plain(1, p.n, p.bias));
      dnnl::stream stream(engine());
      primitive({p.m, p.n, p.k, p.bias != nullptr, p.act}, w.layout).execute(stream, arguments);
      stream.wait();
    });
  }

 private:
  using key = std::tuple<index_t, index_t, index_t, bool, activation>;  // m, n, k, bias, act
  static constexpr auto float32 = dnnl::memory::data_type::f32;

  static const dnnl::engine& engine() {
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
  }

  static dnnl::memory::desc rows_of(index_t rows, index_t columns) {
    return {{rows, columns}, float32, dnnl::memory::format_tag::ab};
  }

  static dnnl::memory plain(index_t rows, index_t columns, const float* data) {
    return {rows_of(rows, columns), engine(), const_cast<float*>(data)};
  }

  static dnnl::matmul::primitive_desc describe(const key& shape, const dnnl::memory::desc& layout) {
    const auto [m, n, k, bias, act] = shape;
    dnnl::primitive_attr attributes;
    if (act == activation::gelu) {
      dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
      after.append_eltwise(dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
#else
      after.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
#endif
      attributes.set_post_ops(after);
    }
    const dnnl::memory::desc bias_layout = bias ? rows_of(1, n) : dnnl::memory::desc();
#if DNNL_VERSION_MAJOR >= 3
    return {engine(), rows_of(m, k), layout, bias_layout, rows_of(m, n), attributes};
#else
    if (!bias) return {{rows_of(m, k), layout, rows_of(m, n)}, attributes, engine()};
    return {{rows_of(m, k), layout, bias_layout, rows_of(m, n)}, attributes, engine()};
#endif
  }

  // Compiled kernels, kept for the shapes of late. Only the queue's thread comes here.
  static const dnnl::matmul& primitive(const key& shape, const dnnl::memory::desc& layout) {
    constexpr std::size_t kept = 512;
    thread_local std::map<key, dnnl::matmul> compiled;
    const auto found = compiled.find(shape);
    if (found != compiled.end()) return found->second;
    if (compiled.size() >= kept) compiled.clear();
    return compiled.emplace(shape, dnnl::matmul(describe(shape, layout))).first->second;
  }
};

}  // namespace topos::detail

#endif
