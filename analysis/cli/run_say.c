/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/run_say.h"

#include "analysis/cli/run_audit.h"
#include "analysis/cli/terminal.h"
#include "analysis/evidence/json_value.h"
#include "analysis/run/program.h"
#include "emu/unit.h"
#include "lib/recipe.h"
#include "lib/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a place ---------------------------------------------------------------------- */

/* A size, or from which to which. */
static json_t *size_json(const struct ledger_place *p, int i)
{
    if (!p->gemms) return json_null();
    return p->least[i] == p->most[i]
               ? json_count(p->least[i])
               : json_sprintf("%llu-%llu", (unsigned long long)p->least[i],
                              (unsigned long long)p->most[i]);
}

/* "train.py:12 step" of "/home/me/train.py:12 step < ...". */
static json_t *short_place(const char *where)
{
    char text[PLACE_MOST_BYTES];
    const size_t length = strcspn(where, "<") ? strcspn(where, "<") : strlen(where);
    snprintf(text, sizeof text, "%.*s", (int)length, where);
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
    const char *const slash = strrchr(text, '/');
    return json_text(slash ? slash + 1 : text);
}

/* A way that is not the program's own; false: it is, or there is none. */
static bool is_other(struct run_way *way, const char *line)
{
    return *line && run_way_read(way, line, NULL) == BITCUT_OK && !way->original;
}

static json_t *evidence_json(const char *line)
{
    struct run_way way;
    return is_other(&way, line) ? json_string(unit_evidence(way.gemm.unit)) : json_null();
}

/* The recipe and the unit of a way, null for the original's, and what it is compared
   with. */
static void add_way(json_t *row, const struct ledger_place *p)
{
    struct run_way way;
    const bool known = is_other(&way, p->way);
    json_object_set_new(row, "way", json_text(p->way));
    json_object_set_new(row, "recipe",
                        known ? json_string(way.gemm.recipe->name) : json_null());
    json_object_set_new(row, "unit",
                        known ? json_string(way.gemm.unit->name) : json_null());
    json_object_set_new(row, "evidence", evidence_json(p->way));
    json_object_set_new(row, "against",
                        *p->against ? json_text(p->against) : json_null());
    json_object_set_new(row, "against_evidence", evidence_json(p->against));
}

/* What was compared, null if nothing was. */
static void add_difference(json_t *row, const struct ledger_difference *x)
{
    const bool any = x->outputs != 0;
    const double norm = fmax(x->norm[0], x->norm[1]);
    const double relative = norm > 0 ? sqrt(x->square / norm) : 0;
    const double most = x->largest > 0 ? x->most / x->largest : 0;
    json_object_set_new(row, "outputs", any ? json_count(x->outputs) : json_null());
    json_object_set_new(row, "differ", any ? json_count(x->differ) : json_null());
    json_object_set_new(row, "not_finite", any ? json_count(x->not_finite) : json_null());
    json_object_set_new(row, "difference", any ? json_number(relative) : json_null());
    json_object_set_new(row, "largest", any ? json_number(most) : json_null());
}

/* The reasons why calls were left, "small 12, scalars 3"; null: none was. */
static json_t *reasons_json(const uint64_t left[LEFT_REASONS])
{
    char text[LEFT_REASONS * 40] = "";
    for (int i = 0; i < LEFT_REASONS; i++) {
        char one[40];
        snprintf(one, sizeof one, "%s %llu", left_rows[i].name,
                 (unsigned long long)left[i]);
        if (left[i]) text_append(text, sizeof text, one);
    }
    return *text ? json_text(text) : json_null();
}

static json_t *place_json(const struct ledger_place *p)
{
    uint64_t calls = 0;
    for (int i = 0; i < CALL_ENDS; i++) calls += p->ended[i];
    json_t *const row =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "place", short_place(p->where), "where",
                  json_text(p->where), "native", json_text(p->native), "routine",
                  json_text(p->routine), "calls", json_count(calls));
    for (int i = 0; i < CALL_ENDS; i++)
        json_object_set_new(row, call_end_names[i], json_count(p->ended[i]));
    json_object_set_new(row, "reasons", reasons_json(p->left));
    json_object_set_new(row, "captured", json_count(p->captured));
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "gemms",
                  json_count(p->gemms), "on_device", json_count(p->on_device), "m",
                  size_json(p, 0), "n", size_json(p, 1), "k", size_json(p, 2), "scaled",
                  json_count(p->scaled), "added", json_count(p->added), "products",
                  json_number(p->products), "seconds", json_number(p->seconds),
                  "own_seconds", json_number(p->own_seconds), "fault",
                  *p->fault ? json_text(p->fault) : json_null()));
    add_way(row, p);
    add_difference(row, &p->difference);
    return row;
}

static const struct emit_column columns[] = {
    { "place", "place", 0, NULL },
    { "routine", "routine", 0, NULL },
    { "calls", "calls", 0, NULL },
    { "taken", "by bitcut", 0, NULL },
    { "empty", "empty", 0, "0" },
    { "illegal", "illegal", 0, "0" },
    { "failed", "failed", 0, "0" },
    { "reasons", "left, why", 0, "-" },
    { "captured", "in graphs", 0, "0" },
    { "on_device", "on device", 0, "0" },
    { "m", "m", 0, NULL },
    { "n", "n", 0, NULL },
    { "k", "k", 0, NULL },
    { "seconds", "seconds", 3, NULL },
    { "way", "computed as", 0, NULL },
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
    { "bound", "FP32 may", 3, "-" },
    { "advice", "will do", 0, "-" },
    { "advice_on", "on", 0, "-" },
    { NULL, NULL, 0, NULL },
};

/* --- all of them ------------------------------------------------------------------ */

enum { COUNTED_MOST = LEDGER_ROUTINES_MOST * (ROUTINE_MOST_BYTES + 8) };

/* The routines that are only counted, "dgemm_ 10, sgemv_ 2". */
static void list_counted(char *text, size_t size, const struct run_total *t)
{
    text[0] = 0;
    for (int i = 0; i < LEDGER_ROUTINES_MOST && *t->routine[i].name; i++) {
        char one[ROUTINE_MOST_BYTES + 32];
        snprintf(one, sizeof one, "%s %llu", t->routine[i].name,
                 (unsigned long long)t->routine[i].calls);
        text_append(text, size, one);
    }
}

/* Why no product was seen, as far as the processes and the program's file tell; "" if one
   was. */
static void why_none(char *text, size_t size, const struct run_total *t,
                     const char *program)
{
    static const char *const names[] = { "sgemm_", "cblas_sgemm", "sgemm_64_",
                                         "cblas_sgemm64_", NULL };
    const char *const inside = program ? program_has(program, names) : NULL;
    text[0] = 0;
    if (t->places || t->lost) return;
    if (!t->processes)
        snprintf(text, size, "%s",
                 program ? "no process took the library and wrote anything down: what "
                           "started the program has cleared LD_PRELOAD, or it runs with "
                           "other rights; or a line above says why"
                         : "no process has written anything in the folder");
    else if (inside)
        snprintf(
            text, size,
            "the program has %s in itself, linked statically, where nothing takes its "
            "place: link it with a shared BLAS",
            inside);
    else if (t->counted)
        snprintf(text, size, "its products are of another kind, which are only counted");
    else if (*t->libraries)
        snprintf(text, size,
                 "%s is there, but no FP32 product of level 3 was called: there is none, "
                 "or the library or the program computes it in itself",
                 t->libraries);
    else if (t->ended)
        snprintf(text, size, "no process had a BLAS library when it ended");
    else
        snprintf(
            text, size,
            "what took the library was killed, left by _exit() as shells do, or became "
            "another program that cleared LD_PRELOAD, runs with other rights, or could "
            "write nothing down (a line above says so)");
}

static json_t *total_json(const struct run_told *told)
{
    const struct run_total *const t = told->total;
    const char *const program = told->program;
    char counted[COUNTED_MOST], why[2048];
    list_counted(counted, sizeof counted, t);
    why_none(why, sizeof why, t, program);
    uint64_t calls = 0;
    for (int i = 0; i < CALL_ENDS; i++) calls += t->calls[i];
    json_t *const row = json_pack("{s:o, s:o, s:o}", "program",
                                  program ? json_text(program) : json_null(), "processes",
                                  json_count(t->processes), "calls", json_count(calls));
    for (int i = 0; i < CALL_ENDS; i++)
        json_object_set_new(row, call_end_names[i], json_count(t->calls[i]));
    json_object_set_new(row, "reasons", reasons_json(t->left));
    json_object_set_new(row, "captured", json_count(t->captured));
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "lost",
                  json_count(t->lost), "others", json_count(t->counted), "counted",
                  json_text(counted), "seconds", json_number(t->seconds), "own_seconds",
                  json_number(t->own_seconds), "elapsed",
                  told->elapsed > 0 ? json_real(told->elapsed) : json_null(), "libraries",
                  json_text(t->libraries), "none", *why ? json_text(why) : json_null(),
                  "settings", *t->fault ? json_text(t->fault) : json_null(), "on_device",
                  json_count(t->on_device), "device",
                  *t->device ? json_text(t->device) : json_null(), "device_fault",
                  *t->device_fault ? json_text(t->device_fault) : json_null()));
    return row;
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* "N calls WHAT", if there are any. */
static void say_calls(uint64_t count, const char *what)
{
    if (count)
        text_print(stderr, "bitcut: run: %llu call%s %s\n", (unsigned long long)count,
                   plural(count), what);
}

/* Way i of a total: those that products are computed in, then those that they are
   compared with; NULL: there are no more. */
static const char *way_at(const struct run_total *t, size_t i)
{
    if (i < t->places) return t->place[i]->way;
    return i < 2 * t->places ? t->place[i - t->places]->against : NULL;
}

/* What is known of each unit that computed a product, once a way. */
static void say_evidence(const struct run_total *t)
{
    const char *line;
    json_t *const said = json_object();
    for (size_t i = 0; (line = way_at(t, i)); i++) {
        struct run_way way;
        if (json_object_get(said, line) || !is_other(&way, line)) continue;
        json_object_set_new(said, line, json_true());
        text_print(stderr, "bitcut: run: %s: evidence of the unit: %s\n", way.line,
                   unit_evidence(way.gemm.unit));
    }
    json_decref(said);
}

/* What looking at calls took, beside what the program did.  Threads and processes are
   added up: a sum above the run's own time is no share of it. */
static void say_overhead(const struct run_told *told)
{
    const double own = told->total->own_seconds;
    if (own <= 0) return;
    text_print(stderr, "bitcut: run: watching and comparing took %.3g s", own);
    if (own > told->elapsed && told->elapsed > 0)
        text_print(stderr, " in all threads and processes together, of a run of %.3g s",
                   told->elapsed);
    else if (told->elapsed > 0)
        text_print(stderr, " of %.3g s, %.2g %%", told->elapsed,
                   100 * own / told->elapsed);
    text_print(stderr, "\n");
}

/* What a device has computed, and why it has not: products are the same either way. */
static void say_device(const struct run_total *t)
{
    if (*t->device)
        text_print(stderr, "bitcut: run: %llu GEMM%s computed on %s\n",
                   (unsigned long long)t->on_device, plural(t->on_device), t->device);
    if (*t->device_fault)
        text_print(stderr, "bitcut: run: a process emulated without the device: %s\n",
                   t->device_fault);
}

/* Why calls were left to the library, a line a reason. */
static void say_left(const struct run_total *t)
{
    for (int i = 0; i < LEFT_REASONS; i++)
        if (t->left[i])
            text_print(stderr, "bitcut: run: %llu call%s left to the library: %s\n",
                       (unsigned long long)t->left[i], plural(t->left[i]),
                       left_rows[i].what);
}

/* Outputs that were computed once more, and were others: then something is broken. */
static void say_mismatches(size_t count)
{
    if (count)
        text_print(stderr,
                   "bitcut: run: %zu output%s NOT WHAT bitcut gemm GIVES: see the "
                   "column wrong\n",
                   count, count == 1 ? " IS" : "S ARE");
}

static void say_total(const struct run_told *told, size_t mismatches)
{
    const struct run_total *const t = told->total;
    const char *const program = told->program;
    static const char *const words[CALL_ENDS] = {
        [CALL_TAKEN] = "computed by bitcut",
        [CALL_PASSED] = "computed by the program's own library, as asked",
        [CALL_EMPTY] = "without a product (a size or alpha is 0), left to the library",
        [CALL_ILLEGAL] = "with arguments that are none of the routine's, left to the "
                         "library",
        [CALL_FAILED] =
            "COMPUTED BY THE PROGRAM'S OWN LIBRARY, because bitcut could not: "
            "see fault",
    };
    char text[COUNTED_MOST];
    for (int i = 0; i < CALL_ENDS; i++)
        if (words[i]) say_calls(t->calls[i], words[i]);
    say_left(t);
    say_device(t);
    say_evidence(t);
    say_overhead(told);
    say_mismatches(mismatches);
    say_calls(t->lost,
              "of more places than there is room for, in the account or on the disk: in "
              "no row");
    list_counted(text, sizeof text, t);
    if (*text)
        text_print(stderr, "bitcut: run: only counted, left to the library: %s\n", text);
    why_none(text, sizeof text, t, program);
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

/* Places beyond these are in no audit: each takes up to a second. */
enum { ADVISED_MOST = 24 };

static json_t *place_row(size_t *mismatches, const struct run_told *told, size_t i,
                         struct context *x)
{
    const struct ledger_place *const p = told->total->place[i];
    const struct run_audit how = { told->folder, told->want, i < ADVISED_MOST };
    json_t *const row = place_json(p);
    if (told->folder) *mismatches += run_audit_add(row, p, &how, x);
    return row;
}

void run_say(const struct run_told *told, struct context *x)
{
    x->emitter.columns = columns;
    x->emitter.table = true;
    size_t mismatches = 0;
    terminal_label(told->folder ? "run: audit" : NULL);
    for (size_t i = 0; i < told->total->places; i++) {
        json_t *const row = place_row(&mismatches, told, i, x);
        progress_report(&x->progress, i + 1, told->total->places);
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
    say_total(told, mismatches);
    if (progress_stopped(&x->progress))
        text_print(stderr,
                   "bitcut: run: the audit was interrupted: rows without errors or "
                   "advice were not looked at\n");
}
