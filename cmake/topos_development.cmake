# SPDX-License-Identifier: Apache-2.0
#
# topos_development_flags(): warnings and the machine's own instructions, for the tests, examples and
# benchmarks of the folder that calls it. What uses topos from elsewhere chooses its own.

include_guard(GLOBAL)

function(topos_development_flags)
  add_compile_options(-Wall -Wextra)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Its AVX-512 intrinsics begin from values that they leave undefined on purpose, and it warns of them.
    add_compile_options(-Wno-maybe-uninitialized -Wno-uninitialized -Wno-restrict)
  endif()
  if(TOPOS_WARNINGS_AS_ERRORS)
    add_compile_options(-Werror)
  endif()
  if(TOPOS_NATIVE)
    add_compile_options(-march=native)
  endif()
  topos_leave_garbage()
endfunction()

# g++ collects its garbage whenever there are 128 MiB of it, which takes a tenth of its time here. Where each core's share
# of the memory is large, it may have a third of that before.
function(topos_leave_garbage)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  cmake_host_system_information(RESULT mebibytes QUERY TOTAL_PHYSICAL_MEMORY)
  math(EXPR gibibytes "${mebibytes} / 1024 / 3 / ${cores}")
  if(gibibytes GREATER 0)
    math(EXPR kibibytes "${gibibytes} << 20")
    set(option "--param=ggc-min-heapsize=${kibibytes}")
    if(CMAKE_CXX_COMPILER MATCHES "nvcc")
      set(option "SHELL:-Xcompiler ${option}")
    endif()
    add_compile_options("${option}")
  endif()
endfunction()
