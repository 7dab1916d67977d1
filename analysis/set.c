#include "analysis/set.h"

#include "lib/npy.h"
#include "lib/table.h"

#include <jansson.h>
#include <stdio.h>

enum { PATH_MOST = 4096, NAME_MOST = 128 };

static const char *part(const json_t *meta, const char *key)
{
    return json_string_value(json_object_get(meta, key));
}

/* The unit's name from meta.json; false if a part is missing. */
static bool unit_name(char name[NAME_MOST], const json_t *meta)
{
    static const char *const keys[] = { "arch", "family", "shape", "output", "input" };
    if (part(meta, "unit")) {
        snprintf(name, NAME_MOST, "%s", part(meta, "unit"));
        return true;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!part(meta, keys[i])) return false;
    snprintf(name, NAME_MOST, "%s/%s.%s.%s.%s", part(meta, "arch"), part(meta, "family"),
             part(meta, "shape"), part(meta, "output"), part(meta, "input"));
    return true;
}

static enum bitcut_status read_meta(struct set *s, const char *folder, struct fault *f)
{
    char path[PATH_MOST], name[NAME_MOST];
    json_error_t error;
    snprintf(path, sizeof path, "%s/meta.json", folder);
    json_t *meta = json_load_file(path, 0, &error);
    if (!meta && error.line < 0)
        return fault_set(f, BITCUT_CANNOT, "meta.json: cannot be read");
    if (!meta)
        return fault_set(f, BITCUT_BAD_FILE, "meta.json line %d: %.100s", error.line,
                         error.text);
    enum bitcut_status status = BITCUT_OK;
    if (!unit_name(name, meta))
        status = fault_set(f, BITCUT_BAD_FILE, "meta.json: names no unit");
    else if (!(s->unit = table_find(TABLE(units), name)))
        status = fault_set(f, BITCUT_BAD_FILE, "meta.json: unknown unit %.100s", name);
    json_decref(meta);
    return status;
}

static enum bitcut_status read_array(struct array *a, const char *folder,
                                     const char *file, struct fault *f)
{
    char path[PATH_MOST];
    struct fault inner;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    const enum bitcut_status status = npy_read(a, path, &inner);
    return status == BITCUT_OK ? status
                               : fault_set(f, status, "%s: %.200s", file, inner.text);
}

/* The files of a set and where they go. */
static enum bitcut_status read_arrays(struct set *s, const char *folder, struct fault *f)
{
    struct array *const to[] = { &s->a, &s->b, &s->c, &s->d };
    static const char *const file[] = { "A.npy", "B.npy", "C.npy", "D.npy" };
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < 4 && status == BITCUT_OK; i++)
        status = read_array(to[i], folder, file[i], f);
    if (status != BITCUT_OK) return status;
    const struct fragments x = { &s->a, &s->b, &s->c, NULL, NULL };
    const struct fragments result = { &s->a, &s->b, &s->d, NULL, NULL };
    status = fragments_check(&s->shape, s->unit, &x, f);
    if (status == BITCUT_OK) status = fragments_check(&s->shape, s->unit, &result, f);
    if (status == BITCUT_BAD_ARGUMENT) f->status = BITCUT_BAD_FILE;
    return status == BITCUT_OK ? status : BITCUT_BAD_FILE;
}

enum bitcut_status set_read(struct set *s, const char *folder, struct fault *f)
{
    struct set x = { 0 };
    enum bitcut_status status = read_meta(&x, folder, f);
    if (status == BITCUT_OK) status = read_arrays(&x, folder, f);
    if (status != BITCUT_OK) {
        set_clear(&x);
        return status;
    }
    *s = x;
    return BITCUT_OK;
}

void set_clear(struct set *s)
{
    array_clear(&s->a);
    array_clear(&s->b);
    array_clear(&s->c);
    array_clear(&s->d);
}
