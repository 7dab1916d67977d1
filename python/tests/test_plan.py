# SPDX-License-Identifier: BSD-3-Clause
"""Plans, a caller's and those that gemm() keeps: on the model of a module, with stand-ins for the
arrays of CuPy and PyTorch."""

import copy
import functools
import gc
import inspect
import pickle
import threading
import tracemalloc
import unittest
import weakref
from unittest import mock

from helper import numpy, uniform
from test_device import Model, There, library_in_place

import bitcut
from bitcut import _device, _plan
from bitcut._gemm import Problem

NAMES = "cupy", "torch"
NO_KEY = {"a", "b", "c", "out", "stream", "workspace", "threads", "copy", "scheme", "parts"}


def each_library(test):
    """The test with the stand-in of each library."""
    @functools.wraps(test)
    def tests(self):
        for name in NAMES:
            with self.subTest(name), library_in_place(name) as library:
                test(self, library)
            self.clear()
    return tests


class Plans(Model):
    def setUp(self):
        super().setUp()
        self.clear()

    def tearDown(self):
        self.clear()
        super().tearDown()

    @staticmethod
    def clear():
        _plan._plans.clear()
        _device.FAST.clear()

    def counted(self, call):
        """The result of a call, and whether the long way was taken."""
        with mock.patch.object(_device, "start", wraps=_device.start) as start:
            return call(), start.call_count

    @each_library
    def test_key_of_arguments(self, library):
        """Every other argument is in the key of a plan, with its type."""
        a, b = library.array(self.a), library.array(self.b)
        cases = [{}, {"promote": 1}, {"alpha": 0.5}, {"beta": 0}, {"equilibrate": True}, {"order": "slices=2"},
                 {"any_promotion": True}, {"unit": "h100"}, {"scale": 10}, {"dropped_term": False}]
        for long_way in 1, 0:
            for given in cases:
                self.assertEqual(self.counted(lambda: bitcut.gemm(
                    a, b, recipe="ootomo", **given))[1], long_way, given)
        self.assertEqual(len(_plan._plans), len(cases))
        for wrong in {"promote": 1.0}, {"scale": 10.0}:
            with self.assertRaises(bitcut.BadType):
                bitcut.gemm(a, b, recipe="ootomo", **wrong)

    @each_library
    def test_key_of_arrays(self, library):
        """Another shape, stride, type or place of C is another plan; another address is not."""
        a, b, c = (uniform(24, 24, seed=i) for i in (1, 2, 3))
        cases = [
            (a, b, None, None), (a[:20], b, None, None), (a, b[:, :20].copy(), None, None),
            (a[:, :20], b[:20], None, None), (a.T, b, None, None), (a, b.T, None, None),
            (a, b, None, numpy.zeros((24, 24), "f4")), (a, b, c, None),
            (a, b, c, numpy.zeros((24, 24), "f4")), (a, b, None, numpy.zeros((24, 24), "f4").T),
            (a[None], b, None, None), (a.copy(), b.copy(), None, None)]
        for x, y, z, d in cases:
            there = [None if v is None else library.array(v) for v in (x, y, z, d)]
            for again in (False, True):
                g, long_way = self.counted(lambda: bitcut.gemm(
                    there[0], there[1], c=there[2], out=there[3], recipe="ootomo"))
                self.assertEqual(long_way, not again and x is not cases[-1][0])
                want = self.emulated(g, x, y, **({} if z is None else {"c": z}))
                self.same_bits(g.d.x, want)
        self.assertEqual(len(_plan._plans), len(cases) - 1)
        d = library.array(c.copy())  # C in place is a plan of its own
        for want_long in (1, 0):
            before = d.x.copy()
            g, long_way = self.counted(lambda: bitcut.gemm(
                library.array(a), library.array(b), c=d, out=d, recipe="ootomo"))
            self.assertEqual(long_way, want_long)
            self.same_bits(d.x, self.emulated(g, a, b, c=before))

    @each_library
    def test_key_of_places(self, library):
        """Another device is another plan; a tensor that records gradients, or is negated, has none."""
        for number in 0, 1, 0:
            library.number = number
            a, b = (library.array(x, number=number) for x in (self.a, self.b))
            self.assertEqual(bitcut.gemm(a, b, recipe="ootomo").device, f"cuda:{number}")
        self.assertEqual(len(_plan._plans), 2)
        if library.__name__ == "torch":
            for attribute, value in ("requires_grad", True), ("is_neg", lambda: True):
                x = library.array(self.a)
                setattr(x, attribute, value)
                self.assertIsNone(_plan.recall(_plan._options({"recipe": "ootomo"}), x, b, None, None))

    @each_library
    def test_copies_are_not_kept(self, library):
        """The plan of a copy of an array is not the plan of the array."""
        a, b, d = (library.array(x) for x in (self.a, self.b, numpy.zeros((70, 50), "f4")))
        p = Problem(a, b, None, d, recipe="ootomo", unit=None, writes=True, **dict.fromkeys(
            ("split", "split_a", "split_b", "high", "low", "sum_rounding", "round_seed", "scale", "promote",
             "tile_k", "equilibrate", "epilogue", "start", "scaling")))
        for i in range(3):
            arrays = [library.array(x.x) if i == j else x for j, x in enumerate((a, b, d))]
            _plan.remember(("of a copy",), p, {}, *arrays[:2], None, arrays[2])
            self.assertEqual(_plan._plans, {})
        _plan.remember(("itself",), p, {}, a, b, None, d)
        self.assertEqual(len(_plan._plans), 1)

    @each_library
    def test_other_results(self, library):
        """Results of a plan are those of the long way, in all but D."""
        a, b = library.array(self.a), library.array(self.b)
        for given in ({"recipe": "ootomo"}, {"recipe": "ootomo", "unit": "a100"},
                      {"recipe": "half-fp8", "unit": "h100"},
                      {"recipe": "ootomo", "alpha": 0.5, "order": "slices=2"}):
            (g, first), (h, second) = (self.counted(lambda: bitcut.gemm(a, b, **given))
                                       for _ in range(2))
            self.assertEqual((first, second), (1, 0))
            self.assertEqual((g.to_dict(), g.line), (h.to_dict(), h.line))
            self.same_bits(g.d.x, h.d.x)
            self.assertIsNot(g.d, h.d)
            with self.assertRaisesRegex(bitcut.BadArgument, "D is in the memory of cuda:0; judge"):
                h.judge()

    @each_library
    def test_long_way(self, library):
        """What has no plan: other streams, a given workspace, an order that is a dict, arrays of others."""
        a, b = library.array(self.a), library.array(self.b)
        room = self.aligned(There(numpy.zeros(2**20, "u1")))
        for given in ({"stream": 0x200}, {"workspace": room}, {"order": {"slices": 2}}):
            for _ in range(2):
                self.assertEqual(self.counted(lambda: bitcut.gemm(a, b, recipe="ootomo", **given))[1], 1)
        self.assertEqual(_plan._plans, {})
        bitcut.gemm(a, b, recipe="ootomo")
        for other in There(self.b), self.b:  # not of that library
            with self.assertRaises(bitcut.Error) as failed:
                bitcut.gemm(a, other, recipe="ootomo", out=self.a)
            self.assertRegex(str(failed.exception), "memor|several streams")
        with self.assertRaisesRegex(bitcut.BadArgument, "recipe"):
            bitcut.gemm(a, b, recipe="none")

    @each_library
    def test_bound(self, library):
        """The plans that are kept have a bound, and the library's are freed with them."""
        freed = []
        real = _plan._Handle.__del__.__defaults__[0]

        def free(at):
            freed.append(at)
            real(at)
        patch = mock.patch.object(_plan._Handle.__del__, "__defaults__", (free,))
        patch.start()
        self.addCleanup(patch.stop)
        for n in range(1, _plan.PLANS_MAX + 20):
            a = library.array(numpy.ones((1, n), "f4"))
            g = bitcut.gemm(a, library.array(numpy.ones((n, 1), "f4")), recipe="ootomo")
            self.assertEqual(g.d.x[0, 0], n)
        self.assertEqual(len(_plan._plans), _plan.PLANS_MAX)
        gc.collect()
        self.assertEqual(len(freed), 19)
        self.assertEqual(sum(isinstance(x, _plan.Launch) for x in gc.get_objects()), _plan.PLANS_MAX)

    @each_library
    def test_arrays_are_not_kept(self, library):
        """A plan holds no array of the call that made it."""
        arrays = [library.array(uniform(9, 9, seed=i)) for i in range(4)]
        arrays.append(bitcut.gemm(*arrays[:2], c=arrays[2], recipe="ootomo").d)
        bitcut.gemm(*arrays[:2], out=arrays[3], recipe="ootomo")
        plan = bitcut.plan(*arrays[:2], c=arrays[2], out=arrays[3], recipe="ootomo")
        there = [weakref.ref(x) for x in arrays]
        del arrays
        gc.collect()
        self.assertEqual([x() for x in there], [None] * 5)
        self.assertEqual((len(_plan._plans), plan.m), (2, 9))

    @each_library
    def test_growth(self, library):
        a, b, d = (library.array(numpy.ones((2, 2), "f4")) for _ in range(3))

        def calls(count):
            for _ in range(count):
                bitcut.gemm(a, b, recipe="ootomo", out=d)
            library.did.clear()
            gc.collect()
        calls(100)
        tracemalloc.start()
        try:
            calls(100)
            before = tracemalloc.get_traced_memory()[0]
            calls(1000)
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        self.assertLess(grown, 40000)  # a leak is 50 bytes a call or more

    @each_library
    def test_overlap(self, library):
        """D may not share bytes with A or B, also when there is a plan."""
        memory = numpy.zeros(3000, "f4")
        a, b = memory[:400].reshape(20, 20), memory[400:800].reshape(20, 20)
        c = memory[2000:2400].reshape(20, 20)
        for first, wrong in (1500, ""), (1600, ""), (1601, "C"), (2000, ""), (2399, "C"), (2400, ""):
            d = memory[first:first + 400].reshape(20, 20)
            call = lambda: bitcut.gemm(library.array(a), library.array(b), c=library.array(c),
                                       out=library.array(d), recipe="ootomo")
            if wrong:
                with self.assertRaisesRegex(bitcut.BadArgument, f"D overlaps {wrong}"):
                    call()
            else:
                call()
        self.assertEqual(len(_plan._plans), 2)
        for first in 1000, 800, 799, 401, 399, 1, 0:
            d = memory[first:first + 400].reshape(20, 20)
            call = lambda: bitcut.gemm(library.array(a), library.array(b), out=library.array(d),
                                       recipe="ootomo")
            if first >= 800:
                call()
            else:
                with self.assertRaisesRegex(bitcut.BadArgument, "D overlaps"):
                    call()
        self.assertEqual(len(_plan._plans), 3)

    # --- a plan of the caller -----------------------------------------------------------------

    @each_library
    def test_plan(self, library):
        a, b, c = library.array(self.a), library.array(self.b), library.array(uniform(70, 50, seed=3))
        for given in ({"recipe": "ootomo"}, {"recipe": "ootomo", "unit": "a100"},
                      {"recipe": "ootomo", "alpha": 0.5, "c": c, "beta": -2}):
            plan, more = bitcut.plan(a, b, **given), [given["c"]] if "c" in given else []
            g = bitcut.gemm(a, b, **given)
            self.assertEqual({**plan.to_dict(), "line": g.line},
                             {**g.to_dict(), "line": plan.line, "workspace": plan.workspace})
            self.assertEqual(plan.workspace, bitcut.workspace(a, b, **given))
            with mock.patch.object(plan, "_examine") as examined:
                self.same_bits(plan(a, b, *more).x, g.d.x)
                d = library.array(numpy.zeros((70, 50), "f4"))
                self.assertIs(plan(a, b, *more, out=d), d)
                self.same_bits(d.x, g.d.x)
                self.assertFalse(examined.called)
            self.same_bits(plan(a, b, *more, stream=0x200).x, g.d.x)
            room = self.aligned(There(numpy.zeros(plan.workspace + 256, "u1")))
            d.x[...] = 0
            self.assertIs(plan(a, b, *more, out=d, workspace=room), d)
            self.same_bits(d.x, g.d.x)

    def test_plan_of_others(self):
        """Arrays that only say where they are."""
        a, b, d = There(self.a), There(self.b), There(numpy.zeros((70, 50), "f4"))
        plan = bitcut.plan(a, b, out=d, recipe="ootomo")
        room = self.aligned(There(numpy.zeros(plan.workspace + 256, "u1")))
        with self.assertRaisesRegex(bitcut.BadArgument, "in the memory of cuda:1; the plan is for cuda:0"):
            plan(There(self.a, number=1), There(self.b, number=1), out=There(d.x, number=1), workspace=room)
        plan(There(2 * self.a), b, out=d, workspace=room)
        g = self.run_there(2 * self.a, self.b, recipe="ootomo")
        self.same_bits(d.x, g.d.x)

    def test_plan_of_scheme(self):
        a, b = self.a.astype("f8"), self.b.astype("f8")
        d = There(numpy.zeros((70, 50)))
        plan = bitcut.plan(There(a), There(b), out=d, scheme="ozimmu-ef")
        self.assertEqual((plan.scheme, plan.parts), ("ozimmu-ef", 8))
        room = self.aligned(There(numpy.zeros(plan.workspace + 256, "u1")))
        plan(There(a), There(b), out=d, workspace=room)
        self.same_bits(d.x, bitcut.gemm(a, b, scheme="ozimmu-ef", unit=plan.unit).d)

    @each_library
    def test_plan_refuses(self, library):
        a, b, c = (library.array(uniform(16, 16, seed=i)) for i in (1, 2, 3))
        plan, adds = bitcut.plan(a, b, recipe="ootomo"), bitcut.plan(a, b, c=c, recipe="ootomo")
        wide = library.array(uniform(16, 17))
        for error, words, call in (
                (bitcut.BadArgument, "A: 15 x 16 of f32, row-major, ld 16; the plan is for 16 x 16",
                 lambda: plan(library.array(a.x[:15]), b)),
                (bitcut.BadArgument, "B: 16 x 17", lambda: plan(a, wide)),
                (bitcut.BadArgument, "B: 16 x 16 of f32, column-major",
                 lambda: plan(a, library.array(b.x.T))),
                (bitcut.BadArgument, "A: 16 x 16 of f16",
                 lambda: plan(library.array(a.x.astype("f2")), b)),
                (bitcut.BadArgument, "C: 16 x 16 of f32.*; the plan is for none", lambda: plan(a, b, c)),
                (bitcut.BadArgument, "C: none; the plan is for 16 x 16", lambda: adds(a, b)),
                (bitcut.BadArgument, "D overlaps A", lambda: plan(a, b, out=a)),
                (bitcut.BadArgument, "D is .16, 17., not .16, 16.", lambda: plan(a, b, out=wide)),
                (bitcut.BadArgument, "D: 16 x 16 of f32, column-major",
                 lambda: plan(a, b, out=library.array(c.x.T))),
                (bitcut.BadArgument, "in the memory of the host", lambda: plan(a.x, b.x)),
                (bitcut.BadArgument, "in the memory of the host",
                 lambda: bitcut.plan(a.x, b.x, recipe="ootomo", unit="h100")),
                (bitcut.BadArgument, "device and threads", lambda: bitcut.plan(a, b, device="cpu")),
                (bitcut.BadType, "stream: no argument", lambda: bitcut.plan(a, b, stream=1)),
                (bitcut.BadType, "unknown: no argument", lambda: bitcut.plan(a, b, unknown=1)),
                (bitcut.BadArgument, "the workspace has 64 bytes", lambda: plan(
                    a, b, workspace=There(numpy.zeros(64, "u1")))),
                (TypeError, "cannot be copied", lambda: copy.copy(plan)),
                (TypeError, "cannot be copied", lambda: pickle.dumps(plan))):
            with self.assertRaisesRegex(error, words):
                call()
        plan.close()
        plan.close()
        for call in (lambda: plan(a, b), lambda: plan(a, b, stream=0x200)):
            with self.assertRaisesRegex(bitcut.BadArgument, "the plan is closed"):
                call()

    def test_plan_in_graph(self):
        with library_in_place("cupy") as cupy:
            a, b = cupy.array(self.a), cupy.array(self.b)
            plan, cupy.capturing = bitcut.plan(a, b, recipe="ootomo"), True
            bitcut_calls = lambda: bitcut.gemm(a, b, recipe="ootomo"), lambda: plan(a, b)
            for call in bitcut_calls:
                with self.assertRaisesRegex(bitcut.BadArgument, "workspace=: missing: a graph"):
                    call()
            cupy.capturing = False
            bitcut.gemm(a, b, recipe="ootomo")
            cupy.capturing = True
            with self.assertRaisesRegex(bitcut.BadArgument, "workspace=: missing: a graph"):
                bitcut.gemm(a, b, recipe="ootomo")

    @each_library
    def test_threads(self, library):
        """Threads that call plans, keep more of them than there may be, and close one meanwhile."""
        shapes = [(m, n) for m in (3, 9, 17) for n in (5, 8)]
        a = {m: library.array(uniform(m, 12, seed=m)) for m, _ in shapes}
        b = {n: library.array(uniform(12, n, seed=n)) for _, n in shapes}
        want = {s: bitcut.gemm(a[s[0]], b[s[1]], recipe="ootomo").d.x for s in shapes}
        plan, failures = bitcut.plan(a[3], b[5], recipe="ootomo"), []

        def work():
            try:
                for i in range(60):
                    m, n = shapes[i % len(shapes)]
                    self.same_bits(bitcut.gemm(a[m], b[n], recipe="ootomo").d.x, want[m, n])
                    try:
                        self.same_bits(plan(a[3], b[5]).x, want[3, 5])
                    except bitcut.BadArgument as error:
                        self.assertRegex(str(error), "closed")
            except BaseException as error:  # to where the test is
                failures.append(error)
        with mock.patch.object(_plan, "PLANS_MAX", 4):
            threads = [threading.Thread(target=work) for _ in range(4)]
            for t in threads:
                t.start()
            plan.close()
            for t in threads:
                t.join()
            self.assertLessEqual(len(_plan._plans), 6)
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
