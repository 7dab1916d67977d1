/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for pastes, and for the inputs and one row of accepted lines.
   clang -fsanitize=fuzzer,address,undefined. */
#include "analysis/evidence/paste_row.h"
#include "lib/io/sha256.h"
#include "tests/fuzz.h"

#include <stdio.h>

static void run(const struct paste_line *x)
{
    struct paste_row rows[PASTE_ROWS_MAX];
    struct paste_operands o;
    if (x->k > 64 || paste_operands_make(&o, x, NULL) != BITCUT_OK) return;
    const size_t count = paste_rows(rows, x);
    uint64_t *const d = calloc(o.rows * o.cols, sizeof *d);
    if (count && d) {
        must(paste_compute(d, x, &o, &rows[x->seed % count], paste_orders[x->seed % 21],
                           (int)(x->seed % BIAS_PLACES), NULL) == BITCUT_OK);
        must(paste_agreeing(x, d, &o) <= PASTE_GROUPS);
    }
    free(d);
    paste_operands_clear(&o);
}

/* Lines of the input as records with their checksums, so that what follows the checksum
   is reached as well. */
static char *with_checksums(const uint8_t *bytes, size_t size)
{
    enum { LINES = 4, ROOM = 2048 };
    char *const text = calloc(LINES + 2, ROOM), record[ROOM / 2], digest[SHA256_TEXT];
    size_t at = 0;
    for (int i = 0; text && i < LINES + 2; i++) {
        const uint8_t *const end = at < size ? memchr(bytes + at, '\n', size - at) : NULL;
        const size_t length = end ? (size_t)(end - bytes) - at : size - at;
        if (i == 0)
            snprintf(record, sizeof record, "settle:begin version=1 count=%d", LINES);
        else if (i > LINES) snprintf(record, sizeof record, "settle:end count=%d", LINES);
        else
            snprintf(record, sizeof record, "settle:%d %.*s", i,
                     (int)(length < 900 ? length : 900), (const char *)bytes + at);
        sha256_of(digest, record, strlen(record));
        snprintf(text + strlen(text), ROOM, "%s sum=%.8s\n", record, digest);
        if (i && i <= LINES) at = end ? (size_t)(end - bytes) + 1 : size;
    }
    return text;
}

static void read_text(const char *text, size_t size)
{
    struct paste p;
    struct fault f = { .status = BITCUT_OK, .text = "" };
    const enum bitcut_status status = paste_read(&p, text, size, &f);
    if (status) {
        must(status == BITCUT_BAD_FILE || status == BITCUT_NO_MEMORY);
        fault_check(&f, status);
        return;
    }
    for (size_t i = 0; i < p.count; i++) run(&p.at[i]);
    paste_clear(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    read_text((const char *)bytes, size);
    char *const text = with_checksums(bytes, size);
    if (text) read_text(text, strlen(text));
    free(text);
    return 0;
}
