/* SPDX-License-Identifier: BSD-3-Clause */
/* Schemes: FP64 GEMMs composed of products of short numbers, one row for each.

   A scheme cuts the elements of A and B into parts, multiplies parts on a matrix unit,
   and adds these products in FP64.  A product of parts is a GEMM of the recipe "plain" on
   the unit.  All other operations are in FP64, rounded to nearest even, with the NaN of
   the unit fma/f64. */
#ifndef BITCUT_EMU_FP64_SCHEME_H
#define BITCUT_EMU_FP64_SCHEME_H

#include "emu/fp64/cut.h"
#include "emu/gemm.h"

struct fp64_job;

enum { FP64_TILE_K = 128 };

/* A row of the table of schemes. */
struct bitcut_scheme {
    const char *name, *what;
    const struct bitcut_format *part; /* format of the parts; f64: elements are not cut */
    int parts, least, most; /* number of parts of an element: by default, and limits    */
    const struct cut *cut;  /* how elements are cut into slices; NULL: they are not     */
    bool groups; /* whether products of one weight are first added in s32, as many as fit
                  */
    bool levels; /* whether all products of one weight are first added, modulo 2^32     */
    size_t window; /* with `levels`: the most k of the products that are added together,
                      if each has the k of the shortest slice of k, in whole tiles of
                      FP64_TILE_K; slices of A are taken in descending order for an even
                      i + j from 0, else ascending; 0: all products are              */
    bool backward; /* whether weights are added from the smallest one on, each of them
                      multiplied by alpha: D = alpha sum + D, rounded once, where the
                      first D is beta C, rounded                                        */
    bool finite; /* whether a GEMM with an infinite or NaN element is computed as fp64  */

    /* The number of slices into which the library cuts k; NULL: it does not cut k. */
    size_t (*slices)(size_t m, size_t n, size_t k);

    /* The bits that the data need.  N parts have 8 N - 1 bits; the number of parts is the
       least that has enough.  If the most parts have too few, the GEMM is computed as
       fp64.  NULL: the caller chooses the number of parts. */
    bool (*bits)(int *bits, const double *a, size_t m, const double *b, size_t n,
                 size_t k, int threads);

    /* D for the complete sum v of an output, unless the scheme is `backward`.  c is +0 if
       beta is +-0. */
    double (*update)(double alpha, double v, double beta, double c);
    enum bitcut_status (*run)(const struct fp64_job *job, struct fault *f);
    const char *source;
};

extern const struct bitcut_scheme schemes[]; /* ended by a row whose name is NULL */

/* One FP64 GEMM while it runs: D = alpha A B + beta C. */
struct fp64_job {
    const struct bitcut_scheme *scheme;
    const struct bitcut_unit *unit;
    int parts;
    size_t m, n, k;
    size_t shortest; /* the k of the shortest slice of k, in whole tiles; 0: k is whole */
    double alpha, beta;
    const double *a, *b; /* the rows of A and the columns of B, k elements each */
    bool a_apart,
        b_apart;         /* whether elements of a line are apart in the caller's memory */
    const double *c;     /* m x n; NULL: not read                               */
    double *d;           /* m x n                                               */
    const struct gemm_options *options;
};

/* The functions of the rows.  They write A B to job->d, or alpha A B + beta C if the
   scheme is `backward`. */
enum bitcut_status fp64_run_chain(const struct fp64_job *job, struct fault *f);
enum bitcut_status fp64_run_slices(const struct fp64_job *job, struct fault *f);
enum bitcut_status fp64_run_residues(const struct fp64_job *job, struct fault *f);
enum bitcut_status fp64_run_residues_fast(const struct fp64_job *job, struct fault *f);

/* The width of the digits of A and of B in a scheme by slices.  BITCUT_BAD_ARGUMENT: sums
   of k products do not fit. */
enum bitcut_status fp64_widths(int width[2], const struct fp64_job *job, struct fault *f);

/* Whether no element is infinite or NaN. */
bool fp64_all_finite(const double *x, size_t count);

/* The slice of A in product `index` of the products with i + j = `level`, all counted
   from 0, in the order in which they are added. */
int fp64_slice_of(const struct bitcut_scheme *s, int level, int index);

/* The number of products that are added before one addition in FP64. */
size_t fp64_group(const struct fp64_job *job, const int width[2]);

/* The number of FP64 additions of an output in a scheme by slices. */
size_t fp64_additions(const struct fp64_job *job, const int width[2]);

/* Whether all sums of products of digits are exact on the unit: they are integers that
   its accumulator represents, and no bit of them is cut. */
bool fp64_sums_are_exact(const struct fp64_job *job, const int width[2]);

/* The exponents of the powers of two by which a scheme by residues multiplies the rows of
   A and the columns of B, and the integer range of a product: all of them are in [-limit,
   limit].  Products of gemmul8-fast may exceed it. */
enum bitcut_status fp64_shifts(int *row, int *col, double *limit,
                               const struct fp64_job *job, struct fault *f);

/* Whether an output depends on its row and column alone: scales by residues, and a number
   of parts that is chosen for the data, depend on all of them. */
static inline bool fp64_samples_lines(const struct bitcut_scheme *s)
{
    return (s->cut && !s->bits) || s->part == &formats[FORMAT_F64];
}

/* The functions `update` of the rows: fma(beta, c, rn(alpha v)), or rn(alpha v) if beta
   is +-0; the same, but fma(0, c, rn(alpha v)) if beta is +-0 and alpha is not 1 or -1; and
   fma(alpha, v, rn(beta c)). */
double fp64_update(double alpha, double v, double beta, double c);
double fp64_update_adding(double alpha, double v, double beta, double c);
double fp64_update_fused(double alpha, double v, double beta, double c);

/* Of a scheme by residues: modulus i, and the bits of the two's complement integers that
   hold scaled elements for this number of moduli, 0 if none overflow. */
int fp64_modulus(int i);
int fp64_integer_bits(int parts);

/* Multiply parts on the unit: m rows of A by n columns of B, k integers each, which the
   format of the parts represents.  `to` has the sums as the unit gives them.  Sums of
   integer units are exact modulo 2^32. */
enum bitcut_status fp64_multiply(double *to, const struct fp64_job *job, const int16_t *a,
                                 const int16_t *b, struct fault *f);

/* a b + c and a b, rounded once.  The caller is under hostfp_enter(). */
double fp64_fma(double a, double b, double c);
static inline double fp64_product(double a, double b) { return fp64_fma(a, b, -0.0); }

#endif
