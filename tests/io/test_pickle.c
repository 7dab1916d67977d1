/* SPDX-License-Identifier: BSD-3-Clause */
/* Pickles as torch.save() writes them, assembled here from opcodes, and malformed ones. */
#include "lib/io/pickle.h"
#include "tests/mutation.h"

/* Pieces of pickles: opcodes of Python's Lib/pickletools.py. */
#define START        "\x80\x02"
#define V2           "ctorch._utils\n_rebuild_tensor_v2\n"
#define V3           "ctorch._utils\n_rebuild_tensor_v3\n"
#define HOOKS        "ccollections\nOrderedDict\n)R"
#define STORAGE(T)   "(X\x07\0\0\0storage" T "X\x01\0\0\0" "7X\x03\0\0\0cpuK\x18tQ"
#define FLOAT        "ctorch\nFloatStorage\n"
#define SIZES        "K\x06K\x04\x86K\x04K\x01\x86"
#define TENSOR(T)    V2 "(" STORAGE(T) "K\0" SIZES "\x89" HOOKS "tR"
#define BYTES(TEXT)  TEXT, sizeof TEXT - 1
#define KEY(LETTER)  "X\x01\0\0\0" LETTER

struct pickle {
    const char *what, *bytes;
    size_t size;
    const char *name;     /* of the tensor, or NULL   */
    const char *expected; /* its type, or the message */
};

static const struct pickle good[] = {
    { "a tensor", BYTES(START TENSOR(FLOAT) "."), NULL, "FloatStorage" },
    { "metadata without a view", BYTES(START V2 "(" STORAGE(FLOAT) "K\0" SIZES "\x89" HOOKS "}tR."),
      NULL, "FloatStorage" },
    { "a parameter",
      BYTES(START "ctorch._utils\n_rebuild_parameter\n" TENSOR(FLOAT) "\x88" HOOKS "\x87R."),
      NULL, "FloatStorage" },
    { "float8",
      BYTES(START V3 "(" STORAGE("ctorch.storage\nUntypedStorage\n") "K\0" SIZES "\x89" HOOKS
            "ctorch\nfloat8_e5m2\ntR."), NULL, "float8_e5m2" },
    { "one item", BYTES(START "}" KEY("a") TENSOR(FLOAT) "s."), NULL, "FloatStorage" },
    { "items", BYTES(START "}(" KEY("a") TENSOR(FLOAT) KEY("b") TENSOR("ctorch\nHalfStorage\n")
                     KEY("c") "]G\0\0\0\0\0\0\0\0aNKA\x8a\x01\x05" "0s."),
      "b", "opcode 0x30" },
    { "some items", BYTES(START "}(" KEY("a") TENSOR(FLOAT) KEY("b")
                          TENSOR("ctorch\nHalfStorage\n") "u."), "b", "HalfStorage" },
    { "with attributes, numbers and lists",
      BYTES(START "ccollections\nOrderedDict\n)R(" KEY("a") TENSOR("ctorch\nByteStorage\n")
            KEY("n") "J\xff\xff\xff\xff" KEY("l") "](NG\0\0\0\0\0\0\0\0" "K\x01M\x01\x02\x8a\x02\0\x80"
            "e" KEY("m") "]U\x02hi" "aX\x02\0\0\0" "ok)s}b" "."), "a", "malformed dictionary" },
    { "attributes", BYTES(START "ccollections\nOrderedDict\n)R(" KEY("a")
                          TENSOR("ctorch\nByteStorage\n") KEY("n") "J\xff\xff\xff\xff" KEY("l")
                          "](NG\0\0\0\0\0\0\0\0" "K\x01M\x01\x02\x8a\x02\0\x80" "eu}" "b."),
      "a", "ByteStorage" },
    { "a memo", BYTES(START "}q\0" KEY("a") "q\x01" TENSOR(FLOAT) "r\x02\0\0\0s0"),
      NULL, "opcode 0x30" },
    { "a memo used", BYTES(START "}q\0(" KEY("a") "q\x01" TENSOR(FLOAT) "r\x02\0\0\0" KEY("b")
                           "j\x02\0\0\0" KEY("c") "h\x01u."), "b", "FloatStorage" },
    { "a dictionary in itself", BYTES(START "}q\0(" KEY("a") "h\0" KEY("b") TENSOR(FLOAT) "u."),
      "a/a/a/b", "FloatStorage" },
};

static const struct pickle bad[] = {
    { "nothing", BYTES(""), NULL, "truncated" },
    { "a start", BYTES(START), NULL, "truncated" },
    { "protocol 4", BYTES("\x80\x04" "N."), NULL, "a protocol other than 2" },
    { "an empty stack", BYTES(START "."), NULL, "malformed end" },
    { "two values", BYTES(START "NN."), NULL, "malformed end" },
    { "bytes after the end", BYTES(START "N.N"), NULL, "malformed end" },
    { "no tensor", BYTES(START "N."), NULL, "neither a tensor nor a dictionary" },
    { "a mark", BYTES(START "(."), NULL, "neither a tensor nor a dictionary" },
    { "an empty dictionary", BYTES(START "}."), NULL, "several tensors or none" },
    { "two tensors", BYTES(START "}(" KEY("a") TENSOR(FLOAT) KEY("b") TENSOR(FLOAT) "u."), NULL,
      "several tensors or none; expected FILE:NAME" },
    { "another name", BYTES(START "}" KEY("a") TENSOR(FLOAT) "s."), "b", "no tensor of this name" },
    { "a name too long", BYTES(START "}" KEY("a") TENSOR(FLOAT) "s."), "a/b",
      "no tensor of this name" },
    { "a dictionary's name", BYTES(START "}q\0" KEY("a") "h\0s."), "a/a", "no tensor of this name" },
    { "a name for a tensor", BYTES(START TENSOR(FLOAT) "."), "a", "one tensor without a name" },
    { "code", BYTES(START "cos\nsystem\nX\x04\0\0\0true\x85R."), NULL,
      "pickle: os.system is not read" },
    { "a builtin", BYTES(START "cbuiltins\neval\n."), NULL, "builtins.eval is not read" },
    { "a name that begins as torch's", BYTES(START "ctorch\nFloatStorages\n."), NULL,
      "torch.FloatStorages is not read" },
    { "a module that begins as another", BYTES(START "ccollect\nOrderedDict\n."), NULL,
      "collect.OrderedDict is not read" },
    { "STACK_GLOBAL", BYTES(START "\x8c\x02os\x8c\x06system\x93."), NULL, "opcode 0x8c" },
    { "INST", BYTES(START "(ios\nsystem\n."), NULL, "opcode 0x69" },
    { "OBJ", BYTES(START "(N" "o."), NULL, "opcode 0x6f" },
    { "NEWOBJ", BYTES(START "N)\x81."), NULL, "opcode 0x81" },
    { "a global name without end", BYTES(START "cos\nsystem"), NULL, "a truncated name" },
    { "a text that is too long", BYTES(START "X\xff\xff\xff\xff" "abc"), NULL, "a truncated text" },
    { "a number without its end", BYTES(START "J\1\2"), NULL, "truncated" },
    { "a large integer", BYTES(START "\x8a\x09\1\2\3\4\5\6\7\x08\x09."), NULL, "too large" },
    { "a memo that is not set", BYTES(START "h\1."), NULL, "malformed memo" },
    { "a memo out of range", BYTES(START "Nr\xff\xff\xff\x7f."), NULL, "malformed memo" },
    { "a memo of a mark", BYTES(START "(q\0."), NULL, "malformed memo" },
    { "a tuple without a mark", BYTES(START "NNt."), NULL, "no mark" },
    { "a tuple of too few", BYTES(START "N\x87."), NULL, "too few values" },
    { "a tuple over a mark", BYTES(START "N(N\x86."), NULL, "too few values" },
    { "items without a mark", BYTES(START "}NNu."), NULL, "no mark" },
    { "an odd number of items", BYTES(START "}(Nu."), NULL, "malformed dictionary" },
    { "items of no dictionary", BYTES(START "N(NNu."), NULL, "malformed dictionary" },
    { "an item without a dictionary", BYTES(START "NNs."), NULL, "malformed dictionary" },
    { "an append to no list", BYTES(START "}Na."), NULL, "malformed list" },
    { "attributes of a number", BYTES(START "K\1}b."), NULL, "attributes of what is no" },
    { "a call of a text", BYTES(START KEY("a") ")R."), NULL, "malformed call" },
    { "a call of a storage's type", BYTES(START FLOAT ")R."), NULL, "malformed call" },
    { "a call without a tuple", BYTES(START V2 "NR."), NULL, "malformed call" },
    { "a dictionary of arguments", BYTES(START "ccollections\nOrderedDict\nN\x85R."), NULL,
      "malformed dictionary" },
    { "a parameter of nothing", BYTES(START "ctorch._utils\n_rebuild_parameter\nN\x85R."), NULL,
      "malformed parameter" },
    { "a storage that is a number", BYTES(START "K\1Q."), NULL, "malformed storage" },
    { "a storage of another kind", BYTES(START "(X\x07\0\0\0storagX" FLOAT KEY("7") KEY("c") "K\1tQ."),
      NULL, "malformed storage" },
    { "a storage of negative size",
      BYTES(START "(X\x07\0\0\0storage" FLOAT KEY("7") KEY("c") "J\xff\xff\xff\xfftQ."), NULL,
      "malformed storage" },
    { "a storage larger than memory",
      BYTES(START "(X\x07\0\0\0storage" FLOAT KEY("7") KEY("c") "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7ftQ."),
      NULL, "malformed storage" },
    { "a tensor without a storage", BYTES(START V2 "(NK\0" SIZES "\x89" HOOKS "tR."), NULL,
      "malformed tensor" },
    { "a tensor with a negative size",
      BYTES(START V2 "(" STORAGE(FLOAT) "K\0J\xff\xff\xff\xffK\4\x86K\4K\1\x86\x89" HOOKS "tR."), NULL,
      "malformed tensor" },
    { "a tensor with a negative offset",
      BYTES(START V2 "(" STORAGE(FLOAT) "J\xff\xff\xff\xff" SIZES "\x89" HOOKS "tR."), NULL,
      "malformed tensor" },
    { "sizes without strides", BYTES(START V2 "(" STORAGE(FLOAT) "K\0K\6K\4\x86K\1\x85\x89" HOOKS "tR."),
      NULL, "malformed tensor" },
    { "9 dimensions",
      BYTES(START V2 "(" STORAGE(FLOAT) "K\0(K\1K\1K\1K\1K\1K\1K\1K\1K\1t(K\1K\1K\1K\1K\1K\1K\1K\1K\1t\x89"
            HOOKS "tR."), NULL, "too many dimensions" },
    { "a negative view",
      BYTES(START V2 "(" STORAGE(FLOAT) "K\0" SIZES "\x89" HOOKS "}X\x03\0\0\0neg\x88stR."), NULL,
      "a conjugate or negative view" },
    { "float8 without a type", BYTES(START V3 "(" STORAGE("ctorch\nUntypedStorage\n") "K\0" SIZES "\x89"
                                     HOOKS "tR."), NULL, "malformed tensor" },
    { "bytes", BYTES(START TENSOR("ctorch.storage\nUntypedStorage\n") "."), NULL,
      "unsupported element type 'UntypedStorage'" },
    { "64-bit integers", BYTES(START TENSOR("ctorch\nLongStorage\n") "."), NULL,
      "unsupported element type 'LongStorage'" },
    { "complex numbers", BYTES(START "}" KEY("a") TENSOR("ctorch\nComplexFloatStorage\n") "s."), "a",
      "unsupported element type 'ComplexFloatStorage'" },
};

enum { GOOD = sizeof good / sizeof good[0], BAD = sizeof bad / sizeof bad[0] };

/* Of the first list, too, some must be refused: their message is expected. */
START_TEST(tensors)
{
    for (int i = 0; i < GOOD; i++) {
        const struct pickle *const p = &good[i];
        struct pickle_tensor t = { .dims = 99 };
        struct fault f = { .text = "" };
        if (pickle_find(&t, p->bytes, p->size, p->name, &f)) {
            ck_assert_msg(strstr(f.text, p->expected), "%s: %s", p->what, f.text);
            continue;
        }
        ck_assert_msg(!strcmp(t.type->name, p->expected), "%s: %s", p->what, t.type->name);
        ck_assert(t.dims == 2 && t.dim[0] == 6 && t.dim[1] == 4 && t.stride[0] == 4 &&
                  t.stride[1] == 1 && t.offset == 0);
        ck_assert_str_eq(t.key, "7");
        ck_assert_uint_eq(t.bytes, 24 * (strchr(t.type->name, '_') ? 1 : (uint64_t)t.type->bytes));
    }
}
END_TEST

START_TEST(refusals)
{
    for (int i = 0; i < BAD; i++) {
        const struct pickle *const p = &bad[i];
        struct pickle_tensor t = { .dims = 99 };
        struct fault f = { .text = "" };
        ck_assert_msg(pickle_find(&t, p->bytes, p->size, p->name, &f) == BITCUT_BAD_FILE,
                      "%s is read", p->what);
        ck_assert_msg(strstr(f.text, p->expected) && !strchr(f.text, '\n'),
                      "%s: got '%s', want '%s'", p->what, f.text, p->expected);
        ck_assert_int_eq(t.dims, 99);
    }
}
END_TEST

/* Every beginning of a good pickle is refused. */
START_TEST(cut)
{
    for (int i = 0; i < GOOD; i++)
        for (size_t size = 0; size < good[i].size; size++) {
            struct pickle_tensor t;
            struct fault f = { .text = "" };
            char *const exact = malloc(size ? size : 1);
            ck_assert(exact != NULL);
            memcpy(exact, good[i].bytes, size);
            mutation_refused(pickle_find(&t, exact, size, good[i].name, &f), &f, good[i].what,
                             (int)size);
            free(exact);
        }
}
END_TEST

START_TEST(changed)
{
    uint64_t state = test_seed();
    const int rounds = test_cases(60000, 3000000);
    int read = 0;
    for (int i = 0; i < rounds; i++) {
        const struct pickle *const p = &good[i % GOOD];
        struct pickle_tensor t;
        struct fault f = { .text = "" };
        size_t size;
        unsigned char *const other = mutation_make(&size, p->bytes, p->size, &state);
        const enum bitcut_status status = pickle_find(&t, other, size, p->name, &f);
        if (status) mutation_refused(status, &f, p->what, i);
        else ck_assert(t.dims <= ARRAY_DIMS_MAX && t.type && memchr(t.key, 0, sizeof t.key));
        read += status == BITCUT_OK;
        free(other);
    }
    printf("# %d of %d changed pickles were read\n", read, rounds);
}
END_TEST

/* Time and memory are proportional to the size. */
START_TEST(long_pickles)
{
    static const char *const repeated[] = { "N", "(", "}", "K\1\x85", "Nq\0", ")", "](N" };
    enum { SIZE = 1 << 20 };
    char *const bytes = malloc(SIZE);
    ck_assert(bytes != NULL);
    for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
        const size_t length = i == 4 ? 3 : strlen(repeated[i]);
        struct pickle_tensor t;
        struct fault f = { .text = "" };
        memcpy(bytes, START, 2);
        for (size_t at = 2; at < SIZE; at++) bytes[at] = repeated[i][(at - 2) % length];
        mutation_refused(pickle_find(&t, bytes, SIZE, NULL, &f), &f, repeated[i], 0);
    }
    free(bytes);
}
END_TEST

TEST_MAIN("pickle", tensors, refusals, cut, changed, long_pickles)
