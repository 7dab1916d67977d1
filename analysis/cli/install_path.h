/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the program's own files are. */
#ifndef BITCUT_ANALYSIS_CLI_INSTALL_PATH_H
#define BITCUT_ANALYSIS_CLI_INSTALL_PATH_H

enum { PLACE_MAX = 4096 };

/* A folder of the program's files.  Of a program in its build tree, that is where
   config.status is beside it or, from its .libs, above it: `built`, as seen from there.
   Or else `installed`, a folder of `make install`; if the program was moved with all that
   was installed, then from where it is now as `installed` is from the configured bindir.
 */
void place_find(char folder[PLACE_MAX], const char *built, const char *installed);

/* The folder of modules, for gpu_open(): the one that the environment variable
   BITCUT_MODULES names, or else that of the program's modules, in `folder`. */
const char *place_module(char folder[PLACE_MAX]);

#endif
