/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults in the positions of elements and outputs: rows, columns and k that are swapped,
   shifted, read twice, or read in the wrong layout. */
#include "analysis/identify/fault.h"

#include <limits.h>
#include <stdio.h>

/* x->by: the parameter of a row of the table, the operand, the operation on the
   parameter. */

static const char *const operand_names[] = { "A", "B" };
static const char *const line_names[] = { "row", "column" };

/* --- lines ------------------------------------------------------------------------ */

/* A row or column that does not exist is replaced by itself. */
static size_t inside(size_t line, size_t otherwise, size_t lines)
{
    return line < lines ? line : otherwise;
}

/* The other one of a pair of groups of `by` rows or columns. */
static size_t swapped(size_t line, size_t by) { return line ^ by; }

/* The first of a pair of groups for both, or the second. */
static size_t first_twice(size_t line, size_t by) { return line & ~by; }
static size_t second_twice(size_t line, size_t by) { return line | by; }

/* Shifted rows or columns. */
static size_t shifted_on(size_t line, size_t by) { return line + by; }
static size_t shifted_back(size_t line, size_t by)
{
    return line >= by ? line - by : line;
}

static const struct line_way {
    const char *what;
    size_t (*of)(size_t line, size_t by);
} line_ways[] = {
    { "%ss of %s are swapped: the data of %s i xor %d are in %s i", swapped },
    { "of %ss of %s some are read twice: %s i without the bit of %d for %s i",
      first_twice },
    { "of %ss of %s some are read twice: %s i with the bit of %d for %s i",
      second_twice },
    { "%ss of %s are shifted: %s i + %d is read in place of %s i", shifted_on },
    { "%ss of %s are shifted: %s i - %d is read in place of %s i", shifted_back },
};

enum { LINE_WAYS = sizeof line_ways / sizeof *line_ways, BITS = 7, OPERANDS = 2 };

static size_t every_line_way(const struct space *s)
{
    (void)s;
    return OPERANDS * LINE_WAYS * BITS;
}

static struct spot other_line(const struct candidate *x, const struct extent *e,
                              size_t line, size_t k)
{
    const size_t to = line_ways[x->by[2]].of(line, (size_t)x->by[0]);
    return (struct spot){ inside(to, line, e->lines), k };
}

static void set_kind(struct candidate *x, int kind)
{
    x->by[0] = 1 << kind % BITS;
    x->by[1] = kind / BITS % OPERANDS;
    x->by[2] = kind / BITS / OPERANDS;
}

static bool lines_read(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    set_kind(x, kind);
    x->spot[x->by[1]] = other_line;
    return true;
}

static bool lines_stored(struct candidate *x, const struct space *s, int kind)
{
    lines_read(x, s, kind);
    x->moves_c = true;
    return s->reads_c; /* otherwise it equals shifted reads */
}

static void describe_lines(char *text, size_t size, const struct candidate *x,
                           const struct space *s, int kind)
{
    (void)s, (void)kind;
    const char *const line = line_names[x->by[1]];
    snprintf(text, size, line_ways[x->by[2]].what, line,
             x->moves_c ? "D" : operand_names[x->by[1]], line, x->by[0], line);
}

/* --- k of one operand ------------------------------------------------------------- */

static const struct k_way {
    const char *what;
    size_t (*of)(size_t k, size_t by);
} k_ways[] = {
    { "k of %s are swapped: k xor %d is read in place of k", swapped },
    { "k of %s are shifted: k + %d is read in place of k", shifted_on },
    { "k of %s are shifted: k - %d is read in place of k", shifted_back },
};

enum { K_WAYS = sizeof k_ways / sizeof *k_ways };

static size_t every_k_way(const struct space *s)
{
    (void)s;
    return OPERANDS * K_WAYS * BITS;
}

static struct spot other_k(const struct candidate *x, const struct extent *e, size_t line,
                           size_t k)
{
    (void)e;
    return (struct spot){ line, k_ways[x->by[2]].of(k, (size_t)x->by[0]) };
}

/* The last k may be swapped with padding. */
static size_t padded(const struct candidate *x, size_t k)
{
    const size_t step = 2 * (size_t)x->by[0];
    return (k + step - 1) / step * step;
}

static bool k_read(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    set_kind(x, kind);
    x->spot[x->by[1]] = other_k;
    x->places = padded;
    return true;
}

static void describe_k(char *text, size_t size, const struct candidate *x,
                       const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, k_ways[x->by[2]].what, operand_names[x->by[1]], x->by[0]);
}

/* Rows or columns with a bit, or all of them, have the k of the step before; the first
   step has its own. */
static struct spot k_before(const struct candidate *x, const struct extent *e,
                            size_t line, size_t k)
{
    const size_t step = (size_t)x->by[0], bit = (size_t)x->by[2];
    (void)e;
    return (struct spot){ line, line & bit && k >= step ? k - step : k };
}

enum { LANE_BITS = 4, STALE_STEPS = 5 };

static size_t every_stale_line(const struct space *s)
{
    (void)s;
    return OPERANDS * LANE_BITS * STALE_STEPS;
}

static bool lines_stale(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->by[0] = 4 << kind % STALE_STEPS;
    x->by[1] = kind / STALE_STEPS % OPERANDS;
    x->by[2] = 1 << kind / STALE_STEPS / OPERANDS;
    x->spot[x->by[1]] = k_before;
    return true;
}

static void describe_stale(char *text, size_t size, const struct candidate *x,
                           const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "%ss of %s with the bit of %d have the k of %d before",
             line_names[x->by[1]], operand_names[x->by[1]], x->by[2], x->by[0]);
}

/* --- layout ----------------------------------------------------------------------- */

/* Elements as if the matrix had the other storage order. */
static struct spot across(const struct candidate *x, const struct extent *e, size_t line,
                          size_t k)
{
    (void)x;
    /* A has `lines` rows of k elements; in B each k has `lines` elements. */
    const size_t at = x->by[1] == BITCUT_A ? k * e->lines + line : line * e->k + k;
    if (k >= e->k) return (struct spot){ line, SIZE_MAX };
    return x->by[1] == BITCUT_A ? (struct spot){ at / e->k, at % e->k }
                                : (struct spot){ at % e->lines, at / e->lines };
}

static size_t operands(const struct space *s)
{
    (void)s;
    return OPERANDS;
}

static bool by_columns(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->by[1] = kind;
    x->spot[kind] = across;
    return true;
}

static void describe_by_columns(char *text, size_t size, const struct candidate *x,
                                const struct space *s, int kind)
{
    (void)x, (void)s;
    snprintf(text, size, "%s is read as if it were column-major", operand_names[kind]);
}

/* Elements as if rows had x->by[0] elements each. */
static struct spot in_padded_rows(const struct candidate *x, const struct extent *e,
                                  size_t line, size_t k)
{
    const bool of_a = x->by[1] == BITCUT_A;
    const size_t rows = of_a ? e->lines : e->k, cols = of_a ? e->k : e->lines,
                 at = of_a ? line * (size_t)x->by[0] + k : k * (size_t)x->by[0] + line;
    if (k >= e->k || at >= rows * cols) return (struct spot){ line, SIZE_MAX };
    return of_a ? (struct spot){ at / cols, at % cols }
                : (struct spot){ at % cols, at / cols };
}

enum { PADDINGS = 6 }; /* to multiples of 4, 8, 16, ... */

static size_t every_padding(const struct space *s)
{
    (void)s;
    return OPERANDS * PADDINGS;
}

static size_t columns_of(const struct space *s, int operand)
{
    return operand == BITCUT_A ? s->k : s->n;
}

/* Each leading dimension once, by the smallest step that gives it. */
static bool padded_rows(struct candidate *x, const struct space *s, int kind)
{
    const size_t step = (size_t)4 << kind % PADDINGS,
                 cols = columns_of(s, kind / PADDINGS),
                 to = (cols + step - 1) / step * step;
    x->by[0] = (int)to;
    x->by[1] = kind / PADDINGS;
    x->spot[x->by[1]] = in_padded_rows;
    return to <= INT_MAX && cols % step &&
           (step == 4 || (cols + step / 2 - 1) / (step / 2) * (step / 2) != to);
}

static void describe_padded_rows(char *text, size_t size, const struct candidate *x,
                                 const struct space *s, int kind)
{
    (void)kind;
    snprintf(text, size, "%s is read with the leading dimension %d instead of %zu",
             operand_names[x->by[1]], x->by[0], columns_of(s, x->by[1]));
}

/* After the last k of a row of A the elements of the next row follow; in B the last k
   again, whose step is not masked. */
static struct spot a_reads_on(const struct candidate *x, const struct extent *e,
                              size_t line, size_t k)
{
    (void)x;
    const size_t next = line + k / e->k;
    return next < e->lines ? (struct spot){ next, k % e->k }
                           : (struct spot){ line, SIZE_MAX };
}

static struct spot last_again(const struct candidate *x, const struct extent *e,
                              size_t line, size_t k)
{
    (void)x;
    return (struct spot){ line, k < e->k ? k : e->k - 1 };
}

static size_t to_whole_step(const struct candidate *x, size_t k)
{
    return (k + (size_t)x->by[0] - 1) / (size_t)x->by[0] * (size_t)x->by[0];
}

enum { TILES = 6 }; /* of 4, 8, 16, ... k */

static size_t every_tile(const struct space *s)
{
    (void)s;
    return 2 * TILES;
}

static bool not_masked(struct candidate *x, const struct space *s, int kind)
{
    x->by[0] = 4 << kind % TILES;
    x->spot[BITCUT_A] = kind / TILES ? last_again : a_reads_on;
    x->spot[BITCUT_B] = last_again;
    x->places = to_whole_step;
    return s->k % (size_t)x->by[0];
}

static void describe_not_masked(char *text, size_t size, const struct candidate *x,
                                const struct space *s, int kind)
{
    (void)s;
    snprintf(
        text, size,
        "the last %d k are not masked: %s beyond the end of a row of A, and the last row "
        "of B again",
        x->by[0], kind / TILES ? "the last element again" : "the next row");
}

/* --- the table -------------------------------------------------------------------- */

const struct kernel_fault kernel_faults_layout[] = {
    { .name = "wrong rows or columns",
      .exact = true,
      .what = "rows of A or columns of B are swapped, shifted or read twice",
      .kinds = every_line_way,
      .alter = lines_read,
      .describe = describe_lines },
    { .name = "moved",
      .exact = true,
      .what = "rows or columns of D are swapped",
      .kinds = every_line_way,
      .alter = lines_stored,
      .describe = describe_lines },
    { .name = "wrong k",
      .exact = true,
      .what = "k of A or B alone are swapped or shifted",
      .kinds = every_k_way,
      .alter = k_read,
      .describe = describe_k },
    { .name = "stale rows or columns",
      .exact = true,
      .what = "some rows of A or columns of B are from the step before",
      .kinds = every_stale_line,
      .alter = lines_stale,
      .describe = describe_stale },
    { .name = "column-major",
      .exact = true,
      .what = "A or B is read with the other storage order",
      .kinds = operands,
      .alter = by_columns,
      .describe = describe_by_columns },
    { .name = "leading dimension",
      .exact = true,
      .what = "A or B is read with a leading dimension that is rounded up",
      .kinds = every_padding,
      .alter = padded_rows,
      .describe = describe_padded_rows },
    { .name = "not masked",
      .exact = true,
      .what = "products beyond the last k are added",
      .kinds = every_tile,
      .alter = not_masked,
      .describe = describe_not_masked },
    { 0 }
};
