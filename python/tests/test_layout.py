# SPDX-License-Identifier: BSD-3-Clause
"""The structs of the package have the sizes and offsets that a C compiler gives those of
bitcut.h, and its functions as many arguments."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import helper  # noqa: F401, for the path
from bitcut import _library

HEADER = pathlib.Path(os.environ.get("srcdir", helper.PACKAGE + "/..")).resolve() / "lib/bitcut.h"
CC = os.environ.get("CC", "cc").split()


def lines():
    """What the package says, as the C program prints it."""
    for name, struct in _library.STRUCTS.items():
        yield f"{name} {_library.ctypes.sizeof(struct)}"
        for field, kind, *_ in struct._fields_:
            for part in kind._fields_ if field.startswith("_") else [(field, kind)]:
                at = getattr(struct, part[0])
                yield f"{name}.{part[0]} {at.offset} {at.size}"


@unittest.skipUnless(HEADER.exists(), "needs bitcut.h of the source")
class Layout(unittest.TestCase):
    @unittest.skipUnless(shutil.which(CC[0]), "needs a C compiler")
    def test_structs(self):
        said = list(lines())
        body = []
        for line in said:
            struct, _, field = line.split()[0].partition(".")
            body.append(
                f'printf("{struct}.{field} %zu %zu\\n", offsetof(struct {struct}, {field}), '
                f"sizeof ((struct {struct} *)0)->{field});" if field else
                f'printf("{struct} %zu\\n", sizeof(struct {struct}));')
        code = "#include <bitcut.h>\n#include <stdio.h>\nint main(void) {" + "".join(body) + "}"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "layout.c").write_text(code)
            subprocess.run([*CC, "-std=c11", f"-I{HEADER.parent}",
                            "-o", f"{folder}/layout", f"{folder}/layout.c"], check=True)
            out = subprocess.run([f"{folder}/layout"], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        self.assertEqual(out.splitlines(), said)

    def test_all_fields(self):
        """Every struct of the header with fields is known, with every field."""
        code = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
        structs = re.findall(r"struct (bitcut_\w+) \{(.*?)\n\};", code, flags=re.S)
        self.assertEqual({name for name, _ in structs}, set(_library.STRUCTS))
        for name, body in structs:
            names = re.findall(r"(\w+)(?:\[\w+\])?\s*[,;]", body)
            known = [line.split()[0].split(".")[1] for line in lines()
                     if line.startswith(name + ".")]
            self.assertEqual(sorted(names), sorted(known), name)

    def test_constants(self):
        code = HEADER.read_text()
        for name in ("TEXT", "FIELD", "ORDER", "GEMM", "ATTENTION"):
            value = re.search(rf"BITCUT_{name}_MAX = (\d+)", code).group(1)
            self.assertEqual(int(value), getattr(_library, name + "_MAX"))

    def test_functions(self):
        code = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
        for name, (_, arguments) in _library.PROTOTYPES.items():
            said = re.search(rf"\bbitcut_{name}\(([^()]*)\)", code).group(1)
            count = 0 if said == "void" else said.count(",") + 1
            self.assertEqual(count, len(arguments), name)


if __name__ == "__main__":
    unittest.main()
