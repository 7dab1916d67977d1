/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/configuration.h"

#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/gemm/order.h"
#include "lib/number/format.h"

#include <stdlib.h>
#include <string.h>

/* --- the fields ------------------------------------------------------------------- */

#define AT(gemm, plan)                                                                   \
    offsetof(struct bitcut_gemm, gemm), offsetof(struct gemm_plan, plan)
#define AT_BOTH(field) AT(field, field)

/* The fields in the order in which the rows of JSON have them. */
const struct configuration_field configuration_fields[] = {
    { "split-a", "split", CONFIGURATION_SPLIT, AT(split_a, split_a), 0, 0, NULL },
    { "split-b", "split_b", CONFIGURATION_SPLIT, AT(split_b, split_b), 0, 0, NULL },
    { "high", "high", CONFIGURATION_ROUNDING, AT(high, split_a.part[0].rounding), 0, 0,
      NULL },
    { "low", "low", CONFIGURATION_ROUNDING, AT(low, split_a.part[1].rounding), 0, 0,
      NULL },
    { "sum-rounding", "sum_rounding", CONFIGURATION_SUM_ROUNDING, AT_BOTH(sum_rounding),
      0, 0, NULL },
    { "scale", "scale", CONFIGURATION_NUMBER, AT(scale, split_a.scale), BITCUT_UNSET, 0,
      NULL },
    { "round-seed", "round_seed", CONFIGURATION_NUMBER, AT_BOTH(round_seed), 0, 0, NULL },
    { "equilibrate", "equilibrate", CONFIGURATION_FLAG, AT_BOTH(equilibrate), 0, 1,
      NULL },
    { "terms", "terms", CONFIGURATION_TERMS, AT(dropped_term, terms), BITCUT_UNSET, 0,
      NULL },
    { "promote", "promote", CONFIGURATION_NUMBER, AT_BOTH(promote), BITCUT_UNSET, 0,
      NULL },
    { "tile-k", "tile_k", CONFIGURATION_NUMBER, AT_BOTH(tile_k), BITCUT_UNSET, 0, NULL },
    { "epilogue", "epilogue", CONFIGURATION_EPILOGUE, AT_BOTH(epilogue), 0, 2, NULL },
    { "start", "start", CONFIGURATION_START, AT_BOTH(start), 0, 2, NULL },
    { "scaling", "scaling", CONFIGURATION_SCALING, AT_BOTH(scaling), 0, 2, NULL },
    { "slices", "split_k", CONFIGURATION_NUMBER, AT_BOTH(order.slices), 1, 0, NULL },
    { "tile", "tile", CONFIGURATION_NUMBER, AT_BOTH(order.tile), 0, 0, NULL },
    { "partial-first", "partial_first", CONFIGURATION_FLAG, AT_BOTH(order.partial_first),
      0, 1, "rest-first" },
    { "cut", "cut", CONFIGURATION_NUMBER, AT_BOTH(order.cut), 0, 0, NULL },
    { "balance-tail", "balance_tail", CONFIGURATION_NUMBER, AT_BOTH(order.balance_tail),
      0, 0, "halve" },
    { "lanes", "lanes", CONFIGURATION_NUMBER, AT_BOTH(order.lanes), 1, 0, NULL },
    { "chunk", "chunk", CONFIGURATION_NUMBER, AT_BOTH(order.chunk), 0, 0, "turn" },
    { "unroll", "unroll", CONFIGURATION_NUMBER, AT_BOTH(order.unroll), 0, 0, NULL },
    { "narrow", "narrow", CONFIGURATION_NUMBER, AT_BOTH(order.narrow), 0, 0, NULL },
    { "remainder-in-lane", "remainder_in_lane", CONFIGURATION_FLAG,
      AT_BOTH(order.remainder_in_lane), 0, 0, NULL },
    { "narrow-apart", "narrow_apart", CONFIGURATION_FLAG, AT_BOTH(order.narrow_apart), 0,
      0, NULL },
    { "slices-ascending", "slices_ascending", CONFIGURATION_FLAG,
      AT_BOTH(order.slices_ascending), 0, 0, NULL },
    { "lane-order", "lane_order", CONFIGURATION_LANES, AT_BOTH(order.lane_order), 0, 0,
      NULL },
    { "reduction", "reduction", CONFIGURATION_REDUCTION, AT_BOTH(order.reduction), 0, 2,
      NULL },
    { "partial-format", "partial_format", CONFIGURATION_FORMAT,
      AT_BOTH(order.partial_format), 0, 2, "sums" },
    { "partial-store", "partial_store", CONFIGURATION_FLAG, AT_BOTH(order.partial_store),
      0, 1, NULL },
    { .name = NULL },
};

enum { PLACES = 3, VALUE_MAX = 60 };

const struct configuration_field *configuration_find(const char *name)
{
    const struct configuration_field *x = configuration_fields;
    while (x->name && strcmp(x->name, name) != 0 &&
           (!x->was || strcmp(x->was, name) != 0))
        x++;
    return x->name ? x : NULL;
}

const struct configuration_field *configuration_renamed(const char *list)
{
    for (const struct configuration_field *x = configuration_fields; x->name; x++)
        for (const char *at = x->was ? list : NULL; at; at = strchr(at, ',')) {
            if (*at == ',') at++;
            const size_t length = strcspn(at, "=,");
            if (length == strlen(x->was) && !memcmp(at, x->was, length)) return x;
        }
    return NULL;
}

static bool is_of_order(const struct configuration_field *x)
{
    return x->at >= offsetof(struct bitcut_gemm, order) &&
           x->at < offsetof(struct bitcut_gemm, order) + sizeof(struct bitcut_order);
}

struct table configuration_table(const struct configuration_field *x)
{
    switch (x->kind) {
    case CONFIGURATION_SPLIT: return TABLE(splits);
    case CONFIGURATION_ROUNDING:
    case CONFIGURATION_SUM_ROUNDING: return TABLE(roundings);
    case CONFIGURATION_FORMAT: return TABLE(formats);
    case CONFIGURATION_REDUCTION: return TABLE(reductions);
    case CONFIGURATION_START: return TABLE(starts);
    case CONFIGURATION_SCALING: return TABLE(scalings);
    case CONFIGURATION_EPILOGUE: return TABLE(epilogues);
    default: return (struct table){ NULL, 0 };
    }
}

/* --- lists of lanes --------------------------------------------------------------- */

/* Write as many lanes as there are, or as are needed to list all that are not 0. */
static void lanes_write(char text[LANES_TEXT_MAX], const struct bitcut_order *o)
{
    int count = o->lanes < BITCUT_LANE_ORDER_MAX ? o->lanes : BITCUT_LANE_ORDER_MAX;
    for (int i = 0; i < BITCUT_LANE_ORDER_MAX; i++)
        if (o->lane_order[i] && i >= count) count = i + 1;
    text[0] = 0;
    for (int i = 0; i < count && order_lists_lanes(o); i++)
        text_add(text, LANES_TEXT_MAX, "%s%d", i ? "." : "", o->lane_order[i]);
}

/* Read numbers with points between them. */
static bool lanes_read(unsigned char to[BITCUT_LANE_ORDER_MAX], const char *text)
{
    unsigned char own[BITCUT_LANE_ORDER_MAX] = { 0 };
    for (int i = 0;; i++) {
        const size_t digits = strspn(text, "0123456789");
        const int lane = digits == 1 || digits == 2 ? atoi(text) : BITCUT_LANE_ORDER_MAX;
        if (i == BITCUT_LANE_ORDER_MAX || lane >= BITCUT_LANE_ORDER_MAX) return false;
        own[i] = (unsigned char)lane;
        text += digits;
        if (!*text) break;
        if (*text++ != '.') return false;
    }
    memcpy(to, own, sizeof own);
    return true;
}

/* --- planned values --------------------------------------------------------------- */

/* The rows whose number is the value of a field; NULL: the value is something else. */
static const struct table_row *numbered_rows(const struct configuration_field *x)
{
    const bool numbered = x->kind == CONFIGURATION_REDUCTION ||
                          x->kind == CONFIGURATION_START ||
                          x->kind == CONFIGURATION_SCALING;
    return numbered ? configuration_table(x).rows : NULL;
}

/* The row that is the value of a field; NULL: none, or the value is not a row. */
static const struct table_row *row_at(const void *at, const struct configuration_field *x)
{
    const struct table_row *row = NULL;
    if (numbered_rows(x)) return &numbered_rows(x)[*(const unsigned *)at];
    if (x->kind != CONFIGURATION_EPILOGUE && configuration_table(x).rows)
        memcpy(&row, at, sizeof row);
    return row;
}

struct configuration_value configuration_planned(const struct gemm_plan *p,
                                                 const struct configuration_field *x)
{
    const void *const at = (const char *)p + x->planned;
    struct configuration_value v = { NULL, 0, "" };
    if (x->kind == CONFIGURATION_EPILOGUE) v.text = p->epilogue_name;
    else if (x->kind == CONFIGURATION_LANES) lanes_write(v.lanes, &p->order);
    else if (x->kind == CONFIGURATION_FLAG) v.number = *(const bool *)at;
    else if (x->kind == CONFIGURATION_SPLIT) v.text = *(const char *const *)at;
    else if (!configuration_table(x).rows) v.number = *(const int *)at;
    else if (row_at(at, x)) v.text = row_at(at, x)->name;
    else if (x->kind == CONFIGURATION_FORMAT) v.text = formats[FORMAT_F32].name;
    else if (x->kind == CONFIGURATION_ROUNDING)
        v.text = split_low(&p->split_a)->name; /* rounding of the only part */
    return v;
}

/* --- setting ---------------------------------------------------------------------- */

enum configuration_outcome configuration_set_number(struct bitcut_gemm *g,
                                                    const struct configuration_field *x,
                                                    int number)
{
    int *const to = (int *)(void *)((char *)g + x->at);
    *to = number;
    if (x->kind != CONFIGURATION_TERMS) return CONFIGURATION_SET;
    *to = number == g->recipe->terms + 1;
    return g->recipe->terms + *to == number ? CONFIGURATION_SET : CONFIGURATION_REFUSED;
}

static enum configuration_outcome
set_row(struct bitcut_gemm *g, const struct configuration_field *x, const char *value)
{
    void *const to = (char *)g + x->at;
    const struct table_row *const row = table_find(configuration_table(x), value);
    if (!row) return CONFIGURATION_UNKNOWN;
    if (numbered_rows(x)) *(unsigned *)to = (unsigned)(row - numbered_rows(x));
    else memcpy(to, &row, sizeof row);
    return CONFIGURATION_SET;
}

enum configuration_outcome configuration_set(struct bitcut_gemm *g,
                                             const struct configuration_field *x,
                                             const char *value)
{
    if (!value != (x->kind == CONFIGURATION_FLAG)) return CONFIGURATION_REFUSED;
    if (!value) {
        *(bool *)((char *)g + x->at) = true;
        return CONFIGURATION_SET;
    }
    if (x->kind == CONFIGURATION_EPILOGUE)
        return epilogue_read(g->epilogue, value) ? CONFIGURATION_SET
                                                 : CONFIGURATION_UNKNOWN;
    if (configuration_table(x).rows) return set_row(g, x, value);
    if (x->kind == CONFIGURATION_LANES)
        return lanes_read(g->order.lane_order, value) ? CONFIGURATION_SET
                                                      : CONFIGURATION_REFUSED;
    const size_t digits = strspn(value, "0123456789");
    if (!digits || digits > 9 || value[digits]) return CONFIGURATION_REFUSED;
    return configuration_set_number(g, x, atoi(value));
}

/* --- reading ---------------------------------------------------------------------- */

struct item {
    char *name, *value; /* NULL: the item has no value */
};

/* Take the item at the start of a list, and replace its comma by a 0.  Returns the
   remaining list; NULL: there is none. */
static char *take_item(struct item *x, char *list)
{
    char *const next = strchr(list, ',');
    if (next) *next = 0;
    *x = (struct item){ list, strchr(list, '=') };
    if (x->value) *x->value++ = 0;
    return next ? next + 1 : NULL;
}

static enum bitcut_status refuse(const struct configuration_field *x,
                                 enum configuration_outcome why, const char *value,
                                 struct fault *f)
{
    char hint[TABLE_HINT_MAX];
    if (why == CONFIGURATION_REFUSED)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s=%.*s: invalid value for %s", x->name,
                         text_fit(value, VALUE_MAX), value, x->name);
    table_hint(hint, configuration_table(x), value);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown %s \"%.*s\"%s",
                     x->kind == CONFIGURATION_SPLIT      ? "split"
                     : x->kind == CONFIGURATION_EPILOGUE ? "epilogue"
                     : x->kind == CONFIGURATION_ROUNDING ? "rounding"
                                                         : x->name,
                     text_fit(value, VALUE_MAX), value, hint);
}

static enum bitcut_status read_item(struct bitcut_gemm *g, const struct item *item,
                                    struct fault *f)
{
    const bool both = !strcmp(item->name, "split") && item->value;
    const struct configuration_field *const x =
        configuration_find(both ? "split-a" : item->name);
    const enum configuration_outcome why =
        x ? configuration_set(g, x, item->value) : CONFIGURATION_REFUSED;
    if (why == CONFIGURATION_SET) {
        if (both) g->split_b = g->split_a;
        return BITCUT_OK;
    }
    if (x && !is_of_order(x) && item->value) return refuse(x, why, item->value, f);
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "unknown setting \"%.*s\"; use, for example, split=bitcut, "
                     "scale=10, promote=4, slices=2",
                     text_fit(item->name, VALUE_MAX), item->name);
}

enum bitcut_status configuration_read(struct bitcut_gemm *g, char *list, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    while (list && status == BITCUT_OK) {
        struct item item;
        list = take_item(&item, list);
        status = read_item(g, &item, f);
    }
    return status;
}

/* --- writing ---------------------------------------------------------------------- */

static void write_field(char *text, size_t size, const struct bitcut_gemm *g,
                        const struct configuration_field *x)
{
    const void *const at = (const char *)g + x->at;
    const struct table_row *const row = row_at(at, x);
    if (row && row != numbered_rows(x))
        text_add(text, size, ",%s=%s", x->name, row->name);
    if (x->kind == CONFIGURATION_EPILOGUE && *(const unsigned char *)at) {
        char steps[EPILOGUE_TEXT_MAX];
        epilogue_write(steps, at);
        text_add(text, size, ",%s=%s", x->name, steps);
    }
    char lanes[LANES_TEXT_MAX];
    lanes_write(lanes, &g->order);
    if (x->kind == CONFIGURATION_LANES && *lanes)
        text_add(text, size, ",%s=%s", x->name, lanes);
    if (x->kind == CONFIGURATION_FLAG && *(const bool *)at)
        text_add(text, size, ",%s", x->name);
    if (x->kind < CONFIGURATION_NUMBER || *(const int *)at <= x->none) return;
    text_add(text, size, ",%s=%d", x->name,
             *(const int *)at + (x->kind == CONFIGURATION_TERMS ? g->recipe->terms : 0));
}

/* Write the fields of an order, or the fields that do not belong to an order. */
static void write_fields(char *text, size_t size, const struct bitcut_gemm *g, bool order)
{
    for (int place = 0; place < PLACES; place++)
        for (const struct configuration_field *x = configuration_fields; x->name; x++)
            if (x->place == place && is_of_order(x) == order)
                write_field(text, size, g, x);
}

void configuration_write(char *text, size_t size, const struct bitcut_gemm *g)
{
    write_fields(text, size, g, false);
    write_fields(text, size, g, true);
}

/* --- an order of k by itself ------------------------------------------------------ */

static enum bitcut_status bad_item(const char *what, struct fault *f)
{
    return fault_set(
        f, BITCUT_BAD_ARGUMENT,
        "invalid item \"%.*s\"; expected a list such as "
        "tile=32,partial-first,cut=4,lanes=2,chunk=8,reduction=tree,partial-format=f16",
        text_fit(what, VALUE_MAX), what);
}

static enum bitcut_status read_order_item(struct bitcut_gemm *g, const struct item *item,
                                          struct fault *f)
{
    const struct configuration_field *const x = configuration_find(item->name);
    const enum configuration_outcome why = x && is_of_order(x)
                                               ? configuration_set(g, x, item->value)
                                               : CONFIGURATION_REFUSED;
    char hint[TABLE_HINT_MAX];
    if (why == CONFIGURATION_SET) return BITCUT_OK;
    if (why == CONFIGURATION_REFUSED) return bad_item(item->name, f);
    table_hint(hint, configuration_table(x), item->value);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown name \"%.*s\"%s",
                     text_fit(item->value, VALUE_MAX), item->value, hint);
}

enum bitcut_status order_read(struct bitcut_order *order, const char *list,
                              struct fault *f)
{
    struct bitcut_gemm g = { .order = *order };
    char text[ORDER_TEXT_MAX];
    if (strlen(list) >= sizeof text) return bad_item("too long", f);
    strcpy(text, list);
    for (char *rest = text; rest && *rest;) {
        struct item item;
        rest = take_item(&item, rest);
        const enum bitcut_status status = read_order_item(&g, &item, f);
        if (status != BITCUT_OK) return status;
    }
    *order = g.order;
    return BITCUT_OK;
}

void order_write(char text[ORDER_TEXT_MAX], const struct bitcut_order *o)
{
    const struct bitcut_gemm g = { .order = *o };
    text[0] = 0;
    write_fields(text, ORDER_TEXT_MAX, &g, true);
}

enum bitcut_status bitcut_order_read(struct bitcut_order *order, const char *line,
                                     char *why)
{
    struct fault f;
    const enum bitcut_status status =
        order && line
            ? order_read(order, line, &f)
            : fault_set(&f, BITCUT_BAD_ARGUMENT, "order and line must not be NULL");
    return fault_write(why, status, &f);
}

void bitcut_order_write(char line[BITCUT_ORDER_MAX], const struct bitcut_order *order)
{
    char text[ORDER_TEXT_MAX];
    order_write(text, order);
    strcpy(line, *text ? text + 1 : text);
}
