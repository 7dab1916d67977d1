/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a recipe that can be varied, as text.  Each field is an item of a line
   ("promote=4"), an option of `bitcut gemm` with the same name, and a key of JSON. */
#ifndef BITCUT_LIB_GEMM_CONFIGURATION_H
#define BITCUT_LIB_GEMM_CONFIGURATION_H

#include "lib/base/table.h"
#include "lib/gemm/plan.h"

/* The type of a field of struct bitcut_gemm. */
enum configuration_kind {
    CONFIGURATION_SPLIT, /* row of a table; NULL if it is left open   */
    CONFIGURATION_ROUNDING,
    CONFIGURATION_SUM_ROUNDING, /* the same; NULL: the units' own */
    CONFIGURATION_FORMAT,
    CONFIGURATION_REDUCTION, /* number of a row of `reductions` */
    CONFIGURATION_START,     /* number of a row of `starts`     */
    CONFIGURATION_SCALING,   /* number of a row of `scalings`   */
    CONFIGURATION_EPILOGUE,  /* steps, as epilogue_read() reads them */
    CONFIGURATION_LANES, /* array of lanes, BITCUT_LANE_ORDER_MAX; all zeros: not set */
    CONFIGURATION_FLAG,
    CONFIGURATION_NUMBER,
    CONFIGURATION_TERMS /* dropped_term: number of terms, as in the recipe or one
                           more                                          */
};

struct configuration_field {
    const char *name, *key;
    enum configuration_kind kind;
    size_t at;      /* offset in struct bitcut_gemm    */
    size_t planned; /* offset in struct gemm_plan      */
    int none;       /* largest number that means "not set" and is not written */
    int place;      /* order in a line: fields with a lower place come first; fields of an
                  order of k come after all other fields */
    const char *was; /* name in version 0.1, which is still accepted; NULL: the same
                        name                                                         */
};

/* Ended by a field without a name. */
extern const struct configuration_field configuration_fields[];

/* The field with this name, or with this name in version 0.1; NULL: unknown name. */
const struct configuration_field *configuration_find(const char *name);

/* The first field that a list of items names by its name in version 0.1; NULL: no
   field. */
const struct configuration_field *configuration_renamed(const char *list);

/* The table whose rows are the values of the field; its `rows` is NULL if there is
   none. */
struct table configuration_table(const struct configuration_field *field);

enum configuration_outcome {
    CONFIGURATION_SET,
    CONFIGURATION_UNKNOWN, /* the value is not the name of a row of the table */
    CONFIGURATION_REFUSED  /* the field does not accept the value */
};

/* Set a field of g, which has a recipe, from the text of a value (NULL: the item has no
   value), or from a number. */
enum configuration_outcome configuration_set(struct bitcut_gemm *g,
                                             const struct configuration_field *field,
                                             const char *value);
enum configuration_outcome
configuration_set_number(struct bitcut_gemm *g, const struct configuration_field *field,
                         int number);

/* Room for a list of lanes such as "0.2.1", with its 0. */
enum { LANES_TEXT_MAX = 3 * BITCUT_LANE_ORDER_MAX };

/* The value of a field in a plan, where nothing is open: a list of lanes, empty if the
   field is not set; otherwise a text, which is valid as long as the plan; if the text is
   NULL, a number, which is 0 or 1 for a flag. */
struct configuration_value {
    const char *text;
    int number;
    char lanes[LANES_TEXT_MAX];
};
struct configuration_value configuration_planned(const struct gemm_plan *p,
                                                 const struct configuration_field *field);

/* Set the fields of g that a list of items names: NAME=VALUE or NAME, with commas
   between.  The list is overwritten.  BITCUT_BAD_ARGUMENT names the invalid item. */
enum bitcut_status configuration_read(struct bitcut_gemm *g, char *list, struct fault *f);

/* Append the items that are set in g to a text, each after a comma.  configuration_read()
   accepts them from the second character on. */
void configuration_write(char *text, size_t size, const struct bitcut_gemm *g);

/* --- an order of k by itself ------------------------------------------------------ */

/* Room for every such line, with its 0. */
enum { ORDER_TEXT_MAX = BITCUT_ORDER_MAX };

/* Set the fields of *order that a list of items names.  The other fields stay unchanged;
   on failure all fields do.  BITCUT_BAD_ARGUMENT names the invalid item. */
enum bitcut_status order_read(struct bitcut_order *order, const char *list,
                              struct fault *f);

/* Write the items in which an order differs from all zeros, each after a comma.
   order_read() accepts them from the second character on. */
void order_write(char text[ORDER_TEXT_MAX], const struct bitcut_order *order);

#endif
