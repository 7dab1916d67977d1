/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be varied of a recipe, in words: each field is an item of a line
   ("promote=4"), an option of `bitcut gemm` of that name, and a key of JSON. */
#ifndef BITCUT_LIB_GEMM_CONFIGURATION_H
#define BITCUT_LIB_GEMM_CONFIGURATION_H

#include "lib/base/table.h"
#include "lib/gemm/plan.h"

/* What a field of struct bitcut_gemm is. */
enum configuration_kind {
    CONFIGURATION_SPLIT, /* a row of a table, NULL if it is left open */
    CONFIGURATION_ROUNDING,
    CONFIGURATION_FORMAT,
    CONFIGURATION_REDUCTION, /* its number */
    CONFIGURATION_FLAG,
    CONFIGURATION_NUMBER,
    CONFIGURATION_TERMS /* dropped_term: the recipe's terms, or one more */
};

struct configuration_field {
    const char *name, *key;
    enum configuration_kind kind;
    size_t at;      /* in struct bitcut_gemm           */
    size_t planned; /* in struct gemm_plan             */
    int none;       /* up to that a number says nothing */
    int place; /* in a line it comes behind all of a lower one: of those of an order of k, or
                  of the others, which are in front */
    const char *was; /* the name in version 0.1, which is still read; NULL: the same */
};

/* Ended by one without a name. */
extern const struct configuration_field configuration_fields[];

/* The field with this name, or with this name in version 0.1; NULL: unknown name. */
const struct configuration_field *configuration_find(const char *name);

/* The first field that a list of items has by its name in version 0.1; NULL: none. */
const struct configuration_field *configuration_renamed(const char *list);

/* The table whose rows are its values; rows NULL: there is none. */
struct table configuration_table(const struct configuration_field *field);

enum configuration_outcome {
    CONFIGURATION_SET,
    CONFIGURATION_UNKNOWN, /* the value is no row of the table */
    CONFIGURATION_REFUSED  /* it is not what the field takes   */
};

/* Set a field of g, which has a recipe, by the text of its value, NULL: there is none; or
   one that is a number. */
enum configuration_outcome configuration_set(struct bitcut_gemm *g,
                                             const struct configuration_field *field,
                                             const char *value);
enum configuration_outcome
configuration_set_number(struct bitcut_gemm *g, const struct configuration_field *field,
                         int number);

/* What a field is in a plan, where none is open: a text; or if that is NULL a number, 0
   or 1 of a flag. */
struct configuration_value {
    const char *text;
    int number;
};
struct configuration_value configuration_planned(const struct gemm_plan *p,
                                                 const struct configuration_field *field);

/* Set what a list of items, NAME=VALUE or NAME with commas between, says of g; the list
   is written over.  BITCUT_BAD_ARGUMENT names the item that is none. */
enum bitcut_status configuration_read(struct bitcut_gemm *g, char *list, struct fault *f);

/* Add to a text the items that g says, each after a comma; configuration_read() takes
   them from the second character on. */
void configuration_write(char *text, size_t size, const struct bitcut_gemm *g);

/* --- an order of k by itself ------------------------------------------------------ */

/* Room for any such line, with its 0. */
enum { ORDER_TEXT_MAX = BITCUT_ORDER_MAX };

/* Take what a list of items says into *order, whose other fields stay as they are; on
   failure all do.  BITCUT_BAD_ARGUMENT names the item that is none. */
enum bitcut_status order_read(struct bitcut_order *order, const char *list,
                              struct fault *f);

/* Write the items that an order of all zeros does not say, each after a comma;
   order_read() takes them from the second character on. */
void order_write(char text[ORDER_TEXT_MAX], const struct bitcut_order *order);

#endif
