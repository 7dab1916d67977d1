/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fast/fast_tile.h"

#include "emu/engine.h"
#include "emu/fast/fast.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <string.h>

/* Number of k packed at a time, whole instructions, so that the packed operands stay in
   cache. */
enum { DEPTH = PARTS_RUN };

/* --- a tile ----------------------------------------------------------------------- */

/* All data of the tile being computed.  Packed operands and accumulators lie in the
   thread's scratch. */
struct tile {
    const struct job *job;
    const struct bitcut_unit *unit;
    const struct fast_kernels *kernels;
    const struct fast_kernel *kernel; /* the kernel that the rule names         */
    struct fast_rule rule;
    struct fast_format a_format, b_format;
    int unit_exponent; /* accumulators are in units of 2^unit_exponent */
    size_t i0, j0, rows, cols;
    size_t done;         /* instructions of accumulator 0 since the last promotion */
    int kept;            /* retained sums of slices and lanes, in sets from total_set()
                            on                                                     */
    int at[UNIT_K_MAX];  /* the k of an instruction at each position   */
    union fast_element *a, *line; /* [part][block][row][block]; [DEPTH]         */
    float *b;                     /* [part][k][column of a panel]               */
    char *b_exponent;             /* the same, with at most 4 bytes each        */
    float *partial;               /* [row][column of a panel]: see c_last       */
    float *sums;                  /* [set][panel][row][column of a panel]       */
};

/* The sets of sums: the accumulators, the set to which accumulator 0 is promoted, and the
   retained sets of slices and lanes.  One set may serve two purposes. */
static size_t main_set(const struct job *job)
{
    return job->schedule.promotes ? (size_t)job->plan->accumulators : 0;
}

static size_t slice_sets(const struct job *job)
{
    return (size_t)job->plan->accumulators + job->schedule.promotes;
}

static size_t total_set(const struct job *job)
{
    return job->parts.count <= 1 && job->plan->accumulators == 1 ? main_set(job)
                                                                 : slice_sets(job);
}

enum { SET = FAST_ROWS * FAST_COLUMNS, PANEL_MAX = 64 };

/* Lay out the scratch and return its size in bytes.  Every area is a multiple of 64. */
static size_t lay_out(struct tile *t, float *scratch, const struct job *job)
{
    const size_t parts =
        (size_t)(job->a.count > job->b.count ? job->a.count : job->b.count);
    const size_t depth = DEPTH, kept = (size_t)job->parts.kept + !job->parts.kept;
    const size_t count[] = {
        (parts * FAST_ROWS + 1) * depth * 2, parts * depth * PANEL_MAX,
        parts * depth * PANEL_MAX,          2 * depth,
        (size_t)FAST_ROWS * PANEL_MAX,      (slice_sets(job) + kept) * SET
    };
    float *part[6];
    size_t bytes = 0;
    for (int i = 0; i < 6; i++) {
        part[i] = scratch;
        if (scratch) scratch += count[i];
        bytes += count[i] * sizeof *scratch;
    }
    t->a = (union fast_element *)part[0];
    t->b = part[1];
    t->b_exponent = (char *)part[2];
    t->line = (union fast_element *)part[3];
    t->partial = part[4];
    t->sums = part[5];
    return bytes;
}

size_t fast_scratch_bytes(const struct job *job)
{
    struct tile t;
    return lay_out(&t, NULL, job);
}

/* --- exponents -------------------------------------------------------------------- */

/* The exponent is at least the smallest exponent of the format, also for values that are
   flushed. */
static int exponent_of(const struct bitcut_unit *u, uint32_t magnitude)
{
    const int e = unit_read(u, u->a, magnitude).exponent,
              least = fast_format_range(u).low;
    return e > least ? e : least;
}

/* The range of exponents of lines [first, first + count) without NaN and Inf; 0 if all
   elements are zero. */
static struct fast_range lines_range(const struct parts *w, const struct bitcut_unit *u,
                                     size_t first, size_t count)
{
    struct magnitudes all = { INT32_MAX, 0 };
    for (size_t i = first; i < first + count; i++) {
        const struct magnitudes m = w->magnitudes[i];
        if (parts_special(w, i)) continue;
        if (m.least < all.least) all.least = m.least;
        if (m.most > all.most) all.most = m.most;
    }
    if (all.most == 0) return (struct fast_range){ 0, 0 };
    return (struct fast_range){ exponent_of(u, all.least), exponent_of(u, all.most) };
}

/* The number of powers of two by which terms scale an accumulator in a tile of k. */
static int lowered_by(const struct job *job)
{
    int n = 0;
    for (int i = 0; i < job->plan->terms; i++) n += job->plan->term[i].scaled;
    return n * job->plan->scale;
}

/* Choose a method and units for a tile; false if there is none. */
static bool tile_fits(struct tile *t)
{
    const struct bitcut_unit *u = t->unit;
    struct fast_range a = fast_format_range(u), b = a;
    int base_a, base_b;
    if (!fast_range_fits(a)) {
        a = lines_range(&t->job->a, u, t->i0, t->rows);
        b = lines_range(&t->job->b, u, t->j0, t->cols);
    }
    t->rule.lowered = lowered_by(t->job);
    if (!fast_rule_fit(&t->rule, &base_a, &base_b, u, a, b)) return false;
    t->kernel = &t->job->kernels->method[t->rule.method];
    t->unit_exponent = base_a + base_b;
    t->a_format = fast_format_make(u, base_a, t->kernel->packing);
    t->b_format = fast_format_make(u, base_b, t->kernel->packing);
    return true;
}

/* --- packing ---------------------------------------------------------------------- */

static const char *parts_at(const struct parts *w, int part, size_t line, size_t k)
{
    return (const char *)w->at[part] +
           parts_index(w, line, k) * (size_t)format_bytes(w->format[part]);
}

/* Pack one row of A: the elements of each block to their positions. */
static void pack_line(struct tile *t, union fast_element *to, size_t row, size_t count)
{
    const size_t block = (size_t)t->rule.block, k = (size_t)t->unit->k;
    const bool ascending = t->unit->order == K_ASCENDING;
    for (size_t i = 0; i < count; i += block) {
        union fast_element *at = to + i * t->rows + row * block;
        for (size_t p = 0; p < block; p++)
            at[p] = t->line[ascending ? i + p : i / k * k + (size_t)t->at[(i + p) % k]];
    }
}

/* The part that all interleaved terms read, or -1 if there are several terms. */
static int only_part(const struct job *job, int part)
{
    return job->schedule.together == 1 ? part : -1;
}

/* Pack k [from, from + count) of all rows of the tile, for one part, or for all parts if
   it is -1. */
static void pack_a(struct tile *t, int only, size_t from, size_t count)
{
    const struct parts *w = &t->job->a;
    for (int j = 0; j < w->count; j++)
        for (size_t i = 0; i < t->rows && (only < 0 || j == only); i++) {
            t->kernels->pack_a(t->line, parts_at(w, j, t->i0 + i, from), count,
                               &t->a_format);
            pack_line(t, t->a + (size_t)j * DEPTH * FAST_ROWS, i, count);
        }
}

/* Bytes of an exponent of packed B. */
static size_t exponent_bytes(const struct tile *t)
{
    return t->kernel->packing == FAST_INTS ? 4 : 1;
}

/* Pack the same k of the columns of a panel. */
static void pack_b(struct tile *t, int only, size_t panel, size_t from, size_t count)
{
    const struct parts *w = &t->job->b;
    const size_t columns = (size_t)t->kernels->columns, k = (size_t)t->unit->k;
    for (int j = 0; j < w->count; j++)
        for (size_t p = 0; p < count && (only < 0 || j == only); p++) {
            const size_t at = ((size_t)j * DEPTH + p) * columns;
            const size_t row = from + p / k * k + (size_t)t->at[p % k];
            t->kernels->pack_b(t->b + at, t->b_exponent + at * exponent_bytes(t),
                               parts_at(w, j, t->j0 + panel * columns, row),
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

/* sum = sum + x, in the accumulators' format. */
static void add(const struct tile *t, float *sum, float *x)
{
    const size_t count = t->rows * (size_t)t->kernels->columns;
    (t->rule.half ? t->kernels->add_f16 : t->kernels->add_f32)(sum, x, count);
}

/* c += the products [at, at + unit->k) of two packed parts, one instruction. */
static void multiply(struct tile *t, float *c, struct recipe_term term, size_t at)
{
    const struct fast_rule *r = &t->rule;
    const size_t columns = (size_t)t->kernels->columns, k = (size_t)t->unit->k;
    float *sum = t->unit->c_last ? t->partial : c;
    if (t->kernel->toward_zero) hostfp_truncate();
    for (size_t p = at; p < at + k; p += (size_t)r->block) {
        const union fast_element *a =
            t->a + (size_t)term.a * FAST_ROWS * DEPTH + p * t->rows;
        const size_t b = ((size_t)term.b * DEPTH + p) * columns;
        t->kernel->block(sum, a, t->b + b, t->b_exponent + b * exponent_bytes(t), t->rows,
                         r);
    }
    if (t->kernel->toward_zero) hostfp_default();
    if (t->unit->c_last) add(t, c, sum);
}

/* Promote the sums of a panel with the factors of k.  The register has the units of
   FP32. */
static void promote_scaled(struct tile *t, size_t panel, size_t k)
{
    const size_t columns = (size_t)t->kernels->columns, from = panel * columns;
    const float unit = float_of_bits(f32_power_of_two(t->unit_exponent));
    float *sum = panel_sums(t, 0, panel), *reg = panel_sums(t, main_set(t->job), panel);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < smaller(columns, t->cols - from); j++) {
            const size_t at = i * columns + j;
            reg[at] = float_of_bits(job_promote(t->job, bits_of_float(sum[at] * unit),
                                                bits_of_float(reg[at]), t->i0 + i,
                                                t->j0 + from + j, k));
        }
    memset(sum, 0, t->rows * columns * sizeof *sum);
}

static bool scales_promotions(const struct tile *t)
{
    return t->job->plan->scaling >= BITCUT_SCALING_PROMOTED;
}

/* Promote the sums of a panel, whose last k-step contains k. */
static void promote(struct tile *t, size_t panel, size_t k)
{
    if (scales_promotions(t)) promote_scaled(t, panel, k);
    else
        t->kernels->add_f32(panel_sums(t, main_set(t->job), panel),
                            panel_sums(t, 0, panel),
                            t->rows * (size_t)t->kernels->columns);
}

/* Prepare the accumulators of term `first` at the start of its part of a tile of k, for
   all sums. */
static void prepare(struct tile *t, int first)
{
    const struct gemm_plan *p = t->job->plan;
    const struct recipe_term term = p->term[first];
    const int scale = term.scaled ? p->scale : 0;
    const float factor = float_of_bits(f32_power_of_two(-scale));
    const uint32_t from =
        first + 1 == p->terms ? t->job->schedule.zeroed_from : 0x80000000;
    if (scale == 0 && from == 0x80000000) return;
    for (size_t panel = 0; panel < panel_count(t); panel++) {
        float *sum = panel_sums(t, (size_t)term.accumulator, panel);
        for (size_t i = 0; i < t->rows * (size_t)t->kernels->columns; i++) {
            sum[i] *= factor;
            if ((bits_of_float(sum[i]) & 0x7fffffff) >= from) sum[i] = 0;
        }
    }
}

/* Run packed k-steps of a panel from k on, with the interleaved terms from `first` on,
   after `done` instructions of accumulator 0 since its last promotion.  Returns the new
   number of these instructions. */
static size_t panel_steps(struct tile *t, size_t panel, size_t k, size_t steps, int first,
                          size_t done)
{
    const struct job *job = t->job;
    for (size_t s = 0; s < steps; s++)
        for (int i = first; i < first + job->schedule.together; i++) {
            const struct recipe_term term = job->plan->term[i];
            multiply(t, panel_sums(t, (size_t)term.accumulator, panel), term,
                     s * (size_t)t->unit->k);
            if (term.accumulator || ++done != (size_t)job->plan->promote) continue;
            promote(t, panel, k + s * (size_t)t->unit->k);
            done = 0;
        }
    return done;
}

static float as_kept(const struct job *job, size_t sequence, int added, float sum)
{
    return job->plan->order.partial_format
               ? float_of_bits(job_sum(job, sequence, added, bits_of_float(sum)))
               : sum;
}

/* Finish a sequence for outputs [at, at + count) of each set: fold, and add the last
   retained sums. */
static void fold(struct tile *t, size_t at, size_t count, size_t sequence)
{
    const struct job *job = t->job;
    const int adds = job->parts.adds[sequence];
    const int last = job->plan->accumulators - 1;
    const int exponent = scales_promotions(t) ? 0 : t->unit_exponent;
    const float unit = float_of_bits(f32_power_of_two(exponent));
    const uint32_t scale = f32_power_of_two(-job->plan->scale);
    const float *main = t->sums + main_set(job) * SET + at;
    float *total = t->sums + (total_set(job) + (size_t)(t->kept - adds)) * SET + at;
    if (total == main && exponent == 0 && !job->plan->order.partial_format) return;
    for (size_t i = 0; i < count; i++) {
        float v = (last ? t->sums + (size_t)last * SET + at : main)[i] * unit;
        for (int j = last - 1; j >= 0; j--) {
            const float below = (j ? t->sums + (size_t)j * SET + at : main)[i] * unit;
            v = float_of_bits(
                job_fma(&job->schedule, bits_of_float(v), scale, bits_of_float(below)));
        }
        v = as_kept(job, sequence, 0, v);
        for (int j = adds - 1; j >= 0; j--)
            v = as_kept(job, sequence, adds - j, v + total[(size_t)j * SET + i]);
        total[i] = v;
    }
}

/* Run k-steps [from, to) with the interleaved terms from `first` on. */
static void tile_terms(struct tile *t, size_t from, size_t to, int first)
{
    const size_t k = (size_t)t->unit->k, count = DEPTH / k;
    const struct recipe_term term = t->job->plan->term[first];
    prepare(t, first);
    for (size_t s = from, steps; s < to && !progress_stopped(t->job->progress);
         s += steps) {
        size_t done = 0;
        steps = smaller(count - s % count, to - s); /* never across runs of parts */
        pack_a(t, only_part(t->job, term.a), s * k, steps * k);
        for (size_t p = 0; p < panel_count(t); p++) {
            pack_b(t, only_part(t->job, term.b), p, s * k, steps * k);
            done = panel_steps(t, p, s * k, steps, first, t->done);
        }
        t->done = done;
    }
}

/* Compute a tile of k, or a whole slice: every term, and the promotion at the end. */
static void tile_of_k(struct tile *t, size_t from, size_t to)
{
    const struct schedule *s = &t->job->schedule;
    for (int first = 0; first < t->job->plan->terms; first += s->together)
        tile_terms(t, from, to, first);
    if (s->promotes && t->done)
        for (size_t p = 0; p < panel_count(t); p++)
            promote(t, p, (to - 1) * (size_t)t->unit->k);
    t->done = 0;
}

/* Clear the first sets, as far as the tile has outputs; a small tile has few. */
static void clear_sums(struct tile *t, size_t sets)
{
    const size_t columns = (size_t)t->kernels->columns;
    for (size_t set = 0; set < sets; set++)
        for (size_t p = 0; p < panel_count(t); p++)
            memset(panel_sums(t, set, p), 0, t->rows * columns * sizeof *t->sums);
}

/* Whether accumulators can start from any sum in FP32: kernels of scalar units hold them
   as they are. */
static bool can_resume(const struct tile *t)
{
    return (t->rule.method == FAST_CHAIN || t->rule.method == FAST_MULTIPLY_ADD) &&
           t->unit_exponent == 0;
}

/* Start accumulator 0 from the sums that were retained last. */
static void resume_sums(struct tile *t)
{
    const size_t last = total_set(t->job) + (size_t)--t->kept,
                 bytes = t->rows * (size_t)t->kernels->columns * sizeof *t->sums;
    for (size_t p = 0; p < panel_count(t); p++)
        memcpy(panel_sums(t, 0, p), panel_sums(t, last, p), bytes);
}

/* --- starting from C or a bias ---------------------------------------------------- */

static bool starts_in_accumulator(const struct job *job)
{
    return job->plan->start == BITCUT_START_C || job->plan->start == BITCUT_START_BIAS;
}

bool fast_starts(const struct job *job)
{
    const struct gemm_plan *p = job->plan;
    return !p->start || (starts_in_accumulator(job) && p->accumulators == 1 &&
                         !p->promote && !p->tile_k);
}

/* Whether the method aligns an accumulator with products as the unit does, or adds to it
   as the unit does, whatever it starts from within the limits of can_hold(). */
static bool method_starts(const struct tile *t)
{
    return t->rule.method <= FAST_CHAIN && !t->unit->flush_inputs && !t->unit->c_last;
}

/* Whether a kernel holds an accumulator that starts from x, in its units.  A product of
   zero has an exponent above that of smaller values, and sums with larger values may
   overflow. */
static bool can_hold(float x)
{
    const uint32_t bits = bits_of_float(x), magnitude = bits & 0x7fffffff;
    return bits == 0 ||
           (magnitude >= f32_power_of_two(-63) && magnitude < f32_power_of_two(100));
}

/* Start accumulator 0 from C or the bias.  A row that the kernel cannot hold is left to
   the engine. */
static void start_sums(struct tile *t, bool left[FAST_ROWS])
{
    const struct bitcut_format *const sum = t->job->schedule.sum[0];
    const size_t columns = (size_t)t->kernels->columns;
    const float unit = float_of_bits(f32_power_of_two(-t->unit_exponent));
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) {
            const uint32_t c = job_start(t->job, t->i0 + i, t->j0 + j);
            const float x =
                float_of_bits(f32_through(sum, &roundings[ROUND_RN], c)) * unit;
            left[i] |= !can_hold(x);
            panel_sums(t, 0, j / columns)[i * columns + j % columns] =
                can_hold(x) ? x : 0;
        }
}

/* Compute a sequence: one lane of a slice, or the k that its lanes do not share. */
static void tile_sequence(struct tile *t, size_t sequence, bool left[FAST_ROWS])
{
    const struct k_parts *order = &t->job->parts;
    const size_t from = order->first[sequence], to = order->first[sequence + 1];
    clear_sums(t, slice_sets(t->job));
    if (k_parts_resumes(order, sequence)) resume_sums(t);
    else if (sequence == t->job->first && starts_in_accumulator(t->job))
        start_sums(t, left);
    for (size_t s = from; s < to && !progress_stopped(t->job->progress);
         s += t->job->schedule.tile)
        tile_of_k(t, s, smaller(s + t->job->schedule.tile, to));
    const size_t columns = (size_t)t->kernels->columns;
    for (size_t p = 0; p < panel_count(t); p++)
        fold(t, p * FAST_ROWS * columns, t->rows * columns, sequence);
    t->kept += 1 - order->adds[sequence];
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

bool fast_tile(bool left[FAST_ROWS], const struct job *job, void *scratch, size_t i0,
               size_t j0)
{
    assert(hostfp_entered());
    struct tile t = { .job = job,
                      .unit = job->unit,
                      .kernels = job->kernels,
                      .i0 = i0,
                      .j0 = j0,
                      .rows = smaller(FAST_ROWS, job->m - i0),
                      .cols = smaller(FAST_COLUMNS, job->n - j0) };
    const bool taken = fast_rule_make(&t.rule, t.unit);
    assert(taken);
    if (!taken || !tile_fits(&t) || (job->parts.resumes && !can_resume(&t)) ||
        (job->plan->start && (!job->parts.count || !method_starts(&t))))
        return false;
    lay_out(&t, scratch, job);
    unit_order(t.at, t.unit->k, t.unit->order);
    /* With c_last, a partial sum is added to an accumulator and cleared again. */
    memset(t.partial, 0, t.rows * PANEL_MAX * sizeof *t.partial);
    memset(left, 0, FAST_ROWS * sizeof *left);
    for (size_t s = 0; s < job->parts.count; s++) tile_sequence(&t, s, left);
    if (job->parts.count == 0) clear_sums(&t, slice_sets(job) + 1);
    tile_finish(&t);
    return true;
}
