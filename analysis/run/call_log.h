/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process did with its products, written down while it runs: a file of the folder
   of a run, mapped, so that nothing is lost however the process ends. */
#ifndef BITCUT_ANALYSIS_RUN_CALL_LOG_H
#define BITCUT_ANALYSIS_RUN_CALL_LOG_H

#include "analysis/run/settings.h"
#include "lib/base/table.h"

#include <stdatomic.h>

enum {
    CALL_LOG_PLACES_MAX = 1024,
    CALL_LOG_ROUTINES_MAX = 576, /* those only counted have 47 times 9 names and 130 */
    PLACE_MAX_BYTES = 256,
    ROUTINE_MAX_BYTES = 40,
    CALL_LOG_EXPONENTS = 256,  /* by the exponent field of an FP32 encoding */
    CALL_LOG_EXCERPTS_MAX = 6, /* of a place                              */
    CALL_LOG_NAME_MAX = 64
};

/* How a call ended. */
enum call_end {
    CALL_TAKEN,   /* computed by bitcut                                             */
    CALL_PASSED,  /* by the program's own library, as asked                         */
    CALL_EMPTY,   /* likewise: there is no product in it                            */
    CALL_ILLEGAL, /* likewise: its arguments are none of the routine's              */
    CALL_FAILED,  /* likewise: bitcut could not                                     */
    CALL_LEFT,    /* likewise: it is none of those that bitcut computes             */
    CALL_ENDS
};
extern const struct table_row call_ends[];

/* Why a call was left. */
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

/* How two results differ. */
struct call_log_difference {
    uint64_t outputs, differ; /* other encodings, NaN of other bits apart              */
    uint64_t not_finite;      /* of those in one result only                           */
    double square, norm[2];   /* sums of (d - e)^2; of d^2 and e^2, e the other's: finite
                                 ones                                                  */
    double most, largest;     /* of |d - e|; of |d| and |e| together                   */
};

/* The values of an operand, by exponent fields: 0 has zeros and subnormals. */
struct call_log_values {
    uint64_t count[CALL_LOG_EXPONENTS], zeros, infinite;
};

/* Some outputs of a product, with what they are made of: name.a.npy, name.b.npy,
   name.d.npy, and if beta is not 0 name.c.npy, in the folder. */
struct call_log_excerpt {
    char name[CALL_LOG_NAME_MAX];
    uint32_t number; /* among those of the place, from 1 */
    uint32_t alpha, beta;
    uint64_t m, n, k;    /* of the whole product; k is the excerpt's, too */
    uint64_t rows, cols; /* of the excerpt                   */
};

/* The calls of a routine from one place, computed in one way. */
struct call_log_site {
    char routine[ROUTINE_MAX_BYTES];
    char where[PLACE_MAX_BYTES];  /* a line of Python, or as `native`              */
    char native[PLACE_MAX_BYTES]; /* library:function+offset                       */
    char way[CONFIGURATION_LINE_MAX];     /* as struct run_configuration has it     */
    char against[CONFIGURATION_LINE_MAX]; /* what it is compared with, likewise; or "" */
    char fault[BITCUT_TEXT_MAX];  /* why the last one failed, or was not compared */
    uint64_t ended[CALL_ENDS];
    uint64_t left[LEFT_REASONS]; /* of CALL_LEFT                                 */
    uint64_t captured;           /* calls whose stream was capturing a graph     */
    uint64_t gemms;             /* of batches, more than calls                   */
    uint64_t on_device;         /* that a device has computed, to compare with too */
    uint64_t least[3], most[3]; /* of m, n, k                                    */
    uint64_t scaled, added;     /* calls with alpha other than 1, beta than 0    */
    double products;            /* m n k, of all GEMMs                           */
    double seconds;             /* in the routine, and ...                       */
    double own_seconds;         /* ..., besides, in comparing and auditing       */
    struct call_log_difference difference;
    uint64_t watched;               /* calls that an audit looked at: ...            */
    struct call_log_values values[2]; /* ... all of their A, and of their B            */
    uint32_t excerpts;
    struct call_log_excerpt excerpt[CALL_LOG_EXCERPTS_MAX];
};

/* How often a routine was called that is only counted. */
struct call_log_routine {
    char name[ROUTINE_MAX_BYTES];
    _Atomic uint64_t calls;
};

struct call_log {
    char magic[8];
    uint64_t bytes; /* of this struct                            */
    int64_t process;
    char program[PLACE_MAX_BYTES];
    char fault[BITCUT_TEXT_MAX];  /* what is wrong with the settings, or ""        */
    _Atomic uint32_t ended;        /* 1: the process came to its end                */
    char libraries[1024];          /* then: those of its libraries that have a BLAS */
    char device[BITCUT_TEXT_MAX]; /* that was opened, or ""      */
    char device_fault[BITCUT_TEXT_MAX]; /* why none could be, or "" */
    _Atomic uint32_t places; /* written; those in front are whole             */
    uint64_t lost;           /* calls of more places than there is room for   */
    struct call_log_routine routine[CALL_LOG_ROUTINES_MAX];
    struct call_log_site place[CALL_LOG_PLACES_MAX];
};

/* Begin the call_log of this process in a folder, with everything zero but its head;
   NULL: it cannot be written, and *f says why.  Nobody sees a file of that ending before
   it is whole. */
struct call_log *call_log_open(const char *folder, struct fault *f);

/* A place behind those written, all zeros: whoever has filled it in counts it in
   l->places.  NULL: there is no room, in the call_log or on the disk. */
struct call_log_site *call_log_new_site(struct call_log *l);

/* Take the call_log of a process that ended, or is still there, from a file.  Texts in it
   end and may be printed (lib/base/text.h).  BITCUT_BAD_FILE: it is none;
   BITCUT_UNSUPPORTED. */
enum bitcut_status call_log_read(struct call_log **to, const char *path, struct fault *f);

/* Put it, or one that was opened, away; the file stays. */
void call_log_close(struct call_log *l);

/* The ending of the names of call_logs. */
extern const char call_log_ending[];

/* Add what differs in more results. */
void call_log_difference_add(struct call_log_difference *to,
                             const struct call_log_difference *more);

void call_log_values_add(struct call_log_values *to, const struct call_log_values *more);

/* Name excerpt `number` of this process, and write the beginning of the paths of its
   files to `stem`; false: no call_log was opened, or it is too long. */
bool call_log_excerpt_name(char name[CALL_LOG_NAME_MAX], char *stem, size_t size,
                           unsigned number);

/* Add the calls of a place to those of the same place in another process. */
void call_log_site_add(struct call_log_site *to, const struct call_log_site *more);

#endif
