/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures inside a page of HTML. */
#ifndef BITCUT_ANALYSIS_REPORT_SVG_H
#define BITCUT_ANALYSIS_REPORT_SVG_H

#include <stdio.h>

/* Write a picture of gnuplot as the element <svg>, without the XML prologue, the white
   background, empty groups, and the attributes that the style of the page sets for all
   pictures (.picture in report_page.c).  The width of the element is the width of the
   picture, unless the style sets another.  Text stays text. */
void svg_write(FILE *to, const char *svg);

/* The width of a picture of gnuplot in pixels; 0 if it has none. */
int svg_width(const char *svg);

#endif
