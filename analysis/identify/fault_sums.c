/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of accumulators and of their promotion. */
#include "analysis/identify/fault.h"

#include "lib/number/bits.h"

#include <stdio.h>

/* --- the unit --------------------------------------------------------------------- */

/* The unit's own row with one number changed: no instruction does that, but an emulation
   in software, or a unit that the table does not have. */
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

static void say_rounded(char *text, size_t size, const struct candidate *x,
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

static void say_cut(char *text, size_t size, const struct candidate *x,
                    const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "%d bits are kept below the largest exponent", x->unit.fraction);
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

static void say_blocked(char *text, size_t size, const struct candidate *x,
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

/* Accumulators that were cut or rounded after each instruction. */
static const int kept_formats[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32 };
static const int kept_roundings[] = { ROUND_RN, ROUND_RZ };

enum { KEPT_FORMATS = 3, KEPT_ROUNDINGS = 2 };

static size_t every_kept(const struct space *s)
{
    (void)s;
    return KEPT_FORMATS * KEPT_ROUNDINGS;
}

static bool sums_kept(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->slipped = true;
    x->slips.kept = &formats[kept_formats[kind % KEPT_FORMATS]];
    x->slips.kept_by = &roundings[kept_roundings[kind / KEPT_FORMATS]];
    return has_f32(x);
}

static void say_kept(char *text, size_t size, const struct candidate *x,
                     const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "accumulators are rounded to %s (%s) after each instruction",
             x->slips.kept->name, x->slips.kept_by->name);
}

static bool sums_started(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->slipped = true;
    x->slips.start = s->start;
    return s->start;
}

static void say_started(char *text, size_t size, const struct candidate *x,
                        const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "the accumulator starts from %.9g",
             value_of_float(x->slips.start));
}

/* --- promotion -------------------------------------------------------------------- */

static bool promotes(const struct candidate *x) { return x->plan.promote > 0; }

/* One member of the slips. */
#define SLIP(name, member, value)                                                        \
    static bool promoted_##name(struct candidate *x, const struct space *s, int kind)    \
    {                                                                                    \
        (void)s, (void)kind;                                                             \
        x->slipped = true;                                                               \
        x->slips.member = value;                                                         \
        return promotes(x);                                                              \
    }

SLIP(uncleared, stays, true)
SLIP(stored, replaces, true)
SLIP(not_at_end, forgets, true)
SLIP(truncated, adds, &roundings[ROUND_RZ])
SLIP(through, moved, &formats[kept_formats[kind]])
SLIP(in, held, &formats[kept_formats[kind]])

static size_t every_format(const struct space *s)
{
    (void)s;
    return KEPT_FORMATS;
}

static void say_through(char *text, size_t size, const struct candidate *x,
                        const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "the sum is rounded to %s before it is promoted",
             x->slips.moved->name);
}

static void say_in(char *text, size_t size, const struct candidate *x,
                   const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "the sum is promoted to %s", x->slips.held->name);
}

/* --- the table -------------------------------------------------------------------- */

const struct defect defects_sums[] = {
    { .name = "accumulator rounding",
      .fine = true,
      .what = "sums are rounded by another rule",
      .kinds = every_direction,
      .alter = sums_rounded,
      .say = say_rounded },
    { .name = "accumulator bits",
      .fine = true,
      .what = "sums keep more bits, or fewer",
      .kinds = fraction_steps,
      .alter = sums_cut,
      .say = say_cut },
    { .name = "accumulator block",
      .fine = true,
      .what = "another number of products is summed at a time",
      .kinds = every_block,
      .alter = sums_blocked,
      .say = say_blocked },
    { .name = "accumulator short",
      .what = "accumulators are held in a shorter format",
      .kinds = every_kept,
      .alter = sums_kept,
      .say = say_kept },
    { .name = "accumulator not cleared",
      .exact = true,
      .what = "the accumulator does not start from zero",
      .alter = sums_started,
      .say = say_started },
    { .name = "promotion without clearing",
      .of_promotion = true,
      .what = "the sum is not cleared when it is promoted",
      .alter = promoted_uncleared },
    { .name = "promotion overwrites",
      .of_promotion = true,
      .what = "the sum is stored in the register, not added to it",
      .alter = promoted_stored },
    { .name = "promotion forgets the rest",
      .of_promotion = true,
      .what = "what is in the accumulator at the end is not promoted",
      .alter = promoted_not_at_end },
    { .name = "promotion truncated",
      .fine = true,
      .of_promotion = true,
      .what = "sums are promoted toward zero",
      .alter = promoted_truncated },
    { .name = "promotion through short",
      .of_promotion = true,
      .what = "sums go through a shorter format before they are promoted",
      .kinds = every_format,
      .alter = promoted_through,
      .say = say_through },
    { .name = "promotion in short",
      .of_promotion = true,
      .what = "sums are promoted to a shorter format",
      .kinds = every_format,
      .alter = promoted_in,
      .say = say_in },
    { 0 }
};
