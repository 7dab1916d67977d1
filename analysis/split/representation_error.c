/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/split/representation_error.h"

#include "emu/parts.h"
#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"

#include <math.h>
#include <stdlib.h>

/* The smallest normal number of a format, for parts multiplied by 1 / unit.  Integers
   have none, and no underflow. */
static double least_normal(const struct bitcut_format *f, double unit)
{
    return format_is_integer(f) ? 0 : ldexp(unit, format_emin(f));
}

struct retained_reader retained_reader_of(const struct gemm_plan *p,
                                          enum bitcut_operand which)
{
    struct retained_reader r = { .split = which == BITCUT_A ? &p->split_a : &p->split_b };
    for (int w = 0; w < r.split->parts; w++) {
        const struct bitcut_unit *u = gemm_plan_reader(p, which, w);
        const struct bitcut_format *own = r.split->part[w].format,
                                   *read = !u                  ? own
                                           : which == BITCUT_A ? u->a
                                                               : u->b;
        r.unit[w] = ldexp(1, -r.split->scale * r.split->part[w].level);
        r.small[w] = least_normal(own, r.unit[w]);
        r.least[w] = least_normal(read, r.unit[w]);
        r.flush[w] = u && unit_flushes_operands(u);
        r.aligns[w] = u && summation_aligns(u);
    }
    return r;
}

int retained_exponent(const struct gemm_plan *p, const struct retained_reader *r,
                      const uint32_t *line, size_t k, size_t stride)
{
    uint32_t largest = 0;
    if (!p->equilibrate) return 0;
    for (size_t i = 0; i < k; i++)
        largest = equilibrate_larger(largest, line[i * stride]);
    return equilibrate_exponent(r->split, largest);
}

/* --- one element ------------------------------------------------------------------ */

/* The element x, 2^exponent times it for equilibrated lines, with these parts. */
static struct retained_event retained_from(struct retained *to,
                                           const struct retained_reader *r, uint32_t x,
                                           int exponent,
                                           const double part[SPLIT_PARTS_MAX])
{
    const struct bitcut_split *const s = r->split;
    const double whole =
        exponent ? double_scaled(value_of_float(x), exponent) : value_of_float(x);
    struct retained_event event = { false, false };
    double rest = whole;
    *to = (struct retained){ .at = { [RETAINED_WHOLE] = fabs(whole) } };
    for (int w = 0; w < s->parts; w++) {
        double value = r->unit[w] * part[w];
        if (r->flush[w] && fabs(value) < r->least[w]) value = 0;
        event.large |= !isfinite(value);
        if (!s->part[w].copy) {
            event.small |= rest != 0 && fabs(value) < r->small[w];
            rest -= value;
        }
        to->at[RETAINED_LEFT + w] = value;
        to->at[RETAINED_PART + w] = fabs(value);
    }
    to->at[RETAINED_REST] = fabs(rest);
    for (int w = 0; w < s->parts; w++)
        to->at[RETAINED_LEFT + w] = fabs(whole - rest - to->at[RETAINED_LEFT + w]);
    return event;
}

/* The element that is split. */
static uint32_t split_element(uint32_t x, int exponent)
{
    return exponent ? equilibrate_scale(x, exponent) : x;
}

struct retained_event retained_of(struct retained *to, const struct retained_reader *r,
                                  uint32_t x, size_t k, int exponent)
{
    const struct bitcut_split *const s = r->split;
    uint64_t encoding[SPLIT_PARTS_MAX];
    double part[SPLIT_PARTS_MAX];
    split_apply_at(encoding, s, split_element(x, exponent), k);
    for (int w = 0; w < s->parts; w++)
        part[w] = format_to_double(s->part[w].format, encoding[w]);
    return retained_from(to, r, x, exponent, part);
}

/* Make the parts of elements from k on. */
static void make_block(struct retained_block *b, const struct retained_reader *r,
                       const uint32_t *at, size_t stride, size_t length, size_t k,
                       int exponent)
{
    double *const part[SPLIT_PARTS_MAX] = { b->part[0], b->part[1], b->part[2] };
    uint32_t x[RETAINED_BLOCK];
    b->from = k;
    b->count = smaller(RETAINED_BLOCK, length - k);
    for (size_t i = 0; i < b->count; i++)
        x[i] = split_element(at[(k + i) * stride], exponent);
    b->known =
        !split_is_stochastic(r->split) && parts_values(part, r->split, x, 1, b->count);
}

struct retained_event retained_next(struct retained *to, struct retained_block *b,
                                    const struct retained_reader *r, const uint32_t *at,
                                    size_t stride, size_t length, size_t k, int exponent)
{
    double part[SPLIT_PARTS_MAX];
    if (k < b->from || k >= b->from + b->count)
        make_block(b, r, at, stride, length, k, exponent);
    const uint32_t x = at[k * stride];
    if (!b->known) return retained_of(to, r, x, k, exponent);
    for (int w = 0; w < r->split->parts; w++) part[w] = b->part[w][k - b->from];
    return retained_from(to, r, x, exponent, part);
}

void retained_align(struct retained *x, const struct retained_reader *r)
{
    for (int w = 0; w < r->split->parts; w++)
        if (r->aligns[w] && x->at[RETAINED_PART + w] != 0)
            x->at[RETAINED_PART + w] =
                larger_double(x->at[RETAINED_PART + w], r->least[w]);
}

/* --- all elements ----------------------------------------------------------------- */

/* Residuals of all x of one binade, [2^23, 2^24) in ulps of x, are integers up to `most`.
   The result is the largest error of rounding them to this many fraction bits: they fill
   the top binade, and a power of two has all its bits. */
static double left_of(double most, int fraction_bits, bool nearest)
{
    int exponent;
    if (most <= 1) return 0;
    frexp(most - 1, &exponent); /* 2^(exponent - 1) <= most - 1 < 2^exponent */
    const double spacing = ldexp(1, exponent - 1 - fraction_bits);
    return spacing <= 1 ? 0 : nearest ? spacing / 2 : spacing - 1;
}

enum { ULPS = 1 << 23, ULPS_MAX = 2 * ULPS - 1 }; /* values x of one binade */

/* An upper bound of a residual: `ulps` ulps of x, or, for x below the normal range of
   some part, `beside`. */
struct residual {
    double ulps, beside;
};

/* The last place of a part's subnormal numbers, or of all numbers of an integer format.
 */
static double place_of(const struct retained_reader *r, int w)
{
    return ldexp(r->unit[w], format_least_exponent(r->split->part[w].format));
}

/* The largest error of part w of a residual, or of x itself, if it is the high part or a
   copy.  An integer has an error of half a unit, or where it saturates of a whole one
   (lib/number/equilibrate.h). */
static struct residual leave(const struct retained_reader *r, int w, struct residual x)
{
    const struct split_part *const part = &r->split->part[w];
    if (format_is_integer(part->format)) return (struct residual){ 0, place_of(r, w) };
    const bool nearest = round_is_nearest(part->rounding), own = w == 0 || part->copy;
    const double place = place_of(r, w) / (nearest ? 2 : 1),
                 least = part->rounding->flush ? r->small[w] : place,
                 of_x = round_error(part->format, part->rounding->direction);
    return (
        struct residual){ .ulps = left_of(x.ulps, part->format->fraction_bits, nearest),
                          .beside = own ? least : larger_double(of_x * x.beside, least) };
}

/* The smallest x, a power of two, for which part w is the same as with more exponents in
   its format: it is normal, or its last place is at most `places` ulps of x.  For
   integers no x is large enough. */
static double least_of(const struct retained_reader *r, int w, struct residual before,
                       double places)
{
    const bool own = w == 0 || r->split->part[w].copy,
               zeroes = r->flush[w] || r->split->part[w].rounding->flush;
    const double normal = larger_double(r->small[w], r->least[w]);
    if (format_is_integer(r->split->part[w].format)) return (double)INFINITY;
    if (before.ulps == 0 || (place_of(r, w) <= 0x1p-149 && !zeroes)) return 0;
    return own ? normal : ULPS * (zeroes ? normal : place_of(r, w) / places);
}

/* The smallest x for which its error is at most that, and its aligned magnitude at most
   `times` of x. */
static double from_of(const struct retained_reader *r, int w, struct residual before,
                      double after, double times)
{
    const bool nearest = round_is_nearest(r->split->part[w].rounding);
    const double places = after == 0 ? 1
                          : nearest  ? 2 * after
                                     : after + 1,
                 least = least_of(r, w, before, places);
    return least == 0 ? 0 : larger_double(least, r->aligns[w] ? r->least[w] / times : 0);
}

/* The largest x for which part w, at most `times` of x, does not overflow. */
static double most_of(const struct retained_reader *r, int w, double times)
{
    const struct bitcut_format *const f = r->split->part[w].format;
    const double largest = format_to_double(f, format_largest(f, false));
    return times > 0 ? r->unit[w] * largest / times : (double)INFINITY;
}

/* Add part w, which represents the residual `before` of x.  For x with a normal high
   part, nothing in that part underflows. */
static struct residual add_part(struct retained_max *to, const struct retained_reader *r,
                                int w, struct residual before, bool normal)
{
    struct residual after = leave(r, w, before);
    const bool copy = r->split->part[w].copy, own = w == 0 || copy,
               down = r->split->part[w].rounding->direction == TO_ZERO,
               sure = normal && w == 0;
    if (sure) after.beside = 0;
    const double lost = r->flush[w] && !sure ? r->least[w] : 0,
                 least = r->aligns[w] && !sure ? r->least[w] : 0,
                 times = ((own ? ULPS : before.ulps) + (down ? 0 : after.ulps)) / ULPS;
    to->times.at[RETAINED_PART + w] = times;
    to->times.at[RETAINED_LEFT + w] = after.ulps / ULPS;
    to->beside.at[RETAINED_PART + w] = (own ? 0 : before.beside) + after.beside + least;
    to->beside.at[RETAINED_LEFT + w] = after.beside + lost;
    if (!copy) to->beside.at[RETAINED_REST] += lost;
    to->full = larger_double(to->full, least_of(r, w, before, 1));
    to->from = larger_double(to->from, from_of(r, w, before, after.ulps, times));
    to->most = fmin(to->most, most_of(r, w, times));
    return after;
}

static struct retained_max most_of_all(const struct retained_reader *r, bool normal)
{
    const struct residual all = { ULPS_MAX, 0 };
    struct retained_max to = { .times.at[RETAINED_WHOLE] = 1, .most = (double)INFINITY };
    struct residual now = all;
    for (int w = 0; w < r->split->parts; w++) {
        const bool copy = r->split->part[w].copy;
        const struct residual after = add_part(&to, r, w, copy ? all : now, normal);
        if (!copy) now = after;
    }
    to.times.at[RETAINED_REST] = now.ulps / ULPS;
    to.beside.at[RETAINED_REST] += now.beside;
    for (int w = 0; w < r->split->parts; w++) {
        to.times.at[RETAINED_LEFT + w] += to.times.at[RETAINED_REST];
        to.beside.at[RETAINED_LEFT + w] += to.beside.at[RETAINED_REST];
    }
    return to;
}

struct retained_max retained_max_of(const struct retained_reader *r)
{
    struct retained_max to = most_of_all(r, false);
    to.low = most_of_all(r, true).beside;
    to.normal = larger_double(r->small[0], r->least[0]);
    return to;
}

/* --- products --------------------------------------------------------------------- */

/* The number of terms with the product of two parts; a copy stands for all parts. */
static int terms_with(const struct gemm_plan *p, int i, int j)
{
    int count = 0;
    for (int t = 0; t < p->terms; t++) {
        const int a = p->term[t].a, b = p->term[t].b;
        count +=
            (a == i || p->split_a.part[a].copy) && (b == j || p->split_b.part[b].copy);
    }
    return count;
}

/* The residuals of copies in a term. */
static double copies_lost(const struct gemm_plan *p, struct recipe_term t,
                          const struct retained *a, const struct retained *b)
{
    const bool copy_a = p->split_a.part[t.a].copy, copy_b = p->split_b.part[t.b].copy;
    const double left_a = copy_a ? a->at[RETAINED_LEFT + t.a] : 0,
                 left_b = copy_b ? b->at[RETAINED_LEFT + t.b] : 0;
    const double of_a = copy_a ? a->at[RETAINED_WHOLE] + a->at[RETAINED_REST]
                               : a->at[RETAINED_PART + t.a],
                 of_b = copy_b ? b->at[RETAINED_WHOLE] + b->at[RETAINED_REST]
                               : b->at[RETAINED_PART + t.b];
    return left_a * of_b + left_b * of_a + left_a * left_b;
}

double retained_lost(const struct gemm_plan *p, const struct retained *a,
                     const struct retained *b)
{
    double sum = a->at[RETAINED_REST] * b->at[RETAINED_WHOLE] +
                 a->at[RETAINED_WHOLE] * b->at[RETAINED_REST] +
                 a->at[RETAINED_REST] * b->at[RETAINED_REST];
    for (int i = 0; i < p->split_a.parts; i++)
        for (int j = 0; j < p->split_b.parts; j++) {
            if (p->split_a.part[i].copy || p->split_b.part[j].copy) continue;
            const int wrong = abs(terms_with(p, i, j) - 1);
            if (wrong) sum += wrong * a->at[RETAINED_PART + i] * b->at[RETAINED_PART + j];
        }
    for (int t = 0; t < p->terms; t++) sum += copies_lost(p, p->term[t], a, b);
    return sum;
}
