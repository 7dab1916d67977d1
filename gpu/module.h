/* What the program and a module of GPU kernels agree on.

   A module is a shared object, built by a GPU compiler, that the program opens while it
   runs.  It exports one symbol, a struct gpu_module called GPU_MODULE_SYMBOL, and needs
   none of the program's: so a program without a GPU compiler's libraries works, and one
   package serves machines with and without a GPU.  C and C++ read this file alike. */
#ifndef BITCUT_GPU_MODULE_H
#define BITCUT_GPU_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Raised with every change of this file: a module of another number is refused. */
enum { GPU_INTERFACE = 6 };

enum { GPU_TEXT_MOST = 256, GPU_FAULT_MOST = 200 };

#define GPU_MODULE_SYMBOL "bitcut_gpu_module"

/* --- single instructions ---------------------------------------------------------- */

/* Ways to issue one instruction, by position in gpu_variants (gpu/gpu.h). */
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
    int least, most; /* compute capabilities (10 major + minor) that have it, 0 for most:
                        all from least on                                               */
    unsigned variants; /* those it has: bits 1u << GPU_PLAIN, ...                       */

    /* For the module alone: start the batch, whose arrays are in the device's memory.
       The module's own status, 0 if it has started. */
    int (*launch)(const struct gpu_batch *batch, enum gpu_variant variant);
};

/* --- whole GEMMs ------------------------------------------------------------------ */

enum { GPU_WORDS_MOST = 3, GPU_TERMS_MOST = 9 };

enum gpu_format { GPU_F16, GPU_BF16, GPU_TF32, GPU_FORMATS }; /* of words */

/* How a word is rounded: the fields of struct bitcut_rounding (lib/round.h). */
struct gpu_rounding {
    int direction, bit, overflow, flush;
};

/* How an FP32 value becomes words, as struct bitcut_split (lib/split.h) defines. */
struct gpu_split {
    enum gpu_format format;
    int words, scale;
    struct gpu_rounding high, low;
    int equilibrate; /* lines first, and outputs back, as lib/equilibrate.h defines */
};

struct gpu_term {
    int a, b, accumulator;
};

/* The terms of a k-step in order, low*low in its place, and after how many instructions
   of accumulator 0 it is promoted (0: never), of which a recipe that promotes has one in
   each k-step: struct bitcut_recipe (lib/recipe.h) without tiles. */
struct gpu_recipe {
    int words, terms;
    struct gpu_term term[GPU_TERMS_MOST];
    int promote;
};

/* An operand: `lines` rows of A, or columns of B, of k FP32 values each.  Element p of
   line i is at[i * ld + p], or at[p * ld + i] with `across`: so a row-major A and a
   transposed row-major B are not across. */
struct gpu_operand {
    const uint32_t *at;
    size_t ld;
    int across;
    const void *words;   /* NULL, or what prepare() made of it: `at` is not read then */
    size_t stride;       /* of a batch: elements from one matrix to the next; 0: all
                            GEMMs have the same                                       */
    size_t words_stride; /* likewise bytes of words, a multiple of GPU_ALIGNMENT    */
};

enum { GPU_COUNT_MOST = 65535 }; /* of a batch, and of its slices all together */

/* D = alpha A B + beta C for a batch of `count` GEMMs, 1 to GPU_COUNT_MOST: C and D are
   row-major, m x n, and no matrices of D overlap.  beta = +-0 does not read C.  D may be
   C of the same ld and stride.  For column-major C and D ask for D^T = B^T A^T. */
struct gpu_gemm {
    size_t count, m, n, k;
    uint32_t alpha, beta; /* FP32 encodings */
    struct gpu_operand a, b;
    const uint32_t *c;
    size_t ldc, stride_c;
    uint32_t *d;
    size_t ldd, stride_d;
    struct gpu_split split;
    int slices; /* split-K as lib/recipe.h says: 1 or more, of whole k-steps */
};

struct gpu_product;

/* A row of a table of kernels.  What each computes is fixed to the bit by its recipe, the
   split and the unit of its instruction on the device's architecture: D is that of
   bitcut_gemm() (lib/bitcut.h). */
struct gpu_kernel {
    const char *name, *what;    /* family.recipe.input.tile.stages                     */
    const char *recipe;         /* name of the row of lib/recipe.h that it implements  */
    const char *instruction;    /* name of the row above: the unit                     */
    enum gpu_format format;     /* of the words; the split's roundings and scale are
                                   the caller's                                        */
    struct gpu_recipe program;  /* what it does, which may vary the recipe             */
    int tile_m, tile_n, tile_k; /* of D a block computes, and of k it loads at a time  */
    int stages;                 /* tiles in flight; 1: no asynchronous copy            */
    int threads, shared_bytes;  /* of a block                                          */
    int registers;              /* of a thread, about                                  */
    int cluster;                /* blocks with tiles below each other that bring the
                                   words of B to all of them: 1 or more                */
    int load_bytes, read_bytes; /* of a block for one k: to shared memory, from it     */
    int slices_most;            /* of split-K that it takes                            */
    size_t size_most;           /* of m, n and k, 0: any                               */
    int least, most;            /* compute capabilities, as of an instruction          */

    /* For the module alone. */
    size_t (*workspace)(const struct gpu_product *product); /* bytes; NULL: none */
    int (*launch)(const struct gpu_product *product);
};

/* --- timing ----------------------------------------------------------------------- */

/* What a peer is to the others: a library's GEMM in FP32, to which it may fall back in
   silence; or its GEMM of f16 words, whose rate bounds all that is made of them. */
enum gpu_role { GPU_PEER, GPU_PEER_SINGLE, GPU_PEER_HALF };

/* A row of a table of peers: GEMMs of a library, to compare kernels with. */
struct gpu_peer {
    const char *name, *what;
    const char *split; /* the row of lib/split.h that makes its words; NULL: it has none
                          and reads FP32                                              */
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
    struct gpu_split split; /* of what multiplies words */
    int slices;             /* of a kernel              */
    enum gpu_part part;
};

struct gpu_measurement {
    double milliseconds;      /* of all repeats, between two events on their stream     */
    double board_millijoules; /* by the board's own counter meanwhile; 0: it has none.
                                 Counters move every 20 to 100 ms                       */
    int megahertz;            /* the clock of the multiprocessors then, or 0            */
};

/* What the peers are of. */
struct gpu_library {
    int here;                 /* 0: no peer may be run                             */
    char text[GPU_TEXT_MOST]; /* name and version, or why it is not here, one line */
};

struct gpu_session; /* D = A B of one shape, matrices in the device's memory */

/* How GEMMs are timed.  Functions return and report as those of struct gpu_module. */
struct gpu_timer {
    const struct gpu_peer *peers; /* ended by a row without a name */

    /* Copy `count` matrices A (m x k) and B (k x n), row-major FP32 without gaps and one
       matrix after the other, to the device: a batch of so many GEMMs. */
    int (*begin)(struct gpu_session **session, struct gpu_library *library, size_t count,
                 size_t m, size_t n, size_t k, const uint32_t *a, const uint32_t *b,
                 char *fault);

    /* Fill D with NaNs, make the words that are not timed, start the entrant once, then
       `repeats` times between two events, and wait.  Nothing is allocated between the
       events.  Operands small enough stay in the device's cache from one repeat to the
       next. */
    int (*run)(struct gpu_measurement *measurement, struct gpu_session *session,
               const struct gpu_entrant *entrant, int repeats, char *fault);

    /* Copy row i of D, n elements, to the host: row i % m of matrix i / m. */
    int (*read)(uint32_t *row, struct gpu_session *session, size_t i, char *fault);

    void (*end)(struct gpu_session *session);
};

/* --- batches of small GEMMs ------------------------------------------------------- */

enum { GPU_BATCHED_MOST = 64 }; /* of m, n and k */

/* A matrix of every GEMM of a batch, f16 and row-major: matrix i begins i * stride
   elements behind `at`; or, with `each`, at each[i]. */
struct gpu_batched_operand {
    const uint16_t *at;
    size_t stride;
    const uint16_t *const *each; /* NULL, or so many pointers as there are GEMMs */
    size_t ld;                   /* elements from one row in memory to the next  */
    int transposed;              /* of A and B: those rows are the columns       */
};

/* D_i = alpha A_i B_i + beta C_i for i < count: A_i is m x k, B_i k x n, C_i and D_i m x
   n. beta = +-0 does not read C.  D may be C, every D_i with the place and ld of its C_i.
 */
struct gpu_batched {
    size_t count;
    int m, n, k;
    uint32_t alpha, beta; /* FP32 encodings */
    struct gpu_batched_operand a, b, c, d;
};

/* A row of a table of kernels for batches.  What each computes is fixed to the bit by the
   unit of its instruction: D_i is that of bitcut_gemm() (lib/bitcut.h) by the recipe
   plain, or by fp32 without an instruction, for the values of A_i, B_i and C_i, rounded
   once more, to f16, to nearest even; NaN is 0x7fff. */
struct gpu_batched_kernel {
    const char *name, *what;   /* batch.how.size.products.stages                   */
    const char *instruction;   /* a row of the instructions; NULL: fused multiply-adds in
                                  FP32, the unit fma/f32                           */
    int size_most;             /* of m, n and k                                    */
    int products, warps;       /* so many GEMMs at a time by so many warps         */
    int stages;                /* in shared memory; 0: straight into registers     */
    int threads, shared_bytes; /* of a block                                       */
    int least, most;           /* compute capabilities, as of an instruction       */

    /* For the module alone: start it on a stream. */
    int (*launch)(const struct gpu_batched *batched, void *stream);
};

/* Memory of the host. */
struct gpu_memory {
    void *at;
    size_t bytes;
};

/* A row of a table of peers for batches. */
struct gpu_batched_peer {
    const char *name, *what;
    int pointers;    /* matrices by pointers, not at strides */
    const void *own; /* for the module alone                 */
};

/* What is timed: a kernel, or without one a peer. */
struct gpu_batched_entrant {
    const struct gpu_batched_kernel *kernel;
    const struct gpu_batched_peer *peer;
    int pointers; /* of a kernel, as of a peer */
};

struct gpu_batched_session; /* D_i = A_i B_i, the matrices in the device's memory */

/* How batches are timed: as struct gpu_timer says of GEMMs. */
struct gpu_batched_timer {
    const struct gpu_batched_peer *peers; /* ended by a row without a name */

    /* `count` GEMMs of m x k by k x n, row-major without gaps and one matrix after the
       other.  A and B have `distinct` matrices each: GEMM i takes number i % distinct. */
    int (*begin)(struct gpu_batched_session **session, struct gpu_library *library,
                 size_t count, int m, int n, int k, const uint16_t *a, const uint16_t *b,
                 size_t distinct, char *fault);
    int (*run)(struct gpu_measurement *measurement, struct gpu_batched_session *session,
               const struct gpu_batched_entrant *entrant, int repeats, char *fault);

    /* Copy D_i, m n elements, to the host. */
    int (*read)(uint16_t *d, struct gpu_batched_session *session, size_t i, char *fault);
    void (*end)(struct gpu_batched_session *session);
};

/* What a module has for batches.  Functions return and report as those of struct
   gpu_module. */
struct gpu_batched_part {
    /* Ended by a row without a name; the kernels for small sizes first, and of one size
       the fastest first. */
    const struct gpu_batched_kernel *kernels;

    /* Run a batch whose matrices are in the host's memory, and wait.  memory[] holds all
       matrices of A, B, C and D, in this order, and is copied whole to places that are
       the same modulo GPU_ALIGNMENT; that of D is copied back whole.  C and D may be one.
     */
    int (*run)(const struct gpu_batched *batched, const struct gpu_batched_kernel *kernel,
               const struct gpu_memory memory[4], char *fault);

    /* The same for matrices and pointers in the device's memory: nothing is allocated,
       and nothing waits. */
    int (*start)(const struct gpu_batched *batched,
                 const struct gpu_batched_kernel *kernel, void *stream, char *fault);

    const struct gpu_batched_timer *timer; /* NULL: it times nothing */
};

/* --- what a module has ------------------------------------------------------------ */

/* A row of a module's table of families.  Of the kernels of a recipe, through all
   families, the first that a device can run says which instruction and which program it
   takes without a better reason; gpu/choose.h then chooses among those of the same bits,
   whose order means nothing. */
struct gpu_family {
    const char *name, *what;
    const struct gpu_instruction
        *instructions;                /* ended by a row without a name; or NULL */
    const struct gpu_kernel *kernels; /* likewise                               */
};

struct gpu_device {
    char name[GPU_TEXT_MOST];    /* as the maker says: "NVIDIA H200"     */
    char driver[GPU_TEXT_MOST];  /* version of the driver                */
    char runtime[GPU_TEXT_MOST]; /* what the module was built with       */
    int capability;              /* compute capability, 10 major + minor */
    int shared_bytes;            /* most shared memory of a block        */

    /* Of a unit, that is a multiprocessor: for the choice of a kernel (gpu/choose.h). */
    int units;
    int unit_registers, unit_threads, unit_blocks; /* that it holds at a time         */
    int unit_shared;  /* bytes of its shared memory                                   */
    int block_shared; /* of these, what a block costs beyond what it uses             */
    int products;     /* of 16-bit words that its matrix cores make in a clock        */
    int shared_rate;  /* bytes to or from shared memory that cost a clock of products */
    int cache_rate;   /* bytes that come from the L2 cache in a clock, all loading    */
};

/* Words lie line after line, k ascending and padded with +0 to whole runs of
   GPU_WORDS_RUN elements: word j of element p of line i is element
   (j * lines + i) * run(k) + p, of 16 bits, or of 32 for tf32.  Those of equilibrated
   lines are followed by the largest finite magnitude of each, 32 bits of FP32. */
enum { GPU_WORDS_RUN = 64 };

/* Bytes that words and workspaces in the device's memory are aligned to. */
enum { GPU_ALIGNMENT = 256 };

/* What a module exports.  A function returns 0, or it returns another number and has
   written one line into fault[GPU_FAULT_MOST]. */
struct gpu_module {
    int interface; /* GPU_INTERFACE */
    const char *name, *what;
    const struct gpu_family *families; /* ended by a row without a name */

    /* Describe the device that run() uses: the first that the system shows. */
    int (*describe)(struct gpu_device *device, char *fault);

    /* Issue one instruction a fragment and wait: D[f] from A[f], B[f] and C[f] for every
       f < count.  The arrays are in the host's memory, any alignment that fits their
       elements; D is what the device gave, every bit, or undefined for another return
       than 0.  The device must have the instruction, and the instruction the variant. */
    int (*run)(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
               enum gpu_variant variant, char *fault);

    /* Split `lines` lines of k values into words, and wait.  Both arrays are in the
       host's memory. */
    int (*split)(void *words, const struct gpu_split *split,
                 const struct gpu_operand *operand, size_t lines, size_t k, char *fault);

    /* Run GEMMs whose matrices are in the host's memory, and wait.  Of D all is copied to
       the device before and back after, what lies between rows and matrices included. */
    int (*gemm)(const struct gpu_gemm *gemm, const struct gpu_kernel *kernel,
                char *fault);

    /* The same for matrices in the device's memory.  Nothing is allocated, and nothing
       waits: all work goes to `stream` (cudaStream_t), which may be capturing a graph.
       `workspace` is device memory of workspace() bytes that the GEMM has for itself
       until it ends; NULL if that is 0.  prepare() makes an operand's words, words()
       bytes, for any number of GEMMs.  The query reads of the matrices only whether words
       are NULL. */
    size_t (*words)(const struct gpu_split *split, size_t lines, size_t k);
    int (*prepare)(void *words, const struct gpu_split *split,
                   const struct gpu_operand *operand, size_t lines, size_t k,
                   void *stream, char *fault);
    size_t (*workspace)(const struct gpu_gemm *gemm, const struct gpu_kernel *kernel);
    int (*start)(const struct gpu_gemm *gemm, const struct gpu_kernel *kernel,
                 void *workspace, void *stream, char *fault);

    const struct gpu_timer *timer; /* NULL: it times nothing */

    const struct gpu_batched_part *batched; /* NULL: it has nothing for batches */
};

#endif
