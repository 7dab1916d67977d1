/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of a module: GEMMs whose operands are words, and batches of single
   instructions, with all that knows no instruction: what lies where, copies to a device
   and back, words that are there or still to be made, timing.  A module compiles
   gpu/module/product.c, gpu/module/batch_run.c and gpu/module/timer.c against its runtime
   (gpu/module/rt.h), and has split_launch(), fault_of(), peers, a board, and what its
   rows name.  C and C++. */
#ifndef BITCUT_GPU_MODULE_PRODUCT_H
#define BITCUT_GPU_MODULE_PRODUCT_H

#include "gpu/module/layout.h"
#include "gpu/module/rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- a GEMM of words -------------------------------------------------------------- */

/* Words of one operand in the device's memory, in the layout of gpu/module/module.h. */
struct words {
    const void *at;
    size_t lines, row_bytes; /* of a line of the first word ...                         */
    size_t low_row_bytes;    /* ... and of the others                                   */
    size_t stride;           /* bytes from one matrix to the next, 0: all have the same */
};

/* The largest finite magnitudes of the lines of both operands; NULL: they are not
   equilibrated. */
struct lines {
    const uint32_t *a, *b;
    size_t stride_a, stride_b; /* from one matrix to the next               */
    int target;                /* t of lib/number/equilibrate.h, of A and B alike  */
};

/* Where C or D is. */
struct elements {
    float *at; /* NULL: it is not read */
    size_t ld, stride;
    bool turned; /* column-major */
};

/* D = alpha A B + beta C of words, for a batch. */
struct gpu_product {
    const struct gpu_kernel *kernel;
    size_t count, m, n, k;
    struct words a, b;
    struct lines lines;
    int scale; /* of the low words */
    float alpha, beta;
    struct elements c, d;
    int slices;
    void *workspace;
    rt_stream stream;
    bool behind_split; /* the launch before on the stream is of the split pass */
};

/* --- split-K ---------------------------------------------------------------------- */

enum { SLICES_MAX = 65535 };

/* --- what a module has of its own ------------------------------------------------- */

/* Words to be made: of `count` matrices of an operand. */
struct to_split {
    void *words;
    struct operand operand;
    size_t count;
};

/* Start the split pass over `count` operands on a stream, two at most, of whatever splits
   and counts: at least one launch, if any has lines, k and matrices. */
rt_error split_launch(const struct to_split *of, int count, rt_stream stream);

/* Copy between the host's memory and the current device's, now; what runs on the device
   goes on, where the runtime lets it. */
rt_error copy_there(void *to, const void *from, size_t bytes);
rt_error copy_back(void *to, const void *from, size_t bytes);

/* The same for `count` lines of so many bytes, each `pitch` bytes behind the one before,
   here and there. */
rt_error copy_lines_there(void *to, const void *from, size_t count, size_t bytes,
                          size_t pitch);

/* What emulates units that the device does not have: the workspace of a GEMM, and its
   start on the current device.  NULL in modules without multipliers. */
struct emulation_code {
    size_t (*workspace)(const struct gpu_work *work);
    rt_error (*start)(const struct gpu_work *work, void *workspace, rt_stream stream);
};

extern const struct emulation_code emulation_code;

/* The status, having told why.  The runtime forgets the error too: the next launch would
   give it again. */
int fault_of(char *fault, rt_error status);

/* Start a kernel that does nothing on a stream of the current device.  CUDA's module
   alone has one. */
rt_error empty_start(rt_stream stream);

/* A library whose GEMMs are peers, open for work on one stream. */
struct peer_library;

extern const struct gpu_peer peers[]; /* ended by a row without a name */

/* Open it.  *x is NULL, and the library's text says why, if it is not there. */
void peer_open(struct peer_library **x, struct gpu_library *library, rt_stream stream);
void peer_close(struct peer_library *x);

/* Start D = A B of the work, or of its words where the peer has a split, on the library's
   stream.  Another number than 0 with a line in fault. */
int peer_start(const struct peer_library *x, const struct gpu_peer *peer,
               const struct gpu_work *work, char *fault);

/* The counters of the board of the current device; NULL: they are not there, and the
   others take that and give 0. */
struct board;
struct board *board_open(void);
void board_close(struct board *x);
double board_millijoules(const struct board *x); /* used since the driver was loaded    */
double board_watts_most(const struct board *x);  /* the limit of its power in force     */
int board_megahertz(const struct board *x);      /* the clock of the multiprocessors now */

/* What limits that clock now: a set of GPU_LIMIT_...; -1: not known. */
int board_limits(const struct board *x);

extern const struct gpu_timer timer; /* gpu/module/timer.c, by those */

/* --- what struct gpu_module declares ---------------------------------------------- */

int batch_run(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
              enum gpu_variant variant, int device, char *fault);

size_t gemm_words(const struct gpu_work *work, enum bitcut_operand which);
int gemm_split(void *words, const struct gpu_work *work, enum bitcut_operand which,
               int device, char *fault);
int gemm_run(const struct gpu_work *work, const struct gpu_memory memory[4], int device,
             char *fault);
int gemm_prepare(void *words, const struct gpu_work *work, enum bitcut_operand which,
                 int device, void *stream, char *fault);
size_t gemm_workspace(const struct gpu_work *work);
int gemm_start(const struct gpu_work *work, void *workspace, int device, void *stream,
               char *fault);

/* gemm_start() on the current device. */
rt_error work_start(const struct gpu_work *work, void *workspace, rt_stream stream);

/* Make a device the thread's current one.  *before is the one that was, if it is another,
   or -1; device_leave() makes it so again. */
rt_error device_enter(int *before, int device);
void device_leave(int before);

#ifdef __cplusplus
}
#endif

#endif
