/* SPDX-License-Identifier: BSD-3-Clause */
/* The rungs of rows and columns of D at other positions, and of a k of one operand that
   is shifted or reversed. */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- rows and columns ------------------------------------------------------------- */

/* All rows of D at some columns, or all columns at some rows, line after line. */
struct strip {
    size_t lines, width;
    double *d, *exact, *over; /* lines x width; over: 1 / |A||B|, or 0 */
    double *magnitude;        /* of the exact values of each line */
    size_t *from;             /* line that holds the results, or the line itself */
    bool *far;                /* whether D is far from the exact result */
};

static void strip_clear(struct strip *s)
{
    free(s->d);
    free(s->exact);
    free(s->over);
    free(s->magnitude);
    free(s->from);
    free(s->far);
}

static void strip_fill(struct strip *s, const struct view *v, bool rows)
{
    for (size_t i = 0; i < s->lines; i++) {
        double off = 0;
        for (size_t w = 0; w < s->width; w++) {
            const size_t at = rows ? i * v->b.cols + w : w * v->b.cols + i;
            const double d = v->d[at], exact = v->exact[at],
                         over = v->size[at] > 0 ? 1 / v->size[at] : 0;
            s->d[i * s->width + w] = d;
            s->exact[i * s->width + w] = exact;
            s->over[i * s->width + w] = over;
            s->magnitude[i] += fabs(exact) * over;
            off += fabs(d - exact) * over;
        }
        s->from[i] = i;
        s->far[i] = off > RESULT_FAR * s->magnitude[i] && isfinite(off);
    }
}

static enum bitcut_status strip_take(struct strip *s, const struct ladder_report *l,
                                     const struct rung_input *x, bool rows,
                                     struct fault *f)
{
    enum { WIDTH = 16, STREAM = 60 };
    const struct some_lines *const written = rows ? &l->cols : &l->rows;
    const size_t others = written->at ? written->count : rows ? x->n : x->m;
    size_t other[WIDTH];
    struct view v;
    *s = (struct strip){ .lines = rows ? x->m : x->n };
    s->width = lines_draw(other, WIDTH, others, x->seed, STREAM + rows);
    for (size_t i = 0; i < s->width && written->at; i++) other[i] = written->at[other[i]];
    enum bitcut_status status =
        rows ? view_take(&v, x->q, NULL, s->lines, other, s->width, f)
             : view_take(&v, x->q, other, s->width, NULL, s->lines, f);
    if (status != BITCUT_OK) return status;
    s->d = memory_allocate(s->lines, s->width * sizeof *s->d);
    s->exact = memory_allocate(s->lines, s->width * sizeof *s->exact);
    s->over = memory_allocate(s->lines, s->width * sizeof *s->over);
    s->magnitude = calloc(s->lines, sizeof *s->magnitude);
    s->from = memory_allocate(s->lines, sizeof *s->from);
    s->far = calloc(s->lines, 1);
    if (s->d && s->exact && s->over && s->magnitude && s->from && s->far)
        strip_fill(s, &v, rows);
    else status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for lines of D");
    view_clear(&v);
    if (status != BITCUT_OK) strip_clear(s);
    return status;
}

/* The distance of line i of D from the exact line `from`, relative to its magnitude;
   infinite above RESULT_NEAR. */
static double line_misfit(const struct strip *s, size_t i, size_t from)
{
    const double *const d = &s->d[i * s->width],
                        *const exact = &s->exact[from * s->width],
                        *const over = &s->over[from * s->width];
    const double most = RESULT_NEAR * s->magnitude[from];
    double off = 0;
    for (size_t w = 0; w < s->width && off <= most; w++)
        off += fabs(d[w] - exact[w]) * over[w];
    return off <= most && most > 0 ? off / most : (double)INFINITY;
}

/* Find the line of each far line, as far as the work allows.  Returns whether nine of ten
   of them have one; *all: every far line has one. */
static bool find_sources(bool *all, struct strip *s, size_t *far)
{
    enum { WORK = 1 << 26 };
    const size_t most = WORK / s->lines + 1;
    size_t examined = 0, matched = 0;
    *far = 0;
    for (size_t i = 0; i < s->lines; i++) {
        double least = INFINITY;
        if (!s->far[i]) continue;
        ++*far;
        if (examined == most) continue;
        examined++;
        for (size_t from = 0; from < s->lines; from++) {
            const double off = line_misfit(s, i, from);
            if (off < least) least = off, s->from[i] = from;
        }
        matched += isfinite(least);
    }
    *all = matched == *far;
    return matched && matched * 10 >= examined * 9;
}

/* --- maps of lines ---------------------------------------------------------------- */

/* A rule by which line i holds the results of another line. */
static size_t by_shift(size_t i, size_t by, size_t count) { return (i + by) % count; }

static size_t by_reverse(size_t i, size_t by, size_t count)
{
    (void)by;
    return count - 1 - i;
}

static size_t by_exchange(size_t i, size_t by, size_t count)
{
    (void)count;
    return i ^ by;
}

static size_t by_interleave(size_t i, size_t by, size_t count)
{
    const size_t each = count / by;
    return each ? i % by * each + i / by : i;
}

static const struct map {
    size_t (*rule)(size_t i, size_t by, size_t count);
    const char *what; /* with the noun, and `by` */
} maps[] = {
    { by_reverse, "in reverse order" },
    { by_exchange, "exchanged in pairs: %s i holds the results of %s i xor %zu" },
    { by_shift, "shifted: %s i holds the results of %s i + %zu (modulo their number)" },
    { by_interleave,
      "interleaved: results of neighbouring %ss are in %ss at a distance of %zu" },
};

/* Whether nine of ten far lines obey a rule. */
static bool obeys(const struct strip *s, const struct map *map, size_t by)
{
    size_t far = 0, agree = 0;
    for (size_t i = 0; i < s->lines; i++) {
        if (!s->far[i] || s->from[i] == i) continue;
        far++;
        agree += map->rule(i, by, s->lines) == s->from[i];
    }
    return far > 2 && agree * 10 >= far * 9;
}

/* Describe the rule that the lines obey, if there is one. */
static bool describe_rule(char *text, size_t size, const struct strip *s,
                          const char *noun)
{
    size_t i = 0;
    while (i < s->lines && (!s->far[i] || s->from[i] == i)) i++;
    if (i == s->lines) return false;
    const size_t from = s->from[i];
    for (size_t n = 0; n < sizeof maps / sizeof *maps; n++) {
        const size_t by = maps[n].rule == by_shift      ? (from + s->lines - i) % s->lines
                          : maps[n].rule == by_exchange ? (from ^ i)
                                                        : 0;
        if (maps[n].rule == by_interleave) {
            for (size_t each = 2; each <= s->lines / 2; each++) {
                if (!obeys(s, &maps[n], each)) continue;
                text_add(text, size, maps[n].what, noun, noun, each);
                return true;
            }
        } else if (obeys(s, &maps[n], by)) {
            if (maps[n].rule == by_reverse) text_add(text, size, "%s", maps[n].what);
            else text_add(text, size, maps[n].what, noun, noun, by);
            return true;
        }
    }
    return false;
}

static void describe_lines(char *text, size_t size, const struct strip *s,
                           const char *noun, size_t far)
{
    enum { SHOWN = 4 };
    size_t shown = 0;
    text_add(text, size, "%zu of %zu %ss of D hold the results of other %ss: ", far,
             s->lines, noun, noun);
    if (describe_rule(text, size, s, noun)) return;
    for (size_t i = 0; i < s->lines && shown < SHOWN; i++)
        if (s->far[i] && s->from[i] != i)
            text_add(text, size, "%s%s %zu holds those of %s %zu", shown++ ? ", " : "",
                     noun, i, noun, s->from[i]);
    if (far > shown) text_add(text, size, ", ...");
}

/* The operand whose lines are gathered as D has them. */
static bool gather(uint32_t **to, const struct rung_input *x, const struct strip *s,
                   bool rows)
{
    uint32_t *const at = *to = memory_allocate(s->lines, x->k * sizeof *at);
    for (size_t i = 0; at && i < s->lines; i++)
        for (size_t p = 0; p < x->k; p++) {
            const uint32_t v =
                problem_element(x->q, rows ? BITCUT_A : BITCUT_B, s->from[i], p);
            at[rows ? i * x->k + p : p * s->lines + i] = v;
        }
    return at;
}

static enum bitcut_status find_lines(struct ladder_report *l, const struct rung_input *x,
                                     bool rows, struct fault *f)
{
    enum { WIDTH_MIN = 8, TOLD_MAX = 1 << 22 };
    struct strip s;
    bool all;
    size_t far;
    if ((rows ? x->n : x->m) < WIDTH_MIN || x->k < MOVED_K_MIN) return BITCUT_OK;
    if (problem_is_told(x->q) && (rows ? x->m : x->n) * x->k > TOLD_MAX) return BITCUT_OK;
    enum bitcut_status status = strip_take(&s, l, x, rows, f);
    if (status != BITCUT_OK) return status;
    if (find_sources(&all, &s, &far)) {
        struct bitcut_finding *const to =
            ladder_add(l, x, rows ? "rows moved" : "columns moved");
        const bool plain = !problem_is_told(x->q) && !x->q->c.at && !x->q->of_groups;
        size_t first = s.lines, end = 0;
        for (size_t i = 0; i < s.lines; i++)
            if (s.far[i]) first = smaller(first, i), end = i + 1;
        if (to) {
            describe_lines(to->text, sizeof to->text, &s, rows ? "row" : "column", far);
            (rows ? to->rows : to->columns)[0] = first;
            (rows ? to->rows : to->columns)[1] = end;
            to->outputs = far * (rows ? x->n : x->m);
        }
        l->has_rest = all && plain;
        if (l->has_rest && !gather(&l->gathered[!rows], x, &s, rows))
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for an operand");
    }
    strip_clear(&s);
    return status;
}

enum bitcut_status rung_lines(struct ladder_report *l, const struct rung_input *x,
                              struct fault *f)
{
    const size_t before = l->findings;
    const enum bitcut_status status = find_lines(l, x, true, f);
    return status == BITCUT_OK && l->findings == before ? find_lines(l, x, false, f)
                                                        : status;
}

/* --- k of one operand ------------------------------------------------------------- */

/* Whether nearly all of some outputs are near products in which k + shift (or, reversed,
   the last k less it) of B meets k of A, and half of them far from the exact results. */
static bool is_k(const struct view *v, size_t shift, bool reversed)
{
    enum { OUTPUTS = 12 };
    const bool own = !shift && !reversed;
    const struct block *const b = &v->b;
    const double near = RESULT_NEAR / sqrt((double)b->k);
    size_t far = 0, same = 0;
    for (size_t n = 0; n < OUTPUTS && far < 2; n++) {
        const size_t at = block_spread(b, n, OUTPUTS), i = at / b->cols, j = at % b->cols;
        double sum = 0;
        for (size_t p = 0; p < b->k; p++) {
            const size_t other = reversed ? b->k - 1 - p : p + shift;
            sum +=
                value_of_float(b->a[i * b->k + p]) *
                value_of_float(b->b[(other < b->k ? other : other - b->k) * b->cols + j]);
        }
        sum *= value_of_float(b->q->alpha);
        far += !(fabs(v->d[at] - sum) <= near * v->size[at]);
        same += fabs(v->exact[at] - sum) < 2 * near * v->size[at];
    }
    return far < 2 && (own || same * 2 < OUTPUTS);
}

enum bitcut_status rung_k(struct ladder_report *l, const struct rung_input *x,
                          struct fault *f)
{
    enum { WORK = 1 << 26, OUTPUTS_MIN = 12 };
    const struct view *const v = &x->sample;
    const size_t shifts = smaller(x->k / 2 + 1, WORK / (4 * x->k) + 1);
    (void)f;
    if (problem_is_told(x->q) || x->q->c.at || v->b.rows * v->b.cols < OUTPUTS_MIN ||
        x->k < MOVED_K_MIN || is_k(v, 0, false))
        return BITCUT_OK;
    const bool reversed = is_k(v, 0, true);
    size_t shift = 1;
    while (!reversed && shift < shifts && !is_k(v, shift, false) &&
           !is_k(v, x->k - shift, false))
        shift++;
    if (!reversed && shift >= shifts) return BITCUT_OK;
    struct bitcut_finding *const to = ladder_add(l, x, "k moved");
    if (!to) return BITCUT_OK;
    if (reversed)
        text_add(to->text, sizeof to->text,
                 "k of one operand is in reverse order: D is the product of A and B with "
                 "its rows reversed");
    else {
        const bool later = is_k(v, shift, false);
        text_add(to->text, sizeof to->text,
                 "k of one operand is shifted: column k of A meets row k %c %zu of B",
                 later ? '+' : '-', shift);
    }
    return BITCUT_OK;
}
