/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between the program and a module of GPU kernels.

   A module is a shared object, built by a GPU compiler, that the program opens while it
   runs.  It exports one symbol, a struct gpu_module called GPU_MODULE_SYMBOL, and needs
   no symbol of the program.  So the program works without the libraries of a GPU
   compiler, and one package serves machines with and without a GPU.  The module for the
   processor's own units is part of the program.  C and C++ read this file alike. */
#ifndef BITCUT_GPU_MODULE_MODULE_H
#define BITCUT_GPU_MODULE_MODULE_H

#include "gpu/emulate/rule.h"
#include "lib/gemm/plan.h"

/* Increased with every change of this file, and of the rows and plans that it passes on.
   A module with another number is refused. */
enum { GPU_INTERFACE = 25 };

enum { GPU_TEXT_MAX = 256, GPU_FAULT_MAX = 200 };

#define GPU_MODULE_SYMBOL "bitcut_gpu_module"

/* A row of a table of architectures: the devices for which one code is compiled. */
struct gpu_architecture {
    const char *name, *what; /* name in their compiler: "sm_90a", "gfx90a"       */
    const char *units;       /* part of the names of their units before the '/'   */
    unsigned bit;            /* bit of the row in sets of architectures           */
};

/* --- single instructions ---------------------------------------------------------- */

/* Variants of issuing one instruction, by position in gpu_variants (gpu/api/gpu.h). */
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

/* A batch of single instructions, as encodings without gaps: A[count][m][k],
   B[count][k][n], C and D[count][m][n]. */
struct gpu_batch {
    void *d;
    const void *a, *b, *c;
    size_t count;
};

/* A row of a table of instructions. */
struct gpu_instruction {
    const char *name, *what; /* name of a unit after the '/': family.shape.output.input */
    int m, n, k;             /* shape                                                   */
    int a_bytes, b_bytes, c_bytes; /* bytes of an element; D is as C                    */
    unsigned architectures; /* architectures that have it: a set of rows of the module's
                               table                                                    */
    unsigned variants;      /* its variants: bits 1u << GPU_PLAIN, ...                  */

    /* Used only in the module: start the batch, whose arrays are in device memory.
       Returns the module's own status; 0 if it has started. */
    int (*launch)(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
};

/* --- whole GEMMs ------------------------------------------------------------------ */

struct gpu_kernel;
struct exact_sums_to;

/* A GEMM that a device computes.  Nothing is open, it was checked, all matrices have a
   leading dimension and a format, and the kernel accepts them.  A GEMM on a unit that the
   device does not have is emulated: its kernel is a row of the program without a recipe
   (gpu_work_emulates()); its matrices are any that bitcut_gemm() accepts, at strides or
   by pointers; and it has no prepared parts.  Rows of the library's tables are only read
   as data. */
struct gpu_work {
    const struct gpu_kernel *kernel;
    struct bitcut_gemm gemm;
    struct gemm_plan plan;          /* its units are not read */
    struct gpu_emulation emulation; /* for an emulated GEMM    */
};

/* Largest number of GEMMs of parts in a batch, and of all their slices together. */
enum { GPU_COUNT_MAX = 65535 };

/* The terms of a k-step in order, with the product of low parts at its position, and the
   number of instructions of accumulator 0 after which it is promoted (0: never): struct
   bitcut_recipe (lib/gemm/recipe.h) without tiles. */
struct gpu_program {
    int parts, terms;
    struct recipe_term term[RECIPE_TERMS_MAX];
    int promote;
};

struct gpu_product;

/* A row of a table of kernels.  The recipe, the split and the unit of the instruction on
   the device's architecture determine every bit of its results, which equal the results
   of bitcut_gemm (lib/bitcut.h).  A kernel whose matrices are f32 multiplies parts, which
   the split pass makes before from matrices at strides, unless it has a side_most.
   Another kernel reads the matrices directly and needs no workspace: at strides, or by
   pointers unless they are f32.  Each matrix has either layout. */
struct gpu_kernel {
    const char *name, *what;    /* family.recipe.input.tile.stages                     */
    const char *recipe;         /* name of the row of lib/gemm/recipe.h that it
                                   implements */
    const char *instruction;    /* name of the row of the instruction, which defines the
                                   unit; NULL: fused multiply-adds in FP32, the unit
                                   fma/f32                                             */
    int matrices;               /* FORMAT_...: of A, B, C and D                        */
    int format;                 /* FORMAT_...: of the parts; the caller chooses the
                                   split's roundings and scale                         */
    int low_format;             /* FORMAT_...: of parts after the first, if it differs;
                                   then the parts are the recipe's split; 0: it does not
                                   differ                                              */
    struct gpu_program program; /* its terms and promotion, which may differ from the
                                   recipe                                              */
    int tile_m, tile_n, tile_k; /* size of a block's tile of D, and k that it loads at a
                                   time; 0: the kernels before it are faster where they
                                   fit                                                 */
    int products, warps;        /* number of GEMMs at a time, and of warps that compute
                                   them; 0: a block computes one GEMM with all of its
                                   warps                                               */
    int stages;                 /* tiles in flight; 1: no asynchronous copy; 0: no shared
                                   memory                                              */
    int threads, shared_bytes;  /* of a block                                          */
    int registers;              /* of a thread, approximately                          */
    int cluster_m, cluster_n;   /* blocks of a cluster: with tiles below each other, which
                                   share the parts of B, and next to each other, which
                                   share the parts of A; 1 or more                     */
    int load_bytes, read_bytes; /* bytes of a block for one k: to shared memory, from
                                   it                                                  */
    int slices_most;            /* largest number of slices (split-K)                  */
    int slices_together;        /* largest number of slices that a cluster, or else one
                                   block, adds without workspace, if C and D are
                                   row-major; 0: none                                  */
    size_t size_most;           /* largest m, n and k; 0: any                          */
    size_t side_most;           /* largest size of the shorter side of D; then the
                                   kernel reads f32 matrices and splits them in
                                   registers, by the split of its recipe; 0: any        */
    int chain_clocks;           /* clocks for tile_k of k in one slice, because its
                                   additions follow each other; 0: they do not limit   */
    unsigned architectures;     /* architectures that run it, as for an instruction    */

    /* Used only in the module. */
    size_t (*workspace)(const struct gpu_product *product); /* bytes; NULL: none        */
    bool (*splits)(const struct gpu_product *product); /* whether launch() makes the parts
                                                          that do not exist yet; NULL: it
                                                          does not                     */
    int (*launch)(const struct gpu_product *product);       /* for kernels of parts; or */
    int (*start)(const struct gpu_work *work, void *stream); /* for kernels that read the
                                                                matrices directly       */
};

/* Whether clusters of a kernel add this number of slices of k.  They do if all blocks of
   a GEMM, in a batch of one, run at the same time on existing devices, which have 132
   multiprocessors.  A cluster is in one GPC, so an H100 has 66 clusters of two, 39 of
   three, 30 of four and 15 of eight.  With more blocks, it is faster to compute the
   slices one after the other and add them through the workspace. */
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

/* The number of blocks of a cluster in kernels with a side_most: so many that the
   clusters of all `blocks` tiles of D run at one time, with one block on each
   multiprocessor, and each block has four chunks of k; by CUDA's own count an H200 has
   room for this many clusters.  With 8 chunks or fewer, one block has a warp for each. */
enum { GPU_NARROW_K = 32, GPU_NARROW_WARPS = 8, GPU_NARROW_CLUSTER = 16 };
static inline int gpu_narrow_cluster(size_t blocks, size_t k)
{
    static const struct {
        int cluster;
        size_t most;
    } row[] = { { GPU_NARROW_CLUSTER, 7 },
                { 8, 15 },
                { 6, 17 },
                { 5, 22 },
                { 4, 30 },
                { 3, 39 },
                { 2, 66 } };
    const size_t chunks = k / GPU_NARROW_K + (k % GPU_NARROW_K != 0);
    if (chunks <= GPU_NARROW_WARPS) return 1;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        if (blocks <= row[i].most && 4 * (size_t)row[i].cluster <= chunks)
            return row[i].cluster;
    return 1;
}

/* Whether the GEMM is emulated. */
static inline bool gpu_work_emulates(const struct gpu_work *work)
{
    return !work->kernel->recipe;
}

/* --- timing ----------------------------------------------------------------------- */

/* The role of a peer: a library's GEMM in FP32, to which a library may fall back without
   notice; or its GEMM of f16 parts, whose rate bounds every GEMM made of f16 parts. */
enum gpu_role { GPU_PEER, GPU_PEER_SINGLE, GPU_PEER_HALF };

/* A row of a table of peers: GEMMs of a library, with which kernels are compared. */
struct gpu_peer {
    const char *name, *what;
    int matrices;      /* FORMAT_...: of A, B and D                               */
    bool pointers;     /* whether matrices are given by pointers, not at strides  */
    const char *split; /* the row of lib/number/split.h that makes its parts; NULL: it
                          reads the matrices                                           */
    enum gpu_role role;
    const void *own; /* used only in the module */
};

/* The part of a GEMM that is timed: the whole GEMM; the product without the split pass,
   for a GEMM that multiplies parts; or only the split pass over A and B. */
enum gpu_part { GPU_WHOLE, GPU_PRODUCT, GPU_SPLIT, GPU_PARTS };

/* The subject of a measurement: a kernel, or a peer if there is no kernel. */
struct gpu_entrant {
    const struct gpu_kernel *kernel;
    const struct gpu_peer *peer;
    struct gemm_plan plan; /* for a kernel; for a peer only the splits are used    */
    bool pointers;         /* for a kernel that reads the matrices directly: whether it
                              gets pointers to them                                 */
    enum gpu_part part;
    const struct gpu_emulation *emulation; /* for the kernel of emulated GEMMs         */
};

/* Reasons why the clock of a board is lower than it could be: bits of a set. */
enum { GPU_LIMIT_POWER = 1, GPU_LIMIT_HEAT = 2 };

enum { GPU_READS_MAX = 64 };

/* How often an entrant starts. */
struct gpu_loop {
    int warm;    /* starts before the measurement, at least 1                          */
    int repeats; /* starts in the measurement, at least 1                              */
    int reads;   /* number of reads of the board meanwhile, one in each of as many equal
                    parts of the repeats: 1 to GPU_READS_MAX, and at most repeats.  The
                    device waits if a part is shorter than a read                     */
};

struct gpu_measurement {
    double milliseconds;      /* time of all repeats, between two events on their
                                 stream                                                 */
    double board_watts;       /* power by the board's own counter of energy, between the
                                 first and the last step of the counter that were read;
                                 0: no counter, or fewer than two steps                 */
    double board_watts_most;  /* power limit in force; 0: unknown                       */
    int megahertz;            /* median of the clocks of the multiprocessors that were
                                 read, or 0                                             */
    int reads;                /* number of reads that reported what limits the clock; 0:
                                 none                                                   */
    int at_power, at_heat;    /* number of these reads that reported each limit         */
};

/* The library that provides the peers. */
struct gpu_library {
    int here;                /* 0: no peer can run                                */
    char text[GPU_TEXT_MAX]; /* name and version, or why it is not available, one line */
};

struct gpu_session; /* D = A B of one shape, with matrices in device memory. */

/* The data for a GEMM that other code starts: its matrices in device memory, its sizes,
   and everything else that the session was given; a workspace; and a stream. */
struct gpu_place {
    struct bitcut_gemm gemm;
    void *workspace;
    size_t bytes;
    void *stream;
};

/* How GEMMs are timed.  Functions return and report errors as the functions of struct
   gpu_module. */
struct gpu_timer {
    const struct gpu_peer *peers; /* ended by a row without a name */

    /* Copy the matrices A (m x k) and B (k x n) of a batch from host memory to a device.
       Both have the format of A, and are row-major without gaps, one after the other.
       There are `distinct` matrices of each: GEMM i uses number i % distinct. */
    int (*begin)(struct gpu_session **session, struct gpu_library *library,
                 const struct bitcut_gemm *gemm, size_t distinct, int device,
                 char *fault);

    /* Fill D with NaNs, make the parts that are not timed, start the entrant loop->warm
       times, wait, start it loop->repeats times between two events, and wait.  Nothing is
       allocated between the events, and the board is read while the device works.  Small
       operands stay in the device's cache from one repeat to the next. */
    int (*run)(struct gpu_measurement *measurement, struct gpu_session *session,
               const struct gpu_entrant *entrant, const struct gpu_loop *loop,
               char *fault);

    /* Copy `rows` rows of D, with n elements each, from row i on to the host.  Row i is
       row i % m of matrix i / m. */
    int (*read)(void *to, struct gpu_session *session, size_t i, size_t rows,
                char *fault);

    /* The data with which `start` of the module can start a kernel's GEMM.  It belongs to
       the session, and is valid until the next call of run() or place(). */
    int (*place)(struct gpu_place *to, struct gpu_session *session,
                 const struct gpu_entrant *entrant, char *fault);

    /* Start a kernel that does nothing on this stream; NULL: the module has none. */
    int (*start_empty)(struct gpu_session *session, char *fault);

    /* Wait until all work on this stream is complete; NULL: work is complete when the
       call that starts it returns, and starts are not timed. */
    int (*wait)(struct gpu_session *session, char *fault);

    void (*end)(struct gpu_session *session);

    /* Whether a peer is not available here.  NULL: all peers are available, or none, as
       the library of a session says. */
    bool (*absent)(const struct gpu_peer *peer);

    /* Products per second of the kernel's instruction on operands that stay in registers,
       by all threads.  For NULL, the rate of a library's GEMM in FP32, GPU_PEER_SINGLE.
       It is measured at each call; 0: unknown.  A NULL function: the module measures no
       peak. */
    double (*peak)(const struct gpu_kernel *kernel);
};

/* --- FP64 GEMMs ------------------------------------------------------------------- */

/* A row of a table of kernels for FP64 GEMMs by a scheme.  The scheme and the number of
   parts determine every bit of its results, which equal those of bitcut_gemm()
   (lib/bitcut.h, "FP64"). */
struct gpu_fp64_kernel {
    const char *name, *what; /* family.scheme.format.tile.stages                       */
    const char *scheme;      /* name of the row of emu/fp64/scheme.c that it computes  */
    const char *instruction; /* name of the row of the instruction, which multiplies
                                parts                                                  */
    int parts_most;          /* largest number of parts; the smallest is 1             */
    size_t size_most;        /* largest m, n and k                                     */
    unsigned architectures;  /* architectures that run it, as for an instruction       */
    bool groups, nearest;    /* used only in the module                                */
};

/* A row of a table of peers: FP64 GEMMs of a library. */
struct gpu_fp64_peer {
    const char *name, *what;
    int bits; /* bits that its fixed-point numbers retain; 0: FP64 units */
};

/* An FP64 GEMM by a kernel, or by a peer.  It was checked: it is no batch, all matrices
   have the format f64 and a leading dimension, and the kernel supports its sizes and its
   `parts`, which are set.  C is not read if beta is +-0.  A peer takes alpha 1, beta 0,
   and row-major matrices without gaps. */
struct gpu_fp64 {
    const struct gpu_fp64_kernel *kernel; /* NULL: `peer` computes it */
    const struct gpu_fp64_peer *peer;
    struct bitcut_gemm gemm;
};

/* --- attention -------------------------------------------------------------------- */

struct gpu_attention;

/* A row of a table of kernels for attention as FlashAttention 2 computes it.  The
   shape of tiles and the other members of the call determine every bit of its results. */
struct gpu_attention_kernel {
    const char *name, *what; /* family.algorithm.format                             */
    int format;              /* FORMAT_...: of Q, K, V, P and O                     */
    const char *instruction; /* name of the row of the instruction                  */
    int grain; /* head_dim, tile_rows and tile_keys are multiples of it             */
    int head_dim_most, tile_keys_most;
    int tile_most;          /* largest head_dim * tile_keys                         */
    unsigned architectures; /* architectures that run it, as for an instruction     */

    /* Used only in the module. */
    int (*launch)(const struct gpu_attention *call);
};

/* Attention by a kernel.  Q and O are [batch][heads][queries][head_dim], K and V
   [batch][kv_heads][keys][head_dim], log-sum-exps [batch][heads][queries], without gaps.
   It was checked: no size is 0, kv_heads divides heads, tile_rows are at most 512, splits
   are 1 to 128, batch * splits and heads are at most GPU_COUNT_MAX, and sizes, tiles and
   splits fit the kernel. */
struct gpu_attention {
    const struct gpu_attention_kernel *kernel;
    void *o;
    float *lse;
    const void *q, *k, *v;
    int batch, heads, kv_heads, queries, keys, head_dim;
    int tile_rows, tile_keys; /* queries and keys of a tile                             */
    int splits;               /* splits of the keys, of whole tiles                     */
    bool causal; /* the last query sees all keys, each query before it one key less     */
    float scale, scale_log2; /* of scores, and this times log2(e)                       */
    bool ascending;    /* order of the tiles of keys; false: from the last to the first */
    bool scales;       /* the maximum is that of scores times scale_log2, rounded       */
    bool fuses;        /* whether scale_log2 s - scale_log2 max is one FMA              */
    bool fast;         /* whether FP32 operations flush subnormals, and the merge of
                          splits has approximate functions                              */
    bool apart;        /* whether a thread adds a tile of P before its sum so far       */
    bool neighbours;   /* whether threads add their sums at distance 1 first; false: 2  */
    bool approximates; /* 1 / sum by rcp.approx.ftz.f32; false: correctly rounded       */
    bool lse_nan;      /* whether a log-sum-exp is NaN if the sum is; false: +Inf       */
    int guarded; /* number of tiles, from the first one taken on, that take a new maximum
                    of -inf as 0 when they rescale                                      */
    float *partial_o, *partial_lse; /* set by the module, if the keys are split         */
};

/* --- what a module has ------------------------------------------------------------ */

/* A row of a module's table of families.  Among the kernels of a recipe, over all
   families, the first one that a device can run determines the default instruction and
   program.  Then gpu/api/choose.h chooses among the kernels with the same bits, whose
   order does not matter. */
struct gpu_family {
    const char *name, *what;
    const struct gpu_instruction
        *instructions;                /* ended by a row without a name; or NULL */
    const struct gpu_kernel *kernels; /* ended by a row without a name; or NULL */
};

struct gpu_device {
    int number;                 /* number of the device, from 0         */
    char name[GPU_TEXT_MAX];    /* the maker's name: "NVIDIA H200"      */
    char driver[GPU_TEXT_MAX];  /* version of the driver                */
    char runtime[GPU_TEXT_MAX]; /* the runtime with which the module was built */
    const struct gpu_architecture *architecture; /* the first row of the module's table
                                                    that describes it */
    unsigned architectures;   /* all such rows, as a set; a processor has several
                                 units                                             */
    char lacks[GPU_TEXT_MAX]; /* the other rows, and why they do not describe it, one
                                 line; empty: there are none  */
    int shared_bytes;         /* largest shared memory of a block     */

    /* Properties of a unit, which is a multiprocessor, for the choice of a kernel
       (gpu/api/choose.h).  0 if no kernel has tiles. */
    int units;
    int unit_registers, unit_threads, unit_blocks; /* largest numbers that it holds at a
                                                      time                            */
    int unit_shared;  /* bytes of its shared memory                                   */
    int block_shared; /* shared memory that a block costs beyond its own use          */
    int wave;         /* threads of a warp or wavefront                               */
    int products;     /* products of 16-bit parts in its matrix cores per clock       */
    int shared_rate;  /* bytes to or from shared memory that cost one clock of products */
    int cache_rate;   /* bytes per clock from the L2 cache while all units load       */
};

/* The layout of parts in memory.  Parts lie line by line, where a line is a row of A or a
   column of B.  k is ascending, and padded with +0 to whole runs of GPU_PARTS_RUN
   elements, the k of the longest k-step.  Part j of element p of line i is element (j *
   lines + i) * run(k) + p, with 16 bits, or 32 for tf32, or 8.  If parts after the first
   have another format, part j of element p of line i is element ((j - 1) * lines + i) *
   run(k) + p after all lines of the first part.  The parts of equilibrated lines are
   followed by the largest finite magnitude of each line, a 32-bit FP32 encoding. */
enum { GPU_PARTS_RUN = 32 };

/* Alignment of parts and workspaces in device memory, in bytes. */
enum { GPU_ALIGNMENT = 256 };

/* A count from a module that executes code itself. */
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

/* A copy between host memory and device memory: lines of equal length, at a distance of
   `pitch` bytes on each side. */
struct gpu_copy {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, bytes, lines;
};

/* Functions for code that computes in the order of a stream of the caller.  They return
   and report errors as the functions of struct gpu_module, and use the current device of
   the calling thread.  While a stream captures a graph, only `ask`, `reserve`, `release`
   and `repeat` are called with it. */
struct gpu_streams {
    int (*device)(int *number, char *fault);

    /* Get the number of the graph that the stream captures.  No other graph of the
       process has the same number.  0: the stream does not capture. */
    int (*ask)(uint64_t *capture, void *stream, char *fault);

    /* Reserve memory for work in the order of a stream, from this point of the stream to
       the call of release().  If the stream captures, the memory belongs to the graph: it
       exists as long as the graph and everything made from it, and release() does
       nothing. */
    int (*reserve)(void **at, size_t bytes, void *stream, char *fault);
    int (*release)(void *at, void *stream, char *fault);

    /* Copy, and wait until the copy and all work before it are complete. */
    int (*copy)(const struct gpu_copy *copy, int to_host, void *stream, char *fault);

    /* Start copying one line of device memory to all lines; from_pitch is not read. */
    int (*repeat)(const struct gpu_copy *copy, void *stream, char *fault);
};

/* --- the module ------------------------------------------------------------------- */

/* The exports of a module.  A function returns 0 on success; otherwise it returns another
   number and has written one line into fault[GPU_FAULT_MAX].  Devices have the numbers
   that the system shows, from 0.  The current device of the thread is unchanged. */
struct gpu_module {
    int interface; /* GPU_INTERFACE */
    const char *name, *what;
    const struct gpu_architecture *architectures; /* ended by a row without a name */
    const struct gpu_family *families;            /* ended by a row without a name */

    /* Describe a device.  A device whose architecture has no row is refused. */
    int (*describe)(struct gpu_device *to, int device, char *fault);

    /* Issue one instruction for each fragment and wait: D[f] from A[f], B[f] and C[f] for
       every f < count.  The arrays are in host memory, with any alignment that fits their
       elements.  D has every bit that the device gave; it is undefined if the result is
       not 0.  The device must have the instruction, and the instruction must have the
       variant. */
    int (*run)(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
               enum gpu_variant variant, int device, char *fault);

    /* Bytes of the parts of an operand.  The function reads the sizes, the plan's split,
       and whether lines are equilibrated; functions that make parts also read the plan's
       target.  NULL, as all functions up to `reaches`: the module has no kernels. */
    size_t (*parts)(const struct gpu_work *work, enum bitcut_operand operand);

    /* Make the parts of an operand of one GEMM, and wait.  Both are in host memory.  No
       kernel is read. */
    int (*split)(void *parts, const struct gpu_work *work, enum bitcut_operand operand,
                 int device, char *fault);

    /* Run GEMMs whose matrices, and pointers to them, are in host memory, and wait.
       memory[] holds all matrices of A, B, C and D, in this order; C may be missing.
       Each memory is copied to the device completely, to an address that is equal modulo
       GPU_ALIGNMENT, and the memory of D is copied back completely.  C and D may be the
       same. */
    int (*gemm)(const struct gpu_work *work, const struct gpu_memory memory[4],
                int device, char *fault);

    /* The same for data in device memory.  Nothing is allocated, and nothing waits.  All
       work goes to `stream`, a stream of the runtime (a cudaStream_t, a hipStream_t),
       which may be capturing a graph.  `workspace` is device memory of workspace() bytes
       that belongs to the GEMM until it ends; NULL if this is 0.  The query reads only
       the layouts and strides of the matrices, and whether parts are NULL. */
    int (*prepare)(void *parts, const struct gpu_work *work, enum bitcut_operand operand,
                   int device, void *stream, char *fault);
    size_t (*workspace)(const struct gpu_work *work);
    int (*start)(const struct gpu_work *work, void *workspace, int device, void *stream,
                 char *fault);

    /* Check that the device can read the memory at an address. */
    int (*reaches)(const void *at, int device, char *fault);

    const struct gpu_timer *timer; /* NULL: the module times nothing */

    /* Get the counts of all launches of the process since the last call.  Returns how
       many counts there are.  NULL: the module counts nothing. */
    int (*counts)(struct gpu_count to[GPU_COUNTS_MAX]);

    /* GEMMs on units that a device does not have.  The functions above compute them like
       other GEMMs; `start` takes one GEMM at a time.  The program chooses a method for
       each accumulator (gpu/emulate/emulation.h). */
    const struct gpu_multiplier *multipliers; /* ended by a row without an instruction;
                                                 NULL: no emulation                     */
    unsigned methods; /* methods with code: bits 1u << CHAIN_STEPS, which all have, ... */

    /* Whether the instruction of this row of the table adds on the device as the row of
       its unit says, in all respects that CHAIN_TENSOR relies on.  The first call tests
       it, and the result is stored.  If it does not, other methods are chosen.  Without
       CHAIN_TENSOR the function may be NULL. */
    int (*claim)(int device, int multiplier, char *fault);

    /* Sums in binary64 of products of f32 encodings, A[m][k] and B[k][n], for exact
       references: compute() of struct exact_sums (lib/exact/exact_sums.h).  All arrays
       are in host memory.  NULL: the module has no such sums. */
    int (*sums)(const struct exact_sums_to *to, size_t m, size_t n, size_t k,
                const uint32_t *a, const uint32_t *b, int device, char *fault);

    const struct gpu_streams *streams; /* NULL: the module cannot use streams of other
                                          code                   */

    const struct gpu_fp64_kernel *fp64_kernels; /* ended by a row without a name; NULL: no
                                                   FP64 GEMMs                      */
    const struct gpu_fp64_peer *fp64_peers;     /* the same */

    /* Run an FP64 GEMM of matrices without gaps in host memory, and wait.  Then start it
       `repeats` times more, and write the time of each start, without copies, to
       milliseconds[].  The device must have an architecture of the kernel. */
    int (*fp64)(const struct gpu_fp64 *gemm, double *milliseconds, int repeats, int device,
                char *fault);

    /* The same by a kernel for matrices in device memory, on a stream and in a workspace,
       as `workspace` and `start` above.  The workspace depends on the kernel, the sizes
       and the parts only. */
    size_t (*fp64_workspace)(const struct gpu_fp64 *gemm, int device);
    int (*fp64_start)(const struct gpu_fp64 *gemm, void *workspace, int device,
                      void *stream, char *fault);

    const struct gpu_attention_kernel *attention_kernels; /* ended by a row without a
                                                             name; NULL: no attention */

    /* Compute attention of matrices in host memory, and wait; times as for fp64(). */
    int (*attention)(const struct gpu_attention *attention, double *milliseconds,
                     int repeats, int device, char *fault);
};

#endif
