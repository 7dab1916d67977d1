/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/mutant.h"

#include "analysis/evidence/order_equivalence.h"
#include "emu/summation.h"
#include "lib/base/size.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Whether the row reads any of these fields. */
static bool reads(const struct bitcut_unit *u, unsigned any)
{
    return summation_reads(u) & any;
}

/* --- the range of terms ----------------------------------------------------------- */

/* Exponents of the nonzero finite terms of a step. */
struct reach {
    int product_least; /* smallest alignment exponent of a product */
    int product_low;   /* every product is a multiple of 2^product_low              */
    int product_high;  /* every sum of a step's products is below 2^product_high    */
    int c_least, c_low;
};

/* The smallest exponent by which an operand of format f is aligned.  A subnormal has
   emin, that of the format to which it is converted if there is one.  If it is flushed,
   it has none. */
static int operand_least(const struct bitcut_unit *u, const struct bitcut_format *f)
{
    const int low = unit_flushes_operands(u) ? format_emin(f) : format_least_exponent(f);
    return larger_int(low, format_emin(u->via ? u->via : f));
}

static struct reach reach_of(const struct bitcut_unit *u)
{
    const int scale_low = u->scale ? 2 * format_least_exponent(u->scale) : 0;
    const int scale_least = u->scale ? 2 * format_emin(u->scale) : 0;
    const int scale_most = u->scale ? 2 * (format_emax(u->scale) + 1) : 0;
    const int low = format_least_exponent(u->a) + format_least_exponent(u->b);
    const int least = operand_least(u, u->a) + operand_least(u, u->b);
    int count_bits = 0;
    while (1 << count_bits < u->block) count_bits++;
    return (struct reach){
        .product_least = (u->normalise ? low : least) + scale_least,
        .product_low = low + scale_low,
        .product_high =
            format_emax(u->a) + format_emax(u->b) + 2 + scale_most + count_bits,
        .c_least = format_emin(u->c),
        .c_low = format_least_exponent(u->c),
    };
}

/* The lowest bit that a term of a step can have.  With c_last the accumulator is a sum of
   products with its low bits cut, so it has none below theirs. */
static int lowest_bit(const struct bitcut_unit *u)
{
    const struct reach r = reach_of(u);
    return u->c_last ? r.product_low : smaller_int(r.product_low, r.c_low);
}

/* --- the alignment exponent ------------------------------------------------------- */

/* No nonzero term has an exponent below either bound, so neither bound is ever the
   largest exponent; and without nonzero terms the sum is 0 at any alignment. */
static bool align_min_below_all(const struct bitcut_unit *u,
                                const struct bitcut_unit *mutant)
{
    const struct reach r = reach_of(u);
    if (reads(u, READS_GROUP)) return false; /* groups of zeros are aligned too */
    return larger_int(u->align_min, mutant->align_min) <=
           smaller_int(r.product_least, r.c_least);
}

/* Where one of the bounds decides the alignment, no term has a bit that is dropped: the
   lowest bit of all terms is not below the end of the higher bound.  Elsewhere both rows
   align by the same term. */
static bool align_min_drops_nothing(const struct bitcut_unit *u,
                                    const struct bitcut_unit *mutant)
{
    return lowest_bit(u) >= larger_int(u->align_min, mutant->align_min) - u->fraction;
}

/* --- conversion of operands ------------------------------------------------------- */

/* The conversion is exact, and the sum uses values and no exponents. */
static bool via_changes_no_value(const struct bitcut_unit *u,
                                 const struct bitcut_unit *mutant)
{
    (void)mutant;
    return !summation_aligns(u);
}

/* Operands have the same exponents in both: their smallest exponents are equal, and above
   them a number is aligned by its leading one. */
static bool via_changes_no_exponent(const struct bitcut_unit *u,
                                    const struct bitcut_unit *mutant)
{
    return operand_least(u, u->a) == operand_least(mutant, u->a) &&
           operand_least(u, u->b) == operand_least(mutant, u->b);
}

/* The largest exponent of a product with a factor of format f that the rows align
   differently: the larger of the factor's smallest exponents, plus the other factor's
   largest exponent.  Very low if they align all factors alike. */
static int via_reach(const struct bitcut_unit *u, const struct bitcut_unit *mutant,
                     const struct bitcut_format *f, const struct bitcut_format *other)
{
    if (operand_least(u, f) == operand_least(mutant, f)) return NUMBER_ZERO_EXPONENT;
    return larger_int(operand_least(u, f), operand_least(mutant, f)) + format_emax(other);
}

/* The rows align differently only where every product at the larger exponent has such a
   subnormal factor.  With c_last all bits are bits of products, and the lowest one is not
   dropped there. */
static bool via_drops_nothing(const struct bitcut_unit *u,
                              const struct bitcut_unit *mutant)
{
    const int most = larger_int(via_reach(u, mutant, u->a, u->b),
                            via_reach(u, mutant, u->b, u->a));
    return reads(u, READS_ALIGN_MIN) && u->c_last &&
           lowest_bit(u) >= most - u->fraction;
}

/* --- results out of range --------------------------------------------------------- */

static bool has_overflow(const struct bitcut_unit *u, const struct bitcut_unit *mutant,
                         enum overflow x, enum overflow y)
{
    const enum overflow a = u->rounding.overflow, b = mutant->rounding.overflow;
    return (a == x && b == y) || (a == y && b == x);
}

/* IEEE 754's overflow is infinity to nearest and the largest value toward zero. */
static bool overflow_is_ieee(const struct bitcut_unit *u,
                             const struct bitcut_unit *mutant)
{
    if (round_is_nearest(&u->rounding)) return has_overflow(u, mutant, OVERFLOW_IEEE, OVERFLOW_INF);
    return u->rounding.direction == TO_ZERO &&
           has_overflow(u, mutant, OVERFLOW_IEEE, OVERFLOW_SATURATE);
}

/* Overflow requires an accumulator near the largest value, whatever the products are.
   Rounding to nearest or toward zero: all products together are below half an ulp of that
   value, which is a result.  Toward zero with aligned terms: next to an accumulator with
   the largest exponent the products are dropped; with a smaller exponent the sum cannot
   reach 2^(emax + 1).  With c_last the products are added without the accumulator.  A
   floor may increase a magnitude, so none of this holds with `floor`, or for a c that
   joins a sum of products. */
static bool overflow_out_of_reach(const struct bitcut_unit *u,
                                  const struct bitcut_unit *mutant)
{
    const struct reach r = reach_of(u);
    const int emax = format_emax(u->result), ulp = emax - u->result->fraction_bits;
    const bool to_zero = u->rounding.direction == TO_ZERO;
    (void)mutant;
    if (u->floor) return false;
    if (reads(u, READS_SUM_FRACTION) && u->fraction < u->c->fraction_bits) return false;
    if (u->c_last) return r.product_high + (u->k / u->block) <= emax;
    if (!round_is_nearest(&u->rounding) && !to_zero) return false;
    if (u->result == u->c && r.product_high <= ulp - 2) return true;
    return to_zero && reads(u, READS_ALIGN_MIN) && r.product_high <= emax - u->fraction;
}

/* Whether every sum that is not 0 is at least 2^exponent before it is rounded.  It is a
   multiple of the lowest bit of its terms; for aligned terms also of the last bit
   retained below the smallest possible alignment exponent. */
static bool no_nonzero_sum_below(const struct bitcut_unit *u, int exponent)
{
    const struct reach r = reach_of(u);
    if (lowest_bit(u) >= exponent) return true;
    return reads(u, READS_ALIGN_MIN) && !reads(u, READS_GROUP) &&
           larger_int(u->align_min, smaller_int(r.product_least, r.c_least)) - u->fraction >=
               exponent;
}

static bool results_are_normal(const struct bitcut_unit *u,
                               const struct bitcut_unit *mutant)
{
    (void)mutant;
    return no_nonzero_sum_below(u, format_emin(u->result));
}

/* Operands and accumulators are normal or zero.  A sum of products is a multiple of
   2^product_low.  An accumulator that nearly cancels it has an exponent of at least
   product_low - 1, and the difference cannot go below the accumulator's bits. */
static bool normal_inputs_stay_normal(const struct bitcut_unit *u,
                                      const struct bitcut_unit *mutant)
{
    (void)mutant;
    return u->flush_inputs && u->summation->rounds_each &&
           reach_of(u).product_low - 1 - u->c->fraction_bits >= format_emin(u->c);
}

/* A sum that is tiny before it is rounded at a subnormal's last bit, and normal
   afterwards, has more bits than a product; sums of two results are exact there. */
static bool tiny_has_no_more_bits(const struct bitcut_unit *u,
                                  const struct bitcut_unit *mutant)
{
    const int product_bits = u->a->fraction_bits + u->b->fraction_bits + 2;
    return u->rounding.flush && mutant->rounding.flush && u->summation == &sum_pairs &&
           product_bits <= u->result->fraction_bits;
}

/* Sums that are not 0 do not become 0; only then "positive" and "sum positive" differ. */
static bool zero_is_exact(const struct bitcut_unit *u, const struct bitcut_unit *mutant)
{
    if (u->rounding.flush || !no_nonzero_sum_below(u, format_least_exponent(u->result)))
        return false;
    return u->zero != ZERO_IEEE && mutant->zero != ZERO_IEEE;
}

/* With c_last a step's accumulator is +0 at first, so a zero sum is +0 by every rule, and
   no other result becomes -0. */
static bool zero_begins_positive(const struct bitcut_unit *u,
                                 const struct bitcut_unit *mutant)
{
    (void)mutant;
    return u->c_last && !u->rounding.flush &&
           no_nonzero_sum_below(u, format_least_exponent(u->result));
}

/* A chain starts from +0, and no nonzero sum of it becomes zero: none is -0. */
static bool chains_are_never_negative_zero(const struct bitcut_unit *u,
                                           const struct bitcut_unit *mutant)
{
    return u->summation == &sum_chains && normal_inputs_stay_normal(u, mutant);
}

/* --- sums that keep all bits ------------------------------------------------------ */

/* Whatever the alignment, no term has a bit below the retained ones. */
static bool fraction_keeps_all(const struct bitcut_unit *u,
                               const struct bitcut_unit *mutant)
{
    const int high = larger_int(format_emax(u->a) + format_emax(u->b), format_emax(u->c));
    return u->summation == &sum_fused && !u->scale && !u->normalise &&
           lowest_bit(u) >= larger_int(high, u->align_min) -
                                smaller_int(u->fraction, mutant->fraction);
}

/* One product and c, rounded to nearest to c's format.  A product loses bits only far
   below half an ulp of c, which is a result; c loses bits only next to a product that
   overflows. */
static bool fraction_rounds_alike(const struct bitcut_unit *u,
                                  const struct bitcut_unit *mutant)
{
    const int least = smaller_int(u->fraction, mutant->fraction),
              product_bits = u->a->fraction_bits + u->b->fraction_bits + 2;
    return u->summation == &sum_fused && u->block == 1 && !u->scale && !u->c_last &&
           u->result == u->c && round_is_nearest(&u->rounding) &&
           least >= product_bits + u->c->fraction_bits + 2 &&
           format_least_exponent(u->c) + least > format_emax(u->c);
}

/* Each product is a normal result, so rounding it before a sum changes nothing. */
static bool products_are_results(const struct bitcut_unit *u,
                                 const struct bitcut_unit *mutant)
{
    const struct reach r = reach_of(u);
    const bool pair = u->summation == &sum_dot && u->block == 2,
               single = u->summation == &sum_fused && u->block == 1 &&
                        u->fraction == FRACTION_EXACT && u->result == u->c;
    return (pair || single) && mutant->summation == &sum_pairs &&
           u->a->fraction_bits + u->b->fraction_bits + 1 <= u->result->fraction_bits &&
           r.product_low >= format_emin(u->result) &&
           r.product_high <= format_emax(u->result);
}

/* --- two stages ------------------------------------------------------------------- */

/* The sum of products is cut by `sum_fraction` only if it lies more than sum_fraction -
   fraction bits below c.  It is then too small to move the leading one of c + sum below
   c's exponent - 1, where `keep` cuts at least as many bits; and flooring twice is
   flooring once.  A zero or subnormal c would leave more bits, but products do not get
   that far below emin, or keep_min cuts at least as many bits there. */
static bool cut_again_by_keep(const struct bitcut_unit *u,
                              const struct bitcut_unit *mutant)
{
    const struct reach r = reach_of(u);
    const int least = smaller_int(u->sum_fraction, mutant->sum_fraction);
    const int distance = least - u->fraction;
    const int sum_bits = r.product_high - format_emax(u->a) - format_emax(u->b);
    return least >= u->keep + 1 &&
           distance >= sum_bits + 1 &&
           (r.product_least >= r.c_least - distance ||
            u->keep_min - u->keep >= r.c_least - least);
}

/* The sum is a multiple of its terms' lowest bit, or of a higher one if they were floored
   to it; so neither bound on the bits that `keep` retains cuts any of it. */
static bool keep_min_drops_nothing(const struct bitcut_unit *u,
                                   const struct bitcut_unit *mutant)
{
    return lowest_bit(u) >= larger_int(u->keep_min, mutant->keep_min) - u->keep;
}

/* --- integers --------------------------------------------------------------------- */

/* Sums of integers are exact.  They have no NaN, no -0 and no subnormal numbers. */
static bool integers_are_exact(const struct bitcut_unit *u,
                               const struct bitcut_unit *mutant)
{
    return format_is_integer(u->result) && format_is_integer(mutant->result);
}

/* Modulo 2^bits they can be added in any parts.  If products are not negative, sums that
   reach the end of a range stay there. */
static bool integers_add_in_parts(const struct bitcut_unit *u,
                                  const struct bitcut_unit *mutant)
{
    return integers_are_exact(u, mutant) && (u->rounding.overflow == OVERFLOW_WRAP ||
                                             (u->rounding.overflow == OVERFLOW_RANGE &&
                                              !u->a->has_sign && !u->b->has_sign));
}

/* --- the table -------------------------------------------------------------------- */

const struct proof proofs[] = {
    /* clang-format off */
    { "same blocks", "the same products meet in the same sums", "order", order_same },
    { "below all terms", "no term aligns that low", "align_min", align_min_below_all },
    { "drops nothing", "no term has a bit that low", "align_min", align_min_drops_nothing },
    { "same values", "the sum uses no exponents", "via", via_changes_no_value },
    { "same exponents", "operands align alike", "via", via_changes_no_exponent },
    { "drops nothing", "no product has a bit that low", "via", via_drops_nothing },
    { "same rule", "IEEE 754 says the same for the direction", "overflow", overflow_is_ieee },
    { "out of reach", "no sum overflows", "overflow", overflow_out_of_reach },
    { "out of reach", "no result is subnormal", "flush", results_are_normal },
    { "out of reach", "no result of normal inputs is subnormal", "flush", normal_inputs_stay_normal },
    { "same rule", "no product has so many bits", "flush", tiny_has_no_more_bits },
    { "out of reach", "no sum underflows to zero", "zero", zero_is_exact },
    { "starts from +0", "no sum is a sum of -0 alone, none underflows", "zero", zero_begins_positive },
    { "starts from +0", "no sum underflows, none is -0", "zero", chains_are_never_negative_zero },
    { "drops nothing", "no term has a bit that low", "fraction", fraction_keeps_all },
    { "same rounding", "bits are lost only far from a tie", "fraction", fraction_rounds_alike },
    { "same values", "products are results", "sum", products_are_results },
    { "drops nothing", "no sum has a bit that low", "keep_min", keep_min_drops_nothing },
    { "cut again", "keep cuts at least as much", "sum_fraction", cut_again_by_keep },
    { "integers", "modulo 2^bits, or without sign, all parts of a sum are one", "block", integers_add_in_parts },
    { "integers", "sums of integers are integers", "rounding", integers_are_exact },
    { "integers", "no integer is subnormal", "flush", integers_are_exact },
    { "integers", "no integer is subnormal", "flush_inputs", integers_are_exact },
    { "integers", "there is one zero", "zero", integers_are_exact },
    { "integers", "there is no NaN", "nan", integers_are_exact },
    { 0 }
    /* clang-format on */
};

static const struct proof *find_proof(const struct bitcut_unit *u, const struct mutant *m)
{
    for (const struct proof *p = proofs; p->name; p++)
        if (!strcmp(p->field, m->field->name) && p->holds(u, &m->unit)) return p;
    return NULL;
}

int mutants_list(struct mutant list[MUTANTS_MAX], const struct bitcut_unit *u)
{
    int n = 0;
    for (const struct field *f = fields; f->name; f++) {
        int64_t values[FIELD_VALUES_MAX];
        const int count = field_steps(values, f, u);
        for (int i = 0; i < count; i++) {
            struct mutant m = { *u, f, values[i], NULL };
            field_set(f, &m.unit, values[i]);
            if (m.unit.summation != u->summation && !m.unit.summation->rival) continue;
            assert(n < MUTANTS_MAX);
            m.proof = find_proof(u, &m);
            list[n++] = m;
        }
    }
    return n;
}

bool mutant_ideal(struct bitcut_unit *ideal, const struct bitcut_unit *u)
{
    *ideal = *u;
    ideal->summation = &sum_fused;
    ideal->block = u->k;
    ideal->fraction = FRACTION_EXACT;
    ideal->c_last = ideal->normalise = ideal->floor = false;
    ideal->flush_inputs = INPUT_RECORDED;
    ideal->via = NULL;
    ideal->result = u->c;
    ideal->rounding = (struct bitcut_rounding){ .direction = TO_NEAREST_EVEN };
    if (u->k > 1) ideal->nan_rule = NAN_FIXED;
    return unit_sound(ideal);
}

void mutant_name(char *text, size_t size, const struct mutant *m)
{
    char value[40];
    field_text(value, sizeof value, m->field, &m->unit, m->value);
    snprintf(text, size, "%s %s", m->field->name, value);
}
