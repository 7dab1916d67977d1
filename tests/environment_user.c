/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for tests/environment.sh: "race" computes in two threads while a third sets
   environment variables; "open" opens a device and prints why that failed. */
#define _POSIX_C_SOURCE 200809L /* setenv() */

#include "lib/bitcut.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPUTERS = 2, VARIABLES = 20000 };

static atomic_bool done;

static void *compute(void *failed)
{
    const uint32_t a[4] = { 0x3f800000, 0x40000000, 0x40400000, 0x40800000 };
    uint32_t d[4];
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("fp32");
    g.unit = bitcut_unit_find("fma/f32", NULL);
    g.m = g.n = g.k = 2;
    g.a.at = g.b.at = a;
    g.d = (struct bitcut_matrix){ .to = d, .stride = 2 };
    while (!done)
        if (bitcut_gemm(NULL, &g, 1, NULL) != BITCUT_OK) *(atomic_bool *)failed = true;
    return NULL;
}

static int race(void)
{
    atomic_bool failed = false;
    pthread_t thread[COMPUTERS];
    for (int i = 0; i < COMPUTERS; i++)
        if (pthread_create(&thread[i], NULL, compute, &failed)) return 1;
    for (int i = 0; i < VARIABLES; i++) {
        char name[32];
        snprintf(name, sizeof name, "VARIABLE%d", i);
        if (setenv(name, "value", 1)) return 1;
    }
    done = true;
    for (int i = 0; i < COMPUTERS; i++) pthread_join(thread[i], NULL);
    return failed;
}

static int open_device(void)
{
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_device *device = NULL;
    const bool opened = bitcut_device_open(&device, "cuda", why) == BITCUT_OK;
    puts(opened ? "opened" : why);
    bitcut_device_close(device);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    return !strcmp(argv[1], "race") ? race() : open_device();
}
