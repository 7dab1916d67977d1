# SPDX-License-Identifier: BSD-3-Clause
"""bitcut gemm against NumPy, bit for bit.  Run by numpy.sh in an empty folder.

A fused multiply-add of FP32 is computed on fractions and rounded here; everything else is
float16 and float32 arithmetic of NumPy, or binary64 where that is exact."""

import ctypes
import json
import math
import shutil
import subprocess
from fractions import Fraction

import numpy as np

F16, F32, F64 = np.float16, np.float32, np.float64
M, N, K = 37, 53, 29
U = 2.0**-24

# --- FP32 arithmetic --------------------------------------------------------------------


def rounded(x):
    """The FP32 value nearest to the fraction x, ties to even; never an infinity."""
    if x == 0:
        return F32(0)
    exponent = max(math.frexp(float(x))[1] - 1, -126)
    ulp = Fraction(2) ** (exponent - 23)
    return F32(float(round(x / ulp) * ulp))


def fma(a, b, c):
    return rounded(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))


def exact_to_f32(x, parts):
    """Round the binary64 matrix x, which must be the exact sum of `parts`, to FP32."""
    for values in zip(x.flat, *(p.flat for p in parts)):
        total, *terms = (Fraction(float(v)) for v in values)
        assert total == sum(terms), "a sum is not exact in binary64"
    return x.astype(F32)


# --- the recipes ------------------------------------------------------------------------


def chain(accumulator, a, b):
    """accumulator + a b, one FP32 addition a product, k ascending.  The products of f16
    values are exact in FP32."""
    for k in range(a.shape[1]):
        accumulator = accumulator + np.outer(a[:, k], b[k, :])
    return accumulator


def plain(a, b):
    zero = np.zeros((a.shape[0], b.shape[1]), F32)
    return chain(zero, a.astype(F16).astype(F32), b.astype(F16).astype(F32))


def halfhalf(x):
    """High and low parts, as FP32 values."""
    high = x.astype(F16)
    low = ((x - high.astype(F32)) * F32(2048)).astype(F16)
    return high.astype(F32), low.astype(F32)


def ootomo(a, b):
    """Code 3 of Ootomo and Yokota on an FP32 unit of k = 1."""
    (a_high, a_low), (b_high, b_low) = halfhalf(a), halfhalf(b)
    main = np.zeros((a.shape[0], b.shape[1]), F32)
    correction = main
    for k in range(a.shape[1]):
        at = slice(k, k + 1)
        correction = chain(correction, a_low[:, at], b_high[at, :])
        correction = chain(correction, a_high[:, at], b_low[at, :])
        main = chain(main, a_high[:, at], b_high[at, :])
    parts = main.astype(F64), correction.astype(F64) / 2048
    return exact_to_f32(parts[0] + parts[1], parts)


def fp32(a, b):
    d = np.zeros((a.shape[0], b.shape[1]), F32)
    for (i, j), _ in np.ndenumerate(d):
        for k in range(a.shape[1]):
            d[i, j] = fma(a[i, k], b[k, j], d[i, j])
    return d


def fp32_epilogue(a, b, alpha, beta, c):
    """alpha A B rounded, then one fused multiply-add of beta and C."""
    d = fp32(a, b)
    for at, x in np.ndenumerate(d):
        d[at] = fma(beta, c[at], rounded(Fraction(alpha) * Fraction(float(x))))
    return d


# --- matrices and files -----------------------------------------------------------------

random = np.random.default_rng(1)


def uniform(rows, cols):
    return random.uniform(-1, 1, (rows, cols)).astype(F32)


def wide(rows, cols):
    """Down to zero in f16 and, in the first row and column, up to infinity."""
    x = np.ldexp(uniform(rows, cols), random.integers(-30, 17, (rows, cols))).astype(F32)
    x[0, 0] = 70000
    return x


def write_mtx(path, x):
    """A Matrix Market array: column by column, enough digits to be exact."""
    with open(path, "w") as file:
        print("%%MatrixMarket matrix array real general\n% columns", file=file)
        print(*x.shape, file=file)
        for value in x.T.flat:
            print(repr(float(value)), file=file)


def write_mtx_coordinates(path, x):
    with open(path, "w") as file:
        at = np.argwhere(x)
        print("%%MatrixMarket matrix coordinate real general", file=file)
        print(*x.shape, len(at), file=file)
        for i, j in random.permutation(at):
            print(i + 1, j + 1, repr(float(x[i, j])), file=file)


def read_mtx(path):
    lines = [line for line in open(path) if not line.startswith("%")]
    rows, cols = (int(word) for word in lines[0].split())
    values = np.array([float(line) for line in lines[1:]], F32)
    return values.reshape(cols, rows).T


def bitcut_rows(*words):
    """Run a command with --json; all of its rows."""
    command = ["bitcut", *(str(word) for word in words), "--json"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def bitcut(*words):
    """The first of them."""
    return bitcut_rows(*words)[0]


# --- the points -------------------------------------------------------------------------


def difference(got, want):
    """The first element whose bits differ, or None.  All NaNs are one."""
    if got.dtype != F32 or got.shape != want.shape:
        return f"{got.dtype} {got.shape}, not float32 {want.shape}"
    got_bits, want_bits = got.view(np.uint32), want.view(np.uint32)
    bad = (got_bits != want_bits) & ~(np.isnan(got) & np.isnan(want))
    for i, j in np.argwhere(bad):
        return (f"{bad.sum()} differ, first [{i}, {j}]: "
                f"got {got_bits[i, j]:#010x} = {got[i, j]!r}, "
                f"want {want_bits[i, j]:#010x} = {want[i, j]!r}")
    return None


def gemm(options, a="A.npy", b="B.npy", d="D.npy"):
    """D of `bitcut gemm`, as NumPy reads it."""
    bitcut("gemm", "-a", a, "-b", b, "-o", d, *options.split())
    return np.ascontiguousarray(read_mtx(d) if d.endswith(".mtx") else np.load(d))


PLAIN = "--recipe plain --split half --unit fma/f32"
OOTOMO = "--recipe ootomo --unit fma/f32"
FP32 = "--recipe fp32 --unit fma/f32"


def saved(a, b):
    np.save("A.npy", a)
    np.save("B.npy", b)
    return a, b


def recipe(options, model, family):
    def point():
        a, b = saved(family(M, K), family(K, N))
        return difference(gemm(options), model(a, b))
    return point


def fortran_order():
    a, b = saved(np.asfortranarray(uniform(M, K)), uniform(N, K).T)
    assert b"'fortran_order': True" in open("A.npy", "rb").read(128)
    return difference(gemm(PLAIN), plain(a, b))


def element_types():
    a, b = uniform(M, K).astype(F16), uniform(K, N)
    want = plain(a.astype(F32), b)
    for a_type, b_type in ("<f2", "<f4"), (">f2", ">f8"), ("<f8", ">f4"), (">f4", "<f8"):
        saved(a.astype(a_type), b.astype(b_type))
        found = difference(gemm(PLAIN), want)
        if found:
            return f"{a_type} times {b_type}: {found}"
    return None


def matrix_market():
    a, b = uniform(M, K), uniform(K, N)
    b[random.uniform(size=b.shape) < 0.7] = 0
    write_mtx("A.mtx", a)
    write_mtx_coordinates("B.mtx", b)
    want = plain(a, b)
    return (difference(gemm(PLAIN, "A.mtx", "B.mtx"), want)
            or difference(gemm(PLAIN, "A.mtx", "B.mtx", "D.mtx"), want))


def epilogue():
    a, b = saved(uniform(7, 11), uniform(11, 5))
    c = uniform(7, 5)
    np.save("C.npy", c)
    got = gemm(FP32 + " -c C.npy --alpha 1.5 --beta -0.75")
    return difference(got, fp32_epilogue(a, b, 1.5, -0.75, c))


def empty():
    saved(uniform(3, 0), uniform(0, 4))
    return difference(gemm(OOTOMO), np.zeros((3, 4), F32))


def metrics():
    """Errors of a GEMM against fractions, to binary64 accuracy."""
    a, b = saved(uniform(9, 21), uniform(21, 7))
    row = bitcut("gemm", "-a", "A.npy", "-b", "B.npy", "-o", "D.npy", *PLAIN.split())
    fractions = np.vectorize(lambda x: Fraction(float(x)), otypes=[object])
    d, exact = fractions(np.load("D.npy")), fractions(a) @ fractions(b)
    error, size = np.abs(d - exact), np.abs(exact)
    best = np.vectorize(rounded)(exact)
    steps = np.abs(d - fractions(best)) / fractions(np.spacing(np.abs(best)))
    backward = error / (np.abs(fractions(a)) @ np.abs(fractions(b)))
    want = {
        "relres": math.sqrt((error**2).sum() / (size**2).sum()),
        "max_error": (error / (np.abs(d) + size)).max(),
        "mred": (error / size).sum() / error.size,
        "ulp_max": steps.max(),
        "backward_max": backward.max() / Fraction(U),
    }
    for name, value in want.items():
        if not abs(row[name] - float(value)) <= 1e-12 * float(value):
            return f"{name} is {row[name]!r}, not {float(value)!r}"
    return None


# --- an error budget ----------------------------------------------------------------


def exponent_of(x):
    """floor(log2 |x|), of a fraction other than zero."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if abs(x) >= Fraction(2) ** e else e - 1


def toward_zero(x, place):
    unit = Fraction(2) ** place
    return (1 if x > 0 else -1) * (abs(x) // unit) * unit


def hopper(pairs, c):
    """One f16 instruction of Hopper's tensor cores: what it gives, and what it gave if
    nothing were cut before terms are added, and after.  All terms are cut 25 bits below
    the largest exponent, a product's being the sum of its operands', and the sum to 24."""
    terms = [(a * b, exponent_of(a) + exponent_of(b)) for a, b in pairs if a * b]
    if c:
        terms.append((c, exponent_of(c)))
    exact = sum((x for x, _ in terms), Fraction(0))
    if not terms:
        return exact, exact, exact
    place = max(e for _, e in terms) - 25
    aligned = sum((toward_zero(x, place) for x, _ in terms), Fraction(0))
    got = toward_zero(aligned, exponent_of(aligned) - 23) if aligned else aligned
    return exact, aligned, got


def nearest_in(x, bits, least):
    """To nearest, ties to even, in so many bits, or at 2^least."""
    if x == 0:
        return x
    unit = Fraction(2) ** max(exponent_of(x) - bits + 1, least)
    return round(x / unit) * unit


def two_parts(x, least):
    high = nearest_in(x, 11, least)
    return high, nearest_in((x - high) * 2048, 11, least)


def ootomo_parts(a, b):
    """The parts of the error of one output of Ootomo's method on Hopper."""
    free, real = ([[two_parts(x, least) for x in line] for line in (a, b)]
                  for least in (-400, -24))
    whole = [[[h + l / 2048 for h, l in line] for line in words] for words in (free, real)]
    total = sum(x * y for x, y in zip(a, b))
    sums = [sum(x * y for x, y in zip(*lines)) for lines in whole]
    (a_parts, b_parts), kept = real, Fraction(0)
    promoted, correction = Fraction(0), Fraction(0)
    lost = {"alignment": Fraction(0), "accumulation": Fraction(0), "promotion": Fraction(0)}
    for k in range(0, len(a), 16):
        for p, q in ((1, 0), (0, 1), (0, 0)):
            pairs = [(x[p], y[q]) for x, y in zip(a_parts[k:k + 16], b_parts[k:k + 16])]
            scale = 2048 if p + q else 1
            exact, aligned, got = hopper(pairs, correction if p + q else Fraction(0))
            kept += sum(x * y for x, y in pairs) / scale
            lost["alignment"] += (aligned - exact) / scale
            lost["accumulation"] += (got - aligned) / scale
            if p + q:
                correction = got
                continue
            now = Fraction(float(rounded(promoted + got)))
            lost["promotion"] += now - promoted - got
            promoted = now
    d = Fraction(float(rounded(promoted + correction / 2048)))
    lost["promotion"] += d - promoted - correction / 2048
    return d, {"representation": sums[0] - total, "underflow": sums[1] - sums[0],
               "saturation": 0, "dropped": kept - sums[1], **lost, "slices": 0, "epilogue": 0}


def budget():
    """Every part of the error of some outputs, to the last digit."""
    a, b = saved(uniform(M, 90), uniform(90, N))
    a[3] *= F32(2.0**-9)
    np.save("A.npy", a)
    for i, j in (0, 0), (3, 7), (36, 52):
        row = bitcut("gemm", "-a", "A.npy", "-b", "B.npy", "-o", "D.npy", "--recipe", "ootomo",
                     "--unit", "hopper/mma.m16n8k16.f32.f16", "--at", f"{i},{j}",
                     "--reference", "none")["at"]
        lines = [[Fraction(float(x)) for x in line] for line in (a[i], b[:, j])]
        d, want = ootomo_parts(*lines)
        if d != Fraction(row["d"]):
            return f"D[{i}, {j}] is {row['d']!r}, not {float(d)!r}"
        for part in row["parts"]:
            m, e = part["exact"].split("*2^")
            if int(m) * Fraction(2) ** int(e) != want[part["name"]]:
                return f"{part['name']} of [{i}, {j}]: {part['exact']}, not {want[part['name']]}"
        if sum(want.values()) != d - sum(x * y for x, y in zip(*lines)):
            return "the parts do not add up"
    return None


# --- a bound ----------------------------------------------------------------------------


def growth(v):
    return np.expm1(v)


def up(x):
    """To FP32, not below."""
    y = x.astype(F32)
    return np.where(y < x, np.nextafter(y, F32(np.inf)), y).astype(F64)


def hopper_limit(a, b):
    """What Ootomo's method may err by on Hopper, for one output: what two parts leave and
    the product of low parts that is dropped; of the main products an instruction of 16 and
    a promotion for each, but the first; of the corrections two chains in one; and a fold.
    An instruction cuts 16 terms at 2^-25 and its result at 2^-23, 10 u in all.  A part
    other than 0 aligns as the least normal number of f16 at least."""
    q = -(-len(a) // 16)
    main, correction = growth((10 + q - 1 + 1) * U), growth((2 * q * 10 + 1) * U)
    kept = []
    for x in a, b:
        high, low = (w.astype(F64) for w in halfhalf(x))
        rest = np.abs(x.astype(F64) - high - low / 2048)
        words = [np.where(w == 0, 0, np.maximum(np.abs(w), 2.0**-14)) for w in (high, low)]
        kept.append((np.abs(x.astype(F64)), rest, words[0], words[1] / 2048))
    (whole_a, rest_a, high_a, low_a), of_b = kept
    factors = (rest_a, whole_a + rest_a, main * high_a + correction * low_a,
               correction * high_a + low_a)
    scale = 2.0 ** -np.frexp(whole_a.max())[1]
    total = sum((up(x * scale) * y).sum() for x, y in zip(factors, of_b))
    return total / scale / (U * (whole_a * of_b[0]).sum())


def bound():
    """The bound `aligned` of one output, in u |A||B|, to twelve digits."""
    for n in 16, 90, 1000:
        a, b = saved(uniform(1, n), uniform(n, 1))
        rows = bitcut_rows("bound", "-a", "A.npy", "-b", "B.npy", "--recipe", "ootomo",
                           "--unit", "hopper/mma.m16n8k16.f32.f16")
        got = next(row["limit"] for row in rows if row["bound"] == "aligned")
        want = hopper_limit(a[0], b[:, 0])
        if not abs(got - want) <= 1e-12 * want:
            return f"k = {n}: {got!r}, not {want!r}"
    return None


# --- what a test should accept ----------------------------------------------------------


def backward(d, a, b):
    """The largest |D - A B| / |A||B|, in u."""
    fractions = np.vectorize(lambda x: Fraction(float(x)), otypes=[object])
    x, y = fractions(a), fractions(b)
    return float((abs(fractions(d) - x @ y) / (abs(x) @ abs(y))).max() / Fraction(U))


def accepts(lines, names):
    """Whether no line asserts in vain."""
    try:
        exec("\n".join(lines), dict(names))
    except AssertionError:
        return False
    return True


def wrong_results(d, limit):
    """D with one output off by more than the limit, with a NaN, and moved by a row."""
    for value in d[1, 2] + 2 * limit[1, 2] + 1e-30, np.nan:
        x = d.copy()
        x[1, 2] = value
        yield x
    yield np.roll(d, 1, 0)


def lines_of(options, values, size):
    """The lines of both kinds accept D and reject wrong ones."""
    row = bitcut("tolerance", "--seeds", "20", "--power", "0", *options.split())
    for key, limit in ("numpy", "limit"), ("numpy_bound", "bound"):
        if not accepts(row[key], values):
            return f"{key} rejects D"
        wide = (row["componentwise"][limit] + row["underflow"]) * U * 1.1 * size
        for number, d in enumerate(wrong_results(values["D"], wide)):
            if accepts(row[key], {**values, "D": d}):
                return f"{key} accepts wrong D {number}"
    return None


def tolerances():
    """The lines that `tolerance` prints, run as they stand."""
    a, b = saved(uniform(20, 70), uniform(70, 30))
    c = uniform(20, 30)
    np.save("C.npy", c)
    options = "--recipe ootomo --unit h100 -a A.npy -b B.npy"
    d, size = gemm("--recipe ootomo --unit h100"), abs(a) @ abs(b)
    row = bitcut("tolerance", "--seeds", "5", "--power", "0", *options.split())
    if not backward(d, a, b) * (1 - 1e-9) <= row["componentwise"]["max"]:
        return f"D errs by {backward(d, a, b)!r} u, of runs {row['componentwise']['max']!r}"
    found = lines_of(options, {"np": np, "A": a, "B": b, "D": d}, size)
    update = " -c C.npy --alpha -1.5 --beta 0.75"
    d = gemm("--recipe ootomo --unit h100" + update)
    found = found or lines_of(options + update, {"np": np, "A": a, "B": b, "C": c, "D": d},
                              1.5 * size + 0.75 * abs(c))
    other = gemm("--recipe ootomo --unit h100 --split-k 3")
    d = gemm("--recipe ootomo --unit h100")
    found = found or lines_of(options + " --reference kernel --order any",
                              {"np": np, "A": a, "B": b, "D": d, "D2": other}, size)
    saved(a * F32(2.0**-22), b)
    d = gemm("--recipe ootomo --unit h100")
    return found or lines_of(options, {"np": np, "A": a * F32(2.0**-22), "B": b, "D": d},
                             size * 2.0**-22)


def fp64_tests():
    """The lines for FP64 GEMMs by schemes: they compute D - C exactly, accept D of the scheme, and reject
    another output, a D with a slice less, and a D in FP32."""
    rng = np.random.default_rng(5)
    a, b, c = (rng.uniform(-1, 1, shape) for shape in ((9, 130), (130, 7), (9, 7)))
    for name, x in ("A", a), ("B", b), ("C", c):
        np.save(name + ".npy", x)
    for scheme, fewer in ("fp64 --unit fma/f64", None), ("ozimmu --parts 8", 7), ("cublas-fixed", 6), \
                         ("gemmul8", 13), ("ozimmu-ef --parts 8 --alpha 0.3 --beta -2 -c C.npy", 7):
        chip = "" if "unit" in scheme else " --unit h100"
        options = f"--scheme {scheme}{chip} -a A.npy -b B.npy"
        alpha, beta = (0.3, -2.0) if "alpha" in scheme else (1.0, 0.0)
        bitcut("gemm", *options.split(), "-o", "D.npy")
        d = np.load("D.npy")
        size = abs(alpha) * (abs(a) @ abs(b)) + abs(beta * c)
        row = bitcut("tolerance", "--seeds", "12", *options.split())
        for key, limit in ("numpy", "limit"), ("numpy_bound", "bound"):
            values = {"np": np, "A": a, "B": b, "C": c, "D": d}
            if not accepts(row[key], values):
                return f"{scheme}: {key} rejects D"
            wide = (row["componentwise"][limit] + 1) * 2.0**-53 * 1.1 * size
            for number, wrong in enumerate(wrong_results(d, wide)):
                if accepts(row[key], {**values, "D": wrong}):
                    return f"{scheme}: {key} accepts wrong D {number}"
        if accepts(row["numpy"], {**values, "D": d.astype("f4").astype("f8")}):
            return f"{scheme}: the lines accept FP32"
        if fewer is not None:
            bitcut("gemm", *options.replace("--parts 8", "").split(), "--parts", str(fewer), "-o", "E.npy")
            if accepts(row["numpy"], {**values, "D": np.load("E.npy")}):
                return f"{scheme}: the lines accept {fewer} parts"
        scope = dict(values)
        exec("\n".join(line for line in row["numpy"] if not line.startswith("assert")), scope)
        fractions = np.vectorize(lambda x: Fraction(float(x)), otypes=[object])
        exact = Fraction(alpha) * (fractions(a) @ fractions(b)) + Fraction(beta) * fractions(c)
        worst = abs(fractions(scope["error"]) - (fractions(d) - exact)) / fractions(size)
        own = 2.0**-53 if alpha != 1 else 2.0**-100
        if float(worst.max()) > own:
            return f"{scheme}: the error is {float(worst.max())!r} |A||B| off"
    return None


def c_of_fp64():
    """The function in C accepts D of the scheme and rejects a D with a slice less."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return None
    rng = np.random.default_rng(6)
    a, b, c = (rng.uniform(-1, 1, shape) for shape in ((9, 130), (130, 7), (9, 7)))
    for name, x in ("A", a), ("B", b), ("C", c):
        np.save(name + ".npy", x)
    for more in "", " -c C.npy --alpha 0.3 --beta -2":
        options = ("--scheme ozimmu-h --unit h100 -a A.npy -b B.npy" + more).split()
        row = bitcut("tolerance", "--seeds", "12", *options)
        with open("test.c", "w") as f:
            f.write("\n".join(row["c"]) + "\n")
        subprocess.run([compiler, "-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall",
                        "-Werror", "test.c", "-lm", "-o", f"./test{len(more)}.so"], check=True)
        function = ctypes.CDLL(f"./test{len(more)}.so").gemm_is_accepted
        function.restype = ctypes.c_bool
        for parts, wanted in (8, True), (7, False):
            bitcut("gemm", *options, "--parts", str(parts), "-o", "D.npy")
            arrays = [np.load("D.npy"), a, b] + ([c] if more else [])
            given = [x.ctypes.data_as(ctypes.c_void_p) for x in arrays]
            sizes = [ctypes.c_size_t(x) for x in (9, 7, 130)]
            if function(*given, *sizes) != wanted:
                return f"{parts} slices{more}: accepted is {not wanted}"
    return None


def spread(x, lines, depth, shape):
    """Factors of blocks, one for each element of a matrix of this shape."""
    return np.kron(x.astype(F64), np.ones((lines, depth)))[:shape[0], :shape[1]]


def steps():
    """The lines for a bias, factors and steps accept D of the emulator, and reject it with an
    output off by more than the limit, the half ulp of D included; for NumPy, and for PyTorch if
    it is here."""
    try:
        import torch
    except ImportError:
        torch = None
    a, b = saved(*(uniform(*x).astype("f2").astype(F32) for x in ((20, 70), (70, 30))))
    extra = {"C": uniform(20, 30), "bias": uniform(1, 30), "column": uniform(20, 1),
             "rows": np.exp2(uniform(20, 1)), "columns": np.exp2(uniform(1, 30)),
             "sa": np.exp2(uniform(20, 3)), "sb": np.exp2(uniform(3, 2))}
    for name, x in extra.items():
        np.save(name + ".npy", x.astype("f4"))
    x = {name: np.load(name + ".npy").astype(F64) for name in extra}
    wide_a, wide_b = a.astype(F64), b.astype(F64)
    scaled = wide_a * spread(x["sa"], 1, 32, a.shape), wide_b * spread(x["sb"], 32, 16, b.shape)
    p, size = wide_a @ wide_b, abs(wide_a) @ abs(wide_b)
    factors = x["rows"] * x["columns"]
    cases = [  # options, names of arrays, D exactly, magnitudes
        ("--bias bias.npy", {"bias": "bias"}, p + x["bias"], size + abs(x["bias"])),
        ("--bias column.npy --bias-rows --epilogue fused-relu --alpha -0.5", {"bias": "column"},
         np.maximum(-p / 2 + x["column"], 0), size / 2 + abs(x["column"])),
        ("--scale-a rows.npy --scale-b columns.npy --bias bias.npy", {"bias": "bias",
         "scale_a": "rows", "scale_b": "columns"}, p * factors + x["bias"],
         size * factors + abs(x["bias"])),
        ("--scale-a sa.npy --scale-b sb.npy --block-a 1x32 --block-b 16x32 --scaling promoted "
         "--promote 2", {"scale_a": "sa", "scale_b": "sb"}, scaled[0] @ scaled[1],
         abs(scaled[0]) @ abs(scaled[1])),
        ("--epilogue addmm-apart --alpha 0.75 -c C.npy --beta -1.5", {"C": "C"},
         0.75 * p - 1.5 * x["C"], 0.75 * size + 1.5 * abs(x["C"])),
        ("--start c -c C.npy --beta 2 --epilogue alpha+clamp+scale-d --alpha 0.5 --clamp -1,3 "
         "--scale-d 4", {"C": "C"}, 4 * np.clip((p + 2 * x["C"]) / 2, -1, 3),
         2 * size + 4 * abs(x["C"])),
    ]
    for options, names, exact, magnitude in cases:
        for short in "", " --format-d f16":
            text = f"--recipe plain --unit hopper/mma.m16n8k16.f32.f16 {options}{short}"
            files = text + " -a A.npy -b B.npy"
            d = gemm(text)
            row = bitcut("tolerance", "--seeds", "20", "--power", "0", *files.split())
            if not row["numpy"] or not row["numpy_bound"]:
                return f"{options}: no lines"
            values = {"A": a, "B": b, "D": d, **{k: np.load(v + ".npy") for k, v in names.items()}}
            limit = (row["componentwise"]["limit"] + row["underflow"]) * U * 1.1 * magnitude
            half = abs(exact) * 2.0**-10 + 2.0**-25 if short else 0
            wrong = d.copy()
            wrong[1, 2] = exact[1, 2] + (2 * limit + half)[1, 2]
            for key, module, of in (("numpy", np, lambda x: x),
                                    ("torch", torch, lambda x: torch.tensor(x))):
                for lines in (row[key], row[key + "_bound"]) if module else ():
                    given = {"np": np, "torch": torch, **{k: of(v) for k, v in values.items()}}
                    if not accepts(lines, given):
                        return f"{key}, {text}: D is rejected"
                    if lines is row[key] and accepts(lines, {**given, "D": of(wrong)}):
                        return f"{key}, {text}: wrong D is accepted"
                    if accepts(lines, {**given, "D": of(np.roll(d, 1, 0))}):
                        return f"{key}, {text}: D moved by a row is accepted"
    return None


def tensors():
    """The same lines for PyTorch, if it is here."""
    try:
        import torch
    except ImportError:
        return None
    a, b = saved(uniform(20, 70), uniform(70, 30))
    row = bitcut("tolerance", "--seeds", "20", "--power", "0", *OOTOMO.split(), "-a", "A.npy",
                 "-b", "B.npy")
    d = gemm(OOTOMO)
    names = {"torch": torch, "A": torch.tensor(a), "B": torch.tensor(b)}
    if not accepts(row["torch"] + row["torch_bound"], {**names, "D": torch.tensor(d)}):
        return "D is rejected"
    d[3, 3] += 1e-3
    return "wrong D is accepted" if accepts(row["torch_bound"],
                                            {**names, "D": torch.tensor(d)}) else None


POINTS = [
    ("plain, one f16 part", recipe(PLAIN, plain, uniform)),
    ("plain, beyond the range of f16", recipe(PLAIN, plain, wide)),
    ("ootomo, two f16 parts", recipe(OOTOMO, ootomo, uniform)),
    ("fp32", recipe(FP32, fp32, uniform)),
    ("Fortran order", fortran_order),
    ("element types and byte orders", element_types),
    ("Matrix Market files", matrix_market),
    ("alpha and beta", epilogue),
    ("an inner dimension of 0", empty),
    ("metrics", metrics),
    ("a budget of Ootomo's method on Hopper, in fractions", budget),
    ("a bound of the same", bound),
    ("tests that tolerance writes", tolerances),
    ("tests of FP64 that tolerance writes", fp64_tests),
    ("tests of FP64 in C", c_of_fp64),
    ("the same for PyTorch", tensors),
    ("the same for a bias, factors and steps", steps),
]


def main():
    np.seterr(all="ignore")
    print(f"1..{len(POINTS)}")
    for number, (name, point) in enumerate(POINTS, 1):
        try:
            found = point()
        except (AssertionError, subprocess.CalledProcessError) as error:
            found = repr(error)
        print("not ok" if found else "ok", number, "-", name)
        if found:
            print("#", found)


main()
