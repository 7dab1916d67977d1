/* SPDX-License-Identifier: BSD-3-Clause */
/* faulty FOLDER RECIPE UNIT M N K SEED FAULT: random inputs and the result of a kernel
   with the fault, A.npy B.npy D.npy and, if beta is not 0, C.npy; R.npy is the result
   without the fault, and truth.json describes the fault.  RECIPE may be followed by
   `:slices=N`, `:promote=N`, and `:order=any` for an order of products that no unit has.
   An even seed gives alpha, beta and C.

   faulty list: all faults, their class, and the mistake of their programmer.

   Exit status: 0; 2 usage; 3 it cannot run; 77 the recipe cannot have the fault. */
#include "tests/identify/faulty.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2, CANNOT = 3, DOES_NOT_APPLY = 77, FRAGMENTS_CHECKED = 64 };

__attribute__((noreturn, format(printf, 2, 3))) static void stop(int status,
                                                                 const char *why, ...)
{
    va_list words;
    va_start(words, why);
    fputs("faulty: ", stderr);
    vfprintf(stderr, why, words);
    fputc('\n', stderr);
    va_end(words);
    exit(status);
}

static float *matrix(size_t count)
{
    float *x = calloc(count ? count : 1, sizeof *x);
    if (!x) stop(CANNOT, "no memory");
    return x;
}

/* --- faults by name ----------------------------------------------------------------- */

static const struct fault *const tables[] = { faults_parts, faults_sums, faults_places,
                                              faults_outside, NULL };

static void list(void)
{
    for (const struct fault *const *t = tables; *t; t++)
        for (const struct fault *f = *t; f->name; f++)
            printf("%-20s %-11s %s\n", f->name, f->class, f->what);
}

static const struct fault *find(const char *name)
{
    for (const struct fault *const *t = tables; *t; t++)
        for (const struct fault *f = *t; f->name; f++)
            if (!strcmp(f->name, name)) return f;
    stop(USAGE, "%s: no such fault", name);
}

/* --- the problem -------------------------------------------------------------------- */

/* Element i of input number x: in (-1, 1), with a full significand. */
static float element(uint64_t seed, uint64_t x, size_t i, unsigned with)
{
    const uint64_t bits = draw(seed, x, i), kind = bits % 16;
    const double sign = bits >> 63 ? -1 : 1, u = (double)(bits >> 16 & 0xffffff) + 1;
    int e = -24;
    if (with & WITH_TINY && kind < 6) e -= 12 + (int)(bits >> 8 & 7);
    if (with & WITH_HUGE && !(bits & 1023)) e += 18;
    return (float)(sign * ldexp(u, e));
}

static const float *input(const struct kernel *q, uint64_t x, size_t count, unsigned with)
{
    float *a = matrix(count);
    for (size_t i = 0; i < count; i++) a[i] = element(q->seed, x, i, with);
    return a;
}

/* What the fault needs to be seen. */
static void prepare(struct kernel *q, unsigned with)
{
    if (q->seed % 2 == 0 || with & WITH_C) {
        q->alpha = 1.37f;
        q->beta = -0.81f;
        q->c = input(q, 12, q->m * q->n, 0);
    }
    if (with & WITH_SLICES && q->slices == 1) q->slices = 4;
    if (with & WITH_PROMOTION && !q->promote) q->promote = 3;
    if (with & WITH_REST) q->promote = 3;
    q->keeps_steps = with & (WITH_PROMOTION | WITH_REST);
    if (with & WITH_ODD_N && q->n % 8 == 0) q->n--;
    q->a = input(q, 10, q->m * q->k, with);
    q->b = input(q, 11, q->k * q->n, with);
}

/* --- files -------------------------------------------------------------------------- */

static FILE *opened(const char *folder, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        stop(USAGE, "%s: too long", folder);
    FILE *f = fopen(path, "wb");
    if (!f) stop(CANNOT, "%s: cannot be written", path);
    return f;
}

static void closed(FILE *f)
{
    const int bad = ferror(f);
    if (fclose(f) || bad) stop(CANNOT, "a file cannot be written");
}

/* Format 1.0 of NumPy: 128 bytes, then the values, least significant byte first. */
static void save(const char *folder, const char *name, const float *x, size_t m, size_t n)
{
    FILE *f = opened(folder, name);
    char header[119];
    snprintf(header, sizeof header,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", m, n);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%-117s\n", header);
    for (size_t i = 0; i < m * n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        if (isnan(x[i])) bits = 0x7fffffff;
        for (int byte = 0; byte < 4; byte++) fputc((int)(bits >> 8 * byte & 255), f);
    }
    closed(f);
}

static void save_truth(const char *folder, const struct kernel *q, const struct fault *x,
                       size_t changed)
{
    FILE *f = opened(folder, "truth.json");
    fprintf(f, "{\"fault\":\"%s\",\"class\":\"%s\",\"where\":\"%s\",", x->name, x->class,
            x->where ? x->where->name : "everywhere");
    fprintf(f, "\"recipe\":\"%s\",\"unit\":\"%s\",\"promote\":%d,\"slices\":%d,",
            q->recipe, q->unit->name, q->promote, q->slices);
    fprintf(f, "\"alpha\":%.9g,\"beta\":%.9g,\"m\":%zu,\"n\":%zu,\"k\":%zu,", q->alpha,
            q->beta, q->m, q->n, q->k);
    fprintf(f, "\"seed\":%llu,\"changed\":%zu,\"total\":%zu}\n",
            (unsigned long long)q->seed, changed, q->m * q->n);
    closed(f);
}

/* --- the fault ---------------------------------------------------------------------- */

#define REPLACE(member)                                                                  \
    if (from->member) to->member = from->member

static void replace(struct stages *to, const struct stages *from)
{
    REPLACE(at[0]);
    REPLACE(at[1]);
    REPLACE(split);
    REPLACE(steps);
    REPLACE(keep);
    REPLACE(promote);
    REPLACE(reduce);
    REPLACE(finish);
    REPLACE(product);
}

/* The result of the kernel that has the fault; `right` is that of the one that has not.
 */
static float *spoiled(const struct kernel *q, const struct fault *x, const float *right)
{
    struct kernel wrong = *q;
    float *d = matrix(q->m * q->n);
    if (x->plan && !x->plan(&wrong, x->value))
        stop(DOES_NOT_APPLY, "%s: not with %s", x->name, q->recipe);
    replace(&wrong.stage, &x->stage);
    kernel_run(d, &wrong, x->parts);
    if (x->output) x->output(d, q, right);
    for (size_t at = 0; x->where && at < q->m * q->n; at++)
        if (!x->where->in(&(struct place){ q, at / q->n, at % q->n })) d[at] = right[at];
    return d;
}

static size_t differences(const float *x, const float *y, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += memcmp(&x[i], &y[i], sizeof *x) && !(isnan(x[i]) && isnan(y[i]));
    return n;
}

static void run(const char *folder, struct kernel *q, const struct fault *x)
{
    prepare(q, x->with);
    struct kernel good = *q;
    float *right = matrix(q->m * q->n);
    kernel_run(right, &good, NULL);
    float *d = spoiled(q, x, right);
    save(folder, "A.npy", q->a, q->m, q->k);
    save(folder, "B.npy", q->b, q->k, q->n);
    if (q->c) save(folder, "C.npy", q->c, q->m, q->n);
    save(folder, "D.npy", d, q->m, q->n);
    save(folder, "R.npy", right, q->m, q->n);
    save_truth(folder, q, x, differences(d, right, q->m * q->n));
    free(right);
    free(d);
    free((float *)q->a);
    free((float *)q->b);
    free((float *)q->c);
}

/* --- arguments ---------------------------------------------------------------------- */

static unsigned long long number(const char *text, unsigned long long most)
{
    char *end;
    const unsigned long long x = strtoull(text, &end, 10);
    if (!*text || *end || x > most)
        stop(USAGE, "%s: not a number up to %llu", text, most);
    return x;
}

/* The kernel of `recipe`, which has its variations behind it. */
static struct kernel kernel_of(char *recipe, const char *unit_name)
{
    struct kernel q;
    const struct unit *unit = unit_of(unit_name);
    if (!unit) stop(USAGE, "%s: no such unit", unit_name);
    const char *name = strtok(recipe, ":");
    if (!name || !kernel_right(&q, name, unit))
        stop(USAGE, "%s: no such recipe on %s", recipe, unit_name);
    for (const char *word; (word = strtok(NULL, ":"));) {
        if (!strncmp(word, "slices=", 7)) q.slices = (int)number(word + 7, 64);
        else if (!strncmp(word, "promote=", 8))
            q.promote = (int)number(word + 8, 1 << 20);
        else if (!strcmp(word, "order=any"))
            q.any_order = true;
        else stop(USAGE, "%s: unknown", word);
    }
    if (!q.slices) stop(USAGE, "no slices");
    return q;
}

int main(int count, char **words)
{
    enum { DIMENSION_MAX = 1 << 14 };
    if (count == 2 && !strcmp(words[1], "list")) {
        list();
        return 0;
    }
    if (count != 9) stop(USAGE, "FOLDER RECIPE UNIT M N K SEED FAULT, or list");
    struct kernel q = kernel_of(words[2], words[3]);
    q.m = number(words[4], DIMENSION_MAX);
    q.n = number(words[5], DIMENSION_MAX);
    q.k = number(words[6], DIMENSION_MAX);
    if (!q.m || !q.n || !q.k) stop(USAGE, "a size is 0");
    q.seed = number(words[7], UINT64_MAX);
    const int bad = unit_mismatches(q.unit, FRAGMENTS_CHECKED, q.seed);
    if (bad) stop(CANNOT, "%s: %d fragments are not as specified", q.unit->name, bad);
    run(words[1], &q, find(words[8]));
    return 0;
}
