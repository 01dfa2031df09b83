# SPDX-License-Identifier: Apache-2.0
#
# Installs topos (and Kokkos, where the build made it) into a scratch folder, then configures, builds and runs
# a project outside the source tree that uses it.

cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    list(JOIN ARGV " " line)
    # A fatal error's own text would be broken into lines.
    message(NOTICE "${output}\n${line}")
    message(FATAL_ERROR "the command above failed (${failed})")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${scratch}")
set(prefix "${scratch}/prefix")
set(arguments "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_BUILD_TYPE=${build_type}" "-DCMAKE_PREFIX_PATH=${prefix}"
              "-DTOPOS_EXPECTED_VERSION=${version}"
)
if(kokkos_build)
  run("${CMAKE_COMMAND}" --install "${kokkos_build}" --prefix "${prefix}")
else()
  list(APPEND arguments "-DKokkos_DIR=${kokkos_dir}")
endif()
if(way STREQUAL "installed")
  run("${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}")
else()
  list(APPEND arguments "-DTOPOS_SUBDIRECTORY=${source}")
endif()
# A copy, so that nothing is found by standing inside the repository.
file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer" DESTINATION "${scratch}")
run("${CMAKE_COMMAND}" -G "${generator}" -S "${scratch}/consumer" -B "${scratch}/build" ${arguments})
run("${CMAKE_COMMAND}" --build "${scratch}/build")
if(may_run)
  run("${scratch}/build/consumer")
  if(NOT output MATCHES "topos ${version} on cpu")
    message(FATAL_ERROR "the consumer printed:\n${output}")
  endif()
endif()
