/* SPDX-License-Identifier: BSD-3-Clause */
/* Files with random changes, for tests of readers. */
#ifndef BITCUT_TESTS_MUTATION_H
#define BITCUT_TESTS_MUTATION_H

#include "lib/base/status.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { MUTATION_MORE = 64 }; /* bytes by which a file may grow */

/* One change: a bit, a byte, a number of 32 bits, a piece that is lost or that comes
   twice. Returns the new size. */
static inline size_t mutation_step(unsigned char *at, size_t size, size_t room,
                                   uint64_t *state)
{
    static const uint32_t numbers[] = { 0,      1,          0x7f,       0x80,      0xff,
                                        0xffff, 0x7fffffff, 0x80000000, 0xffffffff };
    const size_t place = test_bits(state) % size, left = size - place;
    size_t length = 1 + test_bits(state) % 16;
    switch (test_bits(state) % 6) {
    case 0: at[place] ^= (unsigned char)(1 << test_bits(state) % 8); return size;
    case 1: at[place] = (unsigned char)test_bits(state); return size;
    case 2:
    case 3: {
        const uint32_t x = numbers[test_bits(state) % (sizeof numbers / sizeof *numbers)];
        memcpy(at + place, &x, left < sizeof x ? left : sizeof x);
        return size;
    }
    case 4:
        if (length >= left) return size;
        memmove(at + place, at + place + length, left - length);
        return size - length;
    default:
        if (length > left) length = left;
        if (size + length > room) return size;
        memmove(at + place + length, at + place, left);
        return size + length;
    }
}

/* A copy of a file with a few changes, to be freed. */
static inline unsigned char *mutation_make(size_t *size, const void *from, size_t bytes,
                                           uint64_t *state)
{
    unsigned char *const all = malloc(bytes + MUTATION_MORE), *exact;
    ck_assert(all && bytes);
    memcpy(all, from, bytes);
    *size = bytes;
    for (int i = test_between(state, 1, 4); i > 0 && *size; i--)
        *size = mutation_step(all, *size, bytes + MUTATION_MORE, state);
    if (test_bits(state) % 8 == 0) *size = test_bits(state) % (*size + 1);
    exact = malloc(*size ? *size : 1); /* of that size, so that sanitizers see its end */
    ck_assert(exact != NULL);
    memcpy(exact, all, *size);
    free(all);
    return exact;
}

/* A refusal has one line that is fit to print. */
static inline void mutation_refused(enum bitcut_status status, const struct fault *f,
                                    const char *what, int round)
{
    ck_assert_msg((status == BITCUT_BAD_FILE || status == BITCUT_NO_MEMORY ||
                   status == BITCUT_BAD_ARGUMENT) &&
                      f->status == status && f->text[0],
                  "%s, change %d: status %d, %s", what, round, status, f->text);
    for (const char *c = f->text; *c; c++)
        ck_assert_msg((unsigned char)*c >= 0x20 && *c != 0x7f, "%s, change %d: %s", what,
                      round, f->text);
}

#endif
