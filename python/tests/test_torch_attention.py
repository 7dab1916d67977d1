# SPDX-License-Identifier: BSD-3-Clause
"""scaled_dot_product_attention inside bitcut.emulate has the bits of bitcut.attention.  Calls that bitcut
does not compute are counted and left to PyTorch.  PyTorch before 2.0 has no such function: a model of it takes its place."""

import unittest
from unittest import mock

from helper import numpy

import bitcut

try:
    import torch
    from torch import overrides
except ImportError:
    torch = None

NAME = "scaled_dot_product_attention"


def model(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """PyTorch's function, for tensors without a mask."""
    if overrides.has_torch_function((query, key, value)) or overrides._get_current_function_mode():
        return overrides.handle_torch_function(model, (query, key, value), query, key, value, attn_mask=attn_mask,
                                               dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                                               enable_gqa=enable_gqa)
    w = torch.softmax(query.float() @ key.float().transpose(-1, -2) / query.shape[-1]**.5, -1)
    return (w @ value.float()).to(query.dtype)


def bits(x):
    return x.view(torch.int16).numpy().tobytes()


@unittest.skipUnless(torch and numpy, "needs PyTorch (pip install torch) and python3-numpy")
class Attention(unittest.TestCase):
    def setUp(self):
        f = torch.nn.functional
        if not hasattr(f, NAME):
            patch = mock.patch.object(f, NAME, model, create=True)
            patch.start()
            self.addCleanup(patch.stop)
        self.sdpa = getattr(f, NAME)
        torch.manual_seed(1)

    def draw(self, type, queries=70, keys=70, heads=4, kv_heads=4, dim=32):
        return (torch.randn(2, heads, queries, dim).to(type),
                *(torch.randn(2, kv_heads, keys, dim).to(type) for _ in range(2)))

    def expected(self, tensors, format, **given):
        arrays = (t.contiguous().view(torch.int16).numpy().view("u2") for t in tensors)
        return bitcut.attention(*arrays, format=format, **given).o.tobytes()

    def inside(self, tensors, left=None, row="pytorch-flash", vary=None, **given):
        with bitcut.emulate(attention=row, vary=vary) as e:
            o = self.sdpa(*tensors, **given)
        self.assertEqual((e.taken, e.left), ({}, {f"{NAME} {left}": 1}) if left else ({NAME: 1}, {}))
        return o

    def test_bits(self):
        """Types, masks, scales and layouts."""
        see = torch.ones(70, 70, dtype=torch.bool)
        window = see.tril(2) & see.triu(-9)
        for type, format in ((torch.float16, "f16"), (torch.bfloat16, "bf16")):
            x = self.draw(type)
            turned = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in x]
            for row in "pytorch-flash", "cudnn-sm90", "plain":
                for given, same in (({}, {}), ({"is_causal": True}, {"causal": True}),
                                    ({"scale": 0.3}, {"scale": 0.3}), ({"attn_mask": see.tril()}, {"causal": True}),
                                    ({"attn_mask": window}, {"window_right": 2, "window_left": 9}),
                                    ({"attn_mask": torch.zeros(70, 70).masked_fill(~window, -float("inf"))},
                                     {"window_right": 2, "window_left": 9}), ({"attn_mask": see}, {})):
                    with self.subTest(row=row, format=format, given=list(given), same=same):
                        want = self.expected(x, format, row=row, **same)
                        self.assertEqual(bits(self.inside(x, row=row, **given)), want)
                        self.assertEqual(bits(self.inside(turned, row=row, **given)), want)

    def test_heads(self):
        """Fewer heads of K and V, other numbers of keys, vary."""
        x = self.draw(torch.float16, queries=5, keys=90, kv_heads=2)
        want = self.expected(x, "f16", row="flash-attention-2", vary="block-n=64")
        got = self.inside(x, row="flash-attention-2", vary="block-n=64", enable_gqa=True)
        self.assertEqual(bits(got), want)
        self.assertEqual((got.shape, got.dtype), (x[0].shape, x[0].dtype))

    def test_left(self):
        x = self.draw(torch.float16)
        mask = torch.ones(70, 70, dtype=torch.bool).tril()
        mask[3, 1] = False
        cases = [
            (x, {"dropout_p": 0.5}, "with dropout"),
            (x, {"attn_mask": mask}, "with a mask that is no window"),
            (x, {"attn_mask": torch.rand(70, 70).half()}, "with a mask that is no window"),
            (self.draw(torch.float16, queries=5), {"is_causal": True}, "causal, of other queries than keys"),
            ([t.double() for t in x], {}, "of float64"),
            ([t.clone().requires_grad_() for t in x], {}, "with gradients"),
        ]
        for tensors, given, why in cases:
            with self.subTest(why):
                if self.sdpa is model and given:
                    with self.assertRaises(bitcut.Unsupported), bitcut.emulate(attention="plain", strict=True):
                        self.sdpa(*tensors, **given)
                    continue
                with torch.no_grad() if tensors is x else mock.MagicMock():
                    self.inside(tensors, why, **given)
                with self.assertRaises(bitcut.Unsupported), bitcut.emulate(attention="plain", strict=True):
                    self.sdpa(*tensors, **given)
        with torch.no_grad():
            self.inside([t.clone().requires_grad_() for t in x])

    def test_products(self):
        """With a recipe, products are computed, too; without a row, attention is its products."""
        a, x = torch.randn(4, 4), self.draw(torch.float16)
        with bitcut.emulate("plain", "h100", attention="pytorch-flash") as e:
            a @ a
            self.sdpa(*x)
        self.assertEqual(e.taken, {"mm": 1, NAME: 1})
        with bitcut.emulate(attention="pytorch-flash") as e:
            a @ a
        self.assertEqual((e.taken, e.left, e.line), ({}, {}, None))

    def test_refusals(self):
        for given in ({}, {"attention": "flash"}, {"vary": "block-n=64", "recipe": "plain", "unit": "h100"}):
            with self.subTest(given), self.assertRaises((bitcut.BadArgument, bitcut.BadType)):
                bitcut.emulate(**given)
        with bitcut.emulate(attention="plain", vary="block=3") as e:
            self.sdpa(*self.draw(torch.float16))
        self.assertIn("unknown field", list(e.left)[0])


if __name__ == "__main__":
    unittest.main()
