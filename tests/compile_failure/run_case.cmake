# SPDX-License-Identifier: Apache-2.0
#
# cmake -D case=<source> -D commands=<compile_commands.json> | -D compiler=<compiler>  -P run_case.cmake

cmake_minimum_required(VERSION 3.25)

# A fatal error's own text would be broken into lines.
macro(give_up)
  message(NOTICE ${ARGN})
  message(FATAL_ERROR "the case does not hold")
endmacro()

file(STRINGS "${case}" lines REGEX "^// expect: ")
if(NOT lines)
  give_up("${case} names no expected diagnostic: a line `// expect: <regular expression>`")
endif()

# The command that the build would use for this source, without what it writes.
set(command "")
if(DEFINED compiler)
  set(command "${compiler}" -std=c++20 -c "${case}")
  set(directory "${CMAKE_CURRENT_BINARY_DIR}")
else()
  # Only the part of the list that is this source's: CMake reads a whole one again for each question to it.
  file(READ "${commands}" list)
  string(FIND "${list}" "\"file\": \"${case}\"" at)
  if(NOT at EQUAL -1)
    string(SUBSTRING "${list}" 0 ${at} before)
    string(FIND "${before}" "\n{" first REVERSE)
    string(SUBSTRING "${list}" ${first} -1 entry)
    string(FIND "${entry}" "\n}" last)
    math(EXPR length "${last} + 2")
    string(SUBSTRING "${entry}" 0 ${length} entry)
    string(JSON text GET "${entry}" command)
    string(JSON directory GET "${entry}" directory)
    separate_arguments(command UNIX_COMMAND "${text}")
  endif()
  if(NOT command)
    give_up("${commands} has no command for ${case}")
  endif()
  list(FIND command "-o" output)
  if(NOT output EQUAL -1)
    math(EXPR name "${output} + 1")
    list(REMOVE_AT command ${output} ${name})
  endif()
endif()
list(APPEND command -fsyntax-only)

execute_process(
  COMMAND ${command} WORKING_DIRECTORY "${directory}" RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output
)
if(failed)
  give_up("${case} does not compile even without TOPOS_MUST_FAIL:\n${output}")
endif()

execute_process(
  COMMAND ${command} -DTOPOS_MUST_FAIL WORKING_DIRECTORY "${directory}" RESULT_VARIABLE failed OUTPUT_VARIABLE output
  ERROR_VARIABLE output
)
if(NOT failed)
  give_up("${case} compiled, and must not")
endif()
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^// expect: " "" expected "${line}")
  if(NOT output MATCHES "${expected}")
    give_up("${case} failed, but not with `${expected}`:\n${output}")
  endif()
endforeach()
