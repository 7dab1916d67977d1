/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_bench.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- random machines --------------------------------------------------------------- */

uint32_t word_random(uint64_t *rng)
{
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x80000001, 0x7fffffff, 0xffffffff,
        0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
        0x7f800001, 0xff912345, 0x7f7fffff, 0x00800000, 0x807fffff, 0x4f000000,
        0xcf000000, 0x4f7fffff, 0x3f000000, 0x477fe000, 0x477ff000, 0x33000000,
        0x33000001, 0x38800000, 0x7c003c00, 0xfc007e00, 0x7d010001, 0x80000400,
        0x03ff8001, 0x7bff7bff, 31,         32,         63,
    };
    const uint64_t x = test_bits(rng);
    switch (x % 8) {
    case 0:
    case 1: return special[x / 8 % (sizeof special / sizeof *special)];
    case 2: return (uint32_t)(x >> 32) % 80;
    case 3: return 0x3f800000 + (uint32_t)(x >> 40) - (1 << 23); /* near 1 */
    case 4: return (uint32_t)(x >> 32) & 0xbfffbfff;             /* f16 below 2 */
    default: return (uint32_t)(x >> 32);
    }
}

uint64_t mask_random(uint64_t *rng)
{
    const uint64_t x = test_bits(rng);
    return test_bits(rng) % 4 ? x : x & 1 ? ~0ull : 0;
}

static void register_random(struct machine *x, int r, uint64_t *rng)
{
    for (int l = 0; l < LANES; l++) x->v[r][l] = word_random(rng);
}

void machine_vary(struct machine *x, uint64_t *rng)
{
    for (int n = 0; n < 32; n++)
        register_random(x, test_between(rng, 0, 2 * VGPRS - 1), rng);
    for (int r = 0; r < SGPR_EXEC; r++) x->s[r] = word_random(rng);
    x->exec = mask_random(rng);
    x->scc = test_bits(rng) & 1;
    x->ended = x->waiting = false;
    x->pc = 0;
}

void machine_random(struct machine *x, uint64_t *rng)
{
    memset(x, 0, sizeof *x);
    for (int r = 0; r < 2 * VGPRS; r++) register_random(x, r, rng);
    for (size_t b = 0; b < MEMORY_BYTES; b++) {
        x->lds[b] = (uint8_t)test_bits(rng);
        x->memory[b] = (uint8_t)test_bits(rng);
    }
    machine_vary(x, rng);
}

/* --- the executor ------------------------------------------------------------------ */

struct bench *bench_make(int count)
{
    struct bench *b = calloc((size_t)count, sizeof *b);
    ck_assert_ptr_nonnull(b);
    for (int n = 0; n < count; n++) {
        b[n].matrix = matrix_room_make();
        ck_assert_ptr_nonnull(b[n].matrix);
    }
    return b;
}

void bench_free(struct bench *b, int count)
{
    for (int n = 0; n < count; n++) free(b[n].matrix);
    free(b);
}

void bench_prepare(struct bench *b, const struct gfx9_target *target,
                   const struct machine *from)
{
    memset(&b->group, 0, sizeof b->group);
    memset(&b->wave, 0, sizeof b->wave);
    memset(b->unset, 0, sizeof b->unset);
    memset(b->touched, 0, sizeof b->touched);
    memset(b->lds_set, 1, sizeof b->lds_set);
    b->machine = *from;
    if (b->object.target != target) {
        memset(&b->object, 0, sizeof b->object);
        b->object.target = target;
        gfx9_find_units(&b->object);
    }
    b->segment = (struct segment){ 0, IMAGE_BYTES, b->image, IMAGE_BYTES };
    b->object.segments = &b->segment;
    b->object.segment_count = 1;
    b->kernel.name = "one";
    b->memory = (struct gfx9_memory){ b->machine.memory, MEMORY_BYTES, BENCH_MEMORY };
    b->launch = (struct gfx9_launch){
        .object = &b->object, .kernel = &b->kernel, .memory = &b->memory, .memories = 1
    };
    b->group = (struct group){ .launch = &b->launch,
                               .object = &b->object,
                               .waves = &b->wave,
                               .wave_count = 1,
                               .epoch = 1,
                               .lds = b->machine.lds,
                               .lds_set = b->lds_set,
                               .touched = b->touched,
                               .lds_bytes = MEMORY_BYTES,
                               .matrix = b->matrix };
    b->wave = (struct wave){ .group = &b->group,
                             .exec = from->exec,
                             .scc = from->scc,
                             .v = b->machine.v,
                             .unset = b->unset };
    memcpy(b->wave.s, from->s, sizeof b->wave.s);
}

void bench_run(struct bench *b, const struct opcode *row, const uint32_t word[3],
               int words)
{
    struct instruction i;
    memset(b->image, 0, sizeof b->image);
    memcpy(b->image, word, 4 * (size_t)words);
    gfx9_decode(&i, &b->object, 0);
    if (i.opcode != row)
        ck_abort_msg("%s: %08x %08x is decoded as %s", row->name, word[0], word[1],
                     i.opcode ? i.opcode->name : "nothing");
    ck_assert_msg(i.bytes == 4 * words, "%s has %d bytes", row->name, i.bytes);
    char why[80] = "";
    ck_assert_msg(operands_exist(why, sizeof why, &i) && !i.cannot,
                  "%s: %08x %08x: %s", row->name, word[0], word[1],
                  i.cannot ? i.cannot : why);
    ck_assert(!i.refused);
    b->wave.pc = i.bytes;
    i.opcode->act(&b->wave, &i);
    memcpy(b->machine.s, b->wave.s, sizeof b->wave.s);
    b->machine.exec = b->wave.exec;
    b->machine.scc = b->wave.scc;
    b->machine.pc = b->wave.pc;
    b->machine.ended = b->wave.ended;
    b->machine.waiting = b->wave.waiting;
}

bool bench_is_set(const struct bench *b)
{
    static const uint64_t none[2 * VGPRS][2];
    return !memcmp(b->unset, none, sizeof none) && !b->wave.unset_s[0] &&
           !b->wave.unset_s[1] && !b->wave.unset_scc;
}

/* --- comparison -------------------------------------------------------------------- */

/* Fail with the first register that differs, and what its lane had. */
static void fail_register(const struct machine *got, const struct machine *want,
                          const struct machine *was, const char *what,
                          const struct fields *f)
{
    int at = 0;
    while (got->v[at / LANES][at % LANES] == want->v[at / LANES][at % LANES]) at++;
    const int r = at / LANES, l = at % LANES;
    ck_abort_msg(
        "%s: %c%d of lane %d is %08x, not %08x; it was %08x, operands %u %u %u were "
        "%08x %08x %08x",
        what, r < VGPRS ? 'v' : 'a', r % VGPRS, l, got->v[r][l], want->v[r][l],
        was->v[r][l], f->s[0], f->s[1], f->s[2],
        (uint32_t)machine_operand(was, f, 0, 'd', l),
        (uint32_t)machine_operand(was, f, 1, 'd', l),
        (uint32_t)machine_operand(was, f, 2, 'd', l));
}

void bench_compare(const struct machine *got, const struct machine *want,
                   const struct machine *was, const char *what, const struct fields *f)
{
    if (memcmp(got->v, want->v, sizeof got->v)) fail_register(got, want, was, what, f);
    for (int r = 0; r < SGPRS; r++)
        if (got->s[r] != want->s[r])
            ck_abort_msg("%s: s%d is %08x, not %08x; operands %u %u", what, r, got->s[r],
                         want->s[r], f->s[0], f->s[1]);
    if (got->exec != want->exec) ck_abort_msg("%s: exec", what);
    if (got->scc != want->scc)
        ck_abort_msg("%s: scc is %d; operands %u %u were %llx %llx", what, got->scc,
                     f->s[0], f->s[1],
                     (unsigned long long)machine_operand(was, f, 0, 'q', 0),
                     (unsigned long long)machine_operand(was, f, 1, 'q', 0));
    if (got->pc != want->pc) ck_abort_msg("%s: where it goes on", what);
    if (got->ended != want->ended || got->waiting != want->waiting)
        ck_abort_msg("%s: end", what);
    if (memcmp(got->lds, want->lds, MEMORY_BYTES)) ck_abort_msg("%s: LDS", what);
    if (memcmp(got->memory, want->memory, MEMORY_BYTES)) ck_abort_msg("%s: memory", what);
}
