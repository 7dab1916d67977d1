/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures inside a page of HTML. */
#ifndef BITCUT_ANALYSIS_REPORT_SVG_H
#define BITCUT_ANALYSIS_REPORT_SVG_H

#include <stdio.h>

/* Write a picture of gnuplot as the element <svg>: without the prologue of XML, the white
   background, empty groups, and attributes that the style of the page sets for all
   pictures (.picture in report_page.c).  The width of the element is that of the picture
   unless the style says otherwise.  Text stays as it is. */
void svg_write(FILE *to, const char *svg);

/* The width that a picture of gnuplot has, in pixels; 0 if there is none. */
int svg_width(const char *svg);

#endif
