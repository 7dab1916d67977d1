/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/epilogue_choice.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>

/* --- lists of steps --------------------------------------------------------------- */

#define STEP(name) BITCUT_STEP_##name

/* Lists as they are for a GEMM with alpha, C, bias and factors; steps without an operand
   are left out.  Those of cuBLASLt and PyTorch were recorded (data/epilogues); the others
   are what a kernel or a framework can do with the same operands.  The usual ones are
   also tried with other starts and scalings.  Among equal results the first list counts.
 */
static const struct steps {
    unsigned char step[BITCUT_EPILOGUE_MAX];
    bool usual;
} lists[] = {
    { { STEP(FUSED) }, true },
    { { STEP(SCALE_A), STEP(SCALE_B), STEP(ALPHA), STEP(C), STEP(BIAS) }, true },
    { { STEP(SCALE_B), STEP(SCALE_A), STEP(ALPHA), STEP(C), STEP(BIAS) }, true },
    { { STEP(SCALES), STEP(ALPHA), STEP(C), STEP(ROUND), STEP(BIAS) }, true },
    { { STEP(ROUND), STEP(SCALES), STEP(ALPHA), STEP(C), STEP(BIAS) }, true },
    { { STEP(SCALES), STEP(ALPHA), STEP(ROUND), STEP(C), STEP(BIAS) }, true },
    { { STEP(SCALES), STEP(ALPHA), STEP(BIAS), STEP(ROUND), STEP(C) }, true },
    { { STEP(SCALES), STEP(ALPHA_C), STEP(BIAS) }, true },
    { { STEP(SCALES_C), STEP(BIAS) }, true },
    { { STEP(SCALE_A), STEP(SCALE_B), STEP(ALPHA_C), STEP(BIAS) }, true },
    { { STEP(SCALE_B), STEP(SCALE_A), STEP(ALPHA_C), STEP(BIAS) }, true },
    { { STEP(SCALES), STEP(ALPHA), STEP(C_APART), STEP(BIAS) }, false },
    { { STEP(SCALES), STEP(ALPHA), STEP(BIAS), STEP(C) }, false },
    { { STEP(SCALES), STEP(ALPHA), STEP(BIAS), STEP(C_APART) }, false },
    { { STEP(SCALES), STEP(C), STEP(ALPHA), STEP(BIAS) }, false },
    { { STEP(BIAS), STEP(SCALES), STEP(ALPHA), STEP(C) }, false },
    { { STEP(SCALES), STEP(BIAS), STEP(ALPHA), STEP(C) }, false },
    { { STEP(SCALES), STEP(ROUND), STEP(ALPHA), STEP(C), STEP(BIAS) }, false },
    { { STEP(ROUND), STEP(SCALE_A), STEP(SCALE_B), STEP(ALPHA), STEP(C), STEP(BIAS) },
      false },
    { { STEP(SCALES), STEP(ALPHA), STEP(ROUND), STEP(C), STEP(ROUND), STEP(BIAS) },
      false },
    { { STEP(SCALES), STEP(ALPHA), STEP(ROUND), STEP(BIAS), STEP(ROUND), STEP(C) },
      false },
    { { STEP(SCALES), STEP(ALPHA), STEP(ROUND), STEP(C_SHORT), STEP(ROUND), STEP(BIAS) },
      false },
    { { STEP(ROUND), STEP(SCALES), STEP(ROUND), STEP(ALPHA), STEP(ROUND), STEP(C_SHORT),
        STEP(ROUND), STEP(BIAS) },
      false },
    { { STEP(ROUND), STEP(SCALE_A), STEP(ROUND), STEP(SCALE_B), STEP(ROUND), STEP(ALPHA),
        STEP(ROUND), STEP(C_SHORT), STEP(ROUND), STEP(BIAS) },
      false },
    { { STEP(ROUND), STEP(SCALE_B), STEP(ROUND), STEP(SCALE_A), STEP(ROUND), STEP(ALPHA),
        STEP(ROUND), STEP(C_SHORT), STEP(ROUND), STEP(BIAS) },
      false },
    { { STEP(ROUND), STEP(BIAS), STEP(ROUND), STEP(ALPHA), STEP(ROUND), STEP(C_SHORT) },
      false },
    { { STEP(SCALES), STEP(ALPHA_C), STEP(ROUND), STEP(BIAS) }, false },
    { { STEP(SCALES), STEP(ROUND), STEP(ALPHA_C), STEP(BIAS) }, false },
    { { STEP(ROUND), STEP(SCALES), STEP(ALPHA_C), STEP(BIAS) }, false },
};

enum { LISTS = sizeof lists / sizeof *lists };

/* --- the steps of a GEMM ---------------------------------------------------------- */

/* The step as it is for a GEMM, whose D has the format: END if it changes nothing there.
 */
static unsigned char step_of(const struct bitcut_gemm *g, unsigned char step,
                             const struct bitcut_format *format)
{
    const bool is_short = format != &formats[FORMAT_F32],
               c = gemm_reads_c(g) && !start_is_c(g->start),
               bias = gemm_has_bias(g) && !start_is_bias(g->start),
               scales = gemm_has_scales(g) && g->scaling == BITCUT_SCALING_EPILOGUE,
               alpha = g->alpha != F32_ONE, beta = g->beta != F32_ONE;
    if (step == STEP(SCALES_C) && !scales) step = STEP(ALPHA_C);
    if (step == STEP(ALPHA_C) && start_is_c(g->start)) step = STEP(ALPHA);
    if (step == STEP(ALPHA_C) && c && !alpha) step = STEP(C_APART);
    if (step == STEP(C_SHORT) && !is_short) step = STEP(C_APART);
    if (step == STEP(C_APART) && !beta) step = STEP(C);
    switch (step) {
    case STEP(ALPHA): return alpha ? step : STEP(END);
    case STEP(C):
    case STEP(C_APART):
    case STEP(C_SHORT): return c ? step : STEP(END);
    case STEP(BIAS): return bias ? step : STEP(END);
    case STEP(SCALES):
    case STEP(SCALE_A):
    case STEP(SCALE_B): return scales ? step : STEP(END);
    case STEP(ROUND): return is_short ? step : STEP(END);
    default: return step;
    }
}

/* The steps of a GEMM that change something. */
static void reduce(unsigned char to[EPILOGUE_STEPS_MAX], const struct bitcut_gemm *g,
                   const struct bitcut_format *format)
{
    unsigned char all[EPILOGUE_STEPS_MAX];
    size_t count = 0;
    epilogue_of(all, g);
    for (const unsigned char *s = all; *s; s++) {
        const unsigned char step = step_of(g, *s, format);
        const bool again = count && step == STEP(ROUND) && to[count - 1] == step;
        if (step && !again) to[count++] = step;
    }
    while (count && to[count - 1] == STEP(ROUND)) count--; /* as D is */
    to[count] = STEP(END);
}

/* --- choices ---------------------------------------------------------------------- */

/* Ends of lists: ReLU, the limits and the scale of D, if there are any; saturation. */
enum {
    TAILS = 4,
    PLACES = BITCUT_SCALING_PROMOTED_TURNS_B + 1,
    STARTS = BITCUT_START_SLICE_BIAS + 1
};

struct choices {
    struct space *s;
    struct bitcut_gemm g; /* with every operand */
    bool plain;           /* there are only alpha and C */
};

static size_t length_of(const unsigned char *step)
{
    size_t n = 0;
    while (step[n]) n++;
    return n;
}

static void append(unsigned char *to, unsigned char step)
{
    const size_t n = length_of(to);
    to[n] = step;
    to[n + 1] = STEP(END);
}

/* Whether the steps, start and scaling of c->g are those of a choice. */
static bool is_choice(const struct choices *c, const struct epilogue_choice *x)
{
    unsigned char own[EPILOGUE_STEPS_MAX], other[EPILOGUE_STEPS_MAX];
    struct bitcut_gemm g = c->g;
    if (x->start != g.start || x->scaling != g.scaling) return false;
    reduce(own, &g, c->s->format);
    epilogue_choice_set(&g, x);
    reduce(other, &g, c->s->format);
    return !strcmp((const char *)own, (const char *)other);
}

/* Add the epilogue of c->g, unless it is there. */
static void add(struct choices *c, bool usual)
{
    struct space *const s = c->s;
    struct epilogue_choice now = {
        .start = c->g.start, .scaling = c->g.scaling, .usual = usual, .leads = true
    };
    memcpy(now.step, c->g.epilogue, sizeof now.step);
    now.clips = epilogue_has(now.step, STEP(RELU));
    for (size_t i = 0; i < s->epilogues; i++) {
        if (is_choice(c, &s->epilogue[i])) return;
        now.leads &= s->epilogue[i].scaling != now.scaling;
    }
    if (s->epilogues && epilogue_check_operands(&c->g, NULL) != BITCUT_OK) return;
    s->epilogue[s->epilogues++] = now;
}

/* Whether no fault of alpha and C (fault_epilogue.c) has these steps: they round a value
   or beta C before the end, or add +0 to alpha times the product. */
static bool is_beyond_faults(const struct bitcut_gemm *g, const unsigned char *steps)
{
    return epilogue_has(steps, STEP(ROUND)) || epilogue_has(steps, STEP(C_APART)) ||
           (epilogue_has(steps, STEP(ALPHA_C)) &&
            (g->alpha != F32_ONE || gemm_reads_c(g)));
}

/* Add a list with the ends that the GEMM may have. */
static void add_list(struct choices *c, const struct steps *list, bool clips,
                     bool saturates)
{
    const struct bitcut_gemm kept = c->g;
    unsigned char own[EPILOGUE_STEPS_MAX] = { 0 };
    memcpy(c->g.epilogue, list->step, sizeof c->g.epilogue);
    reduce(own, &c->g, c->s->format);
    const bool skipped =
        c->plain && !c->g.start && !saturates && !is_beyond_faults(&c->g, own);
    if (clips) append(own, STEP(RELU));
    if (isfinite(value_of_float(kept.clamp_low)) ||
        isfinite(value_of_float(kept.clamp_high)))
        append(own, STEP(CLAMP));
    if (kept.scale_d != F32_ONE) append(own, STEP(SCALE_D));
    if (saturates) append(own, STEP(SATURATE));
    if (!*own) append(own, STEP(FUSED));
    memcpy(c->g.epilogue, own, sizeof c->g.epilogue);
    if (!skipped) add(c, list->usual && !clips && !saturates);
    c->g = kept;
}

/* Add lists with a start and a scaling. */
static void add_lists(struct choices *c, enum bitcut_start start,
                      enum bitcut_scaling scaling, bool usual)
{
    const bool saturates = c->s->format->bits <= 8;
    c->g.start = start;
    c->g.scaling = scaling;
    for (int tail = 0; tail < TAILS; tail++)
        for (size_t i = 0; i < LISTS; i++)
            if ((!usual || lists[i].usual) && (saturates || tail < TAILS / 2))
                add_list(c, &lists[i], tail % 2, tail / 2);
}

/* Whether a start has its operand. */
static bool has_start(const struct bitcut_gemm *g, enum bitcut_start start)
{
    return !start || (start_is_c(start) ? gemm_reads_c(g) : gemm_has_bias(g));
}

/* Add the lists, if no steps were given. */
static void add_steps(struct choices *c, enum bitcut_scaling own)
{
    for (int start = 0; start < STARTS; start++)
        if (has_start(&c->g, (enum bitcut_start)start))
            add_lists(c, (enum bitcut_start)start, own, start);
}

/* Add the other places for factors: a few lists with them, or the steps that were given.
 */
static void add_places(struct choices *c, bool steps_told)
{
    const struct bitcut_gemm kept = c->g;
    for (int place = 0; place < PLACES && gemm_has_scales(&c->g); place++) {
        c->g = kept;
        c->g.scaling = (enum bitcut_scaling)place;
        if (steps_told) add(c, true);
        else if (c->g.scaling != c->s->epilogue->scaling)
            for (int start = 0; start < STARTS; start++)
                if (has_start(&kept, (enum bitcut_start)start))
                    add_lists(c, (enum bitcut_start)start, (enum bitcut_scaling)place,
                              true);
    }
    c->g = kept;
}

bool epilogue_choices_make(struct space *s, const struct problem *q)
{
    struct choices c = { .s = s, .plain = !s->told };
    if (s->told) c.g = *s->told;
    else bitcut_gemm_init(&c.g, sizeof c.g);
    c.g.alpha = s->alpha;
    c.g.beta = s->reads_c ? s->beta : 0;
    s->epilogues = 0;
    s->epilogue =
        memory_allocate(1 + LISTS * TAILS * STARTS * (PLACES + 1), sizeof *s->epilogue);
    if (!s->epilogue) return false;
    const struct bitcut_gemm first = c.g;
    add(&c, true);
    if (!q->steps_told) add_steps(&c, first.scaling);
    c.g = first;
    if (!q->scaling_told) add_places(&c, q->steps_told);
    return true;
}

void epilogue_choice_set(struct bitcut_gemm *g, const struct epilogue_choice *c)
{
    memcpy(g->epilogue, c->step, sizeof g->epilogue);
    g->start = c->start;
    g->scaling = c->scaling;
}

/* --- words ------------------------------------------------------------------------ */

enum of { OF_NOTHING, OF_C, OF_FORMAT };

/* What a step does with a value, "it": a sentence, or after "it is". */
static const struct words {
    bool passive;
    const char *before;
    enum of of; /* a word between */
    const char *after;
    const char *value_and; /* NULL, or the value and this text come after `before` */
} words[EPILOGUE_STEP_COUNT] = {
    [STEP(ALPHA)] = { true, "multiplied by alpha", OF_NOTHING, "" },
    [STEP(C)] = { false, "", OF_C, " is added" },
    [STEP(ALPHA_C)] = { false, "alpha times ", OF_C, " are added with one rounding",
                        " and " },
    [STEP(SCALES_C)] = { false, "alpha and both factors times ", OF_C,
                         " are added with one rounding", " and " },
    [STEP(C_APART)] = { false, "", OF_C, ", rounded, is added" },
    [STEP(C_SHORT)] = { false, "", OF_C, ", rounded to the format of D, is added" },
    [STEP(BIAS)] = { false, "the bias is added", OF_NOTHING, "" },
    [STEP(SCALES)] = { true,
                       "multiplied by the factors of A and B, whose product is rounded "
                       "first",
                       OF_NOTHING, "" },
    [STEP(SCALE_A)] = { true, "multiplied by the factor of A", OF_NOTHING, "" },
    [STEP(SCALE_B)] = { true, "multiplied by the factor of B", OF_NOTHING, "" },
    [STEP(SCALE_D)] = { true, "multiplied by the scale of D", OF_NOTHING, "" },
    [STEP(RELU)] = { false, "what is negative becomes zero (ReLU)", OF_NOTHING, "" },
    [STEP(CLAMP)] = { true, "clamped", OF_NOTHING, "" },
    [STEP(ROUND)] = { true, "rounded to ", OF_FORMAT, "" },
    [STEP(SATURATE)] = { true, "limited to the range of ", OF_FORMAT, "" },
};

static const char *const start_words[STARTS] = {
    [BITCUT_START_C] = "the accumulator starts from ",
    [BITCUT_START_BIAS] = "the accumulator starts from the bias",
    [BITCUT_START_SLICE_C] = "the first slice of k is added to ",
    [BITCUT_START_SLICE_BIAS] = "the first slice of k is added to the bias",
};

static const char *const place_words[PLACES] = {
    [BITCUT_SCALING_OPERAND] =
        "elements are multiplied by their factors before the product",
    [BITCUT_SCALING_UNIT] = "the unit applies the factors",
    [BITCUT_SCALING_PROMOTED] =
        "each promotion multiplies the sum by the product of both "
        "factors and adds it with one rounding",
    [BITCUT_SCALING_PROMOTED_APART] =
        "each promotion multiplies the sum by the product of "
        "both factors, rounds it and adds it",
    [BITCUT_SCALING_PROMOTED_TURNS] =
        "each promotion multiplies the sum by the factor of A, "
        "then by that of B, and adds it",
    [BITCUT_SCALING_PROMOTED_TURNS_B] =
        "each promotion multiplies the sum by the factor of "
        "B, then by that of A, and adds it",
};

static const char *c_name(const struct bitcut_gemm *g)
{
    return !gemm_reads_c(g) ? "+0" : g->beta == F32_ONE ? "C" : "beta C";
}

/* The steps that add C where beta is 0: the addition of +0 changes -0 alone. */
static const struct words without_c[EPILOGUE_STEP_COUNT] = {
    [STEP(ALPHA_C)] = { true, "multiplied by alpha, and -0 becomes +0", OF_NOTHING, "" },
    [STEP(SCALES_C)] = { true,
                         "multiplied by alpha times the factor of A times the factor of "
                         "B, and -0 becomes +0",
                         OF_NOTHING, "" },
};

static void describe_step(char *text, size_t size, unsigned char step, const char *value,
                          const struct bitcut_gemm *g, const struct bitcut_format *format)
{
    const struct words *const w =
        without_c[step].before && !gemm_reads_c(g) ? &without_c[step] : &words[step];
    text_add(text, size, "%s%s%s%s%s%s%s", w->passive ? value : "",
             w->passive ? " is " : "", w->before, w->value_and ? value : "",
             w->value_and ? w->value_and : "",
             w->of == OF_C        ? c_name(g)
             : w->of == OF_FORMAT ? format->name
                                  : "",
             w->after);
}

void epilogue_choice_describe(char *text, size_t size, const struct bitcut_gemm *g,
                              const struct bitcut_format *format)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    *text = 0;
    reduce(step, g, format);
    if (g->start)
        text_add(text, size, "%s%s", start_words[g->start],
                 start_is_c(g->start) ? c_name(g) : "");
    if (g->scaling)
        text_add(text, size, "%s%s", *text ? ", and " : "", place_words[g->scaling]);
    const char *value = *text ? "the sum" : "the product",
               *between = *text ? ", and " : "";
    for (const unsigned char *s = step; *s; s++) {
        text_add(text, size, "%s", between);
        describe_step(text, size, *s, value, g, format);
        between = *s == STEP(ROUND) ? " before " : ", then ";
        value = "it";
    }
}
