/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a kernel of a code object in the executor, for tests/gfx9.sh:
     run_code FILE KERNEL ITEMS   with arguments (float *d, const float *a, int n):
                                  a[i] = i, d of n = 256 elements; prints d, or why not
     run_code FILE                lists offsets and mnemonics of all instructions
     run_code TARGET              writes instructions of every row for a target: their
   bytes, in hexadecimal, and its mnemonic */
#include "tests/gfx9/gfx9_bench.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 256, FILE_MAX = 1 << 24 };

static bool print_one(void *with, size_t at, const char *mnemonic)
{
    (void)with;
    printf("%zx %s\n", at, mnemonic ? mnemonic : "?");
    return true;
}

static int run_kernel(const struct gfx9_object *o, const char *name, unsigned items)
{
    float a[COUNT], d[COUNT] = { 0 };
    struct gfx9_memory memory[] = { { .at = a, .bytes = sizeof a },
                                    { .at = d, .bytes = sizeof d } };
    gfx9_address_set(&memory[1], gfx9_address_set(&memory[0], GFX9_ADDRESS_FIRST));
    const struct {
        uint64_t d, a;
        int n;
    } arguments = { memory[1].address, memory[0].address, COUNT };
    const struct gfx9_launch launch = {
        .object = o,
        .kernel = gfx9_kernel_find(o, name),
        .groups = { 1, 1, 1 },
        .items = { items, 1, 1 },
        .arguments = &arguments,
        .argument_bytes = 20,
        .memory = memory,
        .memories = 2,
    };
    struct fault f;
    for (int i = 0; i < COUNT; i++) a[i] = (float)i;
    if (!launch.kernel || gfx9_run(NULL, &launch, &f) != BITCUT_OK) {
        puts(launch.kernel ? f.text : "no such kernel");
        return 1;
    }
    for (int i = 0; i < COUNT; i++)
        printf("%g%c", (double)d[i], i % 16 == 15 ? '\n' : ' ');
    return 0;
}

static const struct opcode *const tables[] = { gfx9_scalar, gfx9_memory_scalar,
                                               gfx9_vector, gfx9_packed,
                                               gfx9_lds,    gfx9_global,
                                               gfx9_matrix, NULL };

enum { PER_ROW = 8 };

static void print_row(const struct opcode *row, const struct gfx9_target *t,
                      uint64_t *rng)
{
    static struct machine m;
    for (int n = 0; n < PER_ROW; n++) {
        uint32_t word[3];
        struct fields f = { .encoding = row->encoding,
                            .number = row->number,
                            .d = 256,
                            .s = { 256, 256, 256 } };
        if (!row->unit) fields_random(&f, row, t, &m, rng, 0);
        const int words = fields_encode(word, &f);
        for (int b = 0; b < 4 * words; b++)
            printf("0x%02x%c", word[b / 4] >> 8 * (b % 4) & 255,
                   b + 1 < 4 * words ? ',' : ' ');
        puts(row->name);
    }
}

static bool print_target(const char *name)
{
    uint64_t rng = test_seed();
    const struct gfx9_target *t = gfx9_targets;
    while (t->name && strcmp(t->name, name)) t++;
    for (const struct opcode *const *table = tables; t->name && *table; table++)
        for (const struct opcode *row = *table; row->name; row++)
            if (!row->targets || row->targets & t->bit) print_row(row, t, &rng);
    return t->name;
}

int main(int argc, char **argv)
{
    struct gfx9_object *o;
    struct fault f;
    if (argc == 2 && print_target(argv[1])) return 0;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    char *bytes = malloc(FILE_MAX);
    if (!file || !bytes) return 99;
    const size_t size = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    if (gfx9_load(&o, bytes, size, &f) != BITCUT_OK) {
        puts(f.text);
        return 1;
    }
    int status = 0;
    if (argc > 3) status = run_kernel(o, argv[2], (unsigned)atoi(argv[3]));
    else gfx9_list(o, print_one, NULL);
    gfx9_unload(o);
    free(bytes);
    return status;
}
