/* SPDX-License-Identifier: BSD-3-Clause */
/* Common definitions for the files of the module without a GPU (tests/gpu/device.c). */
#ifndef BITCUT_TESTS_GPU_DEVICE_PARTS_H
#define BITCUT_TESTS_GPU_DEVICE_PARTS_H

#include "gpu/module/module.h"
#include "tests/model_stream.h"

/* --- tables: device.c ------------------------------------------------------------- */

/* What multiplies parts of a second format. */
#define E4M3 "wgmma.m64n8k32.f32.e4m3"
#define S8   "wgmma.m64n8k32.s32.s8"

/* The kernel that a peer computes by, and its nanoseconds a product; of small GEMMs a
   GEMM. */
struct peer_own {
    const struct gpu_kernel *like; /* NULL: it fails */
    double ns;
};

enum { MULTIPLIERS_MAX = 8 };

extern const struct gpu_architecture model_architectures[];
extern const struct gpu_multiplier model_multipliers[];
extern const struct gpu_peer model_peers[];

/* --- faults: device_fault.c ------------------------------------------------------- */

struct device_fault {
    const char *name;
    const struct gpu_architecture *architecture; /* of the device, NULL: unknown */
    const char *no_device, *no_run;
    void (*spoil)(struct gpu_batch *batch, const struct gpu_instruction *i);
    void (*spoil_gemm)(const struct bitcut_gemm *g);
};

/* What DEVICE_FAULT names, or the row of no fault; and whether it names this. */
const struct device_fault *model_fault(void);
bool model_has_fault(const char *name);

/* What is wrong with one of the devices: "second ..." spares the first. */
const struct device_fault *model_fault_on(int device);

/* Whether the faults of GEMMs are the kernel's: DEVICE_FAULTY names it, or nothing. */
bool model_is_faulty(const char *kernel);

/* Why nothing can be run; 0: it can. */
int model_refuse(char *fault);

/* The lowest bit of the last output of a batch is wrong. */
void model_flip_output(const struct bitcut_gemm *g);

/* Be interrupted while the second batch runs. */
void model_interrupt(struct gpu_batch *batch, const struct gpu_instruction *i);

/* Bytes of an element, and where element (i, j) of a matrix of a batch is. */
size_t model_bytes(const struct bitcut_matrix *x);
char *model_element(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j);

/* --- parts: device_parts.c -------------------------------------------------------- */

/* An operand: `lines` rows of A, or columns of B, of k elements. */
struct operand {
    const struct bitcut_matrix *matrix;
    const struct bitcut_split *split;
    bool equilibrate, columns;
    int target; /* t of lib/number/equilibrate.h */
    size_t lines, k;
};

struct operand model_operand(const struct gpu_work *w, enum bitcut_operand which);

/* The number of an encoding; an element as FP32, and back. */
float model_f32(uint64_t encoding);
uint32_t model_load(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j);
void model_store(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j,
                 float v);

/* Make the parts of one matrix; where part `part` of element p of a line is, and its
   bytes; and the exponent by which the line is equilibrated. */
void model_make_parts(void *to, const struct operand *x, size_t matrix);
char *model_part(const void *of, const struct operand *x, size_t part, size_t line,
                 size_t p);
size_t model_part_bytes(const struct operand *x, size_t part);
int model_exponent(const struct operand *x, const void *of, size_t i);

/* As struct gpu_module has them. */
size_t model_parts(const struct gpu_work *w, enum bitcut_operand which);
int model_prepare(void *to, const struct gpu_work *w, enum bitcut_operand which,
                  int device, void *stream, char *fault);
int model_split(void *to, const struct gpu_work *w, enum bitcut_operand which, int device,
                char *fault);

/* --- whole GEMMs: device_products.c ----------------------------------------------- */

/* Of starts that wait on a stream of which nothing is computed, and of each that is slow.
 */
enum { QUEUE = 64, SLOW_MICROSECONDS = 200 };

/* Zeros, one more than asked for. */
void *model_zeros(size_t count, size_t bytes);

/* By the emulator. */
enum bitcut_status model_emulate(const struct gpu_work *w);

/* As struct gpu_module has them. */
size_t model_workspace(const struct gpu_work *w);
int model_start(const struct gpu_work *w, void *at, int device, void *stream,
                char *fault);
int model_gemm(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
               char *fault);

/* --- streams, timing, sums: device_streams.c, device_timer.c, device_sums.c ------- */

extern const struct gpu_streams model_streams;
extern const struct gpu_timer model_timer;

extern const struct gpu_fp64_kernel model_fp64_kernels[]; /* device_fp64.c */
int model_fp64(const struct gpu_fp64 *g, double *milliseconds, int repeats, int device,
               char *fault);
size_t model_fp64_workspace(const struct gpu_fp64 *g, int device);
int model_fp64_start(const struct gpu_fp64 *g, void *workspace, int device, void *stream,
                     char *fault);

extern const struct gpu_attention_kernel
    model_attention_kernels[]; /* device_attention.c */
int model_attention(const struct gpu_attention *call, double *milliseconds, int repeats,
                    int device, char *fault);

int model_claim(int device, int multiplier, char *fault);
int model_sums(const struct exact_sums_to *to, size_t m, size_t n, size_t k,
               const uint32_t *a, const uint32_t *b, int device, char *fault);

#endif
