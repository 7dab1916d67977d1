# SPDX-License-Identifier: BSD-3-Clause
"""Puts libbitcut.so beside the modules of the package; pyproject.toml says all else.

What the environment says:

BITCUT_LIBRARY    the full path of a libbitcut.so that is built, and is taken; libbitcut.so.1 for
                  that which the loader finds: none is taken then.  Without it the tree is compiled.
BITCUT_MODULES    with BITCUT_LIBRARY: the folder of modules for devices, which are taken too.
BITCUT_CONFIGURE  without it: arguments of configure, for --without-cuda --without-hip.
"""

import ctypes
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import setuptools
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

TREE = pathlib.Path(__file__).resolve().parent.parent
OF_THE_LOADER = "libbitcut.so.1"
# Those of gpu/api/gpu.c, and the runtime that bitcut-executor.so opens.
MODULES = ("bitcut-cuda.so", "bitcut-hip.so", "bitcut-executor.so", "bitcut-gfx9.so")


def run(command, folder, log):
    """Run it, its output into the file `log`; its own line of what is wrong if it fails."""
    with open(log, "w", encoding="utf-8", errors="replace") as out:
        try:
            status = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.STDOUT, check=False).returncode
        except OSError as error:
            raise SetupError(f"{command[0]}: {error.strerror}") from None
    if status:
        lines = pathlib.Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
        # Of configure the second line: the first says in which folder.
        errors = [line for line in lines if re.search(r"\berror: (?!in `)|\*\*\*", line)]
        errors += lines[-1:]
        raise SetupError(f"{errors[0] if errors else command[0] + ' failed'} ({log} has all)")


def compiled(folder):
    """The library and the modules, compiled in `folder`."""
    if not (TREE / "configure.ac").exists():
        raise SetupError(f"no sources of libbitcut.so in {TREE}: install from bitcut's tree, or "
                         "let BITCUT_LIBRARY name a library")
    folder.mkdir(parents=True, exist_ok=True)
    if not (TREE / "configure").exists():
        run(["autoreconf", "-fi"], TREE, folder / "autoreconf.log")
    options = os.environ.get("BITCUT_CONFIGURE", "--without-cuda --without-hip")
    run([str(TREE / "configure"), *shlex.split(options)], folder, folder / "configure.log")
    run(["make", f"-j{os.cpu_count()}", "python-library"], folder, folder / "make.log")
    return [folder / ".libs" / "libbitcut.so", *modules_in(folder)]


def modules_in(folder):
    return [folder / name for name in MODULES if (folder / name).exists()]


def given(name, version):
    """The library of that path, and the modules of BITCUT_MODULES."""
    if not os.path.isabs(name):
        raise SetupError(f"BITCUT_LIBRARY: {name} is no full path: pip runs this elsewhere")
    try:
        library = ctypes.CDLL(name)
        library.bitcut_version.restype = ctypes.c_char_p
        said = library.bitcut_version().decode()
    except (OSError, AttributeError) as error:
        raise SetupError(f"BITCUT_LIBRARY: {error}") from None
    if said != version:
        raise SetupError(f"BITCUT_LIBRARY: {name} is version {said}, and this package is {version}")
    files = [pathlib.Path(name)]
    if folder := os.environ.get("BITCUT_MODULES"):
        files += modules_in(pathlib.Path(folder))
        if len(files) == 1:
            raise SetupError(f"BITCUT_MODULES: none of {', '.join(MODULES)} is in {folder}")
    return files


class Distribution(setuptools.Distribution):
    def has_ext_modules(self):
        """Whether it is for one platform."""
        return os.environ.get("BITCUT_LIBRARY") != OF_THE_LOADER


class BuildPy(build_py):
    def run(self):
        super().run()
        if self.editable_mode or not self.distribution.has_ext_modules():
            return
        name = os.environ.get("BITCUT_LIBRARY")
        build = pathlib.Path(self.get_finalized_command("build").build_temp).resolve()
        files = given(name, self.distribution.get_version()) if name else compiled(build)
        package = pathlib.Path(self.build_lib, "bitcut")
        for old in package.glob("*.so"):
            old.unlink()
        shutil.copy(files[0], package / "libbitcut.so")
        for file in files[1:]:
            shutil.copy(file, package)


class BdistWheel(bdist_wheel):
    def get_tag(self):
        """For every Python 3: the library is no extension of one."""
        return "py3", "none", super().get_tag()[2]


setuptools.setup(distclass=Distribution,
                 cmdclass={"build_py": BuildPy, "bdist_wheel": BdistWheel})
