#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package as users install it.  A wheel made with the library of the build is
# installed in a fresh environment, with a PATH without a compiler, and tests of the
# package run there; its tag and its libraries are checked again, by other tables of the
# files.  Then other inputs of `pip install`, accepted and refused ones.  With
# BITCUT_LONG=1 it compiles the library, and all tests of the package run.
# Run in the build folder with srcdir and CC set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
case ${CFLAGS:-} in
*-fsanitize*) skip_all plain ;;
esac
[ -f .libs/libbitcut.so ] || skip_all shared
for program in patchelf objdump strip ldd; do
    command -v $program > /dev/null || skip_all "$program"
done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
python=
for each in python3 /usr/bin/python3; do
    [ -n "$python" ] ||
        ! "$each" -c 'import setuptools, ctypes, pip, venv, wheel, sys
sys.exit(sys.version_info < (3, 9))' 2> "$work/errors" || python=$each
done
[ -n "$python" ] || skip_all "Python 3.9 or later with pip, setuptools, wheel and venv: the packages python3-pip, python3-setuptools, python3-wheel and python3-venv"
source=$(cd "${srcdir:-.}" && pwd)
build=$PWD
cc=${CC:-cc}
unset BITCUT_LIBRARY BITCUT_MODULES BITCUT_DATA BITCUT_CONFIGURE CC CFLAGS LDFLAGS srcdir
PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
export PYTHONDONTWRITEBYTECODE PIP_NO_INDEX PIP_DISABLE_PIP_VERSION_CHECK

# The tree, where pip may write into python/.
mkdir "$work/tree" "$work/tests"
ln -s "$source"/* "$work/tree"
rm "$work/tree/python"
cp -r "$source/python" "$work/tree"
chmod -R u+w "$work/tree/python"
rm -rf "$work/tree/python/build"
cp "$source"/python/tests/*.py "$work/tests"
# Of the tree only what a copy of the folder python has beside it.
mkdir "$work/part"
cp -r "$work/tree/python" "$source/LICENSE" "$work/part"
cd "$work" || exit 99

# Programs but compilers, and the same without patchelf.
mkdir programs unpatched
# shellcheck disable=SC2046 # a list of words
find $(echo "$PATH" | tr ':' ' ') -maxdepth 1 -perm -1 ! -type d 2> errors |
    grep -Ev '/[^/]*(cc|[cg]\+\+|clang|c89|c99)[^/]*$' | xargs ln -sft programs
cp -P programs/* unpatched
rm -f unpatched/patchelf

# environment NAME: a fresh one; Debian's NumPy and pytest are seen where they are.
environment() {
    "$python" -m venv --system-site-packages --without-pip "$1" &&
        site=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
}

# quietly COMMAND...: what it says if it fails.
quietly() { "$@" > log 2>&1 || cat log; }

wheel_made() {
    BITCUT_LIBRARY=$build/.libs/libbitcut.so quietly "$python" tree/python/make_wheel.py -o wheels
}

newest_symbol() {
    objdump -T "$site"/bitcut/*.so "$site"/bitcut.libs/* |
        sed -n 's/.*[( ]GLIBC_\(2\.[0-9]*\).*/\1/p' | sort -V | tail -n 1
}

tag_wrong() {
    version=$(bitcut --version | awk '{ print $2; exit }')
    want=bitcut-$version-py3-none-manylinux_$(newest_symbol | tr . _)_$(uname -m).whl
    [ "$(ls wheels)" = "$want" ] || echo "$(ls wheels), not $want"
}

# Libraries that the loader takes from elsewhere, but for those of the C library.
foreign() {
    for file in "$site"/bitcut/*.so "$site"/bitcut.libs/*; do ldd "$file"; done |
        sed "s|=> $site/bitcut/\.\./|=> $site/|" | grep -v "=> $site/bitcut\.libs/" |
        grep -vE '^[[:space:]]*(linux-vdso|/lib[^ ]*/ld-linux|lib(c|m|dl|pthread|rt)\.so\.)'
}

# For whoever is given the wheel: the licences of all that is in it.
notices_missing() {
    for name in LICENSE libgmp.so.10.copyright libmpfr.so.6.copyright; do
        cat "$site"/bitcut-*.dist-info/licenses/$name 2> errors | grep -q . || echo "no $name"
    done
}

# tested ENVIRONMENT TEST...: what is wrong when the package's tests run there.
tested() {
    environment=$1
    shift
    PATH=$work/$environment/bin:$build "$environment/bin/python" -B tests/tap.py "$@" > log 2>&1
    status=$?
    grep -q '^ok [^#]*$' log || echo "no test ran"
    [ $status = 0 ] || echo "ended early"
    grep -v '^ok\|^1\.\.' log
}

# plugin OPTION...: pytest with it finds the fixtures, of the library in the wheel.
plugin() {
    wheel/bin/python -m pytest -p no:cacheprovider "$@" plugin/test_it.py > log 2>&1
    { grep -q "^bitcut: .*, $site/bitcut/libbitcut.so" log && grep -q '1 passed' log; } || cat log
}

# refused FOLDER TEXT VARIABLE=VALUE...: what pip calls says the text in its last line.
refused() {
    folder=$1 text=$2
    shift 2
    (cd "$folder/python" && env "$@" "$python" -c 'from setuptools import build_meta
build_meta.build_wheel("..")') > log 2>&1 && echo "not refused"
    { tail -n 1 log | grep -qF -- "$text" && ! grep -q Traceback log; } || cat log
}

# no_wheel TEXT VARIABLE=VALUE...: make_wheel.py says it in its only line.
no_wheel() {
    text=$1
    shift
    env "$@" "$python" part/python/make_wheel.py -o none > log 2>&1 && echo "not refused"
    { [ "$(wc -l < log)" = 1 ] && grep -qF -- "$text" log; } || cat log
    [ ! -e none ] || echo "a wheel is there"
}

another_version() {
    echo 'const char *bitcut_version(void) { return "0.0.1"; }' > other.c
    $cc -shared -fPIC -o libother.so other.c &&
        refused part "libother.so is version 0.0.1, and this package is" BITCUT_LIBRARY="$work/libother.so"
}

echo 1..19
ok_if_empty "a wheel is made with the library of the build" "$(wheel_made)"
environment wheel
ok_if_empty "it installs where there is no compiler" \
    "$(PATH=$work/programs quietly wheel/bin/python -m pip install wheels/*.whl)"
ok_if_empty "its tag is that of the newest symbol of the C library" "$(tag_wrong)"
ok_if_empty "it brings all libraries but those of the C library" "$(foreign)"
ok_if_empty "it has the notices of their licences" "$(notices_missing)"
if [ -n "${BITCUT_LONG:-}" ]; then
    ok_if_empty "all tests of the package pass there" "$(tested wheel)"
else ok_if_empty "tests of the package pass there" \
    "$(tested wheel test_arrays test_program.Computed.test_metrics)"
fi
if wheel/bin/python -c 'import numpy, pytest' 2> errors; then
    mkdir plugin
    cat > plugin/test_it.py << END
import bitcut, numpy
def test_it(assert_gemm):
    a = numpy.random.default_rng(1).uniform(-1, 1, (32, 32)).astype("f4")
    assert_gemm(bitcut.gemm(a, a, recipe="ootomo", unit="a100").d, a, a, recipe="ootomo",
                unit="a100")
END
    ok_if_empty "pytest finds the plugin without an option" "$(plugin)"
    named() { plugin -p bitcut.pytest_plugin; }
    if_whole "pytest takes the plugin's name as well" named
else
    skip "pytest finds the plugin without an option" "the packages python3-numpy and python3-pytest"
    skip "pytest takes the plugin's name as well" "the packages python3-numpy and python3-pytest"
fi
ok_if_empty "nothing is left of it once it is uninstalled" \
    "$(quietly wheel/bin/python -m pip uninstall -qy bitcut; find "$site" -iname '*bitcut*')"

environment modules
ok_if_empty "pip takes the library of the build and its modules" \
    "$(BITCUT_LIBRARY=$build/.libs/libbitcut.so BITCUT_MODULES=$build PATH=$work/unpatched \
        quietly modules/bin/python -m pip install --no-build-isolation part/python
    cmp "$build/.libs/libbitcut.so" "$site/bitcut/libbitcut.so" 2>&1
    cmp "$build/bitcut-gfx9.so" "$site/bitcut/bitcut-gfx9.so" 2>&1)"
if [ -f "$build/bitcut-executor.so" ]; then
    ok_if_empty "modules are found beside the library" \
        "$(modules/bin/python -c 'from bitcut._library import lib, ctypes
device, why = ctypes.c_void_p(), ctypes.create_string_buffer(240)
print(end=why.value.decode() if lib.bitcut_device_open(ctypes.byref(device), b"executor", why) else "")' \
            2>&1)"
else skip "modules are found beside the library" executor
fi

ok_if_empty "a library that is not there" \
    "$(no_wheel 'make_wheel.py: BITCUT_LIBRARY: /none/libbitcut.so: cannot open shared object file' \
        BITCUT_LIBRARY=/none/libbitcut.so)"
ok_if_empty "a library in the folder of somebody else" \
    "$(refused part 'error: BITCUT_LIBRARY: none.so is no full path' BITCUT_LIBRARY=none.so)"
ok_if_empty "a library of another version" "$(another_version)"
ok_if_empty "a folder without modules" \
    "$(refused part "is in $work/tests" BITCUT_LIBRARY="$build/.libs/libbitcut.so" \
        BITCUT_MODULES="$work/tests")"
ok_if_empty "no library and no sources" "$(refused part 'error: no sources of libbitcut.so in')"
ok_if_empty "no compiler" \
    "$(refused tree 'error: no acceptable C compiler found' PATH="$work/programs")"
ok_if_empty "no patchelf" \
    "$(no_wheel 'patchelf is not installed: a wheel bundles' PATH="$work/unpatched")"

compiles() {
    environment compiled
    BITCUT_CONFIGURE="--without-cuda --without-hip --quiet" \
        quietly compiled/bin/python -m pip install --no-build-isolation tree/python
    tested compiled
}
if [ -n "${BITCUT_LONG:-}" ]; then
    started=$(date +%s)
    ok_if_empty "pip compiles the library, and all tests pass" "$(compiles)"
    echo "# it took $(($(date +%s) - started)) s"
else skip "pip compiles the library, and all tests pass" long
fi
