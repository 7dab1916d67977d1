# R multiplies in FP64: %*% is DGEMM, which is only counted.  Base R reaches SGEMM all the
# same, by .Fortran, with numbers that as.single() marks, in the library that has BLAS's
# names: under `bitcut run` that is bitcut's.
set.seed(1)
n <- 300L
a <- matrix(runif(n * n, -1, 1), n)
b <- matrix(runif(n * n, -1, 1), n)
d <- a %*% b
invisible(dyn.load(extSoftVersion()[["BLAS"]]))
single <- suppressWarnings(.Fortran("sgemm", "N", "N", n, n, n, as.single(1), as.single(a), n,
                                    as.single(b), n, as.single(0), single(n * n), n))[[12]]
file <- tempfile()
writeBin(as.vector(single), file, size = 4)
cat(sprintf('{"case": "sgemm", "relres": %.17g, "digest": "%s"}\n',
            sqrt(sum((single - d)^2) / sum(d^2)),
            substr(tools::md5sum(file), 1, 16)))

# SPDX-License-Identifier: BSD-3-Clause
