/* SPDX-License-Identifier: BSD-3-Clause */
/* Every opcode of the executor of AMD code objects, in each of its encodings, compared
   with an independent definition (tests/gfx9/gfx9_machine.h): all registers, masks and
   bytes of memory after one instruction on random ones; the parts of them that depend on
   uninitialized bits; and the counters of s_waitcnt. */
#include "tests/gfx9/gfx9_bench.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- opcodes ----------------------------------------------------------------------- */

static void try_opcode(struct bench *b, const struct gfx9_target *target,
                       const struct opcode *row, uint64_t *rng)
{
    static struct machine was, want;
    struct fields f;
    uint32_t word[3] = { 0 };
    const uint64_t memory = BENCH_MEMORY;
    char what[100];
    was = b->machine;
    machine_vary(&was, rng);
    fields_random(&f, row, target, &was, rng, memory);
    const int words = fields_encode(word, &f);
    snprintf(what, sizeof what, "%s: %s, %08x %08x", target->name, row->name, word[0],
             word[1]);
    bench_prepare(b, target, &was);
    bench_run(b, row, word, words);
    ck_assert_msg(!b->group.failed, "%s: %s", what, b->group.fault.text);
    want = was;
    want.pc = 4 * (uint64_t)words;
    ck_assert_msg(
        machine_step(&want, row->name, &f, ADDRESS_CODE, memory),
        "%s is stated nowhere", row->name);
    ck_assert_msg(bench_is_set(b), "%s: something is not set", what);
    bench_compare(&b->machine, &want, &was, what, &f);
}

typedef void try_row(struct bench *b, const struct gfx9_target *target,
                     const struct opcode *row, uint64_t *rng);

/* Every row that is no matrix instruction, for every target that has it. */
static void try_table(const struct opcode *table, int cases, try_row *try)
{
    struct bench *b = bench_make(2);
    uint64_t rng = test_seed();
    machine_random(&b->machine, &rng);
    for (const struct gfx9_target *t = gfx9_targets; t->name; t++)
        for (const struct opcode *row = table; row->name; row++)
            for (int n = 0; n < cases; n++)
                if (!row->unit && (!row->targets || row->targets & t->bit))
                    try(b, t, row, &rng);
    bench_free(b, 2);
}

START_TEST(test_scalar)
{
    try_table(gfx9_scalar, test_cases(40, 4000), try_opcode);
    try_table(gfx9_memory_scalar, test_cases(40, 4000), try_opcode);
}
END_TEST

START_TEST(test_vector) { try_table(gfx9_vector, test_cases(24, 2000), try_opcode); }
END_TEST

START_TEST(test_packed)
{
    try_table(gfx9_packed, test_cases(24, 2000), try_opcode);
    try_table(gfx9_matrix, test_cases(24, 2000), try_opcode); /* accumulators */
}
END_TEST

START_TEST(test_memory)
{
    try_table(gfx9_lds, test_cases(24, 2000), try_opcode);
    try_table(gfx9_global, test_cases(24, 2000), try_opcode);
}
END_TEST

/* --- what is not set --------------------------------------------------------------- */

/* Halves of so many registers are what nothing has set; in `other` they are something
   else. */
static void forget_registers(struct bench *b, struct machine *other, unsigned from,
                             unsigned count, uint64_t *rng)
{
    for (unsigned r = from; r < from + count && r < 2 * VGPRS; r++)
        for (int h = 0; h < 2; h++) {
            const uint64_t lanes = test_bits(rng) % 2 ? mask_random(rng) : 0;
            b->unset[r][h] |= lanes;
            for (int l = 0; l < LANES; l++)
                if (lanes >> l & 1)
                    other->v[r][l] ^= (uint32_t)(test_bits(rng) & 0xffff) << 16 * h;
        }
}

/* Some scalar registers likewise. */
static void forget_scalars(struct bench *b, struct machine *other, uint64_t *rng)
{
    for (unsigned r = 0; r < SGPR_EXEC; r++) {
        if (test_bits(rng) % 4 || r == SGPR_M0) continue;
        b->wave.unset_s[r / 64] |= 1ull << r % 64;
        other->s[r] = word_random(rng);
    }
}

/* Of memory instructions what is stored, the rest of what is loaded to, and bytes of LDS;
   of others all operands, and what the result replaces. */
static void forget_some(struct bench *b, struct machine *other, const struct fields *f,
                        uint64_t *rng)
{
    const bool memory = f->encoding >= DS;
    const unsigned more = f->accumulators ? VGPRS : 0;
    for (int n = 0; n < 3 && !memory; n++)
        if (f->s[n] >= 256 && f->s[n] < 512)
            forget_registers(b, other, f->s[n] - 256, 2, rng);
    if (!memory) {
        forget_scalars(b, other, rng);
        if (f->d >= 256) forget_registers(b, other, f->d - 256, 2, rng);
        return;
    }
    if (f->data[0]) forget_registers(b, other, f->data[0] + more, 4, rng);
    if (f->data[1]) forget_registers(b, other, f->data[1] + more, 4, rng);
    if (f->d > 128) forget_registers(b, other, f->d + more, 4, rng);
    for (size_t at = 0; at < MEMORY_BYTES; at++)
        if (test_bits(rng) % 4 == 0) b->lds_set[at] = 0, other->lds[at] ^= 1 + at % 255;
}

/* What differs between two runs must be what the first calls not set. */
static void compare_known(const struct bench *a, const struct bench *b, const char *what)
{
    for (int r = 0; r < 2 * VGPRS; r++)
        for (int l = 0; l < LANES; l++) {
            const uint32_t unset = (a->unset[r][0] >> l & 1 ? 0xffff : 0) |
                                   (a->unset[r][1] >> l & 1 ? 0xffff0000 : 0);
            const uint32_t differs = a->machine.v[r][l] ^ b->machine.v[r][l];
            if (differs & ~unset)
                ck_abort_msg(
                    "%s: v%d of lane %d is %08x or %08x, and only %08x of it is said "
                    "not to be set",
                    what, r, l, a->machine.v[r][l], b->machine.v[r][l], unset);
        }
    for (unsigned r = 0; r < SGPR_EXEC; r++)
        if (a->machine.s[r] != b->machine.s[r] && !scalar_unset(&a->wave, r, 1))
            ck_abort_msg("%s: s%u is %08x or %08x", what, r, a->machine.s[r],
                         b->machine.s[r]);
    if (a->machine.scc != b->machine.scc && !a->wave.unset_scc)
        ck_abort_msg("%s: scc", what);
    if (a->machine.exec != b->machine.exec) ck_abort_msg("%s: exec", what);
    for (size_t at = 0; at < MEMORY_BYTES; at++)
        if (a->machine.lds[at] != b->machine.lds[at] && a->lds_set[at])
            ck_abort_msg("%s: byte %zu of LDS", what, at);
}

static void try_forgotten(struct bench *b, const struct gfx9_target *target,
                          const struct opcode *row, uint64_t *rng)
{
    static struct machine was, other;
    struct fields f;
    uint32_t word[3] = { 0 };
    was = b->machine;
    machine_vary(&was, rng);
    fields_random(&f, row, target, &was, rng, BENCH_MEMORY);
    const int words = fields_encode(word, &f);
    other = was;
    bench_prepare(&b[0], target, &was);
    forget_some(&b[0], &other, &f, rng);
    bench_prepare(&b[1], target, &other);
    memcpy(b[1].unset, b[0].unset, sizeof b[1].unset);
    memcpy(b[1].lds_set, b[0].lds_set, sizeof b[1].lds_set);
    b[1].memory.at =
        b[0].memory.at; /* which both load from; what is not set is stored nowhere */
    memcpy(b[1].wave.unset_s, b[0].wave.unset_s, sizeof b[1].wave.unset_s);
    b[0].wave.unset_scc = b[1].wave.unset_scc = test_bits(rng) & 1;
    if (b[0].wave.unset_scc) b[1].wave.scc = !b[0].wave.scc;
    bench_run(&b[0], row, word, words);
    bench_run(&b[1], row, word, words);
    char what[100];
    snprintf(what, sizeof what, "%s: %s, %08x %08x", target->name, row->name, word[0],
             word[1]);
    if (!b[0].group.failed && !b[1].group.failed) compare_known(&b[0], &b[1], what);
}

START_TEST(test_unset)
{
    try_table(gfx9_scalar, test_cases(40, 4000), try_forgotten);
    try_table(gfx9_vector, test_cases(24, 2000), try_forgotten);
    try_table(gfx9_packed, test_cases(24, 2000), try_forgotten);
    try_table(gfx9_matrix, test_cases(24, 2000), try_forgotten); /* accumulators */
    try_table(gfx9_lds, test_cases(24, 2000), try_forgotten);
    try_table(gfx9_global, test_cases(24, 2000), try_forgotten);
}
END_TEST

/* --- waits ------------------------------------------------------------------------- */

static const struct opcode *row_named(const struct opcode *table, const char *name)
{
    while (strcmp(table->name, name)) table++;
    return table;
}

static void issue(struct bench *b, const struct opcode *table, const char *name,
                  struct fields f)
{
    const struct opcode *row = row_named(table, name);
    uint32_t word[3] = { 0 };
    f.encoding = row->encoding, f.number = row->number;
    const int words = fields_encode(word, &f);
    bench_run(b, row, word, words);
}

/* Whether a register can be read: scalar below 256. */
static bool reads(struct bench *b, unsigned r)
{
    issue(b, gfx9_vector, "v_mov_b32", (struct fields){ .d = 256 + 200, .s = { r } });
    const bool failed = b->group.failed;
    if (failed)
        ck_assert_ptr_nonnull(strstr(b->group.fault.text, "s_waitcnt is missing"));
    b->group.failed = false;
    return !failed;
}

enum { VM_ALL = 63, LGKM_ALL = 15 };

static void wait_for(struct bench *b, unsigned vm, unsigned lgkm)
{
    issue(b, gfx9_scalar, "s_waitcnt",
          (struct fields){ .k = (vm & 15) | 7u << 4 | lgkm << 8 | vm >> 4 << 14 });
}

/* Loads to v10, v11... from memory and from LDS, to s10... of scalars; those of a kind
   but the last come back in order. */
START_TEST(test_waits)
{
    static const struct {
        const char *name;
        const struct opcode *table;
        unsigned first, step;
        bool vm, in_order;
    } kinds[] = {
        { "global_load_dword", gfx9_global, 256 + 10, 1, true, true },
        { "flat_load_dword", gfx9_global, 256 + 10, 1, true, false },
        { "ds_read_b32", gfx9_lds, 256 + 10, 1, false, true },
        { "s_load_dwordx2", gfx9_memory_scalar, 10, 2, false, false },
    };
    static struct machine was;
    struct bench *b = bench_make(1);
    const uint64_t memory = BENCH_MEMORY;
    was.exec = 1;
    was.v[0][0] = (uint32_t)memory, was.v[1][0] = (uint32_t)(memory >> 32);
    was.s[0] = (uint32_t)memory, was.s[1] = (uint32_t)(memory >> 32);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (unsigned left = 0; left <= 4; left++) {
            bench_prepare(b, &gfx9_targets[1], &was);
            for (unsigned n = 0; n < 4; n++)
                issue(b, kinds[kind].table, kinds[kind].name,
                      (struct fields){ .d = (kinds[kind].first & 255) +
                                            kinds[kind].step * n,
                                       .address = kinds[kind].vm || kind == 3 ? 0 : 2,
                                       .base = 127,
                                       .has_offset = true });
            wait_for(b, kinds[kind].vm ? VM_ALL : 0, kinds[kind].vm ? 0 : LGKM_ALL);
            wait_for(b, kinds[kind].vm ? left : VM_ALL, kinds[kind].vm ? LGKM_ALL : left);
            for (unsigned n = 0; n < 4; n++) {
                const bool back = kinds[kind].in_order ? n + left < 4 : left == 0;
                ck_assert_msg(reads(b, kinds[kind].first + kinds[kind].step * n) == back,
                              "%s: %u of 4, %u left", kinds[kind].name, n, left);
            }
            wait_for(b, 0, 0);
            for (unsigned n = 0; n < 4; n++)
                ck_assert(reads(b, kinds[kind].first + kinds[kind].step * n));
            ck_assert(!b->group.failed && !b->wave.pendings);
        }
    bench_free(b, 1);
}
END_TEST

/* Of stores, which nothing has to wait for, there may be any number; of loads not. */
START_TEST(test_many_accesses)
{
    static struct machine was;
    struct bench *b = bench_make(1);
    const uint64_t memory = BENCH_MEMORY;
    was.exec = 1;
    was.v[0][0] = (uint32_t)memory, was.v[1][0] = (uint32_t)(memory >> 32);
    bench_prepare(b, &gfx9_targets[1], &was);
    const struct fields load = { .d = 10, .base = 127 },
                        store = { .data = { 5 }, .base = 127 };
    issue(b, gfx9_global, "global_load_dword", load);
    for (int n = 0; n < 2 * PENDING_MAX; n++)
        issue(b, gfx9_global, "global_store_dword", store);
    ck_assert_msg(b->group.failed, "the load before them was forgotten");
    bench_prepare(b, &gfx9_targets[1], &was);
    for (int n = 0; n < 2 * PENDING_MAX; n++)
        issue(b, gfx9_global, "global_store_dword", store);
    issue(b, gfx9_global, "global_load_dword", load);
    ck_assert_msg(!b->group.failed, "%s", b->group.fault.text);
    ck_assert(!reads(b, 256 + 10));
    wait_for(b, 0, LGKM_ALL);
    ck_assert(reads(b, 256 + 10) && !b->wave.pendings);
    bench_free(b, 1);
}
END_TEST

TEST_MAIN("gfx9", test_scalar, test_vector, test_packed, test_memory, test_unset,
          test_waits, test_many_accesses)
