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
endfunction()
