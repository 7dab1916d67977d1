/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_hostile.h"
#include "tests/gfx9/gfx9_bench.h"
#include "tests/gfx9/gfx9_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- choices ----------------------------------------------------------------------- */

struct choices {
    const uint8_t *at, *end;
};

/* The next bytes as a number; zeros behind the end, which choose what is usual. */
static uint64_t take(struct choices *c, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes && c->at < c->end; i++) x |= (uint64_t)*c->at++ << 8 * i;
    return x;
}

static uint32_t below(struct choices *c, uint32_t end)
{
    return (uint32_t)take(c, end > 256 ? 4 : 1) % end;
}

/* Small, around what registers end at, a power of two more or less, or anything. */
static uint64_t number(struct choices *c)
{
    static const uint32_t near[] = { 0, 64, 104, 107, 120, 127, 250, 255, 1024, 4096 };
    const uint32_t kind = below(c, 8);
    if (kind < 4) return below(c, 64);
    if (kind < 6) return near[below(c, 10)] + below(c, 4);
    if (kind < 7) return (1ull << below(c, 64)) - 1 + below(c, 3);
    return take(c, 8);
}

static void fail(const char *why, const char *more)
{
    fprintf(stderr, "hostile code: %s: %s\n", why, more);
    abort();
}

/* --- instructions ------------------------------------------------------------------ */

enum { CODE_MAX = 160, ITEMS = 32 };

/* The bits of the first word that say which opcode it is. */
static const uint32_t fixed[] = {
    [SOP2] = 0xff800000, [SOPK] = 0xff800000, [SOP1] = 0xff80ff00,  [SOPC] = 0xffff0000,
    [SOPP] = 0xffff0000, [SMEM] = 0xfffc0000, [VOP2] = 0xfe000000,  [VOP1] = 0xfe01fe00,
    [VOPC] = 0xfffe0000, [VOP3] = 0xffff0000, [VOP3P] = 0xffff0000, [MUBUF] = 0xfdfc0000,
    [DS] = 0xfdfe0000,   [FLAT] = 0xfdfcc000, [GLOBAL] = 0xfdfcc000
};
static const struct {
    uint32_t bits;
    int shift;
} forms[] = { [SOP2] = { 0x80000000, 23 },  [SOPK] = { 0xb0000000, 23 },
              [SOP1] = { 0xbe800000, 8 },   [SOPC] = { 0xbf000000, 16 },
              [SOPP] = { 0xbf800000, 16 },  [SMEM] = { 0xc0000000, 18 },
              [VOP2] = { 0, 25 },           [VOP1] = { 0x7e000000, 9 },
              [VOPC] = { 0x7c000000, 17 },  [VOP3] = { 0xd0000000, 16 },
              [VOP3P] = { 0xd3800000, 16 }, [MUBUF] = { 0xe0000000, 18 },
              [DS] = { 0xd8000000, 17 },    [FLAT] = { 0xdc000000, 18 },
              [GLOBAL] = { 0xdc008000, 18 } };

static const struct opcode *row_take(struct choices *c)
{
    static const struct opcode *const tables[] = { gfx9_scalar, gfx9_memory_scalar,
                                                   gfx9_vector, gfx9_packed,
                                                   gfx9_lds,    gfx9_global,
                                                   gfx9_matrix };
    const struct opcode *table = tables[below(c, 7)];
    size_t count = 0;
    while (table[count].name) count++;
    return &table[below(c, (uint32_t)count)];
}

/* A row's instruction with any operands; VOP1, VOP2 and VOPC also as VOP3 has them. */
static size_t put_any(uint32_t *to, const struct opcode *row, struct choices *c)
{
    static const uint32_t long_of[] = { [VOP2] = 0x100, [VOP1] = 0x140, [VOPC] = 0 };
    const uint32_t how = below(c, 4);
    enum encoding e = row->encoding;
    uint32_t opcode = (uint32_t)row->number;
    if (how == 0 && (e == VOP1 || e == VOP2 || e == VOPC)) opcode += long_of[e], e = VOP3;
    const uint32_t any = how == 1
                             ? (uint32_t)take(c, 4)
                             : (uint32_t)(number(c) | number(c) << 8 | number(c) << 16);
    to[0] = forms[e].bits | opcode << forms[e].shift | (any & ~fixed[e]);
    to[1] = how == 1 ? (uint32_t)take(c, 4)
                     : (uint32_t)(number(c) | number(c) << 9 | number(c) << 18);
    return e == SOP1 || e == SOP2 || e == SOPK || e == SOPC || e == SOPP ? 1 : 2;
}

/* One as a compiler may write it, or with a few bits changed. */
static size_t put_usual(uint32_t *to, const struct opcode *row,
                        const struct gfx9_target *target, struct choices *c)
{
    static struct machine m;
    struct fields f;
    uint32_t word[3] = { 0 };
    uint64_t rng = take(c, 4);
    fields_random(&f, row, target, &m, &rng, GFX9_ADDRESS_FIRST);
    const int words = fields_encode(word, &f);
    for (uint32_t n = below(c, 4); n > 1; n--) {
        const uint32_t bit = below(c, 64);
        word[bit / 32] ^= (1u << bit % 32) & ~(bit < 32 ? fixed[row->encoding] : 0);
    }
    memcpy(to, word, sizeof word);
    return (size_t)words;
}

static size_t put_row(uint32_t *to, const struct gfx9_target *target, struct choices *c)
{
    const struct opcode *row = row_take(c);
    if (row->unit || (row->targets && !(row->targets & target->bit)) || below(c, 2))
        return put_any(to, row, c);
    return put_usual(to, row, target, c);
}

static uint32_t move_scalar(unsigned d, uint32_t s) { return 0xbe800000 | d << 16 | s; }
static uint32_t move_vector(unsigned d, uint32_t s) { return 0x7e000200 | d << 17 | s; }

/* The addresses of both buffers to s[4:7] and v[1:4], numbers to other registers. */
static size_t put_beginning(uint32_t *to)
{
    size_t n = 0;
    to[n++] = 0xc00a0100, to[n++] = 0; /* s_load_dwordx4 s[4:7], s[0:1], 0 */
    to[n++] = 0xbf8c0000;              /* s_waitcnt 0 */
    for (unsigned s = 2; s < 4; s++) to[n++] = move_scalar(s, 128 + s);
    for (unsigned s = 8; s < ITEMS; s++) to[n++] = move_scalar(s, 128 + s);
    for (unsigned v = 1; v < 5; v++) to[n++] = move_vector(v, 3 + v);
    for (unsigned v = 5; v < 12; v++) to[n++] = move_vector(v, 128 + v);
    return n;
}

/* s0 to s31 to the second buffer, whose address is in v[20:21]. */
static size_t put_ending(uint32_t *to)
{
    size_t n = 0;
    to[n++] = move_vector(20, 6), to[n++] = move_vector(21, 7);
    for (unsigned s = 0; s < ITEMS; s++) {
        to[n++] = move_vector(22, s);
        to[n++] = 0xdc708000 | 4 * s, to[n++] = 0x007f1614; /* global_store_dword */
    }
    return n;
}

static size_t put_code(uint32_t to[CODE_MAX], const struct gfx9_target *target,
                       struct choices *c)
{
    size_t n = 0;
    const bool whole = below(c, 4) < 3;
    if (whole) n += put_beginning(to);
    if (whole && below(c, 4) == 0) to[n++] = 0xbe881c00; /* s_getpc_b64 s[8:9] */
    for (uint32_t rows = 1 + below(c, 3); rows; rows--) n += put_row(to + n, target, c);
    if (whole && below(c, 2)) n += put_ending(to + n);
    to[n++] = below(c, 16) < 15 ? 0xbf810000 : 0xbf82ffff; /* s_endpgm; s_branch -1 */
    return n;
}

/* --- files ------------------------------------------------------------------------- */

static void take_descriptor(struct code_descriptor *d, struct choices *c)
{
    *d = (struct code_descriptor){ .lds = 4096, .arguments = 64, .properties = 8 };
    if (below(c, 2) == 0) return;
    const uint64_t x = number(c);
    switch (below(c, 8)) {
    case 0: d->lds = (uint32_t)x; break;
    case 1: d->scratch = (uint32_t)x; break;
    case 2: d->arguments = (uint32_t)x; break;
    case 3: d->resources1 = (uint32_t)x; break;
    case 4: d->resources2 = (uint32_t)x << 7; break;
    case 5: d->entry = (int64_t)x; break;
    case 6: d->properties = (uint16_t)x; break;
    default: d->resources2 = (uint32_t)take(c, 4);
    }
}

static void take_arguments(struct code_file *x, struct choices *c)
{
    x->argument[0] = (struct code_argument){ 0, 8, true, false };
    x->argument[1] = (struct code_argument){ 8, 8, true, false };
    x->arguments = 2;
    if (below(c, 2) == 0) return;
    for (uint32_t n = below(c, 8); n; n--)
        x->argument[x->arguments++] =
            (struct code_argument){ number(c), number(c), below(c, 2), below(c, 2) };
}

/* Too much of something. */
static void take_excess(struct code_file *x, struct choices *c)
{
    const uint64_t n = below(c, 1024), large = number(c);
    switch (below(c, 11)) {
    case 0: x->zeros = large; break;
    case 1: x->zeros = x->code_zeros = large; break;
    case 2: x->more_sections = n; break;
    case 3: x->more_segments = n; break;
    case 4: x->more_notes = n; break;
    case 5: x->more_kernels = n; break;
    case 6: x->more_symbols = x->name_bytes = n; break;
    case 7: x->more_tables = n; break;
    case 8: x->nested = n; break;
    case 9: x->repeated = below(c, 4); break;
    default: x->claimed = (uint32_t)large; break;
    }
    x->same_names = below(c, 2);
    x->apart = below(c, 2);
}

/* Bytes changed here and there. */
static void damage(uint8_t *file, size_t bytes, struct choices *c)
{
    for (uint32_t n = below(c, 6); n; n--) {
        const size_t at = take(c, 4) % bytes;
        const uint64_t x = number(c);
        const size_t width = 1u << below(c, 4);
        memcpy(file + at, &x, width < bytes - at ? width : bytes - at);
    }
}

static uint8_t *take_file(size_t *bytes, struct choices *c)
{
    uint32_t code[CODE_MAX];
    struct code_file x = { .target = &gfx9_targets[below(c, 3)],
                           .code = code,
                           .items_most = 256 };
    const uint32_t how = below(c, 8);
    take_descriptor(&x.descriptor, c);
    take_arguments(&x, c);
    if (how == 7) take_excess(&x, c);
    x.dwords = put_code(code, x.target, c);
    uint8_t *file = code_file_make(bytes, &x);
    if (how == 1) damage(file, *bytes, c);
    if (how == 2) *bytes = take(c, 4) % *bytes;
    return file;
}

/* --- runs -------------------------------------------------------------------------- */

enum { BUFFER = 4096, SEGMENT = 4096, APART = 1 << 16 };

/* The bytes that a kernel's arguments take by its notes, as callers have them. */
static size_t argument_bytes(const struct gfx9_kernel *k)
{
    size_t bytes = 16;
    for (int n = 0; n < k->arguments; n++) {
        const uint64_t end = (uint64_t)k->argument[n].offset + k->argument[n].bytes;
        if (end > bytes && end <= SEGMENT) bytes = end;
    }
    return bytes;
}

/* Of a fault: one line of characters that can be printed. */
static void check_fault(const struct fault *f)
{
    if (!f->text[0]) fail("a fault without a line", "");
    for (const char *c = f->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fail("a line that is not one", f->text);
}

/* One run, of the first buffer's bytes as they are; `to` has the second's. */
static enum bitcut_status run_once(uint8_t to[BUFFER], struct fault *f,
                                   const struct gfx9_object *o,
                                   const struct gfx9_kernel *k, uint32_t items)
{
    uint8_t *a = malloc(BUFFER), *d = malloc(BUFFER);
    if (!a || !d) abort();
    for (int n = 0; n < BUFFER; n++) a[n] = (uint8_t)(7 * n);
    memset(d, 0, BUFFER);
    struct gfx9_memory memory[] = { { .at = a, .bytes = BUFFER },
                                    { .at = d, .bytes = BUFFER } };
    gfx9_address_set(&memory[1], gfx9_address_set(&memory[0], GFX9_ADDRESS_FIRST));
    const uint64_t arguments[SEGMENT / 8] = { memory[0].address, memory[1].address };
    const struct gfx9_launch launch = { .object = o,
                                        .kernel = k,
                                        .groups = { 1, 1, 1 },
                                        .items = { items, 1, 1 },
                                        .arguments = arguments,
                                        .argument_bytes = argument_bytes(k),
                                        .memory = memory,
                                        .memories = 2,
                                        .threads = 1,
                                        .seconds = 0.005 };
    const enum bitcut_status status = gfx9_run(NULL, &launch, f);
    memcpy(to, d, BUFFER);
    free(a);
    free(d);
    if (status == BITCUT_OK) return status;
    if (status != f->status ||
        (status != BITCUT_UNSUPPORTED && status != BITCUT_BAD_ARGUMENT))
        fail("another status", f->text);
    check_fault(f);
    return status;
}

static bool run_kernel(const struct gfx9_object *o, const struct gfx9_kernel *k,
                       uint32_t items)
{
    static uint8_t first[BUFFER], second[BUFFER];
    struct fault f, g;
    const enum bitcut_status status = run_once(first, &f, o, k, items);
    void *elsewhere = malloc(APART);
    const enum bitcut_status again = run_once(second, &g, o, k, items);
    free(elsewhere);
    const bool timed = (status && strstr(f.text, "did not end within")) ||
                       (again && strstr(g.text, "did not end within"));
    if (!timed && status != again) fail("two runs end differently", k->name);
    if (!timed && memcmp(first, second, BUFFER) != 0)
        fail("two runs store other bytes", k->name);
    return status == BITCUT_OK;
}

int hostile_run(const uint8_t *bytes, size_t size)
{
    static const uint32_t items[] = { 64, 1, 65, 256 };
    struct choices c = { bytes, bytes + size };
    struct gfx9_object *o;
    struct fault f;
    size_t count = size;
    const bool raw = size > 4 && !memcmp(bytes, "\177ELF", 4);
    const uint32_t wide = raw ? 64 : items[below(&c, 4)];
    uint8_t *file = raw ? NULL : take_file(&count, &c);
    const enum bitcut_status status = gfx9_load(&o, raw ? bytes : file, count, &f);
    free(file);
    if (status != BITCUT_OK) {
        check_fault(&f);
        return 0;
    }
    int good = 0, kernels = 4;
    for (const struct gfx9_kernel *k = NULL; kernels-- && (k = gfx9_kernel_next(o, k));)
        good |= run_kernel(o, k, wide);
    gfx9_unload(o);
    return good;
}
