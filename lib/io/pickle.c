/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/pickle.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_QUOTED = 60, PROTOCOL = 2 };

/* --- global names ----------------------------------------------------------------- */

enum meaning {
    REBUILD_TENSOR, /* storage, offset, size, stride, requires_grad, hooks[, metadata] */
    REBUILD_TENSOR_V3, /* the same with the type before metadata */
    REBUILD_PARAMETER, /* tensor, requires_grad, hooks */
    ORDERED_DICT,
    STORAGE_TYPE, /* typed storage                                  */
    UNTYPED,      /* storage of bytes                               */
    ELEMENT_TYPE  /* torch.dtype                                    */
};

/* The types of elements; the first name is that of the typed storage. */
static const struct tensor_type storage_types[] = {
    { "DoubleStorage", 8, &formats[FORMAT_F64] },
    { "FloatStorage", 4, &formats[FORMAT_F32] },
    { "HalfStorage", 2, &formats[FORMAT_F16] },
    { "BFloat16Storage", 2, &formats[FORMAT_BF16] },
    { "CharStorage", 1, &formats[FORMAT_S8] },
    { "ShortStorage", 2, &formats[FORMAT_S16] },
    { "IntStorage", 4, &formats[FORMAT_S32] },
    { "ByteStorage", 1, NULL },
    { NULL, 0, NULL },
};

static const struct tensor_type element_types[] = {
    { "float8_e4m3fn", 1, &formats[FORMAT_E4M3] },
    { "float8_e5m2", 1, &formats[FORMAT_E5M2] },
    { "float8_e4m3fnuz", 1, &formats[FORMAT_E4M3FNUZ] },
    { "float8_e5m2fnuz", 1, &formats[FORMAT_E5M2FNUZ] },
    { "float8_e8m0fnu", 1, &formats[FORMAT_UE8M0] },
    { "uint16", 2, NULL },
    { "uint32", 4, NULL },
    { NULL, 0, NULL },
};

/* Tensors of these types have a name, but are no matrices. */
static const struct tensor_type other_types[] = {
    { "LongStorage", 8, NULL },
    { "BoolStorage", 1, NULL },
    { "ComplexFloatStorage", 8, NULL },
    { "ComplexDoubleStorage", 16, NULL },
    { NULL, 0, NULL },
};

/* A module with a name, or with the names of a table. */
static const struct global {
    const char *module, *name;
    enum meaning meaning;
    const struct tensor_type *types;
} globals[] = {
    { "torch._utils", "_rebuild_tensor_v2", REBUILD_TENSOR, NULL },
    { "torch._utils", "_rebuild_tensor_v3", REBUILD_TENSOR_V3, NULL },
    { "torch._utils", "_rebuild_parameter", REBUILD_PARAMETER, NULL },
    { "collections", "OrderedDict", ORDERED_DICT, NULL },
    { "torch.storage", "UntypedStorage", UNTYPED, NULL },
    { "torch", "UntypedStorage", UNTYPED, NULL },
    { "torch", NULL, STORAGE_TYPE, storage_types },
    { "torch", NULL, STORAGE_TYPE, other_types },
    { "torch", NULL, ELEMENT_TYPE, element_types },
    { NULL, NULL, ORDERED_DICT, NULL },
};

/* --- values ----------------------------------------------------------------------- */

enum kind {
    MARK,    /* on the stack only               */
    NOTHING, /* None, a float, a list           */
    INTEGER, /* also False and True             */
    TEXT,
    TUPLE,
    DICT,
    GLOBAL,
    STORAGE,
    TENSOR,
    NOT_A_MATRIX /* a tensor whose type is not read */
};

struct value {
    enum kind kind;
    union {
        int64_t number;
        struct {
            const char *at;
            size_t length;
        } text;
        struct {
            size_t first, count; /* in items */
        } tuple;
        size_t index; /* of a dictionary, storage or tensor */
        struct {
            enum meaning meaning;
            const struct tensor_type *type;
        } global;
    };
};

/* An item of a dictionary, the last one first. */
struct pair {
    struct value key, value;
    size_t next; /* index + 1, 0: none */
};

struct storage {
    const struct tensor_type *type; /* NULL: bytes */
    bool supported;
    struct value key;
    uint64_t bytes;
};

/* An array that grows. */
struct pool {
    char *at;
    size_t count, room, size;
};

struct machine {
    const unsigned char *at, *end, *start;
    struct pool stack, memo, items, pairs, dicts, storages, tensors;
    bool stopped;
    struct fault *fault;
};

static enum bitcut_status bad(const struct machine *m, const char *what)
{
    return fault_set(m->fault, BITCUT_BAD_FILE, "pickle: %s at byte %td", what,
                     m->at - m->start);
}

/* Append an element; its index is the count before. */
static enum bitcut_status add(struct machine *m, struct pool *p, const void *element)
{
    if (p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 64;
        size_t bytes;
        char *const at =
            size_multiply(&bytes, room, p->size) ? realloc(p->at, bytes) : NULL;
        if (!at)
            return fault_set(m->fault, BITCUT_NO_MEMORY,
                             "not enough memory for the pickle");
        p->at = at;
        p->room = room;
    }
    memcpy(p->at + p->count++ * p->size, element, p->size);
    return BITCUT_OK;
}

static void *element(const struct pool *p, size_t i) { return p->at + i * p->size; }

static enum bitcut_status push(struct machine *m, struct value v)
{
    return add(m, &m->stack, &v);
}

static enum bitcut_status push_kind(struct machine *m, enum kind kind, int64_t number)
{
    return push(m, (struct value){ .kind = kind, .number = number });
}

/* The value `below` others at the top of the stack, above the last mark; else a value of
   kind MARK. */
static struct value top(const struct machine *m, size_t below)
{
    static const struct value none = { .kind = MARK };
    if (below >= m->stack.count) return none;
    return *(struct value *)element(&m->stack, m->stack.count - 1 - below);
}

/* The number of values above the last mark; SIZE_MAX: there is no mark. */
static size_t above_mark(const struct machine *m)
{
    size_t n = 0;
    while (n < m->stack.count && top(m, n).kind != MARK) n++;
    return n < m->stack.count ? n : SIZE_MAX;
}

/* Remove values.  A mark among them is an error. */
static enum bitcut_status drop(struct machine *m, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (top(m, i).kind == MARK) return bad(m, "too few values");
    m->stack.count -= count;
    return BITCUT_OK;
}

/* --- building --------------------------------------------------------------------- */

static enum bitcut_status make_tuple(struct machine *m, size_t count)
{
    const struct value tuple = { .kind = TUPLE, .tuple = { m->items.count, count } };
    for (size_t i = count; i-- > 0;) {
        const struct value v = top(m, i);
        if (v.kind == MARK) return bad(m, "too few values");
        const enum bitcut_status status = add(m, &m->items, &v);
        if (status) return status;
    }
    const enum bitcut_status status = drop(m, count);
    return status ? status : push(m, tuple);
}

static enum bitcut_status make_dict(struct machine *m)
{
    static const size_t none = 0;
    const struct value v = { .kind = DICT, .index = m->dicts.count };
    const enum bitcut_status status = add(m, &m->dicts, &none);
    return status ? status : push(m, v);
}

/* The value i of a tuple; of kind MARK if there is none. */
static struct value item(const struct machine *m, struct value tuple, size_t i)
{
    static const struct value none = { .kind = MARK };
    if (tuple.kind != TUPLE || i >= tuple.tuple.count) return none;
    return *(struct value *)element(&m->items, tuple.tuple.first + i);
}

/* Set a number that must not be negative. */
static bool natural(uint64_t *to, struct value v)
{
    if (v.kind != INTEGER || v.number < 0) return false;
    *to = (uint64_t)v.number;
    return true;
}

static bool text_is(struct value v, const char *text)
{
    return v.kind == TEXT && v.text.length == strlen(text) &&
           !memcmp(v.text.at, text, v.text.length);
}

/* A storage is the tuple ("storage", type, key, location, number of elements). */
static enum bitcut_status make_storage(struct machine *m)
{
    const struct value id = top(m, 0), type = item(m, id, 1), key = item(m, id, 2);
    struct storage s = { .key = key };
    uint64_t count;
    if (!text_is(item(m, id, 0), "storage") || type.kind != GLOBAL || key.kind != TEXT ||
        !natural(&count, item(m, id, 4)) || id.tuple.count != 5 ||
        (type.global.meaning != STORAGE_TYPE && type.global.meaning != UNTYPED))
        return bad(m, "malformed storage");
    s.type = type.global.type;
    const uint64_t size = s.type ? (uint64_t)s.type->bytes : 1;
    if (count > UINT64_MAX / size) return bad(m, "malformed storage");
    s.bytes = count * size;
    const struct value v = { .kind = STORAGE, .index = m->storages.count };
    enum bitcut_status status = add(m, &m->storages, &s);
    if (!status) status = drop(m, 1);
    return status ? status : push(m, v);
}

/* The sizes or strides of a tensor. */
static bool sizes_read(uint64_t to[ARRAY_DIMS_MAX], int dims, const struct machine *m,
                       struct value tuple)
{
    if (tuple.kind != TUPLE || tuple.tuple.count != (size_t)dims) return false;
    for (int i = 0; i < dims; i++)
        if (!natural(&to[i], item(m, tuple, (size_t)i))) return false;
    return true;
}

/* Metadata says whether a tensor is a conjugate or negative view. */
static bool is_plain(const struct machine *m, struct value metadata)
{
    if (metadata.kind == MARK || metadata.kind == NOTHING) return true;
    return metadata.kind == DICT &&
           *(const size_t *)element(&m->dicts, metadata.index) == 0;
}

static bool is_matrix_type(const struct tensor_type *type)
{
    return type && !tensor_type_find(other_types, type->name, strlen(type->name));
}

/* Make a tensor from the arguments of its constructor. */
static enum bitcut_status make_tensor(struct value *v, struct machine *m,
                                      struct value arguments, bool typed)
{
    const struct value from = item(m, arguments, 0), size = item(m, arguments, 2),
                       type = item(m, arguments, 6);
    struct pickle_tensor t = { .dims = 0 };
    if (from.kind != STORAGE || size.kind != TUPLE ||
        !natural(&t.offset, item(m, arguments, 1)) ||
        (typed && (type.kind != GLOBAL || type.global.meaning != ELEMENT_TYPE)))
        return bad(m, "malformed tensor");
    if (size.tuple.count > ARRAY_DIMS_MAX)
        return bad(m, "a tensor of too many dimensions");
    const struct storage *const s = element(&m->storages, from.index);
    t.dims = (int)size.tuple.count;
    t.type = typed ? type.global.type : s->type;
    t.bytes = s->bytes;
    if (!sizes_read(t.dim, t.dims, m, size) ||
        !sizes_read(t.stride, t.dims, m, item(m, arguments, 3)) ||
        s->key.text.length >= PICKLE_KEY_MAX)
        return bad(m, "malformed tensor");
    if (!is_plain(m, item(m, arguments, typed ? 7 : 6)))
        return bad(m, "a conjugate or negative view");
    memcpy(t.key, s->key.text.at, s->key.text.length);
    *v = (struct value){ .kind = is_matrix_type(t.type) ? TENSOR : NOT_A_MATRIX,
                         .index = m->tensors.count };
    return add(m, &m->tensors, &t);
}

/* Replace a global name and its arguments by what they make. */
static enum bitcut_status reduce(struct machine *m)
{
    const struct value what = top(m, 1), arguments = top(m, 0);
    struct value v = item(m, arguments, 0);
    if (what.kind != GLOBAL || arguments.kind != TUPLE) return bad(m, "malformed call");
    enum bitcut_status status = BITCUT_OK;
    switch (what.global.meaning) {
    case REBUILD_TENSOR:
    case REBUILD_TENSOR_V3:
        status = make_tensor(&v, m, arguments, what.global.meaning == REBUILD_TENSOR_V3);
        break;
    case REBUILD_PARAMETER:
        if (v.kind != TENSOR && v.kind != NOT_A_MATRIX)
            return bad(m, "malformed parameter");
        break;
    case ORDERED_DICT:
        if (arguments.tuple.count) return bad(m, "malformed dictionary");
        status = drop(m, 2);
        return status ? status : make_dict(m);
    case STORAGE_TYPE:
    case UNTYPED:
    case ELEMENT_TYPE: return bad(m, "malformed call");
    }
    if (!status) status = drop(m, 2);
    return status ? status : push(m, v);
}

/* Add the `count` values on the stack, keys and values, to the dictionary below them. */
static enum bitcut_status set_items(struct machine *m, size_t count, size_t mark)
{
    const struct value to = top(m, count + mark);
    if (to.kind != DICT || count % 2) return bad(m, "malformed dictionary");
    for (size_t i = count; i > 0; i -= 2) {
        size_t *const first = element(&m->dicts, to.index);
        const struct pair pair = { top(m, i - 1), top(m, i - 2), *first };
        const enum bitcut_status status = add(m, &m->pairs, &pair);
        if (status) return status;
        *first = m->pairs.count;
    }
    m->stack.count -= count + mark;
    return BITCUT_OK;
}

/* --- opcodes ---------------------------------------------------------------------- */

/* The unsigned integer in the next `bytes` bytes, which exist. */
static uint64_t take(struct machine *m, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;) x = x << 8 | m->at[i];
    m->at += bytes;
    return x;
}

static enum bitcut_status op_protocol(struct machine *m, uint64_t version)
{
    return version == PROTOCOL ? BITCUT_OK : bad(m, "a protocol other than 2");
}

static enum bitcut_status op_stop(struct machine *m, uint64_t none)
{
    (void)none;
    m->stopped = true;
    return m->at == m->end && m->stack.count == 1 ? BITCUT_OK : bad(m, "malformed end");
}

static enum bitcut_status op_constant(struct machine *m, uint64_t op)
{
    switch (op) {
    case '(': return push_kind(m, MARK, 0);
    case '}': return make_dict(m);
    case ')': return make_tuple(m, 0);
    case 0x89: return push_kind(m, INTEGER, 0);
    case 0x88: return push_kind(m, INTEGER, 1);
    default: return push_kind(m, NOTHING, 0); /* an empty list; None */
    }
}

static enum bitcut_status op_integer(struct machine *m, uint64_t x)
{
    return push_kind(m, INTEGER, (int64_t)x);
}

static enum bitcut_status op_int32(struct machine *m, uint64_t x)
{
    return push_kind(m, INTEGER, (int64_t)(x ^ 0x80000000) - INT64_C(0x80000000));
}

static enum bitcut_status op_float(struct machine *m, uint64_t x)
{
    (void)x;
    return push_kind(m, NOTHING, 0);
}

/* An integer of `bytes` bytes, with a sign. */
static enum bitcut_status op_long(struct machine *m, uint64_t bytes)
{
    if (bytes > 8 || bytes > (uint64_t)(m->end - m->at))
        return bad(m, "an integer that is too large");
    const int unused = 64 - 8 * (int)bytes;
    const uint64_t x = take(m, (int)bytes),
                   sign = bytes ? UINT64_C(1) << (63 - unused) : 0;
    return push_kind(m, INTEGER, (int64_t)((x ^ sign) - sign));
}

static enum bitcut_status op_text(struct machine *m, uint64_t length)
{
    if (length > (uint64_t)(m->end - m->at)) return bad(m, "a truncated text");
    const struct value v = { .kind = TEXT,
                             .text = { (const char *)m->at, (size_t)length } };
    m->at += length;
    return push(m, v);
}

/* Find a global name, two lines of text. */
static enum bitcut_status op_global(struct machine *m, uint64_t none)
{
    const char *const module = (const char *)m->at;
    const size_t left = (size_t)(m->end - m->at);
    const char *const middle = memchr(module, '\n', left),
                      *const end = middle ? memchr(middle + 1, '\n',
                                                   left - (size_t)(middle + 1 - module))
                                          : NULL;
    (void)none;
    if (!end) return bad(m, "a truncated name");
    const size_t m_length = (size_t)(middle - module),
                 n_length = (size_t)(end - middle - 1);
    for (const struct global *g = globals; g->module; g++) {
        const struct tensor_type *type = NULL;
        if (strlen(g->module) != m_length || memcmp(g->module, module, m_length))
            continue;
        if (g->types) type = tensor_type_find(g->types, middle + 1, n_length);
        else if (strlen(g->name) != n_length || memcmp(g->name, middle + 1, n_length))
            continue;
        if (g->types && !type) continue;
        m->at = (const unsigned char *)end + 1;
        return push(m, (struct value){ .kind = GLOBAL, .global = { g->meaning, type } });
    }
    return fault_set(m->fault, BITCUT_BAD_FILE,
                     "pickle: %.*s.%.*s is not read; only tensors and dictionaries of "
                     "tensors are",
                     m_length < NAME_QUOTED ? (int)m_length : NAME_QUOTED, module,
                     n_length < NAME_QUOTED ? (int)n_length : NAME_QUOTED, middle + 1);
}

static enum bitcut_status op_tuple(struct machine *m, uint64_t op)
{
    if (op != 't') return make_tuple(m, (size_t)(op - 0x84));
    const size_t count = above_mark(m);
    if (count == SIZE_MAX) return bad(m, "no mark");
    const enum bitcut_status status = make_tuple(m, count);
    if (status) return status;
    const struct value tuple = top(m, 0);
    m->stack.count -= 2; /* the mark, too */
    return push(m, tuple);
}

static enum bitcut_status op_put(struct machine *m, uint64_t at)
{
    static const struct value none = { .kind = MARK };
    const struct value v = top(m, 0);
    if (v.kind == MARK || at >= (uint64_t)(m->end - m->start))
        return bad(m, "malformed memo");
    while (m->memo.count <= at) {
        const enum bitcut_status status = add(m, &m->memo, &none);
        if (status) return status;
    }
    *(struct value *)element(&m->memo, (size_t)at) = v;
    return BITCUT_OK;
}

static enum bitcut_status op_get(struct machine *m, uint64_t at)
{
    if (at >= m->memo.count) return bad(m, "malformed memo");
    const struct value v = *(struct value *)element(&m->memo, (size_t)at);
    return v.kind == MARK ? bad(m, "malformed memo") : push(m, v);
}

static enum bitcut_status op_persistent(struct machine *m, uint64_t none)
{
    (void)none;
    return make_storage(m);
}

static enum bitcut_status op_reduce(struct machine *m, uint64_t none)
{
    (void)none;
    return reduce(m);
}

/* Attributes of a dictionary, such as _metadata of state_dict(), are dropped. */
static enum bitcut_status op_build(struct machine *m, uint64_t none)
{
    (void)none;
    if (top(m, 0).kind != DICT || top(m, 1).kind != DICT)
        return bad(m, "attributes of what is no dictionary");
    return drop(m, 1);
}

/* The items of lists are dropped. */
static enum bitcut_status op_append(struct machine *m, uint64_t op)
{
    const size_t count = op == 'e' ? above_mark(m) : 1;
    const size_t mark = op == 'e';
    if (count == SIZE_MAX || top(m, count + mark).kind != NOTHING ||
        (op == 'a' && top(m, 0).kind == MARK))
        return bad(m, "malformed list");
    m->stack.count -= count + mark;
    return BITCUT_OK;
}

static enum bitcut_status op_set(struct machine *m, uint64_t op)
{
    const size_t count = op == 'u' ? above_mark(m) : 2;
    if (count == SIZE_MAX) return bad(m, "no mark");
    if (op == 's' && (top(m, 0).kind == MARK || top(m, 1).kind == MARK))
        return bad(m, "too few values");
    return set_items(m, count, op == 'u');
}

/* The opcodes.  `bytes`: of an unsigned argument that follows; without one, the function
   gets the opcode. */
static const struct opcode {
    unsigned char code;
    int bytes;
    enum bitcut_status (*run)(struct machine *m, uint64_t argument);
} opcodes[] = {
    { 0x80, 1, op_protocol }, { '.', 0, op_stop },       { '(', 0, op_constant },
    { '}', 0, op_constant },  { ')', 0, op_constant },   { ']', 0, op_constant },
    { 'N', 0, op_constant },  { 0x88, 0, op_constant },  { 0x89, 0, op_constant },
    { 'K', 1, op_integer },   { 'M', 2, op_integer },    { 'J', 4, op_int32 },
    { 0x8a, 1, op_long },     { 'G', 8, op_float },      { 'X', 4, op_text },
    { 'U', 1, op_text },      { 'c', 0, op_global },     { 't', 0, op_tuple },
    { 0x85, 0, op_tuple },    { 0x86, 0, op_tuple },     { 0x87, 0, op_tuple },
    { 'q', 1, op_put },       { 'r', 4, op_put },        { 'h', 1, op_get },
    { 'j', 4, op_get },       { 'Q', 0, op_persistent }, { 'R', 0, op_reduce },
    { 'b', 0, op_build },     { 'a', 0, op_append },     { 'e', 0, op_append },
    { 's', 0, op_set },       { 'u', 0, op_set },
};

static enum bitcut_status step(struct machine *m)
{
    const struct opcode *o = opcodes, *const last = o + sizeof opcodes / sizeof *o;
    if (m->at == m->end) return bad(m, "truncated");
    while (o < last && o->code != *m->at) o++;
    if (o == last)
        return fault_set(
            m->fault, BITCUT_BAD_FILE,
            "pickle: opcode 0x%02x at byte %td is not read; only tensors and "
            "dictionaries of tensors are",
            *m->at, m->at - m->start);
    m->at++;
    if (m->end - m->at < o->bytes) return bad(m, "truncated");
    return o->run(m, o->bytes ? take(m, o->bytes) : o->code);
}

/* --- finding ---------------------------------------------------------------------- */

static const struct pair *first_pair(const struct machine *m, struct value dict)
{
    const size_t first = *(const size_t *)element(&m->dicts, dict.index);
    return first ? element(&m->pairs, first - 1) : NULL;
}

static const struct pair *next_pair(const struct machine *m, const struct pair *p)
{
    return p->next ? element(&m->pairs, p->next - 1) : NULL;
}

static enum bitcut_status fault_names(const struct machine *m, struct value dict,
                                      const char *what)
{
    char names[160] = "";
    for (const struct pair *p = first_pair(m, dict); p; p = next_pair(m, p)) {
        const bool named =
            p->key.kind == TEXT && (p->value.kind == TENSOR || p->value.kind == DICT);
        if (!named || strlen(names) + p->key.text.length + 8 >= sizeof names) continue;
        text_add(names, sizeof names, "%s%.*s%s", *names ? ", " : "",
                 (int)p->key.text.length, p->key.text.at,
                 p->value.kind == DICT ? "/" : "");
    }
    return fault_set(m->fault, BITCUT_BAD_FILE,
                     "%s; expected FILE:NAME, with a name such as: %s", what, names);
}

/* The only tensor of a dictionary. */
static enum bitcut_status find_only(struct value *v, const struct machine *m)
{
    const struct value dict = *v;
    size_t count = 0;
    for (const struct pair *p = first_pair(m, dict); p; p = next_pair(m, p)) {
        if (p->value.kind != TENSOR && p->value.kind != DICT) continue;
        *v = p->value;
        count++;
    }
    if (count == 1 && v->kind == TENSOR) return BITCUT_OK;
    return fault_names(m, dict, "the file has several tensors or none");
}

/* The tensor with this name.  Each dictionary on the way takes a part of the name, so the
   search ends even if dictionaries contain themselves. */
static enum bitcut_status find_name(struct value *v, const struct machine *m,
                                    const char *name)
{
    const struct value root = *v;
    while (v->kind == DICT && *name) {
        const struct pair *p = first_pair(m, *v);
        for (; p; p = next_pair(m, p)) {
            const size_t length = p->key.kind == TEXT ? p->key.text.length : SIZE_MAX;
            if (length == SIZE_MAX || strlen(name) < length ||
                memcmp(name, p->key.text.at, length))
                continue;
            if (!name[length] || (name[length] == '/' && p->value.kind == DICT)) break;
        }
        if (!p) return fault_names(m, root, "no tensor of this name");
        name += p->key.text.length + (name[p->key.text.length] != 0);
        *v = p->value;
    }
    if (v->kind == NOT_A_MATRIX) return BITCUT_OK;
    return v->kind == TENSOR && !*name ? BITCUT_OK
                                       : fault_names(m, root, "no tensor of this name");
}

static enum bitcut_status find(struct pickle_tensor *t, const struct machine *m,
                               const char *name)
{
    struct value v = top(m, 0);
    enum bitcut_status status = BITCUT_OK;
    if (v.kind == DICT) status = name ? find_name(&v, m, name) : find_only(&v, m);
    else if (name && (v.kind == TENSOR || v.kind == NOT_A_MATRIX))
        return fault_set(m->fault, BITCUT_BAD_FILE,
                         "the file is one tensor without a name");
    if (status) return status;
    if (v.kind != TENSOR && v.kind != NOT_A_MATRIX)
        return fault_set(m->fault, BITCUT_BAD_FILE,
                         "pickle: neither a tensor nor a dictionary of tensors");
    const struct pickle_tensor *const found = element(&m->tensors, v.index);
    if (v.kind == NOT_A_MATRIX)
        return fault_set(m->fault, BITCUT_BAD_FILE, "unsupported element type '%s'",
                         found->type ? found->type->name : "UntypedStorage");
    *t = *found;
    return BITCUT_OK;
}

enum bitcut_status pickle_find(struct pickle_tensor *t, const void *bytes, size_t size,
                               const char *name, struct fault *f)
{
    struct machine m = { .at = bytes,
                         .start = bytes,
                         .end = (const unsigned char *)bytes + size,
                         .stack.size = sizeof(struct value),
                         .memo.size = sizeof(struct value),
                         .items.size = sizeof(struct value),
                         .pairs.size = sizeof(struct pair),
                         .dicts.size = sizeof(size_t),
                         .storages.size = sizeof(struct storage),
                         .tensors.size = sizeof(struct pickle_tensor),
                         .fault = f };
    struct pool *const pools[] = { &m.stack, &m.memo,     &m.items,  &m.pairs,
                                   &m.dicts, &m.storages, &m.tensors };
    enum bitcut_status status = BITCUT_OK;
    while (!status && !m.stopped) status = step(&m);
    if (!status) status = find(t, &m, name);
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) free(pools[i]->at);
    return status;
}
