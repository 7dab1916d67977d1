/* SPDX-License-Identifier: BSD-3-Clause */
/* A described struct: one table of its fields, next to the struct.  The keys of JSON, the
   attributes and the layout in Python, and the tables of keys in the manual are read from
   this table. */
#ifndef BITCUT_LIB_BASE_RECORD_H
#define BITCUT_LIB_BASE_RECORD_H

#include "lib/base/table.h"

/* What is stored at the offset of a field. */
enum record_kind {
    RECORD_FLAG,     /* bool                                              */
    RECORD_INT,      /* int                                               */
    RECORD_INTEGER,  /* int64_t                                           */
    RECORD_COUNT,    /* an unsigned integer                               */
    RECORD_REAL,     /* double; JSON has a text if it is not finite       */
    RECORD_NUMBER,   /* as RECORD_REAL, but JSON has null for NaN         */
    RECORD_TEXT,     /* const char *, or NULL                             */
    RECORD_CHARS,    /* char[]                                            */
    RECORD_FLAGS,    /* bool[]                                            */
    RECORD_COUNTS,   /* size_t[]                                          */
    RECORD_REALS,    /* double[]                                          */
    RECORD_ROW,      /* pointer to a row of a table (lib/base/table.h), or NULL; JSON has
                        the name of the row */
    RECORD_HEX,      /* an unsigned integer: an encoding; JSON has its hexadecimal
                        digits                                                          */
    RECORD_DERIVED,  /* nothing: `flag` computes a bool from the struct                 */
    RECORD_WORD,     /* nothing: `word` finds a text                                    */
    RECORD_COMPUTED, /* nothing: `number` computes a double, treated as RECORD_NUMBER  */
    RECORD_SAID,     /* nothing: `say` writes a text; JSON has null for an empty text   */
    RECORD_LIST,     /* nothing: `item` returns structs with the fields `of`, from 0 on
                        until NULL; without `of` it returns texts                       */
    RECORD_GROUP,    /* nothing: the fields `of` of the same struct, or of a struct in it;
                        without a name they are keys of the enclosing object, if `when` is
                        true                                                            */
    RECORD_STRUCTS,  /* an array of structs with the fields `of`, which callers see and
                        RECORD_LIST gives to JSON                                       */
    RECORD_POINTED,  /* pointer to a struct with the fields `of`, or NULL               */
    RECORD_TOLD      /* nothing: `tell` returns keys and their values, from 0 on until
                        false; several values of one key form a list                    */
};

/* Append a sentence about an answer to `text`, which has `size` bytes.  Append nothing if
   the sentence does not apply to the answer. */
typedef void record_describe(char *text, size_t size, const void *answer);

/* A row of a table that ends with a NULL name. */
struct record_field {
    const char *name;   /* name of the key in JSON; "a.b" is key b of object a; "" if JSON
                           does not have the field                                     */
    const char *what;   /* one line                                                    */
    const char *unit;   /* unit of a quantity, else ""                                 */
    const char *member; /* member of the struct, in C and Python; NULL: callers do not see
                           it                                                          */
    enum record_kind kind;
    size_t offset, bytes;
    bool (*flag)(const void *record);        /* for RECORD_DERIVED */
    const char *(*word)(const void *record); /* for RECORD_WORD   */
    double (*number)(const void *record);    /* for RECORD_COMPUTED */
    struct table names; /* names of the elements of an array: each element is a key of the
                           object `name`, or of this object if `name` is ""            */
    bool (*when)(const void *record); /* false: JSON has null; NULL: never null */
    record_describe *describe;        /* for RECORD_SAID                               */
    /* For RECORD_LIST: returns an item, which lies in the record or in the RECORD_ROOM
       bytes of `room`. */
    const void *(*item)(const void *record, size_t i, void *room);
    /* For RECORD_TOLD. */
    bool (*tell)(struct bitcut_field *told, const void *record, size_t i);
    const struct record_field *of;
};

enum { RECORD_ROOM = 512 };

/* The kind of a member, derived from its type. */
#define RECORD_KIND(member)                                                              \
    _Generic((member), bool: RECORD_FLAG, int: RECORD_INT, long: RECORD_INTEGER,         \
             long long: RECORD_INTEGER, unsigned: RECORD_COUNT,                          \
             unsigned long: RECORD_COUNT, unsigned long long: RECORD_COUNT,              \
             double: RECORD_REAL, const char *: RECORD_TEXT, char *: RECORD_CHARS,       \
             bool *: RECORD_FLAGS, unsigned long *: RECORD_COUNTS,                       \
             unsigned long long *: RECORD_COUNTS, unsigned *: RECORD_COUNTS,             \
             double *: RECORD_REALS, default: RECORD_ROW)

/* Rows: a member that callers see, called `as` in C; a member that callers do not see; a
   computed flag; a computed text. */
#define RECORD_MEMBER(type, place, as, key, quantity, line)                              \
    RECORD_MEMBER_IF(type, place, as, key, quantity, line, NULL)
#define RECORD_FIELD(type, place, key, quantity, line)                                   \
    RECORD_MEMBER(type, place, #place, key, quantity, line)
#define RECORD_INNER(type, place, key, quantity, line)                                   \
    RECORD_MEMBER(type, place, NULL, key, quantity, line)
/* Members that are present only under a condition, and an array whose elements are named
   by a table. */
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

/* Two members of one type, the second directly after `first`, and an encoding. */
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

/* A list of structs, or of texts (fields NULL), and a group of fields that are present
   together. */
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

/* An array of structs that callers see. */
#define RECORD_ARRAY(type, place, as, fields, line)                                      \
    {                                                                                    \
        .name = "", .what = line, .unit = "", .member = as, .kind = RECORD_STRUCTS,      \
        .offset = offsetof(type, place), .bytes = sizeof((type *)0)->place, .of = fields \
    }

/* Keys that a function returns, in the same object. */
#define RECORD_KEYS(function, line)                                                      \
    {                                                                                    \
        .name = "", .what = line, .unit = "", .kind = RECORD_TOLD, .tell = function      \
    }

/* A struct in the struct, or a struct that a member points to. */
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

/* A double that may be NaN: always present, present under a condition, or computed; and
   one that callers see. */
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

/* A sentence with its label.  A table of sentences ends with a NULL label. */
struct record_line {
    const char *label;
    record_describe *describe;
    enum record_when {
        RECORD_ALWAYS,
        RECORD_BELOW,  /* also printed below a table of several answers, once for each */
        RECORD_VERBOSE, /* only with all keys, where it replaces the sentence `instead` */
        RECORD_CODE /* always printed; lines of code, which do not wrap */
    } when;
    const char *instead; /* label of the replaced sentence, else NULL */
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
    const char *name, *what; /* of the struct                                */
    const char *keys;        /* answer whose keys these are in JSON; "a.b":
                                object b of the keys of a                    */
    const struct record_field *field;
    size_t bytes; /* size of the struct in lib/bitcut.h; 0: callers do not see it */
};

#endif
