/* SPDX-License-Identifier: BSD-3-Clause */
/* A described struct: one table of its fields, beside the struct.  The keys of JSON, the
   attributes and the layout in Python, and the tables of keys in the manual are read from
   it. */
#ifndef BITCUT_LIB_BASE_RECORD_H
#define BITCUT_LIB_BASE_RECORD_H

#include "lib/base/table.h"

/* What lies at a field's offset. */
enum record_kind {
    RECORD_FLAG,   /* bool                                              */
    RECORD_INT,    /* int                                               */
    RECORD_COUNT,  /* an unsigned integer                               */
    RECORD_REAL,   /* double; JSON has a text where it is not finite    */
    RECORD_NUMBER, /* likewise, but null where it is NaN: there is none */
    RECORD_TEXT,   /* const char *, or NULL                             */
    RECORD_CHARS,  /* char[]                                            */
    RECORD_FLAGS,  /* bool[]                                            */
    RECORD_COUNTS, /* size_t[]                                          */
    RECORD_REALS,  /* double[]                                          */
    RECORD_ROW,    /* a pointer to a row of a table (lib/base/table.h), or NULL: its
                      name */
    RECORD_HEX,     /* an unsigned integer, of whose encoding JSON has the digits      */
    RECORD_DERIVED, /* nothing: `flag` computes a bool of the struct                   */
    RECORD_WORD,    /* nothing: `word` finds a text                                    */
    RECORD_COMPUTED, /* nothing: `number` computes a double, as of RECORD_NUMBER       */
    RECORD_SAID,    /* nothing: `say` writes a text; JSON has null for an empty one    */
    RECORD_LIST,    /* nothing: `item` finds structs of the fields `of`, from 0 on until
                       NULL; without `of` texts                                        */
    RECORD_GROUP,   /* nothing: the fields `of` of the same struct, or of one in it; without a
                       name they are keys beside the others, if `when`                 */
    RECORD_POINTED, /* a pointer to a struct of the fields `of`, or NULL               */
    RECORD_TOLD     /* nothing: `tell` tells keys and their values, from 0 on until false;
                       those of one key are a list                                     */
};

/* Append a sentence on an answer to `text`, of `size` bytes: nothing of an answer that does
   not have it. */
typedef void record_describe(char *text, size_t size, const void *answer);

/* A row of a table that is ended by a NULL name. */
struct record_field {
    const char *name;   /* of the key in JSON; "a.b" is the key b of the object a, and
                           "" of what JSON does not have                               */
    const char *what;   /* one line                                                    */
    const char *unit;   /* of a quantity, else ""                                      */
    const char *member; /* of the struct, in C and Python; NULL: callers do not see it */
    enum record_kind kind;
    size_t offset, bytes;
    bool (*flag)(const void *record);        /* of RECORD_DERIVED */
    const char *(*word)(const void *record); /* of RECORD_WORD    */
    double (*number)(const void *record);    /* of RECORD_COMPUTED */
    struct table names; /* of the elements of an array: each is a key of its own, of the
                           object `name`, "" for this one                              */
    bool (*when)(const void *record); /* JSON has null where it is false; NULL: never      */
    record_describe *describe;        /* of RECORD_SAID */
    const void *(*item)(const void *record, size_t i, void *room); /* of RECORD_LIST: in the
                                                        record, or in RECORD_ROOM bytes */
    bool (*tell)(struct bitcut_field *told, const void *record, size_t i); /* of RECORD_TOLD */
    const struct record_field *of;
};

enum { RECORD_ROOM = 512 };

/* The kind of a member by its type. */
#define RECORD_KIND(member)                                                              \
    _Generic((member), bool: RECORD_FLAG, int: RECORD_INT, unsigned: RECORD_COUNT,       \
             unsigned long: RECORD_COUNT, unsigned long long: RECORD_COUNT,              \
             double: RECORD_REAL, const char *: RECORD_TEXT, char *: RECORD_CHARS,       \
             bool *: RECORD_FLAGS, unsigned long *: RECORD_COUNTS,                       \
             unsigned long long *: RECORD_COUNTS, unsigned *: RECORD_COUNTS,             \
             double *: RECORD_REALS, default: RECORD_ROW)

/* A row: a member that callers see, called `as` in C; one that they do not; a flag and a
   text that are computed. */
#define RECORD_MEMBER(type, place, as, key, quantity, line)                              \
    RECORD_MEMBER_IF(type, place, as, key, quantity, line, NULL)
#define RECORD_FIELD(type, place, key, quantity, line)                                   \
    RECORD_MEMBER(type, place, #place, key, quantity, line)
#define RECORD_INNER(type, place, key, quantity, line)                                   \
    RECORD_MEMBER(type, place, NULL, key, quantity, line)
/* Those that are there sometimes; and an array by names of a table. */
#define RECORD_MEMBER_IF(type, place, as, key, quantity, line, condition)                \
    {                                                                                    \
        .name = key, .what = line, .unit = quantity, .member = as,                       \
        .kind = RECORD_KIND(((type *)0)->place), .offset = offsetof(type, place),        \
        .bytes = sizeof((type *)0)->place, .when = condition                             \
    }
#define RECORD_INNER_IF(type, place, key, quantity, line, condition)                     \
    RECORD_MEMBER_IF(type, place, NULL, key, quantity, line, condition)
#define RECORD_NAMED(type, place, key, rows_of, quantity, line)                          \
    {                                                                                    \
        .name = key, .what = line, .unit = quantity,                                     \
        .kind = RECORD_KIND(((type *)0)->place), .offset = offsetof(type, place),        \
        .bytes = sizeof((type *)0)->place, .names = { (rows_of), sizeof(rows_of)[0] }    \
    }
#define RECORD_FUNCTION(function, key, line)                                             \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_DERIVED, .flag = function  \
    }
#define RECORD_TEXT_OF(function, key, line)                                              \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_WORD, .word = function     \
    }
#define RECORD_SENTENCE(function, key, line)                                             \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_SAID, .describe = function \
    }

/* Two members of one type, the second right behind `first`; an encoding. */
#define RECORD_PAIR(type, first, key, quantity, line)                                    \
    {                                                                                    \
        .name = key, .what = line, .unit = quantity,                                     \
        .kind = RECORD_KIND(&((type *)0)->first), .offset = offsetof(type, first),       \
        .bytes = 2 * sizeof((type *)0)->first                                            \
    }
#define RECORD_ENCODING(type, place, key, line)                                          \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_HEX,                       \
        .offset = offsetof(type, place), .bytes = sizeof((type *)0)->place               \
    }

/* A list of structs, or of texts (fields NULL); and fields that are there together. */
#define RECORD_ITEMS(function, fields, key, line)                                        \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_LIST, .item = function,    \
        .of = fields                                                                     \
    }
#define RECORD_TOGETHER(condition, fields, key, line)                                    \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_GROUP, .when = condition,  \
        .of = fields                                                                     \
    }

/* Keys that are told, beside the others. */
#define RECORD_KEYS(function, line)                                                      \
    {                                                                                    \
        .name = "", .what = line, .unit = "", .kind = RECORD_TOLD, .tell = function      \
    }

/* A struct in the struct, or that it points to. */
#define RECORD_STRUCT(type, place, fields, key, line)                                    \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_GROUP,                     \
        .offset = offsetof(type, place), .of = fields                                    \
    }
#define RECORD_POINTER(type, place, fields, key, line)                                   \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_POINTED,                   \
        .offset = offsetof(type, place), .of = fields                                    \
    }

/* A double that may be NaN, in the struct, always or sometimes, and computed; one that callers
   see. */
#define RECORD_MAYBE_IF(type, place, key, quantity, line, condition)                     \
    {                                                                                    \
        .name = key, .what = line, .unit = quantity, .kind = RECORD_NUMBER,              \
        .offset = offsetof(type, place), .bytes = sizeof(double), .when = condition      \
    }
#define RECORD_MAYBE(type, place, key, quantity, line)                                   \
    RECORD_MAYBE_IF(type, place, key, quantity, line, NULL)
#define RECORD_MAYBE_MEMBER(type, place, as, key, quantity, line)                        \
    {                                                                                    \
        .name = key, .what = line, .unit = quantity, .member = as, .kind = RECORD_NUMBER, \
        .offset = offsetof(type, place), .bytes = sizeof(double)                         \
    }
#define RECORD_NUMBER_OF(function, key, quantity, line)                                  \
    {                                                                                    \
        .name = key, .what = line, .unit = quantity, .kind = RECORD_COMPUTED,            \
        .number = function                                                               \
    }

/* A sentence with its label.  A table of them ends with a NULL label. */
struct record_line {
    const char *label;
    record_describe *describe;
    enum record_when {
        RECORD_ALWAYS,
        RECORD_BELOW,   /* also under a table of several answers, each              */
        RECORD_VERBOSE, /* only with all keys, in place of the one that is `instead` */
        RECORD_CODE     /* always, lines of code, which do not wrap                     */
    } when;
    const char *instead; /* else NULL */
};

/* Labels that mean the same in every command: what a result is, the range in which the
   error of a correct result usually lies, and the bound that no correct result exceeds.
 */
#define LABEL_VERDICT "verdict"
#define LABEL_TYPICAL "typical range"
#define LABEL_WORST   "worst-case bound"

/* Rows of record_line, one for each of them. */
#define VERDICT_LINES(verdict, typical, worst)                                           \
    { LABEL_VERDICT, verdict, RECORD_ALWAYS, NULL },                                     \
        { LABEL_TYPICAL, typical, RECORD_ALWAYS, NULL },                                 \
    {                                                                                    \
        LABEL_WORST, worst, RECORD_ALWAYS, NULL                                          \
    }

/* A described struct. */
struct record {
    const char *name, *what;           /* the struct's                                 */
    const char *keys;                  /* the answer whose keys in JSON it has; "a.b": of
                                          the object b of those of a                   */
    const struct record_field *field;
    size_t bytes; /* of the struct in lib/bitcut.h; 0: callers do not see it */
};

#endif
