/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut attention: an attention by its algorithm, its error, a given O compared with it,
   and what computed a given O. */
#include "analysis/accuracy/attention_answer.h"
#include "analysis/accuracy/attention_judge.h"
#include "analysis/cli/command.h"
#include "analysis/identify/attention_search.h"
#include "analysis/sampling/attention_tolerance.h"
#include "emu/attention/attention_run.h"
#include "lib/base/clock.h"
#include "lib/input/matrix_file.h"
#include "lib/input/source.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <stdlib.h>
#include <string.h>

/* The matrices. */
enum { Q, K, V, O, FILES };

struct attention_command_options {
    const char *row, *vary, *path[FILES], *format, *format_o, *input, *reference;
    const char *explain; /* the file of O that is explained, or NULL */
    size_t seconds;
    uint32_t effort;
    size_t heads, kv_heads, queries, keys, head_dim, value_dim;
    int window_left, window_right;
    bool causal, bound, budget;
    const char *at;
    size_t samples;
    bool tolerance, any_tiles;
    const char *other, *other_vary, *other_format;
    size_t runs, power;
    uint32_t alarm;
    uint32_t scale;
};

static const struct attention_command_options defaults = {
    .input = "nrand",
    .reference = "exact",
    .heads = 1,
    .queries = 256,
    .keys = 256,
    .head_dim = 64,
    .effort = F32_ONE,
    .window_left = BITCUT_UNSET,
    .window_right = BITCUT_UNSET,
};

static const struct option_row options[] = {
    { "row", "algorithm (bitcut list attentions)",
      OPTION(attention_command, row, TEXT, "R") },
    { "vary", "change fields of the algorithm, such as block-n=64,direction=ascending",
      OPTION(attention_command, vary, TEXT, "ITEMS") },
    { "q", "Q[heads][queries][head_dim] or Q[queries][head_dim], a file such as .npy",
      OPTION(attention_command, path[Q], TEXT, "FILE") },
    { "k", "K[kv_heads][keys][head_dim]",
      OPTION(attention_command, path[K], TEXT, "FILE") },
    { "v", "V[kv_heads][keys][value_dim]",
      OPTION(attention_command, path[V], TEXT, "FILE") },
    { "verify", "compare this O with the algorithm, bit for bit",
      OPTION(attention_command, path[O], TEXT, "FILE") },
    { "explain", "find what computed this O, without --row or with it alone",
      OPTION(attention_command, explain, TEXT, "FILE") },
    { "effort", "--explain: factor of the work of the search, as 0.1 or 10 (default 1)",
      OPTION(attention_command, effort, F32, "X") },
    { "seconds",
      "--explain: time limit of the search (default 0: none; results then do not depend "
      "on "
      "the machine)",
      OPTION(attention_command, seconds, COUNT, "S") },
    { "format",
      "format of Q, K and V in files of encodings, or of random ones (default f16)",
      OPTION(attention_command, format, TEXT, "F") },
    { "format-o", "format of O (default: that of Q if it has 16 bits or more, else bf16)",
      OPTION(attention_command, format_o, TEXT, "F") },
    { "input", "generate Q, K and V by this family (bitcut list inputs; default nrand)",
      OPTION(attention_command, input, TEXT, "I") },
    { "heads", "heads of Q (default 1)", OPTION(attention_command, heads, COUNT, "N") },
    { "kv-heads", "heads of K and V (default: as Q)",
      OPTION(attention_command, kv_heads, COUNT, "N") },
    { "queries", "rows of Q (default 256)",
      OPTION(attention_command, queries, COUNT, "N") },
    { "keys", "rows of K and V (default 256)",
      OPTION(attention_command, keys, COUNT, "N") },
    { "head-dim", "columns of Q and K (default 64)",
      OPTION(attention_command, head_dim, COUNT, "N") },
    { "value-dim", "columns of V (default: as K)",
      OPTION(attention_command, value_dim, COUNT, "N") },
    { "causal",
      "a query sees the keys up to its own; the last query is aligned with the "
      "last key",
      OPTION(attention_command, causal, FLAG, NULL) },
    { "window-left", "keys before its own that a query sees (default: all)",
      OPTION(attention_command, window_left, INT, "N") },
    { "window-right", "keys after its own that a query sees (default: all)",
      OPTION(attention_command, window_right, INT, "N") },
    { "scale", "factor of the scores (default 1 / sqrt(head dimension))",
      OPTION(attention_command, scale, F32, "X") },
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
    { "any-tiles", "--tolerance: the kernel may have other tiles and splits",
      OPTION(attention_command, any_tiles, FLAG, NULL) },
    { "runs", "--tolerance: runs of the emulator (default 100)",
      OPTION(attention_command, runs, COUNT, "N") },
    { "false-alarm",
      "--tolerance: fraction of correct results that may be rejected (default 1e-6)",
      OPTION(attention_command, alarm, F32, "P") },
    { "power", "--tolerance: try each fault in N runs (default 0)",
      OPTION(attention_command, power, COUNT, "N") },
    { 0 }
};

/* The matrices of a command, and the attention that reads and writes them. */
struct attention_setup {
    const struct attention_command_options *o;
    struct encoded_matrix of[FILES], other[V + 1]; /* other: generated in its format */
    struct bitcut_attention a;
};

static void setup_free(struct attention_setup *s)
{
    for (int i = 0; i < FILES; i++) encoded_clear(&s->of[i]);
    for (int i = Q; i <= V; i++) encoded_clear(&s->other[i]);
}

/* --- matrices --------------------------------------------------------------------- */

static int find_format(const struct bitcut_format **to, const char *option,
                       const char *name)
{
    if (!name) return EXIT_GOOD;
    *to = bitcut_format_find(name);
    return *to ? EXIT_GOOD : fail_unknown(option, name, TABLE(formats));
}

static int read_file(struct encoded_matrix *m, const char *path,
                     const struct bitcut_format *format, const char *option)
{
    struct fault f;
    const struct matrix_request r = { .format = format,
                                      .format_option = option,
                                      .shape_option = "--queries",
                                      .batch = true };
    return matrix_file_read(m, path, &r, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

/* Generate a matrix of all heads, rounded to the format. */
static int generate(struct encoded_matrix *to, const struct input *in,
                    enum input_role role, uint64_t seed, const size_t size[3],
                    const struct bitcut_format *format, const struct context *x)
{
    struct matrix m;
    struct fault f;
    size_t changed, rows;
    if (!size_multiply(&rows, size[0], size[1]))
        return complain("--heads", "is too large for these sizes");
    enum bitcut_status status =
        source_generate(&m, in, role, rows, size[2], seed, x->threads, &f);
    if (status != BITCUT_OK) return fail("--input", &f);
    status = encoded_init_batch(to, size[0], size[1], size[2], format, &f);
    if (status == BITCUT_OK)
        status =
            bitcut_format_convert_array(&changed, to->at, format, &roundings[ROUND_RN],
                                        m.at, &formats[FORMAT_F32], rows * size[2]);
    matrix_clear(&m);
    return status == BITCUT_OK ? EXIT_GOOD : fail("--input", &f);
}

static int generate_all(struct encoded_matrix *to, const struct attention_setup *s,
                        const struct bitcut_format *format, const struct context *x)
{
    const struct attention_command_options *const o = s->o;
    const size_t kv = o->kv_heads ? o->kv_heads : o->heads,
                 dim = o->value_dim ? o->value_dim : o->head_dim;
    const size_t size[][3] = { [Q] = { o->heads, o->queries, o->head_dim },
                               [K] = { kv, o->keys, o->head_dim },
                               [V] = { kv, o->keys, dim } };
    struct input in;
    struct fault f;
    int status = input_parse(&in, o->input, &f) == BITCUT_OK
                     ? EXIT_GOOD
                     : fail_input("--input", "inputs", &f);
    if (!format) format = &formats[FORMAT_F16];
    for (int i = Q; i <= V && status == EXIT_GOOD; i++)
        status = generate(&to[i], &in, i == K ? INPUT_B : INPUT_A, x->seed + (i == V),
                          size[i], format, x);
    return status;
}

static size_t count_of(const struct encoded_matrix *m)
{
    return m->is_batch ? m->count : 1;
}

/* Files that fit each other. */
static int check_shapes(const struct attention_setup *s)
{
    const struct encoded_matrix *const m = s->of;
    if (m[K].cols != m[Q].cols) return complain("-k", "must have as many columns as Q");
    if (m[V].rows != m[K].rows || count_of(&m[V]) != count_of(&m[K]))
        return complain("-v", "must have as many heads and rows as K");
    if (!count_of(&m[K]) || count_of(&m[Q]) % count_of(&m[K]))
        return complain("-q", "must have a multiple of the heads of K");
    if (m[K].format != m[Q].format) return complain("-k", "must have the format of Q");
    return EXIT_GOOD;
}

static int take_matrices(struct attention_setup *s, const struct context *x)
{
    static const char *const names[] = { "-q", "-k", "-v" };
    const struct attention_command_options *const o = s->o;
    const struct bitcut_format *format = NULL;
    int given = 0, status = find_format(&format, "--format", o->format);
    for (int i = Q; i <= V; i++) given += o->path[i] != NULL;
    if (status != EXIT_GOOD) return status;
    if (!given) return generate_all(s->of, s, format, x);
    for (int i = Q; i <= V && status == EXIT_GOOD; i++)
        status = o->path[i]
                     ? read_file(&s->of[i], o->path[i], format, "--format")
                     : complain(names[i], "is missing; -q, -k and -v belong together");
    return status == EXIT_GOOD ? check_shapes(s) : status;
}

/* O: from its file, or memory for it. */
static int take_output(struct attention_setup *s)
{
    const struct attention_command_options *const o = s->o;
    const struct encoded_matrix *const q = &s->of[Q];
    const struct bitcut_format *format =
        q->format->bits < 16 ? &formats[FORMAT_BF16] : q->format;
    struct encoded_matrix *const m = &s->of[O];
    struct fault f;
    int status = find_format(&format, "--format-o", o->format_o);
    const char *const path = o->explain ? o->explain : o->path[O];
    if (status == EXIT_GOOD && path) {
        status = read_file(m, path, format, "--format-o");
        if (status == EXIT_GOOD && (count_of(m) != count_of(q) || m->rows != q->rows ||
                                    m->cols != s->of[V].cols))
            return complain(o->explain ? "--explain" : "--verify",
                            "must have the heads and rows of Q and the columns "
                            "of V");
        return status;
    }
    if (status != EXIT_GOOD) return status;
    const enum bitcut_status made =
        q->is_batch ? encoded_init_batch(m, q->count, q->rows, s->of[V].cols, format, &f)
                    : encoded_init(m, q->rows, s->of[V].cols, format, &f);
    return made == BITCUT_OK ? EXIT_GOOD : fail("attention", &f);
}

/* --- the attention ---------------------------------------------------------------- */

static struct bitcut_matrix heads_of(const struct encoded_matrix *m)
{
    return (struct bitcut_matrix){ .at = m->at,
                                   .format = m->format,
                                   .stride = m->rows * m->cols };
}

static void set_attention(struct attention_setup *s)
{
    const struct attention_command_options *const o = s->o;
    struct bitcut_attention *const a = &s->a;
    a->vary = o->vary;
    a->heads = count_of(&s->of[Q]);
    a->kv_heads = count_of(&s->of[K]);
    a->queries = s->of[Q].rows;
    a->keys = s->of[K].rows;
    a->head_dim = s->of[Q].cols;
    a->value_dim = s->of[V].cols;
    a->window_left = o->window_left;
    a->window_right = o->causal ? 0 : o->window_right;
    a->scale = o->scale;
    a->q = heads_of(&s->of[Q]);
    a->k = heads_of(&s->of[K]);
    a->v = heads_of(&s->of[V]);
    a->o = heads_of(&s->of[O]);
}

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
    struct fault f;
    if (!strcmp(s->o->reference, "none")) return EXIT_GOOD;
    to->errors.size = sizeof to->errors;
    to->judged = true;
    return attention_judge(&to->errors, &s->a, x->threads, &x->progress, &f) == BITCUT_OK
               ? EXIT_GOOD
               : fail("reference", &f);
}

static int find_bounds(struct attention_answer *to, const struct attention_setup *s,
                       const struct context *x)
{
    struct fault f;
    if (!s->o->bound) return EXIT_GOOD;
    if (attention_bound_run(to->bound, &s->a, x->threads, &x->progress, &f) != BITCUT_OK)
        return fail("--bound", &f);
    to->bounded = true;
    return EXIT_GOOD;
}

/* Read "H,I,C".  False: it has another form, or there is no such output. */
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
    const struct attention_command_options *const o = s->o;
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

/* --- a test ----------------------------------------------------------------------- */

/* The attention of --other. */
static int set_other(struct bitcut_attention *to, struct attention_setup *s,
                     const struct context *x)
{
    const struct attention_command_options *const o = s->o;
    const struct bitcut_format *format = NULL;
    *to = s->a;
    to->row = bitcut_attention_find(o->other);
    to->vary = o->other_vary;
    if (!to->row) return fail_unknown("--other", o->other, TABLE(attention_rows));
    int status = find_format(&format, "--other-format", o->other_format);
    if (status != EXIT_GOOD || !format) return status;
    status = generate_all(s->other, s, format, x);
    to->q = heads_of(&s->other[Q]);
    to->k = heads_of(&s->other[K]);
    to->v = heads_of(&s->other[V]);
    return status;
}

/* The O of --verify, by the limits.  Another attention's O is computed. */
static int judge_given(struct attention_tolerance_answer *to,
                       const struct attention_setup *s, struct bitcut_attention *other,
                       const struct context *x)
{
    struct encoded_matrix o;
    struct fault f;
    char why[BITCUT_TEXT_MAX];
    to->verdict.size = sizeof to->verdict;
    enum bitcut_status status =
        other ? encoded_init_batch(&o, s->a.heads, s->a.queries, s->a.value_dim,
                                   s->a.o.format, &f)
              : BITCUT_OK;
    if (status != BITCUT_OK) return fail("--verify", &f);
    if (other) {
        other->o = heads_of(&o);
        status = bitcut_attention(other, x->threads, why);
    }
    if (status != BITCUT_OK) fault_set(&f, status, "%s", why);
    else
        status = attention_tolerance_judge(&to->verdict, &to->limits, &s->a, other,
                                           x->threads, &x->progress, &f);
    if (other) encoded_clear(&o);
    to->judged = status == BITCUT_OK;
    return to->judged ? EXIT_GOOD : fail("--verify", &f);
}

static int run_test(struct context *x, struct attention_setup *s)
{
    const struct attention_command_options *const o = s->o;
    const struct bitcut_attention_options how = { .size = sizeof how,
                                                  .runs = o->runs,
                                                  .false_alarm = value_of_float(o->alarm),
                                                  .seed = x->seed,
                                                  .any_tiles = o->any_tiles };
    struct bitcut_attention other;
    struct bitcut_attention *const b = o->other ? &other : NULL;
    struct attention_tolerance_answer to = { .row = s->a.row->name,
                                             .format_o = s->of[O].format,
                                             .limits = { .size = sizeof to.limits } };
    struct fault f;
    int result = b ? set_other(b, s, x) : EXIT_GOOD;
    if (result != EXIT_GOOD) return result;
    to.other = b ? b->row->name : NULL;
    enum bitcut_status status =
        attention_tolerance(&to.limits, &s->a, b, &how, x->threads, &x->progress, &f);
    if (status == BITCUT_OK && o->power)
        status = attention_power(to.power, &to.powers, &to.limits, &s->a, b, &how,
                                 o->power, x->threads, &x->progress, &f);
    if (status != BITCUT_OK) return fail_about("--tolerance", &f);
    if (o->path[O]) result = judge_given(&to, s, b, x);
    if (result != EXIT_GOOD) return result;
    json_t *const row = json_object();
    record_json(row, attention_test_fields, &to);
    x->emitter.failed = to.judged && !to.verdict.accepted;
    emit_answer(&x->emitter, row, attention_test_lines, &to);
    return x->emitter.failed ? EXIT_FOUND : EXIT_GOOD;
}

/* --- what computed O --------------------------------------------------------------- */

/* Find what computed O. */
static int explain(struct context *x, const struct attention_setup *s)
{
    static struct attention_explanation e;
    const struct explain_options o = { .effort = value_of_float(s->o->effort),
                                       .seconds = (double)s->o->seconds,
                                       .seed = x->seed,
                                       .threads = x->threads,
                                       .progress = &x->progress };
    struct fault f;
    if (attention_explain_run(&e, &s->a, &o, &f) != BITCUT_OK)
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
    int status = take_matrices(s, x);
    if (status == EXIT_GOOD) status = take_output(s);
    if (status != EXIT_GOOD) return status;
    set_attention(s);
    if (s->o->tolerance) return run_test(x, s);
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

static int check(const struct context *x)
{
    static const struct table_row references[] = { { "exact", "" },
                                                   { "none", "" },
                                                   { 0 } };
    const struct attention_command_options *const o = x->own;
    struct fault f;
    const struct used_file files[] = { { "-q", o->path[Q], false },
                                       { "-k", o->path[K], false },
                                       { "-v", o->path[V], false },
                                       { "--verify", o->path[O], false },
                                       { "--explain", o->explain, false },
                                       { "-o", x->output, true },
                                       { 0 } };
    if (!o->row && !o->explain)
        return complain("--row", "is required; see bitcut list attentions");
    if (o->explain && o->path[O])
        return complain("--explain", "cannot be combined with --verify");
    if (!(value_of_float(o->effort) > 0 && value_of_float(o->effort) <= EFFORT_MAX))
        return complain("--effort", "must be above 0 and at most 1000000");
    if (!table_find(TABLE(references), o->reference))
        return fail_unknown("--reference", o->reference, TABLE(references));
    if (!o->tolerance && (o->other || o->any_tiles || o->runs || o->power || o->alarm))
        return complain("--other, --any-tiles, --runs, --power, --false-alarm",
                        "require --tolerance");
    if (o->tolerance && (o->bound || o->budget || o->at || x->output))
        return complain("--tolerance",
                        "cannot be combined with --bound, --budget, --at or -o");
    if (o->alarm && !(value_of_float(o->alarm) > 0 && value_of_float(o->alarm) < 1))
        return complain("--false-alarm", "must be between 0 and 1");
    if ((o->other_vary || o->other_format) && !o->other)
        return complain("--other-vary, --other-format", "require --other");
    if (o->other_format && o->path[Q])
        return complain("--other-format", "requires generated matrices, not files");
    if (o->causal && o->window_right != BITCUT_UNSET)
        return complain("--causal", "cannot be combined with --window-right");
    if ((o->path[O] || o->explain) && x->output)
        return complain(o->explain ? "--explain" : "--verify",
                        "cannot be combined with -o");
    if (o->window_left < BITCUT_UNSET || o->window_right < BITCUT_UNSET)
        return complain("--window-left, --window-right", "must be at least 0");
    if (x->output && source_check(x->output, &f) != BITCUT_OK) return fail(x->output, &f);
    return check_files(files);
}

static int run(struct context *x)
{
    struct attention_setup s = { .o = x->own };
    int status = check(x);
    if (status != EXIT_GOOD) return status;
    bitcut_attention_init(&s.a, sizeof s.a);
    s.a.row = bitcut_attention_find(s.o->row);
    if (!s.a.row && s.o->row)
        return fail_unknown("--row", s.o->row, TABLE(attention_rows));
    status = run_setup(x, &s);
    setup_free(&s);
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
