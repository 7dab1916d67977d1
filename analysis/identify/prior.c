/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/prior.h"

#include "lib/number/bits.h"

#include <math.h>
#include <string.h>

/* --- the problem ------------------------------------------------------------------ */

/* Formats are compared by their fraction bits, then by all bits of an element except
   those that are always zero. */
static int bits_of(const struct bitcut_format *f)
{
    enum { MORE = 64 };
    return MORE * f->fraction_bits + f->bits - f->pad;
}

static bool fits(const struct prior *p, const struct bitcut_format *f)
{
    return p->fits >> (f - formats) & 1;
}

/* Whether all elements are integers, as in data that are chosen to be exact in any
   format. */
static bool are_integers(const uint32_t *x, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count && all; i++) all = fmod(value_of_float(x[i]), 1) == 0;
    return all;
}

struct prior prior_of(const struct block *sample)
{
    struct prior p = { .vector = problem_m(sample->q) == 1 || problem_n(sample->q) == 1,
                       .bits = bits_of(&formats[FORMAT_F32]),
                       .format = sample->q->format,
                       .integers = problem_has_integers(sample->q) };
    const size_t of_a = sample->rows * sample->k, of_b = sample->k * sample->cols;
    const int shortest = are_integers(sample->a, of_a) && are_integers(sample->b, of_b)
                             ? formats[FORMAT_F16].bits
                             : formats[FORMAT_E4M3].bits;
    uint64_t checked = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const uint64_t bit = (uint64_t)1 << (u->a - formats);
        if (u->scale || u->a != u->b || u->a->special == SPECIAL_INTEGER ||
            u->a->bits < shortest)
            continue;
        if (!(checked & bit) && format_has_all(u->a, sample->a, of_a) &&
            format_has_all(u->a, sample->b, of_b))
            p.fits |= bit;
        checked |= bit;
        if (fits(&p, u->a) && bits_of(u->a) < p.bits) p.bits = bits_of(u->a);
    }
    return p;
}

/* --- lists ------------------------------------------------------------------------ */

/* The position of a name in a list that ends with NULL; the length of the list if it is
   not there.  `length`: characters of the name. */
static int place_in(const char *const *list, const char *name, size_t length)
{
    int at = 0;
    while (list[at] &&
           (strlen(list[at]) != length || memcmp(list[at], name, length) != 0))
        at++;
    return at;
}

/* Recipes that libraries run by default; recipes that they run on request.  All others
   are those of papers. */
static const char *const by_default[] = { "plain", "fp32", "cublas-tf32", NULL };
static const char *const on_request[] = { "tf32x3",
                                          "bf16x3",
                                          "bf16x6",
                                          "bf16x9",
                                          "cutlass-tf32x3",
                                          "triton-tf32x3",
                                          "triton-bf16x3",
                                          "triton-bf16x6",
                                          "xla-bf16x3",
                                          "xla-bf16x6",
                                          "xla-bf16x9",
                                          "cutlass-sm100-bf16x9",
                                          NULL };

/* Architectures, those first whose chips most programs run on.  On the first TUNED of
   them libraries choose among many kernels, each with its own order of k. */
enum { TUNED = 8 };

static const char *const architectures[] = {
    "fma",    "hopper", "ampere",  "ada",      "blackwell", "rtx-blackwell",
    "turing", "volta",  "amx",     "avx512",   "neon",      "cdna3",
    "cdna2",  "cdna1",  "mul-add", "amx-fp16", NULL
};

/* --- criteria --------------------------------------------------------------------- */

static bool is_scalar(const struct bitcut_unit *u) { return u->k == 1; }

static int fault_cost(const struct prior *p, const struct contender *c)
{
    (void)p;
    return c->h->at[AXIS_FAULT] != 0;
}

/* Elements of integers are multiplied by a unit of integers. */
static int integer_cost(const struct prior *p, const struct contender *c)
{
    return p->integers && !format_is_integer(c->x->gemm.unit->c);
}

static int stored_cost(const struct prior *p, const struct contender *c)
{
    (void)p;
    return c->stored;
}

static int accumulator_cost(const struct prior *p, const struct contender *c)
{
    (void)p;
    const struct bitcut_format *const f = c->x->gemm.unit->c;
    return f != &formats[FORMAT_F32] && !format_is_integer(f);
}

/* A definition with several products is no hardware, unless they are integers. */
static int hardware_cost(const struct prior *p, const struct contender *c)
{
    const struct bitcut_unit *const u = c->x->gemm.unit;
    (void)p;
    return u->evidence == EVIDENCE_DEFINITION && !is_scalar(u) &&
           !format_is_integer(u->c);
}

static int recipe_cost(const struct prior *p, const struct contender *c)
{
    const char *const name = c->x->gemm.recipe->name;
    (void)p;
    if (by_default[place_in(by_default, name, strlen(name))]) return 0;
    return on_request[place_in(on_request, name, strlen(name))] ? 1 : 2;
}

/* Products with a vector are computed by scalars, and products of matrices in a short
   format by matrix units, in one sum. */
static int shape_cost(const struct prior *p, const struct contender *c)
{
    const struct bitcut_unit *const u = c->x->gemm.unit;
    if (p->vector) return !is_scalar(u);
    return is_scalar(u) ? u->a != &formats[FORMAT_F32] : c->x->gemm.order.lanes > 1;
}

/* Operands with no more bits than A and B need.  If A and B have to be rounded, their
   format is that of D if D is short; otherwise recipes that name the rounding come before
   recipes that use the rounding of the unit, in the longest format. */
static int operand_cost(const struct prior *p, const struct contender *c)
{
    enum { ROUNDED = 1 << 14 };
    const struct bitcut_format *const f = c->x->plan.split_a.part[0].format;
    const bool as_d = f == p->format && f != &formats[FORMAT_F32];
    return fits(p, f) || as_d         ? bits_of(f)
           : c->x->gemm.recipe->split ? ROUNDED
                                      : 2 * ROUNDED - bits_of(f);
}

static int architecture_of(const struct bitcut_unit *u)
{
    return place_in(architectures, u->name, strcspn(u->name, "/"));
}

static int architecture_cost(const struct prior *p, const struct contender *c)
{
    (void)p;
    return architecture_of(c->x->gemm.unit);
}

/* An order of k, or a promotion, that a kernel of a library has is likelier than another
   architecture without one.  Other changes are not those of libraries. */
static int tuned_cost(const struct prior *p, const struct contender *c)
{
    bool other = architecture_cost(p, c) >= TUNED;
    for (int i = AXIS_UNIT + 1; i < AXES; i++)
        other |= i != AXIS_ORDER && i != AXIS_PROMOTE && c->h->at[i] != 0;
    return other;
}

/* Changes of the recipe, in addition to those that were given. */
static int change_cost(const struct prior *p, const struct contender *c)
{
    int changes = 0;
    (void)p;
    for (int i = AXIS_UNIT + 1; i < AXES; i++) changes += c->h->at[i] != 0;
    return changes;
}

/* Units that were recorded, then units with published results, then documented ones. */
static int evidence_cost(const struct prior *p, const struct contender *c)
{
    const struct bitcut_unit *const u = c->x->gemm.unit;
    (void)p;
    return is_scalar(u) || u->evidence == EVIDENCE_RECORDED ? 0
           : u->evidence <= EVIDENCE_STATISTICS             ? 1
                                                            : 2;
}

static int term_cost(const struct prior *p, const struct contender *c)
{
    (void)p;
    return c->x->plan.terms;
}

/* The criteria, each for those that are equal by all before it.  `usual`: the largest
   cost of what libraries compute by default, -1: it says nothing about that. */
static const struct criterion {
    int (*cost)(const struct prior *p, const struct contender *c);
    int usual;
} criteria[] = {
    { fault_cost, 0 },         { integer_cost, -1 },  { stored_cost, -1 },
    { accumulator_cost, 0 },   { hardware_cost, 0 },  { recipe_cost, 0 },
    { shape_cost, 0 },         { operand_cost, -1 },  { tuned_cost, -1 },
    { change_cost, -1 },       { evidence_cost, -1 }, { term_cost, -1 },
    { architecture_cost, -1 },
};

enum { CRITERIA = sizeof criteria / sizeof *criteria };

int prior_compare(const struct prior *p, struct contender first, struct contender second)
{
    for (int i = 0; i < CRITERIA; i++) {
        const int apart = criteria[i].cost(p, &first) - criteria[i].cost(p, &second);
        if (apart) return apart;
    }
    return 0;
}

bool prior_unit_is_rare(const struct bitcut_unit *u)
{
    return !is_scalar(u) && architecture_of(u) >= TUNED;
}

bool prior_shows_short(const struct prior *p)
{
    return p->bits < bits_of(&formats[FORMAT_F32]);
}

bool prior_is_default(const struct prior *p, const struct candidate *x)
{
    static const struct hypothesis unchanged;
    const struct contender c = { x, &unchanged, false };
    const struct bitcut_format *const f = x->plan.split_a.part[0].format;
    for (int i = 0; i < CRITERIA; i++)
        if (criteria[i].usual >= 0 && criteria[i].cost(p, &c) > criteria[i].usual)
            return false;
    return !fits(p, f) || bits_of(f) == p->bits;
}
