/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of accumulators and of their promotion. */
#include "analysis/identify/fault.h"

#include "lib/number/bits.h"

#include <stdio.h>

/* --- the unit --------------------------------------------------------------------- */

/* The unit's own row with one number changed.  No instruction computes this, but a
   software emulation may, or a unit that is not in the table. */
static const enum direction directions[] = { TO_NEAREST_EVEN, TO_ZERO, TO_NEGATIVE,
                                             TO_POSITIVE };

static size_t every_direction(const struct space *s)
{
    (void)s;
    return sizeof directions / sizeof *directions;
}

static bool sums_rounded(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    if (x->unit.rounding.direction == directions[kind]) return false;
    x->unit.rounding.direction = directions[kind];
    return unit_sound(&x->unit);
}

static void describe_rounded(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    static const char *const names[] = { "to nearest", "toward zero", "down", "up" };
    (void)x, (void)s;
    snprintf(text, size, "sums are rounded %s", names[kind]);
}

enum { FRACTION_STEPS = 4 };

static size_t fraction_steps(const struct space *s)
{
    (void)s;
    return 2 * FRACTION_STEPS;
}

static bool sums_cut(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    if (x->unit.fraction == FRACTION_EXACT || x->unit.fraction == 0) return false;
    x->unit.fraction += kind < FRACTION_STEPS ? kind + 1 : FRACTION_STEPS - 1 - kind;
    return x->unit.fraction > 0 && unit_sound(&x->unit);
}

static void describe_cut(char *text, size_t size, const struct candidate *x,
                         const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "%d bits below the largest exponent are retained",
             x->unit.fraction);
}

static size_t every_block(const struct space *s)
{
    (void)s;
    return 7; /* 1 to UNIT_K_MAX */
}

static bool sums_blocked(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    if (x->unit.block == 1 << kind || x->unit.k % (1 << kind)) return false;
    x->unit.block = 1 << kind;
    return unit_sound(&x->unit);
}

static void describe_blocked(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)x, (void)s;
    snprintf(text, size, "%d products are summed at a time", 1 << kind);
}

/* --- accumulators ----------------------------------------------------------------- */

static bool has_f32(const struct candidate *x)
{
    return x->unit.c == &formats[FORMAT_F32];
}

/* Accumulators that were truncated or rounded after each instruction. */
static const int recorded_formats[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32 };
static const int recorded_roundings[] = { ROUND_RN, ROUND_RZ };

enum { RECORDED_FORMATS = 3, RECORDED_ROUNDINGS = 2 };

static size_t every_kept(const struct space *s)
{
    (void)s;
    return RECORDED_FORMATS * RECORDED_ROUNDINGS;
}

static bool sums_kept(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->slipped = true;
    x->faults.kept = &formats[recorded_formats[kind % RECORDED_FORMATS]];
    x->faults.kept_by = &roundings[recorded_roundings[kind / RECORDED_FORMATS]];
    return has_f32(x);
}

static void describe_kept(char *text, size_t size, const struct candidate *x,
                          const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "accumulators are rounded to %s (%s) after each instruction",
             x->faults.kept->name, x->faults.kept_by->name);
}

static bool sums_started(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->slipped = true;
    x->faults.start = s->start;
    return s->start;
}

static void describe_started(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "the accumulator starts from %.9g",
             value_of_float(x->faults.start));
}

/* --- promotion -------------------------------------------------------------------- */

static bool promotes(const struct candidate *x) { return x->plan.promote > 0; }

/* Change one member of the faults. */
#define SLIP(name, member, value)                                                        \
    static bool promoted_##name(struct candidate *x, const struct space *s, int kind)    \
    {                                                                                    \
        (void)s, (void)kind;                                                             \
        x->slipped = true;                                                               \
        x->faults.member = value;                                                        \
        return promotes(x);                                                              \
    }

SLIP(uncleared, stays, true)
SLIP(stored, replaces, true)
SLIP(not_at_end, forgets, true)
SLIP(truncated, adds, &roundings[ROUND_RZ])
SLIP(through, moved, &formats[recorded_formats[kind]])
SLIP(in, held, &formats[recorded_formats[kind]])

static size_t every_format(const struct space *s)
{
    (void)s;
    return RECORDED_FORMATS;
}

static void describe_through(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "the sum is rounded to %s before it is promoted",
             x->faults.moved->name);
}

static void describe_in(char *text, size_t size, const struct candidate *x,
                        const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "the sum is promoted to %s", x->faults.held->name);
}

/* An effect that depends on the order of k: see short_sums.h. */
static bool partial_sums_short(struct candidate *x, const struct space *s, int kind)
{
    (void)x, (void)s, (void)kind;
    return false;
}

/* --- the table -------------------------------------------------------------------- */

const struct kernel_fault kernel_faults_sums[] = {
    { .name = "accumulator rounding",
      .fine = true,
      .what = "sums are rounded by another rule",
      .kinds = every_direction,
      .alter = sums_rounded,
      .describe = describe_rounded },
    { .name = "accumulator bits",
      .fine = true,
      .what = "sums retain more or fewer bits",
      .kinds = fraction_steps,
      .alter = sums_cut,
      .describe = describe_cut },
    { .name = "accumulator block",
      .fine = true,
      .what = "another number of products is summed at a time",
      .kinds = every_block,
      .alter = sums_blocked,
      .describe = describe_blocked },
    { .name = "accumulator short",
      .what = "accumulators are held in a shorter format",
      .kinds = every_kept,
      .alter = sums_kept,
      .describe = describe_kept },
    { .name = "partial sums short",
      .of_residual = true,
      .what = "partial sums are rounded to a shorter format before they are added",
      .alter = partial_sums_short },
    { .name = "accumulator not cleared",
      .exact = true,
      .what = "the accumulator does not start from zero",
      .alter = sums_started,
      .describe = describe_started },
    { .name = "promotion without clearing",
      .of_promotion = true,
      .what = "the sum is not cleared when it is promoted",
      .alter = promoted_uncleared },
    { .name = "promotion overwrites",
      .of_promotion = true,
      .what = "the sum is stored in the register, not added to it",
      .alter = promoted_stored },
    { .name = "promotion forgets the remainder",
      .of_promotion = true,
      .what = "the accumulator is not promoted at the end of k",
      .alter = promoted_not_at_end },
    { .name = "promotion truncated",
      .fine = true,
      .of_promotion = true,
      .what = "sums are rounded toward zero when they are promoted",
      .alter = promoted_truncated },
    { .name = "promotion through short",
      .of_promotion = true,
      .what = "sums are rounded to a shorter format before they are promoted",
      .kinds = every_format,
      .alter = promoted_through,
      .describe = describe_through },
    { .name = "promotion in short",
      .of_promotion = true,
      .what = "sums are promoted to a shorter format",
      .kinds = every_format,
      .alter = promoted_in,
      .describe = describe_in },
    { 0 }
};
