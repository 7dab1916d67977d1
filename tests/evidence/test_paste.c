/* SPDX-License-Identifier: BSD-3-Clause */
/* Pastes: read however mail or a chat broke them, or refused; and the paste that a row of
   the unit table would give leads to this row.  BITCUT_DATA names the data folder. */
#include "analysis/evidence/paste_mutant.h"
#include "emu/unit_field.h"
#include "lib/io/sha256.h"
#include "lib/io/stream.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

/* --- the recorded paste ----------------------------------------------------------- */

/* The text of a file of data/pastes, which the caller frees. */
static char *text_of(const char *name)
{
    const char *data = getenv("BITCUT_DATA");
    char path[4096], *bytes, *text;
    size_t size;
    struct fault f;
    snprintf(path, sizeof path, "%s/pastes/%s", data ? data : "data", name);
    ck_assert_msg(stream_read_file(&bytes, &size, path, PASTE_BYTES_MAX, &f) == BITCUT_OK,
                  "%s: %s", path, f.text);
    text = calloc(size + 1, 1);
    memcpy(text, bytes, size);
    free(bytes);
    return text;
}

static struct paste read_text(const char *text)
{
    struct paste p;
    struct fault f = { .text = "" };
    ck_assert_msg(paste_read(&p, text, strlen(text), &f) == BITCUT_OK, "%s", f.text);
    return p;
}

static void refused(const char *text, const char *why)
{
    struct paste p;
    struct fault f = { .text = "" };
    ck_assert_msg(paste_read(&p, text, strlen(text), &f) == BITCUT_BAD_FILE,
                  "accepted: %.200s", text);
    ck_assert_msg(strstr(f.text, why) != NULL, "\"%s\" instead of \"%s\"", f.text, why);
}

/* Append a record with its checksum. */
static void add_record(char *text, const char *record)
{
    char digest[SHA256_TEXT];
    sha256_of(digest, record, strlen(record));
    snprintf(text + strlen(text), TEXT_MAX - strlen(text), "%s sum=%.8s\n", record, digest);
}

static void add_begin(char *text, size_t count)
{
    char record[200];
    snprintf(record, sizeof record, "settle:begin version=1 count=%zu device=test", count);
    *text = 0;
    add_record(text, record);
}

static void add_end(char *text, size_t count)
{
    char record[200];
    snprintf(record, sizeof record, "settle:end count=%zu", count);
    add_record(text, record);
}

static void write_paste(char text[TEXT_MAX], const struct paste *p)
{
    add_begin(text, p->count);
    for (size_t i = 0; i < p->count; i++) {
        const size_t length = strlen(text);
        paste_write(text + length, TEXT_MAX - length - 1, &p->at[i]);
        strcat(text, "\n");
    }
    add_end(text, p->count);
}

/* --- reading ---------------------------------------------------------------------- */

START_TEST(written_as_read)
{
    char *const text = text_of("zen4.txt");
    struct paste p = read_text(text);
    const char *line = strchr(text, '\n') + 1;
    for (size_t i = 0; i < p.count; i++, line = strchr(line, '\n') + 1) {
        char own[2048];
        const size_t length = strcspn(line, "\n");
        paste_write(own, sizeof own, &p.at[i]);
        ck_assert_msg(strlen(own) == length && !memcmp(own, line, length), "%s\n%.*s", own,
                      (int)length, line);
    }
    ck_assert_str_eq(p.device, "cpu");
    paste_clear(&p);
    free(text);
}
END_TEST

/* Add what a mail program or a chat may put in place of a blank or an end of line. */
static void mangle(char *to, const char *from, uint64_t *state)
{
    static const char *const blanks[] = { " ",    "  ",      "\n",     "\r\n", "\n> ",
                                          "\r\n> > ", "\t", "\xc2\xa0", " \n| " };
    strcpy(to, "Hello, here it is:\r\n\r\n> ```\n> ");
    to += strlen(to);
    for (; *from; from++) {
        if (*from == ' ' || *from == '\n') {
            strcpy(to, blanks[test_between(state, 0, 8)]);
            to += strlen(to);
        } else *to++ = *from;
    }
    strcpy(to, "\n```\nBye\n");
}

START_TEST(mangled_text_is_read)
{
    char *const text = text_of("zen4.txt"), *const other = malloc(8 * strlen(text));
    uint64_t state = test_seed();
    struct paste p = read_text(text);
    for (int i = 0; i < test_cases(40, 400); i++) {
        mangle(other, text, &state);
        struct paste q = read_text(other);
        ck_assert_uint_eq(q.count, p.count);
        ck_assert(!memcmp(q.at, p.at, p.count * sizeof *p.at));
        paste_clear(&q);
    }
    paste_clear(&p);
    free(other);
    free(text);
}
END_TEST

/* Each character, changed to another one that is printable. */
START_TEST(every_change_is_noticed)
{
    char *const text = text_of("zen4.txt");
    uint64_t state = test_seed();
    struct paste p;
    const size_t length = strlen(text);
    for (size_t i = (size_t)test_between(&state, 0, 6); i < length; i += (size_t)test_step(5)) {
        const char was = text[i];
        struct fault f = { .text = "" };
        if (was == ' ' || was == '\n') continue;
        do text[i] = (char)test_between(&state, '!', '~');
        while (text[i] == was);
        ck_assert_msg(paste_read(&p, text, length, &f) == BITCUT_BAD_FILE,
                      "character %zu: '%c' for '%c'", i, text[i], was);
        ck_assert_msg(strstr(f.text, "settle:") != NULL, "%s", f.text);
        text[i] = was;
    }
    free(text);
}
END_TEST

START_TEST(lost_lines_are_noticed)
{
    char *const text = text_of("zen4.txt"), *const other = calloc(strlen(text) + 1, 1);
    char *end = text;
    for (int lost = 0; *end; lost++, end++) {
        char *const start = end;
        end = strchr(end, '\n');
        memcpy(other, text, (size_t)(start - text));
        strcpy(other + (start - text), end + 1);
        refused(other, "is missing");
        memcpy(other, text, (size_t)(end - text) - 20);
        other[end - text - 20] = 0;
        refused(other, "its end is missing");
    }
    free(other);
    free(text);
}
END_TEST

#define LINE                                                                             \
    "settle:1 op=mm a=f16 b=f16 d=f16 m=64 n=64 k=16 inputs=terms seed=1 "               \
    "e=-14:13:-14:13:8:32 no=x"

START_TEST(wrong_values_are_refused)
{
    static const struct {
        const char *was, *now, *why;
    } wrong[] = {
        { "op=mm", "op=mn", "op=mn is unknown here" },
        { "a=f16", "a=f17", "a=f17 is unknown here" },
        { "m=64", "m=064", "m=064 is unknown here" },
        { "m=64", "m=65537", "m=65537 is unknown here" },
        { "m=64", "m=18446744073709551617", "is unknown here" },
        { "m=64", "m=0", "a size is too small" },
        { "m=64", "m=", "m= is unknown here" },
        { "m=64", "m=64 m=64", "m=64 is unknown here" },
        { " m=64", "", "a part of the line is missing" },
        { "k=16", "k=1", "a size is too small" },
        { "k=16", "k=24", "do not fit their formats" },
        { "k=16", "k=256", "do not fit their formats" },
        { "seed=1", "seed=4096", "seed=4096 is unknown here" },
        { "8:32", "8", "is unknown here" },
        { "8:32", "8:32:1", "is unknown here" },
        { "8:32", "8:-1", "do not fit their formats" },
        { "e=-14", "e=-15", "do not fit their formats" },
        { "e=-14:13", "e=-14:16", "do not fit their formats" },
        { "e=-14:13", "e=-14:12", "do not fit their formats" },
        { "b=f16", "b=ue8m0", "do not fit their formats" },
        { "a=f16", "a=s8", "D has no such format" },
        { "d=f16", "d=e4m3", "D has no such format" },
        { "inputs=terms", "inputs=ties", "do not fit their formats" },
        { " no=x", "", "a part of the line is missing" },
        { "no=x", "no=x g0=00000000", "a part of the line is missing" },
        { "no=x", "no=x extra=1", "extra=1 is unknown here" },
        { "no=x", "scale=ue8m0:3:8 no=x", "the block scales do not fit" },
        { "no=x", "scale=ue8m0:0:8 no=x", "is unknown here" },
        { "no=x", "scale=ue4m3:16:7 no=x", "the block scales do not fit" },
        { "no=x", "scale=f32:16:1 no=x", "the block scales do not fit" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *const text = calloc(TEXT_MAX, 1), line[400];
        const char *const at = strstr(LINE, wrong[i].was);
        ck_assert(at != NULL);
        snprintf(line, sizeof line, "%.*s%s%s", (int)(at - LINE), LINE, wrong[i].now,
                 at + strlen(wrong[i].was));
        add_begin(text, 1);
        add_record(text, line);
        add_end(text, 1);
        refused(text, wrong[i].why);
        free(text);
    }
}
END_TEST

START_TEST(work_is_limited)
{
    char *const text = calloc(TEXT_MAX, 1), line[400];
    add_begin(text, 20);
    for (int i = 1; i <= 20; i++) {
        snprintf(line, sizeof line,
                 "settle:%d op=mm a=f16 b=f16 d=f16 m=64 n=64 k=16384 inputs=flat seed=1 "
                 "e=0:1:0:1:0:0 no=x",
                 i);
        add_record(text, line);
    }
    add_end(text, 20);
    refused(text, "settle:17: the matrices are too large");
    free(text);
}
END_TEST

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
    char *const text = text_of("zen4.txt");
    struct paste p = read_text(text);
    uint64_t state = test_seed();
    const size_t step = (test_whole() ? 1 : 20) * (size_t)test_step(8);
    size_t turn = (size_t)test_between(&state, 0, 19), tried = 0;
    for (size_t i = 0; i < p.count; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= of_product(&p.at[j], &p.at[i]) && would_decide(&p.at[j]);
        if (again || !would_decide(&p.at[i])) continue;
        const struct digests s = digests_make(&p, &p.at[i]);
        for (size_t r = 0; r < s.rows; r++)
            if (turn++ % step == 0) check_row(&p, &s, r), tried++;
        free(s.line);
    }
    printf("# %zu rows\n", tried);
    ck_assert_uint_gt(tried * (size_t)test_step(8), 20);
    paste_clear(&p);
    free(text);
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
    char *const text = text_of("zen4.txt");
    struct paste p = read_text(text);
    size_t pairs = 0;
    for (size_t i = 0; i < p.count; i++) {
        bool again = format_is_integer(p.at[i].a) || i % (size_t)test_step(8);
        for (size_t j = 0; j < i; j++)
            again |= of_product(&p.at[j], &p.at[i]) && would_decide(&p.at[j]);
        if (again || !would_decide(&p.at[i])) continue;
        const struct digests s = digests_make(&p, &p.at[i]);
        for (size_t r = 0; r < s.rows; r++)
            for (size_t t = 0; t < r; t++) {
                const struct paste_row *const x = &s.row[r], *const y = &s.row[t];
                if (x->operands || y->operands || !unit_vendor(x->unit) ||
                    !unit_vendor(y->unit))
                    continue;
                pairs += !same_digests(&s, p.count, r, t);
                ck_assert_msg(!same_digests(&s, p.count, r, t) || alike(x, y, 32),
                              "%s and %s", x->unit->name, y->unit->name);
            }
        free(s.line);
    }
    printf("# %zu pairs differ\n", pairs);
    ck_assert_uint_gt(pairs * (size_t)test_step(8), 1000);
    paste_clear(&p);
    free(text);
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
    char *const text = text_of("zen4.txt");
    struct paste p = read_text(text);
    size_t rows = 0, open = 0;
    for (size_t i = 0; i < p.count; i++) {
        const struct paste_line *const x = &p.at[i];
        bool again = x->acc || x->a != x->b || !would_decide(x) || i % (size_t)test_step(8);
        for (size_t j = 0; j < i; j++) again |= of_product(&p.at[j], x);
        if (again) continue;
        const struct digests s = digests_make(&p, x);
        for (size_t r = 0; r < s.rows; r++) {
            static struct paste_mutants m;
            struct paste_product product;
            const struct bitcut_unit *const u = s.row[r].unit;
            if (strncmp(u->name, "hopper/", 7) || u->c != &formats[FORMAT_F32] ||
                s.row[r].operands)
                continue;
            product_of_row(&product, &s, p.count, r);
            ck_assert_int_eq(paste_mutants_find(&m, &product, NULL, NULL), BITCUT_OK);
            for (size_t t = 0; t < m.count; t++) ck_assert_msg(!changes_sum(m.text[t]), "%s", m.text[t]);
            rows++, open += m.count;
        }
        free(s.line);
    }
    printf("# %zu rows, %zu mutants left\n", rows, open);
    ck_assert_uint_gt(rows, 0);
    ck_assert_uint_gt(open, 3 * rows - 1); /* three NaNs each */
    paste_clear(&p);
    free(text);
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
    static const char *const zen4[][2] = {
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
    check_recorded("zen4.txt", zen4);
    if (test_step(8) == 1) check_recorded("h200.txt", h200);
}
END_TEST

TEST_MAIN("paste", written_as_read, mangled_text_is_read, every_change_is_noticed,
          lost_lines_are_noticed, wrong_values_are_refused, work_is_limited,
          inputs_are_those_of_the_program, every_row_leads_to_itself, lines_distinguish_rows, lines_determine_hopper,
          new_unit_is_named, recorded_pastes)
