/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the quantities that launches count. */
#include "emu/gfx9/wave.h"

#define COUNTER(name) { #name, offsetof(struct gfx9_counts, name) }

/* clang-format off */
const struct gfx9_counter gfx9_counters[] = {
    COUNTER(instructions), COUNTER(vector),         COUNTER(matrix),    COUNTER(branches),
    COUNTER(barriers),     COUNTER(waits),          COUNTER(lds),       COUNTER(lds_read),
    COUNTER(lds_written),  COUNTER(lds_cycles),     COUNTER(lds_least), COUNTER(global),
    COUNTER(global_read),  COUNTER(global_written), COUNTER(products),
    { 0 }
};
/* clang-format on */

_Static_assert(sizeof gfx9_counters / sizeof *gfx9_counters - 1 ==
                   offsetof(struct gfx9_counts, opcodes) / sizeof(uint64_t),
               "a row for each");

uint64_t gfx9_count(const struct gfx9_counts *counts, const struct gfx9_counter *row)
{
    return *(const uint64_t *)(const void *)((const char *)counts + row->at);
}

void gfx9_counts_add(struct gfx9_counts *to, const struct gfx9_counts *x)
{
    for (const struct gfx9_counter *row = gfx9_counters; row->name; row++)
        *(uint64_t *)(void *)((char *)to + row->at) += gfx9_count(x, row);
    for (size_t i = 0; i < sizeof x->opcodes / sizeof *x->opcodes; i++)
        to->opcodes[i] |= x->opcodes[i];
}

size_t gfx9_units_executed(const struct bitcut_unit *to[GFX9_UNITS_MAX],
                           const struct gfx9_object *object,
                           const struct gfx9_counts *counts)
{
    size_t count = 0;
    for (size_t i = 0; i < GFX9_UNITS_MAX; i++)
        if (counts->opcodes[i / 64] >> i % 64 & 1 && object->units[i].unit)
            to[count++] = object->units[i].unit;
    return count;
}
