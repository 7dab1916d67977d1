/* SPDX-License-Identifier: BSD-3-Clause */
/* exhaustive [N]: all 2^32 f32 encodings to every signed format by every row of the
   rounding table, compared with the lists of values that test_round proves with MPFR, and
   to f16 compared with the processor's own conversion.  With N only every Nth slice of
   2^22 encodings, and an estimate of the total time.  TAP on stdout; the exit status is 0
   only if nothing differs. */
#include "tests/number/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SLICE = 1 << 22, SLICES = 1 << 10 };

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line that overwrites itself, for people. */
static void progress(int slice, double started)
{
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r%3d %%, %.0f s", 100 * slice / SLICES, seconds() - started);
    if (slice == SLICES) fputc('\n', stderr);
}

/* One TAP line; returns whether it says ok. */
static bool report(int number, const char *format, const char *rule, const char *against,
                   const struct tally *t)
{
    const bool good = t->compared && !t->different;
    printf("%sok %d - f32 to %s by %s, %s: %" PRIu64 " encodings\n", good ? "" : "not ",
           number, format, rule, against, t->compared);
    if (t->different)
        printf("# %" PRIu64 " differ, the first 0x%08" PRIx32 ": got 0x%" PRIx64
               ", want 0x%" PRIx64 "\n",
               t->different, t->x, t->got, t->want);
    return good;
}

/* All lines, and whether all are good. */
static bool report_all(const struct sweep *s, const struct tally f16c[F16C_RULES],
                       bool has_f16c)
{
    const int lines = s->targets * s->rules;
    bool good = true;
    printf("1..%d\n", lines + F16C_RULES);
    for (int i = 0; i < lines; i++)
        good &= report(i + 1, s->target[i / s->rules].format->name,
                       s->rule[i % s->rules].name, "values", &s->tally[i]);
    for (int i = 0; i < F16C_RULES; i++) {
        const char *rule = roundings[f16c_rules[i]].name;
        if (has_f16c) good &= report(lines + i + 1, "f16", rule, "F16C", &f16c[i]);
        else printf("ok %d - f32 to f16 by %s # SKIP needs a processor with F16C\n", lines + i + 1, rule);
    }
    return good;
}

int main(int argc, char **argv)
{
    const int every = argc > 1 ? atoi(argv[1]) : 1;
    if (argc > 2 || every < 1 || every > SLICES) {
        fprintf(stderr, "exhaustive: the argument is a number from 1 to %d\n", SLICES);
        return 2;
    }
    int rules = 0, done = 0;
    while (roundings[rules].name) rules++;
    struct tally f16c[F16C_RULES] = { 0 };
    struct sweep s;
    bool has_f16c = false;
    sweep_init(&s, roundings, rules);
    const double started = seconds();
    for (int i = 0; i < SLICES; i += every, done++) {
        const uint64_t begin = (uint64_t)i * SLICE;
        progress(i, started);
        sweep_range(&s, begin, begin + SLICE, 1);
        has_f16c = sweep_f16c(f16c, begin, begin + SLICE, 1);
    }
    progress(SLICES, started);
    const double spent = seconds() - started;
    const bool good = report_all(&s, f16c, has_f16c);
    printf("# %.0f s; all slices take about %.0f s here\n", spent, spent / done * SLICES);
    sweep_clear(&s);
    return !good;
}
