/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/plan.h"

#include "lib/base/size.h"
#include "lib/gemm/order.h"
#include "lib/number/equilibrate.h"

#include <inttypes.h>
#include <string.h>

/* --- a caller's GEMM -------------------------------------------------------------- */

/* The smallest size that any version of the library had. */
#define SIZE_MIN sizeof(struct bitcut_gemm)

static const struct bitcut_gemm open_gemm = {
    .size = sizeof open_gemm,
    .scale = BITCUT_UNSET,
    .dropped_term = BITCUT_UNSET,
    .promote = BITCUT_UNSET,
    .tile_k = BITCUT_UNSET,
    .count = 1,
    .alpha = 0x3f800000,
    .scale_d = 0x3f800000,
    .clamp_low = 0xff800000,
    .clamp_high = 0x7f800000,
};

void bitcut_gemm_init(struct bitcut_gemm *g, size_t size)
{
    memcpy(g, &open_gemm, size < sizeof *g ? size : sizeof *g);
    g->size = size;
}

/* Whether every FP32 value, NaN included, can be rounded to a format and read back. */
static bool is_result_format(const struct bitcut_format *format)
{
    return format_holds(&formats[FORMAT_F32], format) && format->has_sign && format->nan;
}

/* Numbers that may be left open, up to a largest value. */
static bool is_open_or_to(int x, int most) { return x >= BITCUT_UNSET && x <= most; }

static enum bitcut_status check_numbers(const struct bitcut_gemm *g, struct fault *f)
{
    const struct bitcut_order *o = &g->order;
    const enum bitcut_layout layouts =
        g->a.layout | g->b.layout | g->c.layout | g->d.layout;
    if (!is_open_or_to(g->scale, GEMM_SCALE_MAX))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "scale must be 0 to %d",
                         GEMM_SCALE_MAX);
    if (g->round_seed < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "round_seed must not be negative");
    if (!is_open_or_to(g->dropped_term, 1) || layouts > BITCUT_COLUMN_MAJOR ||
        o->reduction > BITCUT_HALVES)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unknown value of an enumeration in the GEMM");
    if (!is_open_or_to(g->promote, INT32_MAX) || !is_open_or_to(g->tile_k, INT32_MAX) ||
        o->slices < 0 || o->tile < 0 || o->cut < 0 || o->balance_tail < 0 ||
        o->lanes < 0 || o->chunk < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    if (!order_is_sound(o))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "lane_order must list each of the lanes 0 to lanes - 1 once, at "
                         "most %d lanes",
                         BITCUT_LANE_ORDER_MAX);
    if (g->unit && g->kernel)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "unit and kernel cannot be combined");
    return epilogue_check(g, f);
}

static enum bitcut_status check_size(size_t size, struct fault *f)
{
    if (size >= SIZE_MIN && size <= sizeof(struct bitcut_gemm)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "the GEMM has size %zu, which this library does not know: %s", size,
                     size < SIZE_MIN ? "call bitcut_gemm_init() first"
                                       : "the program was built for a newer library");
}

enum bitcut_status gemm_take(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                             struct fault *f)
{
    if (!from) return fault_set(f, BITCUT_BAD_ARGUMENT, "the GEMM must not be NULL");
    enum bitcut_status status = check_size(from->size, f);
    if (status != BITCUT_OK) return status;
    *to = open_gemm;
    memcpy(to, from, from->size);
    to->size = sizeof *to;
    return check_numbers(to, f);
}

enum bitcut_status gemm_take_plain_groups(struct bitcut_gemm *to,
                                          const struct bitcut_gemm *from, const char *who,
                                          struct fault *f)
{
    const enum bitcut_status status = gemm_take(to, from, f);
    if (status != BITCUT_OK || !gemm_is_extended(to)) return status;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s takes D = alpha A B + beta C; it does not take a bias, factors, "
                     "a start or other steps of an epilogue",
                     who);
}

enum bitcut_status gemm_take_plain(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                                   const char *who, struct fault *f)
{
    const enum bitcut_status status = gemm_take_plain_groups(to, from, who, f);
    if (status != BITCUT_OK || !to->offsets) return status;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not take groups", who);
}

enum bitcut_status gemm_check_place(const struct bitcut_gemm *to, struct fault *f)
{
    return to ? check_size(to->size, f) : BITCUT_OK;
}

void gemm_give(struct bitcut_gemm *to, const struct bitcut_gemm *g)
{
    if (!to) return;
    const size_t size = to->size;
    memcpy(to, g, size);
    to->size = size;
}

/* --- the plan --------------------------------------------------------------------- */

/* A split of the GEMM, with the variations of the GEMM applied. */
static struct bitcut_split split_of(const struct bitcut_gemm *g,
                                    const struct bitcut_split *own,
                                    const struct bitcut_format *words)
{
    const struct bitcut_split *row = own ? own : g->recipe->split;
    struct bitcut_split s = row ? *row : split_plain(words);
    if (g->high) s.word[0].rounding = g->high;
    for (int i = 1; g->low && i < s.words; i++) s.word[i].rounding = g->low;
    if (g->scale != BITCUT_UNSET) s.scale = g->scale;
    s.seed = 2 * (uint64_t)g->round_seed;
    return s;
}

static int chosen(int asked, int otherwise)
{
    return asked == BITCUT_UNSET ? otherwise : asked;
}

/* An order in which no number is left open. */
static struct bitcut_order order_of(struct bitcut_order o)
{
    if (!o.slices) o.slices = 1;
    if (!o.lanes) o.lanes = 1;
    if (o.partial_format == &formats[FORMAT_F32]) o.partial_format = NULL;
    o.partial_store &= o.partial_format != NULL;
    return o;
}

static void add_term(struct gemm_plan *p, struct recipe_term t)
{
    p->term[p->terms++] = t;
    if (t.accumulator >= p->accumulators) p->accumulators = t.accumulator + 1;
}

bool gemm_equilibrates(const struct bitcut_gemm *g)
{
    const struct bitcut_split *const own = g->recipe->split,
                                     *const a = g->split_a ? g->split_a : own,
                                     *const b = g->split_b ? g->split_b : own;
    return g->equilibrate || (a && split_is_fixed(a)) || (b && split_is_fixed(b));
}

/* The k that share both factors: the greatest common divisor of the blocks of A and B; 0:
   all k. */
static size_t block_of(const struct bitcut_gemm *g)
{
    size_t x = factor_depth(&g->scale_a), y = factor_depth(&g->scale_b);
    while (y) {
        const size_t rest = x % y;
        x = y;
        y = rest;
    }
    return x < INT32_MAX ? x : 0;
}

static struct gemm_plan plan_of(const struct bitcut_gemm *g,
                                const struct bitcut_format *a,
                                const struct bitcut_format *b)
{
    const struct bitcut_recipe *r = g->recipe;
    struct gemm_plan p = { .recipe = r,
                           .split_a = split_of(g, g->split_a, a),
                           .split_b = split_of(g, g->split_b, b),
                           .dropped_term = chosen(g->dropped_term, r->keeps_dropped_term),
                           .equilibrate = gemm_equilibrates(g),
                           .promote = chosen(g->promote, r->promote),
                           .tile_k = chosen(g->tile_k, r->tile_k),
                           .order = order_of(g->order),
                           .start = g->start,
                           .scaling = g->scaling };
    p.integer = p.split_a.words == 1 && p.split_b.words == 1 &&
                format_is_integer(p.split_a.word[0].format) &&
                format_is_integer(p.split_b.word[0].format);
    memcpy(p.epilogue, g->epilogue, sizeof p.epilogue);
    epilogue_write(p.epilogue_name, *p.epilogue ? p.epilogue : epilogues->step);
    p.round_seed = g->round_seed;
    p.sum_rounding = g->sum_rounding;
    p.split_b.seed++; /* the same values are rounded apart in A and B */
    p.target = equilibrate_target(&p.split_a);
    p.scale = p.split_a.words > 1   ? p.split_a.scale
              : p.split_b.words > 1 ? p.split_b.scale
                                    : 0;
    if (p.dropped_term && r->dropped_term.a)
        add_term(&p, r->dropped_term); /* otherwise recipe_takes() refuses it */
    for (int i = 0; i < r->terms; i++) add_term(&p, r->term[i]);
    if (gemm_scales_promotions(g) && !p.tile_k) p.tile_k = (int)block_of(g);
    return p;
}

/* Check that every promotion has one factor of A and one of B, and that blocks of an
   instruction are those of its unit. */
static enum bitcut_status check_scales(const struct gemm_plan *p,
                                       const struct bitcut_gemm *g, struct fault *f)
{
    const size_t block = block_of(g), tile = (size_t)p->tile_k;
    if (gemm_has_scales(g) && g->scaling == BITCUT_SCALING_EPILOGUE && block)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors of blocks of k cannot be applied in the epilogue; use "
                         "a scaling at promotions, of operands, or of the unit");
    if (!gemm_scales_promotions(g) || !gemm_has_scales(g)) return BITCUT_OK;
    if (p->accumulators > 1)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors at promotions require a recipe with one accumulator, "
                         "such as plain");
    if (p->order.lanes > 1)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors at promotions and lanes of k cannot be combined");
    if (!p->promote && !tile)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors at promotions require promotions: set promote");
    if (block && block % tile)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors have blocks of %zu k: tile-k must divide it", block);
    return BITCUT_OK;
}

/* Check that the operations of the recipe between tiles are possible. */
static enum bitcut_status check_tiles(const struct gemm_plan *p, struct fault *f)
{
    const struct bitcut_recipe *r = p->recipe;
    bool scales = false;
    for (int i = 0; i < p->terms; i++) scales |= p->term[i].scaled;
    if (!p->tile_k && (scales || r->zeroed))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s requires tiles along k; the tile length must be at least 1",
                         r->name);
    if (p->promote && scales)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "%s promotes at the end of each tile; a promotion interval cannot be set",
            r->name);
    return BITCUT_OK;
}

/* The number of products of integers that an accumulator adds for each k. */
static size_t integer_products(const struct gemm_plan *p, int accumulator)
{
    size_t count = 0;
    for (int i = 0; i < p->terms; i++)
        count += p->term[i].accumulator == accumulator &&
                 format_is_integer(p->split_a.word[p->term[i].a].format);
    return count;
}

/* Check that sums of integers fit their accumulators: a slice has no more k than fit, for
   any k-step. */
static enum bitcut_status check_integers(const struct gemm_plan *p, size_t k,
                                         struct fault *f)
{
    enum { PRODUCT_MAX = 127 * 127, STEP_MAX = 64 };
    const struct bitcut_order *o = &p->order;
    const size_t slice = o->slices == 1
                             ? k
                             : divide_up(k, (size_t)o->slices) + (size_t)o->tile +
                                   (size_t)o->cut + STEP_MAX;
    for (int i = 0; i < p->accumulators; i++) {
        const size_t count = integer_products(p, i),
                     most = count ? INT32_MAX / (PRODUCT_MAX * count) : slice;
        if (slice > most)
            return fault_set(
                f, BITCUT_BAD_ARGUMENT,
                "%s sums integers exactly in 32 bits up to k = %zu; use more slices of k",
                p->recipe->name, most);
    }
    return BITCUT_OK;
}

/* Check a GEMM whose sums stay s32. */
static enum bitcut_status check_carried(const struct gemm_plan *p,
                                        const struct bitcut_gemm *g, struct fault *f)
{
    const struct bitcut_format *const operand[] = { matrix_format(&g->a),
                                                    matrix_format(&g->b) },
                                      *const word[] = { p->split_a.word[0].format,
                                                        p->split_b.word[0].format };
    if (p->terms > 1 || p->promote || p->tile_k || p->sum_rounding || p->equilibrate ||
        p->order.partial_format || g->high || g->low || g->scaling)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "sums of integers are exact: they take slices and lanes of k, but "
            "no promotion, tile, split, rounding, format of partial sums, "
            "equilibration or scaling");
    for (int i = 0; i < 2; i++)
        if (format_is_integer(operand[i]) && operand[i] != word[i])
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%c has the format %s, but the unit multiplies %s", "AB"[i],
                             operand[i] -> name, word[i] -> name);
    return BITCUT_OK;
}

/* Whether only the direction of the rule matters, so that a unit can round by it. */
static bool is_rule_of_sums(const struct bitcut_rounding *r)
{
    return !r || (r->direction != BY_BIT && r->flush == FLUSH_NONE &&
                  r->overflow == OVERFLOW_IEEE);
}

enum bitcut_status gemm_plan_make(struct gemm_plan *to, const struct bitcut_gemm *g,
                                  const struct bitcut_format *a,
                                  const struct bitcut_format *b, struct fault *f)
{
    const struct gemm_plan p = plan_of(g, a, b);
    enum bitcut_status status =
        recipe_takes(g->recipe, &p.split_a, &p.split_b, p.dropped_term, f);
    if (status == BITCUT_OK) status = check_tiles(&p, f);
    if (status == BITCUT_OK) status = check_scales(&p, g, f);
    if (status == BITCUT_OK && p.order.partial_format &&
        !is_result_format(p.order.partial_format))
        status =
            fault_set(f, BITCUT_BAD_ARGUMENT, "partial sums of k cannot be stored in %s",
                      p.order.partial_format->name);
    if (status == BITCUT_OK && !is_rule_of_sums(p.sum_rounding))
        status = fault_set(f, BITCUT_BAD_ARGUMENT,
                           "sums cannot be rounded by rule %s; use rn, rna, rz, ru, rd, "
                           "odd or sr",
                           p.sum_rounding->name);
    if (status == BITCUT_OK && p.equilibrate) status = equilibrate_takes(&p.split_a, f);
    if (status == BITCUT_OK && p.equilibrate) status = equilibrate_takes(&p.split_b, f);
    if (status == BITCUT_OK && p.integer) status = check_carried(&p, g, f);
    if (status == BITCUT_OK && !p.integer) status = check_integers(&p, g->k, f);
    if (status == BITCUT_OK) status = epilogue_check_sums(g, p.integer, f);
    if (status == BITCUT_OK) *to = p;
    return status;
}

const struct bitcut_unit *gemm_plan_reader(const struct gemm_plan *p,
                                           enum bitcut_operand operand, int word)
{
    for (int i = 0; i < p->terms; i++)
        if ((operand == BITCUT_A ? p->term[i].a : p->term[i].b) == word)
            return p->unit[i];
    return NULL;
}

void gemm_settle(struct bitcut_gemm *g, const struct gemm_plan *p)
{
    g->recipe = p->recipe;
    if (!g->split_a) g->split_a = p->recipe->split;
    if (!g->split_b) g->split_b = p->recipe->split;
    g->scale = p->scale;
    g->dropped_term = p->dropped_term;
    g->promote = p->promote;
    g->tile_k = p->tile_k;
    g->equilibrate = p->equilibrate;
    g->order = p->order;
}

/* --- where elements are ----------------------------------------------------------- */

void gemm_set_dense(struct bitcut_gemm *g, uint32_t *d, size_t m, size_t n, size_t k,
                    const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    g->m = m;
    g->n = n;
    g->k = k;
    g->a = (struct bitcut_matrix){ .at = a };
    g->b = (struct bitcut_matrix){ .at = b };
    g->c = (struct bitcut_matrix){ .at = c };
    g->d = (struct bitcut_matrix){ .to = d };
}

const struct bitcut_format *matrix_format(const struct bitcut_matrix *x)
{
    return x->format ? x->format : &formats[FORMAT_F32];
}

/* The lines of a matrix of rows x cols in memory, and their length. */
struct lines {
    size_t count, length;
};

static struct lines lines_of(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    return x->layout == BITCUT_ROW_MAJOR ? (struct lines){ rows, cols }
                                         : (struct lines){ cols, rows };
}

size_t matrix_ld(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    return x->ld ? x->ld : lines_of(x, rows, cols).length;
}

const void *matrix_nth(const struct bitcut_matrix *x, size_t i)
{
    const size_t bytes = (size_t)format_bytes(matrix_format(x));
    return x->each ? x->each[i] : (const char *)x->at + i * x->stride * bytes;
}

static void pick(struct bitcut_matrix *x, size_t i)
{
    if (!x->at && !x->each) return; /* no matrix, or C that is not read */
    x->at = matrix_nth(x, i);
    x->each = NULL;
}

size_t gemm_first_row(const struct bitcut_gemm *g, size_t i)
{
    if (!g->offsets) return i * g->m;
    return i ? (size_t)g->offsets[i - 1] : 0;
}

/* Let a matrix of rows x cols begin at row `from`, or at column `from`. */
static void begin_at(struct bitcut_matrix *x, size_t rows, size_t cols, size_t from,
                     bool of_columns)
{
    if (!x->at) return;
    x->ld = matrix_ld(x, rows, cols);
    const bool apart = of_columns == (x->layout == BITCUT_COLUMN_MAJOR);
    x->at = (const char *)x->at +
            from * (apart ? x->ld : 1) * (size_t)format_bytes(matrix_format(x));
}

/* The rows of group i, as a single GEMM; matrices that belong to groups are picked. */
static void pick_rows(struct bitcut_gemm *one, const struct bitcut_gemm *g, size_t i)
{
    const size_t first = gemm_first_row(g, i);
    begin_at(&one->a, g->m, g->k, first, false);
    begin_at(&one->c, g->m, g->n, first, false);
    begin_at(&one->d, g->m, g->n, first, false);
    if (g->bias_rows) begin_at(&one->bias, 1, g->m, first, true);
    if (g->scale_a.lines)
        begin_at(&one->scale_a.at, factor_lines(&g->scale_a, g->m),
                 factor_blocks(&g->scale_a, g->k), first / g->scale_a.lines, false);
    one->m = gemm_first_row(g, i + 1) - first;
    one->offsets = NULL;
}

struct bitcut_gemm gemm_nth(const struct bitcut_gemm *g, size_t i)
{
    struct bitcut_gemm one = *g;
    if (g->offsets) pick_rows(&one, g, i);
    pick(&one.a, i);
    pick(&one.b, i);
    pick(&one.c, i);
    pick(&one.d, i);
    pick(&one.bias, i);
    pick(&one.scale_a.at, i);
    pick(&one.scale_b.at, i);
    if (one.amax) one.amax += i;
    one.count = 1;
    return one;
}

size_t gemm_fewest_rows(const struct bitcut_gemm *g)
{
    size_t least = 0;
    if (!g->offsets) return g->count ? g->m : 0;
    for (size_t i = 0; i < g->count; i++) {
        const size_t rows = gemm_first_row(g, i + 1) - gemm_first_row(g, i);
        if (rows && (!least || rows < least)) least = rows;
    }
    return least;
}

/* Of several groups that begin at the same row, all but the last are empty. */
size_t gemm_of_row(const struct bitcut_gemm *g, size_t row)
{
    size_t low = 0, high = g->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (gemm_first_row(g, middle) <= row) low = middle;
        else high = middle;
    }
    return low;
}

/* A matrix to check. */
struct checked {
    const char *name;
    const struct bitcut_matrix *x;
    size_t count, rows, cols;
    bool written;
};

/* Set the number of elements from the first to the last one of a matrix.  False if it is
   too large to count. */
static bool extent(size_t *elements, const struct checked *m)
{
    const struct lines lines = lines_of(m->x, m->rows, m->cols);
    *elements = 0;
    return !m->rows || !m->cols ||
           (size_multiply(elements, lines.count - 1, matrix_ld(m->x, m->rows, m->cols)) &&
            !__builtin_add_overflow(*elements, lines.length, elements));
}

static bool batch_fits(const struct checked *m, size_t each)
{
    size_t elements, bytes;
    return m->x->each ||
           (size_multiply(&elements, m->count - 1, m->x->stride) &&
            !__builtin_add_overflow(elements, each, &elements) &&
            size_multiply(&bytes, elements, (size_t)format_bytes(matrix_format(m->x))));
}

static enum bitcut_status check_place(const char *name, const void *at, int bytes,
                                      struct fault *f)
{
    if (!at) return fault_set(f, BITCUT_BAD_ARGUMENT, "%s must not be NULL", name);
    if ((uintptr_t)at % (unsigned)bytes)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is not aligned to %d bytes", name,
                         bytes);
    return BITCUT_OK;
}

/* Check the addresses of a matrix that has elements. */
static enum bitcut_status check_places(const struct checked *m, bool pointers,
                                       struct fault *f)
{
    const int bytes = format_bytes(matrix_format(m->x));
    enum bitcut_status status =
        m->x->each ? check_place(m->name, m->x->each, sizeof *m->x->each, f)
                   : check_place(m->name, m->x->at, bytes, f);
    for (size_t i = 0; m->x->each && pointers && i < m->count && status == BITCUT_OK; i++)
        status = check_place(m->name, m->x->each[i], bytes, f);
    return status;
}

/* Whether f32 can represent the values of an operand, or whether an f32 can be rounded to
   the format of D; or whether it has integers, which the plan checks. */
static bool takes_format(const struct checked *m)
{
    const struct bitcut_format *format = matrix_format(m->x);
    return format_is_integer(format) ||
           (m->written ? is_result_format(format)
                       : format_holds(&formats[FORMAT_F32], format));
}

static enum bitcut_status check_matrix(const struct checked *m, bool pointers,
                                       struct fault *f)
{
    const size_t length = lines_of(m->x, m->rows, m->cols).length;
    size_t each;
    if (m->x->prepared) return BITCUT_OK;
    if (!takes_format(m))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s cannot have the format %s", m->name,
                         matrix_format(m->x)->name);
    if (m->x->ld && m->x->ld < length)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: leading dimension %zu is less than the %s length %zu",
                         m->name, m->x->ld,
                         m->x->layout == BITCUT_ROW_MAJOR ? "row" : "column", length);
    if (!m->count) return BITCUT_OK;
    if (!extent(&each, m) || !batch_fits(m, each))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s exceeds the address space", m->name);
    return each ? check_places(m, pointers, f) : BITCUT_OK;
}

/* Whether no two matrices of D have an element in common: they lie one after the other,
   or side by side. */
static bool are_apart(const struct checked *d)
{
    const struct lines lines = lines_of(d->x, d->rows, d->cols);
    const size_t ld = matrix_ld(d->x, d->rows, d->cols), stride = d->x->stride;
    if (d->count < 2 || !d->rows || !d->cols || d->x->each) return true;
    return stride >= (lines.count - 1) * ld + lines.length ||
           (stride >= lines.length && (ld - lines.length) / stride >= d->count - 1);
}

/* Whether D equals C element for element, if it begins where C does. */
static bool agree(const struct bitcut_matrix *c, const struct bitcut_matrix *d,
                  const struct checked *m)
{
    const bool same = c->each || d->each ? c->each == d->each : c->at == d->at;
    return !same || (c->layout == d->layout && matrix_format(c) == matrix_format(d) &&
                     (c->each || m->count < 2 || c->stride == d->stride) &&
                     matrix_ld(c, m->rows, m->cols) == matrix_ld(d, m->rows, m->cols));
}

/* Check the groups of rows. */
static enum bitcut_status check_groups(const struct bitcut_gemm *g, struct fault *f)
{
    const struct {
        const char *name;
        const struct bitcut_matrix *x;
        bool of_rows;
    } all[] = { { "A", &g->a, true },
                { "C", &g->c, true },
                { "D", &g->d, true },
                { "the bias", &g->bias, g->bias_rows },
                { "factors of A", &g->scale_a.at, g->scale_a.lines } };
    int64_t before = 0;
    if (!g->offsets) return BITCUT_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].of_rows && (all[i].x->stride || all[i].x->each))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%s: groups are rows of one matrix, without a stride or "
                             "pointers",
                             all[i].name);
    for (size_t i = 0; i < g->count; before = g->offsets[i++]) {
        if (g->offsets[i] < before)
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "offsets must ascend; offset %zu is %d after %" PRId64, i,
                             (int)g->offsets[i], before);
        if (g->scale_a.lines && (size_t)before % g->scale_a.lines &&
            (g->scale_a.at.at || g->scale_a.at.each))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "group %zu does not begin with a block of factors of A", i);
    }
    if ((uint64_t)before == g->m) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "offsets end with %" PRId64 ", but A has %zu rows", before, g->m);
}

/* The number of matrices whose rows are those of the groups. */
static size_t matrices_of_rows(const struct bitcut_gemm *g)
{
    return g->offsets && g->count ? 1 : g->count;
}

/* Check the bias and the factors. */
static enum bitcut_status check_epilogue(const struct bitcut_gemm *g, bool pointers,
                                         struct fault *f)
{
    const size_t count = g->m && g->n ? g->count : 0;
    const struct checked all[] = {
        { "the bias", &g->bias, count, 1, g->bias_rows ? g->m : g->n, false },
        { "factors of A", &g->scale_a.at, count, factor_lines(&g->scale_a, g->m),
          factor_blocks(&g->scale_a, g->k), false },
        { "factors of B", &g->scale_b.at, count, factor_blocks(&g->scale_b, g->k),
          factor_lines(&g->scale_b, g->n), false },
    };
    enum bitcut_status status = epilogue_check_operands(g, f);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == BITCUT_OK; i++)
        if (all[i].x->at || all[i].x->each) status = check_matrix(&all[i], pointers, f);
    return status;
}

enum bitcut_status gemm_check_operands(const struct bitcut_gemm *g, struct fault *f)
{
    const size_t count = g->m && g->n ? g->count : 0, of_rows = matrices_of_rows(g);
    const struct checked a = { "A", &g->a, count ? of_rows : 0, g->m, g->k, false },
                         b = { "B", &g->b, count, g->k, g->n, false },
                         c = { "C", &g->c, of_rows, g->m, g->n, false };
    enum bitcut_status status = check_groups(g, f);
    if (status == BITCUT_OK) status = check_matrix(&a, true, f);
    if (status == BITCUT_OK) status = check_matrix(&b, true, f);
    if (status == BITCUT_OK) status = check_epilogue(g, true, f);
    return status == BITCUT_OK && gemm_reads_c(g) ? check_matrix(&c, true, f) : status;
}

enum bitcut_status gemm_check_matrices(const struct bitcut_gemm *g, bool pointers,
                                       struct fault *f)
{
    const bool reads_c = gemm_reads_c(g), empty = !g->m || !g->n || !g->count;
    const size_t of_rows = matrices_of_rows(g);
    const struct checked all[] = {
        { "A", &g->a, empty ? 0 : of_rows, g->m, g->k, false },
        { "B", &g->b, empty ? 0 : g->count, g->k, g->n, false },
        { "D", &g->d, of_rows, g->m, g->n, true },
        { "C", &g->c, of_rows, g->m, g->n, false },
    };
    const struct checked *const d = &all[2];
    enum bitcut_status status = check_groups(g, f);
    for (int i = 0; i < 3 + reads_c && status == BITCUT_OK; i++)
        status = check_matrix(&all[i], pointers, f);
    if (status == BITCUT_OK) status = check_epilogue(g, pointers, f);
    if (status != BITCUT_OK || empty) return status;
    if (!are_apart(d))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the stride of D is too small: its matrices overlap");
    if (reads_c && !agree(&g->c, &g->d, d))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "D and C share memory but differ in leading dimension, stride, "
                         "layout or format");
    return BITCUT_OK;
}
