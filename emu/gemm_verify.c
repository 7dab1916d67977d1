/* SPDX-License-Identifier: BSD-3-Clause */
/* Compare a D with the emulator's, bit for bit, as lib/bitcut.h declares. */
#include "emu/gemm.h"
#include "lib/gemm/view.h"

#include <stdlib.h>
#include <string.h>

#define DIFFERENCE(member, what)                                                         \
    RECORD_FIELD(struct bitcut_difference, member, "", "", what)

const struct record_field difference_fields[] = {
    DIFFERENCE(compared, "elements of all D that were compared"),
    DIFFERENCE(differ, "elements with other bits"),
    DIFFERENCE(gemm, "GEMM in the batch of the first element that differs"),
    DIFFERENCE(row, "its row"),
    DIFFERENCE(column, "its column"),
    DIFFERENCE(given, "its encoding"),
    DIFFERENCE(expected, "its encoding in the emulator's D"),
    { 0 }
};

static void compare_one(struct bitcut_difference *to, const struct bitcut_gemm *given,
                        const struct bitcut_gemm *expected, size_t gemm)
{
    const struct bitcut_gemm one = gemm_nth(given, gemm),
                             other = gemm_nth(expected, gemm);
    const struct view x = view_of(&one.d, 0, one.m, one.n, false),
                      y = view_of(&other.d, 0, one.m, one.n, false);
    for (size_t i = 0; i < one.m; i++)
        for (size_t j = 0; j < given->n; j++) {
            const uint64_t got = view_encoding(&x, i, j), want = view_encoding(&y, i, j);
            to->compared++;
            if (got == want || to->differ++) continue;
            to->gemm = gemm;
            to->row = i;
            to->column = j;
            to->given = got;
            to->expected = want;
        }
}

/* Compare the batch.  A batch of empty D needs no comparison, whatever its count. */
static enum bitcut_status compare_all(struct bitcut_difference *to,
                                      const struct bitcut_gemm *given,
                                      const struct bitcut_gemm *expected, struct fault *f)
{
    const struct progress *progress = progress_of_thread();
    const size_t count = given->m && given->n ? given->count : 0;
    for (size_t i = 0; i < count; i++) {
        if (progress_stopped(progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        compare_one(to, given, expected, i);
    }
    return BITCUT_OK;
}

/* Compute the emulator's D of all GEMMs, one after the other without gaps, in memory that
   the caller frees. */
static enum bitcut_status emulate(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                                  const struct gemm_options *options, char *why)
{
    struct fault f;
    struct bitcut_gemm g = *gemm;
    size_t count;
    const bool fits = size_multiply(&count, g.m, g.n) &&
                      size_multiply(&count, count, gemm_groups_rows(&g) ? 1 : g.count);
    void *const d =
        fits ? memory_allocate(count, (size_t)format_bytes(matrix_format(&g.d))) : NULL;
    if (!d) {
        fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the emulator's D");
        return fault_write(why, BITCUT_NO_MEMORY, &f);
    }
    epilogue_leave_amax(&g);
    g.d = (struct bitcut_matrix){ .to = d,
                                  .format = g.d.format,
                                  .stride = gemm_groups_rows(&g) ? 0 : g.m * g.n };
    const enum bitcut_status status = gemm_call(ran, &g, options, why);
    if (status != BITCUT_OK) free(d);
    return status;
}

enum bitcut_status gemm_verify_call(struct bitcut_difference *to, struct bitcut_gemm *ran,
                                    const struct bitcut_gemm *gemm,
                                    const struct gemm_options *options, char *why)
{
    struct bitcut_gemm g, done;
    struct bitcut_difference found = { .size = sizeof found };
    struct fault f;
    enum bitcut_status status = gemm_check_place(ran, &f);
    if (status == BITCUT_OK)
        status = struct_check("differences", to ? to->size : 0, sizeof *to, &f);
    if (status == BITCUT_OK) status = gemm_take_any(&g, gemm, &f);
    if (status == BITCUT_OK) status = gemm_check_matrices(&g, true, &f);
    if (status != BITCUT_OK) return fault_write(why, status, &f);
    bitcut_gemm_init(&done, sizeof done);
    status = emulate(&done, &g, options, why);
    if (status != BITCUT_OK) return status;
    status = compare_all(&found, &g, &done, &f);
    free(done.d.to);
    if (status != BITCUT_OK) return fault_write(why, status, &f);
    done.d = g.d;
    done.amax = g.amax;
    memcpy(done.epilogue, g.epilogue, sizeof done.epilogue);
    *to = found;
    gemm_give(ran, &done);
    return BITCUT_OK;
}

enum bitcut_status bitcut_gemm_verify(struct bitcut_difference *to,
                                      struct bitcut_gemm *ran,
                                      const struct bitcut_gemm *gemm, int threads,
                                      char *why)
{
    return gemm_verify_call(
        to, ran, gemm,
        &(struct gemm_options){ .threads = threads, .progress = progress_of_thread() },
        why);
}
