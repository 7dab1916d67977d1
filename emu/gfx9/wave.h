/* SPDX-License-Identifier: BSD-3-Clause */
/* Data shared by the files of the executor: a wave, its instructions, and the table of
   opcodes. */
#ifndef BITCUT_EMU_GFX9_WAVE_H
#define BITCUT_EMU_GFX9_WAVE_H

#include "emu/fast/fast_fragment.h"
#include "emu/gfx9/gfx9.h"
#include "emu/unit.h"

enum {
    LANES = 64,
    VGPRS = 256, /* v0 to v255, then the same number of AGPRs */
    SGPRS = 128, /* including the registers with names: vcc, m0, exec */
    SGPR_VCC = 106,
    SGPR_M0 = 124,
    SGPR_EXEC = 126
};

/* --- instructions ----------------------------------------------------------------- */

/* Encodings, by the bits that identify them (CDNA ISA documents, "Microcode Formats"). */
enum encoding {
    SOP2,
    SOPK,
    SOP1,
    SOPC,
    SOPP,
    SMEM,
    VOP2,
    VOP1,
    VOPC,
    VOP3,
    VOP3P,
    MUBUF,
    DS,
    FLAT,
    GLOBAL
};

/* Bits of targets, in the order of the table of targets. */
enum { TARGET_GFX908 = 1, TARGET_GFX90A = 2, TARGET_GFX942 = 4 };

struct wave;
struct instruction;
struct lanes;
struct scalars;

/* A row of the table of opcodes. */
struct opcode {
    enum encoding encoding;
    int number;
    const char *name;
    void (*act)(struct wave *wave, const struct instruction *i);
    void (*scalars)(struct scalars *x); /* act_scalar: the operation */
    void (*lanes)(struct lanes *x);  /* act_vector: the operation on 64 lanes          */
    void (*shadow)(struct lanes *x); /* the same for uninitialised bits; NULL: one
                                        uninitialised bit makes the whole result
                                        uninitialised                              */
    const char *unit; /* for a matrix instruction: the name of its unit after the '/' */
    int d, s[3]; /* registers of the result and of operands; for a matrix instruction its
                    unit defines them                                                 */
    const char *kinds; /* allowed registers (emu/gfx9/operand_limits.c); NULL: as for the
                          encoding                                                    */
    int float_bits;    /* 16 or 32: operands may be negated, or replaced by their
                          magnitude                                                      */
    int more; /* further data for `act`: bytes, type of an access                  */
    unsigned targets; /* bits of the targets that have it; 0: all */
};

/* The tables, one in each file, each ended by a row without a name. */
extern const struct opcode gfx9_scalar[], gfx9_memory_scalar[], gfx9_vector[],
    gfx9_packed[], gfx9_lds[], gfx9_global[], gfx9_matrix[];

/* The part of a 32-bit operand that is used (SDWA), or NULL. */
struct part {
    uint8_t select; /* 0 to 3: a byte; 4 and 5: a half; 6: all bits */
    bool sign;      /* whether it is sign-extended         */
};

/* A decoded instruction. */
struct instruction {
    const struct opcode *opcode; /* NULL: unknown opcode */
    uint32_t offset;             /* position in the image */
    uint32_t word[2], literal;
    uint8_t bytes;
    bool refused; /* whether it cannot be executed; operands_exist() returns the
                     reason                                            */
    bool has_literal;
    uint16_t d, s[3]; /* encoded scalar registers and constants; vector registers from 256
                         on, accumulators from 512 on                                  */
    uint8_t d_count, s_count[3]; /* number of registers of each; 0: not present        */
    uint8_t magnitudes, negated; /* one bit for each operand */
    uint16_t carry;              /* VOP3 with two results: the scalar result */
    bool parted;                 /* whether it has SDWA, or halves of registers (op_sel of
                                    VOP3)                                         */
    struct part part[3], result;
    uint8_t unused;     /* the remaining bits of the result: 0 zeros, 1 sign, 2
                           unchanged                                       */
    const char *cannot; /* unsupported form; NULL: none                  */
};

/* The unit of a matrix instruction; NULL: the unit table lacks it. */
struct matrix_unit {
    const struct bitcut_unit *unit;
    uint8_t words, sums; /* number of registers of A or B, and of C or D */
    bool has_fast;
    struct fast_fragment fast;
};

/* --- an object -------------------------------------------------------------------- */

/* A segment: bytes of the file at an address, followed by zeros.  The zeros are not
   stored, except PADDING bytes that one load may reach. */
struct segment {
    uint64_t address, bytes; /* including zeros */
    const uint8_t *at;
    uint64_t stored; /* bytes in the file */
};

enum { PADDING = 64 };

/* A section of code. */
struct section {
    uint64_t address, bytes;
    uint32_t *at; /* index of the instruction that begins at a dword; UINT32_MAX: none */
};

struct gfx9_object {
    const struct gfx9_target *target;
    uint8_t *image;           /* stored bytes of the segments */
    struct segment *segments; /* ascending, without overlap */
    size_t segment_count;
    struct section *sections; /* ascending, without overlap */
    size_t section_count;
    char *names; /* names of the kernels */
    struct gfx9_argument *arguments;
    struct gfx9_kernel *kernels;
    size_t kernel_count;
    struct instruction *code; /* of all sections */
    size_t code_count;
    uint32_t *at;                  /* of all sections */
    struct matrix_unit
        units[GFX9_UNITS_MAX]; /* indexed by the opcode of matrix instructions */
};

/* The value of a kernel's descriptor before it is found. */
#define NO_DESCRIPTOR UINT64_MAX

/* The last segment that begins at or before an address, or NULL. */
const struct segment *gfx9_segment_before(const struct gfx9_object *o, uint64_t address);

/* `count` bytes at an address of the object, at most PADDING; NULL if the object does not
   have all of them.  With `stored` they must be in the file. */
const uint8_t *gfx9_bytes_at(const struct gfx9_object *o, uint64_t address, size_t bytes,
                             bool stored);

/* The section of code that contains the address, or NULL. */
const struct section *gfx9_section_at(const struct gfx9_object *o, uint64_t address);

/* Decode the instruction at an address of the object. */
void gfx9_decode(struct instruction *to, const struct gfx9_object *object,
                 uint64_t address);

/* The allowed registers of the result and operands of an opcode: a letter for the result,
   '=', one letter for each operand. */
const char *operands_kinds(const struct opcode *row);

/* Whether all registers and constants that a decoded instruction names exist.  Only this
   function compares their numbers with the registers of a wave.  If one does not exist,
   `why`, which may be NULL, describes it. */
bool operands_exist(char *why, size_t size, const struct instruction *i);

/* The row of an opcode for the target, or NULL. */
const struct opcode *gfx9_opcode(enum encoding encoding, int number,
                                 const struct gfx9_target *target);

/* Find the units of the target's matrix instructions. */
void gfx9_find_units(struct gfx9_object *o);

/* Read the kernels and their arguments from the object's notes. */
enum bitcut_status gfx9_read_notes(struct gfx9_object *o, const uint8_t *notes,
                                   size_t bytes, struct fault *f);

/* --- a wave ----------------------------------------------------------------------- */

/* Counters of pending accesses, and registers that are being loaded. */
enum counter { COUNT_VM, COUNT_LGKM };

struct pending {
    enum counter counter;
    bool in_order;     /* relative to other accesses of its counter */
    bool scalar, load; /* destination is scalar registers; sets registers */
    uint16_t first, count;
    uint32_t offset; /* of the instruction that loads them  */
    uint32_t lds;    /* number of its access to LDS, or 0   */
};

enum { PENDING_MAX = 128, WAVE_GUARD = 4 };

/* Vector registers and accumulators of a wave; and the same with one more that guards
   their end. */
enum { FILES = 2 * VGPRS, FILES_GUARDED };

/* The waves that have accessed a dword of LDS: numbers of accesses of waves, counted from
   1, and the number of barriers passed at that time. */
struct touched {
    uint32_t writer, write, write_epoch;
    uint32_t reader, read, read_epoch;  /* the latest read */
    bool several;                       /* whether more than one wave has read it in that
                                           epoch                                        */
    uint32_t write_offset, read_offset; /* offsets of the instructions */
};

struct group;
struct matrix_room;

struct wave {
    struct group *group;
    const struct section *section; /* the section of the last instruction */
    uint32_t number;               /* number in its group */
    uint64_t exec, pc;
    bool scc, ended, waiting, unset_scc;
    int pendings;
    uint32_t accesses, waited; /* accesses to LDS: issued, and waited for when the wave
                                  last reached a barrier                                */
    uint32_t (*v)[LANES];      /* VGPRS, then AGPRS, then a guard                       */
    uint64_t (*unset)[2]; /* lanes whose low and high halves are uninitialised       */
    uint64_t guard_s[WAVE_GUARD];
    uint32_t s[SGPRS];
    uint64_t guard_unset[WAVE_GUARD];
    uint64_t unset_s[2]; /* uninitialised scalar registers, by number            */
    uint64_t guard_busy[WAVE_GUARD];
    uint64_t busy[2 * VGPRS / 64 + 2]; /* registers that are being loaded: vector, then
                                          scalar                                        */
    uint64_t guard_pending[WAVE_GUARD];
    struct pending pending[PENDING_MAX];
    uint64_t guard_end[WAVE_GUARD];
};

/* With the address sanitizer: forbid or allow access to the guards of a wave from now
   on. */
void wave_guard(struct wave *w, bool on);

enum { GROUP_READABLE = 2 };

/* A work-group during its run. */
struct group {
    const struct gfx9_launch *launch;
    const struct gfx9_object *object;
    struct wave *waves;
    int wave_count;
    uint32_t epoch;         /* number of barriers passed */
    uint8_t *lds, *lds_set; /* the bytes, and whether they are initialised */
    struct touched *touched;
    uint32_t lds_bytes;
    struct gfx9_memory readable[GROUP_READABLE]; /* arguments, packet */
    size_t latest; /* index in the launch's memory of the buffer found last */
    struct matrix_room *matrix;
    double deadline; /* on the clock of seconds_now(); 0: none */
    struct gfx9_counts counts;
    bool failed;
    struct fault fault;
    size_t entry;            /* entry of the kernel: an address of the object */
    uint64_t left;           /* number of instructions that it may still execute */
    struct instruction none; /* the instruction at which it fails if there is no code */
};

/* End the run of the group.  The first reason is retained.  The message begins with
   kernel, opcode and offset. */
void wave_fail(struct wave *w, const struct instruction *i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- registers -------------------------------------------------------------------- */

/* Whether no load to these registers is pending.  The registers exist:
   operands_exist(). */
bool vector_ready(struct wave *w, const struct instruction *i, unsigned first,
                  unsigned count);
bool scalar_ready(struct wave *w, const struct instruction *i, unsigned first,
                  unsigned count);

/* Read scalar operands: registers, constants and literals.  In an f16 instruction
   constants are f16.  After a failure the result is 0. */
uint32_t scalar_read(struct wave *w, const struct instruction *i, unsigned operand);
uint32_t scalar_read_half(struct wave *w, const struct instruction *i, unsigned operand);

/* Constants that are not integers. */
enum { FRACTIONS = 240, FRACTION_COUNT = 9 };

static inline bool is_fraction(unsigned operand)
{
    return FRACTIONS <= operand && operand < FRACTIONS + FRACTION_COUNT;
}
uint64_t scalar_read_pair(struct wave *w, const struct instruction *i, unsigned operand);
void scalar_write(struct wave *w, const struct instruction *i, unsigned operand,
                  uint32_t x);
void scalar_write_pair(struct wave *w, const struct instruction *i, unsigned operand,
                       uint64_t x);

/* Whether a bit of the operand, which has this number of dwords, is uninitialised; and a
   function that sets this mark. */
bool scalar_unset(const struct wave *w, unsigned operand, int dwords);
void scalar_unset_write(struct wave *w, unsigned operand, int dwords, bool unset);

/* vcc */
static inline uint64_t wave_vcc(const struct wave *w)
{
    return (uint64_t)w->s[SGPR_VCC + 1] << 32 | w->s[SGPR_VCC];
}

/* Active lanes with uninitialised bits in `count` registers, by halves. */
uint64_t vector_unset(const struct wave *w, unsigned first, unsigned count);
void vector_unset_write(struct wave *w, unsigned first, unsigned count, uint64_t lanes,
                        uint64_t low, uint64_t high);

/* Note that an instruction has a pending load or store. */
void wave_pend(struct wave *w, const struct instruction *i, struct pending pending);

/* Wait until at most `left` accesses are pending. */
void wave_wait(struct wave *w, enum counter counter, int left);

/* --- memory ------------------------------------------------------------------------ */

/* Addresses that a kernel sees.  Buffers have addresses from GFX9_ADDRESS_FIRST on. */
#define ADDRESS_CODE      (1ull << 32)
#define ADDRESS_ARGUMENTS (2ull << 32)
#define ADDRESS_PACKET    (3ull << 32)

/* The host address of memory that a kernel may read, or also write, at one of its
   addresses.  NULL, and the wave fails, if the address is outside of every buffer, or not
   aligned to the size, or to four bytes if the size is larger. */
void *global_at(struct wave *w, const struct instruction *i, uint64_t at, size_t bytes,
                bool write);

/* --- drivers ---------------------------------------------------------------------- */

/* 64 lanes of operands and a result, one dword after the other: operand s[n][64 dword +
   lane]. */
struct lanes {
    uint32_t *d;
    const uint32_t *s[3];
    const uint32_t *unset[3]; /* for a shadow: uninitialised bits    */
    uint64_t exec, in, out;   /* one bit for each lane: carries, conditions */
};

#define FOR_LANES for (int l = 0; l < LANES; l++)

/* A scalar instruction: operands and result, zero-extended, and scc. */
struct scalars {
    uint64_t d, s[2];
    bool scc, sets_scc;
};

/* What a vector instruction does in addition to setting its result: a row's `more`. */
enum {
    TAKES_CARRY = 1, /* `in` is vcc, or a scalar pair that is the third operand of VOP3 */
    GIVES_CARRY = 2, /* `out` goes to vcc, or to a pair that VOP3 names                */
    COMPARES = 4,    /* `out` is the result: vcc, or the destination pair of VOP3      */
    SETS_EXEC = 8,   /* the result goes to exec, too                                   */
    HALVES = 16      /* VOP3 may name the high halves of operands                      */
};

/* Execute a scalar instruction by its row's `scalars`, a vector instruction by its
   `lanes`. */
void act_scalar(struct wave *w, const struct instruction *i);
void act_vector(struct wave *w, const struct instruction *i);

/* Memory for the operands of a matrix instruction; NULL: no memory.  free() frees it. */
struct matrix_room *matrix_room_make(void);

/* Moves of lanes to and from scalar registers, and of accumulators to and from other
   registers (`more`: 0 read, 1 written, 2 both). */
void act_first_lane(struct wave *w, const struct instruction *i);
void act_read_lane(struct wave *w, const struct instruction *i);
void act_write_lane(struct wave *w, const struct instruction *i);
void act_accumulator(struct wave *w, const struct instruction *i);

#endif
