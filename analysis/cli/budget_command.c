/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/budget_command.h"

#include "analysis/error/budget.h"
#include "analysis/error/judge.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct budget_options budget_options;

/* --- rows ------------------------------------------------------------------------- */

static const char *part_name(int part)
{
    return part < BUDGET_PARTS ? budget_rows[part].name : "error";
}

static json_t *statistics_json(const struct budget_statistics *s)
{
    return json_pack("{s:o, s:o, s:o}", "mean", json_number(s->mean), "rms",
                     json_number(s->rms), "max", json_number(s->most));
}

/* [i, j] of an output, or null. */
static json_t *place_json(size_t at, const struct budget_summary *b, size_t n)
{
    if (at == b->total) return json_null();
    return json_pack("[o, o]", json_count(at / n), json_count(at % n));
}

static json_t *event_json(const struct budget_event *e)
{
    if (!e->what) return json_null();
    return json_pack("{s:s, s:i, s:o}", "what", e->what, "term", e->term, "instructions",
                     json_count(e->at));
}

static json_t *summary_json(const struct budget_summary *b, size_t n)
{
    json_t *parts = json_array();
    for (int i = 0; i <= BUDGET_PARTS; i++)
        json_array_append_new(parts,
                              json_pack("{s:s, s:o, s:o}", "name", part_name(i), "u",
                                        statistics_json(&b->part[i][BUDGET_U]), "ulp",
                                        statistics_json(&b->part[i][BUDGET_ULP])));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total", json_count(b->total),
                     "outputs", json_count(b->outputs), "without_sum",
                     json_count(b->without), "first_without", place_json(b->first, b, n),
                     "event", event_json(&b->event), "worst", place_json(b->worst, b, n),
                     "parts", parts);
}

static json_t *output_json(const struct budget_output *b, size_t i, size_t j)
{
    json_t *parts = json_array();
    for (int p = 0; p < BUDGET_PARTS && !b->event.what; p++)
        json_array_append_new(
            parts, json_pack("{s:s, s:o, s:s}", "name", budget_rows[p].name, "value",
                             json_number(b->part[p]), "exact", b->exact[p]));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "i", json_count(i), "j",
        json_count(j), "d", json_number(format_to_double(&formats[FORMAT_F32], b->d)),
        "value", b->event.what ? json_null() : json_number(b->value), "error",
        b->event.what ? json_null() : json_number(b->error), "size", json_number(b->size),
        "event", event_json(&b->event), "parts", parts);
}

/* --- computing -------------------------------------------------------------------- */

/* "3,5"; false: it is not that, or there is no such output. */
static bool parse_at(size_t *i, size_t *j, const char *text, const struct setup *s)
{
    char *end;
    const size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits] != ',') return false;
    const char *rest = text + digits + 1;
    if (!*rest || rest[strspn(rest, "0123456789")]) return false;
    *i = (size_t)strtoull(text, &end, 10);
    *j = (size_t)strtoull(rest, &end, 10);
    return *i < s->a.rows && *j < s->b.cols;
}

int budget_check(const struct setup *s)
{
    struct fault f;
    size_t i, j;
    if (!budget_options.at || parse_at(&i, &j, budget_options.at, s)) return EXIT_GOOD;
    fault_set(&f, BITCUT_BAD_ARGUMENT,
              "%.40s: it is I,J, a row below %zu and a column below %zu",
              budget_options.at, s->a.rows, s->b.cols);
    return fail("--at", &f);
}

static int describe_at(json_t *row, const struct setup *s,
                       const struct budget_matrices *x)
{
    struct budget_output b;
    struct fault f;
    size_t i = 0, j = 0;
    parse_at(&i, &j, budget_options.at, s);
    const enum bitcut_status status = budget_at(&b, &s->gemm, &s->plan, x, i, j, &f);
    if (status == BITCUT_OK) json_object_set_new(row, "at", output_json(&b, i, j));
    budget_clear(&b);
    return status == BITCUT_OK ? EXIT_GOOD : fail("--at", &f);
}

/* --- the worst outputs ------------------------------------------------------------ */

/* An output of a result, and its error. */
struct bad_output {
    size_t at;    /* i n + j                                */
    double u;     /* |D - C| / |A||B|, in u = 2^-24         */
    double error; /* D - C; infinite if one is and one not  */
};

/* The largest `count` of x, the largest first, of equal ones the first: how many there
   are with an error at all. */
static size_t find_worst(struct bad_output *worst, size_t count,
                         const struct comparison *x)
{
    struct hostfp mode;
    size_t found = 0;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->m * x->n; i++) {
        const struct bad_output o = { i, backward_at(x, i), metric_error(x, i) };
        if (!(o.u > 0) || (found == count && !(o.u > worst[count - 1].u))) continue;
        size_t to = found < count ? found++ : count - 1;
        for (; to && o.u > worst[to - 1].u; to--) worst[to] = worst[to - 1];
        worst[to] = o;
    }
    hostfp_leave(&mode);
    return found;
}

/* The budget of one of them on the emulator, and what of its error that is not. */
static int append_worst(json_t *list, const struct bad_output *o, const struct setup *s,
                        const struct budget_matrices *x, uint32_t d)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const double given = format_to_double(f32, d);
    struct budget_output b;
    struct fault f;
    if (budget_at(&b, &s->gemm, &s->plan, x, o->at / x->n, o->at % x->n, &f) != BITCUT_OK)
        return fail("--worst", &f);
    json_t *const one = output_json(&b, o->at / x->n, o->at % x->n);
    json_object_update_new(
        one, json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "given", json_number(given),
                       "given_encoding", json_encoding(d, 32), "d_encoding",
                       json_encoding(b.d, 32), "u", json_number(o->u), "unexplained",
                       json_number(given - format_to_double(f32, b.d)), "same",
                       (int)(d == b.d)));
    json_array_append_new(list, one);
    budget_clear(&b);
    return EXIT_GOOD;
}

/* The worst outputs of d, and the budget of each. */
static int describe_worst(json_t *row, const struct setup *s, const struct matrix *d,
                          const struct budget_matrices *x, const struct context *context)
{
    const struct exact_update update = { s->gemm.alpha, s->gemm.beta, s->c.at };
    const size_t most = smaller(budget_options.worst, x->m * x->n);
    struct bad_output *const worst = memory_allocate(most, sizeof *worst);
    json_t *const list = json_array();
    const struct gemm_options options = context_options(context);
    struct judge j;
    struct fault f;
    enum bitcut_status done =
        worst ? judge_init(&j, &references[0], &s->a, &s->b, &update, &options, &f)
              : fault_set(&f, BITCUT_NO_MEMORY, "out of memory for the worst outputs");
    int status = done == BITCUT_OK ? EXIT_GOOD : fail("--worst", &f);
    if (status == EXIT_GOOD) {
        j.comparison.d = d->at;
        const size_t found = find_worst(worst, most, &j.comparison);
        judge_clear(&j);
        for (size_t i = 0; i < found && status == EXIT_GOOD; i++)
            status = append_worst(list, &worst[i], s, x, d->at[worst[i].at]);
    }
    json_object_set_new(row, "worst", list);
    free(worst);
    return status;
}

/* --- all of it -------------------------------------------------------------------- */

int budget_describe(json_t *row, const struct setup *s, const struct matrix *d,
                    const struct context *x)
{
    const struct budget_matrices matrices = { s->a.at,   s->b.at,   s->c.at,
                                              s->a.rows, s->b.cols, s->a.cols };
    struct budget_summary b;
    struct fault f;
    if (budget_options.all) {
        if (budget_gemm(&b, &s->gemm, &s->plan, &matrices, x->threads, &x->progress,
                        &f) != BITCUT_OK)
            return fail("--budget", &f);
        json_object_set_new(row, "budget", summary_json(&b, s->b.cols));
    }
    const int status = budget_options.at ? describe_at(row, s, &matrices) : EXIT_GOOD;
    if (status != EXIT_GOOD || !budget_options.worst) return status;
    return describe_worst(row, s, d, &matrices, x);
}

/* --- what people look at ---------------------------------------------------------- */

static double number_in(const json_t *row, const char *key, const char *inner)
{
    const json_t *x = json_object_get(row, key);
    return json_number_value(inner ? json_object_get(x, inner) : x);
}

/* The parts, at most so many, the largest first; zeros are left out. */
static void say_parts(char *text, size_t size, const json_t *parts, const char *key,
                      const char *inner, double unit, size_t most_parts)
{
    bool said[BUDGET_PARTS + 1] = { false };
    const size_t count = smaller(json_array_size(parts), BUDGET_PARTS);
    for (size_t n = 0; n < smaller(count, most_parts); n++) {
        size_t most = count;
        for (size_t i = 0; i < count; i++) {
            const double x = fabs(number_in(json_array_get(parts, i), key, inner));
            if (!said[i] && x > 0 &&
                (most == count ||
                 x > fabs(number_in(json_array_get(parts, most), key, inner))))
                most = i;
        }
        if (most == count) return;
        said[most] = true;
        say_more(text, size, "%s%s %.3g", n ? ", " : "", budget_rows[most].name,
                 number_in(json_array_get(parts, most), key, inner) / unit);
    }
}

bool say_budget(char *text, size_t size, const struct emit_line *line, const json_t *row)
{
    const json_t *b = json_object_get(row, line->key),
                 *parts = json_object_get(b, "parts"),
                 *all = json_object_get(json_array_get(parts, BUDGET_PARTS), "u");
    const long long outputs = json_integer_value(json_object_get(b, "outputs")),
                    total = json_integer_value(json_object_get(b, "total")),
                    without = json_integer_value(json_object_get(b, "without_sum"));
    if (without == outputs) {
        if (!outputs) return false;
        say_more(text, size, "all %lld outputs have none: %s", outputs,
                 json_string_value(json_object_get(json_object_get(b, "event"), "what")));
        return true;
    }
    say_parts(text, size, parts, "u", "rms", 1, BUDGET_PARTS);
    say_more(text, size, "%s%.3g u |A||B| in all (RMS; mean %.3g, most %.3g)",
             *text ? "; " : "", number_in(all, "rms", NULL), number_in(all, "mean", NULL),
             number_in(all, "max", NULL));
    if (outputs < total)
        say_more(text, size, ", of %lld of %lld outputs", outputs, total);
    if (without)
        say_more(text, size, "; %lld have none: %s", without,
                 json_string_value(json_object_get(json_object_get(b, "event"), "what")));
    return true;
}

/* Each with its largest part. */
bool say_budget_worst(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    enum { SAID = 4 };
    const json_t *const list = json_object_get(row, line->key), *b;
    size_t n;
    json_array_foreach(list, n, b)
    {
        const double unit = ldexp(number_in(b, "size", NULL), -24);
        if (n == SAID) break;
        say_more(text, size, "%s(%lld, %lld) ", n ? "; " : "", whole_at(b, "i"),
                 whole_at(b, "j"));
        if (isinf(real_at(b, "u"))) {
            say_more(text, size, "is NaN or infinite where C is not");
            continue;
        }
        say_more(text, size, "errs by %.3g u |A||B|", real_at(b, "u"));
        if (!json_is_true(json_object_get(b, "same")))
            say_more(text, size, ", of which the recipe has %.3g: %s for %s",
                     fabs(real_at(b, "error")) / unit, text_at(b, "given_encoding"),
                     text_at(b, "d_encoding"));
        else if (json_is_null(json_object_get(b, "event"))) {
            say_more(text, size, ": ");
            say_parts(text, size, json_object_get(b, "parts"), "value", NULL,
                      unit > 0 ? unit : 1, 2);
        }
    }
    return n > 0;
}

bool say_budget_at(char *text, size_t size, const struct emit_line *line,
                   const json_t *row)
{
    const json_t *b = json_object_get(row, line->key),
                 *event = json_object_get(b, "event");
    const double unit = ldexp(number_in(b, "size", NULL), -24);
    say_more(text, size, "(%lld, %lld) ", json_integer_value(json_object_get(b, "i")),
             json_integer_value(json_object_get(b, "j")));
    if (!json_is_null(event)) {
        say_more(text, size, "has no sum: %s, after %lld instructions",
                 json_string_value(json_object_get(event, "what")),
                 json_integer_value(json_object_get(event, "instructions")));
        return true;
    }
    say_more(text, size, "errs by %.3g u |A||B|: ", number_in(b, "error", NULL) / unit);
    char parts[400] = "";
    say_parts(parts, sizeof parts, json_object_get(b, "parts"), "value", NULL,
              unit > 0 ? unit : 1, BUDGET_PARTS);
    say_more(text, size, "%s", *parts ? parts : "it is exact");
    return true;
}
