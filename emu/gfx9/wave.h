/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the executor share: a wave, its instructions, and their table. */
#ifndef BITCUT_EMU_GFX9_WAVE_H
#define BITCUT_EMU_GFX9_WAVE_H

#include "emu/fast/fast_fragment.h"
#include "emu/gfx9/gfx9.h"
#include "emu/unit.h"

enum {
    LANES = 64,
    VGPRS = 256, /* v0 to v255, then as many AGPRs */
    SGPRS = 128, /* those that have names among them: vcc, m0, exec */
    SGPR_VCC = 106,
    SGPR_M0 = 124,
    SGPR_EXEC = 126
};

/* --- instructions ----------------------------------------------------------------- */

/* Encodings, by the bits that tell them apart (CDNA ISA documents, "Microcode Formats").
 */
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

/* By position in the table of targets. */
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
    void (*scalars)(struct scalars *x); /* act_scalar: what it does */
    void (*lanes)(struct lanes *x);  /* act_vector: what it does with 64 lanes         */
    void (*shadow)(struct lanes *x); /* the same of bits that are not set; NULL: one bit
                                        that is not set leaves the whole result so */
    const char *unit; /* of a matrix instruction: a unit's name behind the '/' */
    int d, s[3]; /* registers of the result and of operands; a matrix instruction's are
                    its unit's                                                        */
    const char *kinds; /* what those may be (emu/gfx9/operand_limits.c); NULL: as all of the
                          encoding                                                    */
    int float_bits; /* 16 or 32: operands may be negated or their magnitudes be taken */
    int more; /* what `act` wants to know: bytes, a kind of access                 */
    unsigned targets; /* that have it, bits; 0: all */
};

/* The tables, one a file, each ended by a row without a name. */
extern const struct opcode gfx9_scalar[], gfx9_memory_scalar[], gfx9_vector[],
    gfx9_packed[], gfx9_lds[], gfx9_global[], gfx9_matrix[];

/* How an operand of 32 bits is taken apart (SDWA), or NULL. */
struct part {
    uint8_t select; /* 0 to 3 a byte, 4 and 5 a half, 6 all */
    bool sign;      /* extended by its sign                */
};

/* A decoded instruction. */
struct instruction {
    const struct opcode *opcode; /* NULL: no row has it */
    uint32_t offset;             /* in the image        */
    uint32_t word[2], literal;
    uint8_t bytes;
    bool refused; /* it cannot be executed: operands_refuse() says why */
    bool has_literal;
    uint16_t d, s[3]; /* scalar registers and constants as encoded; vector registers from
                         256 on, accumulators from 512 on                              */
    uint8_t d_count, s_count[3]; /* registers of each, 0: it has none                  */
    uint8_t magnitudes, negated; /* bits of operands */
    uint16_t carry;              /* VOP3 with two results: the scalar one */
    bool parted;                 /* SDWA, or halves of registers (op_sel of VOP3) */
    struct part part[3], result;
    uint8_t unused;     /* the rest of the result: 0 zeros, 1 sign, 2 kept */
    const char *cannot; /* a form of it that is not executed; NULL: none */
};

/* A matrix instruction's unit; NULL: the table lacks it. */
struct matrix_unit {
    const struct bitcut_unit *unit;
    uint8_t words, sums; /* registers of A or B, and of C or D */
    bool has_fast;
    struct fast_fragment fast;
};

/* --- an object -------------------------------------------------------------------- */

/* A segment: bytes of the file at an address, and zeros behind them, of which none are
   kept but the PADDING that one load may reach. */
struct segment {
    uint64_t address, bytes; /* zeros included */
    const uint8_t *at;
    uint64_t stored; /* bytes of the file */
};

enum { PADDING = 64 };

/* A section of code. */
struct section {
    uint64_t address, bytes;
    uint32_t *at; /* index of the instruction that begins at a dword; UINT32_MAX: none */
};

struct gfx9_object {
    const struct gfx9_target *target;
    uint8_t *image;           /* what segments keep */
    struct segment *segments; /* ascending, apart   */
    size_t segment_count;
    struct section *sections; /* likewise           */
    size_t section_count;
    char *names; /* of kernels */
    struct gfx9_argument *arguments;
    struct gfx9_kernel *kernels;
    size_t kernel_count;
    struct instruction *code; /* of all sections */
    size_t code_count;
    uint32_t *at;                  /* of all sections */
    struct matrix_unit units[128]; /* by the numbers of matrix instructions */
};

/* A kernel's descriptor before it was found. */
#define NO_DESCRIPTOR UINT64_MAX

/* The last segment that begins at or before an address, or NULL. */
const struct segment *gfx9_segment_before(const struct gfx9_object *o, uint64_t address);

/* Bytes at an address of the object, PADDING at most; NULL: it has not all of them.  With
   `stored` they must be the file's own. */
const uint8_t *gfx9_bytes_at(const struct gfx9_object *o, uint64_t address, size_t bytes,
                             bool stored);

/* The section of code that has the address, or NULL. */
const struct section *gfx9_section_at(const struct gfx9_object *o, uint64_t address);

/* Decode the instruction at an address of the object. */
void gfx9_decode(struct instruction *to, const struct gfx9_object *object,
                 uint64_t address);

/* What the result and operands of an opcode may be: a letter for the result, '=', one for
   each operand. */
const char *operands_kinds(const struct opcode *row);

/* Whether all registers and constants that a decoded instruction names are there: the one
   place where their numbers are held against those of a wave.  If not, `why`, which may
   be NULL, says which. */
bool operands_exist(char *why, size_t size, const struct instruction *i);

/* The row of an opcode for the target, or NULL. */
const struct opcode *gfx9_opcode(enum encoding encoding, int number,
                                 const struct gfx9_target *target);

/* The units of the target's matrix instructions. */
void gfx9_find_units(struct gfx9_object *o);

/* Kernels and their arguments from the object's notes. */
enum bitcut_status gfx9_read_notes(struct gfx9_object *o, const uint8_t *notes,
                                   size_t bytes, struct fault *f);

/* --- a wave ----------------------------------------------------------------------- */

/* A register file's place that is being loaded. */
enum counter { COUNT_VM, COUNT_LGKM };

struct pending {
    enum counter counter;
    bool in_order;     /* with others of its counter          */
    bool scalar, load; /* scalar registers; sets registers    */
    uint16_t first, count;
    uint32_t offset; /* of the instruction that loads them  */
    uint32_t lds;    /* number of its access to LDS, or 0   */
};

enum { PENDING_MAX = 128, WAVE_GUARD = 4 };

/* Vector registers and accumulators of a wave, and with one that guards their end. */
enum { FILES = 2 * VGPRS, FILES_GUARDED };

/* Who has touched a dword of LDS since when: numbers of accesses of waves, counted from
   1, and barriers that were passed then. */
struct touched {
    uint32_t writer, write, write_epoch;
    uint32_t reader, read, read_epoch;  /* the latest */
    bool several;                       /* more than one wave has read it in that epoch */
    uint32_t write_offset, read_offset; /* the instructions */
};

struct group;
struct matrix_room;

struct wave {
    struct group *group;
    const struct section *section; /* that it was in last */
    uint32_t number;               /* in its group        */
    uint64_t exec, pc;
    bool scc, ended, waiting, unset_scc;
    int pendings;
    uint32_t accesses, waited; /* to LDS: issued, and those that were waited for when it
                                  last came to a barrier                                */
    uint32_t (*v)[LANES];      /* VGPRS, then AGPRS, then one that is none              */
    uint64_t (*unset)[2]; /* lanes of their low and high halves that nothing has set */
    uint64_t guard_s[WAVE_GUARD];
    uint32_t s[SGPRS];
    uint64_t guard_unset[WAVE_GUARD];
    uint64_t unset_s[2]; /* the scalar registers that nothing has set, by number */
    uint64_t guard_busy[WAVE_GUARD];
    uint64_t busy[2 * VGPRS / 64 + 2]; /* registers that are being loaded: vector, then
                                          scalar                                        */
    uint64_t guard_pending[WAVE_GUARD];
    struct pending pending[PENDING_MAX];
    uint64_t guard_end[WAVE_GUARD];
};

/* With the address sanitizer: from now on nothing may touch the guards of a wave, or
   anything may. */
void wave_guard(struct wave *w, bool on);

enum { GROUP_READABLE = 2 };

/* A work-group while it runs. */
struct group {
    const struct gfx9_launch *launch;
    const struct gfx9_object *object;
    struct wave *waves;
    int wave_count;
    uint32_t epoch;         /* barriers passed */
    uint8_t *lds, *lds_set; /* bytes, and whether something has set them */
    struct touched *touched;
    uint32_t lds_bytes;
    struct gfx9_memory readable[GROUP_READABLE]; /* arguments, packet */
    size_t latest; /* of the launch's memory, found before */
    struct matrix_room *matrix;
    double deadline; /* of seconds_now(); 0: none */
    struct gfx9_counts counts;
    bool failed;
    struct fault fault;
    size_t entry;            /* of the kernel: an address of the object      */
    uint64_t left;           /* instructions that it may still execute       */
    struct instruction none; /* that it fails at where there is no code */
};

/* End the group's run: the first reason stays.  The line begins with kernel, opcode and
   offset. */
void wave_fail(struct wave *w, const struct instruction *i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- registers -------------------------------------------------------------------- */

/* Whether nothing that loads these registers is still to come.  They exist:
   operands_exist(). */
bool vector_ready(struct wave *w, const struct instruction *i, unsigned first,
                  unsigned count);
bool scalar_ready(struct wave *w, const struct instruction *i, unsigned first,
                  unsigned count);

/* Scalar operands: registers, constants and literals; of an instruction of f16 its
   constants are f16.  A failure gives 0. */
uint32_t scalar_read(struct wave *w, const struct instruction *i, unsigned operand);
uint32_t scalar_read_half(struct wave *w, const struct instruction *i, unsigned operand);

/* Constants that are no integers. */
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

/* Whether a bit of the operand, of that many dwords, is not set; and saying so of one. */
bool scalar_unset(const struct wave *w, unsigned operand, int dwords);
void scalar_unset_write(struct wave *w, unsigned operand, int dwords, bool unset);

/* vcc */
static inline uint64_t wave_vcc(const struct wave *w)
{
    return (uint64_t)w->s[SGPR_VCC + 1] << 32 | w->s[SGPR_VCC];
}

/* Active lanes of `count` registers that something has not set, by halves. */
uint64_t vector_unset(const struct wave *w, unsigned first, unsigned count);
void vector_unset_write(struct wave *w, unsigned first, unsigned count, uint64_t lanes,
                        uint64_t low, uint64_t high);

/* Note that an instruction still loads registers, or stores. */
void wave_pend(struct wave *w, const struct instruction *i, struct pending pending);

/* Wait until at most so many are left. */
void wave_wait(struct wave *w, enum counter counter, int left);

/* --- memory ------------------------------------------------------------------------ */

/* Addresses that a kernel sees; buffers have theirs from GFX9_ADDRESS_FIRST on. */
#define ADDRESS_CODE      (1ull << 32)
#define ADDRESS_ARGUMENTS (2ull << 32)
#define ADDRESS_PACKET    (3ull << 32)

/* Where that lies which a kernel may read, or also write, at an address of its own; NULL,
   and the wave fails: outside of every buffer, or not aligned to its size, four bytes at
   most. */
void *global_at(struct wave *w, const struct instruction *i, uint64_t at, size_t bytes,
                bool write);

/* --- drivers ---------------------------------------------------------------------- */

/* 64 lanes of operands and a result, dword after dword: operand s[n][64 dword + lane]. */
struct lanes {
    uint32_t *d;
    const uint32_t *s[3];
    const uint32_t *unset[3]; /* for a shadow: bits that are not set */
    uint64_t exec, in, out;   /* a bit a lane: carries, conditions   */
};

#define FOR_LANES for (int l = 0; l < LANES; l++)

/* A scalar instruction: operands and result, zero-extended, and scc. */
struct scalars {
    uint64_t d, s[2];
    bool scc, sets_scc;
};

/* What an instruction of the vector units does beside setting its result: a row's
   `more`. */
enum {
    TAKES_CARRY = 1, /* `in` is vcc, or a scalar pair that VOP3 names third            */
    GIVES_CARRY = 2, /* `out` goes to vcc, or to a pair that VOP3 names                */
    COMPARES = 4,    /* `out` is the result: vcc, or the pair of VOP3's destination    */
    SETS_EXEC = 8,   /* that goes to exec, too                                         */
    HALVES = 16      /* VOP3 may name the high halves of operands                      */
};

/* A scalar instruction by its row's `scalars`, a vector instruction by its `lanes`. */
void act_scalar(struct wave *w, const struct instruction *i);
void act_vector(struct wave *w, const struct instruction *i);

/* Room for a matrix instruction's operands; NULL: no memory.  free() ends it. */
struct matrix_room *matrix_room_make(void);

/* Lanes to and from scalar registers; accumulators to and from others (`more`: 0 read, 1
   written, 2 both). */
void act_first_lane(struct wave *w, const struct instruction *i);
void act_read_lane(struct wave *w, const struct instruction *i);
void act_write_lane(struct wave *w, const struct instruction *i);
void act_accumulator(struct wave *w, const struct instruction *i);

#endif
