#include "emu/fast.h"

#include "emu/engine.h"
#include "emu/job.h"
#include "lib/fma.h"
#include "lib/hostfp.h"

#include <assert.h>
#include <string.h>

/* k's packed at a time, whole instructions: the packed operands stay in cache. */
enum { DEPTH = WORDS_RUN };

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* --- what a row needs ------------------------------------------------------------- */

/* Where the exponents of nonzero operands lie. */
struct range {
    int low, high;
};

static struct range format_range(const struct bitcut_unit *u)
{
    const struct bitcut_format *as = unit_operand_format(u, u->a);
    const int low = format_emin(u->a) - u->a->fraction_bits, emin = format_emin(as);
    return (struct range){ as == u->a || low < emin ? emin : low, format_emax(u->a) };
}

static bool range_fits(struct range r)
{
    return r.low >= FAST_LOW && r.high <= FAST_HIGH;
}

static const struct bitcut_format *f32(void) { return &formats[FORMAT_F32]; }
static const struct bitcut_format *f16(void) { return &formats[FORMAT_F16]; }

/* Whether the sums of a block fit: one 32-bit sum of all, or two, of which the first
   begins with c.  In units of the last bit kept a product is at most `most`, and c below
   2^(fraction + 1). */
static bool sums_fit(struct fast_rule *r, const struct bitcut_unit *u)
{
    const int drop = u->fraction - 2 * u->a->fraction_bits;
    const int64_t significand = ((int64_t)2 << u->a->fraction_bits) - 1;
    if (drop < 0 || u->fraction > 29) return false;
    const int64_t most = significand * significand << drop;
    const int64_t c = (int64_t)2 << u->fraction;
    r->two = u->block * most + c > INT32_MAX;
    r->first = r->two ? u->block / 2 : u->block;
    return r->first % 4 == 0 && r->first * most + c <= INT32_MAX &&
           (u->block - r->first) * most <= INT32_MAX && u->block * most + c <= UINT32_MAX;
}

static bool result_fits(struct fast_rule *r, const struct bitcut_unit *u)
{
    const enum direction direction = u->rounding.direction;
    if (u->rounding.flush || u->rounding.overflow == OVERFLOW_SATURATE) return false;
    r->result = FAST_F16;
    if (u->result == f16())
        return u->c == f16() && direction == TO_NEAREST_EVEN &&
               range_fits(format_range(u));
    r->result = u->result == f32() ? FAST_F32 : FAST_F32_CUT;
    r->mask = -(1 << (23 - u->result->fraction_bits));
    return u->c == f32() && direction == TO_ZERO && format_holds(f32(), u->result) &&
           format_emin(u->result) == format_emin(f32()) && u->result->bits == 32;
}

/* Whether the operands are encodings that kernels can read: a sign, and magnitudes in the
   order of their values, up to the largest finite one and then only NaN and Inf. */
static bool operands_fit(const struct bitcut_unit *u)
{
    const struct bitcut_format *f = u->a;
    return f == u->b && f->has_sign && f->bits <= 32 && f->exponent_bits <= 8 &&
           f->special != SPECIAL_FNUZ && f->special != SPECIAL_E8M0 && !u->scale &&
           !u->flush_inputs && (!u->via || format_holds(u->via, f));
}

/* The kernels' view of a row, or false if they cannot compute it. */
static bool rule_make(struct fast_rule *r, const struct bitcut_unit *u)
{
    *r = (struct fast_rule){ .block = u->block, .fraction = u->fraction };
    return u->summation == SUM_FUSED && u->fraction != FRACTION_EXACT && !u->normalise &&
           !u->floor && u->zero == ZERO_POSITIVE && u->nan_rule == NAN_FIXED &&
           u->block % 4 == 0 && u->k % u->block == 0 && DEPTH % u->k == 0 &&
           operands_fit(u) && result_fits(r, u) && sums_fit(r, u);
}

bool fast_takes(const struct bitcut_unit *u)
{
    struct fast_rule r;
    return rule_make(&r, u);
}

/* --- splits ----------------------------------------------------------------------- */

static uint32_t f32_of(const struct bitcut_format *from, uint64_t encoding)
{
    return (uint32_t)bitcut_format_convert(f32(), &roundings[ROUND_RN], from, encoding);
}

static bool word_make(struct fast_split *s, const struct bitcut_format *f,
                      const struct bitcut_rounding *r, int scale)
{
    const int emin = format_emin(f);
    const uint32_t largest = f32_of(f, format_largest(f, false)), too_large = 0x7f7fffff;
    *s = (struct fast_split){
        .direction = r->direction,
        .drop = 23 - f->fraction_bits,
        .pad = f->pad,
        .sign = f->bits - 1,
        .least_normal = (emin + 127) * (1 << 23),
        .most = (int32_t)largest,
        .rebias = (127 - f->bias) * (1 << 23),
        .least_count = r->flush ? 1 << f->fraction_bits : 0,
        .infinity = (uint32_t)bitcut_format_convert(f, r, f32(), 0x7f800000),
        .overflow = (uint32_t)bitcut_format_convert(f, r, f32(), too_large),
        .nan = (uint32_t)format_nan(f),
        .step = float_of(f32_power_of_two(scale)),
    };
    s->infinity_value = f32_of(f, s->infinity);
    s->overflow_value = f32_of(f, s->overflow);
    if (s->drop < 1 || !f->has_sign || f->special == SPECIAL_FNUZ || f->bits > 32 ||
        (r->direction != TO_NEAREST_EVEN && r->direction != TO_NEAREST_AWAY &&
         r->direction != TO_ZERO))
        return false;
    /* Subnormal words that are subnormal floats round where normal ones do. */
    if (emin <= -126) s->least_normal = 0;
    else s->to_count = float_of(f32_power_of_two(f->fraction_bits - emin));
    if (emin > -126) s->of_count = float_of(f32_power_of_two(emin - f->fraction_bits));
    return emin > -126 || (emin == -126 && !r->flush);
}

bool fast_split_make(struct fast_split s[SPLIT_WORDS_MOST],
                     const struct bitcut_split *split)
{
    for (int i = 0; i < split->words; i++)
        if (!word_make(&s[i], split->format, i ? split->low : split->high, split->scale))
            return false;
    return true;
}

/* --- a tile ----------------------------------------------------------------------- */

/* Everything about the tile being computed.  Packed operands and accumulators lie in the
   thread's scratch. */
struct tile {
    const struct job *job;
    const struct bitcut_unit *unit;
    const struct fast_kernels *kernels;
    struct fast_rule rule;
    struct fast_format a_format, b_format;
    int unit_exponent; /* accumulators are in units of 2^unit_exponent */
    size_t i0, j0, rows, cols;
    int at[UNIT_K_MOST]; /* which k of an instruction is at each place */
    float *a;            /* [word][block][row][2][block]               */
    float *b;            /* [word][k][column of a panel]               */
    int8_t *b_exponent;  /* the same                                   */
    float *line;         /* [2][DEPTH]                                 */
    float *partial;      /* [row][column of a panel]: see c_last       */
    float *sums;         /* [set][panel][row][column of a panel]       */
};

static size_t smaller(size_t x, size_t y) { return x < y ? x : y; }

/* The sets of sums: the accumulators, the one that accumulator 0 is promoted to, and the
   sum of slices, unless one of the others is that already. */
static size_t main_set(const struct job *job)
{
    return job->g->promote ? (size_t)job->plan.last + 1 : 0;
}

static size_t slice_sets(const struct job *job)
{
    return (size_t)job->plan.last + 1 + (job->g->promote != 0);
}

static size_t total_set(const struct job *job)
{
    const bool single = job->cut.steps == job->cut.per_slice && job->plan.last == 0;
    return single ? main_set(job) : slice_sets(job);
}

enum { SET = FAST_ROWS * FAST_COLUMNS, PANEL_MOST = 64 };

/* Lay out the scratch; returns its size in bytes.  Every part is a multiple of 64. */
static size_t lay_out(struct tile *t, float *scratch, const struct job *job)
{
    const size_t words = (size_t)job->a.count, depth = DEPTH;
    const size_t count[] = {
        (words * FAST_ROWS + 1) * depth * 2, words * depth * PANEL_MOST,
        words * depth * PANEL_MOST / 4,      2 * depth,
        (size_t)FAST_ROWS * PANEL_MOST,      (slice_sets(job) + 1) * SET
    };
    float *part[6];
    size_t bytes = 0;
    for (int i = 0; i < 6; i++) {
        part[i] = scratch;
        if (scratch) scratch += count[i];
        bytes += count[i] * sizeof *scratch;
    }
    t->a = part[0];
    t->b = part[1];
    t->b_exponent = (int8_t *)part[2];
    t->line = part[3];
    t->partial = part[4];
    t->sums = part[5];
    return bytes;
}

size_t fast_scratch_bytes(const struct job *job)
{
    struct tile t;
    return lay_out(&t, NULL, job);
}

/* Which k of an instruction is at each place of the order. */
static void order_fill(int *at, const struct bitcut_unit *u)
{
    int n = 0;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < u->k; i++) {
            const int side = u->order < K_BIT0 ? 0 : i >> (u->order - K_BIT0) & 1;
            if (side == half) at[n++] = u->order == K_DESCENDING ? u->k - 1 - i : i;
        }
}

/* --- exponents -------------------------------------------------------------------- */

static int exponent_of(const struct bitcut_unit *u, uint32_t magnitude)
{
    return unit_read(u, u->a, magnitude).exponent;
}

/* The exponents of lines [first, first + count) without NaN and Inf; 0 if all are zero.
 */
static struct range lines_range(const struct words *w, const struct bitcut_unit *u,
                                size_t first, size_t count)
{
    struct magnitudes all = { INT32_MAX, 0 };
    for (size_t i = first; i < first + count; i++) {
        const struct magnitudes m = w->magnitudes[i];
        if (words_special(w, u, i)) continue;
        if (m.least < all.least) all.least = m.least;
        if (m.most > all.most) all.most = m.most;
    }
    if (all.most == 0) return (struct range){ 0, 0 };
    return (struct range){ exponent_of(u, all.least), exponent_of(u, all.most) };
}

/* The least that exponents need to be lowered by, so that they fit the kernels' window.
 */
static int window_base(struct range r)
{
    if (r.high > FAST_HIGH) return r.high - FAST_HIGH;
    return r.low < FAST_LOW ? r.low - FAST_LOW : 0;
}

/* The kernels count in units of a power of two.  That changes nothing as long as no value
   that they could meet, in these units or the real ones, is subnormal or overflows: sums
   are multiples of 2^(low - fraction), and an accumulator stops growing where products
   are dropped beside it; promoted sums are given 2^40 additions. */
static bool ranges_fit(struct range a, struct range b, const struct fast_rule *r)
{
    const int low = a.low + b.low, high = a.high + b.high;
    const int growth = (r->fraction > 40 ? r->fraction : 40) + 8;
    return a.high - a.low <= FAST_HIGH - FAST_LOW &&
           b.high - b.low <= FAST_HIGH - FAST_LOW && low - r->fraction >= -126 &&
           high + growth <= 127;
}

static struct fast_format format_make(const struct bitcut_unit *u, int base)
{
    const struct bitcut_format *f = u->a;
    return (struct fast_format){
        .bytes = words_bytes(u),
        .magnitude = ((uint32_t)1 << (f->bits - 1)) - 1,
        .shift = 23 - f->fraction_bits - f->pad,
        .sign_shift = 32 - f->bits,
        .rebias = (127 - f->bias - base) * (1 << 23),
        .least = format_emin(unit_operand_format(u, f)) - base,
    };
}

/* Choose units for a tile, or false if its exponents are too far apart. */
static bool tile_fits(struct tile *t)
{
    const struct bitcut_unit *u = t->unit;
    struct range a = format_range(u), b = a;
    if (!range_fits(a)) {
        a = lines_range(&t->job->a, u, t->i0, t->rows);
        b = lines_range(&t->job->b, u, t->j0, t->cols);
    }
    if (!ranges_fit(a, b, &t->rule)) return false;
    const int base_a = window_base(a), base_b = window_base(b);
    const int least = u->align_min - base_a - base_b;
    const int floor = least > FAST_FLOOR ? least : FAST_FLOOR;
    t->unit_exponent = base_a + base_b;
    t->a_format = format_make(u, base_a);
    t->b_format = format_make(u, base_b);
    t->rule.floor = (int32_t)(((uint32_t)(floor - 1) & 0xff) * 0x01010101u);
    t->rule.scale = (int32_t)((uint32_t)(254 + u->fraction) << 23);
    return true;
}

/* --- packing ---------------------------------------------------------------------- */

static const char *words_at(const struct words *w, int word, size_t line, size_t k)
{
    return (const char *)w->at[word] + words_index(w, line, k) * (size_t)w->bytes;
}

/* One line of A: each block's values and exponents to their places. */
static void pack_line(struct tile *t, float *to, size_t row, const float *line,
                      size_t count)
{
    const size_t block = (size_t)t->rule.block, k = (size_t)t->unit->k;
    for (size_t i = 0; i < count; i += block) {
        float *at = to + 2 * (i * t->rows + row * block);
        for (size_t p = 0; p < block; p++) {
            const size_t from = i / k * k + (size_t)t->at[(i + p) % k];
            at[p] = line[from];
            memcpy(at + block + p, line + DEPTH + from, sizeof *at);
        }
    }
}

/* The same where the order is ascending, so that blocks are runs. */
static void pack_runs(struct tile *t, float *to, size_t row, const float *line,
                      size_t count)
{
    const size_t block = (size_t)t->rule.block, bytes = block * sizeof *to;
    for (size_t i = 0; i < count; i += block) {
        float *at = to + 2 * (i * t->rows + row * block);
        memcpy(at, line + i, bytes);
        memcpy(at + block, line + DEPTH + i, bytes);
    }
}

/* k [from, from + count) of all rows of the tile. */
static void pack_a(struct tile *t, size_t from, size_t count)
{
    const struct words *w = &t->job->a;
    for (int j = 0; j < w->count; j++)
        for (size_t i = 0; i < t->rows; i++) {
            float *to = t->a + (size_t)j * DEPTH * FAST_ROWS * 2;
            t->kernels->pack_a(t->line, (int32_t *)(t->line + DEPTH),
                               words_at(w, j, t->i0 + i, from), count, &t->a_format);
            (t->unit->order == K_ASCENDING ? pack_runs : pack_line)(t, to, i, t->line,
                                                                    count);
        }
}

/* The same k of the columns of a panel. */
static void pack_b(struct tile *t, size_t panel, size_t from, size_t count)
{
    const struct words *w = &t->job->b;
    const size_t columns = (size_t)t->kernels->columns, k = (size_t)t->unit->k;
    for (int j = 0; j < w->count; j++)
        for (size_t p = 0; p < count; p++) {
            const size_t at = ((size_t)j * DEPTH + p) * columns;
            const size_t row = from + p / k * k + (size_t)t->at[p % k];
            t->kernels->pack_b(t->b + at, t->b_exponent + at,
                               words_at(w, j, t->j0 + panel * columns, row),
                               &t->b_format);
        }
}

/* --- running ---------------------------------------------------------------------- */

static float *panel_sums(const struct tile *t, size_t set, size_t panel)
{
    return t->sums + set * SET + panel * FAST_ROWS * (size_t)t->kernels->columns;
}

static size_t panel_count(const struct tile *t)
{
    const size_t columns = (size_t)t->kernels->columns;
    return (t->cols + columns - 1) / columns;
}

/* c += the products [at, at + unit->k) of two packed words, one instruction. */
static void multiply(struct tile *t, float *c, struct recipe_term term, size_t at)
{
    const struct fast_rule *r = &t->rule;
    const size_t columns = (size_t)t->kernels->columns, k = (size_t)t->unit->k;
    const size_t count = t->rows * columns;
    float *sum = t->unit->c_last ? t->partial : c;
    hostfp_truncate();
    for (size_t p = at; p < at + k; p += (size_t)r->block) {
        const float *a = t->a + ((size_t)term.a * FAST_ROWS * DEPTH + p * t->rows) * 2;
        const size_t b = ((size_t)term.b * DEPTH + p) * columns;
        t->kernels->block[r->result][r->two](sum, a, t->b + b, t->b_exponent + b, t->rows,
                                             r);
    }
    hostfp_default();
    if (t->unit->c_last) t->kernels->add[r->result](c, sum, count);
}

static void promote(struct tile *t, size_t panel)
{
    t->kernels->add[FAST_F32](panel_sums(t, main_set(t->job), panel),
                              panel_sums(t, 0, panel),
                              t->rows * (size_t)t->kernels->columns);
}

/* Packed instructions of a panel; `done` came before them in the slice, and the slice
   ends after the last one if `ends`. */
static void panel_steps(struct tile *t, size_t panel, size_t steps, size_t done,
                        bool ends)
{
    const struct job *job = t->job;
    const size_t every = (size_t)job->g->promote;
    for (size_t s = 0; s < steps; s++) {
        for (int i = 0; i < job->plan.terms; i++) {
            const struct recipe_term term = job->plan.term[i];
            multiply(t, panel_sums(t, (size_t)term.accumulator, panel), term,
                     s * (size_t)t->unit->k);
        }
        if (every && ((done + s + 1) % every == 0 || (ends && s + 1 == steps)))
            promote(t, panel);
    }
}

/* The end of a slice for outputs [at, at + count) of each set: fold, and add to the
   slices before. */
static void fold(struct tile *t, size_t at, size_t count, bool first)
{
    const struct job *job = t->job;
    const int last = job->plan.last;
    const float unit = float_of(f32_power_of_two(t->unit_exponent));
    const uint32_t scale = f32_power_of_two(-job->g->split.scale);
    const float *main = t->sums + main_set(job) * SET + at;
    float *total = t->sums + total_set(job) * SET + at;
    if (total == main && t->unit_exponent == 0) return;
    for (size_t i = 0; i < count; i++) {
        float v = (last ? t->sums + (size_t)last * SET + at : main)[i] * unit;
        for (int j = last - 1; j >= 0; j--) {
            const float below = (j ? t->sums + (size_t)j * SET + at : main)[i] * unit;
            v = float_of(job_fma(job, bits_of(v), scale, bits_of(below)));
        }
        total[i] = first ? v : total[i] + v;
    }
}

static void tile_slice(struct tile *t, size_t from, size_t to)
{
    const size_t k = (size_t)t->unit->k, count = DEPTH / k;
    memset(t->sums, 0, slice_sets(t->job) * SET * sizeof *t->sums);
    for (size_t s = from, steps; s < to && !progress_stopped(t->job->progress);
         s += steps) {
        steps = smaller(count - s % count, to - s); /* never across runs of words */
        pack_a(t, s * k, steps * k);
        for (size_t p = 0; p < panel_count(t); p++) {
            pack_b(t, p, s * k, steps * k);
            panel_steps(t, p, steps, s - from, s + steps == to);
        }
    }
    const size_t columns = (size_t)t->kernels->columns;
    for (size_t p = 0; p < panel_count(t); p++)
        fold(t, p * FAST_ROWS * columns, t->rows * columns, from == 0);
}

static void tile_finish(const struct tile *t)
{
    const size_t columns = (size_t)t->kernels->columns;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j += columns)
            job_finish(t->job, t->i0 + i, t->j0 + j,
                       panel_sums(t, total_set(t->job), j / columns) + i * columns,
                       smaller(columns, t->cols - j));
}

bool fast_tile(const struct job *job, void *scratch, size_t i0, size_t j0)
{
    struct tile t = { .job = job,
                      .unit = job->g->unit,
                      .kernels = job->kernels,
                      .i0 = i0,
                      .j0 = j0,
                      .rows = smaller(FAST_ROWS, job->m - i0),
                      .cols = smaller(FAST_COLUMNS, job->n - j0) };
    const bool taken = rule_make(&t.rule, t.unit);
    assert(taken);
    if (!taken || !tile_fits(&t)) return false;
    lay_out(&t, scratch, job);
    order_fill(t.at, t.unit);
    /* c_last adds a partial sum to an accumulator and leaves it zero. */
    memset(t.partial, 0, (size_t)FAST_ROWS * PANEL_MOST * sizeof *t.partial);
    for (size_t s = 0; s < job->cut.steps; s += job->cut.per_slice)
        tile_slice(&t, s, smaller(s + job->cut.per_slice, job->cut.steps));
    if (job->cut.steps == 0)
        memset(t.sums, 0, (slice_sets(job) + 1) * SET * sizeof *t.sums);
    tile_finish(&t);
    return true;
}
