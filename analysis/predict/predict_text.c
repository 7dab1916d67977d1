/* SPDX-License-Identifier: BSD-3-Clause */
/* A prediction as keys and as sentences. */
#include "analysis/predict/predict.h"

#include "emu/unit.h"
#include "lib/base/text.h"
#include "lib/gemm/recipe.h"

/* --- keys ------------------------------------------------------------------------- */

static const void *computation_at(const void *answer, size_t i, void *room)
{
    const struct prediction *const x = answer;
    (void)room;
    return i < x->computations ? &x->answer.computation[i] : NULL;
}

#define PREDICTED(member, what)                                                          \
    RECORD_FIELD(struct bitcut_predicted, member, #member, "", what)

/* clang-format off */
const struct record_field predicted_fields[] = {
    PREDICTED(outputs, "number of outputs that are computed so"),
    PREDICTED(gemm, "recipe, unit and order of k, as bitcut_gemm_read() takes them"),
    PREDICTED(text, "the order of k as a sentence"),
    { 0 }
};

const struct record_field predict_fields[] = {
    RECORD_INNER(struct prediction, library, "library", "", "the library"),
    RECORD_INNER(struct prediction, chip, "chip", "", "the chip for which it selects kernels"),
    RECORD_INNER(struct prediction, types, "types", "", "types of the call"),
    RECORD_INNER(struct prediction, made, "call", "", "the call of the program, if it has several"),
    RECORD_INNER(struct prediction, function, "function", "", "the function of the library that is called"),
    RECORD_INNER(struct prediction, threads, "library_threads", "", "threads of the library"),
    RECORD_INNER(struct prediction, learned, "learned", "", "whether decision trees chose the algorithm, which are wrong for some calls"),
    RECORD_INNER(struct prediction, call.m, "m", "", "rows of A and D"),
    RECORD_INNER(struct prediction, call.n, "n", "", "columns of B and D"),
    RECORD_INNER(struct prediction, call.k, "k", "", "columns of A, rows of B"),
    RECORD_MEMBER(struct prediction, answer.computations, "computations", "", "",
                  "number of computations"),
    RECORD_ITEMS(computation_at, predicted_fields, "computations", "the computations, each of some "
                                                                   "outputs"),
    RECORD_ARRAY(struct prediction, answer.computation, "computation", predicted_fields,
                 "the computations"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

/* Whether all computations have the recipe and the unit of the first one. */
static bool is_one_arithmetic(const struct prediction *x)
{
    bool same = true;
    for (size_t i = 1; i < x->computations; i++)
        same &= x->computation[i].recipe == x->computation->recipe &&
                x->computation[i].unit == x->computation->unit;
    return same;
}

static void add_arithmetic(char *text, size_t size, const struct bitcut_gemm *g)
{
    text_add(text, size, "%s on %s", g->recipe->name, g->unit->name);
}

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct prediction *const x = answer;
    text_add(text, size, "%s on %s computes D by ", x->library->name, x->chip->name);
    if (is_one_arithmetic(x)) add_arithmetic(text, size, x->computation);
    else text_add(text, size, "%zu computations", x->computations);
    if (is_one_arithmetic(x) && x->computations > 1)
        text_add(text, size, " in %zu orders of k", x->computations);
}

/* The order of each computation, with the number of its outputs. */
static void describe_orders(char *text, size_t size, const void *answer)
{
    const struct prediction *const x = answer;
    for (size_t i = 0; i < x->computations; i++) {
        const struct bitcut_predicted *const p = &x->answer.computation[i];
        if (x->computations > 1)
            text_add(text, size, "%s%zu of %zu outputs: ", i ? ". " : "", p->outputs,
                     x->call.m * x->call.n);
        if (!is_one_arithmetic(x)) add_arithmetic(text, size, &x->computation[i]);
        text_add(text, size, "%s%s", is_one_arithmetic(x) ? "" : ", ", p->text);
    }
}

static void describe_options(char *text, size_t size, const void *answer)
{
    const struct prediction *const x = answer;
    for (size_t i = 0; i < x->computations; i++)
        text_add(text, size, "%s%s", i ? "; " : "", x->answer.computation[i].gemm);
}

void predict_describe(char *text, size_t size, const void *prediction)
{
    describe_verdict(text, size, prediction);
    text_add(text, size, "; ");
    describe_orders(text, size, prediction);
}

/* The function that a call of a program makes. */
static void describe_function(char *text, size_t size, const void *answer)
{
    const struct prediction *const x = answer;
    if (x->made) text_add(text, size, "%s, by %s", x->made->what, x->function);
}

static void describe_algorithm(char *text, size_t size, const void *answer)
{
    const struct prediction *const x = answer;
    if (x->learned)
        text_add(text, size,
                 "chosen by decision trees, which are wrong for one call in %d; "
                 "--fields makes it certain",
                 PREDICT_WRONG_ONE_IN);
}

const struct record_line predict_lines[] = {
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { "call", describe_function, RECORD_ALWAYS, NULL },
    { "sum over k", describe_orders, RECORD_ALWAYS, NULL },
    { "algorithm", describe_algorithm, RECORD_ALWAYS, NULL },
    { "configuration", describe_options, RECORD_ALWAYS, NULL },
    { 0 }
};
