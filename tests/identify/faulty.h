/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM kernel with possible programming errors: every fault is a row that changes a
   correct kernel.  It shares no code with the emulator and the analysis, so that their
   explanations of its results can be compared with the actual fault. */
#ifndef BITCUT_TESTS_IDENTIFY_FAULTY_H
#define BITCUT_TESTS_IDENTIFY_FAULTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ACCUMULATORS = 3, TERMS_MAX = 6, FRAGMENT_M = 16, FRAGMENT_N = 8 };

/* --- formats and units (faulty_unit.c) --------------------------------------------- */

/* Values m 2^(e - fraction): e from least to most, |m| below 2^(fraction + 1). */
struct floating {
    int fraction, least, most;
};

extern const struct floating f16, bf16, tf32, f32;

/* CUT: toward zero; 0 below the normal numbers, infinity above all.  SATURATING: nearest
   even, and no infinity. */
enum rule { NEAREST_EVEN, NEAREST_AWAY, TOWARD_ZERO, CUT, SATURATING };

/* x rounded to the format; NaN and infinities are left alone. */
float round_to(const struct floating *f, enum rule rule, float x);

/* The FP32 value that is x, toward zero.  */
float toward_zero(double x);

/* A part: m 2^(e - fraction).  What is not finite has e = BEYOND. */
struct digits {
    int32_t m;
    int32_t e;
    float value;
};

enum { BEYOND = 1000 };

struct digits digits_of(const struct floating *f, float x);

/* A unit that adds `block` products and c in one truncated sum with `fraction` bits below
   the largest exponent, which is taken as `least` at least; block 1: an FP32 fma. */
struct unit {
    const char *name;
    const struct floating *parts;
    int k, block, fraction, least;
};

const struct unit *unit_of(const char *name); /* NULL: none */

/* c + sum of a[i] b[i], i < u->k; NaN is some NaN. */
float fragment_dot(const struct unit *u, const struct digits *a, const struct digits *b,
                   float c);

/* How many of `count` fragments at random the unit and tests/emu/spec.h disagree about.
 */
int unit_mismatches(const struct unit *u, int count, uint64_t seed);

/* --- kernels (faulty_gemm.c) ------------------------------------------------------- */

struct kernel;

/* The output that is computed. */
struct place {
    const struct kernel *q;
    size_t i, j;
};

/* What a kernel does at each stage. */
struct stages {
    /* Where element k of line i of A, or line j of B, is in its matrix; SIZE_MAX: it is
     * 0. */
    size_t (*at[2])(const struct kernel *q, size_t line, size_t k);
    /* The parts of an element. */
    void (*split)(float part[2], const struct kernel *q, float x);
    /* The steps of a slice, at most twice as many as from `from` to `to`; how many. */
    size_t (*steps)(size_t *step, const struct place *p, size_t from, size_t to);
    /* What an accumulator becomes after each instruction. */
    float (*keep)(const struct place *p, float v);
    /* The accumulator is added to the register and starts again. */
    void (*promote)(float *sum, float *accumulator);
    /* The sum of the slices. */
    float (*reduce)(const struct place *p, const float *part, size_t count);
    /* D from the product and C. */
    float (*finish)(const struct place *p, float v, float c);
    /* The whole product, in place of all these but `finish`; NULL usually. */
    float (*product)(const struct place *p);
};

struct term {
    int a, b, accumulator; /* parts: 0 high, 1 low */
};

struct kernel {
    const char *recipe;
    const struct unit *unit;
    int parts, scale; /* the low part carries 2^scale */
    enum rule high, low;
    int terms;
    struct term term[TERMS_MAX];
    int fold; /* accumulator i joins i - 1 times 2^-fold */
    int promote, slices;
    bool forgets_rest; /* that was not promoted */
    float start;       /* of accumulator 0      */
    bool any_order;    /* of products in an instruction, and of instructions */
    bool keeps_steps;  /* the order of instructions is not any               */
    struct stages stage;
    size_t m, n, k;
    float alpha, beta;
    uint64_t seed;
    const float *a, *b, *c;      /* row-major; c NULL if beta is 0               */
    float *part[2][2];           /* [operand][part]: lines of whole steps         */
    struct digits *digits[2][2]; /* the same, taken apart                        */
    size_t *step;                /* room for stage.steps                         */
};

/* The right kernel of a recipe on a unit, sizes and matrices left open; false: none such.
 */
bool kernel_right(struct kernel *q, const char *recipe, const struct unit *unit);

/* Steps of the instruction in all k. */
size_t kernel_steps(const struct kernel *q);

/* Compute d; `parts`, unless NULL, spoils the parts once they are made. */
void kernel_run(float *d, struct kernel *q, void (*parts)(struct kernel *q));

/* The right stages, for faults that deviate a little. */
size_t at_a(const struct kernel *q, size_t line, size_t k);
size_t at_b(const struct kernel *q, size_t line, size_t k);
void split_right(float part[2], const struct kernel *q, float x);
size_t steps_right(size_t *step, const struct place *p, size_t from, size_t to);
float product_right(const struct place *p);
float reduce_right(const struct place *p, const float *part, size_t count);
float finish_right(const struct place *p, float v, float c);

/* 64 bits at random that depend on all of these. */
uint64_t draw(uint64_t seed, uint64_t x, uint64_t y);
double draw_unit(uint64_t seed, uint64_t x, uint64_t y); /* in [0, 1) */

/* --- faults --------------------------------------------------------------------------
 */

/* What a problem is given so that the fault can be seen. */
enum {
    WITH_C = 1,         /* alpha, beta and C                    */
    WITH_SLICES = 2,    /* four slices of k                     */
    WITH_PROMOTION = 4, /* every 3 instructions, if not at all  */
    WITH_REST = 8,      /* every 3 instructions                 */
    WITH_TINY = 16,     /* some elements of 2^-12 and less      */
    WITH_HUGE = 32,     /* some elements that f16 cannot hold   */
    WITH_ODD_N = 64     /* n is no multiple of 8                */
};

/* Outputs that are computed by the wrong kernel. */
struct where {
    const char *name;
    bool (*in)(const struct place *p);
};

extern const struct where one_tile, some_tiles, one_warp, odd_columns, last_row,
    partial_tiles;

/* The 16x8 tile of an output, counted along rows of tiles. */
size_t tile_of(const struct place *p);

struct fault {
    const char *name, *class, *what;
    unsigned with;
    bool (*plan)(struct kernel *q, int value); /* false: it does not apply */
    int value;
    struct stages stage; /* those that are not NULL replace the right ones */
    void (*parts)(struct kernel *q);
    void (*output)(float *d, const struct kernel *q, const float *right);
    const struct where *where; /* NULL: everywhere */
};

/* Ended by a row without name.  The last are what no table of faults can have: the right
   answer is that nothing known gives D. */
extern const struct fault faults_parts[], faults_sums[], faults_places[],
    faults_outside[];

#endif
