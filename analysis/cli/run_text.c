/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/run_text.h"

#include "analysis/cli/run_audit.h"
#include "analysis/cli/terminal.h"
#include "analysis/run/program.h"
#include "analysis/split/split_range.h"
#include "emu/gemm.h"
#include "emu/fp64/fp64_gemm.h"
#include "emu/unit.h"
#include "lib/base/text.h"
#include "lib/gemm/recipe.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a call site ------------------------------------------------------------------ */

static json_t *text_if_any(const char *text)
{
    return *text ? json_text(text) : json_null();
}

/* A size, or its range. */
static json_t *size_json(const struct call_log_site *p, int i)
{
    if (!p->gemms) return json_null();
    return p->least[i] == p->most[i]
               ? json_count(p->least[i])
               : json_sprintf("%llu-%llu", (unsigned long long)p->least[i],
                              (unsigned long long)p->most[i]);
}

/* "train.py:12 step" of "/home/me/train.py:12 step < ...". */
static json_t *short_site(const char *where)
{
    char text[PLACE_MAX_BYTES];
    const size_t length = strcspn(where, "<") ? strcspn(where, "<") : strlen(where);
    snprintf(text, sizeof text, "%.*s", (int)length, where);
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
    const char *const slash = strrchr(text, '/');
    return json_text(slash ? slash + 1 : text);
}

/* Read a configuration other than the program's own.  Returns false if it is the
   program's own, or if there is none. */
static bool is_other(struct run_configuration *configuration, const char *line)
{
    return *line && run_configuration_read(configuration, line, NULL) == BITCUT_OK &&
           !configuration->original;
}

static const char *evidence_of(const char *line)
{
    struct run_configuration configuration;
    return is_other(&configuration, line) ? unit_evidence(configuration.gemm.unit) : NULL;
}

/* The recipe, or the scheme with its parts, and the unit of a configuration, null for the
   original, and the configuration of the comparison. */
static json_t *configuration_json(const struct call_log_site *p)
{
    struct run_configuration configuration;
    const struct bitcut_gemm *const g =
        is_other(&configuration, p->configuration) ? &configuration.gemm : NULL;
    int parts = 0;
    if (g && g->scheme) fp64_plan(&parts, g, NULL);
    return json_pack(
        "{s:o, s:s?, s:s?, s:o, s:s?, s:s?, s:o, s:s?}", "configuration",
        json_text(p->configuration), "recipe", g && g->recipe ? g->recipe->name : NULL,
        "scheme", g && g->scheme ? g->scheme->name : NULL, "parts",
        parts ? json_integer(parts) : json_null(), "unit", g ? g->unit->name : NULL,
        "evidence", evidence_of(p->configuration), "against", text_if_any(p->against),
        "against_evidence", evidence_of(p->against));
}

/* The differences of the comparison, null if nothing was compared. */
static json_t *difference_json(const struct call_log_difference *x)
{
    if (!x->outputs)
        return json_pack("{s:n, s:n, s:n, s:n, s:n}", "outputs", "differ", "not_finite",
                         "difference", "largest");
    const long double norm = fmaxl(x->norm[0], x->norm[1]);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "outputs", json_count(x->outputs),
                     "differ", json_count(x->differ), "not_finite",
                     json_count(x->not_finite), "difference",
                     json_number(norm > 0 ? (double)sqrtl(x->square / norm) : 0),
                     "largest", json_number(x->largest > 0 ? x->most / x->largest : 0));
}

/* The reasons why calls were left to the library, "small 12, scalars 3"; null: there were
   none. */
static json_t *reasons_json(const uint64_t left[LEFT_REASONS])
{
    char text[LEFT_REASONS * 40] = "";
    for (int i = 0; i < LEFT_REASONS; i++) {
        char one[40];
        snprintf(one, sizeof one, "%s %llu", left_reasons[i].name,
                 (unsigned long long)left[i]);
        if (left[i]) text_append(text, sizeof text, one);
    }
    return text_if_any(text);
}

/* How the calls of a call site, or all calls, ended. */
static void add_calls(json_t *row, const struct call_log_site *p)
{
    uint64_t calls = 0;
    for (int i = 0; i < CALL_ENDS; i++) calls += p->ended[i];
    json_object_set_new(row, "calls", json_count(calls));
    for (int i = 0; i < CALL_ENDS; i++)
        json_object_set_new(row, call_ends[i].name, json_count(p->ended[i]));
    json_object_set_new(row, "reasons", reasons_json(p->left));
    json_object_set_new(row, "captured", json_count(p->captured));
}

static json_t *site_json(const struct call_log_site *p)
{
    json_t *const row =
        json_pack("{s:o, s:o, s:o, s:o}", "call_site", short_site(p->where), "where",
                  json_text(p->where), "native", json_text(p->native), "routine",
                  json_text(p->routine));
    add_calls(row, p);
    json_object_update_new(
        row, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "gemms",
                       json_count(p->gemms), "on_device", json_count(p->on_device), "m",
                       size_json(p, 0), "n", size_json(p, 1), "k", size_json(p, 2),
                       "scaled", json_count(p->scaled), "added", json_count(p->added),
                       "products", json_number(p->products), "seconds",
                       json_number(p->seconds), "own_seconds",
                       json_number(p->own_seconds), "fault", text_if_any(p->fault)));
    json_object_update_new(row, configuration_json(p));
    json_object_update_new(row, difference_json(&p->difference));
    return row;
}

static const struct emit_column columns[] = {
    { "call_site", "call site", 0, NULL },
    { "routine", "routine", 0, NULL },
    { "calls", "calls", 0, NULL },
    { "taken", "by bitcut", 0, NULL },
    { "empty", "empty", 0, "0" },
    { "illegal", "illegal", 0, "0" },
    { "failed", "failed", 0, "0" },
    { "reasons", "reason left", 0, "-" },
    { "captured", "in graphs", 0, "0" },
    { "on_device", "on device", 0, "0" },
    { "m", "m", 0, NULL },
    { "n", "n", 0, NULL },
    { "k", "k", 0, NULL },
    { "seconds", "seconds", 3, NULL },
    { "configuration", "computed as", 0, NULL },
    { "against", "against", 0, "-" },
    { "differ", "differ", 0, "-" },
    { "not_finite", "not finite", 0, "-" },
    { "difference", "relative", 3, "-" },
    { "largest", "largest", 3, "-" },
    { "watched", "watched", 0, "-" },
    { "recomputed", "checked", 0, "-" },
    { "mismatches", "wrong", 0, "-" },
    { "range_a", "A", 0, "-" },
    { "range_b", "B", 0, "-" },
    { "relres", "relres", 2, "-" },
    { "backward_max", "u |A||B|", 2, "-" },
    { "bound", "FP32 bound", 3, "-" },
    { "advice", "advice", 0, "-" },
    { "advice_on", "on", 0, "-" },
    { NULL, NULL, 0, NULL },
};

/* --- all call sites --------------------------------------------------------------- */

enum { COUNTED_MAX = CALL_LOG_ROUTINES_MAX * (ROUTINE_MAX_BYTES + 8) };

/* The routines that were only counted, "cgemm_ 10, sgemv_ 2". */
static void list_counted(char *text, size_t size, const struct run_total *t)
{
    text[0] = 0;
    for (int i = 0; i < CALL_LOG_ROUTINES_MAX && *t->routine[i].name; i++) {
        char one[ROUTINE_MAX_BYTES + 32];
        snprintf(one, sizeof one, "%s %llu", t->routine[i].name,
                 (unsigned long long)t->routine[i].calls);
        text_append(text, size, one);
    }
}

/* The precisions of the run's products, "FP32". */
static void list_precisions(char *text, size_t size, const struct run_total *t)
{
    text[0] = 0;
    for (int i = 0; i < PRECISIONS; i++)
        if (t->takes[i])
            text_add(text, size, "%s%s", *text ? " or " : "", precisions[i].name);
}

/* The first of the routines of a run that the program's file contains; NULL: none. */
static const char *routine_inside(const struct run_total *t, const char *program)
{
    static const char *const names[PRECISIONS][5] = {
        { "sgemm_", "cblas_sgemm", "sgemm_64_", "cblas_sgemm64_" },
        { "dgemm_", "cblas_dgemm", "dgemm_64_", "cblas_dgemm64_" },
    };
    const char *inside = NULL;
    for (int i = 0; i < PRECISIONS && program && !inside; i++)
        if (t->takes[i]) inside = program_has(program, names[i]);
    return inside;
}

/* Why no product was logged, as far as the processes and the program's file show; "" if
   one was. */
static void why_none(char *text, size_t size, const struct run_total *t,
                     const char *program)
{
    const char *const inside = routine_inside(t, program);
    char precision[32];
    list_precisions(precision, sizeof precision, t);
    text[0] = 0;
    if (t->sites || t->lost) return;
    if (!t->processes)
        snprintf(text, size, "%s",
                 program ? "no process loaded the library and wrote a log: the program "
                           "was started with LD_PRELOAD cleared or with other rights, or "
                           "a line above gives the reason"
                         : "no process wrote a log in the folder");
    else if (inside)
        snprintf(text, size,
                 "the program contains %s, linked statically, where the library cannot "
                 "replace it: link it with a shared BLAS",
                 inside);
    else if (t->counted)
        snprintf(text, size,
                 "its products are not %s products of level 3; they are only counted",
                 precision);
    else if (*t->libraries)
        snprintf(text, size,
                 "%s is loaded, but no %s product of level 3 was called: the program has "
                 "none, or its own code or LAPACK inside the library computes it",
                 t->libraries, precision);
    else if (t->ended)
        snprintf(text, size, "no process had a BLAS library when it ended");
    else
        snprintf(
            text, size,
            "the process that loaded the library was killed, ended by _exit() as shells "
            "do, became another program that cleared LD_PRELOAD or runs with other "
            "rights, or could not write its log (a line above gives the reason)");
}

static json_t *total_json(const struct run_description *told)
{
    const struct run_total *const t = told->total;
    const char *const program = told->program;
    char counted[COUNTED_MAX], why[2048];
    list_counted(counted, sizeof counted, t);
    why_none(why, sizeof why, t, program);
    json_t *const row =
        json_pack("{s:o, s:o}", "program", text_if_any(program ? program : ""),
                  "processes", json_count(t->processes));
    add_calls(row, t->sum);
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "lost",
                  json_count(t->lost), "others", json_count(t->counted), "counted",
                  json_text(counted), "seconds", json_number(t->sum->seconds),
                  "own_seconds", json_number(t->sum->own_seconds), "elapsed",
                  told->elapsed > 0 ? json_real(told->elapsed) : json_null(), "libraries",
                  json_text(t->libraries), "none", text_if_any(why), "settings",
                  text_if_any(t->fault), "on_device", json_count(t->sum->on_device),
                  "device", text_if_any(t->device), "device_fault",
                  text_if_any(t->device_fault)));
    return row;
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* "N calls HOW WHAT", if there are any. */
static void print_calls(uint64_t count, const char *how, const char *what)
{
    if (count)
        text_print(stderr, "bitcut: run: %llu call%s %s%s\n", (unsigned long long)count,
                   plural(count), how, what);
}

/* Configuration i of a total: first those of products, then those of comparisons; NULL:
   there are no more. */
static const char *way_at(const struct run_total *t, size_t i)
{
    if (i < t->sites) return t->site[i]->configuration;
    return i < 2 * t->sites ? t->site[i - t->sites]->against : NULL;
}

/* The range of values that both splits of a configuration retain.  Returns false if it
   has none of its own: rows and columns are equilibrated, or it is an FP64 GEMM. */
static bool find_range(struct split_range *to, const struct bitcut_gemm *g)
{
    const bool flush = g->unit->flush_inputs;
    struct gemm_plan plan;
    struct split_range b;
    if (g->scheme || gemm_plan_on_unit(&plan, g, NULL) != BITCUT_OK || plan.equilibrate ||
        split_range_find(to, &plan.split_a, flush, NULL) != BITCUT_OK ||
        split_range_find(&b, &plan.split_b, flush, NULL) != BITCUT_OK)
        return false;
    if (b.least > to->least) to->least = b.least;
    if (b.most < to->most) to->most = b.most;
    return true;
}

/* A warning if the range of the parts is much smaller than the range of FP32. */
static void print_range(const struct run_configuration *configuration)
{
    enum { WIDE = 64 };
    struct split_range range;
    if (!find_range(&range, &configuration->gemm)) return;
    if (range.least <= -WIDE && range.most >= WIDE) return;
    text_print(stderr,
               "bitcut: run: %s: elements below 2^%d lose bits in the parts, and "
               "overflow from 2^%d on; --equilibrate scales rows and columns, --audit "
               "counts the elements\n",
               configuration->line, range.least, range.most + 1);
}

/* The evidence for each unit that computed a product, and the range of its parts, once
   for each configuration. */
static void print_evidence(const struct run_total *t)
{
    const char *line;
    for (size_t i = 0; (line = way_at(t, i)); i++) {
        struct run_configuration configuration;
        size_t first = 0;
        while (strcmp(way_at(t, first), line) != 0) first++;
        if (first < i || !is_other(&configuration, line)) continue;
        text_print(stderr, "bitcut: run: %s: evidence of the unit: %s\n",
                   configuration.line, unit_evidence(configuration.gemm.unit));
        print_range(&configuration);
    }
}

/* The time spent on auditing and comparing, in addition to the program's own.  Threads
   and processes are added up: a sum above the run's own time is no share of it. */
static void print_overhead(const struct run_description *told)
{
    const double own = told->total->sum->own_seconds;
    if (own <= 0) return;
    text_print(stderr, "bitcut: run: audit and comparison took %.3g s", own);
    if (own > told->elapsed && told->elapsed > 0)
        text_print(stderr, " in all threads and processes together, of a run of %.3g s",
                   told->elapsed);
    else if (told->elapsed > 0)
        text_print(stderr, " of %.3g s, %.2g %%", told->elapsed,
                   100 * own / told->elapsed);
    text_print(stderr, "\n");
}

/* What a device computed, and why it did not: products are the same either way. */
static void print_device(const struct run_total *t)
{
    if (*t->device)
        text_print(stderr, "bitcut: run: %llu GEMM%s computed on %s\n",
                   (unsigned long long)t->sum->on_device, plural(t->sum->on_device),
                   t->device);
    if (*t->device_fault)
        text_print(stderr, "bitcut: run: a process emulated without the device: %s\n",
                   t->device_fault);
}

/* How calls ended, one line for each end, and one line for each reason why calls were
   left. */
static void print_ends(const struct call_log_site *sum)
{
    for (int i = 0; i < CALL_LEFT; i++) print_calls(sum->ended[i], "", call_ends[i].what);
    for (int i = 0; i < LEFT_REASONS; i++)
        print_calls(sum->left[i], "left to the library: ", left_reasons[i].what);
}

/* Outputs that differ when computed again indicate a fault. */
static void print_mismatches(size_t count)
{
    if (count)
        text_print(stderr,
                   "bitcut: run: %zu output%s DIFFERENT from bitcut gemm: see the column "
                   "wrong\n",
                   count, count == 1 ? " IS" : "S ARE");
}

static void print_total(const struct run_description *told, size_t mismatches)
{
    const struct run_total *const t = told->total;
    char text[COUNTED_MAX];
    print_ends(t->sum);
    print_device(t);
    print_evidence(t);
    print_overhead(told);
    print_mismatches(mismatches);
    print_calls(
        t->lost, "",
        "came from more call sites than the log has room for, in memory or on disk; no "
        "row has them");
    list_counted(text, sizeof text, t);
    if (*text)
        text_print(stderr, "bitcut: run: only counted, left to the library: %s\n", text);
    why_none(text, sizeof text, t, told->program);
    if (*text) text_print(stderr, "bitcut: run: no product was seen: %s\n", text);
    if (*t->fault) text_print(stderr, "bitcut: run: %s\n", t->fault);
    fflush(stderr);
}

static void write_line(FILE *file, const json_t *row)
{
    json_t *const line = json_copy((json_t *)(uintptr_t)row);
    emit_schema(line, "run");
    json_put_row(file, line);
    fputc('\n', file);
    json_decref(line);
}

/* Call sites beyond this number are not audited: each takes up to a second. */
enum { ADVISED_MAX = 24 };

static json_t *place_row(size_t *mismatches, const struct run_description *told, size_t i,
                         struct context *x)
{
    const struct call_log_site *const p = told->total->site[i];
    const struct run_audit how = { told->folder, told->want, i < ADVISED_MAX };
    json_t *const row = site_json(p);
    if (told->folder) *mismatches += run_audit_add(row, p, &how, x);
    return row;
}

void run_describe(const struct run_description *told, struct context *x)
{
    x->emitter.columns = columns;
    x->emitter.table = true;
    size_t mismatches = 0;
    terminal_label(told->folder ? "run: audit" : NULL);
    for (size_t i = 0; i < told->total->sites; i++) {
        json_t *const row = place_row(&mismatches, told, i, x);
        progress_report(&x->progress, i + 1, told->total->sites);
        if (told->file) write_line(told->file, row);
        emit_row(&x->emitter, row);
    }
    terminal_label(NULL);
    json_t *const all = total_json(told);
    if (told->file) write_line(told->file, all);
    if (x->emitter.json) {
        emit_row(&x->emitter, all);
        return;
    }
    json_decref(all);
    print_total(told, mismatches);
    if (progress_stopped(&x->progress))
        text_print(stderr,
                   "bitcut: run: the audit was interrupted: some rows have no errors or "
                   "advice\n");
}
