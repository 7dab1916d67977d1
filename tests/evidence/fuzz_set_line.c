/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for recorded sets as lines of a file, and for the model on accepted
   sets. clang -fsanitize=fuzzer,address,undefined. */
#include "analysis/evidence/set.h"
#include "tests/fuzz.h"

/* What the unit gives for its operands, which fit it. */
static void run(const struct set *s)
{
    const struct fragments x = set_fragments(s);
    struct array got;
    if (array_init(&got, s->d.dims, s->d.dim, s->d.bytes, false, NULL)) return;
    must(fragments_run(&got, &s->unit, &x, s->shape, 1, NULL, NULL) == BITCUT_OK);
    for (size_t i = 0; i < got.count; i++) set_has(s, i, array_get(&got, i));
    array_clear(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    json_t *line = json_loadb((const char *)bytes, size, 0, NULL);
    struct set s;
    struct fault f = { .status = BITCUT_OK, .text = "" };
    if (!json_is_object(line)) return json_decref(line), 0;
    const enum bitcut_status status = set_read_line(&s, line, SET_RECORDED, &f);
    json_decref(line);
    if (status) {
        must(status == BITCUT_BAD_FILE || status == BITCUT_NO_MEMORY);
        fault_check(&f, status);
        return 0;
    }
    if (s.known) run(&s);
    set_clear(&s);
    return 0;
}
