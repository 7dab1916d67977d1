/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/search_stage.h"

#include "lib/base/size.h"

#include <math.h>

/* --- levels ----------------------------------------------------------------------- */

#define AXIS(name) (1u << AXIS_##name)

/* The axes that vary together, in addition to recipe and unit; the others are as in the
   recipe's row.  All of these axes change: fewer changes were tried before.  Recipes with
   one product are the GEMMs of libraries, in all of the orders, and come early. */
struct level {
    unsigned axes;
    bool one_term;     /* only recipes with one product */
    bool many_terms;   /* only recipes with several products */
    bool of_promotion; /* only faults of promotion */
    bool of_store;     /* only faults of storing */
    bool of_slices;    /* only orders that are slices */
    bool usual;        /* only a few orders, parts and epilogues */
    bool likely;       /* tried early for what libraries compute by default */
};

static const struct level levels[] = {
    { .axes = 0 },
    { .axes = AXIS(EPILOGUE) },
    { .axes = AXIS(FAULT), .of_store = true },
    { .axes = AXIS(PARTS), .one_term = true, .usual = true },
    { .axes = AXIS(PROMOTE), .one_term = true, .likely = true },
    { .axes = AXIS(PROMOTE) | AXIS(EPILOGUE), .one_term = true, .usual = true },
    { .axes = AXIS(ORDER), .one_term = true, .usual = true, .likely = true },
    { .axes = AXIS(ORDER), .many_terms = true, .usual = true },
    { .axes = AXIS(TILE) },
    { .axes = AXIS(ORDER), .one_term = true },
    { .axes = AXIS(PROMOTE) },
    { .axes = AXIS(PROMOTE) | AXIS(ORDER), .usual = true },
    { .axes = AXIS(LINES) },
    { .axes = AXIS(TERMS) },
    { .axes = AXIS(ORDER), .of_slices = true },
    { .axes = AXIS(PARTS) },
    { .axes = AXIS(FAULT) },
    { .axes = AXIS(PROMOTE) | AXIS(FAULT), .of_promotion = true },
    { .axes = AXIS(ORDER) },
    /* two axes */
    { .axes = AXIS(PROMOTE) | AXIS(EPILOGUE), .one_term = true },
    { .axes = AXIS(ORDER) | AXIS(EPILOGUE), .one_term = true, .usual = true },
    { .axes = AXIS(ORDER) | AXIS(FAULT) },
    { .axes = AXIS(PROMOTE) | AXIS(LINES) },
    { .axes = AXIS(PROMOTE) | AXIS(TERMS) },
    { .axes = AXIS(PROMOTE) | AXIS(FAULT) },
    { .axes = AXIS(PROMOTE) | AXIS(PARTS) },
    { .axes = AXIS(PROMOTE) | AXIS(ORDER) },
    { .axes = AXIS(TILE) | AXIS(FAULT) },
    { .axes = AXIS(TILE) | AXIS(PARTS) },
    { .axes = AXIS(TERMS) | AXIS(FAULT) },
    { .axes = AXIS(TERMS) | AXIS(PARTS) },
    { .axes = AXIS(PARTS) | AXIS(FAULT) },
    { .axes = AXIS(ORDER) | AXIS(PARTS) },
};

_Static_assert(sizeof levels / sizeof *levels == LEVELS, "LEVELS must equal the number "
                                                         "of levels");

static bool varies(int level, int axis)
{
    return axis <= AXIS_UNIT || (levels[level].axes & 1u << axis);
}

/* The values of an axis other than recipe and unit at a level: those that change
   something, so not the first. */
static size_t values(const struct search *s, int level, int axis)
{
    return varies(level, axis) ? axes[axis].count(s->space) - 1 : 1;
}

size_t level_size(const struct search *s, int level)
{
    size_t size = 1;
    for (int i = AXIS_UNIT + 1; i < AXES; i++) size *= values(s, level, i);
    return size;
}

/* Parts are the outermost loop: they are reused by everything inside. */
struct hypothesis level_nth(const struct search *s, struct hypothesis h, int level,
                            size_t index)
{
    static const int inside[] = { AXIS_PROMOTE, AXIS_FAULT, AXIS_EPILOGUE, AXIS_ORDER,
                                  AXIS_TILE,    AXIS_TERMS, AXIS_LINES,    AXIS_PARTS };
    for (size_t n = 0; n < sizeof inside / sizeof *inside; n++) {
        const int i = inside[n];
        const size_t count = values(s, level, i);
        if (varies(level, i)) h.at[i] = (uint16_t)(index % count + 1);
        index /= count;
    }
    return h;
}

/* --- plausible hypotheses --------------------------------------------------------- */

/* Sums of the right parts in a wrong order, or with another promotion, are about as far
   from D as sums in the right order are from the exact sum; in one chain they may be
   farther, in proportion to its length.  Therefore a recipe that is much farther than
   others, on the best of its units, is not tried with small changes; nor is a unit that
   is farther still. */
enum { FAR = 4, FAR_UNIT = 16, CHAIN = 64 };

static double least_distance(const struct search *s)
{
    double least = INFINITY;
    for (int i = 0; i < RECIPES_MAX; i++)
        if (s->distance[i] < least) least = s->distance[i];
    return least;
}

bool basis_is_far(const struct search *s, const struct basis *b)
{
    const double far = (FAR + (double)s->space->k / CHAIN) * (least_distance(s) + 1);
    return s->distance[b->h.at[AXIS_RECIPE]] > far || b->distance > FAR_UNIT * far;
}

int unit_bits_retained(const struct bitcut_unit *u)
{
    return u->fraction > 0 ? smaller_int(u->fraction, u->c->fraction_bits)
                           : u->c->fraction_bits;
}

/* Sums lose a few units in the last place of the accumulator at a time, and these are
   larger in short formats. */
bool basis_is_off(const struct search *s, const struct basis *b)
{
    enum { MANY = 64 };
    const struct bitcut_unit *const u = s->space->unit[b->h.at[AXIS_UNIT]];
    const int bits = smaller_int(unit_bits_retained(u), s->space->format->fraction_bits);
    const double ulp = ldexp(1, formats[FORMAT_F32].fraction_bits - bits);
    return b->distance > MANY * ulp * (FAR + (double)s->space->k / CHAIN);
}

/* The axes that only change the order of sums. */
static bool is_of_order(int level)
{
    const unsigned of_order = AXIS(ORDER) | AXIS(PROMOTE) | AXIS(TILE);
    return levels[level].axes && !(levels[level].axes & ~of_order);
}

/* The level of a few parts for recipes with one product.  A loop of scalars whose
   operands are rounded to fewer bits is far from the same loop without the rounding. */
enum { LEVEL_PARTS = 3 };

bool level_tries(const struct search *s, int level, const struct basis *b,
                 const struct hypothesis *h)
{
    const bool has_fault = b->h.at[AXIS_FAULT] && !s->base;
    const bool one_term = recipes[h->at[AXIS_RECIPE]].terms == 1;
    if (levels[level].one_term && !one_term) return false;
    if (levels[level].many_terms && one_term) return false;
    if (s->keeps_order && (levels[level].axes & AXIS(ORDER))) return false;
    if ((levels[level].axes & AXIS(FAULT)) && has_fault) return false;
    if (b->off && is_of_order(level)) return false;
    if (s->first && !b->first && fault_is_of_parts(s->space, h->at[AXIS_FAULT]))
        return false;
    if (levels[level].of_slices && !order_is_of_slices(s->space, h->at[AXIS_ORDER]))
        return false;
    if (levels[level].usual && !(order_is_typical(s->space, h->at[AXIS_ORDER]) &&
                                 parts_are_typical(s->space, h->at[AXIS_PARTS])))
        return false;
    if (levels[level].usual && (levels[level].axes & AXIS(EPILOGUE)) &&
        !epilogue_is_usual(s->space, h->at[AXIS_EPILOGUE]))
        return false;
    if (levels[level].of_promotion && !fault_is_of_promotion(s->space, h->at[AXIS_FAULT]))
        return false;
    if (levels[level].of_store && !fault_is_of_store(s->space, h->at[AXIS_FAULT]))
        return false;
    if ((levels[level].axes & AXIS(ORDER)) && (levels[level].axes & AXIS(FAULT)) &&
        !fault_is_of_slices(s->space, h->at[AXIS_FAULT], h->at[AXIS_ORDER]))
        return false;
    return (!has_fault && fault_is_coarse(s->space, h->at[AXIS_FAULT])) || !b->far ||
           (level == LEVEL_PARTS && s->space->unit[b->h.at[AXIS_UNIT]]->k == 1);
}

bool level_is_quick(int level)
{
    return levels[level].usual || !(levels[level].axes & AXIS(ORDER));
}

bool level_is_likely(int level) { return levels[level].likely; }
