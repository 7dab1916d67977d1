/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gpu_file.h"

#include "lib/base/text.h"
#include "lib/io/stream.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 16 };

/* --- one description -------------------------------------------------------------- */

struct gpu_field {
    const char *name;
    size_t offset;
    int least, most;
};

/* clang-format off */
#define FIELD(name, least, most) { #name, offsetof(struct tile_gpu, name), least, most }

static const struct gpu_field gpu_fields[] = {
    FIELD(units,            1, TILE_SIZE_MAX),
    FIELD(registers,        1, TILE_SIZE_MAX),
    FIELD(shared,           1, TILE_SIZE_MAX),
    FIELD(shared_reserved,  0, TILE_SIZE_MAX),
    FIELD(matrix_cores,     1, TILE_COUNT_MAX),
    FIELD(wave,             1, TILE_COUNT_MAX),
    FIELD(registers_thread, 1, TILE_COUNT_MAX),
    FIELD(waves,            1, TILE_COUNT_MAX),
    FIELD(groups,           1, TILE_COUNT_MAX),
    FIELD(group_threads,    1, TILE_COUNT_MAX),
    FIELD(fragment_m,       1, TILE_FRAGMENT_MAX),
    FIELD(fragment_n,       1, TILE_FRAGMENT_MAX),
    FIELD(fragment_k,       1, TILE_FRAGMENT_MAX),
    { 0 }
};
/* clang-format on */

static enum bitcut_status read_field(struct tile_gpu *gpu, const struct gpu_field *field,
                                     const json_t *json, struct fault *f)
{
    const json_t *value = json_object_get(json, field->name);
    if (!value) return fault_set(f, BITCUT_BAD_FILE, "missing key \"%s\"", field->name);
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < field->least || number > field->most)
        return fault_set(f, BITCUT_BAD_FILE, "\"%s\" is not an integer from %d to %d",
                         field->name, field->least, field->most);
    memcpy((char *)gpu + field->offset, &(int){ (int)number }, sizeof(int));
    return BITCUT_OK;
}

static enum bitcut_status read_fields(struct tile_gpu *gpu, const json_t *json,
                                      struct fault *f)
{
    if (!json_is_object(json)) return fault_set(f, BITCUT_BAD_FILE, "not a JSON object");
    for (const struct gpu_field *field = gpu_fields; field->name; field++) {
        const enum bitcut_status status = read_field(gpu, field, json, f);
        if (status != BITCUT_OK) return status;
    }
    if (gpu->shared_reserved >= gpu->shared)
        return fault_set(f, BITCUT_BAD_FILE,
                         "\"shared_reserved\" must be less than \"shared\"");
    return BITCUT_OK;
}

enum bitcut_status gpu_file_parse(struct tile_gpu *gpu, const void *bytes, size_t size,
                                  struct fault *f)
{
    struct tile_gpu x = { 0 };
    json_error_t error;
    json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        return fault_set(f, BITCUT_BAD_FILE, "line %d: %s", error.line, error.text);
    const enum bitcut_status status = read_fields(&x, json, f);
    json_decref(json);
    if (status == BITCUT_OK) *gpu = x;
    return status;
}

enum bitcut_status gpu_file_read(struct tile_gpu *gpu, const char *path, struct fault *f)
{
    char *bytes;
    size_t size;
    enum bitcut_status status = stream_read_file(&bytes, &size, path, FILE_MAX, f);
    if (status != BITCUT_OK) return status;
    status = gpu_file_parse(gpu, bytes, size, f);
    free(bytes);
    return status;
}

enum bitcut_status gpu_files_find(struct data_files *files, struct fault *f)
{
    return data_files_find(files, "gpu", ".json", f);
}

bool gpu_is_path(const char *text)
{
    return strchr(text, '/') || text_stem(text, ".json");
}
