#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make a wheel that needs nothing of a machine but its C library: make_wheel.py [-o FOLDER].

Builds the package as `pip install` does (setup.py says what the environment may name), puts the
shared libraries that it needs into bitcut.libs, under names that are theirs alone, with the notices
of their licences, and tags it with the oldest C library whose versions of symbols all have.
"""

import argparse
import hashlib
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
# Of the C library and of the compiler's runtime: whatever has Python and may run this has them.
OF_THE_SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so\.\d+"
                           r"|ld-linux.*|linux-vdso.*")
NEEDED = r"^\s*NEEDED\s+(\S+)"
COMMON_LICENCES = pathlib.Path("/usr/share/common-licenses")


def output(*command):
    """What a program prints; else one line that says what is wrong."""
    try:
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as error:
        sys.exit(f"make_wheel.py: {command[0]}: {error.strerror}")
    if done.returncode:
        lines = done.stdout.strip().splitlines() or ["failed"]
        errors = re.findall(r"^\s*error: (.*)", done.stdout, flags=re.M)  # the last: setup.py's
        sys.exit(f"make_wheel.py: {errors[-1] if errors else f'{command[0]}: {lines[-1]}'}")
    return done.stdout


def of_tables(file, pattern):
    """What an ELF file's headers say: names, or numbers of versions."""
    return re.findall(pattern, output("objdump", "-p", file), flags=re.M)


def needed(file):
    """The libraries that a file names, but for the system's: names and where they are."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", file), flags=re.M))
    for name in of_tables(file, NEEDED):
        if OF_THE_SYSTEM.fullmatch(name):
            continue
        if name not in found:
            sys.exit(f"make_wheel.py: {file.name} needs {name}, which the loader does not find")
        yield name, pathlib.Path(found[name]).resolve()


def closure(files):
    """All libraries that files need, directly or not, by name."""
    known, ahead = {}, list(files)
    while ahead:
        for name, path in needed(ahead.pop()):
            if name not in known:
                known[name] = path
                ahead.append(path)
    return known


def own_name(path):
    """libgmp-0f3b1c2d.so.10.4.1: no other library of a process has this name."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    stem, dot, rest = path.name.partition(".so")
    return f"{stem}-{digest}{dot}{rest}"


def bundle(files, folder):
    """Copy what the files need into `folder`, and let all name the copies: those, and of what.
    No other library of a process is met under the name of one of these, nor libbitcut.so."""
    origins = closure(files)
    names = {name: own_name(path) for name, path in origins.items()}
    folder.mkdir()
    for name, path in origins.items():
        shutil.copy(path, folder / names[name])
    copies = [folder / name for name in names.values()]
    for file in [*files, *copies]:
        file.chmod(0o755)
        output("strip", "--strip-unneeded", file)  # before patchelf, whose sections it would move
        inside = file.parent == folder
        changes = [("--replace-needed", name, names[name])
                   for name in of_tables(file, NEEDED) if name in names]
        changes += [("--set-soname", file.name if inside else own_name(file)),
                    ("--set-rpath", "$ORIGIN" if inside else f"$ORIGIN/../{folder.name}")]
        for change in changes:  # two at once break a file, by patchelf 0.14
            output("patchelf", *change, file)
    return copies, origins


def notices(origins, folder):
    """The licences of bitcut and, where Debian has them, of the libraries; none is a warning."""
    folder.mkdir(exist_ok=True)
    shutil.copy(FOLDER.parent / "LICENSE", folder)
    for name, path in origins.items():
        package = shutil.which("dpkg") and owner(path)
        notice = pathlib.Path("/usr/share/doc", package or "-", "copyright")
        if not notice.exists():
            print(f"make_wheel.py: {path}: no notice of its licence is in /usr/share/doc; a wheel "
                  "for others must have one", file=sys.stderr)
            continue
        shutil.copy(notice, folder / f"{name}.copyright")
        text = notice.read_text(encoding="utf-8", errors="replace")
        for licence in set(re.findall(rf"{COMMON_LICENCES}/([\w.-]*\w)", text)):
            if (COMMON_LICENCES / licence).exists():
                shutil.copy(COMMON_LICENCES / licence, folder)


def owner(path):
    """The package that a library is of; folders below / may be names of those below /usr."""
    for name in (str(path), str(path).removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", name], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.partition(":")[0]
    return None


def platform_tag(files):
    """manylinux_2_NN_ARCH by the newest symbols of the C library that are needed."""
    versions = [tuple(map(int, version.split(".")[:2])) for file in files
                for version in of_tables(file, r"\bGLIBC_(\d+\.\d+(?:\.\d+)?)$")]
    if not versions:
        sys.exit("make_wheel.py: no symbol of the GNU C library is needed: no tag says that")
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def tag(info, name):
    """Say that platform in the wheel's metadata."""
    file = info / "WHEEL"
    file.write_text(re.sub(r"^(Tag: \S+-\S+-)\S+", rf"\g<1>{name}", file.read_text(), flags=re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", metavar="FOLDER", default=".", help="where it goes (.)")
    to = pathlib.Path(parser.parse_args().o)
    for program in ("patchelf", "objdump", "strip", "ldd"):
        if not shutil.which(program):
            sys.exit(f"make_wheel.py: {program} is not installed: a wheel bundles libraries by it")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        output(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
               "--disable-pip-version-check", "--wheel-dir", work / "built", FOLDER)
        output(sys.executable, "-m", "wheel", "unpack", "--dest", work,
               *(work / "built").glob("*.whl"))
        root, = work.glob("bitcut-*")
        info, = root.glob("*.dist-info")
        files = sorted((root / "bitcut").glob("*.so"))
        if not files:
            sys.exit("make_wheel.py: no library was taken: BITCUT_LIBRARY names the loader's")
        copies, origins = bundle(files, root / "bitcut.libs")
        notices(origins, info / "licenses")
        tag(info, platform_tag([*files, *copies]))
        (work / "packed").mkdir()
        output(sys.executable, "-m", "wheel", "pack", "--dest-dir", work / "packed", root)
        to.mkdir(parents=True, exist_ok=True)
        wheel, = (work / "packed").iterdir()
        print(shutil.copy(wheel, to))


if __name__ == "__main__":
    main()
