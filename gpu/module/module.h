/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program and a module of GPU kernels agree on.

   A module is a shared object, built by a GPU compiler, that the program opens while it
   runs.  It exports one symbol, a struct gpu_module called GPU_MODULE_SYMBOL, and needs
   none of the program's: so a program without a GPU compiler's libraries works, and one
   package serves machines with and without a GPU.  That of the processor's own units is
   part of the program.  C and C++ read this file alike. */
#ifndef BITCUT_GPU_MODULE_MODULE_H
#define BITCUT_GPU_MODULE_MODULE_H

#include "gpu/emulate/rule.h"
#include "lib/gemm/plan.h"

/* Raised with every change of this file, and of the rows and plans that it passes on: a
   module of another number is refused. */
enum { GPU_INTERFACE = 20 };

enum { GPU_TEXT_MAX = 256, GPU_FAULT_MAX = 200 };

#define GPU_MODULE_SYMBOL "bitcut_gpu_module"

/* A row of a table of architectures: the devices that one code is compiled for. */
struct gpu_architecture {
    const char *name, *what; /* as their compiler calls them: "sm_90a", "gfx90a" */
    const char *units;       /* the part of their units' names before the '/'     */
    unsigned bit;            /* in sets of the table's rows: one of its own       */
};

/* --- single instructions ---------------------------------------------------------- */

/* Ways to issue one instruction, by position in gpu_variants (gpu/api/gpu.h). */
enum gpu_variant {
    GPU_PLAIN,
    GPU_A_REGISTERS,
    GPU_A_TRANSPOSED,
    GPU_B_TRANSPOSED,
    GPU_NEGATE_A,
    GPU_NEGATE_B,
    GPU_SCALE_D_0,
    GPU_VARIANTS
};

/* A batch of single instructions, as raw encodings without gaps: A[count][m][k],
   B[count][k][n], C and D[count][m][n]. */
struct gpu_batch {
    void *d;
    const void *a, *b, *c;
    size_t count;
};

/* A row of a table of instructions. */
struct gpu_instruction {
    const char *name, *what; /* a unit's name behind the '/': family.shape.output.input */
    int m, n, k;             /* shape                                                   */
    int a_bytes, b_bytes, c_bytes; /* of an element; D is as C                          */
    unsigned architectures; /* that have it: a set of rows of the module's table        */
    unsigned variants;      /* those it has: bits 1u << GPU_PLAIN, ...                  */

    /* For the module alone: start the batch, whose arrays are in the device's memory.
       The module's own status, 0 if it has started. */
    int (*launch)(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
};

/* --- whole GEMMs ------------------------------------------------------------------ */

struct gpu_kernel;
struct exact_sums_to;

/* A GEMM that a device computes, with nothing left open: it was checked, all matrices
   have a leading dimension and a format, and the kernel takes them.  One on a unit that
   the device does not have is emulated: its kernel is a row of the program's, of no
   recipe (gpu_work_emulates()), its matrices are any that bitcut_gemm() takes, at strides
   or by pointers, and there are no words.  Rows of lib's tables are read as data. */
struct gpu_work {
    const struct gpu_kernel *kernel;
    struct bitcut_gemm gemm;
    struct gemm_plan plan;          /* units are not read */
    struct gpu_emulation emulation; /* of one that is emulated */
};

enum { GPU_COUNT_MAX = 65535 }; /* of a batch of words, and of its slices all together */

/* The terms of a k-step in order, low*low in its place, and after how many instructions
   of accumulator 0 it is promoted (0: never): struct bitcut_recipe (lib/gemm/recipe.h)
   without tiles. */
struct gpu_program {
    int words, terms;
    struct recipe_term term[RECIPE_TERMS_MAX];
    int promote;
};

struct gpu_product;

/* A row of a table of kernels.  What each computes is fixed to the bit by its recipe, the
   split and the unit of its instruction on the device's architecture: D is that of
   bitcut_gemm (lib/bitcut.h).  A kernel whose matrices are f32 multiplies words that the
   split pass makes before, of matrices at strides.  Another one reads the matrices as they
   are, at strides or by pointers, and needs no workspace.  Each matrix is in either
   layout. */
struct gpu_kernel {
    const char *name, *what;    /* family.recipe.input.tile.stages                     */
    const char *recipe;         /* name of the row of lib/gemm/recipe.h that it
                                   implements */
    const char *instruction;    /* name of the row above: the unit; NULL: fused multiply-
                                   adds in FP32, the unit fma/f32                      */
    int matrices;               /* FORMAT_...: of A, B, C and D                        */
    int format;                 /* FORMAT_...: of the words; the split's roundings and
                                   scale are the caller's                              */
    int low_format;             /* FORMAT_...: of words after the first, if it is another:
                                   words are those of the recipe's split; 0: it is not */
    struct gpu_program program; /* what it does, which may vary the recipe             */
    int tile_m, tile_n, tile_k; /* of D a block computes, and of k it loads at a time;
                                   0: the kernels before it are faster where they fit  */
    int products, warps;        /* so many GEMMs at a time by so many warps; 0: a block
                                   has one, by all of its warps                        */
    int stages;                 /* tiles in flight; 1: no asynchronous copy; 0: none in
                                   shared memory                                       */
    int threads, shared_bytes;  /* of a block                                          */
    int registers;              /* of a thread, about                                  */
    int cluster_m, cluster_n;   /* blocks with tiles below each other that bring the
                                   words of B to all of them, and beside each other,
                                   those of A: 1 or more                               */
    int load_bytes, read_bytes; /* of a block for one k: to shared memory, from it     */
    int slices_most;            /* of split-K that it takes                            */
    int slices_together;        /* so many of them a cluster, else of one block, adds,
                                   without workspace, where C and D are row-major; 0:
                                   none                                                */
    size_t size_most;           /* of m, n and k, 0: any                               */
    unsigned architectures;     /* that run it, as of an instruction                   */

    /* For the module alone. */
    size_t (*workspace)(const struct gpu_product *product); /* bytes; NULL: none        */
    int (*launch)(const struct gpu_product *product);       /* of words; or             */
    int (*start)(const struct gpu_work *work, void *stream); /* of matrices as they are */
};

/* Whether clusters of a kernel add so many slices of k: if all blocks of a GEMM, one of a
   batch, run at one time on the devices there are, whose multiprocessors are 132; as a cluster is in one GPC,
   an H100 has 66 clusters of two, 39 of three, 30 of four and 15 of eight.  Of more blocks
   the slices are faster one after the other, by way of the workspace. */
enum { GPU_TOGETHER_TWO = 132, GPU_TOGETHER = 102 };
static inline bool gpu_adds_slices(const struct gpu_kernel *k, size_t m, size_t n,
                                   int slices)
{
    if (slices < 2 || slices > k->slices_together) return false;
    const size_t blocks = slices == 2 ? GPU_TOGETHER_TWO : GPU_TOGETHER;
    const size_t most = blocks / (size_t)slices, rows = (size_t)k->tile_m;
    const size_t columns = (size_t)k->tile_n;
    const size_t down = m / rows + (m % rows != 0);
    const size_t along = n / columns + (n % columns != 0);
    return down <= most && along <= most && down * along <= most;
}

/* Whether the GEMM is emulated. */
static inline bool gpu_work_emulates(const struct gpu_work *work)
{
    return !work->kernel->recipe;
}

/* --- timing ----------------------------------------------------------------------- */

/* What a peer is to the others: a library's GEMM in FP32, to which it may fall back in
   silence; or its GEMM of f16 words, whose rate bounds all that is made of them. */
enum gpu_role { GPU_PEER, GPU_PEER_SINGLE, GPU_PEER_HALF };

/* A row of a table of peers: GEMMs of a library, to compare kernels with. */
struct gpu_peer {
    const char *name, *what;
    int matrices;      /* FORMAT_...: of A, B and D                               */
    bool pointers;     /* matrices by pointers, not at strides                    */
    const char *split; /* the row of lib/number/split.h that makes its words; NULL: it has
                          none and reads the matrices                                  */
    enum gpu_role role;
    const void *own; /* for the module alone */
};

/* What of a GEMM is timed: all of it; of one that multiplies words, the rest without the
   split pass; or the split pass over A and B alone. */
enum gpu_part { GPU_WHOLE, GPU_PRODUCT, GPU_SPLIT, GPU_PARTS };

/* What is timed: a kernel, or without one a peer. */
struct gpu_entrant {
    const struct gpu_kernel *kernel;
    const struct gpu_peer *peer;
    struct gemm_plan plan; /* of a kernel; of a peer the splits alone              */
    bool pointers;         /* of a kernel: to the matrices, which it does not split */
    enum gpu_part part;
    const struct gpu_emulation *emulation; /* of the kernel of those that are emulated */
};

/* Why the clock of a board is lower than it could be: bits of a set. */
enum { GPU_LIMIT_POWER = 1, GPU_LIMIT_HEAT = 2 };

enum { GPU_READS_MAX = 64 };

/* How often an entrant starts. */
struct gpu_loop {
    int warm;    /* before it is timed, 1 or more                                      */
    int repeats; /* timed, 1 or more                                                   */
    int reads;   /* of the board meanwhile, one in each of so many even parts of the
                    repeats: 1 to GPU_READS_MAX, and no more than repeats             */
};

struct gpu_measurement {
    double milliseconds;      /* of all repeats, between two events on their stream     */
    double board_millijoules; /* by the board's own counter meanwhile; 0: it has none.
                                 Counters move every 20 to 100 ms                       */
    double board_watts_most;  /* the limit of its power that is in force; 0: not known  */
    int megahertz;            /* median of the clocks of the multiprocessors that were
                                 read, or 0                                             */
    int reads;                /* at which it said what limits the clock; 0: it does not */
    int at_power, at_heat;    /* of these, the reads that named this limit              */
};

/* What the peers are of. */
struct gpu_library {
    int here;                 /* 0: no peer may be run                             */
    char text[GPU_TEXT_MAX]; /* name and version, or why it is not here, one line */
};

struct gpu_session; /* D = A B of one shape, matrices in the device's memory */

/* What a GEMM needs that others start: its matrices in the device's memory, sizes, and
   whatever else the session was given; a workspace; and a stream. */
struct gpu_place {
    struct bitcut_gemm gemm;
    void *workspace;
    size_t bytes;
    void *stream;
};

/* How GEMMs are timed.  Functions return and report as those of struct gpu_module. */
struct gpu_timer {
    const struct gpu_peer *peers; /* ended by a row without a name */

    /* Copy the matrices A (m x k) and B (k x n) of a batch, both of the format that A
       has, row-major without gaps and one after the other, from the host's memory to a
       device.  There are `distinct` of each: GEMM i takes number i % distinct. */
    int (*begin)(struct gpu_session **session, struct gpu_library *library,
                 const struct bitcut_gemm *gemm, size_t distinct, int device,
                 char *fault);

    /* Fill D with NaNs, make the words that are not timed, start the entrant
       loop->warm times, wait, start it loop->repeats times between two events, and wait.
       Nothing is allocated between the events, and the board is read while the device
       works.  Operands small enough stay in the device's cache from one repeat to the
       next. */
    int (*run)(struct gpu_measurement *measurement, struct gpu_session *session,
               const struct gpu_entrant *entrant, const struct gpu_loop *loop,
               char *fault);

    /* Copy `rows` rows of D of n elements from row i on to the host: row i % m of matrix
       i / m. */
    int (*read)(void *to, struct gpu_session *session, size_t i, size_t rows,
                char *fault);

    /* Where a kernel's GEMM can be started by `start` of the module; it is the session's
       until the next call of run() or place(). */
    int (*place)(struct gpu_place *to, struct gpu_session *session,
                 const struct gpu_entrant *entrant, char *fault);

    /* Start, on that stream, a kernel that does nothing; NULL: the module has none. */
    int (*start_empty)(struct gpu_session *session, char *fault);

    /* Wait until all on that stream is done; NULL: what starts is done when the call
       returns, and starting it is not timed. */
    int (*wait)(struct gpu_session *session, char *fault);

    void (*end)(struct gpu_session *session);

    /* Whether a peer cannot be run here, and so takes no part; NULL: all can, or none, as
       the library of a session says. */
    bool (*absent)(const struct gpu_peer *peer);

    /* Products a second of the kernel's instruction on operands that stay in registers, by
       all threads; for NULL those of a library's GEMM in FP32, GPU_PEER_SINGLE.  It is
       measured at each call; 0: not known.  NULL: it measures none. */
    double (*peak)(const struct gpu_kernel *kernel);
};

/* --- what a module has ------------------------------------------------------------ */

/* A row of a module's table of families.  Of the kernels of a recipe, through all
   families, the first that a device can run says which instruction and which program it
   takes without a better reason; gpu/api/choose.h then chooses among those of the same
   bits, whose order means nothing. */
struct gpu_family {
    const char *name, *what;
    const struct gpu_instruction
        *instructions;                /* ended by a row without a name; or NULL */
    const struct gpu_kernel *kernels; /* likewise                               */
};

struct gpu_device {
    int number;                  /* of the device, from 0                */
    char name[GPU_TEXT_MAX];    /* as the maker says: "NVIDIA H200"     */
    char driver[GPU_TEXT_MAX];  /* version of the driver                */
    char runtime[GPU_TEXT_MAX]; /* what the module was built with       */
    const struct gpu_architecture *architecture; /* the first row of the module's table
                                                    that it is of */
    unsigned architectures;      /* all of them: a set; a processor has several units */
    char lacks[GPU_TEXT_MAX];   /* the others that it could be of, and why it is not, one
                                    line; empty: there are none */
    int shared_bytes;            /* most shared memory of a block        */

    /* Of a unit, that is a multiprocessor: for the choice of a kernel (gpu/api/choose.h).
       0 where no kernel has tiles. */
    int units;
    int unit_registers, unit_threads, unit_blocks; /* that it holds at a time         */
    int unit_shared;  /* bytes of its shared memory                                   */
    int block_shared; /* of these, what a block costs beyond what it uses             */
    int wave;         /* threads of a warp or wavefront                               */
    int products;     /* of 16-bit words that its matrix cores make in a clock        */
    int shared_rate;  /* bytes to or from shared memory that cost a clock of products */
    int cache_rate;   /* bytes that come from the L2 cache in a clock, all loading    */
};

/* Words lie line after line, a row of A or column of B being a line, k ascending and
   padded with +0 to whole runs of GPU_WORDS_RUN elements, the k of the longest k-step:
   word j of element p of line i is element (j * lines + i) * run(k) + p, of 16 bits, or
   of 32 for tf32, or of 8.  Where words after the first have another format, element p of
   line i of word j of them is element ((j - 1) * lines + i) * run(k) + p behind all lines
   of the first.  Words of equilibrated lines are followed by the largest finite magnitude
   of each, 32 bits of FP32. */
enum { GPU_WORDS_RUN = 32 };

/* Bytes that words and workspaces in the device's memory are aligned to. */
enum { GPU_ALIGNMENT = 256 };

/* What a module that executes code itself has counted of something. */
struct gpu_count {
    const char *name; /* a string constant of the module */
    uint64_t value;
};

enum { GPU_COUNTS_MAX = 32 };

/* Memory of the host. */
struct gpu_memory {
    void *at;
    size_t bytes;
};

/* --- streams of a caller ----------------------------------------------------------- */

/* A copy between the memory of the host and of a device: lines of so many bytes, that
   begin so many bytes one after the other. */
struct gpu_copy {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, bytes, lines;
};

/* Functions for code that computes in the order of a stream of the caller.  They return and
   report as those of struct gpu_module, and work on the calling thread's current device.
   While a stream captures a graph only `ask`, `reserve`, `release` and `repeat` are called
   with it. */
struct gpu_streams {
    int (*device)(int *number, char *fault);

    /* The number of the graph that the stream captures, which no other graph has while the
       process lasts.  0: the stream runs. */
    int (*ask)(uint64_t *capture, void *stream, char *fault);

    /* Memory for work in the order of a stream: from this place of the stream up to that
       of release().  If the stream captures, the memory belongs to the graph: it lasts as
       long as the graph and all that is made from it, and release() does nothing. */
    int (*reserve)(void **at, size_t bytes, void *stream, char *fault);
    int (*release)(void *at, void *stream, char *fault);

    /* Copy, and wait until all before it and the copy are done. */
    int (*copy)(const struct gpu_copy *copy, int to_host, void *stream, char *fault);

    /* Start copying a line of the device's memory to all lines: from_pitch is not read. */
    int (*repeat)(const struct gpu_copy *copy, void *stream, char *fault);
};

/* --- the module ------------------------------------------------------------------- */

/* What a module exports.  A function returns 0, or it returns another number and has
   written one line into fault[GPU_FAULT_MAX].  Devices are numbered as the system shows
   them, from 0; the one that is the thread's current one stays so. */
struct gpu_module {
    int interface; /* GPU_INTERFACE */
    const char *name, *what;
    const struct gpu_architecture *architectures; /* ended by a row without a name */
    const struct gpu_family *families;            /* likewise                      */

    /* What the device is.  One of an architecture that is no row is refused. */
    int (*describe)(struct gpu_device *to, int device, char *fault);

    /* Issue one instruction a fragment and wait: D[f] from A[f], B[f] and C[f] for every
       f < count.  The arrays are in the host's memory, any alignment that fits their
       elements; D is what the device gave, every bit, or undefined for another return
       than 0.  The device must have the instruction, and the instruction the variant. */
    int (*run)(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
               enum gpu_variant variant, int device, char *fault);

    /* Bytes of the words of an operand: of them read are the sizes, the plan's split and
       whether lines are equilibrated.  What makes words reads the plan's target, too.
       NULL, as all functions up to `reaches`: the module has no kernels. */
    size_t (*words)(const struct gpu_work *work, enum bitcut_operand operand);

    /* Make the words of an operand of one GEMM, and wait.  Both are in the host's memory.
       No kernel is read. */
    int (*split)(void *words, const struct gpu_work *work, enum bitcut_operand operand,
                 int device, char *fault);

    /* Run GEMMs whose matrices, and pointers to them, are in the host's memory, and wait.
       memory[] holds all matrices of A, B, C, which may be none, and D, in this order,
       and is copied whole to places that are the same modulo GPU_ALIGNMENT; that of D is
       copied back whole.  C and D may be one. */
    int (*gemm)(const struct gpu_work *work, const struct gpu_memory memory[4],
                int device, char *fault);

    /* The same for what is in the device's memory.  Nothing is allocated, and nothing
       waits: all work goes to `stream`, the runtime's own (a cudaStream_t, a hipStream_t),
       which may be capturing a graph.
       `workspace` is device memory of workspace() bytes that the GEMM has for itself
       until it ends; NULL if that is 0.  The query reads of the matrices only layouts,
       strides, and whether words are NULL. */
    int (*prepare)(void *words, const struct gpu_work *work, enum bitcut_operand operand,
                   int device, void *stream, char *fault);
    size_t (*workspace)(const struct gpu_work *work);
    int (*start)(const struct gpu_work *work, void *workspace, int device, void *stream,
                 char *fault);

    /* Whether the device can read what is at a place. */
    int (*reaches)(const void *at, int device, char *fault);

    const struct gpu_timer *timer; /* NULL: it times nothing */

    /* What all launches of the process have done since the call before; how many numbers
       that is.  NULL: it counts nothing. */
    int (*counts)(struct gpu_count to[GPU_COUNTS_MAX]);

    /* GEMMs on units that a device does not have, which the entries above compute as they
       do others; `start` takes one GEMM at a time.  The program chooses a method for each
       accumulator (gpu/emulate/emulation.h). */
    const struct gpu_multiplier *multipliers; /* ended by a row without an instruction;
                                                 NULL: it emulates nothing              */
    unsigned methods; /* it has code for: bits 1u << CHAIN_STEPS, which all have, ...   */

    /* Whether the instruction of that row of the table adds on the device as its unit's
       row says, in all that CHAIN_TENSOR rests on: what this finds out at the first call
       it keeps.  If it does not, other methods are chosen; without CHAIN_TENSOR it may be
       NULL. */
    int (*claim)(int device, int multiplier, char *fault);

    /* Sums in binary64 of products of f32 encodings, A[m][k] and B[k][n], for exact
       references: compute() of struct exact_sums (lib/exact/exact_sums.h).  All are in the
       host's memory.  NULL: it makes none. */
    int (*sums)(const struct exact_sums_to *to, size_t m, size_t n, size_t k,
                const uint32_t *a, const uint32_t *b, int device, char *fault);

    const struct gpu_streams *streams; /* NULL: of nobody else's */
};

#endif
