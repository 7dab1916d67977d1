/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for rows that explain recorded outputs: it finds the row of every stored
   set, and rows that are not in the table; a row is found if and only if it gives every
   output; and boxes, frames and the search give the same as examining every row.
   BITCUT_DATA names the data folder. */
#include "analysis/evidence/set_find.h"
#include "analysis/fit/fit_prune.h"
#include "analysis/fit/fit_read.h"
#include "analysis/fit/fit_search.h"
#include "lib/base/table.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { OUTPUTS = 1000 };

static void run_search(struct search *s, const struct fit *fit)
{
    struct fault f;
    ck_assert_msg(search_run(s, fit, NULL, 0, NULL, &f) == BITCUT_OK, "%s", f.text);
}

/* --- rows of the table ------------------------------------------------------------ */

static void find_known(const char *folder)
{
    struct set set;
    struct fit fit;
    struct search s;
    struct fault f;
    ck_assert_msg(set_read(&set, folder, SET_KNOWN | SET_RECORDED, &f) == BITCUT_OK,
                  "%s: %s", folder, f.text);
    ck_assert_msg(fit_read(&fit, &set, 1, OUTPUTS, &f) == BITCUT_OK, "%s: %s", folder,
                  f.text);
    run_search(&s, &fit);
    ck_assert_msg(s.report.complete, "%s: not complete", folder);
    ck_assert_msg(search_has(&s, &fit, &set.unit), "%s: its own row is not found",
                  folder);
    search_clear(&s);
    fit_clear(&fit);
    set_clear(&set);
}

/* At most a thousand outputs of each set, its unit's name unused. */
START_TEST(rows_of_kept_sets)
{
    const char *data = getenv("BITCUT_DATA");
    char path[4096];
    struct found_list sets = { 0 };
    snprintf(path, sizeof path, "%s/h200", data ? data : "data");
    ck_assert_int_eq(set_find(&sets, path, NULL, NULL), BITCUT_OK);
    ck_assert_uint_ge(sets.count, 17);
    for (size_t i = 0; i < sets.count; i += test_whole() ? 1 : (size_t)test_step(5) + 1)
        find_known(sets.at[i].folder);
    found_clear(&sets);
}
END_TEST

/* The row of the set is found, and no other one of the table; of these few outputs the
   search need not be complete, but it must be short. */
static void find_named(const char *name)
{
    enum { TRIED_MAX = 1 << 20 };
    const char *data = getenv("BITCUT_DATA");
    char path[4096];
    struct set set;
    struct fit fit;
    struct search s;
    struct fault f;
    snprintf(path, sizeof path, "%s/directed/%s", data ? data : "data", name);
    ck_assert_msg(set_read(&set, path, SET_KNOWN | SET_RECORDED, &f) == BITCUT_OK,
                  "%s: %s", path, f.text);
    ck_assert_msg(fit_read(&fit, &set, 1, OUTPUTS, &f) == BITCUT_OK, "%s", f.text);
    run_search(&s, &fit);
    ck_assert_msg(s.report.tried < TRIED_MAX, "%s: %zu rows tried", name, s.report.tried);
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (fit_is_for(&fit, u))
            ck_assert_msg(search_has(&s, &fit, u) == field_same(u, &set.unit), "%s: %s",
                          name, u->name);
    search_clear(&s);
    fit_clear(&fit);
    set_clear(&set);
}

START_TEST(rows_of_processors)
{
    static const char *const names[] = { "avx512/vdpbf16ps.m1n16k2.f32.bf16",
                                         "amx/tdpbf16ps.m16n16k32.f32.bf16" };
    for (int i = 0; i < 2; i += test_step(2)) find_named(names[i]);
}
END_TEST

/* --- rows of no table ------------------------------------------------------------- */

static int below(struct rng *rng, int n) { return (int)(rng_bits(rng) % (uint64_t)n); }

/* A sound row with `steps` fields changed to any of their values. */
static struct bitcut_unit changed(const struct bitcut_unit *u, int steps, struct rng *rng)
{
    struct bitcut_unit row = *u;
    while (steps > 0) {
        int64_t values[FIELD_VALUES_MAX];
        const struct field *f = &fields[below(rng, FIELD_COUNT)];
        const int n = field_values(values, f, &row);
        if (n < 2) continue;
        field_set(f, &row, values[below(rng, n)]);
        steps--;
    }
    return row;
}

static bool is_in_table(const struct bitcut_unit *row)
{
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (field_same(u, row)) return true;
    return false;
}

/* A row that no unit of the table has, near one of it. */
static struct bitcut_unit unseen(struct rng *rng)
{
    static const char *const near[] = {
        "hopper/mma.m16n8k16.f32.f16", "ampere/mma.m16n8k8.f32.tf32",
        "ada/mma.m16n8k32.f32.e4m3",   "hopper/mma.m16n8k32.f32.e5m2",
        "cdna2/mfma.32x32x8.f32.f16",  "cdna3/mfma.32x32x8.f32.bf16",
        "cdna1/mfma.32x32x4.f32.bf16", "hopper/mma.m16n8k16.f32.bf16",
    };
    for (;;) {
        const char *name = near[below(rng, sizeof near / sizeof near[0])];
        const struct bitcut_unit row =
            changed(table_find(TABLE(units), name), 3 + below(rng, 3), rng);
        if (unit_sound(&row) && !is_in_table(&row)) return row;
    }
}

/* Samples of all classes in turn, and what the row gives. */
static void record_row(struct recorded out[OUTPUTS], const struct bitcut_unit *row,
                       struct rng *rng)
{
    const struct sample_class *class = sample_classes;
    for (int i = 0; i < OUTPUTS; i++, class ++) {
        while (!class->name || (class->scaled && !row->scale))
            class = class->name ? class + 1 : sample_classes;
        class->fill(&out[i].sample, row, rng);
        out[i].d = sample_dot(row, &out[i].sample);
    }
}

static void print_fields(const struct bitcut_unit *row)
{
    printf("# %s with", row->name);
    for (const struct field *f = fields; f->name; f++) {
        char text[40];
        if (!field_used(f, row)) continue;
        field_text(text, sizeof text, f, row, field_get(f, row));
        printf(" %s %s,", f->name, text);
    }
    printf("\n");
    fflush(stdout);
}

/* Rows near `row`, and whether the search rightly says of each that it explains all; how
   many of them it says so of wrongly. */
static int wrong_members(const struct search *s, const struct fit *fit,
                         const struct bitcut_unit *row, struct rng *rng)
{
    int wrong = 0;
    for (int i = 0; i < 300; i++) {
        const struct bitcut_unit near = changed(row, 1 + i % 3, rng);
        struct box one;
        if (!fit_is_for(fit, &near) || !unit_sound(&near) ||
            !box_single(&one, &fit->space, &near))
            continue;
        const bool explains = fit_explains(fit, &near) == fit->count;
        if (search_has(s, fit, &near) == explains) continue;
        if (!wrong++) print_fields(&near);
    }
    return wrong;
}

/* "A unit that nobody has seen". */
START_TEST(rows_of_no_table)
{
    static struct recorded outputs[OUTPUTS];
    struct rng rng = rng_start(test_seed(), 0);
    for (int i = 0; i < test_cases(8, 400);) {
        const struct bitcut_unit row = unseen(&rng);
        struct fit fit;
        struct search s;
        struct box one;
        record_row(outputs, &row, &rng);
        ck_assert_int_eq(fit_init(&fit, &row, outputs, OUTPUTS, NULL), BITCUT_OK);
        if (!box_single(&one, &fit.space, &row)) { /* a value that nobody would try */
            fit_clear(&fit);
            continue;
        }
        run_search(&s, &fit);
        i++;
        const bool found = search_has(&s, &fit, &row);
        const int wrong = s.report.complete ? wrong_members(&s, &fit, &row, &rng) : 0;
        if (!found || wrong) print_fields(&row);
        ck_assert_msg(found || !s.report.complete, "row %d is not found", i);
        ck_assert_msg(wrong == 0, "row %d: %d rows near it are judged wrongly", i, wrong);
        search_clear(&s);
        fit_clear(&fit);
    }
}
END_TEST

/* --- cuts of boxes ---------------------------------------------------------------- */

/* Any row of the box. */
static struct bitcut_unit row_of(const struct box *box, const struct space *s,
                                 struct rng *rng)
{
    struct bitcut_unit row = s->base;
    for (int f = 0; f < FIELD_COUNT; f++) {
        uint64_t set = box->set[f];
        for (int skip = below(rng, __builtin_popcountll(set)); skip > 0; skip--)
            set &= set - 1;
        field_set(&fields[f], &row, s->value[f][__builtin_ctzll(set)]);
    }
    return row;
}

/* Rows of the box that are sound and do give the output, or with `same` false do not: how
   many of some at random are not what the box was cut down to. */
static int strangers(const struct box *box, const struct space *s,
                     const struct observed *o, uint64_t d, bool same, struct rng *rng)
{
    int wrong = 0;
    for (int i = 0; i < 24; i++) {
        const struct bitcut_unit row = row_of(box, s, rng);
        if (!unit_sound(&row) || (observed_dot(o, s, &row) == d) == same) continue;
        if (!wrong++) print_fields(&row);
    }
    return wrong;
}

/* One output: the rows that one run says give it too; and of an output that the row does
   not give, those that do not give it either. */
static int cut_check(const struct space *s, const struct box *frame,
                     const struct bitcut_unit *row, const struct sample *sample,
                     struct rng *rng)
{
    const struct bitcut_unit other = changed(row, 1, rng);
    const uint64_t d = sample_dot(row, sample);
    struct observed o;
    struct box one, cut = *frame;
    ck_assert(observed_init(&o, s, sample, d));
    ck_assert(box_single(&one, s, row));
    prune(&cut, s, &o, row, &one);
    ck_assert(box_holds(&cut, &one));
    int wrong = strangers(&cut, s, &o, d, true, rng);
    o.d = sample_dot(&other, sample);
    if (o.d != d) {
        cut = *frame;
        prune(&cut, s, &o, row, &one);
        ck_assert(box_holds(&cut, &one));
        wrong += strangers(&cut, s, &o, o.d, false, rng);
    }
    observed_clear(&o);
    return wrong;
}

/* What a row's run says of others holds for every row of the box that it cuts. */
START_TEST(cuts_are_sound)
{
    struct rng rng = rng_start(test_seed(), 1);
    int cuts = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        if (field_repeats(u)) continue;
        const struct bitcut_unit row = changed(u, below(&rng, 3), &rng);
        struct space s;
        struct box one;
        space_init(&s, &row);
        if (!unit_sound(&row) || !box_single(&one, &s, &row)) continue;
        const struct box frame = space_frame(&s, &row);
        for (const struct sample_class *class = sample_classes; class->name; class ++)
            for (int i = 0; i < test_cases(8, 200) && (u->scale || !class->scaled); i++) {
                struct sample sample;
                class->fill(&sample, &row, &rng);
                const int wrong = cut_check(&s, &frame, &row, &sample, &rng);
                if (wrong) print_fields(&row);
                ck_assert_msg(!wrong, "class %s: %d rows", class->name, wrong);
                cuts++;
            }
    }
    printf("# %d boxes\n", cuts);
    ck_assert_int_gt(cuts, 1000);
}
END_TEST

/* --- boxes ------------------------------------------------------------------------ */

/* Up to four values of each of the first three fields that a join looks at, one of the
   others: small enough to be looked at row by row. */
static const int few[] = { FIELD_ORDER, FIELD_BLOCK, FIELD_GROUP };

enum { FEW = 3, ALL = 15 };

static struct box few_rows(const uint64_t sets[FEW])
{
    struct box box;
    for (int f = 0; f < FIELD_COUNT; f++) box.set[f] = 1;
    for (int i = 0; i < FEW; i++) box.set[few[i]] = sets[i];
    return box;
}

static struct box random_box(struct rng *rng)
{
    uint64_t sets[FEW];
    for (int i = 0; i < FEW; i++) sets[i] = 1 + rng_bits(rng) % ALL;
    return few_rows(sets);
}

static int holders(const struct box_list *list, const struct box *one)
{
    int n = 0;
    for (size_t i = 0; i < list->count; i++) n += box_holds(&list->at[i], one);
    return n;
}

/* What boxes hold after others were taken away, and after they were joined, row by row.
 */
START_TEST(boxes_row_by_row)
{
    struct rng rng = rng_start(test_seed(), 2);
    const struct box all = few_rows((const uint64_t[FEW]){ ALL, ALL, ALL });
    for (int i = 0; i < test_cases(200, 30000); i++) {
        const struct box x = random_box(&rng), hole = random_box(&rng);
        struct box_list rest = { 0 };
        ck_assert(box_subtract(&rest, &x, &hole));
        ck_assert(box_subtract(&rest, &hole, &x));
        const size_t before = rest.count;
        for (int joined = 0; joined < 2; joined++) {
            struct box one = box_first(&all);
            int rows = 0;
            do {
                const bool left = box_holds(&x, &one) != box_holds(&hole, &one);
                ck_assert_int_eq(holders(&rest, &one), left);
                rows++;
            } while (box_next(&one, &all));
            ck_assert_int_eq(rows, 4 * 4 * 4);
            box_list_join(&rest);
            ck_assert_uint_le(rest.count, before);
        }
        box_list_clear(&rest);
    }
}
END_TEST

/* However a box was cut into pieces, one after the other, joining makes it whole. */
START_TEST(pieces_join)
{
    const struct box all = few_rows((const uint64_t[FEW]){ ALL, ALL, ALL });
    struct box_list rows = { 0 };
    struct box one = box_first(&all);
    do ck_assert(box_list_add(&rows, &one));
    while (box_next(&one, &all));
    box_list_join(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert(box_holds(&rows.at[0], &all) && box_holds(&all, &rows.at[0]));
    box_list_clear(&rows);
}
END_TEST

/* --- enumeration ------------------------------------------------------------------ */

/* Whether the row is sound and has no value that nobody would try. */
static bool is_of_space(const struct space *s, const struct bitcut_unit *row)
{
    struct box one;
    return unit_sound(row) && box_single(&one, s, row);
}

/* Frames have no row in common; each sound row is in one, which is space_frame(). */
START_TEST(frames_hold_each_row_once)
{
    struct rng rng = rng_start(test_seed(), 3);
    for (int i = 0; i < test_cases(8, 100); i++) {
        const struct bitcut_unit near = unseen(&rng);
        struct box_list frames = { 0 };
        struct space s;
        space_init(&s, &near);
        ck_assert(space_frames(&frames, &s));
        for (int j = 0; j < 50; j++) {
            const struct bitcut_unit row = changed(&near, 1 + below(&rng, 6), &rng);
            struct box one;
            if (!is_of_space(&s, &row)) continue;
            ck_assert(box_single(&one, &s, &row));
            const struct box frame = space_frame(&s, &row);
            ck_assert(box_holds(&frame, &one));
            if (holders(&frames, &one) != 1) print_fields(&row);
            ck_assert_int_eq(holders(&frames, &one), 1);
        }
        box_list_clear(&frames);
    }
}
END_TEST

/* --- search ----------------------------------------------------------------------- */

/* Drop values of the box, but none that the row has, until few rows are left. */
static void thin_out(struct box *box, const struct space *s, const struct box *one,
                     struct rng *rng)
{
    enum { ROWS_MAX = 1500 };
    while (box_rows(s, box) > ROWS_MAX) {
        const int f = below(rng, FIELD_COUNT);
        const uint64_t value = UINT64_C(1) << below(rng, 64);
        if (!(one->set[f] & value)) box->set[f] &= ~value;
    }
}

/* Run every row of the box: the survivors must be those that the search names. */
static double brute_force(const struct search *s, const struct fit *fit,
                          const struct box *box)
{
    struct box one = box_first(box);
    double survivors = 0;
    do {
        struct bitcut_unit row;
        if (!box_row(&row, &fit->space, &one)) continue; /* sum_fraction < fraction */
        const bool explains = fit_explains(fit, &row) == fit->count;
        if (search_has(s, fit, &row) != explains) print_fields(&row);
        ck_assert_int_eq(search_has(s, fit, &row), explains);
        survivors += explains;
    } while (box_next(&one, box));
    return survivors;
}

/* Small parts of spaces, and few outputs, so that some rows survive. */
START_TEST(search_is_brute_force)
{
    static struct recorded outputs[OUTPUTS];
    struct rng rng = rng_start(test_seed(), 4);
    for (int i = 0; i < test_cases(24, 1000); i++) {
        const struct bitcut_unit row = unseen(&rng);
        struct fit fit;
        struct search s;
        struct box one;
        record_row(outputs, &row, &rng);
        ck_assert_int_eq(fit_init(&fit, &row, outputs, 60, NULL), BITCUT_OK);
        if (box_single(&one, &fit.space, &row)) {
            struct box box = space_frame(&fit.space, &row);
            thin_out(&box, &fit.space, &one, &rng);
            const struct box_list from = { .at = &box, .count = 1 };
            ck_assert_int_eq(search_run(&s, &fit, &from, 0, NULL, NULL), BITCUT_OK);
            ck_assert(s.report.complete && search_has(&s, &fit, &row));
            ck_assert_double_eq(s.report.space, box_rows(&fit.space, &box));
            ck_assert_double_eq(s.report.survivors, brute_force(&s, &fit, &box));
            search_clear(&s);
        }
        fit_clear(&fit);
    }
}
END_TEST

/* A recording of which some outputs are another's: no row survives; the nearest misses no
   more than these. */
START_TEST(torn_recordings_have_a_nearest_row)
{
    static struct recorded outputs[OUTPUTS];
    enum { TORN = 4 };
    struct rng rng = rng_start(test_seed(), 5);
    const struct bitcut_unit *row =
        table_find(TABLE(units), "hopper/mma.m16n8k8.f32.tf32");
    struct fit fit;
    struct search s;
    record_row(outputs, row, &rng);
    for (int i = 0; i < TORN; i++) outputs[37 * i].d ^= UINT64_C(1) << 30;
    ck_assert_int_eq(fit_init(&fit, row, outputs, OUTPUTS, NULL), BITCUT_OK);
    run_search(&s, &fit);
    ck_assert(s.report.survivors == 0 && s.report.near && !s.rows.count);
    ck_assert_uint_eq(fit_misses(&fit, &s.nearest), TORN);
    search_clear(&s);
    fit_clear(&fit);
}
END_TEST

TEST_MAIN("fit", rows_of_kept_sets, rows_of_processors, rows_of_no_table, cuts_are_sound,
          boxes_row_by_row, pieces_join, frames_hold_each_row_once, search_is_brute_force,
          torn_recordings_have_a_nearest_row)
