# SPDX-License-Identifier: Apache-2.0
#
# The optional libraries: each topos_find_<name>() looks for one and, where it is there, makes the imported
# target topos::optional_<name> and sets topos_<name>_version. The installed package uses this file too.

include_guard(GLOBAL)

# A folder that the compiler searches anyway must not be named again: that would change its order.
function(topos_optional_target name include_folder)
  if(TARGET topos::optional_${name})
    return()
  endif()
  add_library(topos::optional_${name} INTERFACE IMPORTED GLOBAL)
  if(include_folder AND NOT include_folder STREQUAL "/usr/include")
    set_target_properties(
      topos::optional_${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${include_folder}"
                                         INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${include_folder}"
    )
  endif()
  if(ARGN)
    set_target_properties(topos::optional_${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${ARGN}")
  endif()
endfunction()

# The value of `#define <macro> <number>` for each macro, joined by dots.
function(topos_read_version variable header)
  set(version "")
  if(EXISTS "${header}")
    file(READ "${header}" text)
    foreach(macro IN LISTS ARGN)
      if(text MATCHES "#define[ \t]+${macro}[ \t]+([0-9]+)")
        list(APPEND version "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    list(JOIN version "." version)
  endif()
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

function(topos_find_xsimd)
  find_path(TOPOS_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp)
  mark_as_advanced(TOPOS_XSIMD_INCLUDE_DIR)
  if(NOT TOPOS_XSIMD_INCLUDE_DIR)
    return()
  endif()
  topos_read_version(
    version "${TOPOS_XSIMD_INCLUDE_DIR}/xsimd/config/xsimd_config.hpp" XSIMD_VERSION_MAJOR XSIMD_VERSION_MINOR
    XSIMD_VERSION_PATCH
  )
  if(version VERSION_LESS 8)
    message(STATUS "xsimd ${version} in ${TOPOS_XSIMD_INCLUDE_DIR} is too old: topos uses 8 or newer")
    return()
  endif()
  topos_optional_target(xsimd "${TOPOS_XSIMD_INCLUDE_DIR}")
  set(topos_xsimd_version "${version}" PARENT_SCOPE)
endfunction()

function(topos_find_onednn)
  find_path(TOPOS_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  find_library(TOPOS_ONEDNN_LIBRARY dnnl)
  mark_as_advanced(TOPOS_ONEDNN_INCLUDE_DIR TOPOS_ONEDNN_LIBRARY)
  if(NOT TOPOS_ONEDNN_INCLUDE_DIR OR NOT TOPOS_ONEDNN_LIBRARY)
    return()
  endif()
  topos_read_version(
    version "${TOPOS_ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" DNNL_VERSION_MAJOR DNNL_VERSION_MINOR
    DNNL_VERSION_PATCH
  )
  if(version VERSION_LESS 2.6)
    message(STATUS "oneDNN ${version} in ${TOPOS_ONEDNN_INCLUDE_DIR} is too old: topos uses 2.6 or newer")
    return()
  endif()
  topos_optional_target(onednn "${TOPOS_ONEDNN_INCLUDE_DIR}" "${TOPOS_ONEDNN_LIBRARY}")
  set(topos_onednn_version "${version}" PARENT_SCOPE)
endfunction()

function(topos_find_cblas)
  find_path(TOPOS_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas blis)
  find_library(TOPOS_CBLAS_LIBRARY NAMES openblas blis blas cblas)
  mark_as_advanced(TOPOS_CBLAS_INCLUDE_DIR TOPOS_CBLAS_LIBRARY)
  if(NOT TOPOS_CBLAS_INCLUDE_DIR OR NOT TOPOS_CBLAS_LIBRARY)
    return()
  endif()
  # A BLAS of Fortran alone has the name but not the functions.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES "${TOPOS_CBLAS_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${TOPOS_CBLAS_LIBRARY}")
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles(
    "#include <cblas.h>\nint main() { float a = 1, b = 1, c = 0; cblas_sgemm(CblasRowMajor, CblasNoTrans, \
CblasNoTrans, 1, 1, 1, 1.0f, &a, 1, &b, 1, 0.0f, &c, 1); return c == 1.0f ? 0 : 1; }"
    TOPOS_CBLAS_LINKS
  )
  if(NOT TOPOS_CBLAS_LINKS)
    return()
  endif()
  topos_read_version(version "${TOPOS_CBLAS_INCLUDE_DIR}/openblas_config.h" OPENBLAS_NO_SUCH_MACRO)
  if(EXISTS "${TOPOS_CBLAS_INCLUDE_DIR}/openblas_config.h")
    file(STRINGS "${TOPOS_CBLAS_INCLUDE_DIR}/openblas_config.h" line REGEX "OPENBLAS_VERSION")
    if(line MATCHES "OpenBLAS ([0-9.]+[0-9])")
      set(version "${CMAKE_MATCH_1}")
    endif()
  endif()
  if(NOT version) # of a BLAS that does not say which it is
    set(version "${TOPOS_CBLAS_LIBRARY}")
  endif()
  topos_optional_target(cblas "${TOPOS_CBLAS_INCLUDE_DIR}" "${TOPOS_CBLAS_LIBRARY}")
  set(topos_cblas_version "${version}" PARENT_SCOPE)
endfunction()

function(topos_find_cublas)
  find_package(CUDAToolkit QUIET)
  if(NOT TARGET CUDA::cublas)
    return()
  endif()
  topos_optional_target(cublas "" CUDA::cublas)
  set(topos_cublas_version "of CUDA ${CUDAToolkit_VERSION}" PARENT_SCOPE)
endfunction()
