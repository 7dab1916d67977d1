# SPDX-License-Identifier: BSD-3-Clause
"""GEMMs by the processor's own matrix units: their bits are the emulator's."""

import unittest

from helper import needs_numpy, numpy, python, uniform

import bitcut

HERE = "cpu" in bitcut.devices().names()


@needs_numpy
@unittest.skipUnless(HERE, "needs a processor with a matrix unit")
class Host(unittest.TestCase):
    def same(self, a, b, recipe, **more):
        """By the device; then by the emulator, on the unit that it had."""
        there = bitcut.gemm(a, b, recipe=recipe, device="cpu", **more)
        more.pop("workspace", None)
        here = bitcut.gemm(a, b, recipe=recipe, unit=there.unit, **more)
        self.assertTrue(there.kernel.endswith(f".{recipe}.bf16"), there.kernel)
        self.assertEqual((there.device, here.d.shape), ("cpu", there.d.shape))
        numpy.testing.assert_array_equal(there.d.view("u4"), here.d.view("u4"))
        return there

    def test_bits(self):
        a, b, c = uniform(40, 50, seed=1), uniform(50, 30, seed=2), uniform(40, 30, seed=3)
        for recipe in "plain", "bf16x3", "bf16x6", "bf16x9":
            self.same(a, b, recipe)
        self.same(a.T.copy().T, b[:, ::-1].copy()[:, :7], "bf16x9", c=c[:, :7], alpha=0.5)
        batch = numpy.stack([a, a + 1, a * 3])
        ran = self.same(batch, b, "bf16x6", equilibrate=True)
        self.assertEqual(ran.count, 3)
        self.assertLess(ran.judge(2).relres, 1e-5)

    def test_place(self):
        """D and the workspace where the caller says."""
        a, b = uniform(33, 64, seed=4), uniform(64, 17, seed=5)
        d = numpy.zeros((33, 17), "f4")
        needed = bitcut.workspace(a, b, recipe="bf16x9", device="cpu")
        room = numpy.empty(needed + 256, "u1")
        room = room[-room.ctypes.data % 256:][:needed]
        self.assertIs(bitcut.gemm(a, b, recipe="bf16x9", device="cpu", out=d,
                                  workspace=room).d, d)
        numpy.testing.assert_array_equal(d, self.same(a, b, "bf16x9").d)
        with self.assertRaisesRegex(bitcut.BadArgument, "the workspace has 256 bytes"):
            bitcut.gemm(a, b, recipe="bf16x9", device="cpu", workspace=room[:256])

    def test_children(self):
        """A child of a process that has multiplied multiplies, too."""
        done = python("import bitcut, os, numpy\n"
                      "a = numpy.ones((150, 150), 'f4')\n"
                      "def run(): return bitcut.gemm(a, a, recipe='bf16x3', device='cpu').d[1, 1]\n"
                      "assert run() == 150\n"
                      "if os.fork() == 0: os._exit(run() != 150)\n"
                      "print(os.wait()[1])")
        self.assertEqual(done.stdout, "0\n", done.stderr)

    def test_refused(self):
        a = uniform(8, 8, seed=6)
        for why, error, more in [
                ("it can be 'cpu'", bitcut.BadArgument, {"device": "cuda:0"}),
                ("int is no name", bitcut.BadType, {"device": 1}),
                ("device 5 does not exist", bitcut.Unsupported, {"device": "cpu:5"}),
                ("OMP_NUM_THREADS", bitcut.BadArgument, {"device": "cpu", "threads": 2}),
                ("the host has none", bitcut.BadArgument, {"device": "cpu", "stream": 1}),
                ("no kernel implements recipe ootomo", bitcut.Unsupported,
                 {"device": "cpu", "recipe": "ootomo"}),
                ("kernel: of arrays on a GPU alone, or", bitcut.BadArgument, {"kernel": "amx"})]:
            with self.subTest(why), self.assertRaisesRegex(error, why):
                bitcut.gemm(a, a, **{"recipe": "bf16x3", **more})


if __name__ == "__main__":
    unittest.main()
