# SPDX-License-Identifier: Apache-2.0
"""Plants each kind of violation in a temporary tree and expects the layering check to name it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_layering  # noqa: E402


class CheckLayering(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = pathlib.Path(self._folder.name)
        self.plant("core/shape.hpp", "#pragma once\n#include <vector>\n")
        self.plant("backend/cuda.hpp", "#pragma once\n#include <cuda_runtime.h>\ncudaStream_t stream;\n")
        self.plant("core/config.hpp", "#pragma once\n#ifdef KOKKOS_ENABLE_CUDA\n#endif\n")
        self.plant("tensor/tensor.hpp", "#pragma once\n#include <topos/core/shape.hpp>\n")
        self.plant("topos.hpp", "// All of it.\n#pragma once\n\n#include <topos/tensor/tensor.hpp>\n")

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def assert_named(self, *parts):
        problems = check_layering.check(self.root)
        self.assertTrue(
            any(all(part in problem for part in parts) for problem in problems),
            f"nothing names {parts}; found {problems}",
        )

    def assert_clean(self):
        self.assertEqual(check_layering.check(self.root), [])

    def test_accepts_a_tree_in_order(self):
        self.assert_clean()

    def test_finds_an_upward_include(self):
        self.plant("core/bad.hpp", "#include <topos/tensor/tensor.hpp>\n")
        self.assert_named("core/bad.hpp:1", "core/ is below tensor/")

    def test_finds_an_upward_include_by_relative_path(self):
        self.plant("core/bad.hpp", '\n#include "../tensor/tensor.hpp"\n')
        self.assert_named("core/bad.hpp:2", "core/ is below tensor/")

    def test_finds_an_upward_include_from_a_detail_folder(self):
        self.plant("core/detail/bad.hpp", '#  include "topos/tensor/tensor.hpp"\n')
        self.assert_named("core/detail/bad.hpp:1", "core/ is below tensor/")

    def test_finds_nn_in_the_executor(self):
        self.plant("nn/module.hpp", "#pragma once\n")
        self.plant("executor/bad.hpp", "#include <topos/nn/module.hpp>\n")
        self.assert_named("executor/bad.hpp:1", "executor/ must not include nn/")

    def test_finds_io_in_nn_and_nn_in_io(self):
        self.plant("nn/module.hpp", "#include <topos/io/npy.hpp>\n")
        self.plant("io/npy.hpp", "#include <topos/nn/module.hpp>\n")
        self.assert_named("nn/module.hpp:1", "nn/ is below io/")
        self.assert_named("io/npy.hpp:1", "io/ must not include nn/")

    def test_finds_a_circle_between_folders(self):
        self.plant("memory/pool.hpp", "#include <topos/async/event.hpp>\n")
        self.plant("async/event.hpp", "#pragma once\n")
        self.plant("async/queue.hpp", "#include <topos/memory/buffer.hpp>\n")
        self.plant("memory/buffer.hpp", "#pragma once\n")
        self.assert_named("folders include each other: async -> memory -> async")

    def test_finds_an_unknown_layer_and_a_missing_header(self):
        self.plant("misc/bad.hpp", "#include <topos/core/missing.hpp>\n")
        self.assert_named("misc/bad.hpp", "is not one of the layers")
        self.assert_named("misc/bad.hpp:1", "core/missing.hpp does not exist")

    def test_finds_words_of_a_backend(self):
        for number, word in enumerate([
            "#ifdef KOKKOS_ENABLE_OPENMP", "cudaMalloc(&p, n);", "cublasSgemm(h);", "#if defined(__CUDACC__)",
            "Kokkos::Serial space;", "Kokkos::CudaSpace space;", "kernel<<<1, 2>>>();", "#include <cublas_v2.h>",
            "auto s = \"//\"; cudaFree(p);", "int n = 1'000; cudaFree(p);",
        ]):
            with self.subTest(word=word):
                name = f"kernels/bad_{number}.hpp"
                self.plant(name, "#pragma once\n" + word + "\n")
                self.assert_named(f"{name}:2", "belongs into backend/")

    def test_lets_a_provider_speak_of_its_own_library_alone(self):
        self.plant("linalg/cublas.hpp", "#include <cublas_v2.h>\ncublasHandle_t h; int s = CUBLAS_STATUS_SUCCESS;\n")
        self.assert_clean()
        self.plant("linalg/cublas.hpp", "#include <cublas_v2.h>\ncudaDataType_t t = CUDA_R_16BF;\n")
        self.assert_clean()
        self.plant("linalg/cublas.hpp", "#include <cuda_runtime.h>\ncublasHandle_t h; cudaStream_t s; cudnnHandle_t d;\n")
        self.assert_named("linalg/cublas.hpp:1", "cuda_runtime.h")
        self.assert_named("linalg/cublas.hpp:2", "cudaStream_t")
        self.assert_named("linalg/cublas.hpp:2", "cudnnHandle_t")

    def test_lets_comments_and_strings_speak_of_cuda(self):
        self.plant("device/good.hpp", '// cudaMalloc\n/* KOKKOS_ENABLE_CUDA\n Kokkos::Cuda */\n'
                                      'auto name = "cudaMalloc"; auto device = "cuda:1"; int cuda = 0;\n'
                                      'auto text = R"(cudaFree()\n)";\n')
        self.assert_clean()

    def test_ignores_includes_in_comments(self):
        self.plant("core/good.hpp", "// #include <topos/tensor/tensor.hpp>\n/*\n#include <topos/tensor/tensor.hpp>\n*/\n")
        self.assert_clean()

    def test_finds_a_long_header(self):
        self.plant("core/long.hpp", "\n" * 400)
        self.assert_clean()
        self.plant("core/long.hpp", "\n" * 401)
        self.assert_named("core/long.hpp: 401 lines")

    def test_finds_code_in_an_umbrella(self):
        self.plant("nn.hpp", "#pragma once\n#include <topos/core/shape.hpp>\nint x;\n")
        self.assert_named("nn.hpp:3", "includes only")

    def test_finds_an_umbrella_inside_and_a_header_in_no_layer(self):
        self.plant("core/bad.hpp", "#include <topos/topos.hpp>\n")
        self.plant("stray.hpp", "#pragma once\n")
        self.assert_named("core/bad.hpp:1", "includes the umbrella")
        self.assert_named("stray.hpp", "lies in no layer")

    def test_exit_code_says_whether_there_are_problems(self):
        command = [sys.executable, "-B", check_layering.__file__, str(self.root)]
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
        self.plant("core/bad.hpp", "#include <topos/tensor/tensor.hpp>\n")
        failed = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("core/bad.hpp:1", failed.stderr)

    def test_an_empty_folder_is_a_problem(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(len(check_layering.check(empty)), 1)


if __name__ == "__main__":
    unittest.main()
