/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/engine.h"
#include "emu/summation.h"
#include "gpu/emulate/emulation.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"

#include <string.h>

_Static_assert((int)RULE_EXACT == (int)FRACTION_EXACT &&
                   (int)RULE_K_MAX == (int)UNIT_K_MAX &&
                   (int)RULE_ZERO_POSITIVE == (int)ZERO_POSITIVE &&
                   (int)RULE_ZERO_SUM_POSITIVE == (int)ZERO_SUM_POSITIVE &&
                   (int)RULE_ZERO_IEEE == (int)ZERO_IEEE,
               "rules have the numbers of units");

/* The summations that can be described to devices. */
static const struct {
    const struct summation *summation;
    enum rule_sum sum;
} sums[] = { { &sum_fused, RULE_FUSED },
             { &sum_pairs, RULE_PAIRS },
             { &sum_two_stage, RULE_TWO_STAGE },
             { &sum_serial, RULE_SERIAL } };

static bool find_sum(enum rule_sum *to, const struct summation *summation)
{
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        if (sums[i].summation == summation) {
            *to = sums[i].sum;
            return true;
        }
    return false;
}

/* Accumulators are held as FP32.  The NaN of an f16 sum becomes the FP32 NaN
   (emu/job.h). */
static uint32_t nan_of(const struct bitcut_unit *u)
{
    return u->c == &formats[FORMAT_F32] ? (uint32_t)u->nan : F32_NAN;
}

bool unit_rule_make(struct unit_rule *to, const struct bitcut_unit *u)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    int order[UNIT_K_MAX];
    *to = (struct unit_rule){ .k = u->k,
                              .block = u->block,
                              .fraction = u->fraction,
                              .align_min = u->align_min,
                              .sum_fraction = u->sum_fraction,
                              .keep = u->keep,
                              .keep_min = u->keep_min,
                              .carried = u->carrier != NULL,
                              .parity = u->parity,
                              .normalise = u->normalise,
                              .floor = u->floor,
                              .c_last = u->c_last,
                              .flush_inputs = u->flush_inputs != INPUT_RECORDED,
                              .operand = { u->via ? *u->via : *u->a,
                                           u->via ? *u->via : *u->b },
                              .c = *u->c,
                              .result = *u->result,
                              .rounding = u->rounding,
                              .zero = (enum rule_zero)u->zero,
                              .nan = nan_of(u) };
    unit_order(order, u->k, u->order);
    for (int i = 0; i < u->k; i++) to->order[i] = (uint8_t)order[i];
    return find_sum(&to->sum, u->summation) && !u->scale && u->nan_rule == NAN_FIXED &&
           u->flush_inputs <= INPUT_POSITIVE && u->rounding.flush != FLUSH_TINY &&
           !(u->via && u->flush_inputs) && format_holds(f32, u->c) &&
           format_holds(f32, u->a) && format_holds(f32, u->b);
}

void split_rule_make(struct split_rule *to, const struct bitcut_split *s)
{
    *to = (struct split_rule){ .parts = s->parts,
                               .scale = s->scale,
                               .target = equilibrate_target(s) };
    for (int i = 0; i < s->parts; i++) {
        to->part[i].format = *s->part[i].format;
        to->part[i].rounding = *s->part[i].rounding;
        to->part[i].level = s->part[i].level;
        to->part[i].copy = s->part[i].copy;
    }
}

static bool same_format(const struct bitcut_format *x, const struct bitcut_format *y)
{
    return x->bits == y->bits && x->pad == y->pad &&
           x->exponent_bits == y->exponent_bits && x->fraction_bits == y->fraction_bits &&
           x->bias == y->bias && x->has_sign == y->has_sign && x->special == y->special &&
           x->nan == y->nan;
}

static bool same_rounding(const struct bitcut_rounding *x,
                          const struct bitcut_rounding *y)
{
    return x->direction == y->direction && x->bit == y->bit &&
           x->overflow == y->overflow && x->flush == y->flush;
}

static bool same_numbers(const struct unit_rule *x, const struct unit_rule *y)
{
    return x->sum == y->sum && x->k == y->k && x->block == y->block &&
           !memcmp(x->order, y->order, (size_t)x->k) && x->fraction == y->fraction &&
           x->align_min == y->align_min && x->sum_fraction == y->sum_fraction &&
           x->keep == y->keep && x->keep_min == y->keep_min && x->nan == y->nan;
}

static bool same_choices(const struct unit_rule *x, const struct unit_rule *y)
{
    return x->carried == y->carried && x->parity == y->parity &&
           x->normalise == y->normalise && x->floor == y->floor &&
           x->c_last == y->c_last && x->flush_inputs == y->flush_inputs &&
           x->zero == y->zero;
}

bool unit_rule_same(const struct unit_rule *x, const struct unit_rule *y)
{
    return same_numbers(x, y) && same_choices(x, y) &&
           same_format(&x->operand[0], &y->operand[0]) &&
           same_format(&x->operand[1], &y->operand[1]) && same_format(&x->c, &y->c) &&
           same_format(&x->result, &y->result) &&
           same_rounding(&x->rounding, &y->rounding);
}
