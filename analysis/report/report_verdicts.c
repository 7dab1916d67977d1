/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/report.h"

#include "analysis/study/distinct.h"
#include "analysis/study/study.h"
#include "lib/io/json_value.h"

#include <stdio.h>
#include <string.h>

json_t *report_verdicts(const struct page *page)
{
    json_t *all = json_array();
    for (size_t i = 0; i < page->count; i++)
        if (page->sections[i].verdicts)
            json_array_extend(all, page->sections[i].verdicts);
    return all;
}

static const char *text_of(json_t *rows, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(rows, i), key));
}

size_t report_count_verdicts(size_t counts[VERDICTS], json_t *all,
                             enum claim_origin origin)
{
    size_t count = 0;
    memset(counts, 0, VERDICTS * sizeof *counts);
    for (size_t i = 0; i < json_array_size(all); i++) {
        if (strcmp(text_of(all, i, "origin"), claim_origins[origin].name) != 0) continue;
        count++;
        for (int v = 0; v < VERDICTS; v++)
            counts[v] += !strcmp(text_of(all, i, "verdict"), verdicts[v].name);
    }
    return count;
}

json_t *report_all_counts(json_t *all)
{
    size_t paper[VERDICTS], own[VERDICTS];
    const size_t papers = report_count_verdicts(paper, all, ORIGIN_PAPER),
                 owns = report_count_verdicts(own, all, ORIGIN_BITCUT);
    return json_sprintf(
        "Of %zu claims of papers and vendors, each compared with computed or recorded "
        "numbers, %zu agree, %zu differ, %zu are undecided, and %zu need the hardware, "
        "detail or inputs that the reason names. Of %zu questions asked by bitcut "
        "itself, which count neither for nor against a paper, %zu have the expected "
        "answer, %zu have another answer, %zu are undecided, and %zu need hardware.",
        papers, paper[VERDICT_AGREES], paper[VERDICT_DIFFERS], paper[VERDICT_UNDECIDED],
        paper[VERDICT_CANNOT], owns, own[VERDICT_AGREES], own[VERDICT_DIFFERS],
        own[VERDICT_UNDECIDED], own[VERDICT_CANNOT]);
}

json_t *report_units(json_t *all)
{
    json_t *units = json_array();
    struct distinct d;
    distinct_of(&d, all, "unit");
    for (size_t group = 0; group < d.groups; group++) {
        const size_t first = d.first[group];
        int claims = 0;
        for (size_t i = 0; i < d.rows; i++) claims += d.group[i] == group;
        if (text_of(all, first, "unit"))
            json_array_append_new(
                units,
                json_pack("{s:s, s:s, s:i}", "unit", text_of(all, first, "unit"),
                          "evidence", text_of(all, first, "evidence"), "claims", claims));
    }
    distinct_clear(&d);
    return units;
}

/* --- scales ----------------------------------------------------------------------- */

/* The name of the scale of stored rows, if the report's own rows are small. */
static const char *recorded_scale(void) { return study_scales[STUDY_PAPER].name; }

static json_t *recorded_of(const json_t *verdict)
{
    json_t *recorded = json_object_get(verdict, "recorded");
    return json_is_object(recorded) ? recorded : NULL;
}

/* The verdicts by stored rows, for the claims that have them: an array that the caller
   releases. */
static json_t *all_recorded(json_t *all)
{
    json_t *recorded = json_array();
    for (size_t i = 0; i < json_array_size(all); i++)
        if (recorded_of(json_array_get(all, i)))
            json_array_append(recorded, recorded_of(json_array_get(all, i)));
    return recorded;
}

bool report_has_recorded(json_t *all)
{
    json_t *recorded = all_recorded(all);
    const size_t count = json_array_size(recorded);
    json_decref(recorded);
    return count > 0;
}

const char *const report_scale_keys[] = {
    "sizes",   "what they are", "where its rows are from",
    "whose",   "claims",        "agrees",
    "differs", "undecided",     "needs hardware",
    NULL
};

static void add_scale(json_t *scales, const char *name, const char *from, json_t *all)
{
    static const char *const whose[] = {
        [ORIGIN_PAPER] = "papers", [ORIGIN_BITCUT] = "bitcut's own"
    };
    const struct table_row *row = name ? table_find(TABLE(study_scales), name) : NULL;
    for (int origin = 0; row && origin < ORIGINS; origin++) {
        size_t counts[VERDICTS];
        const size_t claims = report_count_verdicts(counts, all, origin);
        if (!claims) continue;
        json_t *scale =
            json_pack("{s:s, s:s, s:s, s:s, s:o}", "sizes", row->name, "what they are",
                      row->what, "where its rows are from", from, "whose", whose[origin],
                      "claims", json_count(claims));
        for (int v = 0; v < VERDICTS; v++)
            json_object_set_new(scale, verdict_label(verdicts[v].name),
                                json_count(counts[v]));
        json_array_append_new(scales, scale);
    }
}

json_t *report_scales(json_t *all)
{
    json_t *scales = json_array(), *recorded = all_recorded(all);
    const char *own = json_array_size(all) ? text_of(all, 0, "scale") : NULL;
    add_scale(scales, own,
              own && !strcmp(own, recorded_scale())
                  ? "rows that come with bitcut, or else rows computed for this report"
                  : "computed for this report",
              all);
    add_scale(scales, recorded_scale(), "rows that come with bitcut", recorded);
    json_decref(recorded);
    return scales;
}

json_t *report_about_scales(json_t *all)
{
    const char *own = json_array_size(all) ? text_of(all, 0, "scale") : NULL;
    if (!own) return json_string("");
    const bool both = report_has_recorded(all);
    return json_sprintf(
        "A study computes its numbers for small matrices, in seconds, or for the matrix "
        "sizes of papers, which can take hours. A verdict may depend on the sizes. "
        "Numbers, figures and tables below use the sizes \"%s\".%s",
        own,
        both ? " Verdicts are given for both sizes; a dash means that no rows are stored "
               "for the sizes of papers."
             : "");
}

bool report_changes(const json_t *verdict)
{
    return recorded_of(verdict) &&
           !json_equal(json_object_get(verdict, "verdict"),
                       json_object_get(recorded_of(verdict), "verdict"));
}

/* The names of claims with another verdict by stored rows, separated by ", ". */
static json_t *changed_names(size_t *changes, json_t *all)
{
    json_t *names = json_string("");
    *changes = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        if (!report_changes(json_array_get(all, i))) continue;
        json_t *more = json_sprintf("%s%s%s", json_string_value(names),
                                    (*changes)++ ? ", " : "", text_of(all, i, "name"));
        json_decref(names);
        names = more;
    }
    return names;
}

json_t *report_all_changes(json_t *all)
{
    size_t changes;
    json_t *recorded = all_recorded(all), *names = changed_names(&changes, all), *text;
    const size_t both = json_array_size(recorded);
    if (!both) text = json_string("");
    else if (!changes)
        text = json_sprintf("All %zu claims that are checked at both sizes have the same "
                            "verdict at both.",
                            both);
    else
        text = json_sprintf("Of the %zu claims that are checked at both sizes, %zu ha%s "
                            "another verdict at the sizes of papers: %s.",
                            both, changes, changes > 1 ? "ve" : "s",
                            json_string_value(names));
    json_decref(recorded);
    json_decref(names);
    return text;
}

json_t *report_recorded(const struct section *s)
{
    const json_t *k = s->recorded;
    if (!k) return json_string("");
    return json_sprintf("Sizes of papers: %lld of %lld points come with bitcut, in "
                        "studies/%s, SHA-256 %s. The command bitcut study %s --scale %s "
                        "--seed %lld computes them.",
                        (long long)json_integer_value(json_object_get(k, "points")),
                        (long long)json_integer_value(json_object_get(k, "of")),
                        json_string_value(json_object_get(k, "file")),
                        json_string_value(json_object_get(k, "sha256")), s->name,
                        json_string_value(json_object_get(k, "scale")),
                        (long long)json_integer_value(json_object_get(k, "seed")));
}

/* --- reasons ---------------------------------------------------------------------- */

/* The number of bytes of the common ending of both texts, from a "; " on; 0: they have
   none. */
static size_t common_end(const char *a, const char *b)
{
    const char *x = a + strlen(a), *y = b + strlen(b);
    while (x > a && y > b && x[-1] == y[-1]) x--, y--;
    const char *const part = strstr(x, "; ");
    return part ? strlen(part) : 0;
}

void report_reasons(struct report_reasons *r, const json_t *verdict)
{
    const char *own = json_string_value(json_object_get(verdict, "reason"));
    const char *recorded =
        json_string_value(json_object_get(recorded_of(verdict), "reason"));
    const size_t end = recorded ? common_end(own, recorded) : 0;
    *r = (struct report_reasons){ .own = "" };
    if (!recorded || !strcmp(own, recorded)) {
        snprintf(r->both, sizeof r->both, "%s", own);
        return;
    }
    snprintf(r->own, sizeof r->own, "%.*s", (int)(strlen(own) - end), own);
    snprintf(r->recorded, sizeof r->recorded, "%.*s", (int)(strlen(recorded) - end),
             recorded);
    if (end) snprintf(r->both, sizeof r->both, "%s", own + strlen(own) - end + 2);
}
