/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that compute an attention (lib/bitcut.h). */
#include "emu/attention/attention_run.h"

#include "lib/gemm/view.h"

#include <stdlib.h>

/* Take, plan and check a caller's attention. */
static enum bitcut_status prepare(struct attention_plan *plan,
                                  const struct bitcut_attention *from, bool matrices,
                                  struct fault *f)
{
    struct bitcut_attention a;
    enum bitcut_status status = attention_take(&a, from, f);
    if (status == BITCUT_OK) status = attention_plan_make(plan, &a, f);
    if (status == BITCUT_OK && matrices) status = attention_check_matrices(&a, f);
    return status;
}

enum bitcut_status attention_call(const struct bitcut_attention *attention,
                                  const struct attention_options *options, char *why)
{
    struct attention_plan plan;
    struct fault f;
    enum bitcut_status status = prepare(&plan, attention, true, &f);
    if (status == BITCUT_OK && options->threads < 0)
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    if (status == BITCUT_OK) status = attention_run(&plan, options, &f);
    return fault_write(why, status, &f);
}

enum bitcut_status bitcut_attention(const struct bitcut_attention *attention, int threads,
                                    char *why)
{
    return attention_call(attention,
                          &(struct attention_options){ .threads = threads,
                                                       .progress = progress_of_thread() },
                          why);
}

enum bitcut_status bitcut_attention_write(char line[BITCUT_ATTENTION_MAX],
                                          const struct bitcut_attention *attention,
                                          char *why)
{
    struct attention_plan plan;
    struct fault f;
    const enum bitcut_status status = prepare(&plan, attention, false, &f);
    if (status != BITCUT_OK) return fault_write(why, status, &f);
    attention_plan_write(line, &plan);
    return BITCUT_OK;
}

/* --- comparison
 * ------------------------------------------------------------------------- */

static void compare_head(struct bitcut_difference *to, const struct bitcut_attention *a,
                         const struct bitcut_attention *expected, size_t head)
{
    const struct view x = view_of(&a->o, head, a->queries, a->value_dim, false),
                      y = view_of(&expected->o, head, a->queries, a->value_dim, false);
    for (size_t i = 0; i < a->queries; i++)
        for (size_t j = 0; j < a->value_dim; j++) {
            const uint64_t got = view_encoding(&x, i, j), want = view_encoding(&y, i, j);
            to->compared++;
            if (got == want || to->differ++) continue;
            to->gemm = head;
            to->row = i;
            to->column = j;
            to->given = got;
            to->expected = want;
        }
}

enum bitcut_status attention_verify_call(struct bitcut_difference *to,
                                         const struct bitcut_attention *attention,
                                         const struct attention_options *options,
                                         char *why)
{
    struct bitcut_attention a, own;
    struct bitcut_difference found = { .size = sizeof found };
    struct fault f;
    size_t count;
    enum bitcut_status status =
        struct_check("differences", to ? to->size : 0, sizeof *to, &f);
    if (status == BITCUT_OK) status = attention_take(&a, attention, &f);
    if (status == BITCUT_OK) status = attention_check_matrices(&a, &f);
    if (status != BITCUT_OK) return fault_write(why, status, &f);
    own = a;
    own.lse = NULL;
    own.o =
        (struct bitcut_matrix){ .format = a.o.format, .stride = a.queries * a.value_dim };
    own.o.to = size_multiply(&count, a.heads, own.o.stride)
                   ? memory_allocate(count, (size_t)format_bytes(matrix_format(&a.o)))
                   : NULL;
    if (!own.o.to) {
        fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the emulator's O");
        return fault_write(why, BITCUT_NO_MEMORY, &f);
    }
    status = attention_call(&own, options, why);
    for (size_t h = 0; h < a.heads && status == BITCUT_OK; h++)
        compare_head(&found, &a, &own, h);
    if (status == BITCUT_OK) *to = found;
    free(own.o.to);
    return status;
}

enum bitcut_status bitcut_attention_verify(struct bitcut_difference *to,
                                           const struct bitcut_attention *attention,
                                           int threads, char *why)
{
    return attention_verify_call(
        to, attention,
        &(struct attention_options){ .threads = threads,
                                     .progress = progress_of_thread() },
        why);
}
