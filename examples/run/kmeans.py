"""K-means, LE-GEMM's application: of scikit-learn, which takes the mean off the data first
and computes distances by a GEMM, and the same in a few lines of NumPy, which takes nothing
off.  Labels are compared with those of the same program in FP64, from the same centres:
after one pass, where only the distances count, and at the end."""
import warnings

import numpy as np
from sklearn.cluster import KMeans

from say import say

warnings.filterwarnings('ignore')
points, features, clusters, passes = 8000, 64, 24, 100
random = np.random.default_rng(1)
means = random.normal(0, 0.35, (clusters, features))
data = means[random.integers(clusters, size=points)] + random.normal(0, 1, (points, features))
data += 20  # far from the origin: distances are differences of large numbers
data = data.astype(np.float32)
start = data[:clusters].copy()


def by_sklearn(x, passes):
    fit = KMeans(clusters, init=start.astype(x.dtype), n_init=1, max_iter=passes, tol=0,
                 algorithm='lloyd').fit(x)
    return fit.labels_, fit.n_iter_


def by_numpy(x, passes):
    centre, labels = start.astype(x.dtype), None
    for i in range(passes):
        far = (x * x).sum(1)[:, None] - 2 * (x @ centre.T) + (centre * centre).sum(1)
        last, labels = labels, far.argmin(1)
        if last is not None and (labels == last).all():
            break
        for c in range(clusters):
            if (labels == c).any():
                centre[c] = x[labels == c].mean(0)
    return labels, i + 1


def inertia(labels):
    x = data.astype(float)
    return sum(((x[labels == c] - x[labels == c].mean(0)) ** 2).sum()
               for c in range(clusters) if (labels == c).any())


for case, fit in ('sklearn', by_sklearn), ('numpy', by_numpy):
    first, _ = fit(data, 1)
    labels, used = fit(data, passes)
    exact_first, _ = fit(data.astype(float), 1)
    exact, _ = fit(data.astype(float), passes)
    say(case, labels.astype(np.int32), first=(first != exact_first).sum(),
        labels=(labels != exact).sum(), passes=used, inertia=inertia(labels),
        inertia_fp64=inertia(exact))

# SPDX-License-Identifier: BSD-3-Clause
