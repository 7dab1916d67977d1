/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of a wave: their contents, which bits are uninitialised, and which registers
   are still being loaded. */
#include "emu/gfx9/wave.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void wave_fail(struct wave *w, const struct instruction *i, const char *format, ...)
{
    char why[BITCUT_TEXT_MAX];
    const struct gfx9_kernel *kernel = w->group->launch->kernel;
    va_list arguments;
    if (w->group->failed) return;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    w->group->failed = true;
    fault_set(&w->group->fault, BITCUT_UNSUPPORTED, "%s: %s at 0x%zx: %s", kernel->name,
              i->opcode ? i->opcode->name : "unknown opcode", i->offset - w->group->entry,
              why);
}

/* --- guards ------------------------------------------------------------------------ */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARDED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define GUARDED 1
#endif

#ifdef GUARDED
#include <sanitizer/asan_interface.h>

static void guard(void *at, size_t bytes, bool on)
{
    if (on) __asan_poison_memory_region(at, bytes);
    else __asan_unpoison_memory_region(at, bytes);
}
#else
static void guard(void *at, size_t bytes, bool on) { (void)at, (void)bytes, (void)on; }
#endif

void wave_guard(struct wave *w, bool on)
{
    guard(w->guard_s, sizeof w->guard_s, on);
    guard(w->guard_unset, sizeof w->guard_unset, on);
    guard(w->guard_busy, sizeof w->guard_busy, on);
    guard(w->guard_pending, sizeof w->guard_pending, on);
    guard(w->guard_end, sizeof w->guard_end, on);
    if (!w->v) return;
    guard(w->v[FILES], sizeof *w->v, on);
    guard(w->unset[FILES], sizeof *w->unset, on);
}

/* --- what is being loaded --------------------------------------------------------- */

enum { SCALAR_BUSY = 2 * VGPRS / 64 }; /* position of scalar registers in `busy` */

static void set_busy(struct wave *w, const struct pending *p, bool busy)
{
    const unsigned from = p->scalar ? 64 * SCALAR_BUSY : 0;
    for (unsigned r = from + p->first; r < from + p->first + p->count; r++)
        if (busy) w->busy[r / 64] |= 1ull << r % 64;
        else w->busy[r / 64] &= ~(1ull << r % 64);
}

/* Drop the oldest access of a counter if it is a store to memory.  Nothing has to wait
   for stores, and a kernel may have any number of them in progress.  A counter has six
   bits, so hardware completes a store long before there are PENDING_MAX. */
static void forget_store(struct wave *w, enum counter counter)
{
    for (int p = 0; p < w->pendings; p++) {
        if (w->pending[p].counter != counter) continue;
        if (w->pending[p].load || w->pending[p].lds) return;
        w->pendings--;
        memmove(&w->pending[p], &w->pending[p + 1],
                (size_t)(w->pendings - p) * sizeof w->pending[0]);
        return;
    }
}

void wave_pend(struct wave *w, const struct instruction *i, struct pending p)
{
    if (w->pendings == PENDING_MAX) forget_store(w, p.counter);
    if (w->pendings == PENDING_MAX) {
        wave_fail(w, i, "more than %d memory accesses are pending", PENDING_MAX);
        return;
    }
    p.offset = i->offset;
    w->pending[w->pendings++] = p;
    if (p.load) set_busy(w, &p, true);
}

/* The number of pending accesses of a counter, and whether they complete in order. */
static int count_pending(bool *in_order, const struct wave *w, enum counter counter)
{
    int count = 0;
    *in_order = true;
    for (int p = 0; p < w->pendings; p++) {
        if (w->pending[p].counter != counter) continue;
        count++;
        *in_order &= w->pending[p].in_order;
    }
    return count;
}

void wave_wait(struct wave *w, enum counter counter, int left)
{
    bool in_order;
    int count = count_pending(&in_order, w, counter), kept = 0;
    if (!in_order && left) return; /* it is unknown which accesses have completed */
    for (int p = 0; p < w->pendings; p++) {
        struct pending *x = &w->pending[p];
        if (x->counter == counter && count > left) {
            count--;
            if (x->load) set_busy(w, x, false);
            continue;
        }
        w->pending[kept++] = *x;
    }
    w->pendings = kept;
    for (int p = 0; p < kept; p++)
        if (w->pending[p].load) set_busy(w, &w->pending[p], true);
}

/* Whether none of the registers is being loaded. */
static bool ready(struct wave *w, const struct instruction *i, bool scalar,
                  unsigned first, unsigned count)
{
    const unsigned from = scalar ? 64 * SCALAR_BUSY : 0;
    if (!w->pendings) return true;
    for (unsigned r = first; r < first + count; r++) {
        if (!(w->busy[(from + r) / 64] >> (from + r) % 64 & 1)) continue;
        for (int p = 0; p < w->pendings; p++) {
            const struct pending *x = &w->pending[p];
            if (!x->load || x->scalar != scalar || r < x->first ||
                r >= x->first + (unsigned)x->count)
                continue;
            wave_fail(w, i,
                      "%c%u is still loaded by the instruction at 0x%zx: s_waitcnt is "
                      "missing",
                      scalar      ? 's'
                      : r < VGPRS ? 'v'
                                  : 'a',
                      r % VGPRS, x->offset - w->group->entry);
            return false;
        }
    }
    return true;
}

bool vector_ready(struct wave *w, const struct instruction *i, unsigned first,
                  unsigned count)
{
    assert(first + count <= 2 * VGPRS);
    return ready(w, i, false, first, count);
}

bool scalar_ready(struct wave *w, const struct instruction *i, unsigned first,
                  unsigned count)
{
    assert(first + count <= SGPRS);
    return ready(w, i, true, first, count);
}

/* --- scalar operands -------------------------------------------------------------- */

/* Inline constants from 240 on: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi). */
static const uint32_t fractions[] = { 0x3f000000, 0xbf000000, 0x3f800000,
                                      0xbf800000, 0x40000000, 0xc0000000,
                                      0x40800000, 0xc0800000, 0x3e22f983 };

enum {
    SGPR_LAST = 107,
    INTEGERS = 128, /* 0 to 64, then -1 to -16 */
    NEGATIVES = 193,
    VCCZ = 251,
    EXECZ = 252,
    SCC = 253,
    LITERAL = 255
};

uint32_t scalar_read(struct wave *w, const struct instruction *i, unsigned o)
{
    if (o <= SGPR_LAST || o == SGPR_M0) return scalar_ready(w, i, o, 1) ? w->s[o] : 0;
    if (o == SGPR_EXEC) return (uint32_t)w->exec;
    if (o == SGPR_EXEC + 1) return (uint32_t)(w->exec >> 32);
    if (INTEGERS <= o && o < NEGATIVES) return o - INTEGERS;
    if (NEGATIVES <= o && o < NEGATIVES + 16) return (uint32_t)(NEGATIVES - 1 - (int)o);
    if (is_fraction(o)) return fractions[o - FRACTIONS];
    if (o == VCCZ) return wave_vcc(w) == 0;
    if (o == EXECZ) return w->exec == 0;
    if (o == SCC) return w->scc;
    assert(o == LITERAL);
    return i->literal;
}

/* The same constants as f16. */
static const uint16_t half_fractions[] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                           0xc000, 0x4400, 0xc400, 0x3118 };

uint32_t scalar_read_half(struct wave *w, const struct instruction *i, unsigned o)
{
    return is_fraction(o) ? half_fractions[o - FRACTIONS] : scalar_read(w, i, o);
}

uint64_t scalar_read_pair(struct wave *w, const struct instruction *i, unsigned o)
{
    if (o < SGPR_LAST || o == SGPR_EXEC)
        return scalar_read(w, i, o) | (uint64_t)scalar_read(w, i, o + 1) << 32;
    if (NEGATIVES <= o && o < NEGATIVES + 16)
        return (uint64_t)(NEGATIVES - 1 - (int64_t)o);
    if (is_fraction(o)) {
        wave_fail(w, i, "unsupported 64-bit floating-point constant");
        return 0;
    }
    if (o == LITERAL) return (uint64_t)(int64_t)(int32_t)i->literal;
    return scalar_read(w, i, o);
}

void scalar_write(struct wave *w, const struct instruction *i, unsigned o, uint32_t x)
{
    if (o <= SGPR_LAST || o == SGPR_M0) {
        if (scalar_ready(w, i, o, 1)) w->s[o] = x;
    } else if (o == SGPR_EXEC) w->exec = (w->exec & ~0xffffffffull) | x;
    else w->exec = (w->exec & 0xffffffffull) | (uint64_t)x << 32;
}

void scalar_write_pair(struct wave *w, const struct instruction *i, unsigned o,
                       uint64_t x)
{
    scalar_write(w, i, o, (uint32_t)x);
    scalar_write(w, i, o + 1, (uint32_t)(x >> 32));
}

/* --- what nothing has set --------------------------------------------------------- */

bool scalar_unset(const struct wave *w, unsigned o, int dwords)
{
    bool unset = false;
    if (o == SCC) return w->unset_scc;
    for (int d = 0; d < dwords && o + (unsigned)d < SGPRS; d++)
        unset |= w->unset_s[(o + (unsigned)d) / 64] >> (o + (unsigned)d) % 64 & 1;
    return unset;
}

void scalar_unset_write(struct wave *w, unsigned o, int dwords, bool unset)
{
    for (int d = 0; d < dwords && o + (unsigned)d < SGPRS; d++) {
        const uint64_t bit = 1ull << (o + (unsigned)d) % 64;
        uint64_t *of = &w->unset_s[(o + (unsigned)d) / 64];
        *of = unset ? *of | bit : *of & ~bit;
    }
}

uint64_t vector_unset(const struct wave *w, unsigned first, unsigned count)
{
    uint64_t lanes = 0;
    for (unsigned r = first; r < first + count; r++)
        lanes |= w->unset[r][0] | w->unset[r][1];
    return lanes & w->exec;
}

void vector_unset_write(struct wave *w, unsigned first, unsigned count, uint64_t lanes,
                        uint64_t low, uint64_t high)
{
    for (unsigned r = first; r < first + count; r++) {
        w->unset[r][0] = (w->unset[r][0] & ~lanes) | (low & lanes);
        w->unset[r][1] = (w->unset[r][1] & ~lanes) | (high & lanes);
    }
}
