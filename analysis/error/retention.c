#include "analysis/error/retention.h"

#include "analysis/error/binade.h"
#include "emu/fast/simd.h"
#include "lib/hostfp.h"
#include "lib/rand.h"
#include "lib/size.h"
#include "lib/threads.h"
#include "lib/wide.h"

#include <math.h>
#include <stdlib.h>

/* Values are counted in runs of this many, one thread each. */
enum { RUN = 1 << 14 };

/* What a run of values adds up to. */
struct tally {
    uint64_t count, exact, bits, subnormal, zero, overflow;
    double ulps, max_ulp, max_relative, max_low;
};

/* --- one value -------------------------------------------------------------------- */

struct outcome {
    double value, ulps, relative; /* x, and the error in ulps of x and against x */
    double low;                   /* |2^-s w1| */
    int bits;
    bool overflow, subnormal, zero;
};

/* Word `at` of the split as an exact term of x less their sum. */
static struct term word_term(const struct bitcut_split *s, struct number w, int at)
{
    const int down = s->word[at].format->fraction_bits + s->scale * s->word[at].level;
    return (struct term){ w.significand, w.exponent - down, !w.negative };
}

/* |x| in units of 2^exponent; its top 64 bits decide. */
static double size_in(struct unrounded x, int exponent)
{
    return ldexp((double)x.significand, x.exponent - exponent);
}

static struct outcome judge(const struct bitcut_split *s, uint32_t x)
{
    uint64_t word[SPLIT_WORDS_MOST];
    struct term terms[SPLIT_WORDS_MOST + 1];
    int count = 1;
    const struct number value = format_decode(&formats[FORMAT_F32], x);
    const int last = value.exponent - 23; /* an ulp of x is 2^last */
    struct outcome o = { .value = format_to_double(&formats[FORMAT_F32], x) };
    split_words(word, s, x);
    terms[0] = (struct term){ value.significand, last, false };
    for (int i = 0; i < s->words; i++) {
        const struct bitcut_format *f = s->word[i].format;
        const struct number w = format_decode(f, word[i]);
        if (w.kind >= NUMBER_INF) return (struct outcome){ .overflow = true };
        if (s->word[i].copy) continue;
        if (i == 1 && wide_sum(terms, 2).significand != 0) {
            o.zero = w.kind == NUMBER_ZERO;
            o.subnormal = w.significand >> f->fraction_bits == 0;
        }
        terms[count++] = word_term(s, w, i);
        if (i == 1) o.low = size_in(wide_sum(&terms[2], 1), 0);
    }
    o.ulps = size_in(wide_sum(terms, count), last);
    o.relative = ldexp(o.ulps, last) / o.value;
    o.bits = o.ulps == 0 ? 23 : 22 - ilogb(o.ulps);
    if (o.bits < 0) o.bits = 0;
    return o;
}

bool retention_of(int *bits, double *ulps, const struct bitcut_split *split, uint32_t x)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const struct outcome o = judge(split, x);
    hostfp_leave(&mode);
    *bits = o.bits;
    *ulps = o.ulps;
    return !o.overflow;
}

/* --- many values ------------------------------------------------------------------ */

static void tally_add(struct tally *t, struct outcome o)
{
    t->count++;
    t->overflow += o.overflow;
    if (o.overflow) return;
    t->exact += o.ulps == 0;
    t->bits += (uint64_t)o.bits;
    t->ulps += o.ulps;
    t->subnormal += o.subnormal;
    t->zero += o.zero;
    t->max_ulp = larger_double(t->max_ulp, o.ulps);
    t->max_relative = larger_double(t->max_relative, o.relative);
    t->max_low = larger_double(t->max_low, o.low / o.value);
}

static void tally_merge(struct tally *t, const struct tally *from)
{
    t->count += from->count;
    t->exact += from->exact;
    t->bits += from->bits;
    t->ulps += from->ulps;
    t->subnormal += from->subnormal;
    t->zero += from->zero;
    t->overflow += from->overflow;
    t->max_ulp = larger_double(t->max_ulp, from->max_ulp);
    t->max_relative = larger_double(t->max_relative, from->max_relative);
    t->max_low = larger_double(t->max_low, from->max_low);
}

/* What values are counted: fraction i of the binade, or random fraction i of the seed. */
struct choice {
    const struct bitcut_split *split;
    int e;
    bool sampled;
    uint64_t seed;
    struct binade binade;
    const struct fast_kernels *kernels; /* NULL: judge() is the way */
};

static uint32_t choose(const struct choice *c, size_t i)
{
    const uint32_t fraction =
        c->sampled ? rand_word(c->seed, 0, i) & (SIGNIFICANDS - 1) : (uint32_t)i;
    return (uint32_t)(c->e + 127) << 23 | fraction;
}

/* --- many values at a time --------------------------------------------------------- */

/* The larger ones of `over` / `under` and of so many others; `most` is the largest
   numerator of these, `least` no more than any of their denominators.  Exact: all are
   below 2^26, and products of two are exact in binary64. */
struct ratio {
    double over, under;
};

static void ratio_raise(struct ratio *best, const int32_t *over, const int32_t *under,
                        int32_t most, int32_t least)
{
    if (most * best->under <= best->over * least) return;
    for (int i = 0; i < FAST_BLOCK; i++)
        if (over[i] * best->under > best->over * under[i])
            *best = (struct ratio){ over[i], under[i] };
}

struct ratios {
    struct ratio relative, low;
};

/* FAST_BLOCK values from the first. */
static void block_add(struct tally *t, struct ratios *r, const struct choice *c,
                      size_t first)
{
    _Alignas(64) int32_t x[FAST_BLOCK], rest[FAST_BLOCK], low[FAST_BLOCK];
    struct fast_kept k;
    for (size_t i = 0; i < FAST_BLOCK; i++)
        x[i] = (int32_t)(choose(c, first + i) & (SIGNIFICANDS - 1)) | SIGNIFICANDS;
    c->kernels->keep(&k, rest, low, x, c->binade.word, c->binade.words);
    const int32_t least = c->sampled ? SIGNIFICANDS : x[0];
    ratio_raise(&r->relative, rest, x, k.most, least);
    ratio_raise(&r->low, low, x, k.most_low, least);
    t->count += FAST_BLOCK;
    t->exact += k.exact;
    t->bits += k.bits;
    t->subnormal += k.subnormal;
    t->zero += k.zero;
    t->overflow += k.overflow;
    t->ulps += (double)k.ulps;
    t->max_ulp = larger_double(t->max_ulp, k.most);
}

/* Whole blocks of [from, to), and how far they go. */
static size_t blocks_add(struct tally *t, const struct choice *c, size_t from, size_t to)
{
    struct ratios r = { { 0, 1 }, { 0, 1 } };
    for (; to - from >= FAST_BLOCK; from += FAST_BLOCK) block_add(t, &r, c, from);
    t->max_relative = r.relative.over / r.relative.under;
    t->max_low = r.low.over / r.low.under * c->binade.low_times;
    return from;
}

static struct tally run_tally(const struct choice *c, size_t from, size_t to)
{
    struct tally t = { 0 };
    struct hostfp mode;
    hostfp_enter(&mode);
    if (c->kernels) from = blocks_add(&t, c, from, to);
    for (; from < to; from++) tally_add(&t, judge(c->split, choose(c, from)));
    hostfp_leave(&mode);
    return t;
}

static struct retention summary(const struct tally *t)
{
    const double count = (double)t->count, finite = (double)(t->count - t->overflow);
    return (struct retention){
        .count = t->count,
        .exact = (double)t->exact / count,
        .bits = (double)t->bits / count,
        .max_ulp = t->max_ulp,
        .mean_ulp = finite > 0 ? t->ulps / finite : 0,
        .max_relative = t->max_relative,
        .max_low = t->max_low,
        .p_subnormal = (double)t->subnormal / count,
        .p_zero = (double)t->zero / count,
        .p_overflow = (double)t->overflow / count,
    };
}

/* All runs, each into its own tally. */
static void count_runs(struct tally *tallies, size_t runs, size_t count,
                       const struct choice *c, int threads,
                       const struct progress *progress)
{
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, runs))
    for (size_t i = 0; i < runs; i++) {
        if (progress_stopped(progress)) continue;
        const size_t to = (i + 1) * RUN < count ? (i + 1) * RUN : count;
        tallies[i] = run_tally(c, i * RUN, to);
    }
}

enum bitcut_status retention_count(struct retention *r, const struct bitcut_split *s,
                                   int e, size_t samples, uint64_t seed, int threads,
                                   const struct progress *progress, struct fault *f)
{
    const size_t count = samples ? samples : SIGNIFICANDS;
    const size_t runs = count / RUN + (count % RUN != 0);
    struct choice c = { .split = s, .e = e, .sampled = samples != 0, .seed = seed };
    struct tally *tallies = memory_allocate(runs, sizeof *tallies);
    struct tally total = { 0 };
    struct hostfp mode;
    if (!tallies)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the counts");
    if (binade_make(&c.binade, s, e)) c.kernels = simd_best()->kernels;
    count_runs(tallies, runs, count, &c, threads, progress);
    const bool stopped = progress_stopped(progress);
    hostfp_enter(&mode);
    for (size_t i = 0; !stopped && i < runs; i++) tally_merge(&total, &tallies[i]);
    if (!stopped) *r = summary(&total);
    hostfp_leave(&mode);
    free(tallies);
    return stopped ? fault_set(f, BITCUT_CANNOT, "stopped") : BITCUT_OK;
}

/* --- closed forms ----------------------------------------------------------------- */

/* The part of the residual's range that lies below 2^exponent 2^-s. */
static double part_below(const struct bitcut_split *s, int e, int exponent)
{
    const struct split_word *high = &s->word[0];
    const int range = e - high->format->fraction_bits - round_is_nearest(high->rounding);
    const int power = exponent - s->scale - range;
    return power >= 0 ? 1 : ldexp(1, power);
}

double retention_p_subnormal(const struct bitcut_split *s, int e)
{
    return s->words < 2 ? 0 : part_below(s, e, format_emin(s->word[1].format));
}

double retention_p_zero(const struct bitcut_split *s, int e)
{
    const struct split_word *low = &s->word[1];
    if (s->words < 2) return 0;
    return part_below(
        s, e, format_least_exponent(low->format) - round_is_nearest(low->rounding));
}
