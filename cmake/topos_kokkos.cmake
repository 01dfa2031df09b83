# SPDX-License-Identifier: Apache-2.0
#
# topos_provide_kokkos(): makes sure that Kokkos::kokkos exists, and refuses one that cannot work.
#
# Order: the target that the project around us has; an installed package; a downloaded source tree.

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/topos_kokkos_source.cmake")

function(topos_check_kokkos version devices)
  if(version AND (version VERSION_LESS 4.7 OR version VERSION_GREATER_EQUAL 6))
    message(FATAL_ERROR "topos needs Kokkos 4.7 to 5.x; this is Kokkos ${version}.")
  endif()
  string(TOUPPER "${devices}" devices)
  foreach(refused THREADS HPX)
    if(refused IN_LIST devices)
      message(
        FATAL_ERROR
          "This Kokkos is built with its ${refused} backend, which refuses work from any other thread than the "
          "one that started it; topos works off its queues on a thread of its own. Build Kokkos with "
          "Kokkos_ENABLE_OPENMP=ON or Kokkos_ENABLE_SERIAL=ON and Kokkos_ENABLE_${refused}=OFF."
      )
    endif()
  endforeach()
endfunction()

# Kokkos 4.7 and CUDA 13 do not fit, in Kokkos' sources and in its headers: the header says where.
function(topos_mend_cuda13 target scope version devices)
  string(TOUPPER "${devices}" devices)
  if("CUDA" IN_LIST devices AND version AND version VERSION_LESS 5)
    set(header "${PROJECT_SOURCE_DIR}/cmake/kokkos_cuda13_compat.hpp")
    target_compile_options(
      ${target} ${scope} "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX,CUDA>:SHELL:-include \"${header}\">>"
    )
  endif()
endfunction()

# Version and devices of a Kokkos that is built from that folder, for who calls this.
macro(topos_ask_kokkos source)
  get_directory_property(topos_kokkos_version DIRECTORY "${source}" DEFINITION Kokkos_VERSION)
  get_directory_property(topos_kokkos_devices DIRECTORY "${source}" DEFINITION KOKKOS_ENABLED_DEVICES)
endmacro()

# Kokkos' options are cache entries, so that a user may still overrule each on the command line.
function(topos_add_kokkos source)
  set(backends "${TOPOS_KOKKOS_BACKENDS}")
  if(backends STREQUAL "auto")
    find_package(OpenMP QUIET COMPONENTS CXX)
    set(backends SERIAL)
    if(OpenMP_CXX_FOUND)
      list(PREPEND backends OPENMP)
    else()
      message(STATUS "Kokkos: this compiler has no OpenMP; building for one thread")
    endif()
  endif()
  topos_check_kokkos("" "${backends}")
  foreach(backend IN LISTS backends)
    string(TOUPPER "${backend}" backend)
    set(Kokkos_ENABLE_${backend} ON CACHE BOOL "Kokkos backend ${backend}")
  endforeach()
  if("CUDA" IN_LIST backends)
    get_cmake_property(entries CACHE_VARIABLES)
    list(FILTER entries INCLUDE REGEX "^Kokkos_ARCH_(KEPLER|MAXWELL|PASCAL|VOLTA|TURING|AMPERE|ADA|HOPPER|BLACKWELL)")
    set(chosen "")
    foreach(entry IN LISTS entries)
      if(${entry})
        list(APPEND chosen ${entry})
      endif()
    endforeach()
    if(NOT chosen)
      set(Kokkos_ARCH_HOPPER90 ON CACHE BOOL "GPU architecture")
      set(topos_default_architecture ON CACHE INTERNAL "That one was chosen for want of another")
    elseif(topos_default_architecture AND NOT chosen STREQUAL "Kokkos_ARCH_HOPPER90")
      set(Kokkos_ARCH_HOPPER90 OFF CACHE BOOL "GPU architecture" FORCE)
      set(topos_default_architecture OFF CACHE INTERNAL "")
    endif()
  endif()
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_EXTENSIONS OFF)
  # Its files take longer to parse than to compile: together a fifth of that, by nvcc too.
  if(CMAKE_UNITY_BUILD OR NOT DEFINED CMAKE_UNITY_BUILD)
    set(CMAKE_UNITY_BUILD ON)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
  endif()
  # A GPU build links the toolkit's stub of the driver's library where there is no driver.
  add_subdirectory("${source}" "${CMAKE_BINARY_DIR}/kokkos" EXCLUDE_FROM_ALL SYSTEM)
  topos_ask_kokkos("${source}")
  topos_mend_cuda13(kokkoscore PUBLIC "${topos_kokkos_version}" "${topos_kokkos_devices}")
  set(topos_kokkos_version "${topos_kokkos_version}" PARENT_SCOPE)
  set(topos_kokkos_devices "${topos_kokkos_devices}" PARENT_SCOPE)
endfunction()

macro(topos_provide_kokkos)
  set(topos_kokkos_origin "")
  if(TARGET Kokkos::kokkos)
    set(topos_kokkos_origin "the target of the enclosing project")
    set(topos_kokkos_version "${Kokkos_VERSION}")
    set(topos_kokkos_devices "${Kokkos_DEVICES}")
    # Of one that the enclosing project builds, its own folder knows.
    if(NOT topos_kokkos_devices AND Kokkos_SOURCE_DIR)
      topos_ask_kokkos("${Kokkos_SOURCE_DIR}")
    endif()
  elseif(TOPOS_FIND_KOKKOS)
    # Kokkos' version file accepts any newer version, so the upper bound is checked below.
    find_package(Kokkos 4.7 CONFIG QUIET)
    if(Kokkos_FOUND)
      set(topos_kokkos_origin "${Kokkos_DIR}")
      set(topos_kokkos_version "${Kokkos_VERSION}")
      set(topos_kokkos_devices "${Kokkos_DEVICES}")
    elseif(Kokkos_CONSIDERED_VERSIONS)
      message(STATUS "Kokkos: installed, but too old: ${Kokkos_CONSIDERED_VERSIONS}")
    endif()
  endif()
  if(NOT topos_kokkos_origin)
    if(NOT TOPOS_FETCH_KOKKOS)
      message(
        FATAL_ERROR
          "topos needs Kokkos 4.7 or newer, and found no target Kokkos::kokkos and no installed package. "
          "Install Kokkos (-DKokkos_ROOT=<prefix>), or let topos download it: -DTOPOS_FETCH_KOKKOS=ON."
      )
    endif()
    topos_kokkos_source(topos_kokkos_folder)
    topos_add_kokkos("${topos_kokkos_folder}")
    set(topos_kokkos_origin "${topos_kokkos_folder}")
    set(topos_kokkos_built_here ON)
  endif()
  topos_check_kokkos("${topos_kokkos_version}" "${topos_kokkos_devices}")
endmacro()
