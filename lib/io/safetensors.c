/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/safetensors.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, HEADER_MAX = 1 << 26, NAME_QUOTED = 60 };

static const struct tensor_type types[] = {
    { "F64", 8, &formats[FORMAT_F64] },
    { "F32", 4, &formats[FORMAT_F32] },
    { "F16", 2, &formats[FORMAT_F16] },
    { "BF16", 2, &formats[FORMAT_BF16] },
    { "F8_E4M3", 1, &formats[FORMAT_E4M3] },
    { "F8_E5M2", 1, &formats[FORMAT_E5M2] },
    { "F8_E8M0", 1, &formats[FORMAT_UE8M0] },
    { "I8", 1, &formats[FORMAT_S8] },
    { "I16", 2, &formats[FORMAT_S16] },
    { "I32", 4, &formats[FORMAT_S32] },
    { "U8", 1, NULL },
    { NULL, 0, NULL },
};

/* --- the header: a JSON object, a member for each tensor -------------------------- */

static uint64_t length_of(const unsigned char bytes[LENGTH_BYTES])
{
    uint64_t x = 0;
    for (int i = LENGTH_BYTES; i-- > 0;) x = x << 8 | bytes[i];
    return x;
}

bool safetensors_begins(const unsigned char *bytes, size_t size, uint64_t whole)
{
    return size > LENGTH_BYTES && bytes[LENGTH_BYTES] == '{' &&
           length_of(bytes) <= whole - LENGTH_BYTES;
}

/* Parse the header.  *data becomes the place of the first byte after it. */
static enum bitcut_status header_read(json_t **header, uint64_t *data, struct stream *s,
                                      struct fault *f)
{
    unsigned char bytes[LENGTH_BYTES];
    json_error_t error;
    enum bitcut_status status = stream_read(bytes, sizeof bytes, s, f);
    if (status) return status;
    const uint64_t length = length_of(bytes);
    if (length > s->size - LENGTH_BYTES)
        return fault_set(f, BITCUT_BAD_FILE,
                         "the header should have %" PRIu64 " bytes, "
                         "but only %" PRIu64 " follow",
                         length, s->size - LENGTH_BYTES);
    if (length > HEADER_MAX)
        return fault_set(f, BITCUT_BAD_FILE, "the header is longer than 2^26 bytes");
    char *text = memory_allocate((size_t)length, 1);
    if (!text) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the header");
    status = stream_read(text, (size_t)length, s, f);
    json_t *parsed =
        status ? NULL : json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (status) return status;
    if (!parsed) return fault_set(f, BITCUT_BAD_FILE, "header: %s", error.text);
    if (!json_is_object(parsed)) {
        json_decref(parsed);
        return fault_set(f, BITCUT_BAD_FILE, "header: not a JSON object");
    }
    *header = parsed;
    *data = LENGTH_BYTES + length;
    return BITCUT_OK;
}

static bool is_tensor(const char *key) { return strcmp(key, "__metadata__") != 0; }

/* The names of tensors, for a message. */
static enum bitcut_status fault_names(struct fault *f, const char *what,
                                      const json_t *header)
{
    char names[160] = "";
    for (void *i = json_object_iter((json_t *)header); i;
         i = json_object_iter_next((json_t *)header, i)) {
        const char *const key = json_object_iter_key(i);
        if (is_tensor(key) && strlen(names) + strlen(key) + 8 < sizeof names)
            text_add(names, sizeof names, "%s%s", *names ? ", " : "", key);
    }
    return fault_set(f, BITCUT_BAD_FILE,
                     "%s; expected FILE:NAME, with a name such as: %s", what, names);
}

/* Find a tensor by its name, or the only one. */
static enum bitcut_status find(const json_t **tensor, const json_t *header,
                               const char *name, struct fault *f)
{
    size_t count = 0;
    for (void *i = json_object_iter((json_t *)header); i;
         i = json_object_iter_next((json_t *)header, i)) {
        const char *const key = json_object_iter_key(i);
        if (!is_tensor(key) || (name && strcmp(key, name) != 0)) continue;
        *tensor = json_object_iter_value(i);
        count++;
    }
    if (count == 1) return BITCUT_OK;
    if (!json_object_size(header))
        return fault_set(f, BITCUT_BAD_FILE, "the file has no tensors");
    return fault_names(
        f, name ? "no tensor of this name" : "the file has several tensors", header);
}

/* --- one tensor ------------------------------------------------------------------- */

/* An integer of the header that is a size. */
static bool size_read(uint64_t *to, const json_t *value)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *to = (uint64_t)json_integer_value(value);
    return *to <= SIZE_MAX;
}

static enum bitcut_status shape_read(int *dims, size_t dim[ARRAY_DIMS_MAX],
                                     const json_t *shape, struct fault *f)
{
    const size_t count = json_array_size(shape);
    if (!json_is_array(shape))
        return fault_set(f, BITCUT_BAD_FILE, "header: no \"shape\"");
    if (count > ARRAY_DIMS_MAX)
        return fault_set(f, BITCUT_BAD_FILE, "more than %d dimensions", ARRAY_DIMS_MAX);
    for (size_t i = 0; i < count; i++) {
        uint64_t size;
        if (!size_read(&size, json_array_get(shape, i)))
            return fault_set(f, BITCUT_BAD_FILE, "header: a dimension is not a size");
        dim[i] = (size_t)size;
    }
    *dims = (int)count;
    return BITCUT_OK;
}

static enum bitcut_status type_read(const struct tensor_type **type, const json_t *tensor,
                                    struct fault *f)
{
    const char *const name = json_string_value(json_object_get(tensor, "dtype"));
    if (!name) return fault_set(f, BITCUT_BAD_FILE, "header: no \"dtype\"");
    *type = tensor_type_find(types, name, strlen(name));
    if (*type) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_FILE,
                     "unsupported element type '%.*s'; expected F32, F16, BF16, F8_E4M3, "
                     "F8_E5M2, F8_E8M0, I8, I16, I32, U8 or F64",
                     text_fit(name, NAME_QUOTED), name);
}

/* Where the bytes of the tensor begin, among `left` bytes after the header. */
static enum bitcut_status place_read(uint64_t *first, const json_t *tensor, size_t bytes,
                                     uint64_t left, struct fault *f)
{
    const json_t *const offsets = json_object_get(tensor, "data_offsets");
    uint64_t begin, end;
    if (json_array_size(offsets) != 2 || !size_read(&begin, json_array_get(offsets, 0)) ||
        !size_read(&end, json_array_get(offsets, 1)))
        return fault_set(f, BITCUT_BAD_FILE, "header: no \"data_offsets\" of two sizes");
    if (begin > end || end > left)
        return fault_set(f, BITCUT_BAD_FILE,
                         "the tensor's bytes %" PRIu64 " to %" PRIu64 " lie outside the "
                         "%" PRIu64 " bytes of data",
                         begin, end, left);
    if (end - begin != bytes)
        return fault_set(f, BITCUT_BAD_FILE,
                         "the shape requires %zu bytes, but the tensor has %" PRIu64,
                         bytes, end - begin);
    *first = begin;
    return BITCUT_OK;
}

static enum bitcut_status tensor_read(struct tensor *t, const json_t *tensor,
                                      uint64_t data, struct stream *s, struct fault *f)
{
    const struct tensor_type *type;
    size_t dim[ARRAY_DIMS_MAX], bytes;
    uint64_t first = 0;
    int dims = 0;
    enum bitcut_status status = type_read(&type, tensor, f);
    if (!status) status = shape_read(&dims, dim, json_object_get(tensor, "shape"), f);
    if (status) return status;
    if (!tensor_bytes(&bytes, dims, dim, (size_t)type->bytes))
        return fault_set(f, BITCUT_BAD_FILE,
                         "the tensor is larger than the address space");
    status = place_read(&first, tensor, bytes, s->size - data, f);
    if (!status) status = stream_seek(s, data + first, f);
    if (status) return status;
    struct tensor new;
    status = tensor_init(&new, dims, dim, type, f);
    if (status) return status;
    status = tensor_read_elements(&new, s, f);
    if (status) tensor_clear(&new);
    else *t = new;
    return status;
}

enum bitcut_status safetensors_read(struct tensor *t, struct stream *s, const char *name,
                                    struct fault *f)
{
    json_t *header;
    const json_t *tensor = NULL;
    uint64_t data;
    enum bitcut_status status = header_read(&header, &data, s, f);
    if (status) return status;
    status = find(&tensor, header, name, f);
    if (!status) status = tensor_read(t, tensor, data, s, f);
    json_decref(header);
    return status;
}
