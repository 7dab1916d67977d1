/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_space.h"

#include "analysis/evidence/order_equivalence.h"

static uint64_t bit(int i) { return UINT64_C(1) << i; }

/* --- values ----------------------------------------------------------------------- */

static void set_value(struct bitcut_unit *row, const struct space *s, int field, int i)
{
    field_set(&fields[field], row, s->value[field][i]);
}

void space_init(struct space *s, const struct bitcut_unit *unit)
{
    *s = (struct space){ .base = *unit };
    s->base.summation = summations[0];
    s->base.result = unit->c;
    for (int f = 0; f < FIELD_COUNT; f++) {
        int64_t values[FIELD_VALUES_MAX];
        s->count[f] = field_candidates(values, &fields[f], &s->base);
        for (int i = 0; i < s->count[f]; i++) s->value[f][i] = values[i];
    }
    for (int f = 0; f < FIELD_COUNT; f++) set_value(&s->base, s, f, 0);
    /* No value of `fraction` is above it. */
    set_value(&s->base, s, FIELD_SUM_FRACTION, s->count[FIELD_SUM_FRACTION] - 1);
}

void space_add_nan(struct space *s, uint64_t nan)
{
    int *const n = &s->count[FIELD_NAN];
    if (*n < SPACE_NANS_MAX && space_find(s, FIELD_NAN, (int64_t)nan) < 0)
        s->value[FIELD_NAN][(*n)++] = (int64_t)nan;
}

int space_find(const struct space *s, int field, int64_t value)
{
    for (int i = 0; i < s->count[field]; i++)
        if (s->value[field][i] == value) return i;
    return -1;
}

/* The orders of k that are equivalent for the row; none if it is not sound. */
static uint64_t same_orders(const struct space *s, const struct bitcut_unit *row)
{
    uint64_t same = 0;
    for (int i = 0; i < s->count[FIELD_ORDER]; i++) {
        struct bitcut_unit changed = *row;
        set_value(&changed, s, FIELD_ORDER, i);
        if (unit_sound(&changed) && order_same(row, &changed)) same |= bit(i);
    }
    return same;
}

/* Rows of a frame are either with parity or without. */
uint64_t space_orders(const struct space *s, const struct bitcut_unit *row)
{
    struct bitcut_unit other = *row;
    other.parity = !row->parity;
    const uint64_t own = same_orders(s, row);
    return unit_sound(&other) ? own & same_orders(s, &other) : own;
}

/* --- frames ----------------------------------------------------------------------- */

/* The fields that distinguish frames; for `fraction` only whether it is FRACTION_EXACT,
   the last of its values. */
static const bool framing[FIELD_COUNT] = {
    [FIELD_SUM] = true,      [FIELD_ORDER] = true,  [FIELD_BLOCK] = true,
    [FIELD_GROUP] = true,    [FIELD_C_LAST] = true, [FIELD_NAN_RULE] = true,
    [FIELD_FRACTION] = true,
};

/* The values of a field with which the row is sound and still in its frame. */
static uint64_t sound_values(const struct space *s, const struct bitcut_unit *row,
                             int field)
{
    const bool exact = row->fraction == FRACTION_EXACT;
    uint64_t set = 0;
    for (int i = 0; i < s->count[field]; i++) {
        struct bitcut_unit changed = *row;
        set_value(&changed, s, field, i);
        if (unit_sound(&changed) && exact == (changed.fraction == FRACTION_EXACT))
            set |= bit(i);
    }
    return set;
}

struct box space_frame(const struct space *s, const struct bitcut_unit *row)
{
    struct bitcut_unit first = s->base;
    struct box box;
    for (int f = 0; f < FIELD_COUNT; f++)
        if (framing[f] && (f != FIELD_FRACTION || row->fraction == FRACTION_EXACT))
            field_set(&fields[f], &first, field_get(&fields[f], row));
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (!field_used(&fields[f], &first)) box.set[f] = 1;
        else if (f == FIELD_ORDER) box.set[f] = space_orders(s, &first);
        else if (framing[f] && f != FIELD_FRACTION)
            box.set[f] = bit(space_find(s, f, field_get(&fields[f], &first)));
        else box.set[f] = sound_values(s, &first, f);
    }
    return box;
}

/* The frame of the row, if the row has the first of its equivalent orders. */
static bool add_frame(struct box_list *to, const struct space *s,
                      const struct bitcut_unit *row)
{
    const bool ordered = field_used(&fields[FIELD_ORDER], row);
    if (!unit_sound(row)) return true;
    if (ordered && __builtin_ctzll(space_orders(s, row)) !=
                       space_find(s, FIELD_ORDER, (int64_t)row->order))
        return true;
    const struct box frame = space_frame(s, row);
    return box_list_add(to, &frame);
}

/* Try every value of `field` and of the framing fields after it. */
static bool add_frames(struct box_list *to, const struct space *s,
                       const struct bitcut_unit *row, int field)
{
    if (field == FIELD_COUNT) return add_frame(to, s, row);
    const bool open = framing[field] && field_used(&fields[field], row);
    const int last = open ? s->count[field] - 1 : 0;
    const int step = open && field == FIELD_FRACTION ? last : 1;
    for (int i = 0; i <= last; i += step) {
        struct bitcut_unit chosen = *row;
        if (framing[field]) set_value(&chosen, s, field, i);
        if (!add_frames(to, s, &chosen, field + 1)) return false;
    }
    return true;
}

bool space_frames(struct box_list *to, const struct space *s)
{
    return s->base.k > UNIT_K_MAX || add_frames(to, s, &s->base, 0);
}

/* --- boxes of a space ------------------------------------------------------------- */

void box_only(struct box *box, const struct space *s, int field, int64_t value)
{
    const int at = space_find(s, field, value);
    box->set[field] &= at < 0 ? 0 : bit(at);
}

void box_at_least(struct box *box, const struct space *s, int field, int64_t least)
{
    for (int i = 0; i < s->count[field]; i++)
        if (s->value[field][i] < least) box->set[field] &= ~bit(i);
}

void box_at_most(struct box *box, const struct space *s, int field, int64_t most)
{
    for (int i = 0; i < s->count[field]; i++)
        if (s->value[field][i] > most) box->set[field] &= ~bit(i);
}

bool box_single(struct box *box, const struct space *s, const struct bitcut_unit *row)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        const int at = field_used(&fields[f], row)
                           ? space_find(s, f, field_get(&fields[f], row))
                           : 0;
        if (at < 0) return false;
        box->set[f] = bit(at);
    }
    return true;
}

/* Whether the rows of the box have two fractions. */
static bool has_two(const struct space *s, const struct box *box)
{
    const int64_t sum = s->value[FIELD_SUM][box_lowest(box, FIELD_SUM)];
    return summations[sum]->reads & READS_SUM_FRACTION;
}

static bool takes_highest(int field)
{
    return field == FIELD_FRACTION || field == FIELD_SUM_FRACTION || field == FIELD_KEEP;
}

bool box_row(struct bitcut_unit *row, const struct space *s, const struct box *box)
{
    struct box left = *box;
    for (int f = 0; f < FIELD_COUNT; f++)
        if (!box->set[f]) return false;
    if (has_two(s, box))
        box_at_most(&left, s, FIELD_FRACTION,
                    s->value[FIELD_SUM_FRACTION][box_highest(box, FIELD_SUM_FRACTION)]);
    if (!left.set[FIELD_FRACTION]) return false;
    *row = s->base;
    for (int f = 0; f < FIELD_COUNT; f++)
        set_value(row, s, f,
                  takes_highest(f) ? box_highest(&left, f) : box_lowest(&left, f));
    return true;
}

/* The pairs of a fraction and a sum_fraction that is not below it. */
static int fraction_pairs(const struct space *s, const struct box *box)
{
    int pairs = 0;
    for (uint64_t set = box->set[FIELD_FRACTION]; set; set &= set - 1) {
        struct box with = *box;
        box_at_least(&with, s, FIELD_SUM_FRACTION,
                     s->value[FIELD_FRACTION][__builtin_ctzll(set)]);
        pairs += __builtin_popcountll(with.set[FIELD_SUM_FRACTION]);
    }
    return pairs;
}

double box_rows(const struct space *s, const struct box *box)
{
    double rows = 1;
    for (int f = 0; f < FIELD_COUNT; f++) rows *= __builtin_popcountll(box->set[f]);
    if (rows == 0 || !has_two(s, box)) return rows;
    const int all = __builtin_popcountll(box->set[FIELD_FRACTION]) *
                    __builtin_popcountll(box->set[FIELD_SUM_FRACTION]);
    return rows / all * fraction_pairs(s, box);
}
