/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut attention: an attention by its algorithm, its error, a given O compared with it,
   and what computed a given O. */
#include "analysis/accuracy/attention_answer.h"
#include "analysis/accuracy/attention_judge.h"
#include "analysis/cli/attention_test.h"
#include "analysis/identify/attention_search.h"
#include "emu/attention/attention_run.h"
#include "lib/base/clock.h"
#include "lib/input/source.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <stdlib.h>
#include <string.h>

static const struct attention_command_options defaults = {
    .setup = { ATTENTION_SETUP_DEFAULTS, .input = "nrand", .heads = 1, .queries = 256,
               .keys = 256, .head_dim = 64 },
    .reference = "exact",
    .effort = F32_ONE,
};

static const struct option_row options[] = {
    ATTENTION_OPTIONS_ROW(attention_command, setup),
    ATTENTION_OPTIONS_FILES(attention_command, setup),
    { "verify", "compare this O with the algorithm, bit for bit",
      OPTION(attention_command, setup.path[O], TEXT, "FILE") },
    { "explain", "find what computed this O, without --row or with it alone",
      OPTION(attention_command, setup.explain, TEXT, "FILE") },
    { "effort", "--explain: factor of the work of the search, as 0.1 or 10 (default 1)",
      OPTION(attention_command, effort, F32, "X") },
    { "seconds",
      "--explain: time limit of the search (default 0: none; results then do not depend "
      "on "
      "the machine)",
      OPTION(attention_command, seconds, COUNT, "S") },
    { "format",
      "format of Q, K and V in files of encodings, or of random ones (default f16)",
      OPTION(attention_command, setup.format, TEXT, "F") },
    ATTENTION_OPTION_FORMAT_O(attention_command, setup),
    { "input", "generate Q, K and V by this family (bitcut list inputs; default nrand)",
      OPTION(attention_command, setup.input, TEXT, "I") },
    { "heads", "heads of Q (default 1)",
      OPTION(attention_command, setup.heads, COUNT, "N") },
    { "kv-heads", "heads of K and V (default: as Q)",
      OPTION(attention_command, setup.kv_heads, COUNT, "N") },
    { "queries", "rows of Q (default 256)",
      OPTION(attention_command, setup.queries, COUNT, "N") },
    { "keys", "rows of K and V (default 256)",
      OPTION(attention_command, setup.keys, COUNT, "N") },
    { "head-dim", "columns of Q and K (default 64)",
      OPTION(attention_command, setup.head_dim, COUNT, "N") },
    { "value-dim", "columns of V (default: as K)",
      OPTION(attention_command, setup.value_dim, COUNT, "N") },
    ATTENTION_OPTIONS_MASK(attention_command, setup),
    { "scale", "factor of the scores (default 1 / sqrt(head dimension))",
      OPTION(attention_command, setup.scale, F32, "X") },
    { "reference",
      "reference result: exact or none (default exact); --explain measures no errors",
      OPTION(attention_command, reference, TEXT, "R") },
    { "bound", "compare O with its error bounds; exit status 1 if one is exceeded",
      OPTION(attention_command, bound, FLAG, NULL) },
    { "budget", "print the error budget: contributions that add up exactly to the error",
      OPTION(attention_command, budget, FLAG, NULL) },
    { "at", "print the error budget of column C of query I of head H",
      OPTION(attention_command, at, TEXT, "H,I,C") },
    { "samples",
      "outputs of the budget, spread over all queries (default: about 2^20 / keys)",
      OPTION(attention_command, samples, COUNT, "N") },
    { "tolerance", "print limits for a test of O, and judge that of --verify by them",
      OPTION(attention_command, tolerance, FLAG, NULL) },
    { "other", "--tolerance: compare with O of this algorithm (default: exact attention)",
      OPTION(attention_command, other, TEXT, "R") },
    { "other-vary", "fields of --other",
      OPTION(attention_command, other_vary, TEXT, "ITEMS") },
    { "other-format", "round the generated Q, K and V of --other to this format",
      OPTION(attention_command, other_format, TEXT, "F") },
    ATTENTION_OPTION_ANY_TILES(attention_command, setup),
    { "runs", "--tolerance: runs of the emulator (default 100)",
      OPTION(attention_command, runs, COUNT, "N") },
    { "false-alarm",
      "--tolerance: fraction of correct results that may be rejected (default 1e-6)",
      OPTION(attention_command, alarm, F32, "P") },
    { "power", "--tolerance: try each fault in N runs (default 0)",
      OPTION(attention_command, power, COUNT, "N") },
    { 0 }
};

/* --- the attention ---------------------------------------------------------------- */

/* Print the reason of a call that failed. */
static int fail_call(enum bitcut_status status, const char *why)
{
    struct fault f;
    fault_set(&f, status, "%s", why);
    return fail("attention", &f);
}

/* Compute O, or compare the given one. */
static int compute(struct attention_answer *to, struct attention_setup *s,
                   const struct context *x)
{
    char why[BITCUT_TEXT_MAX];
    const struct attention_options how = { .threads = x->threads,
                                           .progress = &x->progress };
    const struct bitcut_format *const format = s->of[O].format;
    struct fault f;
    enum bitcut_status status = attention_describe(to, &s->a, &f);
    if (status != BITCUT_OK) return fail_about("attention", &f);
    const double start = seconds_now();
    if (!s->o->path[O]) {
        status = attention_call(&s->a, &how, why);
        to->seconds = seconds_now() - start;
        return status == BITCUT_OK ? EXIT_GOOD : fail_call(status, why);
    }
    to->found.size = sizeof to->found;
    status = attention_verify_call(&to->found, &s->a, &how, why);
    if (status != BITCUT_OK) return fail_call(status, why);
    to->verified = true;
    to->given = format_to_double(format, to->found.given);
    to->expected = format_to_double(format, to->found.expected);
    return EXIT_GOOD;
}

static int judge(struct attention_answer *to, const struct attention_setup *s,
                 const struct context *x)
{
    const struct attention_command_options *const o = x->own;
    struct fault f;
    if (!strcmp(o->reference, "none")) return EXIT_GOOD;
    to->errors.size = sizeof to->errors;
    to->judged = true;
    return attention_judge(&to->errors, &s->a, x->threads, &x->progress, &f) == BITCUT_OK
               ? EXIT_GOOD
               : fail("reference", &f);
}

static int find_bounds(struct attention_answer *to, const struct attention_setup *s,
                       const struct context *x)
{
    const struct attention_command_options *const o = x->own;
    struct fault f;
    if (!o->bound) return EXIT_GOOD;
    if (attention_bound_run(to->bound, &s->a, x->threads, &x->progress, &f) != BITCUT_OK)
        return fail("--bound", &f);
    to->bounded = true;
    return EXIT_GOOD;
}

/* Read "H,I,C".  False: it has another form, or a number is beyond the sizes of O. */
static bool parse_at(size_t at[3], const char *text, const struct bitcut_attention *a)
{
    const size_t size[] = { a->heads, a->queries, a->value_dim };
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!*text || !strchr("0123456789", *text)) return false;
        at[i] = (size_t)strtoull(text, &end, 10);
        if (*end != (i < 2 ? ',' : 0) || at[i] >= size[i]) return false;
        text = end + 1;
    }
    return true;
}

/* The budgets that are asked for. */
static int find_budget(struct attention_answer *to, const struct attention_setup *s,
                       const struct context *x)
{
    const struct attention_command_options *const o = x->own;
    struct fault f;
    size_t at[3];
    if (o->budget && attention_budget_find(&to->budget, &s->a, o->samples, x->threads,
                                           &x->progress, &f) != BITCUT_OK)
        return fail("--budget", &f);
    to->budgeted = o->budget;
    if (!o->at) return EXIT_GOOD;
    if (!parse_at(at, o->at, &s->a)) {
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "expected H,I,C with a head below %zu, a query below %zu and a column "
                  "below %zu, found \"%.40s\"",
                  s->a.heads, s->a.queries, s->a.value_dim, o->at);
        return fail("--at", &f);
    }
    if (attention_budget_at(&to->one, &s->a, at, &f) != BITCUT_OK)
        return fail("--at", &f);
    to->budgeted_one = true;
    return EXIT_GOOD;
}

static int write_output(const struct attention_setup *s, const struct context *x)
{
    struct fault f;
    if (!x->output || encoded_write(x->output, &s->of[O], &f) == BITCUT_OK)
        return EXIT_GOOD;
    return fail(x->output, &f);
}

/* --- what computed O --------------------------------------------------------------- */

/* Find what computed O. */
static int explain(struct context *x, const struct attention_setup *s)
{
    static struct attention_explanation e;
    const struct attention_command_options *const o = x->own;
    const struct explain_options how = { .effort = value_of_float(o->effort),
                                         .seconds = (double)o->seconds,
                                         .seed = x->seed,
                                         .threads = x->threads,
                                         .progress = &x->progress };
    struct fault f;
    if (attention_explain_run(&e, &s->a, &how, &f) != BITCUT_OK)
        return fail_about("attention", &f);
    json_t *const row = json_object();
    record_json(row, attention_explain_fields, &e);
    x->emitter.failed = !e.answer.found;
    emit_answer(&x->emitter, row, attention_explain_lines, &e);
    if (!e.interrupted) return e.answer.found ? EXIT_GOOD : EXIT_FOUND;
    fault_set(&f, BITCUT_UNSUPPORTED, "stopped; %zu hypotheses were tried",
              e.answer.tried);
    return fail("attention", &f);
}

/* --- the command ------------------------------------------------------------------ */

static int emit(struct attention_answer *answer, const struct attention_setup *s,
                struct context *x)
{
    if (!s->o->path[Q]) answer->input = s->o->input;
    json_t *const row = json_object();
    record_json(row, attention_fields, answer);
    x->emitter.failed = answer->verified && answer->found.differ;
    for (int i = 0; i < ATTENTION_BOUNDS && answer->bounded; i++)
        x->emitter.failed |= answer->bound[i].violations > 0;
    emit_answer(&x->emitter, row, attention_lines, answer);
    return x->emitter.failed ? EXIT_FOUND : EXIT_GOOD;
}

static int run_setup(struct context *x, struct attention_setup *s)
{
    struct attention_answer answer = { .row = NULL };
    int status = attention_setup_make(s, x);
    if (status != EXIT_GOOD) return status;
    if (((const struct attention_command_options *)x->own)->tolerance)
        return attention_test_run(x, s);
    if (s->o->explain) return explain(x, s);
    status = compute(&answer, s, x);
    if (status == EXIT_GOOD) status = judge(&answer, s, x);
    if (status == EXIT_GOOD) status = find_bounds(&answer, s, x);
    if (status == EXIT_GOOD) status = find_budget(&answer, s, x);
    if (status == EXIT_GOOD) status = write_output(s, x);
    if (status == EXIT_GOOD) status = emit(&answer, s, x);
    if (answer.budgeted_one) attention_output_clear(&answer.one);
    return status;
}

/* What the command does with O. */
enum { OF_RESULT = 1, OF_TEST = 2, OF_SEARCH = 4 };

#define NO_SEARCH   "cannot be combined with --explain"
#define RESULT_ONLY "cannot be combined with --explain or --tolerance"

static const struct option_use uses[] = {
    { "verify", OF_RESULT | OF_TEST, NO_SEARCH },
    { "tolerance", OF_TEST, NO_SEARCH },
    { "bound", OF_RESULT, RESULT_ONLY },
    { "budget", OF_RESULT, RESULT_ONLY },
    { "at", OF_RESULT, RESULT_ONLY },
    { "samples", OF_RESULT, RESULT_ONLY },
    { "effort", OF_SEARCH, "requires --explain" },
    { "seconds", OF_SEARCH, "requires --explain" },
    { "other", OF_TEST, "requires --tolerance" },
    { "other-vary", OF_TEST, "requires --tolerance" },
    { "other-format", OF_TEST, "requires --tolerance" },
    { "any-tiles", OF_TEST, "requires --tolerance" },
    { "runs", OF_TEST, "requires --tolerance" },
    { "false-alarm", OF_TEST, "requires --tolerance" },
    { "power", OF_TEST, "requires --tolerance" },
    { 0 }
};

static int check(const struct context *x)
{
    static const struct table_row references[] = { { "exact", "" },
                                                   { "none", "" },
                                                   { 0 } };
    const struct attention_command_options *const o = x->own;
    const struct attention_setup_options *const s = &o->setup;
    struct fault f;
    const struct used_file files[] = { { "-q", s->path[Q], false },
                                       { "-k", s->path[K], false },
                                       { "-v", s->path[V], false },
                                       { "--verify", s->path[O], false },
                                       { "--explain", s->explain, false },
                                       { "-o", x->output, true },
                                       { 0 } };
    const int status = check_use(x, uses,
                                 s->explain     ? OF_SEARCH
                                 : o->tolerance ? OF_TEST
                                                : OF_RESULT);
    if (status != EXIT_GOOD) return status;
    if (!s->row && !s->explain)
        return complain("--row", "is required; see bitcut list attentions");
    if (!(value_of_float(o->effort) > 0 && value_of_float(o->effort) <= EFFORT_MAX))
        return complain("--effort", "must be above 0 and at most 1000000");
    if (!table_find(TABLE(references), o->reference))
        return fail_unknown("--reference", o->reference, TABLE(references));
    if (o->alarm && !(value_of_float(o->alarm) > 0 && value_of_float(o->alarm) < 1))
        return complain("--false-alarm", "must be between 0 and 1");
    if ((o->other_vary || o->other_format) && !o->other)
        return complain("--other-vary, --other-format", "require --other");
    if (o->other_format && s->path[Q])
        return complain("--other-format", "requires generated matrices, not files");
    if ((s->path[O] || s->explain || o->tolerance) && x->output)
        return complain(s->explain     ? "--explain"
                        : o->tolerance ? "--tolerance"
                                       : "--verify",
                        "cannot be combined with -o");
    if (attention_check_mask(s) != EXIT_GOOD) return EXIT_USAGE;
    if (x->output && source_check(x->output, &f) != BITCUT_OK) return fail(x->output, &f);
    return check_files(files);
}

static int run(struct context *x)
{
    const struct attention_command_options *const o = x->own;
    struct attention_setup s = { .o = &o->setup };
    int status = check(x);
    if (status != EXIT_GOOD) return status;
    status = run_setup(x, &s);
    attention_setup_free(&s);
    return status;
}

const struct command command_attention = {
    .name = "attention",
    .what = "Compute attention by an algorithm on its units, and measure its error",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .output = "O, a file .npy (f16, f32: f2, f4; bf16: encodings; several heads: 3-D)",
    .task = TASK_COMPUTE,
    .examples = {
        { "Compute attention as PyTorch's flash backend does on an H100",
          "bitcut attention --row pytorch-flash --queries 300 --keys 300 --causal" },
        { "Find what computed an O",
          "bitcut attention --explain O.npy -q Q.npy -k K.npy -v V.npy --causal" },
        { "Measure what e4m3 loses, with tiles of 64 keys",
          "bitcut attention --row flash-attention-3-fp8 --vary block-n=64 --format e4m3" },
    },
};
