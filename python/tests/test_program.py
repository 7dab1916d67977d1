# SPDX-License-Identifier: BSD-3-Clause
"""What the package computes is what the program does, bit for bit; exact products are those of
fractions, and words add up to what the program counts."""

import fractions
import itertools
import subprocess
import unittest

from helper import Folder, needs_numpy, numpy, program, uniform, wide

import bitcut

# Each recipe of the table on a unit of its words, and variations, as options and arguments.
VARIATIONS = [
    {"split": "bitcut"}, {"scale": 9}, {"promote": 2}, {"equilibrate": True},
    {"order": "slices=2,tile=32,partial-first,reduction=tree"}, {"high": "rz", "low": "rz"},
    {"split_a": "bitcut", "split_b": "halfhalf", "scale": 10},
    {"order": {"lanes": 2, "chunk": 16, "partial_format": "f16"}}, {"alpha": 1.5, "beta": -0.75},
    {"dropped_term": True}, {"sum_rounding": "sr", "round_seed": 3}, {"sum_rounding": "ru"},
    {"order": "lanes=3,lane-order=0.2.1,slices=2,partial-format=bf16,partial-store"},
    {"order": "lanes=8,chunk=16,reduction=halves"},
]


def option(name, value):
    if name == "dropped_term":
        return ["--terms", 4]
    if value is True:
        return ["--" + name]
    if isinstance(value, dict):
        value = ",".join(k.replace("_", "-") + ("" if v is True else f"={v}") for k, v in value.items())
    return ["--" + name.replace("_", "-"), value]


class Renamed(unittest.TestCase):
    def test_names_of_version_0_1(self):
        with self.assertWarnsRegex(DeprecationWarning, "is now bitcut.Unsupported"):
            self.assertIs(bitcut.Cannot, bitcut.Unsupported)
        with self.assertRaises(AttributeError):
            bitcut.Cannnot  # pylint: disable=pointless-statement


@needs_numpy
class Computed(Folder):
    def both(self, recipe, unit, a, b, c=None, **more):
        """D of both, and the program's row."""
        self.save(a=a, b=b, **({"c": c} if c is not None else {}))
        words = list(itertools.chain(*(option(*item) for item in more.items())))
        words += ["-c", "C.npy"] if c is not None else []
        row, = self.program("gemm", "--recipe", recipe, "--unit", unit, "-a", "A.npy", "-b",
                            "B.npy", "-o", "D.npy", *words)
        got = bitcut.gemm(a, b, c=c, recipe=recipe, unit=unit, **more)
        self.same_bits(got.d, self.load("D"), f"{recipe} on {unit}, {more}")
        said = got.to_dict()
        for key in set(said) & set(row):
            self.assertEqual(said[key], row[key], f"{key} of {recipe} on {unit}, {more}")
        return got, row

    def test_every_recipe(self):
        a, b = wide(19, 70), wide(70, 13, seed=3)
        done = 0
        for recipe in bitcut.recipes().names():
            for unit in ("h100", "mi300", "fma/f32"):
                try:
                    bitcut.gemm(a, b, recipe=recipe, unit=unit)
                except bitcut.BadArgument:
                    continue
                self.both(recipe, unit, a, b)
                done += 1
        self.assertGreater(done, 25)

    def test_variations(self):
        a, b, c = uniform(19, 70), uniform(70, 13, seed=3), uniform(19, 13, seed=4)
        for more in VARIATIONS:
            self.both("ootomo", "a100", a, b, c if "beta" in more else None, **more)
        self.both("ootomo", "a100", a, b, c)  # beta is 1
        self.both("fp32", "fma/f32", a, b, order={"lanes": 2, "chunk": 1, "unroll": 8, "slices": 3})
        self.both("fp32", "fma/f32", a, b, order={"lanes": 8, "unroll": 8, "narrow": 2, "reduction": "halves"})
        self.both("fp32", "fma/f32", a, b, order={"lanes": 4, "unroll": 16, "remainder_in_lane": True})

    def test_element_types(self):
        a, b = uniform(19, 70).astype("f2"), uniform(70, 13).astype("f8").astype("f4")
        self.both("plain", "a100", a, b.astype("f8"))
        got, _ = self.both("plain", "a100", a, b)
        again = bitcut.gemm(a.view("u2"), b.view("u4"), recipe="plain", unit="a100",
                            format_a="f16", format_b="f32")
        self.same_bits(again.d, got.d)
        with self.assertRaisesRegex(bitcut.BadArgument, "B: .*u4 are encodings of some format"):
            bitcut.gemm(a, b.view("u4"), recipe="plain", unit="a100")

    def test_metrics(self):
        got, row = self.both("ootomo", "a100", uniform(19, 70), uniform(70, 13))
        judged = got.judge()
        for name in bitcut.judge(got.d, uniform(19, 70), uniform(70, 13)).to_dict():
            self.assertEqual(getattr(judged, name), row[name], name)

    def test_verify_and_explain(self):
        got, _ = self.both("legemm", "mi210", uniform(11, 40), uniform(40, 7))
        a, b, d = uniform(11, 40), uniform(40, 7), got.d.copy()
        for _ in range(2):
            numpy.save(f"{self.folder.name}/D.npy", d)
            found = bitcut.verify(d, a, b, recipe="legemm", unit="mi210")
            row, = self.program("verify", "--recipe", "legemm", "--unit", "mi210", "-a", "A.npy",
                                "-b", "B.npy", "-d", "D.npy", "--seconds", 0,
                                status=int(not found))
            self.assertEqual((found.compared, found.differ), (row["compared"], row["mismatches"]))
            self.assertEqual(found.first and found.first["at"],
                             row["first"] and row["first"]["at"])
            row, = self.program("explain", "-a", "A.npy", "-b", "B.npy", "-d", "D.npy",
                                "--recipe", "legemm", "--unit", got.unit,
                                status=int(not found))
            self.assertEqual(str(bitcut.explain(d, a, b, recipe="legemm", unit=got.unit)),
                             row["hypothesis"])
            d[3:, 5] += numpy.float32(1e-3)

    def test_budget_and_bounds(self):
        self.both("ootomo", "a100", uniform(19, 70), uniform(70, 13))
        row, = self.program("gemm", "--recipe", "ootomo", "--unit", "a100", "-a", "A.npy", "-b",
                            "B.npy", "--budget")
        a, b = uniform(19, 70), uniform(70, 13)
        parts = bitcut.budget(a, b, recipe="ootomo", unit="a100").to_dict()
        self.assertEqual(list(parts), [part["name"] for part in row["budget"]["parts"]])
        for part in row["budget"]["parts"]:
            got = parts[part["name"]]
            self.assertEqual([got["mean"], got["rms"], got["max"]],
                             [part["u"][key] for key in ("mean", "rms", "max")])
        size = 2.0**-24 * (abs(a.astype("f8")) @ abs(b.astype("f8")))
        rows = self.program("bound", "--recipe", "ootomo", "--unit", "a100", "-a", "A.npy", "-b",
                            "B.npy", "--samples", 10000)
        for row in rows:
            def limits():
                return bitcut.bound(a, b, recipe="ootomo", unit="a100", name=row["bound"])
            if not row["applies"]:
                with self.assertRaises(bitcut.Unsupported) as caught:
                    limits()
                self.assertIn(row["why"].split(":")[-1].strip(), str(caught.exception))
            else:
                self.assertAlmostEqual((limits() / size).max(), row["limit_max"], delta=1e-9)

    def test_tolerance_and_advice(self):
        a, b = uniform(19, 70), uniform(70, 13)
        self.save(a=a, b=b)
        for order in (None, "any"):
            row, = self.program("tolerance", "--recipe", "ootomo", "--unit", "a100", "-a",
                                "A.npy", "-b", "B.npy", "--power", 0,
                                *(["--order", order] if order else []))
            t = bitcut.tolerance(a, b, recipe="ootomo", unit="a100", order=order,
                                 false_alarm=row["false_alarm"])
            self.assertEqual([t.bound, t.limit, t.max], [
                row["componentwise"][key] for key in ("bound", "limit", "max")])
            self.assertEqual([t.norm_bound, t.norm_limit, t.norm_max], [
                row["normwise"][key] for key in ("bound", "limit", "max")])
        row, = self.program("advise", "-a", "A.npy", "-b", "B.npy", "--unit", "h100")
        advice = bitcut.advise(a, b, unit="h100").to_dict()
        for key in set(advice) & set(row["advice"]):
            self.assertEqual(advice[key], row["advice"][key], key)

    def test_fragments(self):
        for unit, kind in (("ampere/mma.m16n8k16.f32.f16", "f2"), ("hopper/mma.m16n8k32.f32.e4m3",
                                                                    "u1")):
            k = 16 if kind == "f2" else 32
            a, b = uniform(5, 16, k), uniform(5, k, 8)
            a, b = (x.astype("f2") if kind == "f2" else (x * 50 + 60).astype("u1")
                    for x in (a, b))
            c = uniform(5, 16, 8)
            self.save(a=a, b=b, c=c)
            self.program("mma", "--unit", unit, "-a", "A.npy", "-b", "B.npy", "-c", "C.npy",
                         "-o", "D.npy")
            self.same_bits(bitcut.mma(a, b, c, unit=unit), self.load("D"), unit)
            self.same_bits(bitcut.mma(a[2], b[2], c[2], unit=unit), self.load("D")[2], unit)


@needs_numpy
class Exact(Folder):
    def test_fractions(self):
        a, b = uniform(7, 9) * numpy.float32(2.0**40), uniform(9, 5)
        a[:, 3] *= numpy.float32(2.0**-80)
        f32, f64 = bitcut.exact(a, b), bitcut.exact(a, b, format="f64")
        for (i, j), got in numpy.ndenumerate(f64):
            x = sum(fractions.Fraction(float(p)) * fractions.Fraction(float(q))
                    for p, q in zip(a[i], b[:, j]))
            self.assertEqual(got, float(x))
            near = [numpy.nextafter(f32[i, j], numpy.float32(s * numpy.inf)) for s in (-1, 1)]
            error = [abs(fractions.Fraction(float(y)) - x) for y in (f32[i, j], *near)]
            self.assertEqual(error[0], min(error))

    def test_words_add_up(self):
        x = numpy.ldexp(uniform(40, 25), numpy.arange(25) % 12 - 6).astype("f4")
        words = bitcut.split(x, "halfhalf")
        total = words[0].astype("f8") + words[1].astype("f8") * 2.0**-11
        self.save(a=x)
        rows = self.program("split", "--split", "halfhalf", "-a", "A.npy")
        exponent = numpy.frexp(x)[1] - 1
        for row in rows:
            here = exponent == row["exponent"] if row["exponent"] is not None else x != 0
            self.assertEqual(here.sum(), row["count"])
            self.assertEqual((total == x)[here].mean(), row["exact"])


class Tables(unittest.TestCase):
    def test_tables(self):
        for name in bitcut.tables().names():
            rows = program("list", name)
            for row in rows:
                del row["schema"]
            self.assertEqual(bitcut.table(name).to_dict(), rows, name)
            said = subprocess.run(["bitcut", "list", name], stdout=subprocess.PIPE, text=True,
                                  check=True).stdout
            if len(rows[0]) <= 32:  # more columns the program does not print
                self.assertEqual(str(bitcut.table(name)), said.rstrip("\n"), name)
            self.assertIn("<td>", bitcut.table(name)._repr_html_())
        self.assertEqual(bitcut.units().names(), bitcut.table("units").names())


if __name__ == "__main__":
    unittest.main()
