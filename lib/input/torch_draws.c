/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/torch_draws.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/input/torch_random.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 8, DRAWS_MAX = 64, QUOTED_MAX = 40 };

/* The functions of PyTorch that draw a tensor; the first is the default. */
static const struct filler {
    const char *name;
    void (*fill)(uint32_t *x, size_t count, struct torch_generator *g);
} fillers[] = { { "randn", torch_randn }, { "rand", torch_rand } };

enum { FILLERS = sizeof fillers / sizeof fillers[0] };

struct draw {
    char operand; /* 'A', 'B' or 0 */
    const struct filler *filler;
    size_t size[SIZES_MAX], count; /* count: of its numbers */
    int sizes;
    bool transposed;
};

/* --- reading ------------------------------------------------------------------------ */

/* Move *at past blanks and `word`, if this word is next. */
static bool take_word(const char **at, const char *word)
{
    const char *const start = *at + strspn(*at, " \t");
    const size_t n = strlen(word);
    if (strncmp(start, word, n) != 0 || !strchr(" \t,", start[n])) return false;
    *at = start + n;
    return true;
}

/* Read sizes such as 10x8; false: there are none, a size is 0, or the product is above
   TORCH_DRAWS_MAX. */
static bool take_sizes(const char **at, struct draw *d)
{
    const char *s = *at + strspn(*at, " \t");
    d->count = 1;
    for (d->sizes = 0; d->sizes < SIZES_MAX;) {
        size_t size = 0;
        for (; *s >= '0' && *s <= '9' && size <= TORCH_DRAWS_MAX; s++)
            size = 10 * size + (size_t)(*s - '0');
        if (!size || size > TORCH_DRAWS_MAX / d->count) return false;
        d->size[d->sizes++] = size;
        d->count *= size;
        if (*s != 'x') break;
        s++;
    }
    *at = s;
    return strchr(" \t,", *s) != NULL;
}

/* Read one draw and what follows it, up to the next draw. */
static bool take_draw(const char **at, struct draw *d)
{
    *d = (struct draw){ .filler = &fillers[0] };
    if (take_word(at, "A")) d->operand = 'A';
    else if (take_word(at, "B")) d->operand = 'B';
    for (int i = 0; i < FILLERS; i++)
        if (take_word(at, fillers[i].name)) {
            d->filler = &fillers[i];
            break;
        }
    if (!take_sizes(at, d)) return false;
    d->transposed = d->operand && take_word(at, "T");
    *at += strspn(*at, " \t");
    return (!**at || **at == ',') && (!d->operand || d->sizes >= 2);
}

static enum bitcut_status form_fault(struct fault *f, const char *at)
{
    const char *const piece = at + strspn(at, " \t");
    const size_t length = strcspn(piece, ",");
    return fault_set(
        f, BITCUT_BAD_ARGUMENT,
        "expected draws such as \"10x25, A randn 10x8, B 8x25\" of at most %zu "
        "numbers, found \"%.*s\"",
        TORCH_DRAWS_MAX,
        text_fit(piece, (int)(length < QUOTED_MAX ? length : QUOTED_MAX)), piece);
}

/* The list, and the positions of A and B in it. */
struct draws {
    struct draw at[DRAWS_MAX];
    size_t count, numbers;
    const struct draw *a, *b;
};

static enum bitcut_status draws_read(struct draws *to, const char *text, struct fault *f)
{
    *to = (struct draws){ .count = 0 };
    for (const char *at = text;; at++) {
        const char *const start = at;
        struct draw *const d = &to->at[to->count];
        if (!take_draw(&at, d)) return form_fault(f, start);
        const struct draw **const operand = d->operand == 'A' ? &to->a : &to->b;
        if (d->operand && *operand)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%c is drawn twice", d->operand);
        if (d->operand) *operand = d;
        to->numbers += d->count;
        if (++to->count == DRAWS_MAX || to->numbers > TORCH_DRAWS_MAX)
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "expected fewer than %d draws of at most %zu numbers",
                             DRAWS_MAX, TORCH_DRAWS_MAX);
        if (!*at) break;
    }
    if (!to->a || !to->b)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "no draw is marked %s, as in \"%s 10x8\"", to->a ? "B" : "A",
                         to->a ? "B" : "A");
    return BITCUT_OK;
}

/* --- shapes ------------------------------------------------------------------------- */

static struct matrix shape_of(const struct draw *d)
{
    const size_t last = d->size[d->sizes - 1], before = d->size[d->sizes - 2];
    return (struct matrix){ .rows = d->transposed ? last : before,
                            .cols = d->transposed ? before : last,
                            .is_batch = d->sizes > 2,
                            .count = d->count / last / before };
}

static enum bitcut_status shapes_check(const struct matrix *a, const struct matrix *b,
                                       struct fault *f)
{
    if (a->cols != b->rows)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "A is %zu x %zu and B is %zu x %zu; columns of A must be rows of "
            "B",
            a->rows, a->cols, b->rows, b->cols);
    if (a->is_batch && b->is_batch && a->count != b->count)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "A has %zu matrices and B has %zu",
                         a->count, b->count);
    return BITCUT_OK;
}

/* --- drawing ------------------------------------------------------------------------ */

/* Store the numbers of a draw as an operand. */
static void operand_set(struct matrix *m, const struct draw *d, const uint32_t *x)
{
    const size_t each = m->rows * m->cols;
    for (size_t i = 0; i < matrix_count(m); i++)
        if (d->transposed)
            matrix_transpose(m->at + i * each, x + i * each, m->cols, m->rows);
        else memcpy(m->at + i * each, x + i * each, each * sizeof *x);
}

static void draw_all(struct matrix *a, struct matrix *b, uint32_t *room,
                     const struct draws *draws, uint64_t seed)
{
    struct torch_generator g;
    struct hostfp saved;
    hostfp_enter(&saved);
    torch_seed(&g, seed);
    for (size_t i = 0; i < draws->count; i++) {
        const struct draw *const d = &draws->at[i];
        d->filler->fill(room, d->count, &g);
        if (d == draws->a) operand_set(a, d, room);
        if (d == draws->b) operand_set(b, d, room);
    }
    hostfp_leave(&saved);
}

enum bitcut_status torch_draws(struct matrix *a, struct matrix *b, const char *text,
                               uint64_t seed, struct fault *f)
{
    struct draws draws;
    enum bitcut_status status = draws_read(&draws, text, f);
    if (status != BITCUT_OK) return status;
    struct matrix x = shape_of(draws.a), y = shape_of(draws.b);
    status = shapes_check(&x, &y, f);
    if (status != BITCUT_OK) return status;
    uint32_t *const room = memory_allocate(draws.numbers, sizeof *room);
    x.at = memory_allocate(draws.a->count, sizeof *x.at);
    y.at = memory_allocate(draws.b->count, sizeof *y.at);
    if (room && x.at && y.at) {
        draw_all(&x, &y, room, &draws, seed);
        *a = x, *b = y;
    } else {
        matrix_clear(&x);
        matrix_clear(&y);
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the tensors");
    }
    free(room);
    return status;
}
