/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of an object at an address. */
#include "emu/gfx9/wave.h"

/* The number of elements, in ascending order, that begin at or before an address; `first`
   is the address of the first element, and `each` is the distance of elements in
   bytes. */
static size_t count_before(const uint64_t *first, size_t count, size_t each,
                           uint64_t address)
{
    size_t low = 0;
    for (size_t high = count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const char *at = (const char *)first + middle * each;
        if (*(const uint64_t *)(const void *)at <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

const struct segment *gfx9_segment_before(const struct gfx9_object *o, uint64_t address)
{
    if (!o->segment_count) return NULL;
    const size_t n = count_before(&o->segments->address, o->segment_count,
                                  sizeof *o->segments, address);
    return n ? &o->segments[n - 1] : NULL;
}

const uint8_t *gfx9_bytes_at(const struct gfx9_object *o, uint64_t address, size_t bytes,
                             bool stored)
{
    static const uint8_t zeros[PADDING];
    const struct segment *s = gfx9_segment_before(o, address);
    if (!s || bytes > PADDING) return NULL;
    const uint64_t at = address - s->address, end = stored ? s->stored : s->bytes;
    if (at > end || bytes > end - at) return NULL;
    return at < s->stored ? s->at + at : zeros;
}

const struct section *gfx9_section_at(const struct gfx9_object *o, uint64_t address)
{
    if (!o->section_count) return NULL;
    const size_t n = count_before(&o->sections->address, o->section_count,
                                  sizeof *o->sections, address);
    const struct section *s = n ? &o->sections[n - 1] : NULL;
    return s && address - s->address < s->bytes ? s : NULL;
}
