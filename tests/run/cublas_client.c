/* SPDX-License-Identifier: BSD-3-Clause */
/* Every GEMM of cuBLAS, called in every form: what bitcut computes must equal
   bitcut_gemm() on whole matrices by the recipe and the unit of the command line, bit for
   bit, in the stream of the handle and without a call of the library.  Calls without a
   product, or with invalid arguments, must be left to the library.  Prints what is wrong,
   and the number of calls of each kind. */
#include "lib/bitcut.h"
#include "tests/run/cublas_call.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 11, K_MAX = 37, GAP_MAX = 3, COUNT = 3 };
enum { ROOM = (K_MAX + GAP_MAX) * K_MAX };

static const struct bitcut_recipe *recipe;
static const struct bitcut_unit *unit;
static long taken, empty, illegal, outputs, wrong;
static bool both;

static struct model_stream stream;
static struct stub_handle handle = { .stream = &stream };

/* --- random numbers ----------------------------------------------------------------- */

static uint64_t random_state = 18;

static uint64_t bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

static int between(int low, int high)
{
    return low + (int)(bits() % (uint64_t)(high - low + 1));
}

static float number(void)
{
    return ldexpf((float)between(-16777215, 16777215), between(-28, -20));
}

/* --- problems ----------------------------------------------------------------------- */

/* op(A), op(B), C before and D, row by row without gaps, of a batch. */
struct problem {
    int m, n, k;
    float alpha, beta;
    float a[COUNT][SIDE * K_MAX], b[COUNT][SIDE * K_MAX], c[COUNT][SIDE * SIDE],
        d[COUNT][SIDE * SIDE];
};

static void solve(struct problem *p, int at)
{
    struct bitcut_gemm g;
    char why[BITCUT_TEXT_MAX];
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = recipe;
    g.unit = unit;
    g.m = (size_t)p->m, g.n = (size_t)p->n, g.k = (size_t)p->k;
    memcpy(&g.alpha, &p->alpha, 4);
    memcpy(&g.beta, &p->beta, 4);
    g.a.at = p->a[at], g.b.at = p->b[at], g.c.at = p->c[at], g.d.to = p->d[at];
    if (bitcut_gemm(NULL, &g, 1, why) == BITCUT_OK) return;
    printf("bitcut_gemm: %s\n", why);
    exit(1);
}

static void make_problem(struct problem *p)
{
    static const float alphas[] = { 1, 1, -0.3f, 1048577 },
                       betas[] = { 0, -0.0f, 1, 0.7f };
    p->m = between(1, SIDE), p->n = between(1, SIDE), p->k = between(1, K_MAX);
    p->alpha = alphas[bits() % 4], p->beta = betas[bits() % 4];
    for (int x = 0; x < COUNT; x++) {
        for (int i = 0; i < SIDE * K_MAX; i++)
            p->a[x][i] = number(), p->b[x][i] = number();
        for (int i = 0; i < SIDE * SIDE; i++) p->c[x][i] = p->beta == 0 ? NAN : number();
        solve(p, x);
    }
}

/* --- as cuBLAS stores them ---------------------------------------------------------- */

/* How one matrix lies: of which op() is taken, by rows or by columns. */
struct lie {
    int trans, by_rows;
    int64_t ld;
};

static int64_t least_ld(const struct lie *x, int rows, int cols)
{
    return (x->by_rows != 0) == (x->trans == 0) ? cols : rows;
}

static int64_t place(const struct lie *x, int i, int j)
{
    return (x->by_rows != 0) == (x->trans == 0) ? i * x->ld + j : j * x->ld + i;
}

static struct lie lie_of(int trans, int by_rows, int rows, int cols)
{
    struct lie x = { trans, by_rows, 0 };
    x.ld = least_ld(&x, rows, cols) + between(0, GAP_MAX);
    return x;
}

static void overwrite(float *to, const float *x, int rows, int cols, const struct lie *as)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) to[place(as, i, j)] = x[i * cols + j];
}

/* op(X) of rows x cols; everything else is NaN. */
static void store(float *to, const float *x, int rows, int cols, const struct lie *as)
{
    for (int i = 0; i < ROOM; i++) to[i] = NAN;
    overwrite(to, x, rows, cols, as);
}

/* Memory of the device, with more than a batch's between matrices of one that are
   unevenly apart; and what D's is to be. */
enum { SLOTS = COUNT + 2 };
static float *a, *b, *c, *d, want[COUNT][ROOM], got[COUNT][ROOM];
static void **pointers;
static int slot[COUNT];

/* Where matrix i of an operand is: the operands' matrices are differently apart. */
enum { APART_A = ROOM, APART_B = ROOM + 5, APART_C = ROOM + 2, APART_D = ROOM + 3 };

static float *nth(float *x, int i)
{
    const int64_t apart = x == a   ? APART_A
                          : x == b ? APART_B
                          : x == c ? APART_C
                                   : APART_D;
    return x + slot[i] * apart;
}

static void put(float *to, const float *from, int i)
{
    stream_put(&stream, nth(to, i), from, ROOM * sizeof *from);
}

/* Matrix i of the batch, in all its places. */
static void put_matrices(const struct problem *p, int i, const struct lie lie[4],
                         bool apart)
{
    static float matrix[ROOM];
    store(matrix, p->a[i], p->m, p->k, &lie[0]);
    put(a, matrix, i);
    store(matrix, p->b[i], p->k, p->n, &lie[1]);
    put(b, matrix, i);
    store(matrix, p->c[i], p->m, p->n, &lie[2]);
    put(c, matrix, i);
    if (apart)
        for (int j = 0; j < ROOM; j++) matrix[j] = NAN;
    put(d, matrix, i);
    memcpy(want[i], matrix, sizeof matrix);
    overwrite(want[i], p->d[i], p->m, p->n, &lie[3]);
}

static void put_pointers(struct call *x)
{
    void *each[3][COUNT];
    for (int i = 0; i < COUNT; i++) {
        each[0][i] = nth(a, i);
        each[1][i] = nth(b, i);
        each[2][i] = nth(x->c, i);
    }
    stream_put(&stream, pointers, each, sizeof each);
    x->each_a = (const float **)pointers;
    x->each_b = (const float **)(pointers + COUNT);
    x->each_c = (float **)(pointers + 2 * (size_t)COUNT);
}

static bool is_lt(const char *name) { return !strcmp(name, "cublasLtMatmul"); }

static bool is_batch(const char *name) { return is_lt(name) || strstr(name, "Batched"); }

/* Choose where the matrices of a batch are: by pointers unevenly, too. */
static void choose_slots(const char *name)
{
    static const int slots[4][COUNT] = {
        { 0, 1, 2 }, { 0, 2, 3 }, { 3, 1, 0 }, { 4, 2, 0 }
    };
    const bool by_pointers = strstr(name, "Batched") && !strstr(name, "StridedBatched");
    memcpy(slot, slots[by_pointers ? bits() % 4 : 0], sizeof slot);
}

/* What a call of a routine says; matrices are where it says. */
static struct call prepare(const char *name, const struct problem *p, int ta, int tb,
                           int count)
{
    const bool lt = is_lt(name), apart = lt && bits() % 2;
    struct lie lie[4] = { lie_of(ta, lt && bits() % 2, p->m, p->k),
                          lie_of(tb, lt && bits() % 2, p->k, p->n),
                          lie_of(0, lt && bits() % 2, p->m, p->n),
                          lie_of(0, lt && bits() % 2, p->m, p->n) };
    if (!apart) lie[3] = lie[2];
    choose_slots(name);
    for (int i = 0; i < COUNT; i++) put_matrices(p, i, lie, apart);
    struct call x = { .handle = &handle, .ta = ta, .tb = tb, .m = p->m, .n = p->n };
    x.k = p->k, x.count = count, x.alpha = &p->alpha, x.beta = &p->beta, x.compute = 68;
    x.a = a, x.b = b, x.c = apart ? c : d, x.d = d;
    x.lda = lie[0].ld, x.ldb = lie[1].ld, x.ldc = lie[2].ld, x.ldd = lie[3].ld;
    x.sa = APART_A, x.sb = APART_B, x.sc = apart ? APART_C : APART_D, x.sd = APART_D;
    x.rows_a = lie[0].by_rows, x.rows_b = lie[1].by_rows;
    x.rows_c = lie[2].by_rows, x.rows_d = lie[3].by_rows;
    put_pointers(&x);
    return x;
}

/* --- checks ------------------------------------------------------------------------- */

static void complain(const char *name, const struct call *x, const char *what)
{
    if (wrong++ >= 20) return;
    printf("%s: %s: trans %d %d, m %d n %d k %d, ld %d %d %d, count %d\n", name, what,
           x->ta, x->tb, (int)x->m, (int)x->n, (int)x->k, (int)x->lda, (int)x->ldb,
           (int)x->ldc, (int)x->count);
}

static void compare(const char *name, const struct call *x, int count)
{
    for (int i = 0; i < count; i++) {
        stream_get(&stream, got[i], nth(d, i), sizeof got[i]);
        if (!memcmp(got[i], want[i], sizeof got[i])) continue;
        int j = 0;
        while (!memcmp(&got[i][j], &want[i][j], 4)) j++;
        uint32_t is, wanted;
        char what[100];
        memcpy(&is, &got[i][j], 4);
        memcpy(&wanted, &want[i][j], 4);
        snprintf(what, sizeof what, "GEMM %d, element %d of D's memory: %08x, not %08x",
                 i, j, (unsigned)is, (unsigned)wanted);
        complain(name, x, what);
        return;
    }
}

/* Call it, and see whether the library was called so often and the device started as
   often, or more. */
static void call(const char *name, const struct call *x, int calls, int starts,
                 int status)
{
    const long all = stub_calls(NULL), own = stub_calls(name), before = stream.starts;
    if (call_gemm(name, x) != status) complain(name, x, "another status");
    if (stub_calls(name) != own + calls || stub_calls(NULL) != all + calls)
        complain(name, x, "the library was called otherwise");
    if (starts ? stream.starts < before + starts : stream.starts != before)
        complain(name, x, "started otherwise");
}

static void try_taken(const char *name, const struct problem *p, int ta, int tb,
                      int count)
{
    const struct call x = prepare(name, p, ta, tb, count);
    call(name, &x, both, both ? 0 : 1, 0);
    compare(name, &x, count);
    taken++;
    outputs += (long)count * p->m * p->n;
}

/* C = beta C, or nothing at all. */
static void try_empty(const char *name, const struct problem *p)
{
    static const float zeros[] = { 0, -0.0f };
    struct call x = prepare(name, p, 0, 0, 1);
    const uint64_t which = bits() % 4;
    if (which == 0) x.m = 0, x.rows_a = x.rows_c = x.rows_d = 0;
    else if (which == 1) x.n = 0;
    else x.alpha = &zeros[which - 2];
    if (x.c != x.d) return; /* D is not C */
    call(name, &x, 1, 0, 0);
    empty++;
}

/* Arguments that are none of the routine's. */
static void try_illegal(const char *name, const struct problem *p)
{
    struct call x = prepare(name, p, 0, 0, 1);
    const uint64_t which = bits() % 4;
    if (which == 0) x.lda = x.m - 1;
    else if (which == 1) x.m = -1;
    else if (which == 2) x.ldc = x.m - 1;
    else x.tb = 3;
    call(name, &x, 1, 0, 7);
    illegal++;
}

static void try_routine(const char *name)
{
    static struct problem p;
    for (int turn = 0; turn < 9 * 4; turn++) {
        make_problem(&p);
        try_taken(name, &p, turn % 3, turn / 3 % 3,
                  is_batch(name) ? between(1, COUNT) : 1);
        try_empty(name, &p);
        if (!is_lt(name)) try_illegal(name, &p);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    recipe = bitcut_recipe_find(argv[1]);
    unit = bitcut_unit_find(argv[2], NULL);
    both = argc > 3;
    if (!recipe || !unit) return 2;
    stream = stream_make(1 << 22);
    const size_t bytes = sizeof(float) * SLOTS * APART_B;
    a = stream_take(&stream, bytes), b = stream_take(&stream, bytes);
    c = stream_take(&stream, bytes), d = stream_take(&stream, bytes);
    pointers = stream_take(&stream, sizeof *pointers * 3 * COUNT);
    for (const char *const *name = gemm_names; *name; name++) try_routine(*name);
    printf(
        "{\"taken\":%ld,\"empty\":%ld,\"illegal\":%ld,\"outputs\":%ld,\"wrong\":%ld}\n",
        taken, empty, illegal, outputs, wrong);
    return wrong != 0;
}
