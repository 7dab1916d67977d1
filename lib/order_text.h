/* SPDX-License-Identifier: BSD-3-Clause */
/* An order of k as a line: "slices=2,tile=32,rest-first,reduction=tree,sums=f16". */
#ifndef BITCUT_LIB_ORDER_TEXT_H
#define BITCUT_LIB_ORDER_TEXT_H

#include "lib/status.h"

/* Room for any such line, with its 0. */
enum { ORDER_TEXT_MOST = BITCUT_ORDER_MOST };

/* Take what a list of items says into *order, whose other fields stay as they are; on
   failure all do.  BITCUT_BAD_ARGUMENT names the item that is none. */
enum bitcut_status order_read(struct bitcut_order *order, const char *list,
                              struct fault *f);

/* The same of one item, NAME or, with a value that is not NULL, NAME=VALUE. */
enum bitcut_status order_read_item(struct bitcut_order *order, const char *name,
                                   const char *value, struct fault *f);

/* Write the items that an order of all zeros does not say, each after a comma;
   order_read() takes them from the second character on. */
void order_write(char text[ORDER_TEXT_MOST], const struct bitcut_order *order);

#endif
