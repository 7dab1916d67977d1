#include "analysis/explain/defect.h"

#include "lib/table.h"

#include <stdio.h>
#include <string.h>

/* --- terms ------------------------------------------------------------------------ */

static size_t every_term(const struct space *s)
{
    (void)s;
    return RECIPE_TERMS_MOST;
}

static bool term_missing(struct candidate *x, const struct space *s, int t)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    if (!candidate_uniform(x) || t >= p->terms || p->terms == 1) return false;
    p->terms--;
    memmove(&p->term[t], &p->term[t + 1], (size_t)(p->terms - t) * sizeof *p->term);
    return true;
}

static bool term_twice(struct candidate *x, const struct space *s, int t)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    if (!candidate_uniform(x) || t >= p->terms || p->terms == RECIPE_TERMS_MOST)
        return false;
    memmove(&p->term[t + 1], &p->term[t], (size_t)(p->terms - t) * sizeof *p->term);
    p->unit[p->terms++] = p->unit[0];
    return true;
}

/* The words of one term for those of another. */
static size_t every_pair(const struct space *s)
{
    (void)s;
    return RECIPE_TERMS_MOST * RECIPE_TERMS_MOST;
}

static bool term_other(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    const int to = kind / RECIPE_TERMS_MOST, from = kind % RECIPE_TERMS_MOST;
    if (!candidate_uniform(x) || to >= p->terms || from >= p->terms || to == from)
        return false;
    p->term[to].a = p->term[from].a;
    p->term[to].b = p->term[from].b;
    return true;
}

static const char *const word_names[] = { "high", "low", "lowest" };

static void say_product(char *text, size_t size, struct recipe_term t)
{
    snprintf(text, size, "%s(A) %s(B)", word_names[t.a], word_names[t.b]);
}

static const struct recipe_term *own_terms(struct gemm_plan *own,
                                           const struct candidate *x)
{
    return gemm_plan_on_unit(own, &x->gemm, NULL) == BITCUT_OK ? own->term : x->plan.term;
}

static void say_missing(char *text, size_t size, const struct candidate *x,
                        const struct space *s, int t)
{
    (void)s;
    struct gemm_plan own;
    char product[40];
    say_product(product, sizeof product, own_terms(&own, x)[t]);
    snprintf(text, size, "the product %s is missing", product);
}

static void say_twice(char *text, size_t size, const struct candidate *x,
                      const struct space *s, int t)
{
    (void)s;
    struct gemm_plan own;
    char product[40];
    say_product(product, sizeof product, own_terms(&own, x)[t]);
    snprintf(text, size, "the product %s is added twice", product);
}

static void say_other(char *text, size_t size, const struct candidate *x,
                      const struct space *s, int kind)
{
    (void)s;
    struct gemm_plan own;
    char product[40], instead[40];
    const struct recipe_term *term = own_terms(&own, x);
    say_product(product, sizeof product, term[kind / RECIPE_TERMS_MOST]);
    say_product(instead, sizeof instead, term[kind % RECIPE_TERMS_MOST]);
    snprintf(text, size, "in place of the product %s there is %s", product, instead);
}

/* All products but those of the high words. */
static bool corrections_missing(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    struct gemm_plan *p = &x->plan;
    int kept = 0;
    if (!candidate_uniform(x)) return false;
    for (int t = 0; t < p->terms; t++)
        if (p->term[t].a + p->term[t].b == 0) p->term[kept++] = p->term[t];
    const bool fewer = kept > 0 && kept < p->terms;
    p->terms = kept;
    return fewer;
}

/* No accumulator is kept for corrections, so none is scaled back. */
static bool one_accumulator(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    if (x->plan.accumulators == 1) return false;
    for (int t = 0; t < x->plan.terms; t++) x->plan.term[t].accumulator = 0;
    x->plan.accumulators = 1;
    return true;
}

/* --- scales ----------------------------------------------------------------------- */

static bool fold_missing(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    if (!x->plan.scale) return false;
    x->plan.scale = 0;
    return true;
}

static bool fold_twice(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    if (!x->plan.scale) return false;
    x->plan.scale *= 2;
    return true;
}

/* Of both operands, of A, of B. */
static size_t three(const struct space *s)
{
    (void)s;
    return 3;
}

static bool words_unscaled(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    if (!x->plan.scale) return false;
    if (kind != 2) x->plan.split_a.scale = 0;
    if (kind != 1) x->plan.split_b.scale = 0;
    return true;
}

static const char *const whose[] = { "A and B", "A", "B" };

static void say_unscaled(char *text, size_t size, const struct candidate *x,
                         const struct space *s, int kind)
{
    (void)s;
    snprintf(text, size, "the low words of %s are not multiplied by 2^%d", whose[kind],
             x->plan.scale);
}

/* The epilogue's scale is another one than that of the words. */
enum { SCALE_STEPS = 4 };

static size_t scale_steps(const struct space *s)
{
    (void)s;
    return 2 * SCALE_STEPS;
}

static int scale_step(int kind)
{
    return kind < SCALE_STEPS ? kind + 1 : SCALE_STEPS - 1 - kind;
}

static bool fold_other(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    if (!x->plan.scale || x->plan.scale + scale_step(kind) <= 0) return false;
    x->plan.scale += scale_step(kind);
    return true;
}

static void say_fold_other(char *text, size_t size, const struct candidate *x,
                           const struct space *s, int kind)
{
    (void)s;
    snprintf(text, size, "corrections are scaled back by 2^-%d, but words carry 2^%d",
             x->plan.scale, x->plan.scale - scale_step(kind));
}

/* --- subnormals ------------------------------------------------------------------- */

static const struct bitcut_rounding *flushing(const struct bitcut_rounding *r)
{
    static const struct bitcut_rounding rows[] = {
        { .name = "rn, flushed", .direction = TO_NEAREST_EVEN, .flush = true },
        { .name = "rna, flushed", .direction = TO_NEAREST_AWAY, .flush = true },
        { .name = "rz, flushed", .direction = TO_ZERO, .flush = true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].direction == r->direction) return &rows[i];
    return r;
}

/* Of all words, of the high ones, of the low ones. */
static bool words_flushed(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    struct bitcut_split *const split[] = { &x->plan.split_a, &x->plan.split_b };
    bool any = false;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < split[i]->words; j++) {
            const struct bitcut_rounding **const rounding = &split[i]->word[j].rounding;
            const struct bitcut_rounding *const was = *rounding;
            if (kind != (j ? 1 : 2)) *rounding = flushing(was);
            any |= *rounding != was;
        }
    return any && (x->plan.split_a.words > 1 || kind == 0);
}

static void say_flushed(char *text, size_t size, const struct candidate *x,
                        const struct space *s, int kind)
{
    static const char *const which[] = { "words", "high words", "low words" };
    (void)x, (void)s;
    snprintf(text, size, "subnormal %s are flushed to zero", which[kind]);
}

static bool inputs_flushed(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    x->flushed = true;
    return true;
}

/* --- the epilogue ----------------------------------------------------------------- */

enum { ONE = 0x3f800000 };

static bool alpha_ignored(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->gemm.alpha = ONE;
    return s->alpha != ONE;
}

static bool beta_ignored(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->gemm.beta = ONE;
    return s->reads_c && s->beta != ONE;
}

static bool c_ignored(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->gemm.beta = 0;
    return s->reads_c;
}

static bool stored_truncated(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->store = &roundings[ROUND_RZ];
    return s->format != &formats[FORMAT_F32];
}

/* FP32 sums that went through a shorter format before they were stored. */
static const int shorter[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32 };

static bool stored_shorter(struct candidate *x, const struct space *s, int kind)
{
    x->through = &formats[shorter[kind]];
    return s->format == &formats[FORMAT_F32];
}

static void say_shorter(char *text, size_t size, const struct candidate *x,
                        const struct space *s, int kind)
{
    (void)x, (void)s;
    snprintf(text, size, "the result was rounded to %s before it was stored",
             formats[shorter[kind]].name);
}

/* --- k ---------------------------------------------------------------------------- */

/* Each range left out, or taken as zeros. */
static size_t twice_ranges(const struct space *s) { return 2 * s->ranges; }

static bool k_lost(struct candidate *x, const struct space *s, int kind)
{
    x->lost = s->range[kind / 2];
    x->lost_are_zero = kind % 2;
    return true;
}

static void say_lost(char *text, size_t size, const struct candidate *x,
                     const struct space *s, int kind)
{
    (void)x;
    const struct k_range r = s->range[kind / 2];
    snprintf(text, size, "the products of k from %zu to %zu are lost", r.first,
             r.end - 1);
}

static size_t every_range(const struct space *s) { return s->ranges; }

static bool k_twice(struct candidate *x, const struct space *s, int kind)
{
    x->twice = s->range[kind];
    return true;
}

static void say_k_twice(char *text, size_t size, const struct candidate *x,
                        const struct space *s, int kind)
{
    (void)x;
    const struct k_range r = s->range[kind];
    snprintf(text, size, "the products of k from %zu to %zu are added twice", r.first,
             r.end - 1);
}

/* --- the accumulator -------------------------------------------------------------- */

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
    return 7; /* 1 to UNIT_K_MOST */
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

/* --- the table -------------------------------------------------------------------- */

const struct defect defects[] = {
    { .name = "term missing",
      .what = "a product of words is not added",
      .kinds = every_term,
      .alter = term_missing,
      .say = say_missing },
    { .name = "corrections missing",
      .what = "only the high words are multiplied",
      .alter = corrections_missing },
    { .name = "term twice",
      .what = "a product of words is added twice",
      .kinds = every_term,
      .alter = term_twice,
      .say = say_twice },
    { .name = "wrong words",
      .what = "a product has the words of another",
      .kinds = every_pair,
      .alter = term_other,
      .say = say_other },
    { .name = "one accumulator",
      .what = "all products are added in one accumulator",
      .alter = one_accumulator },
    { .name = "epilogue scale missing",
      .what = "corrections are not scaled back before they are added",
      .alter = fold_missing },
    { .name = "epilogue scale twice",
      .what = "corrections are scaled back twice",
      .alter = fold_twice },
    { .name = "epilogue scale wrong",
      .what = "corrections are scaled back by another scale",
      .kinds = scale_steps,
      .alter = fold_other,
      .say = say_fold_other },
    { .name = "low words not scaled",
      .what = "low words are not multiplied by their scale",
      .kinds = three,
      .alter = words_unscaled,
      .say = say_unscaled },
    { .name = "subnormal words flushed",
      .what = "subnormal words become zeros",
      .kinds = three,
      .alter = words_flushed,
      .say = say_flushed },
    { .name = "subnormal inputs flushed",
      .what = "subnormal elements of A and B are read as zeros",
      .alter = inputs_flushed },
    { .name = "alpha ignored", .what = "alpha is taken as 1", .vary = alpha_ignored },
    { .name = "beta ignored", .what = "beta is taken as 1", .vary = beta_ignored },
    { .name = "C ignored", .what = "beta C is not added", .vary = c_ignored },
    { .name = "store truncated",
      .what = "the result is stored rounded toward zero",
      .alter = stored_truncated },
    { .name = "store short",
      .what = "the result goes through a shorter format",
      .kinds = three,
      .alter = stored_shorter,
      .say = say_shorter },
    { .name = "k lost",
      .of_ranges = true,
      .what = "some products are not added",
      .kinds = twice_ranges,
      .alter = k_lost,
      .say = say_lost },
    { .name = "k twice",
      .of_ranges = true,
      .what = "some products are added twice",
      .kinds = every_range,
      .alter = k_twice,
      .say = say_k_twice },
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
    { 0 }
};
