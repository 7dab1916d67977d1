/* bitcut: bit-exact models of GPU matrix units, the FP32 GEMM recipes that run on them,
   and exact references.

   Numbers travel as encodings: unsigned integers holding the bits of a format.  Every
   function gives the same bits on any host, for any number of threads and whatever
   rounding mode or flush-to-zero setting its caller has.  Rows are opaque and constant;
   pointers to them stay valid for the life of the program.  The library never prints,
   exits, or keeps state. */
#ifndef BITCUT_H
#define BITCUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, as "0.1.0". */
const char *bitcut_version(void);

/* Why a call failed. */
enum bitcut_status {
    BITCUT_OK,
    BITCUT_BAD_ARGUMENT, /* shapes, counts or names that do not fit together */
    BITCUT_BAD_FILE,     /* a file that is not what it should be             */
    BITCUT_CANNOT,       /* a file or device that cannot be used             */
    BITCUT_NO_MEMORY
};

/* One line of English for a status. */
const char *bitcut_status_text(enum bitcut_status status);

/* --- tables ----------------------------------------------------------------------- */

struct bitcut_format;   /* f16, bf16, tf32, e4m3, f32, ...       */
struct bitcut_rounding; /* rn, rna, rz, ru, rd, odd, cut, ...    */
struct bitcut_split;    /* markidis, halfhalf, bitcut, ...       */
struct bitcut_recipe;   /* plain, ootomo, legemm, ...            */
struct bitcut_unit;     /* hopper/mma.m16n8k16.f32.f16, ...      */

/* The row of that name, or NULL.  `bitcut list` prints the names. */
const struct bitcut_format *bitcut_format_find(const char *name);
const struct bitcut_rounding *bitcut_rounding_find(const char *name);
const struct bitcut_split *bitcut_split_find(const char *name);
const struct bitcut_recipe *bitcut_recipe_find(const char *name);

/* The unit of that name; or, for a chip (a100, h100, mi210, ...), its first instruction
   for operands of `input` with an f32 accumulator; fma/f32 for f32 operands on a chip
   without one.  NULL if there is none. */
const struct bitcut_unit *bitcut_unit_find(const char *name,
                                           const struct bitcut_format *input);

/* The full name of a unit, as `bitcut list units` prints it. */
const char *bitcut_unit_name(const struct bitcut_unit *unit);

/* The shape of the instruction: A is m x k, B k x n. */
void bitcut_unit_shape(int *m, int *n, int *k, const struct bitcut_unit *unit);

/* --- numbers ---------------------------------------------------------------------- */

/* The encoding in `to` of the value that `encoding` has in `from`, rounded once.  NaN
   gives the quiet NaN of `to`; infinities and overflow give what the rounding rule says
   (a format without infinity gives its NaN, without NaN its largest value).  `to` must
   have a sign bit.  IEEE 754-2019 section 5.4.2. */
uint64_t bitcut_format_convert(const struct bitcut_format *to,
                               const struct bitcut_rounding *rounding,
                               const struct bitcut_format *from, uint64_t encoding);

/* The words of the FP32 encoding x under a split, high word first; returns how many (1 to
   3).  Word i carries 2^(i s), s the split's scale. */
int bitcut_split_apply(uint64_t word[3], const struct bitcut_split *split, uint32_t x);

/* The four 32-bit outputs of Philox 4x32-10 (Salmon et al., SC'11) for a counter and key:
   the generator behind every input family. */
void bitcut_philox(uint32_t output[4], const uint32_t counter[4], const uint32_t key[2]);

/* --- matrix units and GEMMs ------------------------------------------------------- */

/* A batch of fragments: D[f] = A[f] B[f] + C[f] for f < count, to the bit of the unit.
   Arrays hold one encoding an element, row-major: A[count][m][k], B[count][k][n],
   C and D[count][m][n], k that of the instruction, m and n any.  D may be C.
   BITCUT_BAD_ARGUMENT: k is not the instruction's, the unit needs block scales,
   threads is negative, or an encoding has bits outside its format. */
enum bitcut_status bitcut_mma(uint64_t *d, const struct bitcut_unit *unit, size_t count,
                              size_t m, size_t n, size_t k, const uint64_t *a,
                              const uint64_t *b, const uint64_t *c, int threads);

/* D = alpha A B + beta C by a recipe on a unit: every bit that a kernel following the
   recipe gives on that unit.  FP32 encodings, row-major with leading dimensions >= the
   row length: A is m x k, B k x n, C and D m x n.  beta = +-0 never reads C, which may
   then be NULL; D may be C.  threads = 0 uses all processors.  Any m, n, k including 0.
   BITCUT_BAD_ARGUMENT: a leading dimension is too small, threads is negative, or the
   unit's operands do not hold the split's words; BITCUT_NO_MEMORY.  The environment
   variable BITCUT_SIMD may be avx512, avx2, plain or none (the level changes no bit);
   another value is BITCUT_BAD_ARGUMENT, a level that the processor lacks BITCUT_CANNOT.  D is unchanged unless BITCUT_OK comes back. */
enum bitcut_status bitcut_gemm(uint32_t *d, size_t ldd,
                               const struct bitcut_recipe *recipe,
                               const struct bitcut_unit *unit, size_t m, size_t n,
                               size_t k, uint32_t alpha, const uint32_t *a, size_t lda,
                               const uint32_t *b, size_t ldb, uint32_t beta,
                               const uint32_t *c, size_t ldc, int threads);

/* C = A B exactly, then rounded once, to nearest even: to FP32 in `c32` and to binary64
   in `c64` (either may be NULL).  FP32 encodings, row-major and without gaps: A is m x k,
   B k x n, C m x n.  NaN and infinities as in IEEE 754 with any order of the sum: NaN if
   any term is NaN or infinities of both signs meet, as 0x7fc00000 and 0x7ff8000000000000.
   A zero sum is +0 unless every term is a negative zero.  threads = 0 uses all
   processors. A negative count of threads is as 0.
   BITCUT_NO_MEMORY is the only failure. */
enum bitcut_status bitcut_exact_gemm(uint32_t *c32, uint64_t *c64, size_t m, size_t n,
                                     size_t k, const uint32_t *a, const uint32_t *b,
                                     int threads);

#ifdef __cplusplus
}
#endif

#endif
