/* bitcut: bit-exact models of GPU matrix units, the FP32 GEMM recipes that run on them,
   and exact references.

   Numbers travel as encodings: unsigned integers holding the bits of a format.  Every
   function gives the same bits on any host, for any number of threads and whatever
   rounding mode or flush-to-zero setting its caller has.  Rows are opaque and constant;
   pointers to them stay valid for the life of the program.  The library never prints,
   exits, or keeps state.

   A function that cannot have its memory returns BITCUT_NO_MEMORY; one without a status
   needs none.  None allocates through GMP or MPFR, which would abort.  But those with an
   argument `threads` run on OpenMP: if its runtime lacks memory of its own, or cannot
   start a thread, it ends the process (GCC's prints a line and calls exit(1)).

   A call that returns a status refuses what it can see, with BITCUT_BAD_ARGUMENT: NULL
   for a row, or for an array or a place that it reads or writes; and arrays of more bytes
   than a size_t counts.  An array of no elements may be NULL.  Undefined are: NULL where
   a call returns no status, but for names; pointers to anything but what is asked for;
   arrays with less in them than the sizes say, or misaligned; names without their final
   0; and arrays written that overlap others, where their call does not say they may. */
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

/* The row of that name, or NULL; of NULL, NULL.  `bitcut list` prints the names. */
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

/* --- walking tables --------------------------------------------------------------- */

/* Every table of the library as `bitcut list` prints it: its rows, of each its name, its
   purpose and its fields.  `bitcut list` has more tables, which are the program's. */
struct bitcut_table; /* units, chips, formats, roundings, splits, recipes, ... */

/* The table after `table`, or the first for NULL; NULL after the last. */
const struct bitcut_table *bitcut_table_next(const struct bitcut_table *table);

/* The table of that name, or NULL; of NULL, NULL. */
const struct bitcut_table *bitcut_table_find(const char *name);

/* Its name, and one line on what its rows are. */
const char *bitcut_table_name(const struct bitcut_table *table);
const char *bitcut_table_what(const struct bitcut_table *table);

/* The row after `row`, a row of that table, or the first for NULL; NULL after the last.  A
   row of "formats" is a struct bitcut_format, one of "roundings", "splits", "recipes" and
   "units" what it is called as well. */
const void *bitcut_row_next(const struct bitcut_table *table, const void *row);

/* Its name, and one line on what it is. */
const char *bitcut_row_name(const void *row);
const char *bitcut_row_what(const void *row);

/* What the text of a field is. */
enum bitcut_kind {
    BITCUT_NULL,    /* empty: the row has no such field           */
    BITCUT_BOOL,    /* true or false                              */
    BITCUT_NUMBER,  /* an integer, or a real with a '.' or an 'e' */
    BITCUT_TEXT,    /* itself                                     */
    BITCUT_NUMBERS, /* a line for each, ended by '\n'             */
    BITCUT_TEXTS    /* likewise                                   */
};

enum { BITCUT_FIELD_MOST = 1024 }; /* room for the text of any field, with its 0 */

struct bitcut_field {
    const char *name; /* valid for the life of the program */
    enum bitcut_kind kind;
    char text[BITCUT_FIELD_MOST]; /* the same in any locale */
};

/* The field of a row at `index`, counted from 0: the same names in the same order for all
   rows of a table.  False, and *field is as it was, if there are no more. */
bool bitcut_row_field(struct bitcut_field *field, const struct bitcut_table *table,
                      const void *row, size_t index);

/* --- numbers ---------------------------------------------------------------------- */

/* The encoding in `to` of the value that `encoding` has in `from`, whose bits above those
   of the format do not matter, rounded once.  NaN gives the quiet NaN of `to`; infinities
   and overflow give what the rounding rule says (a format without infinity gives its NaN,
   without NaN its largest value).  A format without a sign, ue8m0 or ue4m3, gives its NaN
   for what is below zero, and +0 for -0; ue8m0, which has no zero, 2^-127 for what is
   rounded to it.  IEEE 754-2019 section 5.4.2, and 4.3.1 for a tie between powers of two,
   which goes to the larger. */
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
   BITCUT_BAD_ARGUMENT also if k is not the instruction's, the unit needs block scales,
   threads is negative, or an encoding has bits outside its format. */
enum bitcut_status bitcut_mma(uint64_t *d, const struct bitcut_unit *unit, size_t count,
                              size_t m, size_t n, size_t k, const uint64_t *a,
                              const uint64_t *b, const uint64_t *c, int threads);

/* D = alpha A B + beta C by a recipe on a unit: every bit that a kernel following the
   recipe gives on that unit.  FP32 encodings, row-major with leading dimensions >= the
   row length: A is m x k, B k x n, C and D m x n.  beta = +-0 never reads C, which may
   then be NULL; D may be C.  threads = 0 uses all processors.  Any m, n, k including 0.
   BITCUT_BAD_ARGUMENT also if a leading dimension is too small, threads is negative, or
   the unit's operands do not hold the split's words; BITCUT_NO_MEMORY.  The environment
   variable BITCUT_SIMD may be avx512, avx2, plain or none (the level changes no bit);
   another value is BITCUT_BAD_ARGUMENT, a level that the processor lacks BITCUT_CANNOT. D
   is unchanged unless BITCUT_OK comes back. */
enum bitcut_status bitcut_gemm(uint32_t *d, size_t ldd,
                               const struct bitcut_recipe *recipe,
                               const struct bitcut_unit *unit, size_t m, size_t n,
                               size_t k, uint32_t alpha, const uint32_t *a, size_t lda,
                               const uint32_t *b, size_t ldb, uint32_t beta,
                               const uint32_t *c, size_t ldc, int threads);

/* The same with equilibrated operands, for any values of FP32.  Before the split, each
   row of A and column of B is multiplied by the power of two 2^r that puts its largest
   finite magnitude into [2^14, 2^15), or into the binade before the last one of the
   split's format if that is lower: exactly, or rounded to nearest where the product is
   below 2^-126. r = 0 for a row or column without finite values other than zeros.  Before
   alpha, the output is multiplied by 2^-(r + r') of its row and its column and rounded
   once, to nearest, with subnormals and infinity.  No word of a finite value overflows,
   and no sum of them does.  BITCUT_BAD_ARGUMENT also if the unit accumulates in f16. */
enum bitcut_status bitcut_gemm_equilibrated(
    uint32_t *d, size_t ldd, const struct bitcut_recipe *recipe,
    const struct bitcut_unit *unit, size_t m, size_t n, size_t k, uint32_t alpha,
    const uint32_t *a, size_t lda, const uint32_t *b, size_t ldb, uint32_t beta,
    const uint32_t *c, size_t ldc, int threads);

/* C = A B exactly, then rounded once, to nearest even: to FP32 in `c32` and to binary64
   in `c64` (either may be NULL).  FP32 encodings, row-major and without gaps: A is m x k,
   B k x n, C m x n.  NaN and infinities as in IEEE 754 with any order of the sum: NaN if
   any term is NaN or infinities of both signs meet, as 0x7fc00000 and 0x7ff8000000000000.
   A zero sum is +0 unless every term is a negative zero.  threads = 0 uses all
   processors. A negative count of threads is as 0.
   BITCUT_BAD_ARGUMENT also if k is above 2^46 and C has elements; BITCUT_NO_MEMORY. */
enum bitcut_status bitcut_exact_gemm(uint32_t *c32, uint64_t *c64, size_t m, size_t n,
                                     size_t k, const uint32_t *a, const uint32_t *b,
                                     int threads);

/* --- GEMMs on a GPU --------------------------------------------------------------- */

/* The kernels of the CUDA module, and the device that runs them: the first that the
   system shows.  Threads may share one. */
struct bitcut_cuda;

/* Room for a name, or for the line that says why a call failed, with its 0.  Such an
   array is the last argument of every call here that can fail; it is written only then,
   and may be NULL. */
enum { BITCUT_TEXT_MOST = 240 };

/* Open the module bitcut-cuda.so in the folder that the environment variable
   BITCUT_MODULES names, or else where `make install` puts it.  *cuda is set only on
   success; bitcut_cuda_close() ends it, but not GEMMs that still run.  BITCUT_CANNOT:
   there is no module, it is of another version, or there is no device that it knows. */
enum bitcut_status bitcut_cuda_open(struct bitcut_cuda **cuda, char *why);
void bitcut_cuda_close(struct bitcut_cuda *cuda); /* or NULL */

/* The device, as its maker calls it. */
const char *bitcut_cuda_device(const struct bitcut_cuda *cuda);

/* An operand of a GEMM, in the device's memory: FP32 values, or else words prepared from
   them. */
struct bitcut_cuda_operand {
    const void *at;      /* row-major, aligned to 4 bytes                             */
    size_t ld;           /* elements from one row in memory to the next               */
    bool transposed;     /* those rows are the columns of the matrix                  */
    size_t stride;       /* in a batch: elements from one matrix to the next          */
    const void *words;   /* NULL; or what bitcut_gemm_cuda_prepare() wrote, and then
                            nothing above is read                                     */
    size_t words_stride; /* in a batch: bytes between them, a multiple of 256         */
};

/* D = alpha A B + beta C; a field left zero has its default, but sizes, alpha and beta
   are what they are.  A is m x k, B k x n, C and D m x n, any sizes including 0; leading
   dimensions >= the row length in memory.  A column-major matrix is a transposed
   row-major one; for column-major C and D ask for D^T = B^T A^T, a GEMM with its own
   order of terms and so perhaps other bits.

   The first kernel in the order of `bitcut list kernels` that does what the recipe's row
   says, takes the split, slices and sizes, and runs on the device fixes the unit, and so
   the bits.  Of those with these bits the one is taken whose tile suits the sizes and the
   device best (the manual, "Tile model").  A recipe without such a kernel is an error.
   The unit may be another on another device, so name the kernel where bits must never
   change.

   beta = +-0 never reads C, which may then be NULL.  D may be C, with ldd = ldc and
   stride_d = stride_c; it overlaps nothing else that is read or written.  Only D, none of
   what lies between its rows, and the workspace are written. */
struct bitcut_cuda_gemm {
    const struct bitcut_recipe *recipe; /* NULL: that of `kernel`                      */
    const struct bitcut_split *split;   /* NULL: the recipe's; of plain: of one word   */
    const char *kernel;                 /* NULL: what suits best; else its name        */
    int slices;                         /* split-K as `bitcut gemm --split-k`; 0 is 1  */
    bool equilibrate;                   /* as bitcut_gemm_equilibrated()               */
    size_t m, n, k;
    uint32_t alpha, beta; /* FP32 encodings */
    struct bitcut_cuda_operand a, b;
    const void *c; /* FP32 values in the device's memory, row-major, aligned to 4 bytes */
    size_t ldc, stride_c;
    void *d; /* likewise */
    size_t ldd, stride_d;
};

/* All calls below check every argument before they do anything.  BITCUT_BAD_ARGUMENT: a
   leading dimension is too small; a size in bytes does not fit 64 bits; a matrix that is
   read or written is NULL or misaligned; neither recipe nor kernel, an unknown kernel, or
   one of another recipe; a split of words that the kernel does not take; negative or too
   many slices.  BITCUT_CANNOT: the device has no kernel for the recipe, or cannot run the
   one named; or the device's own reason. */

/* The kernel that computes the GEMM, and the unit that it runs on, into arrays of
   BITCUT_TEXT_MOST.  With the recipe's own split and one slice D has the bits of
   bitcut_gemm(), or bitcut_gemm_equilibrated(), on bitcut_unit_find(unit); but a kernel
   named with `.promoteN` has those of `bitcut gemm --promote N`.  Reads no pointer or
   leading dimension of a matrix, which may all be unset. */
enum bitcut_status bitcut_gemm_cuda_kernel(char *name, char *unit,
                                           const struct bitcut_cuda *cuda,
                                           const struct bitcut_cuda_gemm *gemm,
                                           char *why);

/* Bytes of device memory that the GEMM works in.  A batch needs no more, and takes as
   many GEMMs at a time as it has been given that memory for.  Reads of the matrices only
   whether words are NULL. */
enum bitcut_status bitcut_gemm_cuda_workspace(size_t *bytes,
                                              const struct bitcut_cuda *cuda,
                                              const struct bitcut_cuda_gemm *gemm,
                                              char *why);

/* Start the GEMM on a stream (a cudaStream_t; NULL is the default stream) and return
   without waiting: D is there when the stream has come so far.  The device must be the
   thread's current one.  Nothing is allocated or synchronised, but the first call for a
   kernel loads it, which may do both; and the stream may be capturing a graph, which can
   run any number of times while the memory lasts.
   `workspace`, aligned to 256, has `bytes` bytes, as many as the query says or more, for
   this GEMM alone until it is done: GEMMs of one stream can share one.  It may be NULL
   if none are needed.

   NaN in D is 0x7fffffff; infinities, zeros and subnormals are those of bitcut_gemm() on
   the kernel's unit.  If the device fails, D is undefined. */
enum bitcut_status bitcut_gemm_cuda(const struct bitcut_cuda *cuda,
                                    const struct bitcut_cuda_gemm *gemm, void *workspace,
                                    size_t bytes, void *stream, char *why);

/* The same for `count` GEMMs, 0 included: matrix i is i strides after the first.  A
   stride of 0 gives all of them the same A, B or C.  With `bytes` of what count GEMMs
   need, count times as many as one, they are computed by the same launches as one, up to
   65535 with their slices; with less, so many at a time, and the words of an operand that
   they share are made again each time unless they are prepared.  The kernel may be
   another one than for a single GEMM, of the same bits.
   BITCUT_BAD_ARGUMENT also if two matrices of D may overlap: they must lie one after the
   other, stride_d >= (m - 1) ldd + n, or side by side, stride_d >= n and ldd >=
   (count - 1) stride_d + n. */
enum bitcut_status bitcut_gemm_cuda_batch(const struct bitcut_cuda *cuda,
                                          const struct bitcut_cuda_gemm *gemm,
                                          size_t count, void *workspace, size_t bytes,
                                          void *stream, char *why);

enum bitcut_operand { BITCUT_A, BITCUT_B };

/* Bytes of the words of one operand, a multiple of 256.  They depend on its size, k, the
   split, and whether it is equilibrated, alone. */
enum bitcut_status bitcut_gemm_cuda_words(size_t *bytes, const struct bitcut_cuda *cuda,
                                          const struct bitcut_cuda_gemm *gemm,
                                          enum bitcut_operand operand, char *why);

/* Start making the words of gemm->a or gemm->b (`words` there is not read), in device
   memory aligned to 256, as bitcut_gemm_cuda() starts a GEMM.  They serve any number of
   GEMMs, later in the stream, whose operand has the same values, with the same split and
   equilibration. */
enum bitcut_status bitcut_gemm_cuda_prepare(void *words, const struct bitcut_cuda *cuda,
                                            const struct bitcut_cuda_gemm *gemm,
                                            enum bitcut_operand operand, void *stream,
                                            char *why);

/* --- batches of small GEMMs on a GPU ---------------------------------------------- */

/* A or B of every GEMM of a batch, f16 values in the device's memory: at strides, or
   where pointers point to. */
struct bitcut_cuda_matrices {
    const void *at;          /* the first: row-major, aligned to 2 bytes             */
    size_t stride;           /* elements from one matrix to the next                 */
    const void *const *each; /* NULL; or in the device's memory as many pointers as
                                GEMMs, and then nothing above is read                */
    size_t ld;               /* elements from one row in memory to the next          */
    bool transposed;         /* those rows are the columns of the matrix             */
};

/* D_i = alpha A_i B_i + beta C_i, all f16: A_i is m x k, B_i k x n, C_i and D_i m x n,
   each size 0 to 64.  A field left zero has its default.  A stride of 0, or equal
   pointers, give GEMMs the same A, B or C.

   The kernel is the first in the order of `bitcut list batched` that takes the sizes and
   runs on the device: of those on its unit, the fastest for large batches.  The unit
   decides bits, so name the kernel where they must never change.  With an instruction as
   unit, D_i has the bits of bitcut_gemm() by the recipe plain on that unit, with the unit
   fma/f32 by the recipe fp32, for the values of A_i, B_i and C_i; and these rounded to
   f16, to nearest even. NaN in D is 0x7fff; infinities, zeros and subnormals are kept.
   NaN and infinities of one GEMM change no other one.

   beta = +-0 never reads C.  D may be C, with its pointers, or with ldd = ldc and
   stride_d = stride_c; no D_i overlaps another one or anything else that is read. */
struct bitcut_cuda_hgemm {
    const char *kernel; /* NULL: the first that fits; else its name */
    size_t m, n, k;
    uint32_t alpha, beta; /* FP32 encodings */
    struct bitcut_cuda_matrices a, b;
    const void *c; /* as A, but never transposed */
    size_t ldc, stride_c;
    const void *const *each_c;
    void *d; /* likewise */
    size_t ldd, stride_d;
    void *const *each_d;
};

/* The kernel that computes such GEMMs, and its unit, into arrays of BITCUT_TEXT_MOST.
   Reads nothing of the matrices.  BITCUT_BAD_ARGUMENT: an unknown kernel, or a size above
   what it takes; BITCUT_CANNOT: the device cannot run it. */
enum bitcut_status bitcut_hgemm_cuda_kernel(char *name, char *unit,
                                            const struct bitcut_cuda *cuda,
                                            const struct bitcut_cuda_hgemm *gemm,
                                            char *why);

/* Start `count` GEMMs, 0 included, on a stream, as one launch of a kernel, and return
   without waiting; as bitcut_gemm_cuda() with device, stream and graphs, but there is no
   workspace.  Every argument is checked before; but what pointers in the device's memory
   point to is not.  BITCUT_BAD_ARGUMENT: as above; a leading dimension is too small; a
   size in bytes does not fit 64 bits; a matrix that is read or written is NULL or
   misaligned; matrices of D overlap by their stride (as bitcut_gemm_cuda_batch() says); D
   is C with another leading dimension or stride.  BITCUT_CANNOT: as above, or the
   device's own reason. */
enum bitcut_status bitcut_hgemm_cuda_batch(const struct bitcut_cuda *cuda,
                                           const struct bitcut_cuda_hgemm *gemm,
                                           size_t count, void *stream, char *why);

#ifdef __cplusplus
}
#endif

#endif
