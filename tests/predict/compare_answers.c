/* SPDX-License-Identifier: BSD-3-Clause */
/* Compare recorded answers of cuBLAS's heuristic with what bitcut predicts from the
   sizes:

       compare_answers TYPES LAYOUT EPILOGUE MIB < calls

   A call has 13 numbers of 32 bits: m, n, k, batch, and the nine fields of its algorithm,
   all 0 if there is none (data/libraries/plan_learn.py --compare).  It prints how many
   calls there are, how many are predicted, and how many wrongly, and each of these. */
#include "tests/predict/plan_answer.h"

enum { SIZES = 4, FIELDS = 9 };

static void read_sizes(struct line *l, const uint32_t x[SIZES])
{
    l->m = x[0], l->n = x[1], l->k = x[2], l->batch = (int)x[3];
}

static void print_fields(char *to, size_t size, const uint32_t x[FIELDS])
{
    *to = 0;
    for (int i = 0; i < FIELDS; i++)
        snprintf(to + strlen(to), size - strlen(to), "%s%u", i ? "," : "", x[i]);
}

int main(int argc, char **argv)
{
    struct line l = { .digest = 0 };
    uint32_t x[SIZES + FIELDS];
    size_t calls = 0, count[3] = { 0 };
    if (argc != 5) return 2;
    snprintf(l.types, sizeof l.types, "%s", argv[1]);
    snprintf(l.layout, sizeof l.layout, "%s", argv[2]);
    snprintf(l.epilogue, sizeof l.epilogue, "%s", argv[3]);
    for (; fread(x, sizeof x, 1, stdin) == 1; calls++) {
        read_sizes(&l, x);
        print_fields(l.fields, sizeof l.fields, x + SIZES);
        const enum answer answer = answer_of(&l, !strcmp(argv[4], "1"));
        count[answer]++;
        if (answer == ANSWER_WRONG)
            printf("wrong: %s %s %s %zu %zu %zu %d %s\t%s\n", l.types, l.layout,
                   l.epilogue, l.m, l.n, l.k, l.batch, argv[4], l.fields);
    }
    printf("%s %s %s %s MiB: %zu calls, %zu predicted, %zu wrong\n", l.types, l.layout,
           l.epilogue, argv[4], calls, count[ANSWER_RIGHT] + count[ANSWER_WRONG],
           count[ANSWER_WRONG]);
    return count[ANSWER_WRONG] > 0;
}
