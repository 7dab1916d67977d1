/* SPDX-License-Identifier: BSD-3-Clause */
/* Global memory: the memory that a kernel may access, and the instructions that access
   it. */
#include "emu/gfx9/wave.h"

#include <string.h>

/* --- what there is ---------------------------------------------------------------- */

static bool inside(uint64_t at, size_t bytes, const struct gfx9_memory *m)
{
    return at >= m->address && at - m->address <= m->bytes &&
           bytes <= m->bytes - (at - m->address);
}

/* Gap between buffers, within which fail_outside() reports a distance. */
enum { GAP = 1 << 21 };

uint64_t gfx9_address_set(struct gfx9_memory *m, uint64_t address)
{
    m->address = address;
    return address + (m->bytes / GAP + 2) * GAP;
}

static void *find(struct wave *w, uint64_t at, size_t bytes, bool write)
{
    struct group *g = w->group;
    const struct gfx9_launch *launch = g->launch;
    for (size_t n = 0; n < launch->memories; n++) {
        const struct gfx9_memory *m = &launch->memory[(g->latest + n) % launch->memories];
        if (!inside(at, bytes, m)) continue;
        g->latest = (size_t)(m - launch->memory);
        return (uint8_t *)m->at + (at - m->address);
    }
    if (write) return NULL;
    for (int n = 0; n < GROUP_READABLE; n++)
        if (inside(at, bytes, &g->readable[n]))
            return (uint8_t *)g->readable[n].at + (at - g->readable[n].address);
    return (void *)(uintptr_t)gfx9_bytes_at(g->object, at - ADDRESS_CODE, bytes, false);
}

/* Report an access outside of every buffer.  The buffer that ends before the address, or
   begins after it, gives the distance. */
static void fail_outside(struct wave *w, const struct instruction *i, uint64_t at,
                         size_t bytes, bool write)
{
    const struct gfx9_launch *launch = w->group->launch;
    const struct gfx9_memory *near = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t n = 0; n < launch->memories; n++) {
        const uint64_t begin = launch->memory[n].address;
        const uint64_t end = begin + launch->memory[n].bytes;
        const uint64_t away = at < begin ? begin - at : at - (end - 1);
        if (away < least) least = away, near = &launch->memory[n];
    }
    const char *verb = write ? "stores" : "loads";
    if (!near || least > GAP / 2)
        wave_fail(w, i, "%s %zu bytes outside every buffer", verb, bytes);
    else
        wave_fail(w, i, "%s %zu bytes at byte %lld of a buffer of %zu bytes", verb, bytes,
                  (long long)(at - near->address), near->bytes);
}

void *global_at(struct wave *w, const struct instruction *i, uint64_t at, size_t bytes,
                bool write)
{
    const size_t align = bytes < 4 ? bytes : 4;
    void *found = find(w, at, bytes, write);
    if (!found) fail_outside(w, i, at, bytes, write);
    else if (at % align) {
        wave_fail(w, i, "the address is not aligned to %zu bytes", align);
        found = NULL;
    }
    return found;
}

/* --- access ----------------------------------------------------------------------- */

/* The access of a row, in its `more`, in addition to the number of bytes. */
enum {
    SIGNED = 1 << 8,
    HIGH = 1 << 9,
    KEEPS = 1 << 10,
    STORES = 1 << 11,
    FLAT_ADDRESS = 1 << 12
};

struct place {
    unsigned address; /* a register; without a base, a register pair */
    bool has_base;
    uint64_t base;
    int64_t offset;
};

/* The source of the lanes' addresses; all must be initialised. */
static bool place_of(struct place *to, struct wave *w, const struct instruction *i)
{
    const uint32_t x = i->word[0];
    const bool flat = i->opcode->more & FLAT_ADDRESS;
    const unsigned count = i->s_count[0];
    struct place p = { .address = i->s[0] - 256u,
                       .has_base = count == 1,
                       .offset = flat ? (int64_t)(x & 0xfff) : (int32_t)(x << 19) >> 19 };
    if (!vector_ready(w, i, p.address, count)) return false;
    if (vector_unset(w, p.address, count) ||
        (p.has_base && scalar_unset(w, i->s[2], 2))) {
        wave_fail(w, i, "the address in v%u is not initialised", p.address);
        return false;
    }
    if (p.has_base) p.base = scalar_read_pair(w, i, i->s[2]);
    *to = p;
    return !w->group->failed;
}

static uint64_t address_of(const struct wave *w, const struct place *p, int l)
{
    const uint64_t low = w->v[p->address][l];
    return (p->has_base ? p->base + low : (uint64_t)w->v[p->address + 1][l] << 32 | low) +
           (uint64_t)p->offset;
}

/* Note a pending access.  Flat accesses count twice, and complete in any order relative
   to LDS accesses. */
static void pend(struct wave *w, const struct instruction *i, unsigned first,
                 unsigned count)
{
    const bool flat = i->opcode->more & FLAT_ADDRESS;
    struct pending p = { .counter = COUNT_VM,
                         .in_order = !flat,
                         .load = count != 0,
                         .first = (uint16_t)first,
                         .count = (uint16_t)count };
    wave_pend(w, i, p);
    if (!flat) return;
    p.counter = COUNT_LGKM;
    wave_pend(w, i, p);
}

static void store(struct wave *w, const struct instruction *i, const struct place *p)
{
    const int more = i->opcode->more, shift = more & HIGH ? 16 : 0;
    const uint32_t bytes = more & 255, dwords = i->s_count[1];
    const unsigned from = i->s[1] - 256u;
    if (!vector_ready(w, i, from, dwords)) return;
    const uint64_t unset = bytes >= 4 ? vector_unset(w, from, dwords)
                                      : w->unset[from][shift ? 1 : 0] & w->exec;
    if (unset) {
        wave_fail(w, i, "stores v%u of lane %d, which is not initialised", from % VGPRS,
                  __builtin_ctzll(unset));
        return;
    }
    FOR_LANES
    {
        if (!(w->exec >> l & 1)) continue;
        uint8_t *to = global_at(w, i, address_of(w, p, l), bytes, true);
        if (!to) return;
        for (uint32_t b = 0; b < bytes; b += 4) {
            const uint32_t x = w->v[from + b / 4][l] >> shift;
            memcpy(to + b, &x, bytes - b < 4 ? bytes - b : 4);
        }
    }
    w->group->counts.global_written += (uint64_t)__builtin_popcountll(w->exec) * bytes;
    pend(w, i, 0, 0);
}

/* The value that a lane loads from one or two bytes: extended, or put into one half of
   the register. */
static uint32_t narrow(uint32_t x, uint32_t was, int more)
{
    const int bits = 8 * (more & 255);
    if (more & SIGNED) x = (uint32_t)((int32_t)(x << (32 - bits)) >> (32 - bits));
    if (!(more & KEEPS)) return x;
    return more & HIGH ? (was & 0xffff) | x << 16 : (was & ~0xffffu) | (x & 0xffff);
}

static void load(struct wave *w, const struct instruction *i, const struct place *p)
{
    const int more = i->opcode->more;
    const uint32_t bytes = more & 255, dwords = i->d_count;
    const unsigned to = i->d - 256u;
    if (!vector_ready(w, i, to, dwords)) return;
    FOR_LANES
    {
        if (!(w->exec >> l & 1)) continue;
        const uint8_t *from = global_at(w, i, address_of(w, p, l), bytes, false);
        if (!from) return;
        for (uint32_t b = 0; b < bytes; b += 4) {
            uint32_t x = 0;
            memcpy(&x, from + b, bytes - b < 4 ? bytes - b : 4);
            w->v[to + b / 4][l] = bytes < 4 ? narrow(x, w->v[to][l], more) : x;
        }
    }
    for (uint32_t d = 0; d < dwords; d++)
        vector_unset_write(w, to + d, 1, w->exec,
                           more & KEEPS && more & HIGH ? w->unset[to][0] : 0,
                           more & KEEPS && !(more & HIGH) ? w->unset[to][1] : 0);
    w->group->counts.global_read += (uint64_t)__builtin_popcountll(w->exec) * bytes;
    pend(w, i, to, dwords);
}

static void access_global(struct wave *w, const struct instruction *i)
{
    struct place p;
    w->group->counts.global++;
    if (!place_of(&p, w, i)) return;
    if (i->opcode->more & STORES) store(w, i, &p);
    else load(w, i, &p);
}

static void nothing(struct wave *w, const struct instruction *i) { (void)w, (void)i; }

/* --- the table -------------------------------------------------------------------- */

/* Number of data registers: the result of loads, the second operand of stores. */
#define DWORDS(MORE) ((((MORE)&255) + 3) / 4)
#define LOADED(MORE) ((MORE)&STORES ? 0 : DWORDS(MORE))
#define OPERANDS(MORE)                                                                   \
    {                                                                                    \
        2, (MORE)&STORES ? DWORDS(MORE) : 0, 2                                           \
    }

/* Each access exists for global memory and for flat addresses.  A flat address may also
   be in LDS on hardware; here such an address belongs to no buffer. */
#define ROW(NUMBER, NAME, MORE)                                                          \
    { .encoding = GLOBAL,                                                                \
      .number = NUMBER,                                                                  \
      .name = "global_" NAME,                                                            \
      .act = access_global,                                                              \
      .d = LOADED(MORE),                                                                 \
      .s = OPERANDS(MORE),                                                               \
      .more = MORE },                                                                    \
    {                                                                                    \
        .encoding = FLAT, .number = NUMBER, .name = "flat_" NAME, .act = access_global,  \
        .d = LOADED(MORE), .s = OPERANDS(MORE), .more = (MORE) | FLAT_ADDRESS            \
    }
#define CACHE(NUMBER, NAME, TARGETS)                                                     \
    {                                                                                    \
        .encoding = MUBUF, .number = NUMBER, .name = "buffer_" NAME, .act = nothing,     \
        .targets = TARGETS                                                               \
    }

const struct opcode gfx9_global[] = {
    /* clang-format off */
    ROW(0x10, "load_ubyte",          1),
    ROW(0x11, "load_sbyte",          1 | SIGNED),
    ROW(0x12, "load_ushort",         2),
    ROW(0x13, "load_sshort",         2 | SIGNED),
    ROW(0x14, "load_dword",          4),
    ROW(0x15, "load_dwordx2",        8),
    ROW(0x16, "load_dwordx3",        12),
    ROW(0x17, "load_dwordx4",        16),
    ROW(0x18, "store_byte",          1 | STORES),
    ROW(0x19, "store_byte_d16_hi",   1 | STORES | HIGH),
    ROW(0x1a, "store_short",         2 | STORES),
    ROW(0x1b, "store_short_d16_hi",  2 | STORES | HIGH),
    ROW(0x1c, "store_dword",         4 | STORES),
    ROW(0x1d, "store_dwordx2",       8 | STORES),
    ROW(0x1e, "store_dwordx3",       12 | STORES),
    ROW(0x1f, "store_dwordx4",       16 | STORES),
    ROW(0x20, "load_ubyte_d16",      1 | KEEPS),
    ROW(0x21, "load_ubyte_d16_hi",   1 | KEEPS | HIGH),
    ROW(0x24, "load_short_d16",      2 | KEEPS),
    ROW(0x25, "load_short_d16_hi",   2 | KEEPS | HIGH),
    CACHE(0x28, "wbl2",         TARGET_GFX90A | TARGET_GFX942),
    CACHE(0x29, "invl2",        TARGET_GFX90A),
    CACHE(0x29, "inv",          TARGET_GFX942),
    CACHE(0x3e, "wbinvl1",      TARGET_GFX908 | TARGET_GFX90A),
    CACHE(0x3f, "wbinvl1_vol",  TARGET_GFX908 | TARGET_GFX90A),
    { 0 }
    /* clang-format on */
};
