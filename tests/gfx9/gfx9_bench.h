/* SPDX-License-Identifier: BSD-3-Clause */
/* A single wave of the executor: one instruction on random registers and memory, and a
   comparison with an independent definition. */
#ifndef BITCUT_TESTS_GFX9_GFX9_BENCH_H
#define BITCUT_TESTS_GFX9_GFX9_BENCH_H

#include "tests/gfx9/gfx9_machine.h"

/* Encodings that f32, pairs of f16 and integers are special at; lanes, often all or none;
   a whole machine of them, and another one: its scalars, and some of its registers. */
uint32_t word_random(uint64_t *rng);
uint64_t mask_random(uint64_t *rng);
void machine_random(struct machine *x, uint64_t *rng);
void machine_vary(struct machine *x, uint64_t *rng);

enum { IMAGE_BYTES = 64 };

/* An object of one instruction, and a group of one wave; memory is the machine's. */
struct bench {
    struct gfx9_object object;
    struct segment segment;
    _Alignas(64) uint8_t image[IMAGE_BYTES];
    struct gfx9_kernel kernel;
    struct gfx9_memory memory;
    struct gfx9_launch launch;
    struct group group;
    struct wave wave;
    struct matrix_room *matrix; /* kept from one instruction to the next */
    uint64_t unset[2 * VGPRS][2];
    uint8_t lds_set[MEMORY_BYTES];
    struct touched touched[MEMORY_BYTES / 2 + 1];
    struct machine machine;
};

/* Where its memory is for the kernel. */
#define BENCH_MEMORY GFX9_ADDRESS_FIRST

/* As `from` says, for a target, whose units are found. */
void bench_prepare(struct bench *b, const struct gfx9_target *target,
                   const struct machine *from);

/* Execute the words; the row must be what they are decoded as. */
void bench_run(struct bench *b, const struct opcode *row, const uint32_t word[3],
               int words);

/* A bench of zeros, and its end. */
struct bench *bench_make(int count);
void bench_free(struct bench *b, int count);

/* Whether all registers and bits are set. */
bool bench_is_set(const struct bench *b);

/* Fail, with the first place, if they are not the same; `was` is what was before. */
void bench_compare(const struct machine *got, const struct machine *want,
                   const struct machine *was, const char *what, const struct fields *f);

/* Fields of a target's opcode that is no matrix instruction; addresses that they need are
   put into the machine, whose memory is at `memory`. */
void fields_random(struct fields *f, const struct opcode *row,
                   const struct gfx9_target *target, struct machine *m, uint64_t *rng,
                   uint64_t memory);

#endif
