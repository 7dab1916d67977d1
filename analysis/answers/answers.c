/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/answers/answers.h"

#include "analysis/tolerance/given.h"
#include "lib/table.h"

#include <stdio.h>

#define ANSWER(type, what, fields)                                                       \
    {                                                                                    \
        #type, what, fields, sizeof(struct type)                                         \
    }

const struct record answers[] = {
    ANSWER(bitcut_tolerances, "limits of a test", tolerance_fields),
    ANSWER(bitcut_tolerance_verdict, "what a result is by such limits", given_fields),
    { 0 }
};

/* The type of a member in C. */
static void write_type(char *text, size_t size, const struct record_field *f)
{
    static const struct {
        const char *name;
        size_t each; /* bytes of an element of an array; 0: no array */
    } types[] = {
        [RECORD_FLAG] = { "bool", 0 },
        [RECORD_INT] = { "int", 0 },
        [RECORD_COUNT] = { "size_t", 0 },
        [RECORD_REAL] = { "double", 0 },
        [RECORD_TEXT] = { "const char *", 0 },
        [RECORD_CHARS] = { "char", 1 },
        [RECORD_FLAGS] = { "bool", sizeof(bool) },
        [RECORD_COUNTS] = { "size_t", sizeof(size_t) },
        [RECORD_REALS] = { "double", sizeof(double) },
        [RECORD_ROW] = { "const void *", 0 },
    };
    const size_t each = types[f->kind].each;
    if (each) snprintf(text, size, "%s[%zu]", types[f->kind].name, f->bytes / each);
    else snprintf(text, size, "%s", types[f->kind].name);
}

bool bitcut_struct_member(struct bitcut_field *member, size_t *offset, const char *name,
                          size_t index)
{
    const struct record *const r = table_find(TABLE(answers), name);
    for (const struct record_field *f = r ? r->field : NULL; f && f->name; f++) {
        if (!f->member || index--) continue;
        member->name = f->member;
        member->kind = BITCUT_TEXT;
        write_type(member->text, sizeof member->text, f);
        *offset = f->offset;
        return true;
    }
    return false;
}
