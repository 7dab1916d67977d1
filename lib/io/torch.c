/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/torch.h"

#include "lib/io/pickle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 512, PICKLE_MAX = 1 << 26 };

static const char pickle_name[] = "/data.pkl";

/* The length of the folder that all members are in, such as "archive"; 0: the archive has
   no pickle. */
static size_t prefix_of(const char **prefix, const struct zip *z)
{
    const size_t end = sizeof pickle_name - 1;
    struct zip_entry e;
    for (size_t at = 0; zip_next(&e, &at, z);) {
        if (e.name_length <= end ||
            memcmp(e.name + e.name_length - end, pickle_name, end) != 0)
            continue;
        *prefix = e.name;
        return e.name_length - end;
    }
    return 0;
}

bool torch_is(const struct zip *z)
{
    const char *prefix;
    return prefix_of(&prefix, z) != 0;
}

/* Find the member PREFIX/NAME. */
static enum bitcut_status member_find(struct zip_entry *e, const struct zip *z,
                                      const char *name, struct fault *f)
{
    const char *prefix;
    char path[PATH_MAX_BYTES];
    const size_t length = prefix_of(&prefix, z), more = strlen(name);
    if (length + more >= sizeof path)
        return fault_set(f, BITCUT_BAD_FILE, "the names of members are too long");
    memcpy(path, prefix, length);
    memcpy(path + length, name, more);
    return zip_find(e, z, path, length + more, f);
}

/* Read all of a small member; the caller frees it. */
static enum bitcut_status member_read(char **bytes, size_t *size, const struct zip *z,
                                      const char *name, struct fault *f)
{
    struct zip_entry e;
    struct stream s;
    enum bitcut_status status = member_find(&e, z, name, f);
    if (status) return status;
    if (e.size > PICKLE_MAX)
        return fault_set(f, BITCUT_BAD_FILE, "%s is larger than 2^26 bytes", name + 1);
    char *const at = memory_allocate((size_t)e.size, 1);
    if (!at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for %s", name + 1);
    status = zip_member_open(&s, z, &e, f);
    if (!status) {
        status = stream_read(at, (size_t)e.size, &s, f);
        zip_member_close(&s);
    }
    if (status) {
        free(at);
        return status;
    }
    *bytes = at;
    *size = (size_t)e.size;
    return BITCUT_OK;
}

/* Files of PyTorch before 2.1 do not say their byte order. */
static enum bitcut_status order_check(const struct zip *z, struct fault *f)
{
    static const char name[] = "/byteorder", little[] = "little";
    struct zip_entry e;
    char *order;
    size_t size;
    const char *prefix;
    const size_t length = prefix_of(&prefix, z), more = sizeof name - 1;
    bool found = false;
    for (size_t at = 0; zip_next(&e, &at, z);)
        found |= e.name_length == length + more && !memcmp(e.name, prefix, length) &&
                 !memcmp(e.name + length, name, more);
    if (!found) return BITCUT_OK;
    const enum bitcut_status status = member_read(&order, &size, z, name, f);
    if (status) return status;
    const bool good = size == sizeof little - 1 && !memcmp(order, little, size);
    free(order);
    return good ? BITCUT_OK
                : fault_set(f, BITCUT_BAD_FILE,
                            "unsupported byte order; expected little-endian");
}

static bool is_empty(const struct pickle_tensor *t)
{
    for (int i = 0; i < t->dims; i++)
        if (t->dim[i] == 0) return true;
    return false;
}

/* Check that the storage, whose size is right, has all elements, and no fewer than the
   tensor. */
static enum bitcut_status range_check(const struct pickle_tensor *t, struct fault *f)
{
    const uint64_t elements = t->bytes / (uint64_t)t->type->bytes;
    uint64_t last = t->offset, count = 1;
    for (int i = 0; i < t->dims; i++) {
        if (t->dim[i] > elements / count)
            return fault_set(f, BITCUT_BAD_FILE,
                             "the tensor has more elements than its storage has; save a "
                             "copy of it (PyTorch: .clone().contiguous())");
        count *= t->dim[i];
        if (t->dim[i] > 1 && t->stride[i] > elements / (t->dim[i] - 1)) last = elements;
        else if (last < elements) last += (t->dim[i] - 1) * t->stride[i];
    }
    if (last >= elements)
        return fault_set(f, BITCUT_BAD_FILE, "the tensor lies outside its storage");
    return BITCUT_OK;
}

/* Whether the elements are those of the storage, in their order. */
static bool is_whole(const struct pickle_tensor *t, size_t count)
{
    uint64_t stride = 1;
    for (int i = t->dims; i-- > 0; stride *= t->dim[i])
        if (t->dim[i] != 1 && t->stride[i] != stride) return false;
    return t->offset == 0 && count == t->bytes / (uint64_t)t->type->bytes;
}

/* Copy the elements out of the storage's bytes. */
static void gather(struct tensor *to, const unsigned char *from,
                   const struct pickle_tensor *t)
{
    const size_t bytes = (size_t)to->array.bytes;
    uint64_t index[ARRAY_DIMS_MAX] = { 0 }, at = t->offset;
    for (size_t k = 0; k < to->array.count; k++) {
        memcpy((unsigned char *)to->array.data + k * bytes, from + at * bytes, bytes);
        for (int i = t->dims; i-- > 0;) {
            at += t->stride[i];
            if (++index[i] < t->dim[i]) break;
            at -= t->stride[i] * t->dim[i];
            index[i] = 0;
        }
    }
    tensor_from_little(to);
}

static enum bitcut_status strided_read(struct tensor *to, struct stream *s,
                                       const struct pickle_tensor *t, struct fault *f)
{
    unsigned char *const all = memory_allocate((size_t)t->bytes, 1);
    if (!all) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the storage");
    const enum bitcut_status status = stream_read(all, (size_t)t->bytes, s, f);
    if (!status) gather(to, all, t);
    free(all);
    return status;
}

/* Find the member that is the storage. */
static enum bitcut_status storage_find(struct zip_entry *e, const struct zip *z,
                                       const struct pickle_tensor *t, struct fault *f)
{
    char name[PICKLE_KEY_MAX + 8];
    snprintf(name, sizeof name, "/data/%s", t->key);
    const enum bitcut_status status = member_find(e, z, name, f);
    if (status || e->size == t->bytes) return status;
    return fault_set(f, BITCUT_BAD_FILE,
                     "a storage should have %" PRIu64 " bytes, but its member has "
                     "%" PRIu64,
                     t->bytes, e->size);
}

static enum bitcut_status storage_read(struct tensor *to, const struct zip *z,
                                       const struct zip_entry *e,
                                       const struct pickle_tensor *t, struct fault *f)
{
    struct stream s;
    enum bitcut_status status = zip_member_open(&s, z, e, f);
    if (status) return status;
    status = is_whole(t, to->array.count) ? tensor_read_elements(to, &s, f)
                                          : strided_read(to, &s, t, f);
    zip_member_close(&s);
    return status;
}

static enum bitcut_status tensor_read(struct tensor *to, const struct zip *z,
                                      const struct pickle_tensor *t, struct fault *f)
{
    const bool empty = is_empty(t);
    size_t dim[ARRAY_DIMS_MAX];
    struct zip_entry e;
    struct tensor new;
    enum bitcut_status status = BITCUT_OK;
    if (!empty) status = storage_find(&e, z, t, f);
    if (!status && !empty) status = range_check(t, f);
    for (int i = 0; i < t->dims && !status; i++) {
        if (t->dim[i] > SIZE_MAX)
            status = fault_set(f, BITCUT_BAD_FILE, "a dimension is too large");
        dim[i] = (size_t)t->dim[i];
    }
    if (!status) status = tensor_init(&new, t->dims, dim, t->type, f);
    if (status) return status;
    if (!empty) status = storage_read(&new, z, &e, t, f);
    if (status) tensor_clear(&new);
    else *to = new;
    return status;
}

enum bitcut_status torch_read(struct tensor *t, const struct zip *z, const char *name,
                              struct fault *f)
{
    struct pickle_tensor found;
    char *pickle;
    size_t size;
    enum bitcut_status status = order_check(z, f);
    if (!status) status = member_read(&pickle, &size, z, pickle_name, f);
    if (status) return status;
    status = pickle_find(&found, pickle, size, name, f);
    free(pickle);
    return status ? status : tensor_read(t, z, &found, f);
}
