# SPDX-License-Identifier: Apache-2.0
#
# What the scripts share: where things are, and how what is missing gets installed. Sourced, not run.

topos_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
# One cache serves all checkouts: paths inside of a checkout do not count.
export CCACHE_BASEDIR="$topos_root" CCACHE_NOHASHDIR=1
topos_deps="${TOPOS_DEPS_DIR:-$topos_root/.deps}"
# One meaning for the build and the scripts, whatever folder they are started from.
case "$topos_deps" in /*) ;; *) topos_deps="$PWD/$topos_deps" ;; esac
export TOPOS_DEPS_DIR="$topos_deps"
topos_model="$topos_deps/all-MiniLM-L6-v2"
topos_jobs="$(nproc 2>/dev/null || echo 2)"

say() { printf '%s\n' "== $*"; }
fail() {
  printf '%s\n' "$(basename "$0"): $*" >&2
  exit 1
}

# What the sentence encoder, and whatever else is built, compiles with.
topos_build_packages="g++ cmake ninja-build python3 libxsimd-dev libdnnl-dev libutf8proc-dev libcli11-dev nlohmann-json3-dev"

# What shows whether a Debian package is installed: a header, a command with a leading "!", or a path.
topos_sign_of() {
  case "$1" in
    g++) echo '!c++' ;;
    cmake) echo '!cmake' ;;
    ninja-build) echo '!ninja' ;;
    ccache) echo '!ccache' ;;
    clang-format) echo '!clang-format' ;;
    python3) echo '!python3' ;;
    libxsimd-dev) echo 'xsimd/xsimd.hpp' ;;
    libdnnl-dev) echo 'oneapi/dnnl/dnnl.hpp' ;;
    libutf8proc-dev) echo 'utf8proc.h' ;;
    libcli11-dev) echo 'CLI/CLI.hpp' ;;
    nlohmann-json3-dev) echo 'nlohmann/json.hpp' ;;
    libgtest-dev) echo 'gtest/gtest.h' ;;
    clang-16) echo '!clang++-16' ;;
    libclang-rt-16-dev) echo '/usr/lib/llvm-16/lib/clang/16/lib/linux' ;;
    libbenchmark-dev) echo 'benchmark/benchmark.h' ;;
    *) fail "internal error: no sign of the package $1" ;;
  esac
}

# Of the packages named, those that are missing; a header counts wherever the compiler finds it.
topos_missing() {
  local package sign questions=''
  for package in "$@"; do
    if [ "$package" = python3-pip ]; then
      python3 -c 'import pip' 2>/dev/null || echo "$package"
      continue
    fi
    sign="$(topos_sign_of "$package")"
    case "$sign" in
      '!'*) command -v "${sign#!}" >/dev/null || echo "$package" ;;
      /*) [ -e "$sign" ] || echo "$package" ;;
      *)
        questions+="#if !__has_include(<$sign>)"$'\n'"topos_missing $package"$'\n''#endif'$'\n'
        command -v c++ >/dev/null || echo "$package"
        ;;
    esac
  done
  if [ -n "$questions" ] && command -v c++ >/dev/null; then
    printf '%s' "$questions" | c++ -x c++ -E -P - | sed -n 's/^topos_missing //p' | tr -d ' '
  fi
}

# Installs the packages named, where they are missing and this user may; otherwise says what to run.
topos_install() {
  local missing line
  missing="$(topos_missing "$@" | sort -u | tr '\n' ' ')"
  missing="${missing% }"
  if [ -n "$missing" ]; then
    line="apt-get update && apt-get install -y --no-install-recommends $missing"
    local -a as_root=()
    if ! command -v apt-get >/dev/null; then
      fail "missing, by their Debian names: $missing. Install them and run this again."
    fi
    if [ "$(id -u)" != 0 ]; then
      if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
        printf '%s\n' "$(basename "$0"): packages are missing, and this user may not install them. Run this, then try again:" \
          "  $(command -v sudo >/dev/null && echo 'sudo sh' || echo su) -c '$line'" >&2
        exit 1
      fi
      as_root=(sudo -n)
    fi
    say "installing $missing"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
        -o Dpkg::Use-Pty=0 $missing </dev/null >/dev/null ||
      fail "apt-get could not install what is missing. The line was: $line"
    missing="$(topos_missing "$@" | tr '\n' ' ')"
    [ -z "$missing" ] || fail "still missing after the installation: $missing"
  fi
  local version
  version="$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')"
  [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" = 3.25 ] ||
    fail "cmake $version is too old: topos needs 3.25 or newer"
}

# pip is needed only for what has not been downloaded yet.
topos_download_tools() {
  if [ ! -e "$topos_model/model.safetensors" ] || ! ls "$topos_deps"/kokkos-*/CMakeLists.txt >/dev/null 2>&1; then
    echo python3-pip
  fi
}

# Configures a preset, with further arguments for cmake, and shows no more than its summary. Both folders are named
# each time: a build folder remembers those of its first.
topos_configure() {
  local log="build/$1.configure.log"
  mkdir -p build
  say "$1: configuring"
  cmake --preset "$1" -DTOPOS_DEPS_DIR="$topos_deps" -DTOPOS_MODEL_DIR="$topos_model" "${@:2}" >"$log" 2>&1 </dev/null || {
    cat "$log"
    fail "preset $1 could not be configured"
  }
  sed -n '/^-- topos [0-9]/,/^--   cuBLAS/p' "$log"
}
