#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 machine to a program in build/: install what is missing, configure,
# compile.  Arguments go to configure.  Prints its four steps as it goes; what fails prints its
# own output.
set -eu
cd "$(dirname "$0")"

packages="gcc libc6-dev make autoconf automake libtool pkg-config
libgmp-dev libmpfr-dev libjansson-dev zlib1g-dev check gnuplot-nox texinfo xz-utils"
# A compiler of code for AMD GPUs, where the system has it: else that module is not built.
optional="clang-19 lld-19"
case " $* " in *" --without-hip "*) optional= ;; esac
if command -v hipcc > /dev/null || command -v amdclang++ > /dev/null; then optional=; fi

installed() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2> /dev/null | grep -qx installed
}

# run COMMAND...: silent, unless it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
    "$@" > "$log" 2>&1 < /dev/null && return
    cat "$log" >&2
    echo "bootstrap.sh: failed: $*" >&2
    exit 1
}

missing=
wanted=$optional
if command -v dpkg-query > /dev/null; then
    for package in $packages; do
        installed "$package" || missing="$missing $package"
    done
    absent=
    for package in $optional; do
        installed "$package" || absent="$absent $package"
    done
    optional=$absent
else
    optional=
fi
as_root=
if [ "$(id -u)" = 0 ]; then as_root="env"
elif sudo -n true 2> /dev/null; then as_root="sudo -n env"; fi
if [ -n "$missing" ] && [ -z "$as_root" ]; then
    echo "bootstrap.sh: first run: sudo apt-get update && sudo apt-get install$missing" >&2
    exit 1
fi
# install PACKAGE...
install() {
    # shellcheck disable=SC2086 # a list of words
    $as_root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}
count() { echo $#; }
# shellcheck disable=SC2086 # lists of words
echo "1/4 packages: $(count $missing $optional) of $(count $packages $wanted) to install"
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 # lists of words
    run $as_root apt-get update
    # shellcheck disable=SC2086
    run install $missing
fi
if [ -n "$optional" ] && [ -n "$as_root" ]; then
    # shellcheck disable=SC2086
    { [ -n "$missing" ] || $as_root apt-get update; install $optional; } > "$log" 2>&1 < /dev/null ||
        echo "bootstrap.sh: without a compiler of code for AMD GPUs: no$optional" >&2
fi

echo "2/4 configure: a minute on one processor"
run autoreconf -fi
mkdir -p build
cd build
run ../configure "$@"

# What make would run, without running it, has a line for each file that it compiles.
files=$(make -n V=1 2> /dev/null | grep -c -E -e ' -c -o | -dc .*-o ' || true)
processors=$(nproc)
echo "3/4 compile: $files files on $processors processors"
started=$(date +%s)
make V=0 -j "$processors" > "$log" 2>&1 < /dev/null & making=$!
# A line every 30 seconds, of the files so far.
waited=0
while kill -0 $making 2> /dev/null; do
    sleep 1
    waited=$((waited + 1))
    [ $((waited % 30)) -ne 0 ] ||
        echo "    $(grep -c -E '^ *(CC|NVCC|HIPCC|HIP|CXX) ' "$log" || true) of $files files"
done
wait $making || { cat "$log" >&2; echo "bootstrap.sh: failed: make" >&2; exit 1; }

echo "4/4 done in $(($(date +%s) - started)) seconds: $(./bitcut --version) in $PWD"
built() { [ ! -e "$1" ] || echo "    $PWD/$1: $2"; }
built bitcut "the program"
built .libs/libbitcut.so "the C library"
built bitcut-run.so "products of other programs (bitcut run)"
built bitcut-cuda.so "kernels for NVIDIA GPUs"
built bitcut-hip.so "kernels for AMD GPUs"
built doc/bitcut.html/index.html "the manual"
built doc/bitcut.info "the manual for info"
echo "Next: build/bitcut            the commands by task"
echo "      make -C build check     the tests"
