/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of the kernels in a code object: the note NT_AMDGPU_METADATA, a
   MessagePack map ("User Guide for AMDGPU Backend", code object V3 and later).  Each
   kernel's name and arguments are read from it. */
#include "emu/gfx9/wave.h"

#include <stdlib.h>
#include <string.h>

/* A position in the note. */
struct reader {
    const uint8_t *at, *end;
    bool failed;
};

enum kind { NOTHING, INTEGER, TEXT, LIST, MAP };

struct item {
    enum kind kind;
    uint64_t number; /* INTEGER; bytes of TEXT; entries of LIST and MAP */
    const char *text;
};

static uint64_t read_number(struct reader *r, int bytes)
{
    uint64_t x = 0;
    if (r->end - r->at < bytes) r->failed = true;
    for (int i = 0; i < bytes && !r->failed; i++) x = x << 8 | *r->at++;
    return x;
}

static struct item read_text(struct reader *r, uint64_t bytes)
{
    const struct item x = { TEXT, bytes, (const char *)r->at };
    if ((uint64_t)(r->end - r->at) < bytes) {
        r->failed = true;
        return (struct item){ 0 };
    }
    r->at += bytes;
    return x;
}

/* Read the next item; the entries of a list or a map follow it.  Types that no compiler
   writes here end the reading. */
static struct item read_item(struct reader *r)
{
    const unsigned tag = (unsigned)read_number(r, 1);
    if (tag < 0x80) return (struct item){ INTEGER, tag, NULL };
    if (tag < 0x90) return (struct item){ MAP, tag & 15, NULL };
    if (tag < 0xa0) return (struct item){ LIST, tag & 15, NULL };
    if (tag < 0xc0) return read_text(r, tag & 31);
    if (tag >= 0xe0) return (struct item){ INTEGER, (uint64_t)(int8_t)tag, NULL };
    switch (tag) {
    case 0xc0:
    case 0xc2:
    case 0xc3: return (struct item){ INTEGER, tag == 0xc3, NULL };
    case 0xcc:
    case 0xd0: return (struct item){ INTEGER, read_number(r, 1), NULL };
    case 0xcd:
    case 0xd1: return (struct item){ INTEGER, read_number(r, 2), NULL };
    case 0xce:
    case 0xd2: return (struct item){ INTEGER, read_number(r, 4), NULL };
    case 0xcf:
    case 0xd3: return (struct item){ INTEGER, read_number(r, 8), NULL };
    case 0xd9: return read_text(r, read_number(r, 1));
    case 0xda: return read_text(r, read_number(r, 2));
    case 0xdb: return read_text(r, read_number(r, 4));
    case 0xdc: return (struct item){ LIST, read_number(r, 2), NULL };
    case 0xdd: return (struct item){ LIST, read_number(r, 4), NULL };
    case 0xde: return (struct item){ MAP, read_number(r, 2), NULL };
    case 0xdf: return (struct item){ MAP, read_number(r, 4), NULL };
    default: r->failed = true; return (struct item){ 0 };
    }
}

static bool is_text(const struct item *x, const char *text)
{
    return x->kind == TEXT && x->number == strlen(text) &&
           !memcmp(x->text, text, x->number);
}

/* Largest depth of a note; no compiler writes deeper notes. */
enum { DEPTH_MAX = 16 };

static void skip_item(struct reader *r, int depth)
{
    const struct item x = read_item(r);
    if (depth == DEPTH_MAX) r->failed = true;
    const uint64_t entries = x.kind == MAP ? 2 * x.number : x.kind == LIST ? x.number : 0;
    for (uint64_t i = 0; i < entries && !r->failed; i++) skip_item(r, depth + 1);
}

static uint32_t read_integer(struct reader *r)
{
    const struct item x = read_item(r);
    if (x.kind != INTEGER || x.number > UINT32_MAX) r->failed = true;
    return (uint32_t)x.number;
}

/* The index of a key among `count` names, each of which may occur once in a map; `count`:
   none of them. */
static int read_key(struct reader *r, unsigned *seen, const char *const *names, int count)
{
    const struct item key = read_item(r);
    int n = 0;
    while (n < count && !is_text(&key, names[n])) n++;
    if (n < count && *seen >> n & 1) r->failed = true;
    *seen |= 1u << n;
    return n;
}

/* --- kernels ---------------------------------------------------------------------- */

/* Growing lists of what was read: kernels, and the arguments of all kernels, one kernel
   after the other. */
struct lists {
    struct gfx9_object *o;
    size_t kernel_room, arguments, argument_room;
    bool no_memory;
};

/* Make room for one more than `count` elements of this size. */
static bool grow(void *list, size_t *room, size_t count, size_t bytes)
{
    void *old;
    if (count < *room) return true;
    memcpy(&old, list, sizeof old);
    const size_t more = *room ? 2 * *room : 16;
    void *new = realloc(old, more * bytes);
    if (!new) return false;
    memcpy(list, &new, sizeof new);
    *room = more;
    return true;
}

static void add_argument(struct lists *to, struct gfx9_kernel *k, struct gfx9_argument x,
                         struct reader *r)
{
    if (k->arguments == GFX9_ARGUMENTS_MAX) r->failed = true;
    else if (!grow(&to->o->arguments, &to->argument_room, to->arguments, sizeof x))
        to->no_memory = r->failed = true;
    if (r->failed) return;
    to->o->arguments[to->arguments++] = x;
    k->arguments++;
}

static void read_argument(struct lists *to, struct gfx9_kernel *k, struct reader *r)
{
    static const char *const names[] = { ".offset", ".size", ".value_kind" };
    const struct item map = read_item(r);
    struct gfx9_argument x = { 0 };
    struct item kind = { 0 };
    unsigned seen = 0;
    if (map.kind != MAP) r->failed = true;
    for (uint64_t i = 0; i < map.number && !r->failed; i++)
        switch (read_key(r, &seen, names, 3)) {
        case 0: x.offset = read_integer(r); break;
        case 1: x.bytes = read_integer(r); break;
        case 2: kind = read_item(r); break;
        default: skip_item(r, 0);
        }
    if (seen & 4 && kind.kind != TEXT) r->failed = true;
    x.address = is_text(&kind, "global_buffer");
    k->counts_blocks |= is_text(&kind, "hidden_block_count_x");
    if (kind.number >= 7 && !r->failed && !memcmp(kind.text, "hidden_", 7)) {
        if (!k->has_hidden || x.offset < k->hidden) k->hidden = x.offset;
        k->has_hidden = true;
    } else if (!r->failed) add_argument(to, k, x, r);
}

static void read_arguments(struct lists *to, struct gfx9_kernel *k, struct reader *r)
{
    const struct item list = read_item(r);
    if (list.kind != LIST) r->failed = true;
    for (uint64_t j = 0; j < list.number && !r->failed; j++) read_argument(to, k, r);
}

/* Read a kernel; its name is the name of its descriptor without ".kd". */
static void read_kernel(struct lists *to, struct gfx9_kernel *k, struct item *name,
                        struct reader *r)
{
    static const char *const names[] = { ".symbol", ".kernarg_segment_size",
                                         ".max_flat_workgroup_size", ".args" };
    const struct item map = read_item(r);
    unsigned seen = 0;
    if (map.kind != MAP) r->failed = true;
    for (uint64_t i = 0; i < map.number && !r->failed; i++)
        switch (read_key(r, &seen, names, 4)) {
        case 0: *name = read_item(r); break;
        case 1: k->segment_bytes = read_integer(r); break;
        case 2: k->items_most = read_integer(r); break;
        case 3: read_arguments(to, k, r); break;
        default: skip_item(r, 0);
        }
}

/* Append a kernel's name, without ".kd", to the names so far. */
static bool take_name(struct gfx9_object *o, struct gfx9_kernel *k,
                      const struct item *name, size_t *used, size_t room)
{
    if (name->kind != TEXT || name->number < 4 ||
        memcmp(name->text + name->number - 3, ".kd", 3) || name->number > room - *used ||
        memchr(name->text, 0, name->number))
        return false;
    const size_t length = name->number - 3;
    memcpy(o->names + *used, name->text, length);
    o->names[*used + length] = 0;
    k->name = o->names + *used;
    *used += length + 1;
    return true;
}

static enum bitcut_status read_kernels(struct gfx9_object *o, struct reader *r,
                                       size_t room, struct fault *f)
{
    struct lists to = { .o = o };
    const struct item list = read_item(r);
    size_t used = 0;
    o->names = memory_allocate(room, 1);
    o->kernels = memory_allocate(0, sizeof *o->kernels);
    o->arguments = memory_allocate(0, sizeof *o->arguments);
    if (list.kind != LIST) r->failed = true;
    for (uint64_t n = 0; n < list.number && !r->failed; n++) {
        struct gfx9_kernel k = { .descriptor = NO_DESCRIPTOR };
        struct item name = { 0 };
        read_kernel(&to, &k, &name, r);
        if (!grow(&o->kernels, &to.kernel_room, o->kernel_count, sizeof k) || !o->names)
            to.no_memory = r->failed = true;
        else if (!r->failed && take_name(o, &k, &name, &used, room))
            o->kernels[o->kernel_count++] = k;
        else r->failed = true;
    }
    if (!o->arguments) to.no_memory = true;
    const struct gfx9_argument *at = o->arguments;
    for (size_t n = 0; at && n < o->kernel_count; at += o->kernels[n++].arguments)
        o->kernels[n].argument = at;
    return to.no_memory ? fault_set(f, BITCUT_UNSUPPORTED, "not enough memory")
                        : BITCUT_OK;
}

enum bitcut_status gfx9_read_notes(struct gfx9_object *o, const uint8_t *note,
                                   size_t bytes, struct fault *f)
{
    static const char *const names[] = { "amdhsa.kernels" };
    struct reader r = { note, note + bytes, false };
    const struct item map = read_item(&r);
    enum bitcut_status status = BITCUT_OK;
    unsigned seen = 0;
    for (uint64_t i = 0; map.kind == MAP && i < map.number && !r.failed; i++) {
        if (read_key(&r, &seen, names, 1)) skip_item(&r, 0);
        else if (!r.failed) status = read_kernels(o, &r, bytes, f);
        if (status != BITCUT_OK) return status;
    }
    if (map.kind == MAP && !r.failed && o->kernels) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "the note that lists the kernels is malformed");
}
