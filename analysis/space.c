#include "analysis/space.h"

#include "analysis/order.h"

#include <stdlib.h>
#include <string.h>

static uint64_t bit(int i) { return UINT64_C(1) << i; }
static int lowest(uint64_t set) { return __builtin_ctzll(set); }
static int highest(uint64_t set) { return 63 - __builtin_clzll(set); }
static int size(uint64_t set) { return __builtin_popcountll(set); }

/* --- the space -------------------------------------------------------------------- */

static void add_nans(struct space *s, const uint64_t *nans, int count)
{
    int *n = &s->count[FIELD_NAN];
    for (int i = 0; i < count && *n < SPACE_VALUES_MOST; i++)
        if (space_find(s, FIELD_NAN, (int64_t)nans[i]) < 0)
            s->value[FIELD_NAN][(*n)++] = (int64_t)nans[i];
}

void space_init(struct space *s, const struct bitcut_unit *unit, const uint64_t *nans,
                int nan_count)
{
    memset(s, 0, sizeof *s);
    s->base = (struct bitcut_unit){ .name = unit->name, .what = unit->what,
                                    .m = unit->m, .n = unit->n, .k = unit->k,
                                    .a = unit->a, .b = unit->b, .c = unit->c,
                                    .scale = unit->scale,
                                    .scale_block = unit->scale_block,
                                    .summation = summations[0],
                                    .block = 1, .result = unit->c };
    for (int f = 0; f < FIELD_COUNT; f++) {
        int64_t values[FIELD_VALUES_MOST];
        s->count[f] = field_candidates(values, &fields[f], &s->base);
        for (int i = 0; i < s->count[f]; i++) s->value[f][i] = values[i];
    }
    add_nans(s, nans, nan_count);
}

int space_find(const struct space *s, int field, int64_t value)
{
    for (int i = 0; i < s->count[field]; i++)
        if (s->value[field][i] == value) return i;
    return -1;
}

static void set_value(struct bitcut_unit *row, const struct space *s, int field, int i)
{
    field_set(&fields[field], row, s->value[field][i]);
}

uint64_t space_orders(const struct space *s, const struct bitcut_unit *row)
{
    struct bitcut_unit own = *row;
    uint64_t same = 0;
    own.parity = true; /* orders that are the same then are so without it, too */
    for (int i = 0; i < s->count[FIELD_ORDER]; i++) {
        struct bitcut_unit changed = own;
        set_value(&changed, s, FIELD_ORDER, i);
        if (unit_sound(&changed) && order_same(&own, &changed)) same |= bit(i);
    }
    return same;
}

/* The fields that tell one box of space_boxes() from another; and `fraction`, of which
   only whether it is FRACTION_EXACT. */
static const int framing[] = { FIELD_SUM,      FIELD_BLOCK,  FIELD_GROUP,
                               FIELD_NAN_RULE, FIELD_C_LAST, FIELD_ORDER };

enum { FRAMING = sizeof framing / sizeof framing[0] };

static bool is_framing(int field)
{
    for (int i = 0; i < FRAMING; i++)
        if (framing[i] == field) return true;
    return false;
}

/* The values of a field with which the row is sound and still reads the same fields. */
static uint64_t sound_values(const struct space *s, const struct bitcut_unit *row,
                             int field)
{
    uint64_t set = 0;
    for (int i = 0; i < s->count[field]; i++) {
        struct bitcut_unit changed = *row;
        set_value(&changed, s, field, i);
        const bool exact = changed.fraction == FRACTION_EXACT;
        if (unit_sound(&changed) && exact == (row->fraction == FRACTION_EXACT))
            set |= bit(i);
    }
    return set;
}

/* The box of the row's framing fields, if it is the first of those with its order. */
static bool add_frame(struct box_list *to, const struct space *s,
                      const struct bitcut_unit *row)
{
    struct box box;
    for (int f = 0; f < FIELD_COUNT; f++) {
        const int own = space_find(s, f, field_get(&fields[f], row));
        if (!field_used(&fields[f], row)) box.set[f] = 1;
        else if (f == FIELD_ORDER) box.set[f] = space_orders(s, row);
        else if (is_framing(f)) box.set[f] = bit(own);
        else box.set[f] = sound_values(s, row, f);
        if (f == FIELD_ORDER && lowest(box.set[f]) != own) return true;
    }
    return box_list_add(to, &box);
}

/* Choose a value for framing[at] and the ones after it in every way. */
static bool add_frames(struct box_list *to, const struct space *s,
                       const struct bitcut_unit *row, int at)
{
    if (at == FRAMING) {
        const bool said = row->fraction != FRACTION_EXACT || field_used(&fields[FIELD_FRACTION], row);
        return !said || !unit_sound(row) || add_frame(to, s, row);
    }
    const int field = framing[at];
    const int count = field_used(&fields[field], row) ? s->count[field] : 1;
    for (int i = 0; i < count; i++) {
        struct bitcut_unit chosen = *row;
        set_value(&chosen, s, field, i);
        if (!add_frames(to, s, &chosen, at + 1)) return false;
    }
    return true;
}

bool space_boxes(struct box_list *to, const struct space *s)
{
    struct bitcut_unit row = s->base;
    if (row.k > UNIT_K_MOST) return true;
    for (int f = 0; f < FIELD_COUNT; f++) set_value(&row, s, f, 0);
    row.sum_fraction = (int)s->value[FIELD_SUM_FRACTION][s->count[FIELD_SUM_FRACTION] - 1];
    for (int i = 0; i < 2; i++) {
        row.fraction = i ? FRACTION_EXACT : (int)s->value[FIELD_FRACTION][0];
        if (!add_frames(to, s, &row, 0)) return false;
    }
    return true;
}

/* --- boxes ------------------------------------------------------------------------ */

void box_only(struct box *box, const struct space *s, int field, int64_t value)
{
    box->set[field] &= bit(space_find(s, field, value));
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

void box_intersect(struct box *x, const struct box *y)
{
    for (int f = 0; f < FIELD_COUNT; f++) x->set[f] &= y->set[f];
}

bool box_holds(const struct box *x, const struct box *y)
{
    uint64_t beside = 0;
    for (int f = 0; f < FIELD_COUNT; f++) beside |= y->set[f] & ~x->set[f];
    return beside == 0;
}

bool box_single(struct box *box, const struct space *s, const struct bitcut_unit *row)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        const int at =
            field_used(&fields[f], row) ? space_find(s, f, field_get(&fields[f], row)) : 0;
        if (at < 0) return false;
        box->set[f] = bit(at);
    }
    return true;
}

/* Whether the box's rows have two fractions. */
static bool has_two(const struct space *s, const struct box *box)
{
    const uint64_t sum = box->set[FIELD_SUM];
    return sum && summations[s->value[FIELD_SUM][lowest(sum)]]->reads & READS_SUM_FRACTION;
}

static bool takes_highest(int field)
{
    return field == FIELD_FRACTION || field == FIELD_SUM_FRACTION || field == FIELD_KEEP;
}

bool box_row(struct bitcut_unit *row, const struct space *s, const struct box *box)
{
    struct box left = *box;
    if (has_two(s, box))
        box_at_most(&left, s, FIELD_FRACTION,
                    s->value[FIELD_SUM_FRACTION][highest(box->set[FIELD_SUM_FRACTION])]);
    *row = s->base;
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (!left.set[f]) return false;
        set_value(row, s, f, takes_highest(f) ? highest(left.set[f]) : lowest(left.set[f]));
    }
    return true;
}

/* The pairs of a fraction and a sum_fraction that are not below it. */
static int fraction_pairs(const struct space *s, const struct box *box)
{
    int pairs = 0;
    for (int i = 0; i < s->count[FIELD_FRACTION]; i++)
        for (int j = 0; j < s->count[FIELD_SUM_FRACTION]; j++)
            pairs += (box->set[FIELD_FRACTION] & bit(i)) &&
                     (box->set[FIELD_SUM_FRACTION] & bit(j)) &&
                     s->value[FIELD_SUM_FRACTION][j] >= s->value[FIELD_FRACTION][i];
    return pairs;
}

double box_rows(const struct space *s, const struct box *box)
{
    const bool paired = has_two(s, box);
    double rows = paired ? fraction_pairs(s, box) : 1;
    for (int f = 0; f < FIELD_COUNT; f++)
        if (!paired || (f != FIELD_FRACTION && f != FIELD_SUM_FRACTION))
            rows *= size(box->set[f]);
    return rows;
}

/* --- lists of boxes --------------------------------------------------------------- */

bool box_list_add(struct box_list *list, const struct box *box)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        struct box *at = realloc(list->at, room * sizeof *at);
        if (!at) return false;
        list->at = at;
        list->room = room;
    }
    list->at[list->count++] = *box;
    return true;
}

void box_list_clear(struct box_list *list)
{
    free(list->at);
    *list = (struct box_list){ 0 };
}

bool box_subtract(struct box_list *to, const struct box *x, const struct box *hole)
{
    struct box rest = *x;
    for (int f = 0; f < FIELD_COUNT; f++) {
        struct box part = rest;
        part.set[f] &= ~hole->set[f];
        rest.set[f] &= hole->set[f];
        if (part.set[f] && !box_list_add(to, &part)) return false;
        if (!rest.set[f]) break;
    }
    return true;
}

/* --- joining ---------------------------------------------------------------------- */

/* The one field in which the boxes differ; -1: more than one.  Different boxes of a list
   do differ. */
static int difference(const struct box *x, const struct box *y)
{
    int field = -1;
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (x->set[f] == y->set[f]) continue;
        if (field >= 0) return -1;
        field = f;
    }
    return field;
}

/* Join what can be joined with box i; false if nothing can. */
static bool join_one(struct box_list *list, size_t i)
{
    bool joined = false;
    for (size_t j = i + 1; j < list->count;) {
        const int f = difference(&list->at[i], &list->at[j]);
        if (f < 0 || f == FIELD_SUM) {
            j++;
            continue;
        }
        list->at[i].set[f] |= list->at[j].set[f];
        list->at[j] = list->at[--list->count];
        joined = true;
    }
    return joined;
}

static void join_pairs(struct box_list *list)
{
    bool joined = true;
    while (joined) {
        joined = false;
        for (size_t i = 0; i < list->count; i++) joined |= join_one(list, i);
    }
}

/* Work on one normal form: it has one way to say a set of rows, but may have to look at
   every value of every field. */
struct normal {
    long left; /* how many more lists may be looked at */
    bool no_memory;
};

static bool normal_form(struct box_list *to, const struct box_list *from, int field,
                        struct normal *work);

/* The normal form of what the boxes of `from` with value i of the field say of the fields
   after it. */
static bool normal_of_value(struct box_list *to, const struct box_list *from, int field,
                            int i, struct normal *work)
{
    struct box_list with = { 0 };
    for (size_t j = 0; j < from->count && !work->no_memory; j++)
        if (from->at[j].set[field] & bit(i))
            work->no_memory |= !box_list_add(&with, &from->at[j]);
    const bool good = !work->no_memory && normal_form(to, &with, field + 1, work);
    box_list_clear(&with);
    return good;
}

static bool same_list(const struct box_list *x, const struct box_list *y)
{
    return x->count == y->count &&
           (x->count == 0 || !memcmp(x->at, y->at, x->count * sizeof x->at[0]));
}

/* Values of a field with the same rows. */
struct group {
    uint64_t values;
    struct box_list rows;
};

/* Add values with their rows to the groups; takes over `rows`. */
static int add_to_groups(struct group *groups, int count, uint64_t values,
                         struct box_list *rows)
{
    for (int g = 0; g < count; g++) {
        if (!same_list(&groups[g].rows, rows)) continue;
        groups[g].values |= values;
        box_list_clear(rows);
        return count;
    }
    groups[count] = (struct group){ values, *rows };
    return count + 1;
}

/* The values that are in the same boxes as the lowest of them. */
static uint64_t alike(uint64_t values, const struct box_list *from, int field)
{
    const uint64_t first = values & -values;
    for (size_t j = 0; j < from->count; j++) {
        const uint64_t set = from->at[j].set[field];
        values &= set & first ? set : ~set;
    }
    return values;
}

static bool add_group(struct box_list *to, const struct group *group, int field)
{
    bool good = true;
    for (size_t j = 0; j < group->rows.count && good; j++) {
        struct box *box = &group->rows.at[j];
        box->set[field] = group->values;
        good = box_list_add(to, box);
    }
    return good;
}

/* What the boxes say of `field` and the fields after it; those before it are set to 0.
   False if there is too much work or no memory. */
static bool normal_form(struct box_list *to, const struct box_list *from, int field,
                        struct normal *work)
{
    static const struct box none;
    struct group groups[SPACE_VALUES_MOST];
    int count = 0;
    bool good = work->left-- > 0;
    uint64_t values = 0;
    if (field == FIELD_COUNT) return good && box_list_add(to, &none);
    for (size_t j = 0; j < from->count; j++) values |= from->at[j].set[field];
    while (values && good) {
        const uint64_t set = alike(values, from, field);
        struct box_list rows = { 0 };
        good = normal_of_value(&rows, from, field, lowest(set), work);
        count = add_to_groups(groups, count, set, &rows);
        values &= ~set;
    }
    for (int g = 0; g < count; g++) {
        good = good && add_group(to, &groups[g], field);
        box_list_clear(&groups[g].rows);
    }
    return good;
}

/* The list in normal form, if that is less. */
static bool shorten(struct box_list *list)
{
    enum { LISTS_MOST = 100000 };
    struct normal work = { .left = LISTS_MOST };
    struct box_list other = { 0 };
    if (list->count > 1 && normal_form(&other, list, 0, &work)) {
        join_pairs(&other);
        if (other.count < list->count) {
            const struct box_list before = *list;
            *list = other;
            other = before;
        }
    }
    box_list_clear(&other);
    return !work.no_memory;
}

bool box_list_join(struct box_list *list)
{
    join_pairs(list);
    return shorten(list);
}
