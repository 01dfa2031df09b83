# SPDX-License-Identifier: Apache-2.0
#
# topos_nvcc_wrapper(<kokkos source> <variable>): Kokkos' nvcc_wrapper, fit for the nvcc of this machine.
#
# The wrapper's default architecture is one that CUDA 13 no longer knows, and it looks for nvcc on the
# PATH alone. A copy in the build tree gets the oldest architecture this nvcc knows, and its full path; it
# lists a file's dependencies while it compiles that file, where the wrapper would preprocess it once more; and
# it puts its command so that ccache, where there is one, understands it. (ccache must go by the dependencies: by
# itself it would compare what nvcc preprocesses for the device, and take a change of the host's code for none.)
# With TOPOS_NVCC_CHECK it stops at PTX, which the assembler checks and turns into no machine code, and where this nvcc
# can, from 12.9 on, makes that without optimisation: half of the time of all that follows nvcc's front end.
# What compiles the host's code is TOPOS_NVCC_HOST_COMPILER, else what NVCC_WRAPPER_DEFAULT_COMPILER in the environment
# says, else g++.

include_guard(GLOBAL)

function(topos_nvcc_wrapper source variable)
  find_program(TOPOS_NVCC nvcc HINTS ENV CUDA_ROOT ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  set(TOPOS_NVCC_HOST_COMPILER "" CACHE STRING "What nvcc has compile the host's code; g++ where this is empty")
  mark_as_advanced(TOPOS_NVCC TOPOS_NVCC_HOST_COMPILER)
  if(NOT TOPOS_NVCC)
    message(
      FATAL_ERROR
        "TOPOS_KOKKOS_BACKENDS names CUDA, but there is no nvcc on the PATH nor in /usr/local/cuda/bin. "
        "Install the CUDA toolkit, or name it: CUDA_ROOT=<folder> in the environment."
    )
  endif()
  execute_process(
    COMMAND "${TOPOS_NVCC}" --list-gpu-arch
    RESULT_VARIABLE failed
    OUTPUT_VARIABLE known
    ERROR_VARIABLE why
  )
  if(failed OR NOT known MATCHES "compute_([0-9]+)")
    message(FATAL_ERROR "${TOPOS_NVCC} --list-gpu-arch failed: ${why}${known}")
  endif()
  set(oldest "sm_${CMAKE_MATCH_1}")
  file(READ "${source}/bin/nvcc_wrapper" text)
  string(REGEX REPLACE "\ndefault_arch=\"[a-z0-9_]+\"" "\ndefault_arch=\"${oldest}\"" text "${text}")
  if(TOPOS_NVCC_HOST_COMPILER)
    string(REGEX REPLACE "\nhost_compiler=[^\n]*" "\nhost_compiler=\"${TOPOS_NVCC_HOST_COMPILER}\"" text "${text}")
  endif()
  set(command "${TOPOS_NVCC}")
  if(TOPOS_NVCC_CHECK)
    string(REPLACE "cuda_args=\"$cuda_args $arch_flag\"" "cuda_args=\"$cuda_args \${arch_flag/=sm_/=compute_}\"" text
                   "${text}"
    )
    execute_process(COMMAND "${TOPOS_NVCC}" --help OUTPUT_VARIABLE help ERROR_QUIET)
    if(help MATCHES "Ofast-compile")
      string(APPEND command " --Ofast-compile=max")
    endif()
  endif()
  if(TOPOS_CCACHE)
    set(command "env CCACHE_DEPEND=1 ${TOPOS_CCACHE} ${command}")
  endif()
  string(REGEX REPLACE "\nnvcc_compiler=nvcc\n" "\nnvcc_compiler=\"${command}\"\n" text "${text}")
  # Options out of the environment would not count for ccache.
  string(REPLACE "\"$nvcc_compiler $cuda_args" "\"$nvcc_compiler $NVCC_APPEND_FLAGS $cuda_args" text "${text}")
  string(REPLACE "\n#Run compilation command\n" "\nunset NVCC_APPEND_FLAGS\n#Run compilation command\n" text "${text}")
  # ccache takes what follows -Xcompiler for options of its own, and the folders in it for text.
  string(REPLACE " -Xcompiler $xcompiler_args\"" " -Xcompiler=$xcompiler_args\"" text "${text}")
  string(REPLACE "  -maxrregcount|" "  -isystem|-maxrregcount|" text "${text}")
  string(REPLACE "nvcc_depfile_command=\"$nvcc_command -M $depfile_target_arg $depfile_output_arg\""
                 "nvcc_command=\"$nvcc_command -MD $depfile_target_arg \${depfile_output_arg/#-o/-MF}\"" text "${text}"
  )
  set(wrapper "${CMAKE_BINARY_DIR}/nvcc_wrapper")
  file(CONFIGURE OUTPUT "${wrapper}" CONTENT "@text@" @ONLY)
  file(CHMOD "${wrapper}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                      WORLD_EXECUTE
  )
  set(${variable} "${wrapper}" PARENT_SCOPE)
endfunction()
