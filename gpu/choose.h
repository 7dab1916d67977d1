/* Which of the kernels of the same bits computes a GEMM: the tile model of gpu/tile.h on
   kernels and a device that exist.

   Kernels of the same recipe, program, word format and instruction give the same bits
   whatever their tiles, so the choice is free to follow the shape.

   LE-GEMM's score, busy times useful times ratio, has no scale: twice the operations for
   a byte loaded counts as much as twice the multiprocessors at work, although loads are
   hidden behind multiplications.  Timed on an H200 it chooses tiles that are up to 19 %
   slower than the best.  So the ratio becomes what it stands for, a rate of at most 1,
   from the clocks that a unit needs (letters of gpu/tile.h; rates from the device, bytes
   from the kernel's row):

   a. A step of T_K multiplies for terms T_M T_N T_K / products clocks, twice that for
      words of 32 bits.  At the same time it loads for bytes / cache_rate clocks; blocks
      of a cluster share what they load of B.
   b. What goes to shared memory and from it adds bytes / shared_rate clocks to (a)'s
      multiplications.  The hardware does both at the same time, but not for nothing: with
      the power of the card as the limit a byte moved is a product not made.  A sum with
      5/2 of the bandwidth fits the timings of an H200 (data/h200/tiles.jsonl) best; the
      longer of the two, with the bandwidth itself, errs as much as LE-GEMM's score.
   c. So a step takes the longer of multiplications with (b) and loads; with one stage,
      that is no asynchronous copy, it takes their sum.
   d. The end of a tile, the write of its outputs, is 4 T_M T_N / cache_rate.  Blocks that
      are on a unit beside it hide it.
   e. The busiest unit has L = ceil(g / U) tiles, R of them at a time, g counting slices
      of k and the GEMMs of a batch; a cluster is one tile of cluster T_M rows on so many
      units as one.  The GEMM takes L steps step + ceil(L / R) end.
   f. busy = g / (U L) and useful, the share that is no padding, are as there; rate is
      what multiplying alone would take over (e).  score = busy useful rate is the share
      of all units' rate that the GEMM reaches, so the best score is the least time.
      Equal scores: the earlier kernel. */
#ifndef BITCUT_GPU_CHOOSE_H
#define BITCUT_GPU_CHOOSE_H

#include "gpu/gpu.h"

/* The factors of the score, by position in gpu_factors. */
enum gpu_factor { GPU_BUSY, GPU_USEFUL, GPU_RATE, GPU_FACTORS };

struct gpu_factor_row {
    const char *name, *what;
};

/* Ended by a row without a name. */
extern const struct gpu_factor_row gpu_factors[];

/* A kernel and what the model says of it. */
struct gpu_choice {
    const struct gpu_kernel *kernel;
    double tiles, busiest, resident; /* g, L, R; of clusters, where the kernel has them */
    double steps;                    /* of a tile                                       */
    double products, shared, cache;  /* clocks of a step by (a) and (b), each alone     */
    double factor[GPU_FACTORS];
    double score; /* their product */
};

/* Judge one kernel with a tile that the device can run.  Of the GEMM count, m, n, k and
   slices are read; one of them that is 0 counts as 1. */
void gpu_kernel_judge(struct gpu_choice *choice, const struct gpu_kernel *kernel,
                      const struct gpu_device *device, const struct bitcut_gemm *gemm);

/* Whether two kernels give the same bits for every GEMM that both take. */
bool gpu_kernel_alike(const struct gpu_kernel *x, const struct gpu_kernel *y);

enum { GPU_CHOICES_MOST = 64 };

/* Judge all kernels with a tile like `like` that the device can run and that take the
   GEMM's sizes and slices, the best first.  Returns how many, 0 if not even `like` is
   among them. */
size_t gpu_kernel_rank(struct gpu_choice choices[GPU_CHOICES_MOST], const struct gpu *g,
                       const struct gpu_device *device, const struct gpu_kernel *like,
                       const struct bitcut_gemm *gemm);

/* The factor that a choice loses most by against the best. */
enum gpu_factor gpu_factor_worst(const struct gpu_choice *choice,
                                 const struct gpu_choice *best);

#endif
