/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the program's own files are. */
#ifndef BITCUT_ANALYSIS_CLI_INSTALL_PATH_H
#define BITCUT_ANALYSIS_CLI_INSTALL_PATH_H

enum { PLACE_MAX = 4096 };

/* A folder of the program's files.  If the program runs in its build tree, which has
   config.status next to the program or above its .libs, the result is `built`, relative
   to that place.  Otherwise it is `installed`, a folder of `make install`.  If the
   program was moved together with all installed files, the result has the same position
   relative to the program as `installed` has relative to the configured bindir. */
void place_find(char folder[PLACE_MAX], const char *built, const char *installed);

/* The folder of modules, for gpu_open(), in `folder`: the one named by the environment
   variable BITCUT_MODULES, or the folder of the program's modules. */
const char *place_module(char folder[PLACE_MAX]);

#endif
