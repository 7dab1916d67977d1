/* SPDX-License-Identifier: BSD-3-Clause */
/* The host side of a module: GEMMs whose operands are parts, and batches of single
   instructions.  It contains everything that does not depend on an instruction: memory
   layout, copies to a device and back, existing parts and parts to be made, timing.  A
   module compiles gpu/module/product.c, gpu/module/batch_run.c and gpu/module/timer.c
   against its runtime (gpu/module/rt.h), and provides split_launch(), fault_of(), peers,
   a board, and the functions that its rows name.  C and C++. */
#ifndef BITCUT_GPU_MODULE_PRODUCT_H
#define BITCUT_GPU_MODULE_PRODUCT_H

#include "gpu/module/layout.h"
#include "gpu/module/rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- a GEMM of parts -------------------------------------------------------------- */

/* Parts of one operand in device memory, in the layout of gpu/module/module.h. */
struct parts {
    const void *at;
    size_t lines, row_bytes; /* bytes of a line of the first part,                      */
    size_t low_row_bytes;    /* and of a line of the other parts                        */
    size_t stride;           /* bytes from one matrix to the next; 0: all share one
                                matrix                                                  */
};

/* The largest finite magnitudes of the lines of both operands; NULL: lines are not
   equilibrated. */
struct lines {
    const uint32_t *a, *b;
    size_t stride_a, stride_b; /* from one matrix to the next               */
    int target;                /* t of lib/number/equilibrate.h, the same for A and B */
};

/* The addresses of C or D. */
struct elements {
    float *at; /* NULL: it is not read */
    size_t ld, stride;
    bool turned; /* column-major */
};

/* Parts to be made, of `count` matrices of an operand. */
struct to_split {
    void *parts;
    struct operand operand;
    size_t count;
};

/* D = alpha A B + beta C from parts, for a batch. */
struct gpu_product {
    const struct gpu_kernel *kernel;
    size_t count, m, n, k;
    struct parts a, b;
    struct lines lines;
    int scale; /* of the low parts */
    float alpha, beta;
    struct elements c, d;
    int slices;
    void *workspace;
    rt_stream stream;
    struct to_split split[2]; /* the parts that do not exist yet, and        */
    int splits;               /* how many operands have them: 0 for the launch of a kernel
                                 that does not make them                     */
    bool behind_split; /* whether the launch before on the stream is a split pass */
};

/* --- split-K ---------------------------------------------------------------------- */

enum { SLICES_MAX = 65535 };

/* --- what a module has of its own ------------------------------------------------- */

/* Start the split pass over `count` operands on a stream, at most two, with any splits
   and counts.  It makes at least one launch, if an operand has lines, k and matrices. */
rt_error split_launch(const struct to_split *of, int count, rt_stream stream);

/* Copy between host memory and the current device, synchronously.  Work on the device
   continues, if the runtime allows it. */
rt_error copy_there(void *to, const void *from, size_t bytes);
rt_error copy_back(void *to, const void *from, size_t bytes);

/* The same for `count` lines of equal length, at a distance of `pitch` bytes on both
   sides. */
rt_error copy_lines_there(void *to, const void *from, size_t count, size_t bytes,
                          size_t pitch);

/* The code that emulates units that the device does not have: the workspace of a GEMM,
   and its start on the current device.  NULL in modules without multipliers.
   by_kernel() sets *to to the same GEMM as the work of a kernel of the current device;
   false: there is none.  NULL: no kernel computes emulated GEMMs. */
struct emulation_code {
    size_t (*workspace)(const struct gpu_work *work);
    rt_error (*start)(const struct gpu_work *work, void *workspace, rt_stream stream);
    bool (*by_kernel)(struct gpu_work *to, const struct gpu_work *work);
};

extern const struct emulation_code emulation_code;

/* Return the status, after writing its text.  The runtime's error is cleared, because the
   next launch would report it again. */
int fault_of(char *fault, rt_error status);

/* Start a kernel that does nothing on a stream of the current device.  Only the module of
   CUDA has one. */
rt_error empty_start(rt_stream stream);

/* A library whose GEMMs are peers, opened for work on one stream. */
struct peer_library;

extern const struct gpu_peer peers[]; /* ended by a row without a name */

/* Open the library.  If it is not available, *x is NULL, and the library's text says
   why. */
void peer_open(struct peer_library **x, struct gpu_library *library, rt_stream stream);
void peer_close(struct peer_library *x);

/* Start D = A B of the work, or from its parts if the peer has a split, on the library's
   stream.  On failure, return a number other than 0, with a line in fault. */
int peer_start(const struct peer_library *x, const struct gpu_peer *peer,
               const struct gpu_work *work, char *fault);

/* The counters of the board of the current device; NULL: not available; the functions
   below accept NULL and return 0. */
struct board;
struct board *board_open(void);
void board_close(struct board *x);
double board_millijoules(const struct board *x); /* energy used since the driver was
                                                    loaded                              */
double board_watts_most(const struct board *x);  /* power limit in force                */
int board_megahertz(const struct board *x);      /* current clock of the
                                                    multiprocessors                      */

/* What limits this clock: a set of GPU_LIMIT_...; -1: unknown. */
int board_limits(const struct board *x);

extern const struct gpu_timer timer; /* in gpu/module/timer.c; uses the functions above */

/* --- what struct gpu_module declares ---------------------------------------------- */

int batch_run(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
              enum gpu_variant variant, int device, char *fault);

size_t gemm_parts(const struct gpu_work *work, enum bitcut_operand which);
int gemm_split(void *parts, const struct gpu_work *work, enum bitcut_operand which,
               int device, char *fault);
int gemm_run(const struct gpu_work *work, const struct gpu_memory memory[4], int device,
             char *fault);
int gemm_prepare(void *parts, const struct gpu_work *work, enum bitcut_operand which,
                 int device, void *stream, char *fault);
size_t gemm_workspace(const struct gpu_work *work);
int gemm_start(const struct gpu_work *work, void *workspace, int device, void *stream,
               char *fault);

/* gemm_start() on the current device. */
rt_error work_start(const struct gpu_work *work, void *workspace, rt_stream stream);

/* Make a device the thread's current device.  *before is the previous one if it differs,
   else -1; device_leave() restores it. */
rt_error device_enter(int *before, int device);
void device_leave(int before);

#ifdef __cplusplus
}
#endif

#endif
