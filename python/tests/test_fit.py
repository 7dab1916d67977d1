# SPDX-License-Identifier: BSD-3-Clause
"""fit() and retention() say what the program says of the same data, also as text."""

import json
import pathlib
import subprocess
import unittest

from helper import Folder, needs_numpy, numpy, random, uniform

import bitcut

F16, F8, NV = ("hopper/mma.m16n8k16.f32.f16", "ada/mma.m16n8k32.f32.e4m3",
               "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1")


def fragments(unit, count=40, seed=1):
    """A, B, C of a unit of f16 parts, and its D."""
    k = int(bitcut.units().find(unit)["shape"].split("x")[2])
    a, b = (uniform(count, *shape, seed=seed + i).astype("f2")
            for i, shape in enumerate(((3, k), (k, 2))))
    c = uniform(count, 3, 2, seed=seed + 2)
    return a, b, c, bitcut.mma(a, b, c, unit=unit)


@needs_numpy
class Fit(Folder):
    def rows(self, unit, outputs, status=0, **arrays):
        """What the program prints of a set, but for what the package does not have."""
        def bits(x):
            return x.view(f"u{x.dtype.itemsize}")
        for name, x in arrays.items():
            file = name.upper() if len(name) == 1 else name
            numpy.save(f"{self.folder.name}/{file}.npy", bits(x))
        pathlib.Path(self.folder.name, "meta.json").write_text(json.dumps({"unit": unit}))
        row, = self.program("fit", ".", "--outputs", outputs, status=status)
        for key in ("set", "next", "seconds", "schema"):
            del row[key]
        return row

    def text(self, outputs):
        """What it prints for people, likewise."""
        done = subprocess.run(["bitcut", "fit", ".", "--outputs", str(outputs)],
                              stdout=subprocess.PIPE, text=True, cwd=self.folder.name, check=False)
        return [line for line in done.stdout.splitlines()
                if line.split()[0] not in ("set", "next", "seconds")]

    def both(self, unit, outputs=1000, status=0, **arrays):
        row = self.rows(unit, outputs, status, **arrays)
        found = bitcut.fit(unit=unit, outputs=0 if outputs == 1000 else outputs, **arrays)
        self.assertEqual(found.to_dict(), row)
        self.assertEqual(bool(found), status == 0)
        return found

    def test_found(self):
        a, b, c, d = fragments(F16)
        found = self.both(F16, a=a, b=b, c=c, d=d)
        self.assertIn(F16, found.table)
        self.assertIn(25, [row["fraction"] for row in found.rows])
        self.assertEqual(found.decided + found.open, [
            name for name in found.decided + found.open if name in found.rows[0]])
        self.assertEqual(str(found).splitlines(), self.text(1000))
        self.both(F16, 17, a=a, b=b, c=c, d=d)

    def test_nearest(self):
        a, b, c, d = fragments(F16, seed=5)
        d[3, 1, 1] *= numpy.float32(1.01)
        found = self.both(F16, 500, status=1, a=a, b=b, c=c, d=d)
        self.assertEqual(found.nearest["misses"], 1)
        self.assertEqual(str(found).splitlines(), self.text(500))

    def test_of_another_unit(self):
        """What CDNA2 gives, explained by rows with the formats and k of a Hopper unit."""
        a, b, c, d = fragments("cdna2/mfma.32x32x8.f32.f16", seed=9)
        a, b = (numpy.concatenate([x, numpy.zeros_like(x)], axis)
                for x, axis in ((a, 2), (b, 1)))
        found = self.both(F16, 200, a=a, b=b, c=c, d=d)
        self.assertFalse(found.unit_survives)

    def test_f64(self):
        a, b, c = (uniform(30, 1, 1, seed=seed).astype("f8") for seed in (1, 2, 3))
        d = bitcut.mma(a, b, c, unit="fma/f64")
        self.assertEqual(d.dtype, numpy.float64)
        self.assertTrue(self.both("fma/f64", a=a, b=b, c=c, d=d).unit_survives)

    def test_block_scales(self):
        r = random()
        a, b = r.integers(0, 16, (9, 2, 64)).astype("u1"), r.integers(0, 16, (9, 64, 3)).astype(
            "u1")
        scale_a, scale_b = (r.integers(0x30, 0x40, shape).astype("u1")
                            for shape in ((9, 2, 4), (9, 4, 3)))
        c = uniform(9, 2, 3)
        arrays = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b}
        for name, x in arrays.items():
            file = name.upper() if len(name) == 1 else name
            numpy.save(f"{self.folder.name}/{file}.npy", x.view(f"u{x.dtype.itemsize}"))
        self.program("mma", "--unit", NV, "-a", "A.npy", "-b", "B.npy", "-c", "C.npy",
                     "--scale-a", "scale_a.npy", "--scale-b", "scale_b.npy", "-o", "D.npy")
        d = self.load("D").view("f4")
        self.assertTrue(self.both(NV, d=d, **arrays).unit_survives)

    def test_bad_input(self):
        a, b, c, d = fragments(F16, count=2)
        wrong = [
            ({"unit": "nothing"}, bitcut.BadArgument, "unknown unit"),
            ({"unit": F8}, bitcut.BadArgument, "A: elements of f2; the unit takes e4m3"),
            ({"unit": "ampere/mma.m16n8k8.f32.f16"}, bitcut.BadArgument, "k is 16"),
            ({"d": d[:1]}, bitcut.BadArgument, "do not fit together"),
            ({"d": d[0]}, bitcut.BadArgument, "dimensions"),
            ({"b": b[:, :8]}, bitcut.BadArgument, "do not fit together"),
            ({"scale_a": a}, bitcut.BadArgument, "no block scales"),
            ({"a": a[:0], "b": b[:0], "c": c[:0], "d": d[:0]}, bitcut.BadArgument, "no outputs"),
            ({"d": d.astype("f8")}, bitcut.BadArgument, "D: elements of f8"),
            ({"c": None}, bitcut.BadType, "C: NoneType"),
            ({"outputs": -1}, bitcut.BadArgument, "outputs"),
            ({"threads": 1.5}, bitcut.BadType, "threads"),
        ]
        for more, kind, words in wrong:
            with self.assertRaisesRegex(kind, words) as caught:
                bitcut.fit(**{"a": a, "b": b, "c": c, "d": d, "unit": F16, **more})
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(bitcut.BadArgument, "blocks"):
            bitcut.fit(*(x[:1] for x in (a.view("u2") % 2, b.view("u2") % 2, c, d)), unit=NV)


@needs_numpy
class Retention(Folder):
    def same(self, found, rows, but=()):
        for got, want in zip(found.exponents, rows):
            self.assertEqual(got, {key: want[key] for key in got})
        self.assertEqual(len(found.exponents), len(rows))

    def test_of_an_array(self):
        x = numpy.ldexp(uniform(60, 50), random().integers(-30, 17, (60, 50))).astype("f4")
        x[3, 4:8] = 0, numpy.inf, numpy.nan, -numpy.inf
        self.save(a=x)
        for split, unit in (("halfhalf", None), ("bitcut", "mi210"), ("bf16x3", None),
                            ("half-e4m3", None)):
            rows = self.program("split", "--split", split, "-a", "A.npy",
                                *(["--unit", unit] if unit else []))
            found = bitcut.retention(x, split, unit=unit)
            self.same(found, rows[:-1])
            got = found.to_dict()
            del got["exponents"]
            self.assertEqual(got, {key: rows[-1][key] for key in got})
            self.assertEqual((found.zeros, found.infinite, found.nan), (1, 2, 1))
            again = bitcut.split(x, split).retention(unit=unit, threads=1)
            self.assertEqual(again.to_dict(), found.to_dict())

    def test_of_exponents(self):
        rows = self.program("split", "--split", "bitcut", "--exhaustive", "--from", -16, "--to",
                            -14)
        found = bitcut.retention(split="bitcut", exponents=(-16, -14))
        self.same(found, rows)
        self.assertEqual(found.count, 3 * 2**23)
        self.assertEqual(found.max_ulp, max(row["max_ulp"] for row in rows))

    def test_of_nothing(self):
        for x in (numpy.zeros((0, 4), "f4"), numpy.zeros(3, "f4")):
            found = bitcut.retention(x)
            self.assertEqual((found.count, found.bits, found.exponents), (0, None, []))
            self.assertEqual(found.zeros, x.size)
            self.assertEqual("zeros" in found._repr_html_(), x.size > 0)

    def test_bad_input(self):
        x = uniform(4, 4)
        for call, kind, words in (
                (lambda: bitcut.retention(x, "nothing"), bitcut.BadArgument, "unknown split"),
                (lambda: bitcut.retention(x, unit="nothing"), bitcut.BadArgument, "unknown unit"),
                (lambda: bitcut.retention(x.T), bitcut.BadArgument, "gaps"),
                (lambda: bitcut.retention(x.astype("f2")), bitcut.BadType, "elements of f2"),
                (lambda: bitcut.retention(exponents=3), bitcut.BadType, "exponents"),
                (lambda: bitcut.retention(exponents=("a", 3)), bitcut.BadType, "exponents"),
                (lambda: bitcut.retention(exponents=(0, 128)), bitcut.BadArgument, "127"),
                (lambda: bitcut.retention(exponents=(2, 1)), bitcut.BadArgument, "from <= to")):
            with self.assertRaisesRegex(kind, words) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
