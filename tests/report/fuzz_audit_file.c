/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the reader of audits; accepted audits have call sites with unique
   names that are safe to print. clang -fsanitize=fuzzer,address,undefined. */
#include "analysis/report/audit_file.h"
#include "tests/fuzz.h"

/* No two are called alike. */
static void names_check(const json_t *sites)
{
    json_t *names = json_object();
    size_t i;
    const json_t *row;
    json_array_foreach(sites, i, row)
    {
        const char *const name = json_string_value(json_object_get(row, "call_site"));
        must(name && !json_object_get(names, name));
        must(json_is_string(json_object_get(row, "where")));
        json_object_set_new(names, name, json_true());
    }
    json_decref(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    json_t *sites = json_array(), *total;
    struct fault f = { .status = BITCUT_OK, .text = "" };
    size_t line;
    const enum bitcut_status status = audit_parse(sites, &total, &line, bytes, size, &f);
    must(status == BITCUT_OK || status == BITCUT_BAD_FILE);
    if (status) fault_check(&f, status);
    else must(json_array_size(sites) > 0), names_check(sites);
    json_decref(sites);
    json_decref(total);
    return 0;
}
