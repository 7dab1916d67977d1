#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solve the coefficients of emu/mufu_polynomial.c from recorded results.

Usage: solve.py FOLDER, a folder that `mufu FOLDER all` has written.

The results of a segment of 2^17 arguments are linear inequalities in the value at its start, the slope
and the second coefficient.  Least squares give the neighbourhood of the solution; all integers in it are
tried.  The program prints the tables as C, and stops if a segment has no solution or more than one.
"""

import sys

import numpy

SEGMENT = 1 << 17
NEAR = 3  # how far from the least squares integers are tried
# The results show a bias modulo 2^c0_bits, because a multiple of that could be a part of every c0.  These
# make the bias about half a unit in the last place of the result.
BIASES = {"ex2": 0x77e2, "rcp": 0x8fce, "rsqrt": 0x7fff, "sqrt": 0x7fff, "lg2": 0x3345, "sin": 0, "tanh": 0}
R = numpy.arange(SEGMENT)
SQUARE = sum(numpy.where(R >> i & 1, R >> 18 - i, 0) for i in range(17)) >> 1


def load(name, exponent):
    """The magnitudes of the results for 2^exponent <= x < 2^(exponent + 1)."""
    path = f"{sys.argv[1]}/{name}.{exponent + 127 << 23:08x}.bin"
    return numpy.fromfile(path, "<u4").astype("i8") & 0x7fffffff


def bounds(y, bits):
    """The integers s, from low to high, for which s 2^-bits truncates to y."""
    exponent, significand = (y >> 23) - 127, y & 0x7fffff | 0x800000
    up = exponent - 23 + bits
    left, right = numpy.maximum(up, 0), numpy.maximum(-up, 0)
    return significand << left >> right, (significand + (up >= 0) << left >> right) - (up >= 0)


def solve(low, high, c2_bits, r):
    """All (c2, c1, least and greatest value at the start) of one segment, whose arguments are r."""
    square = SQUARE[r] << c2_bits
    terms = numpy.stack([numpy.ones(len(r)), r, square], 1)
    _, near1, near2 = numpy.linalg.lstsq(terms, (low + high) / 2, rcond=None)[0]
    found = []
    for c2 in range(round(near2) - NEAR, round(near2) + NEAR + 1):
        for c1 in range(round(near1) - NEAR, round(near1) + NEAR + 1):
            curve = c1 * r + c2 * square
            least, greatest = (low - curve).max(), (high - curve).min()
            if least <= greatest:
                found.append((c2, c1, int(least), int(greatest)))
    return found


def table(name, low, high, c0_bits, c2_bits, first=0, step=1):
    """The coefficients of all segments.  Of the first segment, `first` arguments are special cases.
    The results are those of every `step`-th argument."""
    rows, one = [], 1 << c0_bits
    for i in range(0, len(low), SEGMENT // step):
        r = R[0 if i else first::step]
        at = slice(i + (0 if i else first), i + SEGMENT // step)
        found = solve(low[at], high[at], c2_bits, r)
        if len(found) != 1:
            sys.exit(f"{name}: the segment from {i} on has {len(found)} solutions")
        rows.append(found[0])
    biases = set(range(one))
    for _, _, least, greatest in rows:
        biases &= {s % one for s in range(least, min(greatest, least + one) + 1)}
    if BIASES[name] % one not in biases:
        sys.exit(f"{name}: the bias is one of {sorted(biases)[:9]} modulo {one:#x}")
    print(f"{name}: {len(rows)} segments, {len(biases)} biases modulo {one:#x}", file=sys.stderr)
    return [((greatest - BIASES[name]) >> c0_bits, c1, c2) for c2, c1, least, greatest in rows]


def show(name, rows):
    print(f"static const struct coefficients {name}_table[] = {{")
    line = "   "
    for row in rows:
        text = " { 0x%x, %d, %d }," % row
        if len(line) + len(text) > 90:
            print(line)
            line = "   "
        line += text
    print(f"{line}\n}};\n")


def both(*pairs):
    return [numpy.concatenate(part) for part in zip(*pairs)]


def logarithm():
    """The fraction of log2 from the binades of 1, where it is the result, and of 1/2."""
    low, high = bounds(load("lg2", 0), 38)
    low, high = low & ~3, numpy.maximum(high, (low & ~3) + 3)
    least, most = bounds(load("lg2", -1), 36)  # of 2^36 - 1 - fraction
    return (numpy.maximum(low, ((1 << 36) - 1 - most) * 4),
            numpy.minimum(high, ((1 << 36) - 1 - least) * 4 + 3))


def quarter_turn():
    """The sine of a quarter turn, from sin and cos of 1/8 to 8."""
    low, high = numpy.zeros(1 << 23, "i8"), numpy.full(1 << 23, 1 << 39)
    factor, factor_exponent = 0xa2f983, -26  # 1 / (2 pi)
    for name, first in (("sin", 0), ("cos", 1)):
        for e in range(-3, 3):
            product = (numpy.arange(1 << 23) + (1 << 23)) * factor
            drop = numpy.where(product >> 47, 24, 23)
            up = e - 23 + factor_exponent + drop + 25
            fixed = product >> drop << numpy.maximum(up, 0) >> numpy.maximum(-up, 0)
            quarter, position = (fixed >> 23) + first, fixed & 0x7fffff
            position ^= numpy.where(quarter & 1, 0x7fffff, 0)
            least, most = bounds(load(name, e), 37)
            numpy.maximum.at(low, position, least)
            numpy.minimum.at(high, position, most)
    return low, high


def tanh_table():
    rows = []
    for e, bits, last in ((-8, 0, 41), (-7, 0, 40), (-6, 0, 39), (-5, 1, 39), (-4, 1, 38), (-3, 2, 38),
                          (-2, 2, 37), (-1, 2, 36), (0, 3, 37), (1, 4, 39), (2, 3, 37)):
        rows += table("tanh", *bounds(load("tanh", e)[::1 << 6 - bits], last), 15, 1)
    return rows


def main():
    one = 1 << 23
    show("ex2", table("ex2", *bounds(load("ex2", 0) - one, 38), 13, 0))
    show("rcp", table("rcp", *bounds(load("rcp", 0), 40), 14, 1, step=2))
    show("rsqrt", table("rsqrt", *both(*(bounds(load("rsqrt", e), 40) for e in (0, 1))), 14, 2, first=1))
    show("sqrt", table("sqrt", *both(*(bounds(load("sqrt", e), 40) for e in (0, 1))), 15, 1))
    show("lg2", table("lg2", *logarithm(), 12, 1, first=1))
    show("sin", table("sin", *quarter_turn(), 11, 0))
    show("tanh", tanh_table())


main()
