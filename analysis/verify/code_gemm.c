/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/code_gemm.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/round.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, C, D, MATRICES };
enum { SIZES = 3, PART_MAX = 32, ALIGNMENT = 256, SEGMENT_MAX = 4096 };

/* --- possible arguments ----------------------------------------------------------- */

enum kind { MATRIX, TURNED, SIZE, LEADING, SCALAR, NUMBER };

/* A row of the table of parts; `which` is the index of a matrix, of m, n and k, or of a
   scalar. */
static const struct role {
    const char *name;
    enum kind kind;
    int which;
} roles[] = {
    /* clang-format off */
    { "a",     MATRIX,  A }, { "at",  TURNED, A }, { "lda", LEADING, A },
    { "b",     MATRIX,  B }, { "bt",  TURNED, B }, { "ldb", LEADING, B },
    { "c",     MATRIX,  C }, { "ct",  TURNED, C }, { "ldc", LEADING, C },
    { "d",     MATRIX,  D }, { "dt",  TURNED, D }, { "ldd", LEADING, D },
    { "m",     SIZE,    0 }, { "n",   SIZE,   1 }, { "k",   SIZE,    2 },
    { "alpha", SCALAR,  0 }, { "beta", SCALAR, 1 },
    { "a number", NUMBER, 0 }
    /* clang-format on */
};
enum { ROLES = sizeof roles / sizeof *roles };

struct argument {
    const struct role *role;
    const struct bitcut_format *format; /* for a matrix */
    uint64_t number;
};

/* A matrix in the device's memory. */
struct place {
    const struct matrix *from; /* its initial contents; NULL: none */
    const struct bitcut_format *format;
    bool turned;
    size_t rows, cols;
    struct gfx9_memory memory;
};

struct call {
    const struct code_call *given;
    const struct gfx9_kernel *kernel;
    struct argument argument[GFX9_ARGUMENTS_MAX];
    size_t size[SIZES];
    uint32_t scalars[2];
    struct place place[MATRICES];
    bool in_place; /* the result replaces C */
};

/* --- parts ------------------------------------------------------------------------ */

/* Take the next part of a list, up to a comma.  Returns false if it is too long. */
static bool next_part(char part[PART_MAX], const char **list)
{
    const size_t length = strcspn(*list, ",");
    if (length >= PART_MAX) return false;
    memcpy(part, *list, length);
    part[length] = 0;
    *list += length + ((*list)[length] == ',');
    return true;
}

static size_t parts_in(const char *list)
{
    size_t count = *list != 0;
    for (; *list; list++) count += *list == ',';
    return count;
}

/* A decimal number below 2^32 at the beginning of *text, which moves to its end. */
static bool take_number(uint64_t *number, const char **text)
{
    const char *at = *text;
    for (*number = 0; isdigit((unsigned char)*at); at++) {
        *number = *number * 10 + (uint64_t)(*at - '0');
        if (*number > UINT32_MAX) return false;
    }
    const bool some = at != *text;
    *text = at;
    return some;
}

static enum bitcut_status read_part(struct argument *to, char *part, struct fault *f)
{
    const char *number = part;
    char *format = strchr(part, ':');
    if (format) *format++ = 0;
    const struct role *r = roles;
    while (r->kind != NUMBER && strcmp(r->name, part) != 0) r++;
    *to = (struct argument){ .role = r, .format = &formats[FORMAT_F32] };
    if (r->kind == NUMBER && (!take_number(&to->number, &number) || *number))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "unknown argument %s; use a, b, c, d (at, bt, ct, dt: column-major), m, n, "
            "k, lda, ldb, ldc, ldd, alpha, beta or a number",
            *part ? part : "\"\"");
    if (!format) return BITCUT_OK;
    to->format = bitcut_format_find(format);
    if (r->kind > TURNED)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: only a matrix can have a format",
                         part);
    if (to->format && format_holds(&formats[FORMAT_F32], to->format)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s:%s: unknown format, or its values are not FP32 values", part,
                     format);
}

/* Whether the kernel's argument can have that type. */
static bool fits(const struct argument *a, const struct gfx9_argument *kernels)
{
    const bool wide = kernels->bytes == 8, some = wide || kernels->bytes == 4;
    switch (a->role->kind) {
    case MATRIX:
    case TURNED: return wide;
    case SCALAR: return some && !kernels->address;
    case NUMBER: return some && (!kernels->address || !a->number);
    default: return some && !kernels->address;
    }
}

/* The arguments of the kernel, by its code object. */
static void describe_arguments(char *text, size_t size, const struct gfx9_kernel *k)
{
    *text = 0;
    for (int i = 0; i < k->arguments; i++) {
        const struct gfx9_argument *a = &k->argument[i];
        const char *between = i ? ", " : "";
        if (a->address) text_add(text, size, "%saddress", between);
        else text_add(text, size, "%s%u bytes", between, a->bytes);
    }
}

static enum bitcut_status read_arguments(struct call *x, struct fault *f)
{
    const char *list = x->given->arguments;
    const size_t count = parts_in(list);
    char part[PART_MAX], takes[120];
    describe_arguments(takes, sizeof takes, x->kernel);
    if (count != (size_t)x->kernel->arguments)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "--args has %zu arguments, but %s takes %d: %s", count,
                         x->kernel->name, x->kernel->arguments, takes);
    for (size_t i = 0; i < count; i++) {
        struct argument *a = &x->argument[i];
        if (!next_part(part, &list))
            return fault_set(f, BITCUT_BAD_ARGUMENT, "--args: an argument is too long");
        const enum bitcut_status status = read_part(a, part, f);
        if (status != BITCUT_OK) return status;
        if (!fits(a, &x->kernel->argument[i]))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%s cannot be argument %zu of %s, which takes %s", part,
                             i + 1, x->kernel->name, takes);
    }
    return BITCUT_OK;
}

/* --- extents ---------------------------------------------------------------------- */

/* A factor at the beginning of *text, which moves to its end. */
static bool take_factor(uint64_t *value, const char **text, const size_t size[SIZES])
{
    static const char names[] = "mnk";
    const char *name = **text ? strchr(names, **text) : NULL;
    uint64_t over = 1;
    if (name) *value = size[name - names], ++*text;
    else if (!take_number(value, text)) return false;
    if (**text != '/') return true;
    ++*text;
    if (!take_number(&over, text) || !over) return false;
    *value = divide_up(*value, over);
    return true;
}

static bool read_extent(uint32_t *to, const char *text, const size_t size[SIZES])
{
    uint64_t all = 1, one;
    for (;; text++) {
        if (!take_factor(&one, &text, size) || one > UINT32_MAX) return false;
        all *= one;
        if (all > UINT32_MAX) return false;
        if (*text != '*') break;
    }
    *to = (uint32_t)all;
    return !*text;
}

static enum bitcut_status read_extents(uint32_t to[3], const char *list,
                                       const char *option, const size_t size[SIZES],
                                       struct fault *f)
{
    const char *rest = list;
    char part[PART_MAX];
    bool good = parts_in(list) >= 1 && parts_in(list) <= 3;
    for (int i = 0; i < 3; i++) to[i] = 1;
    for (int i = 0; good && *rest; i++)
        good = next_part(part, &rest) && read_extent(&to[i], part, size);
    if (good) return BITCUT_OK;
    return fault_set(
        f, BITCUT_BAD_ARGUMENT,
        "%s %s: expected 1 to 3 extents below 2^32 such as n/128,m/128 or 256", option,
        list);
}

/* --- matrices --------------------------------------------------------------------- */

static size_t leading(const struct place *p) { return p->turned ? p->rows : p->cols; }

static uint8_t *element(const struct place *p, size_t i, size_t j)
{
    const size_t at = p->turned ? j * p->rows + i : i * p->cols + j;
    return (uint8_t *)p->memory.at + at * (size_t)format_bytes(p->format);
}

/* Set the matrices from the arguments. */
static enum bitcut_status find_places(struct call *x, struct fault *f)
{
    for (int i = 0; i < x->kernel->arguments; i++) {
        const struct argument *a = &x->argument[i];
        struct place *p = &x->place[a->role->which];
        if (a->role->kind > TURNED) continue;
        if (p->format)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "--args: duplicate argument %s",
                             a->role->name);
        p->format = a->format;
        p->turned = a->role->kind == TURNED;
    }
    x->in_place = !x->place[D].format;
    const struct {
        bool missing;
        const char *what;
    } needed[] = { { !x->place[A].format, "a" },
                   { !x->place[B].format, "b" },
                   { !x->place[C].format && x->place[C].from, "c, required by -c" },
                   { !x->place[C].format && x->in_place, "d" } };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].missing)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "--args: missing argument %s",
                             needed[i].what);
    return BITCUT_OK;
}

/* Allocate device memory for a matrix, and copy its elements there, rounded in the source
   as well. */
static enum bitcut_status fill_place(struct place *p, struct fault *f)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct bitcut_rounding *nearest = &roundings[ROUND_RN];
    const size_t each = (size_t)format_bytes(p->format);
    size_t count, bytes;
    if (size_multiply(&count, p->rows, p->cols) && size_multiply(&bytes, count, each) &&
        bytes < SIZE_MAX - ALIGNMENT) {
        p->memory.bytes = bytes;
        p->memory.at = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    }
    if (!p->memory.at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    memset(p->memory.at, 0xff, p->memory.bytes);
    for (size_t n = 0; p->from && n < count; n++) {
        uint32_t *const x = &p->from->at[n];
        if (p->format != f32) *x = f32_through(p->format, nearest, *x);
        const uint64_t bits = bitcut_format_convert(p->format, nearest, f32, *x);
        memcpy(element(p, n / p->cols, n % p->cols),
               p->format == f32 ? (void *)x : (void *)&bits, each);
    }
    return BITCUT_OK;
}

static enum bitcut_status read_result(struct code_result *to, const struct place *p,
                                      struct fault *f)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const size_t each = (size_t)format_bytes(p->format);
    const enum bitcut_status status = matrix_init(&to->d, p->rows, p->cols, f);
    if (status != BITCUT_OK) return status;
    to->format = to->d.format = p->format;
    for (size_t n = 0; n < p->rows * p->cols; n++) {
        uint64_t bits = 0;
        memcpy(&bits, element(p, n / p->cols, n % p->cols), each);
        to->d.at[n] = p->format == f32 ? (uint32_t)bits
                                       : (uint32_t)bitcut_format_convert(
                                             f32, &roundings[ROUND_RN], p->format, bits);
    }
    return BITCUT_OK;
}

/* --- the launch ------------------------------------------------------------------- */

/* The bits of an argument with 4 or 8 bytes. */
static enum bitcut_status value_of(uint64_t *bits, const struct call *x,
                                   const struct argument *a, uint32_t bytes,
                                   struct fault *f)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const int which = a->role->which;
    switch (a->role->kind) {
    case MATRIX:
    case TURNED: *bits = x->place[which].memory.address; return BITCUT_OK;
    case SIZE: *bits = x->size[which]; break;
    case LEADING: *bits = leading(&x->place[which]); break;
    case NUMBER: *bits = a->number; break;
    case SCALAR: {
        const double wide = format_to_double(f32, x->scalars[which]);
        *bits = x->scalars[which];
        if (bytes == 8) memcpy(bits, &wide, sizeof wide);
        return BITCUT_OK;
    }
    }
    if (bytes == 8 || *bits <= INT32_MAX || a->role->kind == NUMBER) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not fit in a 32-bit argument",
                     a->role->name);
}

static enum bitcut_status put_arguments(uint8_t segment[SEGMENT_MAX], size_t *bytes,
                                        const struct call *x, struct fault *f)
{
    *bytes = 0;
    for (int i = 0; i < x->kernel->arguments; i++) {
        const struct gfx9_argument to = x->kernel->argument[i];
        uint64_t bits = 0;
        const enum bitcut_status status =
            value_of(&bits, x, &x->argument[i], to.bytes, f);
        if (status != BITCUT_OK) return status;
        if (to.offset > SEGMENT_MAX - sizeof bits)
            return fault_set(f, BITCUT_UNSUPPORTED, "%s has too many arguments",
                             x->kernel->name);
        memcpy(segment + to.offset, &bits, to.bytes);
        *bytes = to.offset + to.bytes > *bytes ? to.offset + to.bytes : *bytes;
    }
    return BITCUT_OK;
}

static enum bitcut_status launch(struct code_result *to, struct call *x,
                                 const struct gfx9_object *object, struct fault *f)
{
    uint8_t segment[SEGMENT_MAX] = { 0 };
    struct gfx9_memory memory[MATRICES];
    struct gfx9_launch l = { .object = object,
                             .kernel = x->kernel,
                             .lds_bytes =
                                 (uint32_t)smaller(x->given->shared_bytes, UINT32_MAX),
                             .arguments = segment,
                             .memory = memory,
                             .threads = x->given->threads,
                             .seconds = x->given->seconds,
                             .progress = x->given->progress };
    for (int i = 0; i < MATRICES; i++)
        if (x->place[i].format) memory[l.memories++] = x->place[i].memory;
    enum bitcut_status status =
        read_extents(l.groups, x->given->grid, "--grid", x->size, f);
    if (status == BITCUT_OK)
        status = read_extents(l.items, x->given->block, "--block", x->size, f);
    if (status == BITCUT_OK) status = put_arguments(segment, &l.argument_bytes, x, f);
    if (status == BITCUT_OK) status = gfx9_run(&to->counts, &l, f);
    if (status == BITCUT_OK)
        to->units = gfx9_units_executed(to->unit, object, &to->counts);
    return status;
}

/* All checks that are possible before the kernel is run. */
static enum bitcut_status make_call(struct call *x, const struct matrix *a,
                                    const struct matrix *b, const struct matrix *c,
                                    struct fault *f)
{
    const size_t m = a->rows, n = b->cols, k = a->cols;
    x->size[0] = m, x->size[1] = n, x->size[2] = k;
    x->place[A] = (struct place){ .from = a, .rows = m, .cols = k };
    x->place[B] = (struct place){ .from = b, .rows = k, .cols = n };
    x->place[C] = (struct place){ .from = c->at ? c : NULL, .rows = m, .cols = n };
    x->place[D] = (struct place){ .rows = m, .cols = n };
    const enum bitcut_status status = read_arguments(x, f);
    return status == BITCUT_OK ? find_places(x, f) : status;
}

static enum bitcut_status fail_symbol(const struct gfx9_object *object,
                                      const char *symbol, struct fault *f)
{
    char names[120] = "";
    const struct gfx9_kernel *k = NULL;
    while ((k = gfx9_kernel_next(object, k))) text_append(names, sizeof names, k->name);
    return fault_set(f, BITCUT_UNSUPPORTED, "unknown kernel %.60s; the code has %s",
                     symbol, *names ? names : "none");
}

enum bitcut_status code_gemm_run(struct code_result *to, struct matrix *a,
                                 struct matrix *b, struct matrix *c,
                                 const uint32_t scalars[2],
                                 const struct gfx9_object *object,
                                 const struct code_call *call, struct fault *f)
{
    struct code_result result = { .target = gfx9_target_of(object) };
    struct call x = { .given = call,
                      .kernel = gfx9_kernel_find(object, call->symbol),
                      .scalars = { scalars[0], scalars[1] } };
    uint64_t address = GFX9_ADDRESS_FIRST;
    if (!x.kernel) return fail_symbol(object, call->symbol, f);
    enum bitcut_status status = make_call(&x, a, b, c, f);
    for (int i = 0; i < MATRICES && status == BITCUT_OK; i++) {
        if (!x.place[i].format) continue;
        status = fill_place(&x.place[i], f);
        address = gfx9_address_set(&x.place[i].memory, address);
    }
    if (status == BITCUT_OK) status = launch(&result, &x, object, f);
    if (status == BITCUT_OK)
        status = read_result(&result, &x.place[x.in_place ? C : D], f);
    for (int i = 0; i < MATRICES; i++) free(x.place[i].memory.at);
    if (status == BITCUT_OK) *to = result;
    return status;
}
