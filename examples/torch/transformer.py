"""A small transformer learns to continue sentences made up here, character by character, with its
products as several units compute them:

    transformer.py ROWS.jsonl [STEPS [WAY...]]
    transformer.py --table ROWS.jsonl        (the table of the manual)

One row per configuration: the loss at each step, and how far the weights are from those of FP64 in the end.
The configuration fp64 computes all in FP64, own the products as PyTorch does, every other one as
`bitcut gemm` does.  All else of a step (normalization, softmax, Adam) is PyTorch's FP32."""
import contextlib
import hashlib
import json
import math
import sys
import time

import numpy as np
import torch
from torch import nn

import bitcut

CONFIGURATIONS = {  # and what the manual calls them
    "fp64": "FP64", "own": "FP32 of PyTorch", "fp32@fma/f32": "FP32, k in order",
    "ootomo@a100": "@code{ootomo}, A100", "cublas-tf32@a100": "TF32, A100",
    "plain@cdna3/mfma.16x16x8.f32.xf32,split=tf32,high=rz": "xf32, MI300",
    "plain@a100": "@code{plain} (f16), A100", "legemm@mi210": "@code{legemm}, MI210",
    "ootomo@mi210": "@code{ootomo}, MI210",
    "ootomo@mi210,equilibrate": "@code{ootomo}, MI210, equilibrated",
    "plain@mi210": "@code{plain} (f16), MI210"}
WORDS = [["one", "two", "three", "four"], ["small", "wide", "even", "odd", "scaled", "exact"],
         ["numbers", "words", "kernels", "units", "matrices", "sums"],
         ["round", "add", "split", "lose", "keep", "carry"],
         ["all bits", "half a bit", "the rest", "nothing", "their sign"],
         ["at once", "twice", "in order", "toward zero"]]
WIDTH, HEADS, LAYERS, CONTEXT, BATCH, RATE, STEPS = 64, 4, 2, 64, 16, 3e-3, 200


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.inside, self.outside = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x):
        batch, length, _ = x.shape
        q, k, v = (y.reshape(batch, length, HEADS, -1).transpose(1, 2)
                   for y in self.inside(x).split(WIDTH, -1))
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        return self.outside((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.before(x))
        return x + self.down(torch.relu(self.up(self.between(x))))


class Transformer(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.after, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, letters)
        # Of NumPy's generator: PyTorch's numbers depend on the processor.
        random = np.random.default_rng(1)
        for weight in self.parameters():
            if weight.dim() == 2:
                values = random.uniform(-1, 1, weight.shape) * math.sqrt(3 / WIDTH)
                weight.data = torch.from_numpy(values.astype("f4"))
        for name, bias in self.named_parameters():
            if name.endswith("bias"):
                bias.data.zero_()

    def forward(self, x):
        return self.out(self.after(self.layers(self.letter(x) + self.place.weight)))


def sentences():
    random = np.random.default_rng(2)
    return "".join(" ".join(random.choice(words) for words in WORDS) + ". " for _ in range(2000))


def batches(text, letters):
    """Pieces of the text, as numbers of letters."""
    numbers = torch.tensor([letters.index(x) for x in text])
    random = np.random.default_rng(3)
    while True:
        starts = random.integers(len(text) - CONTEXT, size=BATCH)
        yield torch.stack([numbers[i:i + CONTEXT + 1] for i in starts])


def emulation(configuration):
    if "@" not in configuration:
        return contextlib.nullcontext()
    recipe, unit, *more = configuration.replace("@", ",", 1).split(",")
    items = (x.partition("=") for x in more)
    return bitcut.emulate(recipe, unit, strict=True, threads=1,
                          **{key: value or True for key, _, value in items})


def train(configuration, steps):
    """The losses, all weights, and what was computed by bitcut."""
    text = sentences()
    letters = sorted(set(text))
    model, data = Transformer(len(letters)), batches(text, letters)
    if configuration == "fp64":
        model.double()
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    block, losses = emulation(configuration), []
    for piece, _ in zip(data, range(steps)):
        optimizer.zero_grad()
        with block:
            out = model(piece[:, :-1])
            loss = nn.functional.cross_entropy(out.flatten(0, 1), piece[:, 1:].flatten())
            loss.backward()
        optimizer.step()
        losses.append(loss.item())
    weights = torch.cat([x.detach().flatten() for x in model.parameters()])
    return losses, weights, sum(getattr(block, "taken", {}).values())


def table(path):
    """Lines of Texinfo: losses at some steps, and the largest differences to FP64 up to some."""
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    exact = next(row["loss"] for row in rows if row["configuration"] == "fp64")
    for row in rows:
        apart = [abs(x - y) for x, y in zip(row["loss"], exact)]
        print("@item", CONFIGURATIONS[row["configuration"]],
              *("@tab %.4f" % row["loss"][step - 1] for step in (50, 100, 200)),
              *("@tab %.0e" % max(apart[:steps]) for steps in (1, 20, 100)),
              "@tab %.1e" % row["weights"])


def main(path, steps=STEPS, *configurations):
    if path == "--table":
        return table(steps)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    exact = None
    with open(path, "w") as file:
        for configuration in configurations or CONFIGURATIONS:
            began = time.monotonic()
            losses, weights, taken = train(configuration, int(steps))
            seconds = time.monotonic() - began
            exact = weights if configuration == "fp64" else exact
            row = {"configuration": configuration, "steps": len(losses), "taken": taken, "seconds": round(seconds, 1),
                   "digest": hashlib.sha256(weights.numpy().tobytes()).hexdigest()[:16]}
            if exact is not None:
                row["weights"] = ((weights - exact).norm() / exact.norm()).item()
            file.write(json.dumps({**row, "loss": losses}) + "\n")
            file.flush()
            print(row, "loss", losses[-1], flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])

# SPDX-License-Identifier: BSD-3-Clause
