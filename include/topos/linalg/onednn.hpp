// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products on the CPU through oneDNN (2.6 to 3.x), with bias and activation fused.
///
/// Through its C interface: nvcc 13 breaks off on the C++ one.

#include <topos/core/config.hpp>

#if TOPOS_HAS_ONEDNN

#include <dnnl.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <memory>
#include <string_view>
#include <topos/backend/host.hpp>
#include <topos/core/error.hpp>
#include <topos/core/half.hpp>
#include <topos/linalg/product.hpp>
#include <topos/memory/buffer.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace topos::detail {

/// oneDNN's handles, owned.
namespace onednn {

inline void check(dnnl_status_t status, const char* call) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) throw out_of_memory(concat("matmul: ", call));
  throw backend_error(concat("matmul: ", call, " failed with oneDNN's status ", int{status}));
}

/// Destroys a handle by its own function.
template <auto Destroy>
struct destroy {
  template <class Pointer>
  void operator()(Pointer* handle) const {
    Destroy(handle);
  }
};

template <class Handle, auto Destroy>
using owned = std::unique_ptr<std::remove_pointer_t<Handle>, destroy<Destroy>>;

using attributes = owned<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using post_operations = owned<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using memory = owned<dnnl_memory_t, dnnl_memory_destroy>;
using primitive = owned<dnnl_primitive_t, dnnl_primitive_destroy>;
using primitive_description = owned<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;

/// The one CPU.
inline dnnl_engine_t engine() {
  static const dnnl_engine_t cpu = [] {
    dnnl_engine_t made = nullptr;
    check(dnnl_engine_create(&made, dnnl_cpu, 0), "dnnl_engine_create");
    return made;  // never destroyed: static weights may outlive main
  }();
  return cpu;
}

/// A stream of each thread's own: two threads may not share one.
inline dnnl_stream_t stream() {
  thread_local const owned<dnnl_stream_t, dnnl_stream_destroy> made = [] {
    dnnl_stream_t s = nullptr;
    check(dnnl_stream_create(&s, engine(), dnnl_stream_default_flags), "dnnl_stream_create");
    return owned<dnnl_stream_t, dnnl_stream_destroy>(s);
  }();
  return made.get();
}

// Version 3 made the layout of memory a handle; before it was a structure.
#if DNNL_VERSION_MAJOR >= 3
using layout = std::shared_ptr<std::remove_pointer_t<dnnl_memory_desc_t>>;
using layout_argument = const_dnnl_memory_desc_t;
inline layout_argument argument(const layout& l) { return l.get(); }
inline layout own(dnnl_memory_desc_t made) { return {made, dnnl_memory_desc_destroy}; }
#else
using layout = std::shared_ptr<dnnl_memory_desc_t>;
using layout_argument = const dnnl_memory_desc_t*;
inline layout_argument argument(const layout& l) { return l.get(); }
inline layout own(const dnnl_memory_desc_t& made) {
  return std::make_shared<dnnl_memory_desc_t>(made);
}
#endif

/// A float matrix in one of oneDNN's named layouts; dnnl_format_tag_any leaves it to oneDNN.
inline layout matrix(index_t rows, index_t columns, dnnl_format_tag_t tag) {
  const dnnl_dims_t extents = {rows, columns};
  dnnl_memory_desc_t made{};
#if DNNL_VERSION_MAJOR >= 3
  check(dnnl_memory_desc_create_with_tag(&made, 2, extents, dnnl_f32, tag),
        "dnnl_memory_desc_create_with_tag");
#else
  check(dnnl_memory_desc_init_by_tag(&made, 2, extents, dnnl_f32, tag),
        "dnnl_memory_desc_init_by_tag");
#endif
  return own(made);
}

/// A tensor of any steps.
inline layout strided(int axes, const dnnl_dims_t& extents, const dnnl_dims_t& steps,
                      dnnl_data_type_t type) {
  dnnl_memory_desc_t made{};
#if DNNL_VERSION_MAJOR >= 3
  check(dnnl_memory_desc_create_with_strides(&made, axes, extents, type, steps),
        "dnnl_memory_desc_create_with_strides");
#else
  check(dnnl_memory_desc_init_by_strides(&made, axes, extents, type, steps),
        "dnnl_memory_desc_init_by_strides");
#endif
  return own(made);
}

inline memory wrap(const layout& l, const void* data) {
  dnnl_memory_t made = nullptr;
  check(dnnl_memory_create(&made, argument(l), engine(), const_cast<void*>(data)),
        "dnnl_memory_create");
  return memory(made);
}

/// A product x w (+ bias) into y; null where oneDNN has none for these types on this CPU.
inline primitive_description describe_matmul(const layout& x, const layout& w, const layout& bias,
                                             const layout& y, const attributes& how) {
  dnnl_primitive_desc_t made = nullptr;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl_status_t status = dnnl_matmul_primitive_desc_create(
      &made, engine(), argument(x), argument(w), argument(bias), argument(y), how.get());
#else
  dnnl_matmul_desc_t operation;
  check(dnnl_matmul_desc_init(&operation, argument(x), argument(w), argument(bias), argument(y)),
        "dnnl_matmul_desc_init");
  const dnnl_status_t status =
      dnnl_primitive_desc_create(&made, &operation, how.get(), engine(), nullptr);
#endif
  if (status == dnnl_unimplemented) return nullptr;
  check(status, "matmul's primitive_desc_create");
  return primitive_description(made);
}

inline primitive compile(const primitive_description& description) {
  dnnl_primitive_t made = nullptr;
  check(dnnl_primitive_create(&made, description.get()), "dnnl_primitive_create");
  return primitive(made);
}

inline void run(const primitive& p, int count, const dnnl_exec_arg_t* arguments) {
  check(dnnl_primitive_execute(p.get(), stream(), count, arguments), "dnnl_primitive_execute");
  check(dnnl_stream_wait(stream()), "dnnl_stream_wait");
}

}  // namespace onednn

/// Products by oneDNN's matmul, with weights in the layout that it likes best. Its kernels, and so
/// the last bits, may depend on the number of rows.
class onednn_provider {
 public:
  static constexpr std::string_view name = "oneDNN";

  struct weights {
    buffer memory;
    onednn::layout layout;
  };

  static weights prepare(const backend::host::stream& stream, const buffer& w, index_t n,
                         index_t k) {
    const backend::host::thread_limit limit(stream);
    // The layouts differ little with the rows of x: this is a typical batch.
    const auto typical = describe({512, n, k, false, activation::none, false},
                                  onednn::matrix(k, n, dnnl_format_tag_any));
    const onednn::layout best = chosen_weights(typical);
    weights made{buffer(w.where(), dnnl_memory_desc_get_size(onednn::argument(best))), best};
    const onednn::layout plain = onednn::matrix(k, n, dnnl_ba);  // w is the transpose
    dnnl_primitive_desc_t reorder = nullptr;
    onednn::check(
        dnnl_reorder_primitive_desc_create(&reorder, onednn::argument(plain), onednn::engine(),
                                           onednn::argument(best), onednn::engine(), nullptr),
        "dnnl_reorder_primitive_desc_create");
    const onednn::memory from = onednn::wrap(plain, w.data());
    const onednn::memory to = onednn::wrap(best, made.memory.data());
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
    onednn::run(onednn::compile(onednn::primitive_description(reorder)), 2, arguments);
    return made;
  }

  static void run(const backend::host::stream& stream, const weights& w, const product& p) {
    const backend::host::thread_limit limit(stream);
    // A kernel is compiled for its number of rows: whole blocks and a rest need few kernels.
    const index_t rest = p.m % row_block;
    run_rows(stream, w, p, 0, p.m - rest);
    run_rows(stream, w, p, p.m - rest, rest);
  }

  /// bf16 only where the CPU has instructions for it.
  template <class T>
  static constexpr bool multiplies = std::same_as<T, float> || std::same_as<T, bf16>;
  template <class T>
  [[nodiscard]] static bool works() {
    if constexpr (std::same_as<T, float>) {
      return true;
    } else {
      constexpr matrix_product<bf16> usual{
          .m = 64, .n = 64, .k = 64, .a_row = 64, .a_column = 1, .b_row = 64, .b_column = 1};
      static const bool here = describe(usual) != nullptr;
      return here;
    }
  }

  static void multiply(const backend::host::stream& stream, const matrix_product<float>& batch) {
    const backend::host::thread_limit limit(stream);
    const bool plain_a = batch.a_column == 1;
    const bool plain_b = batch.b_column == 1;
    const index_t count = batch.batch();
    for (index_t i = 0; i < count; ++i) {
      const matrix_product<float> p = batch.at(i);
      onednn::check(dnnl_sgemm(plain_a ? 'N' : 'T', plain_b ? 'N' : 'T', p.m, p.n, p.k, 1.0f, p.a,
                               plain_a ? p.a_row : p.a_column, p.b, plain_b ? p.b_row : p.b_column,
                               0.0f, p.c, p.n),
                    "dnnl_sgemm");
    }
  }

  static void multiply(const backend::host::stream& stream, const matrix_product<bf16>& p) {
    if (!takes_at_once(p)) {
      for (index_t i = 0; i < p.batch(); ++i) multiply(stream, p.at(i));
      return;
    }
    const backend::host::thread_limit limit(stream);
    const product_layouts layouts(p);
    const onednn::memory a = onednn::wrap(layouts.a, p.a);
    const onednn::memory b = onednn::wrap(layouts.b, p.b);
    const onednn::memory c = onednn::wrap(layouts.c, p.c);
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, a.get()}, {DNNL_ARG_WEIGHTS, b.get()}, {DNNL_ARG_DST, c.get()}};
    onednn::run(compiled(p, stream.in_place()), 3, arguments);
  }

 private:
  // m, n, k, bias, activation, and whether it runs on one thread
  using key = std::tuple<index_t, index_t, index_t, bool, activation, bool>;

  static constexpr index_t row_block = 32;

  static void run_rows(const backend::host::stream& stream, const weights& w, const product& p,
                       index_t first, index_t rows) {
    if (rows == 0 || p.n == 0) return;
    const onednn::memory x = plain(rows, p.k, p.x + first * p.k);
    const onednn::memory packed = onednn::wrap(w.layout, w.memory.data());
    const onednn::memory y = plain(rows, p.n, p.y + first * p.n);
    const onednn::memory bias = p.bias == nullptr ? nullptr : plain(1, p.n, p.bias);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, x.get()},
                                         {DNNL_ARG_WEIGHTS, packed.get()},
                                         {DNNL_ARG_DST, y.get()},
                                         {DNNL_ARG_BIAS, bias.get()}};
    const key shape{rows, p.n, p.k, bias != nullptr, p.act, stream.in_place()};
    onednn::run(compiled(shape, w.layout), bias ? 4 : 3, arguments);
  }

  static onednn::memory plain(index_t rows, index_t columns, const float* data) {
    return onednn::wrap(onednn::matrix(rows, columns, dnnl_ab), data);
  }

  static onednn::attributes attributes_of(activation act) {
    if (act == activation::none) return nullptr;
    dnnl_post_ops_t after = nullptr;
    onednn::check(dnnl_post_ops_create(&after), "dnnl_post_ops_create");
    const onednn::post_operations owner(after);
#if DNNL_VERSION_MAJOR >= 3
    onednn::check(dnnl_post_ops_append_eltwise(after, dnnl_eltwise_gelu_erf, 0.0f, 0.0f),
                  "dnnl_post_ops_append_eltwise");
#else
    onednn::check(dnnl_post_ops_append_eltwise(after, 1.0f, dnnl_eltwise_gelu_erf, 0.0f, 0.0f),
                  "dnnl_post_ops_append_eltwise");
#endif
    dnnl_primitive_attr_t made = nullptr;
    onednn::check(dnnl_primitive_attr_create(&made), "dnnl_primitive_attr_create");
    onednn::attributes attributes(made);
    onednn::check(dnnl_primitive_attr_set_post_ops(made, after),
                  "dnnl_primitive_attr_set_post_ops");
    return attributes;
  }

  static onednn::primitive_description describe(const key& shape, const onednn::layout& weights) {
    const auto [m, n, k, has_bias, act, one_thread] = shape;
    const onednn::layout x = onednn::matrix(m, k, dnnl_ab);
    const onednn::layout y = onednn::matrix(m, n, dnnl_ab);
    const onednn::layout bias = has_bias ? onednn::matrix(1, n, dnnl_ab) : nullptr;
    onednn::primitive_description made =
        onednn::describe_matmul(x, weights, bias, y, attributes_of(act));
    if (!made) throw not_supported("matmul: oneDNN has no float product for this CPU");
    return made;
  }

  // The layout that a product wants its weights in.
  static onednn::layout chosen_weights(const onednn::primitive_description& description) {
    const auto found = dnnl_primitive_desc_query_md(description.get(), dnnl_query_weights_md, 0);
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_t copy = nullptr;
    onednn::check(dnnl_memory_desc_clone(&copy, found), "dnnl_memory_desc_clone");
    return onednn::own(copy);
#else
    return onednn::own(*found);
#endif
  }

  // Whether oneDNN takes a batch as one: of elements that lie apart from each other, later ones
  // behind earlier ones, and along no axis the same product again.
  [[nodiscard]] static bool takes_at_once(const matrix_product<bf16>& p) {
    if (p.axes == 0) return true;
    using axis = std::pair<index_t, index_t>;  // its step and its extent
    std::vector<axis> a{{p.a_row, p.m}, {p.a_column, p.k}};
    std::vector<axis> b{{p.b_row, p.k}, {p.b_column, p.n}};
    for (int i = 0; i < p.axes; ++i) {
      if (p.a_steps[i] == 0 && p.b_steps[i] == 0) return false;
      if (p.a_steps[i] != 0) a.emplace_back(p.a_steps[i], p.extents[i]);
      if (p.b_steps[i] != 0) b.emplace_back(p.b_steps[i], p.extents[i]);
    }
    const auto lie_apart = [](std::vector<axis>& all) {
      std::sort(all.begin(), all.end());
      index_t past = 1;
      return std::all_of(all.begin(), all.end(), [&](const axis& next) {
        return next.first >= std::exchange(past, next.first * next.second);
      });
    };
    return lie_apart(a) && lie_apart(b);
  }

  // How the operands of a batch of bf16 products lie.
  struct product_layouts {
    explicit product_layouts(const matrix_product<bf16>& p) {
      dnnl_dims_t extents[3] = {};
      dnnl_dims_t steps[3] = {};
      index_t step = p.m * p.n;
      for (int axis = p.axes; axis-- > 0;) {
        const index_t count = p.extents[axis];
        // What is the same all along an axis is broadcast.
        const index_t own[] = {p.a_steps[axis], p.b_steps[axis], step};
        for (int i = 0; i < 3; ++i) {
          extents[i][axis] = own[i] == 0 ? 1 : count;
          steps[i][axis] = own[i] == 0 ? 1 : own[i];
        }
        step *= count;
      }
      const auto last = [&](int i, index_t rows, index_t columns, index_t row, index_t column) {
        extents[i][p.axes] = rows;
        extents[i][p.axes + 1] = columns;
        steps[i][p.axes] = row;
        steps[i][p.axes + 1] = column;
        return onednn::strided(p.axes + 2, extents[i], steps[i], dnnl_bf16);
      };
      a = last(0, p.m, p.k, p.a_row, p.a_column);
      b = last(1, p.k, p.n, p.b_row, p.b_column);
      c = last(2, p.m, p.n, p.n, 1);
    }

    onednn::layout a;
    onednn::layout b;
    onednn::layout c;
  };

  static onednn::primitive_description describe(const matrix_product<bf16>& p) {
    const product_layouts layouts(p);
    return onednn::describe_matmul(layouts.a, layouts.b, nullptr, layouts.c, nullptr);
  }

  static const onednn::primitive& compiled(const matrix_product<bf16>& p, bool one_thread) {
    std::vector<index_t> shape{p.m, p.n, p.k, p.a_row, p.a_column, p.b_row, p.b_column, one_thread};
    shape.insert(shape.end(), p.extents, p.extents + p.axes);
    shape.insert(shape.end(), p.a_steps, p.a_steps + p.axes);
    shape.insert(shape.end(), p.b_steps, p.b_steps + p.axes);
    return compiled(shape, [&] { return describe(p); });
  }

  static const onednn::primitive& compiled(const key& shape, const onednn::layout& weights) {
    return compiled(shape, [&] { return describe(shape, weights); });
  }

  // Compiled kernels, kept for the shapes of late, by each thread for itself.
  template <class Shape, class Describe>
  static const onednn::primitive& compiled(const Shape& shape, Describe description) {
    constexpr std::size_t kept = 512;
    thread_local std::map<Shape, onednn::primitive> kernels;
    const auto found = kernels.find(shape);
    if (found != kernels.end()) return found->second;
    if (kernels.size() >= kept) kernels.clear();
    return kernels.emplace(shape, onednn::compile(description())).first->second;
  }
};

}  // namespace topos::detail

#endif
