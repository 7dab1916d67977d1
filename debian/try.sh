#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Build the packages of what is committed in a clean root of Debian 12, let lintian look at
# them, install them in another clean root, and run there the program, the module for Python,
# and what debian/tests has: every example, and the tests of the Python package.
#
# Usage, as root: debian/try.sh FOLDER, which gets the packages and the logs.  Takes a quarter
# of an hour and, from the mirrors of this machine's apt, some hundred megabytes; without code
# for AMD GPUs half of it: DEB_BUILD_PROFILES=pkg.bitcut.nohip.
set -eu
fail() { echo "try.sh: $*" >&2; exit 1; }
[ $# = 1 ] || fail "usage: debian/try.sh FOLDER"
[ "$(id -u)" = 0 ] || fail "only root can make a root"
for program in mmdebstrap lintian git unshare; do
    command -v $program > /dev/null || fail "$program is not installed"
done
mkdir -p "$1"
results=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# Where this machine's apt gets Debian 12 from.
apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(COMPONENT) $(SITE)' 'Identifier: Packages' |
    awk '$1 == "Debian" && $2 ~ /^bookworm/ && $3 == "main" {
        print "deb", $4, $2, $3 }' | sort -u > "$work/sources"
[ -s "$work/sources" ] || fail "no mirror of Debian 12 in this machine's sources of apt"

# step NAME COMMAND...: with its output in a log; the end of that if it fails.
step() {
    name=$1 before=$(date +%s)
    shift
    if "$@" > "$results/$name.log" 2>&1; then echo "$name: $(($(date +%s) - before)) s"
    else
        tail -n 20 "$results/$name.log" >&2
        fail "$name failed: $results/$name.log"
    fi
}

# clean_root NAME PACKAGES
clean_root() {
    mmdebstrap --mode=root --variant=minbase --include="$2" bookworm "$work/$1" "$work/sources"
    cp -L /etc/resolv.conf "$work/$1/etc"
    mkdir "$work/$1/try"
}

# inside NAME COMMANDS: in that root, in its folder /try; what is mounted ends with it.
inside() {
    unshare --mount --pid --fork sh -ec 'mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        exec chroot "$1" sh -exc "cd /try; $2"' sh "$work/$1" "$2"
}

build() {
    git archive --prefix=bitcut/ HEAD | tar x -C "$work/build/try"
    inside build 'apt-get update -q; apt-get build-dep -qy ./bitcut; cd bitcut
        dpkg-buildpackage -us -uc'
    cp "$work"/build/try/*.* "$results"
}

install() {
    mkdir "$work/use/try/bitcut"
    cp "$results"/*.deb "$work/use/try"
    rm -f "$work"/use/try/*-dbgsym*
    inside use 'apt-get update -q; apt-get install -qy --no-install-recommends ./*.deb'
}

run_examples() {
    git archive HEAD examples debian python/tests | tar x -C "$work/use/try"
    inside use 'bitcut gemm --recipe legemm --unit mi210 -m 64 -n 64 -k 64
        python3 -c "import bitcut; print(bitcut.__version__, bitcut.library)"
        apt-get install -qy --no-install-recommends gcc libc6-dev pkg-config python3-numpy python3-pytest
        mkdir examples.tmp python.tmp
        AUTOPKGTEST_TMP=/try/examples.tmp debian/tests/examples
        AUTOPKGTEST_TMP=/try/python.tmp debian/tests/python'
}

purge() {
    inside use 'apt-get purge -qy bitcut bitcut-doc libbitcut1 libbitcut-dev python3-bitcut
        left=$(find / -xdev -path /try -prune -o -name "*bitcut*" -print); test -z "$left"'
}

step build-root clean_root build build-essential
step build build
grep -E '^# (TOTAL|PASS|SKIP|FAIL):' "$results/build.log"
step lintian lintian --allow-root --info --pedantic --fail-on error,warning "$results"/*.changes
cat "$results/lintian.log"
step clean-root clean_root use ca-certificates
step install install
step run run_examples
step purge purge
