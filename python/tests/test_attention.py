# SPDX-License-Identifier: BSD-3-Clause
"""Attention: the package gives what the program gives; layouts, heads and masks; refusals."""

import unittest

from helper import Folder, needs_numpy, numpy as np

import bitcut
import bitcut.testing


def drawn(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype("f2")


@needs_numpy
class Attention(Folder):
    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = (drawn(s, i) for i, s in enumerate(
            ((2, 4, 30, 16), (2, 2, 40, 16), (2, 2, 40, 8))))

    def test_program(self):
        """The same bits as the program's, for every row that takes f16."""
        for row in bitcut.attentions().names():
            if row == "flash-attention-3-fp8":
                continue
            with self.subTest(row):
                self.save(q=self.q[1], k=self.k[1], v=self.v[1])
                self.program("attention", "--row", row, "-q", "Q.npy", "-k", "K.npy", "-v", "V.npy", "--causal",
                             "--reference", "none", "-o", "O.npy")
                o = bitcut.attention(self.q[1], self.k[1], self.v[1], row=row, causal=True).o
                self.same_bits(o, self.load("O"), row)

    def test_heads(self):
        """A batch is the heads one by one, in any layout whose rows have no gaps."""
        o = bitcut.attention(self.q, self.k, self.v, row="pytorch-flash", vary="splits=1", window_left=5).o
        for b in range(2):
            for h in range(4):
                one = bitcut.attention(self.q[b, h], self.k[b, h // 2], self.v[b, h // 2], row="pytorch-flash",
                                       vary="splits=1", window_left=5).o
                self.assertEqual(one.tobytes(), o[b, h].tobytes())
        turned = np.ascontiguousarray(self.q.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
        again = bitcut.attention(turned, self.k, self.v, row="pytorch-flash", vary="splits=1", window_left=5).o
        self.assertEqual(again.tobytes(), o.tobytes())

    def test_exact(self):
        """The exact reference is NumPy's in FP64 to FP32's precision; lse as well."""
        q, k, v = (x[0, 0].astype("f8") for x in (self.q, self.k, self.v))
        s = q @ k.T / 4
        w = np.exp(s - s.max(1, keepdims=True))
        o = bitcut.attention_exact(self.q[0, 0], self.k[0, 0], self.v[0, 0], format_o="f32")
        self.assertTrue(np.allclose(o, w @ v / w.sum(1, keepdims=True), rtol=1e-6, atol=1e-8))
        lse = bitcut.attention(self.q[0, 0], self.k[0, 0], self.v[0, 0], row="pytorch-flash", lse=True).lse
        self.assertTrue(np.allclose(lse, np.log(np.exp(s).sum(1)), rtol=1e-5))

    def test_verify(self):
        o = bitcut.attention(self.q, self.k, self.v, row="flash-attention-2").o
        self.assertTrue(bitcut.attention_verify(o, self.q, self.k, self.v, row="flash-attention-2"))
        o[1, 2, 3, 4] += 1
        found = bitcut.attention_verify(o, self.q, self.k, self.v, row="flash-attention-2")
        self.assertEqual((bool(found), found.differ, found.first["at"]), (False, 1, [1, 2, 3, 4]))
        errors = bitcut.attention_judge(o, self.q, self.k, self.v)
        self.assertEqual((errors.head, errors.row, errors.column), (6, 3, 4))
        self.assertGreater(errors.max_ulp, 100)

    def test_budget(self):
        """The program's parts; the error is their sum, and that of attention()."""
        self.save(q=self.q[1], k=self.k[1], v=self.v[1])
        said = self.program("attention", "--row", "pytorch-flash", "-q", "Q.npy", "-k", "K.npy", "-v", "V.npy",
                            "--budget", "--reference", "none")[0]["budget"]["parts"]
        found = bitcut.attention_budget(self.q[1], self.k[1], self.v[1], row="pytorch-flash").to_dict()
        self.assertEqual(list(found), [part["name"] for part in said])
        for part in said:
            self.assertEqual(found[part["name"]], {key: part[key] for key in ("mean", "rms", "max")})
        self.assertAlmostEqual(sum(part["mean"] for part in said[:-1]), found["error"]["mean"])

    def test_bound(self):
        """Errors are within both bounds; the larger one is a priori."""
        o = bitcut.attention(self.q, self.k, self.v, row="cudnn-sm90", format_o="f32").o
        error = np.abs(o - bitcut.attention_exact(self.q, self.k, self.v, format_o="f32"))
        apriori, weighted = (bitcut.attention_bound(self.q, self.k, self.v, row="cudnn-sm90", format_o="f32", name=name)
                             for name in ("apriori", "weighted"))
        self.assertTrue((error <= weighted + 1e-7).all() and (weighted < apriori).all())
        with self.assertRaisesRegex(bitcut.Unsupported, "quantizes"):
            bitcut.attention_bound(self.q, self.k, self.v, row="sage-attention-2")

    def test_tolerance(self):
        """The program's limits; a correct O passes, wrong ones do not, and an O of zeros cannot pass."""
        q, k, v = self.q[1], self.k[1], self.v[1]
        self.save(q=q, k=k, v=v)
        said = self.program("attention", "--row", "pytorch-flash", "-q", "Q.npy", "-k", "K.npy", "-v", "V.npy",
                            "--tolerance", "--runs", 20, "--seed", 3)[0]["limits"]
        t = bitcut.attention_tolerance(q, k, v, row="pytorch-flash", runs=20, seed=3)
        self.assertEqual({name: getattr(t, name) for name in said}, said)
        close = bitcut.testing.assert_attention_close
        o = bitcut.attention(q, k, v, row="pytorch-flash", causal=True, vary="splits=3").o
        close(o, q, k, v, row="pytorch-flash", causal=True, runs=30)
        other = {"row": "cudnn-sm90", "o": bitcut.attention(q, k, v, row="cudnn-sm90", causal=True).o}
        close(o, q, k, v, row="pytorch-flash", causal=True, runs=30, other=other)
        for wrong in (bitcut.attention(q, k, v, row="pytorch-flash", window_right=1).o, o * np.float16(1.02), o * 0,
                      o * np.float16(np.nan)):
            with self.assertRaisesRegex(AssertionError, "not close to pytorch-flash.*\\n  limit: "):
                close(wrong, q, k, v, row="pytorch-flash", causal=True, runs=30)
        with self.assertRaisesRegex(bitcut.testing.TestTooWeak, "zeros would pass"):
            close(o * 0, q, k, v * 0, row="pytorch-flash", causal=True, runs=30)
        with self.assertRaisesRegex(bitcut.BadArgument, "a dict with"):
            bitcut.attention_tolerance(q, k, v, row="pytorch-flash", other="plain")
    def test_explain(self):
        """The row and a fault are found; the answer is the program's, and does not depend on threads."""
        q, k, v = drawn((40, 32), 1), drawn((70, 32), 2), drawn((70, 32), 3)
        o = bitcut.attention(q, k, v, row="cudnn-sm90", vary="block-n=32", window_right=1).o
        found = bitcut.attention_explain(o, q, k, v, causal=True, threads=2)
        self.assertTrue(found and found.row == "cudnn-sm90" and found.vary == "block-n=32", found)
        self.assertEqual((found.fault, found.differ, found.diagnosis), ("mask off by one", 0, "identical"))
        self.assertEqual(str(found), str(bitcut.attention_explain(o, q, k, v, causal=True, threads=1)))
        self.save(q=q, k=k, v=v, o=o)
        said = self.program("attention", "-q", "Q.npy", "-k", "K.npy", "-v", "V.npy", "--causal", "--explain",
                            "O.npy")[0]
        for key, name in (("row", "row"), ("vary", "vary"), ("fault", "fault"), ("same", "same"),
                          ("tried", "tried"), ("hypothesis", "text")):
            self.assertEqual(said[key], getattr(found, name), key)
        o[:] = 1
        found = bitcut.attention_explain(o, q, k, v, row="cudnn-sm90", effort=0.1)
        self.assertEqual((bool(found), found.fault, found.diagnosis), (False, None, "unexplained"))
        with self.assertRaises(bitcut.BadArgument):
            bitcut.attention_explain(o, q, k, v, row="flash-attention-3-fp8", vary="lanes=3")

    def test_refusals(self):
        def refused(error, part, *arrays, **given):
            with self.assertRaisesRegex(error, part):
                bitcut.attention(*arrays, **{"row": "pytorch-flash", **given})
        q, k, v = self.q, self.k, self.v
        refused(bitcut.BadArgument, "belong together", q, k, v[:, :1])
        refused(bitcut.BadArgument, "unknown row", q, k, v, row="flash")
        refused(bitcut.BadArgument, "unknown field", q, k, v, vary="blocks=3")
        refused(bitcut.BadArgument, "window_right", q, k, v, causal=True, window_right=3)
        refused(bitcut.BadArgument, "gaps", q[..., ::2], k[..., ::2], v)
        refused(bitcut.BadArgument, "dimensions", q[0, 0, 0], k, v)
        refused(bitcut.BadType, "format= names", q.view("u2"), k.view("u2"), v.view("u2"))
        refused(bitcut.BadArgument, "multiply f32", q.astype("f4"), k.astype("f4"), v.astype("f4"))


if __name__ == "__main__":
    unittest.main()
