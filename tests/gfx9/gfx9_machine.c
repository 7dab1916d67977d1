/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_machine.h"

#include <stdio.h>
#include <string.h>

/* --- operands --------------------------------------------------------------------- */

/* Constants from 240 on: 1/2, 1, 2 and 4 with both signs, 1 / (2 pi). */
static const uint32_t singles[] = { 0x3f000000, 0xbf000000, 0x3f800000,
                                    0xbf800000, 0x40000000, 0xc0000000,
                                    0x40800000, 0xc0800000, 0x3e22f983 };
static const uint32_t halves[] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                   0xc000, 0x4400, 0xc400, 0x3118 };

static uint32_t scalar(const struct machine *x, unsigned o)
{
    if (o == SGPR_EXEC) return (uint32_t)x->exec;
    return o == SGPR_EXEC + 1 ? (uint32_t)(x->exec >> 32) : x->s[o];
}

static void set_scalar(struct machine *x, unsigned o, uint32_t to)
{
    const int shift = o == SGPR_EXEC + 1 ? 32 : 0;
    if (o == SGPR_EXEC || o == SGPR_EXEC + 1)
        x->exec = (x->exec & ~(0xffffffffull << shift)) | (uint64_t)to << shift;
    else x->s[o] = to;
}

static uint64_t pair(const struct machine *x, unsigned o)
{
    return (uint64_t)scalar(x, o + 1) << 32 | scalar(x, o);
}

static void set_pair(struct machine *x, unsigned o, uint64_t to)
{
    set_scalar(x, o, (uint32_t)to);
    set_scalar(x, o + 1, (uint32_t)(to >> 32));
}

uint64_t machine_operand(const struct machine *x, const struct fields *f, int n,
                         char letter, int lane)
{
    const unsigned o = f->s[n];
    const uint64_t width = letter == 'q' ? UINT64_MAX : UINT32_MAX;
    if (o >= 512) return 0; /* none */
    if (o >= 256 && letter == 'q')
        return (uint64_t)x->v[o - 255][lane] << 32 | x->v[o - 256][lane];
    if (o >= 256) return x->v[o - 256][lane];
    if (o == LITERAL_OPERAND)
        return letter == 'q' ? (uint64_t)(int32_t)f->literal : f->literal;
    if (o >= 240 && o <= 248) return letter == 'h' ? halves[o - 240] : singles[o - 240];
    if (o >= 193 && o <= 208) return (uint64_t)(192 - (int64_t)o) & width;
    if (o >= 128 && o <= 192) return o - 128;
    return letter == 'q' ? pair(x, o) : scalar(x, o);
}

static uint32_t part(uint32_t x, unsigned select, bool is_signed)
{
    static const struct {
        unsigned low, bits;
    } parts[] = { { 0, 8 }, { 8, 8 }, { 16, 8 }, { 24, 8 }, { 0, 16 }, { 16, 16 } };
    if (select > 5) return x;
    const unsigned bits = parts[select].bits;
    const uint32_t d = x >> parts[select].low & ((1u << bits) - 1);
    return is_signed && d >> (bits - 1) ? d - (1u << bits) : d;
}

/* With part, sign and magnitude, and no more bits than the letter says. */
static uint64_t modified(const struct fields *f, int n, char letter, uint64_t value)
{
    const uint32_t sign = letter == 'h' ? 0x8000 : 0x80000000;
    if (letter == 'q') return value;
    uint32_t x = (uint32_t)value;
    if (f->shape == IN_PARTS && n < 2) x = part(x, f->select[n], f->signs[n]);
    if (f->shape == IN_TWO && f->high >> n & 1) x >>= 16;
    if (letter == 'h' || letter == 'w') x &= 0xffff;
    if (letter == 'h' || letter == 'f') {
        if (f->magnitudes >> n & 1) x &= ~sign;
        if (f->negated >> n & 1) x ^= sign;
    }
    return x;
}

/* --- arithmetic ------------------------------------------------------------------- */

static void set_result(struct machine *x, const struct fields *f, char letter, int lane,
                       uint64_t d)
{
    static const uint32_t masks[] = { 0xff,   0xff00,     0xff0000,  0xff000000,
                                      0xffff, 0xffff0000, 0xffffffff };
    uint32_t *to = &x->v[f->d - 256][lane];
    const uint32_t value = letter == 'h' || letter == 'w' ? d & 0xffff : (uint32_t)d;
    if (letter == 'q') x->v[f->d - 255][lane] = (uint32_t)(d >> 32);
    if (f->shape == IN_TWO && f->high >> 3 & 1) {
        *to = (*to & 0xffff) | value << 16;
        return;
    }
    if (f->shape != IN_PARTS || f->to == 6) {
        *to = value;
        return;
    }
    const uint32_t mask = masks[f->to], one = mask & (~mask + 1);
    const uint32_t placed = value * one & mask, top = mask & ~(mask >> 1);
    uint32_t rest = f->rest == 2 ? *to & ~mask : 0;
    if (f->rest == 1 && placed & top)
        for (uint32_t bit = top << 1; bit; bit <<= 1) rest |= bit;
    *to = placed | rest;
}

/* Operand letters in the order of a statement: those of fmamk have the literal second. */
static void take_operands(struct step *s, const struct machine *x, const char *name,
                          const struct fields *f, const char *letters, int lane)
{
    for (int n = 0; letters[n] && letters[n] != 'c'; n++)
        s->s[n] =
            letters[n] == 'k' ? (uint32_t)(int16_t)f->k
            : letters[n] == 'u'
                ? (uint16_t)f->k
                : modified(f, n, letters[n], machine_operand(x, f, n, letters[n], lane));
    if (!strncmp(name, "v_fmamk", 7)) {
        const uint64_t literal = s->s[2];
        s->s[2] = s->s[1], s->s[1] = literal;
    }
}

/* SOPK has one operand that is a register, the result's; s[] of it is that. */
static void do_scalar(struct machine *x, const char *name, const struct fields *f,
                      const struct statement *row)
{
    const char *equals = strchr(row->form, '=');
    struct step s = { .in = x->scc, .out = x->scc };
    take_operands(&s, x, name, f, equals + 1, 0);
    row->does(&s);
    if (row->form[0] == 'q') set_pair(x, f->d, s.d);
    if (row->form[0] == 'd') set_scalar(x, f->d, (uint32_t)s.d);
    x->scc = s.out;
}

static void do_vector(struct machine *x, const struct machine *was, const char *name,
                      const struct fields *f, const char *form,
                      void (*does)(struct step *))
{
    const char *letters = strchr(form, '=') + 1;
    const bool compares = form[0] == 'c', gives = compares || form[1] == 'c';
    const unsigned from = f->shape == IN_TWO ? f->s[2] : SGPR_VCC;
    const unsigned to = compares ? f->d : f->shape == IN_TWO ? f->carry : SGPR_VCC;
    uint64_t mask = 0;
    for (int l = 0; l < LANES; l++) {
        struct step s = { .lane = (unsigned)l };
        if (!(was->exec >> l & 1)) continue;
        if (strchr(letters, 'c')) s.in = pair(was, from) >> l & 1;
        take_operands(&s, was, name, f, letters, l);
        if (does) does(&s);
        else s.out = statement_condition(name, s.s[0], s.s[1]);
        mask |= (uint64_t)s.out << l;
        if (!compares && form[0] != '=') set_result(x, f, form[0], l, s.d);
    }
    if (gives) set_pair(x, to, mask);
    if (!strncmp(name, "v_cmpx", 6)) x->exec = mask;
}

/* --- packed ------------------------------------------------------------------------ */

static uint32_t combine(const char *name, bool wide, const uint32_t s[3])
{
    if (strstr(name, "fma"))
        return wide ? statement_fma32(s[0], s[1], s[2])
                    : statement_fma16(s[0], s[1], s[2]);
    if (strstr(name, "mul"))
        return wide ? statement_multiply32(s[0], s[1]) : statement_multiply16(s[0], s[1]);
    return wide ? statement_add32(s[0], s[1]) : statement_add16(s[0], s[1]);
}

/* Two halves, or two dwords. */
static void do_halves(struct machine *x, const struct machine *was, const char *name,
                      const struct fields *f, bool wide)
{
    const uint32_t sign = wide ? 0x80000000 : 0x8000, mask = wide ? UINT32_MAX : 0xffff;
    for (int l = 0; l < LANES; l++) {
        uint32_t d[2];
        if (!(was->exec >> l & 1)) continue;
        for (int h = 0; h < 2; h++) {
            uint32_t s[3];
            for (int n = 0; n < 3; n++) {
                const uint64_t o = machine_operand(was, f, n, wide ? 'q' : 'h', l);
                const bool high = (h ? f->high_high : f->high) >> n & 1;
                const bool minus = (h ? f->negated_high : f->negated) >> n & 1;
                s[n] = (uint32_t)(high ? o >> (wide ? 32 : 16) : o) & mask;
                if (minus) s[n] ^= sign;
            }
            d[h] = combine(name, wide, s);
        }
        uint32_t *to = &x->v[f->d - 256][l];
        if (wide) to[0] = d[0], to[LANES] = d[1];
        else *to = d[0] | d[1] << 16;
    }
}

static void do_move(struct machine *x, const struct machine *was, const struct fields *f)
{
    for (int l = 0; l < LANES; l++)
        for (unsigned n = 0; n < 2; n++)
            if (was->exec >> l & 1)
                x->v[f->d - 256 + n][l] =
                    (uint32_t)(machine_operand(was, f, (int)n, 'q', l) >>
                               (f->high >> n & 1 ? 32 : 0));
}

/* f32 operands, or f16 ones in either half; here the sign of the high half takes
   magnitudes. */
static void do_mixed(struct machine *x, const struct machine *was, const char *name,
                     const struct fields *f)
{
    for (int l = 0; l < LANES; l++) {
        uint32_t s[3];
        if (!(was->exec >> l & 1)) continue;
        for (int n = 0; n < 3; n++) {
            const bool narrow = f->high_high >> n & 1;
            s[n] = (uint32_t)machine_operand(was, f, n, narrow ? 'h' : 'f', l);
            if (narrow)
                s[n] = statement_widen((f->high >> n & 1 ? s[n] >> 16 : s[n]) & 0xffff);
            if (f->negated_high >> n & 1) s[n] &= 0x7fffffff;
            if (f->negated >> n & 1) s[n] ^= 0x80000000;
        }
        uint32_t *to = &x->v[f->d - 256][l];
        const uint32_t d = statement_fma32(s[0], s[1], s[2]);
        if (strstr(name, "mixlo")) *to = (*to & 0xffff0000) | statement_narrow(d);
        else if (strstr(name, "mixhi")) *to = (*to & 0xffff) | statement_narrow(d) << 16;
        else *to = d;
    }
}

/* --- memory ------------------------------------------------------------------------ */

bool access_read(struct access *to, const char *name)
{
    static const struct {
        const char *name;
        uint32_t bytes;
        bool is_signed;
    } sizes[] = {
        { "_dwordx16", 64, 0 }, { "_dwordx8", 32, 0 }, { "_dwordx4", 16, 0 },
        { "_dwordx3", 12, 0 },  { "_dwordx2", 8, 0 },  { "_dword", 4, 0 },
        { "_ubyte", 1, 0 },     { "_sbyte", 1, 1 },    { "_byte", 1, 0 },
        { "_ushort", 2, 0 },    { "_sshort", 2, 1 },   { "_short", 2, 0 },
        { "_b128", 16, 0 },     { "_b96", 12, 0 },     { "_b64", 8, 0 },
        { "_b32", 4, 0 },       { "_b16", 2, 0 },      { "_u16", 2, 0 },
        { "_i16", 2, 1 },       { "_b8", 1, 0 },       { "_u8", 1, 0 },
        { "_i8", 1, 1 },
    };
    const bool loads = strstr(name, "load") || strstr(name, "_read");
    if (!loads && !strstr(name, "store") && !strstr(name, "_write")) return false;
    *to = (struct access){ .reads = loads,
                           .twice = strstr(name, "ds_read2") || strstr(name, "ds_write2"),
                           .apart64 = strstr(name, "st64"),
                           .half = strstr(name, "_d16"),
                           .high = strstr(name, "_d16_hi"),
                           .flat = !strncmp(name, "flat", 4),
                           .scalar = !strncmp(name, "s_", 2) };
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        if (strstr(name, sizes[n].name)) {
            to->bytes = sizes[n].bytes;
            to->is_signed = sizes[n].is_signed;
            return true;
        }
    return false;
}

static void read_lane(struct machine *x, const struct access *a, unsigned to, int lane,
                      const uint8_t *from)
{
    for (uint32_t dword = 0; dword < (a->bytes + 3) / 4; dword++) {
        uint32_t d = 0;
        for (uint32_t b = 0; b < 4 && 4 * dword + b < a->bytes; b++)
            d += (uint32_t)from[4 * dword + b] << 8 * b;
        if (a->is_signed && from[a->bytes - 1] >> 7) d -= 1u << 8 * a->bytes;
        uint32_t *register_ = &x->v[to + dword][lane];
        if (a->half && a->high) *register_ = (*register_ & 0xffff) | d << 16;
        else if (a->half) *register_ = (*register_ & 0xffff0000) | (d & 0xffff);
        else *register_ = d;
    }
}

static void write_lane(const struct machine *x, const struct access *a, unsigned from,
                       int lane, uint8_t *to)
{
    for (uint32_t b = 0; b < a->bytes; b++)
        to[b] = (uint8_t)(x->v[from + b / 4][lane] >> (8 * (b % 4) + (a->high ? 16 : 0)));
}

/* Where in LDS, or in memory, a lane's n-th access is. */
static uint64_t place(const struct machine *x, const struct access *a,
                      const struct fields *f, bool lds, int n, int lane)
{
    const uint32_t unit = a->bytes * (a->apart64 ? 64 : 1);
    const uint32_t low = x->v[f->address][lane];
    if (lds)
        return low + (a->twice ? f->offset[n] * unit : f->offset[1] << 8 | f->offset[0]);
    const int64_t offset = a->flat ? (int64_t)(f->offset[0] & 0xfff)
                                   : (int64_t)((f->offset[0] & 0x1fff) ^ 0x1000) - 0x1000;
    const bool vector = a->flat || f->base == 127;
    return (vector ? (uint64_t)x->v[f->address + 1][lane] << 32 | low
                   : pair(x, f->base) + low) +
           (uint64_t)offset;
}

static void do_access(struct machine *x, const struct machine *was,
                      const struct access *a, const struct fields *f, uint64_t memory)
{
    const bool lds = f->encoding == DS;
    const unsigned more = f->accumulators ? VGPRS : 0;
    for (int n = 0; n < (a->twice ? 2 : 1); n++)
        for (int l = 0; l < LANES; l++) {
            if (!(was->exec >> l & 1)) continue;
            const uint64_t at = place(was, a, f, lds, n, l);
            uint8_t *bytes = lds ? x->lds + at : x->memory + (at - memory);
            const unsigned to = f->d + more + (unsigned)n * ((a->bytes + 3) / 4);
            if (a->reads) read_lane(x, a, to, l, bytes);
            else write_lane(was, a, f->data[n] + more, l, bytes);
        }
}

static void do_load_scalars(struct machine *x, const struct access *a,
                            const struct fields *f, uint64_t memory)
{
    const int64_t offset = (int64_t)((f->offset[0] & 0x1fffff) ^ 0x100000) - 0x100000;
    uint64_t at = pair(x, f->address);
    if (f->has_offset) at += (uint64_t)offset;
    if (f->has_base) at += scalar(x, f->base);
    else if (!f->has_offset) at += scalar(x, f->offset[0]);
    memcpy(&x->s[f->d], x->memory + (at - memory), a->bytes);
}

/* Lanes send to each other, or fetch. */
static void do_permute(struct machine *x, const struct machine *was,
                       const struct fields *f, bool fetches)
{
    for (int l = 0; l < LANES; l++)
        if (was->exec >> l & 1) x->v[f->d][l] = 0;
    for (int l = 0; l < LANES; l++) {
        const uint32_t other = (was->v[f->address][l] + f->offset[0]) / 4 % LANES;
        if (!(was->exec >> l & 1) || !(was->exec >> other & 1)) continue;
        if (fetches) x->v[f->d][l] = was->v[f->data[0]][other];
        else x->v[f->d][other] = was->v[f->data[0]][l];
    }
}

/* --- control ----------------------------------------------------------------------- */

static bool branches(bool *taken, const struct machine *x, const char *name)
{
    const uint64_t vcc = pair(x, SGPR_VCC);
    const struct {
        const char *name;
        bool taken;
    } rows[] = {
        { "s_branch", true },
        { "s_cbranch_scc0", !x->scc },
        { "s_cbranch_scc1", x->scc },
        { "s_cbranch_vccz", !vcc },
        { "s_cbranch_vccnz", vcc },
        { "s_cbranch_execz", !x->exec },
        { "s_cbranch_execnz", x->exec },
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        if (!strcmp(rows[n].name, name)) {
            *taken = rows[n].taken;
            return true;
        }
    return false;
}

static bool do_saveexec(struct machine *x, const char *name, const struct fields *f)
{
    const uint64_t s = machine_operand(x, f, 0, 'q', 0), was = x->exec;
    if (!strcmp(name, "s_and_saveexec_b64")) x->exec = s & was;
    else if (!strcmp(name, "s_or_saveexec_b64")) x->exec = s | was;
    else if (!strcmp(name, "s_xor_saveexec_b64")) x->exec = s ^ was;
    else if (!strcmp(name, "s_andn2_saveexec_b64")) x->exec = s & ~was;
    else if (!strcmp(name, "s_orn2_saveexec_b64")) x->exec = s | ~was;
    else if (!strcmp(name, "s_andn1_saveexec_b64")) x->exec = ~s & was;
    else return false;
    set_pair(x, f->d, was);
    x->scc = x->exec != 0;
    return true;
}

/* Between lanes and scalar registers, or accumulators. */
static bool do_lanes(struct machine *x, const char *name, const struct fields *f)
{
    if (!strcmp(name, "v_readfirstlane_b32")) {
        int lane = 0;
        while (lane < LANES && !(x->exec >> lane & 1)) lane++;
        set_scalar(x, f->d & 255,
                   (uint32_t)machine_operand(x, f, 0, 'd', lane == LANES ? 0 : lane));
    } else if (!strcmp(name, "v_readlane_b32")) {
        const int lane = (int)(machine_operand(x, f, 1, 'd', 0) & 63);
        set_scalar(x, f->d, (uint32_t)machine_operand(x, f, 0, 'd', lane));
    } else if (!strcmp(name, "v_writelane_b32")) {
        const uint32_t lane = machine_operand(x, f, 1, 'd', 0) & 63;
        x->v[f->d - 256][lane] = (uint32_t)machine_operand(x, f, 0, 'd', 0);
    } else if (!strncmp(name, "v_accvgpr_", 10)) {
        const unsigned to = f->d - 256 + (strstr(name, "read") ? 0 : VGPRS);
        const bool vector = f->s[0] >= 256;
        for (int l = 0; l < LANES; l++) {
            const uint32_t from =
                vector ? x->v[f->s[0] - 256 + (strstr(name, "write") ? 0 : VGPRS)][l]
                       : (uint32_t)machine_operand(x, f, 0, 'd', l);
            if (x->exec >> l & 1) x->v[to][l] = from;
        }
    } else return false;
    return true;
}

static bool do_control(struct machine *x, const char *name, const struct fields *f,
                       uint64_t image)
{
    static const char *const nothing[] = {
        "s_nop",        "s_waitcnt",      "s_sleep",           "s_setprio",
        "s_icache_inv", "s_dcache_inv",   "buffer_wbl2",       "buffer_invl2",
        "buffer_inv",   "buffer_wbinvl1", "buffer_wbinvl1_vol"
    };
    bool taken;
    for (size_t n = 0; n < sizeof nothing / sizeof *nothing; n++)
        if (!strcmp(nothing[n], name)) return true;
    if (branches(&taken, x, name)) {
        if (taken) x->pc += (uint64_t)(4 * (int64_t)(int16_t)f->k);
    } else if (!strcmp(name, "s_getpc_b64")) set_pair(x, f->d, image + x->pc);
    else if (!strcmp(name, "s_endpgm")) x->ended = true;
    else if (!strcmp(name, "s_barrier")) x->waiting = true;
    else return false;
    return true;
}

/* --- all --------------------------------------------------------------------------- */

bool machine_step(struct machine *x, const char *name, const struct fields *f,
                  uint64_t image, uint64_t memory)
{
    static struct machine was; /* what operands are read from */
    const struct statement *row = statement_find(name);
    struct access a;
    char form[8];
    was = *x;
    if (row && name[0] == 's') do_scalar(x, name, f, row);
    else if (row) do_vector(x, &was, name, f, row->form, row->does);
    else if (statement_compares(form, name)) do_vector(x, &was, name, f, form, NULL);
    else if (!strncmp(name, "v_pk_mov", 8)) do_move(x, &was, f);
    else if (!strncmp(name, "v_pk_", 5)) do_halves(x, &was, name, f, strstr(name, "f32"));
    else if (!strncmp(name, "v_fma_mix", 9)) do_mixed(x, &was, name, f);
    else if (strstr(name, "permute")) do_permute(x, &was, f, strstr(name, "bpermute"));
    else if (do_lanes(x, name, f) || do_saveexec(x, name, f) ||
             do_control(x, name, f, image))
        return true;
    else if (!access_read(&a, name)) return false;
    else if (a.scalar) do_load_scalars(x, &a, f, memory);
    else do_access(x, &was, &a, f, memory);
    return true;
}
