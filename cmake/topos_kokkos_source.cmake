# SPDX-License-Identifier: Apache-2.0
#
# topos_kokkos_source(<variable>): the folder of a Kokkos source tree, downloaded where it is missing.
#
# Works before project(), because the compiler of a CUDA build is a script from that tree. The tree is
# kept in TOPOS_DEPS_DIR, which all presets share and which may be copied to a machine without network.

include_guard(GLOBAL)

# Kokkos' own laboratory publishes this source distribution; it carries the whole of Kokkos.
set(topos_pypi_requirement "pygenten==0.1.5")
set(topos_pypi_archive "pygenten-0.1.5.tar.gz")
set(topos_pypi_sha256 "e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7")
set(topos_pypi_kokkos_version "4.7.0")

set(topos_release_tag "4.7.01")
set(topos_release_url
    "https://github.com/kokkos/kokkos/releases/download/${topos_release_tag}/kokkos-${topos_release_tag}.tar.gz"
)
set(topos_release_sha256 "404cf33e76159e83b8b4ad5d86f6899d442b5da4624820ab457412116cdcd201")
set(topos_release_kokkos_version "4.7.1")

# Renaming is what makes an unpacked tree appear, so that an interrupted run leaves none behind.
function(topos_kokkos_unpack archive pattern inner folder problem)
  set(scratch "${folder}.unpacking")
  file(REMOVE_RECURSE "${scratch}")
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${scratch}" PATTERNS "${pattern}")
  if(NOT EXISTS "${scratch}/${inner}/core/src/Kokkos_Core.hpp")
    file(REMOVE_RECURSE "${scratch}")
    set(${problem} "${archive} holds no Kokkos under ${inner}" PARENT_SCOPE)
    return()
  endif()
  file(REMOVE_RECURSE "${folder}")
  file(RENAME "${scratch}/${inner}" "${folder}")
  file(REMOVE_RECURSE "${scratch}")
  set(${problem} "" PARENT_SCOPE)
endfunction()

function(topos_kokkos_from_pypi folder problem)
  set(archive "${TOPOS_DEPS_DIR}/${topos_pypi_archive}")
  set(have "")
  if(EXISTS "${archive}")
    file(SHA256 "${archive}" have)
  endif()
  if(NOT have STREQUAL topos_pypi_sha256)
    find_program(TOPOS_PYTHON python3)
    mark_as_advanced(TOPOS_PYTHON)
    if(NOT TOPOS_PYTHON)
      set(${problem} "python3 is missing (apt-get install python3-pip)" PARENT_SCOPE)
      return()
    endif()
    execute_process(
      COMMAND "${TOPOS_PYTHON}" -m pip --version
      RESULT_VARIABLE failed
      OUTPUT_QUIET ERROR_QUIET
    )
    if(failed)
      set(${problem} "${TOPOS_PYTHON} has no pip (apt-get install python3-pip)" PARENT_SCOPE)
      return()
    endif()
    message(STATUS "Kokkos: downloading ${topos_pypi_requirement} with pip (17 MB)")
    set(requirements "${TOPOS_DEPS_DIR}/kokkos-requirements.txt")
    file(WRITE "${requirements}" "${topos_pypi_requirement} --hash=sha256:${topos_pypi_sha256}\n")
    # Only this package is refused as a wheel: what its metadata needs may come as wheels.
    execute_process(
      COMMAND "${TOPOS_PYTHON}" -m pip download --quiet --no-input --disable-pip-version-check --no-deps
              --no-binary pygenten --require-hashes -r "${requirements}" --dest "${TOPOS_DEPS_DIR}"
      RESULT_VARIABLE failed
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output
    )
    file(REMOVE "${requirements}")
    if(failed OR NOT EXISTS "${archive}")
      string(STRIP "${output}" output)
      set(${problem} "pip download of ${topos_pypi_requirement} failed:\n${output}" PARENT_SCOPE)
      return()
    endif()
  endif()
  topos_kokkos_unpack("${archive}" "*/tpls/kokkos/*" "pygenten-0.1.5/tpls/kokkos" "${folder}" why)
  if(NOT why)
    file(REMOVE "${archive}")
  endif()
  set(${problem} "${why}" PARENT_SCOPE)
endfunction()

function(topos_kokkos_from_release folder problem)
  set(archive "${TOPOS_DEPS_DIR}/kokkos-${topos_release_tag}.tar.gz")
  set(have "")
  if(EXISTS "${archive}")
    file(SHA256 "${archive}" have)
  endif()
  if(NOT have STREQUAL topos_release_sha256)
    message(STATUS "Kokkos: downloading ${topos_release_url}")
    file(DOWNLOAD "${topos_release_url}" "${archive}" STATUS status INACTIVITY_TIMEOUT 30 TLS_VERIFY ON)
    list(GET status 0 failed)
    list(GET status 1 reason)
    if(NOT failed)
      file(SHA256 "${archive}" have)
      if(NOT have STREQUAL topos_release_sha256)
        set(failed 1)
        set(reason "its SHA-256 is ${have}, not ${topos_release_sha256}")
      endif()
    endif()
    if(failed)
      file(REMOVE "${archive}")
      set(${problem} "download of ${topos_release_url} failed: ${reason}" PARENT_SCOPE)
      return()
    endif()
  endif()
  topos_kokkos_unpack("${archive}" "kokkos-${topos_release_tag}/*" "kokkos-${topos_release_tag}" "${folder}" why)
  if(NOT why)
    file(REMOVE "${archive}")
  endif()
  set(${problem} "${why}" PARENT_SCOPE)
endfunction()

function(topos_kokkos_source variable)
  if(TOPOS_KOKKOS_SOURCE STREQUAL "auto")
    set(sources pypi release)
  elseif(TOPOS_KOKKOS_SOURCE MATCHES "^(pypi|release)$")
    set(sources "${TOPOS_KOKKOS_SOURCE}")
  else()
    message(FATAL_ERROR "TOPOS_KOKKOS_SOURCE is \"${TOPOS_KOKKOS_SOURCE}\"; expected auto, pypi or release.")
  endif()

  file(MAKE_DIRECTORY "${TOPOS_DEPS_DIR}")
  # Two presets may be configured at once.
  file(LOCK "${TOPOS_DEPS_DIR}/.kokkos.lock" GUARD FUNCTION TIMEOUT 600)
  foreach(source IN LISTS sources)
    set(folder "${TOPOS_DEPS_DIR}/kokkos-${topos_${source}_kokkos_version}")
    if(EXISTS "${folder}/core/src/Kokkos_Core.hpp")
      set(${variable} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()

  set(tried "")
  foreach(source IN LISTS sources)
    set(folder "${TOPOS_DEPS_DIR}/kokkos-${topos_${source}_kokkos_version}")
    if(source STREQUAL "pypi")
      topos_kokkos_from_pypi("${folder}" why)
    else()
      topos_kokkos_from_release("${folder}" why)
    endif()
    if(NOT why)
      set(${variable} "${folder}" PARENT_SCOPE)
      return()
    endif()
    message(STATUS "Kokkos: ${why}")
    string(APPEND tried "\n  ${source}: ${why}\n")
  endforeach()
  message(
    FATAL_ERROR
      "Kokkos could not be downloaded. Tried (TOPOS_KOKKOS_SOURCE=${TOPOS_KOKKOS_SOURCE}):\n${tried}\n"
      "Do one of these:\n"
      "  - install Kokkos 4.7 or newer and name it: -DKokkos_ROOT=<prefix>\n"
      "  - put ${topos_pypi_archive} or kokkos-${topos_release_tag}.tar.gz into ${TOPOS_DEPS_DIR}\n"
      "  - name a folder that another machine has filled: -DTOPOS_DEPS_DIR=<folder>\n"
  )
endfunction()
