# SPDX-License-Identifier: BSD-3-Clause
# What tests that compile the kernels for AMD GPUs anew share; they read it behind tap.sh, with
# $source the project's folder and $built the build folder, in a scratch folder of their own.
# shellcheck shell=sh
# shellcheck disable=SC2154 # source, built

lab_flags=${HIP_FLAGS:-} # what configure compiles kernels with

# lab_has TARGET: whether there are the objects of bitcut-executor.so, and a clang.
lab_has() {
    [ "$lab_flags" ] && [ -f "$built/bitcut-executor.so" ] && [ -f "$built/gpu/hip/code.o" ] &&
        lab_compiler "$1" > /dev/null
}

# lab_compiles COMPILER TARGET: whether it can.
lab_compiles() {
    command -v "$1" > /dev/null || return
    echo 'extern "C" __attribute__((global)) void k() {}' > lab.hip
    # shellcheck disable=SC2086 # words
    "$1" $lab_flags --offload-arch="$2" -c -o lab.hsaco lab.hip 2> /dev/null
}

# lab_compiler TARGET: a clang for it.
lab_compiler() {
    for one in amdclang++ clang++-19 clang++-16 clang++-15 clang++-14 clang++; do
        if lab_compiles $one "$1"; then echo $one; return; fi
    done
    return 1
}

# lab_code FOLDER TARGET FILE WORD...: the code object FILE of the sources in FOLDER, by
# $compiler with WORD...
lab_code() {
    from=$1 to=$2 file=$3
    shift 3
    # shellcheck disable=SC2086 # words
    "$compiler" $lab_flags --offload-arch="$to" -I"$from" -I"$source" "$@" -c \
        -o "$from/gpu/hip/$file.$to.hsaco" "$from/gpu/hip/$file.hip" 2>&1
}

# lab_assembled FOLDER TARGET FILE SED: the same by way of its assembly, edited by SED.
lab_assembled() {
    # shellcheck disable=SC2086 # words
    "$compiler" $lab_flags --offload-arch="$2" -I"$1" -I"$source" -S -o "$1/code.s" \
        "$1/gpu/hip/$3.hip" 2>&1
    sed -E -i.right "$4" "$1/code.s"
    cmp -s "$1/code.s" "$1/code.s.right" && echo "nothing was edited"
    "$compiler" --target=amdgcn-amd-amdhsa -mcpu="$2" -o "$1/gpu/hip/$3.$2.hsaco" \
        "$1/code.s" 2>&1
}

# lab_module FOLDER: bitcut-executor.so there, of the code objects in its gpu/hip and, those
# that it lacks, of the build's, or those of $lab_target alone.
lab_target=
lab_module() (
    cd "$1" || exit
    defines='' objects=''
    for file in "$built"/gpu/hip/*"$lab_target".hsaco; do
        [ -e "gpu/hip/${file##*/}" ] || ln -s "$file" gpu/hip/ || exit
    done
    for name in gfx908 gfx90a gfx942; do
        [ ! -e "gpu/hip/sums.$name.hsaco" ] ||
            defines="$defines -DHIP_$(echo $name | tr '[:lower:]' '[:upper:]')"
    done
    # shellcheck disable=SC2086 # words
    $CC -DGPU_HIP $defines -I. -I"$source" $CFLAGS -fPIC -c -o objects.o gpu/hip/objects.c 2>&1
    for object in "$built"/gpu/hip/*.o; do
        case $object in */objects.o | */*_hip.o) ;; *) objects="$objects $object" ;; esac
    done
    # shellcheck disable=SC2086 # words
    $CC $CFLAGS $LDFLAGS -shared -o bitcut-executor.so objects.o $objects 2>&1
    ln -sf "$built/bitcut-gfx9.so" .
)

# lab_sources FOLDER: a copy of what kernels are made of.
lab_sources() {
    mkdir -p "$1/gpu/hip" "$1/gpu/module" && cp "$source"/gpu/module/*.h "$1/gpu/module" &&
        cp "$source"/gpu/hip/*.h "$source"/gpu/hip/*.hip "$source/gpu/hip/objects.c" "$1/gpu/hip"
}

finish() { echo "1..$n"; exit 0; }

# lab_begin WHAT: end with WHAT skipped, if kernels cannot be compiled here.
lab_begin() {
    if ! lab_has gfx90a; then skip "$1" executor
    elif [ -n "${BITCUT_BRIEF:-}" ]; then skip "$1" whole
    else return
    fi
    finish
}
