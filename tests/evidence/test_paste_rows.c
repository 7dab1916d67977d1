/* SPDX-License-Identifier: BSD-3-Clause */
/* The inputs of the lines of a paste, and the rows of the unit table that give them: the
   paste that a row would give leads to this row. */
#include "analysis/evidence/paste_mutant.h"
#include "emu/unit_field.h"
#include "tests/evidence/paste_text.h"

/* --- inputs ----------------------------------------------------------------------- */

/* Append the start of the SHA-256 of encodings, eight bytes each. */
static void add_digest(char *text, const uint64_t *code, size_t count)
{
    char digest[SHA256_TEXT];
    unsigned char *const bytes = calloc(count, 8);
    for (size_t i = 0; i < 8 * count; i++)
        bytes[i] = (unsigned char)(code[i / 8] >> 8 * (i % 8));
    sha256_of(digest, bytes, 8 * count);
    sprintf(text + strlen(text), " %.16s", digest);
    free(bytes);
}

/* What settle.py makes (tests/paste_inputs.py) is made here. */
START_TEST(inputs_are_those_of_the_program)
{
    char *const text = text_of("zen4.txt"), *const all = text_of("inputs.txt");
    struct paste p = read_text(text);
    const char *line = all;
    for (size_t i = 0; i < p.count; i++, line = strchr(line, '\n') + 1) {
        struct paste_operands o;
        char own[200];
        ck_assert_int_eq(paste_operands_make(&o, &p.at[i], NULL), BITCUT_OK);
        sprintf(own, "%zu", i + 1);
        add_digest(own, o.a, o.rows * o.k);
        add_digest(own, o.b, o.cols * o.k);
        if (o.blocks) add_digest(own, o.scale_a, o.blocks);
        if (o.blocks) add_digest(own, o.scale_b, o.blocks);
        if (o.bias) add_digest(own, o.bias, o.cols);
        ck_assert_msg(strcspn(line, "\n") == strlen(own) && !memcmp(line, own, strlen(own)),
                      "%s\n%.*s", own, (int)strcspn(line, "\n"), line);
        paste_operands_clear(&o);
    }
    ck_assert_str_eq(line, "");
    paste_clear(&p);
    free(all);
    free(text);
}
END_TEST

/* --- rows ------------------------------------------------------------------------- */

/* Whether the line is short and of one product, whether or not it ran. */
static bool would_decide(const struct paste_line *x)
{
    struct paste_line ran = *x;
    ran.ran = true;
    return paste_decides(&ran);
}

/* Whether two rows have one product: same formats and requests. */
static bool of_product(const struct paste_line *x, const struct paste_line *y)
{
    return x->a == y->a && x->b == y->b && x->acc == y->acc && x->math == y->math &&
           x->scale == y->scale && x->scale_block == y->scale_block;
}

/* All digests of the lines of a product, by row. */
struct digests {
    struct paste_row row[PASTE_ROWS_MAX];
    size_t rows, lines;
    const struct paste_line *first;
    struct paste_line *line; /* [rows][lines] */
};

static struct digests digests_make(const struct paste *p, const struct paste_line *first)
{
    struct digests s = { .first = first };
    s.rows = paste_rows(s.row, first);
    s.line = calloc(s.rows * p->count + 1, sizeof *s.line);
    for (size_t i = 0; i < p->count; i++) {
        struct paste_operands o;
        if (!would_decide(&p->at[i]) || !of_product(&p->at[i], first)) continue;
        ck_assert_int_eq(paste_operands_make(&o, &p->at[i], NULL), BITCUT_OK);
        uint64_t *const d = calloc(o.rows * o.cols, sizeof *d);
        for (size_t r = 0; r < s.rows; r++) {
            struct paste_line *const x = &s.line[r * p->count + s.lines];
            *x = p->at[i];
            x->ran = true;
            *x->missing = 0;
            ck_assert_int_eq(paste_compute(d, x, &o, &s.row[r], paste_orders[0], BIAS_LAST,
                                           NULL),
                             BITCUT_OK);
            paste_digest(x, d, &o);
        }
        free(d);
        paste_operands_clear(&o);
        s.lines++;
    }
    return s;
}

/* The paste of a processor, whose lines have digests of every row.  They are made once,
   before the tests run, each in a process of its own; with BITCUT_BRIEF where needed. */
static struct paste zen4;
static struct digests of_line[PASTE_LINES_MAX];

static const struct digests *digests_of(size_t line)
{
    if (!of_line[line].line) of_line[line] = digests_make(&zen4, &zen4.at[line]);
    return &of_line[line];
}

/* Whether an earlier line is of the same product, and decides about rows. */
static bool is_again(size_t line)
{
    bool again = false;
    for (size_t j = 0; j < line; j++)
        again |= of_product(&zen4.at[j], &zen4.at[line]) && would_decide(&zen4.at[j]);
    return again;
}

static bool same_digests(const struct digests *s, size_t count, size_t x, size_t y)
{
    bool same = true;
    for (size_t i = 0; i < s->lines; i++)
        same &= !memcmp(s->line[x * count + i].digest, s->line[y * count + i].digest,
                        sizeof s->line->digest);
    return same;
}

/* The paste in which a row computed the lines of its product; the others did not run. */
static void write_row(char text[TEXT_MAX], const struct paste *p, const struct digests *s,
                      size_t row)
{
    struct paste q = *p;
    q.at = calloc(p->count, sizeof *q.at);
    for (size_t i = 0, at = 0; i < p->count; i++) {
        q.at[i] = p->at[i];
        if (would_decide(&p->at[i]) && of_product(&p->at[i], s->first))
            q.at[i] = s->line[row * p->count + at++];
        else {
            q.at[i].ran = false;
            *q.at[i].rms = *q.at[i].max = 0;
            strcpy(q.at[i].missing, "x");
        }
    }
    write_paste(text, &q);
    free(q.at);
}

/* The rows that survive are those with the same digests. */
static void check_row(const struct paste *p, const struct digests *s, size_t row)
{
    char *const text = calloc(TEXT_MAX, 1);
    struct paste_product *x;
    size_t count, at = 0;
    write_row(text, p, s, row);
    struct paste q = read_text(text);
    ck_assert_int_eq(paste_products(&x, &count, &q, 1, NULL, NULL), BITCUT_OK);
    while (!of_product(x[at].line[0], s->first)) at++;
    ck_assert_uint_eq(x[at].trials, s->rows);
    ck_assert(!x[at].any_order);
    for (size_t i = 0; i < s->rows; i++)
        ck_assert_msg(paste_survives(&x[at], &x[at].trial[i]) ==
                          same_digests(s, p->count, i, row),
                      "%s: of %s, row %s", x[at].name, s->row[row].unit->name,
                      s->row[i].unit->name);
    for (size_t i = 0; i < count; i++) ck_assert_uint_eq(x[i].decides, i == at ? s->lines : 0);
    free(x);
    paste_clear(&q);
    free(text);
}

START_TEST(every_row_leads_to_itself)
{
    uint64_t state = test_seed();
    const size_t step = (test_whole() ? 1 : 60) * (size_t)test_step(8);
    size_t turn = (size_t)test_between(&state, 0, 59), tried = 0;
    for (size_t i = 0; i < zen4.count; i++) {
        if (is_again(i) || !would_decide(&zen4.at[i])) continue;
        const struct digests *const s = digests_of(i);
        for (size_t r = 0; r < s->rows; r++)
            if (turn++ % step == 0) check_row(&zen4, s, r), tried++;
    }
    printf("# %zu rows\n", tried);
    ck_assert_uint_gt(tried * step, 300);
}
END_TEST

/* Whether two rows of the table compute the same except the bits of NaN, which a paste
   does not have. */
static bool alike(const struct paste_row *x, const struct paste_row *y, size_t k)
{
    struct bitcut_unit u = *x->unit;
    u.nan = y->unit->nan;
    u.nan_rule = y->unit->nan_rule;
    return paste_rows_same(&(struct paste_row){ &u, x->operands }, y, k);
}

/* The lines distinguish all rows of hardware with floating-point operands that differ. */
START_TEST(lines_distinguish_rows)
{
    size_t pairs = 0;
    for (size_t i = 0; i < zen4.count; i++) {
        const struct paste_line *const line = &zen4.at[i];
        if (format_is_integer(line->a) || i % (size_t)test_step(8) || is_again(i) ||
            !would_decide(line))
            continue;
        const struct digests *const s = digests_of(i);
        for (size_t r = 0; r < s->rows; r++)
            for (size_t t = 0; t < r; t++) {
                const struct paste_row *const x = &s->row[r], *const y = &s->row[t];
                if (x->operands || y->operands || !unit_vendor(x->unit) ||
                    !unit_vendor(y->unit))
                    continue;
                const bool same = same_digests(s, zen4.count, r, t);
                pairs += !same;
                ck_assert_msg(!same || alike(x, y, 32), "%s and %s", x->unit->name,
                              y->unit->name);
            }
    }
    printf("# %zu pairs differ\n", pairs);
    ck_assert_uint_gt(pairs * (size_t)test_step(8), 1000);
}
END_TEST

/* The product of one row that gives all its lines. */
static void product_of_row(struct paste_product *p, const struct digests *s, size_t count,
                           size_t row)
{
    *p = (struct paste_product){ .lines = s->lines,
                                 .decides = s->lines,
                                 .groups = PASTE_GROUPS * s->lines,
                                 .trials = 1,
                                 .survivors = 1 };
    p->trial[0] = (struct paste_trial){ .row = s->row[row], .agreeing = p->groups };
    for (size_t i = 0; i < s->lines; i++) p->line[i] = &s->line[row * count + i];
}

/* Whether a mutant's text names one of the fields that say how a step adds. */
static bool changes_sum(const char *text)
{
    static const char *const names[] = { " with sum ",  " with order ", " with block ",
                                         " with fraction ", " with floor ",
                                         " with normalise ", " with rounding " };
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        any |= strstr(text, names[i]) != NULL;
    return any;
}

/* Of Hopper's units with FP32 sums the lines leave no field open that says how a step
   adds; only fields of special values. */
START_TEST(lines_determine_hopper)
{
    size_t rows = 0, open = 0;
    for (size_t i = 0; i < zen4.count; i++) {
        const struct paste_line *const x = &zen4.at[i];
        bool again = x->acc || x->a != x->b || !would_decide(x) || i % (size_t)test_step(8);
        for (size_t j = 0; j < i; j++) again |= of_product(&zen4.at[j], x);
        if (again) continue;
        const struct digests *const s = digests_of(i);
        for (size_t r = 0; r < s->rows; r++) {
            static struct paste_mutants m;
            struct paste_product product;
            const struct bitcut_unit *const u = s->row[r].unit;
            if (strncmp(u->name, "hopper/", 7) || u->c != &formats[FORMAT_F32] ||
                s->row[r].operands)
                continue;
            product_of_row(&product, s, zen4.count, r);
            ck_assert_int_eq(paste_mutants_find(&m, &product, NULL, NULL), BITCUT_OK);
            for (size_t t = 0; t < m.count; t++) ck_assert_msg(!changes_sum(m.text[t]), "%s", m.text[t]);
            rows++, open += m.count;
        }
    }
    printf("# %zu rows, %zu mutants left\n", rows, open);
    ck_assert_uint_gt(rows, 0);
    ck_assert_uint_gt(open, 3 * rows - 1); /* three NaNs each */
}
END_TEST

/* A new unit: one that is a step from a row is named. */
START_TEST(new_unit_is_named)
{
    char *const text = text_of("zen4.txt");
    struct paste p = read_text(text);
    struct bitcut_unit own = *bitcut_unit_find("hopper/mma.m16n8k16.f32.bf16", NULL);
    static struct paste_mutants m;
    own.fraction = 26;
    const struct paste_line *x = p.at;
    while (x->a != &formats[FORMAT_BF16]) x++;
    struct digests s = digests_make(&p, x);
    for (size_t i = 0; i < s.lines; i++) {
        struct paste_operands o;
        uint64_t *const d = calloc(PASTE_SIDE_MAX * PASTE_SIDE_MAX, sizeof *d);
        ck_assert_int_eq(paste_operands_make(&o, &s.line[i], NULL), BITCUT_OK);
        ck_assert_int_eq(paste_compute(d, &s.line[i], &o, &(struct paste_row){ &own, NULL },
                                       paste_orders[0], BIAS_LAST, NULL),
                         BITCUT_OK);
        paste_digest(&s.line[i], d, &o);
        paste_operands_clear(&o);
        free(d);
    }
    char *const made = calloc(TEXT_MAX, 1);
    struct paste_product *product;
    size_t count, at = 0;
    write_row(made, &p, &s, 0);
    struct paste q = read_text(made);
    ck_assert_int_eq(paste_products(&product, &count, &q, 0, NULL, NULL), BITCUT_OK);
    while (!of_product(product[at].line[0], x)) at++;
    ck_assert_uint_eq(product[at].survivors, 0);
    ck_assert_int_eq(paste_mutants_find(&m, &product[at], NULL, NULL), BITCUT_OK);
    ck_assert_uint_eq(m.count, 1);
    ck_assert_str_eq(m.text[0], "hopper/mma.m16n8k16.f32.bf16 with fraction 26");
    free(product);
    paste_clear(&q);
    free(made);
    free(s.line);
    paste_clear(&p);
    free(text);
}
END_TEST

/* Whether a row of another architecture may survive: its models have the same fields. */
static bool is_blackwell(const struct bitcut_unit *u)
{
    return !strncmp(u->name, "blackwell/", 10) || !strncmp(u->name, "rtx-blackwell/", 14);
}

/* Rows of the tensor core alone survive the 16-bit and 8-bit products of the H200. */
static void check_others(const struct paste_product *p)
{
    for (size_t i = 0; p->line[0]->a->bits <= 16 && i < p->trials; i++) {
        const struct bitcut_unit *const u = p->trial[i].row.unit;
        if (paste_survives(p, &p->trial[i]) && p->line[0]->a != &formats[FORMAT_S8])
            ck_assert_msg(!strncmp(u->name, "hopper/", 7) || is_blackwell(u), "%s: %s",
                          p->name, u->name);
    }
}

/* The rows that survive a recorded paste. */
static void check_recorded(const char *file, const char *const expected[][2])
{
    char *const text = text_of(file);
    struct paste p = read_text(text);
    struct paste_product *x;
    size_t count;
    ck_assert_int_eq(paste_products(&x, &count, &p, 0, NULL, NULL), BITCUT_OK);
    for (; (*expected)[0]; expected++) {
        size_t at = 0, found = 0;
        while (at < count && strcmp(x[at].name, (*expected)[0])) at++;
        ck_assert_msg(at < count && x[at].survivors, "%s: %s", file, (*expected)[0]);
        for (size_t i = 0; i < x[at].trials; i++)
            found += paste_survives(&x[at], &x[at].trial[i]) &&
                     !strcmp(x[at].trial[i].row.unit->name, (*expected)[1]);
        ck_assert_msg(found == 1, "%s: %s, %s", file, (*expected)[0], (*expected)[1]);
    }
    for (size_t i = 0; i < count && !strcmp(file, "h200.txt"); i++) check_others(&x[i]);
    free(x);
    paste_clear(&p);
    free(text);
}

START_TEST(recorded_pastes)
{
    static const char *const of_zen4[][2] = {
        { "bf16", "avx512/vdpbf16ps.m1n16k2.f32.bf16" }, { "f64", "fma/f64" }, { NULL }
    };
    static const char *const h200[][2] = {
        { "f16", "hopper/mma.m16n8k16.f32.f16" },
        { "bf16", "hopper/mma.m16n8k16.f32.bf16" },
        { "f16, f16 sums", "hopper/mma.m16n8k16.f16.f16" },
        { "tf32", "hopper/wgmma.m64n8k8.f32.tf32" },
        { "f32", "fma/f32" },
        { "f64", "hopper/mma.m16n8k4.f64.f64" },
        { "e4m3", "hopper/wgmma.m64n8k32.f32.e4m3" },
        { "e5m2 x e4m3", "hopper/wgmma.m64n8k32.f32.e5m2.e4m3" },
        { "e4m3 x e5m2", "hopper/wgmma.m64n8k32.f32.e4m3.e5m2" },
        { NULL },
    };
    if (test_whole()) check_recorded("zen4.txt", of_zen4); /* tests/paste.sh replays it */
    if (test_step(8) == 1) check_recorded("h200.txt", h200);
}
END_TEST

static void setup(void)
{
    char *const text = text_of("zen4.txt");
    zen4 = read_text(text);
    for (size_t i = 0; i < zen4.count && test_step(8) == 1; i++)
        if (would_decide(&zen4.at[i]) && !is_again(i)) digests_of(i);
}

int main(void)
{
    const TTest *const tests[] = { inputs_are_those_of_the_program, every_row_leads_to_itself,
                                   lines_distinguish_rows, lines_determine_hopper,
                                   new_unit_is_named, recorded_pastes, NULL };
    return test_run_after("paste rows", tests, setup);
}
