# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's scaled_dot_product_attention of CPU tensors, by an algorithm of attention()."""

from __future__ import annotations

from typing import Any, Optional

from ._arrays import View
from ._attention import _Problem
from ._library import lib

FORMATS = {"float16": ("f2", "f16"), "bfloat16": ("u2", "bf16"), "float32": ("f4", "f32")}


def _type(t) -> str:
    return str(t.dtype).split(".")[-1]


def _why_left(torch, tensors, dropout_p) -> Optional[str]:
    """Why PyTorch computes it itself; None: bitcut may compute it."""
    for t in tensors:
        if type(t).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__ or t.layout is not torch.strided:
            return f"of {type(t).__name__} {str(t.layout).split('.')[-1]}"
        if _type(t) not in FORMATS:
            return f"of {_type(t)}"
        if t.device.type != "cpu":
            return f"on {t.device.type}"
        if not 2 <= t.dim() <= 4:
            return f"of {t.dim()} dimensions"
    if len({t.dtype for t in tensors}) > 1:
        return "of several types"
    if dropout_p:
        return "with dropout"
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return "with gradients"
    return None


def _fit(q, k, v, enable_gqa) -> bool:
    """Whether heads and sizes fit; if not, PyTorch has the words for it."""
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1] or q.dim() != k.dim():
        return False
    if q.shape[:-2] == k.shape[:-2]:
        return True
    return bool(enable_gqa and q.dim() > 2 and q.shape[:-3] == k.shape[:-3] and k.shape[-3] and
                q.shape[-3] % k.shape[-3] == 0)


def _window(torch, mask, queries, keys) -> Optional[dict]:
    """The window of a mask that is one for every head; None: it is none."""
    while mask.dim() > 2 and mask.shape[0] == 1:
        mask = mask[0]
    if mask.dim() != 2:
        return None
    if mask.dtype is not torch.bool:
        if not bool(((mask == 0) | (mask == -float("inf"))).all()):
            return None
        mask = mask == 0
    mask = mask.expand(queries, keys)
    if bool(mask.all()):
        return {}
    if not bool(mask.any()):
        return None
    # Keys after its own: the last query is aligned with the last key.
    after = torch.arange(keys) - torch.arange(queries)[:, None] - (keys - queries)
    right, left = int(after[mask].max()), -int(after[mask].min())
    if bool((after <= right).all()):
        right = None
    if bool((after >= -left).all()):
        left = None
    seen = torch.ones_like(mask)
    if right is not None:
        seen &= after <= right
    if left is not None:
        seen &= after >= -left
    if not bool((seen == mask).all()) or (right is not None and right < 0) or (left is not None and left < 0):
        return None
    return {"window_right": right, "window_left": left}


def _view(t, name: str) -> View:
    if t.stride(-1) != 1 and t.shape[-1] > 1:
        t = t.contiguous()
    kind, format = FORMATS[_type(t)]
    return View(name, t.data_ptr(), t.shape, [t.element_size() * s for s in t.stride()], kind, format, False, t)


def attend(torch, how: dict, threads: int, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
           scale=None, enable_gqa=False) -> tuple[Any, Optional[str]]:
    """The output, or None and why PyTorch computes it.  BadArgument: the row does not."""
    tensors = (query, key, value)
    why = _why_left(torch, tensors, dropout_p)
    if why is None and not _fit(*tensors, enable_gqa):
        why = "refused"
    queries, keys = query.shape[-2], key.shape[-2]
    window: Optional[dict] = {"causal": True} if is_causal else {}
    if why is None and is_causal and (attn_mask is not None or queries != keys):
        # PyTorch aligns the first query with the first key.
        why = "causal with a mask" if attn_mask is not None else "causal, of other queries than keys"
    elif why is None and attn_mask is not None:
        window = _window(torch, attn_mask, queries, keys)
        why = None if window is not None else "with a mask that is no window"
    if why is not None:
        return None, why
    o = query.new_empty((*query.shape[:-1], value.shape[-1]), requires_grad=False)
    p = _Problem(*(_view(t.detach(), n) for t, n in zip(tensors, "QKV")), _view(o, "O"), copy=True, scale=scale,
                 **window, **how)
    p.run(lib.bitcut_attention, threads=threads)
    return o, None
