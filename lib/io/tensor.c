/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/tensor.h"

#include <stdio.h>
#include <string.h>

const struct tensor_type *tensor_type_find(const struct tensor_type *types,
                                           const char *name, size_t length)
{
    for (; types->name; types++)
        if (strlen(types->name) == length && !memcmp(types->name, name, length))
            return types;
    return NULL;
}

enum bitcut_status tensor_init(struct tensor *t, int dims, const size_t *dim,
                               const struct tensor_type *type, struct fault *f)
{
    const struct bitcut_format *const x = type->format;
    const bool floating = x == &formats[FORMAT_F16] || x == &formats[FORMAT_F32] ||
                          x == &formats[FORMAT_F64];
    struct tensor new = { .format = x };
    const enum bitcut_status status =
        array_init(&new.array, dims, dim, type->bytes, floating, f);
    if (status != BITCUT_OK) return status;
    snprintf(new.type, sizeof new.type, "%s", type->name);
    *t = new;
    return BITCUT_OK;
}

void tensor_clear(struct tensor *t)
{
    array_clear(&t->array);
    *t = (struct tensor){ 0 };
}

bool tensor_bytes(size_t *bytes, int dims, const size_t *dim, size_t size)
{
    bool empty = false;
    *bytes = size;
    for (int i = 0; i < dims; i++) {
        if (dim[i] == 0) empty = true;
        else if (!size_multiply(bytes, *bytes, dim[i])) return false;
    }
    if (empty) *bytes = 0;
    return true;
}

static bool host_is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

void tensor_from_little(struct tensor *t)
{
    struct array *const a = &t->array;
    for (size_t i = 0; !host_is_little() && i < a->count; i++) {
        uint64_t x = array_get(a, i), y = 0;
        for (int k = 0; k < a->bytes; k++, x >>= 8) y = y << 8 | (x & 0xff);
        array_set(a, i, y);
    }
}

enum bitcut_status tensor_read_elements(struct tensor *t, struct stream *s,
                                        struct fault *f)
{
    struct array *const a = &t->array;
    const enum bitcut_status status =
        stream_read(a->data, a->count * (size_t)a->bytes, s, f);
    if (status == BITCUT_OK) tensor_from_little(t);
    return status;
}
