// SPDX-License-Identifier: Apache-2.0

/// Exchange with others: functions and kernels of one's own, Kokkos Views, mdspan, DLPack, files.

#include <filesystem>
#include <iostream>
#include <topos/io.hpp>
#include <topos/topos.hpp>

#include "../milliseconds.hpp"

// [functor]
// Element by element: a copyable object with a function for both sides.
struct leaky_relu {
  float slope;
  KOKKOS_FUNCTION float operator()(float x) const { return x > 0 ? x : slope * x; }
};
// [/functor]

// [kernel]
// Neighbours are summed, so that no element stands alone: a kernel of one's own.
template <class X, class Y>
struct stencil_kernel {
  X x;
  Y y;
  KOKKOS_FUNCTION void operator()(int i) const {
    const int last = static_cast<int>(x.extent(0)) - 1;
    y(i) = (i > 0 ? x(i - 1) : 0) + x(i) + (i < last ? x(i + 1) : 0);
  }
};

// What is enqueued: called with the device's execution-space instance, and a View of each tensor.
struct stencil {
  template <class Space, class X, class Y>
  void operator()(const Space& space, const X& x, const Y& y) const {
    Kokkos::parallel_for("stencil",
                         Kokkos::RangePolicy<Space>(space, 0, static_cast<int>(x.extent(0))),
                         stencil_kernel<X, Y>{x, y});
  }
};
// [/kernel]

int main(int argc, char** argv) {
  topos::runtime rt{argc, argv};
  const topos::device place = topos::try_gpu();
  std::cout << std::boolalpha;

  std::cout << "== map ==\n";
  // [map]
  auto x = topos::array<float>({-2, -1, 0, 1, 2}, place);
  auto rectified = topos::map(leaky_relu{0.1f}, x);  // lazy, and fused like any other operation
  std::cout << rectified + 1.0f << '\n';
  // [/map]

  std::cout << "== enqueue ==\n";
  // [enqueue]
  auto y = topos::zeros_like(x);
  topos::enqueue(place, topos::reads(x), topos::writes(y), stencil{});  // returns at once
  std::cout << y * 2.0f << '\n';                                        // in order behind it
  // [/enqueue]

  std::cout << "== view ==\n";
  // [view]
  Kokkos::View<float**, Kokkos::HostSpace> view("view", 2, 3);
  Kokkos::deep_copy(view, 1.5f);
  auto v = topos::from_view(view);  // keeps the View, copies nothing
  std::cout << v << ", the same memory: " << (v.data() == view.data()) << '\n';
  auto back = topos::as_view(v);  // a View of const elements
  std::cout << back.extent(0) << " x " << back.extent(1) << '\n';
  // [/view]

  std::cout << "== mdspan ==\n";
  // [mdspan]
  auto matrix = topos::array<float>({{1, 2, 3}, {4, 5, 6}}, topos::cpu());
  auto span = topos::as_mdspan(matrix);
  std::cout << span.extent(0) << " x " << span.extent(1) << '\n';
  std::cout << topos::from_mdspan(span) << '\n';
  // [/mdspan]

  std::cout << "== dlpack ==\n";
  // [dlpack]
  const float* memory = matrix.data();
  auto* handed_over = topos::to_dlpack(matrix);               // to another library ...
  auto returned = topos::from_dlpack<float, 2>(handed_over);  // ... and back from it
  std::cout << returned << ", the same memory: " << (returned.data() == memory) << '\n';
  // [/dlpack]

  std::cout << "== npy ==\n";
  // [npy]
  const std::filesystem::path path = "06_interop.npy";
  topos::write_npy(path, matrix);
  auto loaded = topos::load_npy<float, 2>(path, topos::cpu());  // shares the file's pages
  std::cout << loaded * 10.0f << '\n';
  try {
    auto integers = topos::load_npy<int, 2>(path);
  } catch (const topos::dtype_mismatch&) {
    std::cout << "it holds floats\n";
  }
  std::filesystem::remove(path);
  // [/npy]

  std::cout << "== timings ==\n";
  // [timings]
  const auto numbers = topos::ones<float>({10'000'000}, topos::cpu());
  std::cout << "10 million by DLPack and back: " << milliseconds([&] {
    (void)topos::from_dlpack<float, 1>(topos::to_dlpack(numbers));
  }) << " ms\n";
  std::cout << "as an mdspan:                  "
            << milliseconds([&] { (void)topos::as_mdspan(numbers); }) << " ms\n";
  std::cout << "copied:                        " << milliseconds([&] {
    (void)topos::from_mdspan(topos::as_mdspan(numbers));
  }) << " ms\n";
  // [/timings]
}
