/* GEMMs of one shape, single or in batches at strides, on a device: verified, then timed
   in turn. */
#ifndef BITCUT_ANALYSIS_DEVICE_RACE_H
#define BITCUT_ANALYSIS_DEVICE_RACE_H

#include "analysis/device/kernel_trial.h"
#include "lib/file/input.h"

/* One that takes part, and what is found of it.  A time is of all GEMMs of a batch. */
struct runner {
    struct gpu_entrant entrant;
    const char *name, *split; /* split: NULL where FP32 is multiplied     */
    struct bitcut_gemm gemm;  /* of a kernel: what its D must be          */
    /* ------------------------------------------------------------------ */
    size_t looked_at;            /* outputs                               */
    double relres;               /* of the worst of their GEMMs           */
    size_t compared, mismatches; /* of those beside a kernel's model      */
    const char *fallback;        /* the peer whose bits it gives, or NULL */
    char fault[GPU_FAULT_MOST];  /* why it was not timed, or ""           */
    int repeats;                 /* in each timing                        */
    double ms, ms_min, ms_max;   /* median of the rounds, and the ends    */
    double millijoules;          /* of a batch, 0: not measured           */
    int megahertz;               /* at the end, 0: not known              */
};

enum { ROUNDS_MOST = 99, RACE_TIMED_MS = 30 };

/* How often what takes `once` milliseconds is repeated to take so many, 10000 times at
   most. */
int race_repeats(double milliseconds, double once);

/* The median of `count` times, the least and the most; times[] is sorted. */
void race_median(double *median, double *least, double *most, double *times,
                 size_t count);

struct race {
    const struct recorder *recorder;
    struct kernel_shape shape;
    size_t count;              /* of GEMMs, 1 to GPU_COUNT_MOST */
    const struct input *input; /* of A and B                    */
    uint64_t seed;             /* of the first GEMM; the next has the next */
    int threads;
    size_t rounds;              /* 1 to ROUNDS_MOST                            */
    size_t energy_milliseconds; /* of the loop whose energy is read, 0: none   */
    size_t done, total;         /* of the races before, and all: for progress  */
    const struct progress *progress;
    struct gpu_library library; /* what the peers are of: an output */
};

/* Race the runners, whose fields above the line are set.  D of each is looked at first:
   whole if the GEMM has at most 2^22 products, else 32 rows by 128 columns, the first and
   the last among them; of a batch that of as many GEMMs as have 2^22 products together,
   but of 3 to 256, the first and the last among them.  A kernel must give the model's
   bits, or it is not timed.  A peer falls back if its bits are those of the one in FP32.
   relres is against the exact product, the largest of the GEMMs looked at; that of the
   split pass is of the kernel or peer that it serves.  Then, in
   every round, each is timed once in turn, for about 30 ms; last, for whole GEMMs, the
   energy of a longer loop.  One that the device cannot run, or whose library is not here,
   has a fault and no times.  BITCUT_CANNOT: no memory on the device, or asked to stop;
   BITCUT_NO_MEMORY. */
enum bitcut_status race_run(struct runner *runner, size_t count, struct race *race,
                            struct fault *f);

#endif
