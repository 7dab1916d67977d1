/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of a process: what it did with its products, written while it runs.  The log is
   a mapped file in the folder of a run, so nothing is lost however the process ends. */
#ifndef BITCUT_ANALYSIS_RUN_CALL_LOG_H
#define BITCUT_ANALYSIS_RUN_CALL_LOG_H

#include "analysis/run/settings.h"
#include "lib/base/table.h"

#include <stdatomic.h>

enum {
    CALL_LOG_SITES_MAX = 1024,
    CALL_LOG_ROUTINES_MAX = 616, /* the routines have 52 times 9 names and 145 */
    PLACE_MAX_BYTES = 256,
    ROUTINE_MAX_BYTES = 40,
    CALL_LOG_EXPONENTS = 256,  /* indexed by the exponent field of an FP32 encoding */
    CALL_LOG_EXCERPTS_MAX = 6, /* for each call site */
    CALL_LOG_NAME_MAX = 64
};

/* How a call ended. */
enum call_end {
    CALL_TAKEN,   /* computed by bitcut                                             */
    CALL_PASSED,  /* by the program's own library, as requested */
    CALL_EMPTY,   /* the same: the call has no product */
    CALL_ILLEGAL, /* the same: its arguments are invalid for the routine */
    CALL_FAILED,  /* the same: bitcut could not compute it */
    CALL_LEFT,    /* the same: bitcut does not compute this kind of call */
    CALL_ENDS
};
extern const struct table_row call_ends[];

/* Why a call was left to the library. */
enum left_reason {
    LEFT_SMALL,
    LEFT_SCALARS,
    LEFT_TYPES,
    LEFT_COMPUTE,
    LEFT_EPILOGUE,
    LEFT_LAYOUT,
    LEFT_CAPTURE,
    LEFT_MEMORY,
    LEFT_KERNEL,
    LEFT_DEVICE,
    LEFT_REASONS
};

extern const struct table_row left_reasons[];

/* The differences between two results. */
struct call_log_difference {
    uint64_t outputs,
        differ;          /* outputs with other encodings, except NaNs with other bits */
    uint64_t not_finite; /* outputs finite in one result only */
    long double square, norm[2]; /* sums of (d - e)^2, d^2 and e^2, where e is the other
                                    result; finite outputs only.  Squares of FP64 need
                                    a wider range than FP64 */
    double most, largest;   /* the largest |d - e|; the largest |d| or |e| */
};

/* The values of an operand, by exponent field: 0 stands for zeros and subnormal values.
 */
struct call_log_values {
    uint64_t count[CALL_LOG_EXPONENTS], zeros, infinite;
};

/* Some outputs of a product with their operands: the files name.a.npy, name.b.npy,
   name.d.npy, and if beta is not 0 name.c.npy, in the folder. */
struct call_log_excerpt {
    char name[CALL_LOG_NAME_MAX];
    uint32_t number; /* number among the excerpts of the call site, from 1 */
    uint32_t alpha, beta;
    uint64_t m, n, k;    /* of the whole product; the excerpt has the same k */
    uint64_t rows, cols; /* of the excerpt */
};

/* The calls of a routine from one call site in one configuration. */
struct call_log_site {
    char routine[ROUTINE_MAX_BYTES];
    char where[PLACE_MAX_BYTES];  /* a line of Python, or the same as `native` */
    char native[PLACE_MAX_BYTES]; /* library:function+offset                       */
    char configuration[CONFIGURATION_LINE_MAX]; /* line of struct run_configuration */
    char against[CONFIGURATION_LINE_MAX]; /* configuration of the comparison; or "" */
    char fault[BITCUT_TEXT_MAX]; /* why the last call failed, or was not compared */
    uint64_t ended[CALL_ENDS];
    uint64_t left[LEFT_REASONS]; /* for CALL_LEFT */
    uint64_t captured;           /* calls whose stream was capturing a graph     */
    uint64_t gemms;              /* with the GEMMs of batches counted one by one */
    uint64_t on_device;          /* computed by a device, including shadow computations */
    uint64_t least[3], most[3];  /* of m, n, k */
    uint64_t scaled, added; /* calls with alpha other than 1, with beta other than 0 */
    double products;            /* m n k, of all GEMMs                           */
    double seconds;             /* in the routine */
    double own_seconds;         /* in comparing and auditing, not included above */
    struct call_log_difference difference;
    uint64_t watched;                 /* calls that were audited */
    struct call_log_values values[2]; /* all of their A, and all of their B */
    uint32_t excerpts;
    struct call_log_excerpt excerpt[CALL_LOG_EXCERPTS_MAX];
};

/* The number of calls of a routine that is only counted. */
struct call_log_routine {
    char name[ROUTINE_MAX_BYTES];
    _Atomic uint64_t calls;
};

struct call_log {
    char magic[8];
    uint64_t bytes; /* of this struct                            */
    int64_t process;
    char program[PLACE_MAX_BYTES];
    char fault[BITCUT_TEXT_MAX];   /* error in the settings, or "" */
    unsigned char takes[PRECISIONS]; /* not 0: products of the precision were taken */
    _Atomic uint32_t ended;        /* 1: the process came to its end                */
    char libraries[1024];          /* at the end: its libraries that have a BLAS */
    char device[BITCUT_TEXT_MAX];  /* the device that was opened, or "" */
    char device_fault[BITCUT_TEXT_MAX]; /* why no device could be opened, or "" */
    _Atomic uint32_t sites;  /* entries written; all before this index are complete */
    uint64_t lost;           /* calls from more call sites than the log has room for */
    struct call_log_routine routine[CALL_LOG_ROUTINES_MAX];
    struct call_log_site site[CALL_LOG_SITES_MAX];
};

/* Begin the log of this process in a folder, with zeros after its head.  Returns NULL if
   it cannot be written, with the reason in *f.  Other processes see the file under this
   suffix only when it is complete. */
struct call_log *call_log_open(const char *folder, struct fault *f);

/* A new entry for a call site after those written, all zeros.  The caller fills it in and
   then counts it in l->sites.  Returns NULL if there is no room in the log or on the
   disk. */
struct call_log_site *call_log_new_site(struct call_log *l);

/* Map the log of a process from a file; the process may have ended or not.  Texts in the
   log are terminated and safe to print (lib/base/text.h).  Returns BITCUT_BAD_FILE if the
   file is no log; BITCUT_UNSUPPORTED. */
enum bitcut_status call_log_read(struct call_log **to, const char *path, struct fault *f);

/* Close a log that was begun or opened.  The file remains. */
void call_log_close(struct call_log *l);

/* The suffix of the names of logs. */
extern const char call_log_ending[];

/* Add the differences of more results. */
void call_log_difference_add(struct call_log_difference *to,
                             const struct call_log_difference *more);

void call_log_values_add(struct call_log_values *to, const struct call_log_values *more);

/* The number of excerpt `number` of this process: write the common beginning of the paths
   of its files to `stem`.  Returns false if no log was opened, or if the path is too
   long. */
bool call_log_excerpt_name(char name[CALL_LOG_NAME_MAX], char *stem, size_t size,
                           unsigned number);

/* Add the calls of a call site to those of the same call site in another process. */
void call_log_site_add(struct call_log_site *to, const struct call_log_site *more);

#endif
