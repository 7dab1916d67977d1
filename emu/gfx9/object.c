/* SPDX-License-Identifier: BSD-3-Clause */
/* Code objects: ELF files, from which the loaded segments, the kernels' descriptors and
   the note of their arguments are read ("User Guide for AMDGPU Backend", ELF code
   object). */
#include "emu/gfx9/wave.h"

#include "lib/base/size.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_AMDGPU = 224, NOTE_METADATA = 32 };

const struct gfx9_target gfx9_targets[] = {
    /* clang-format off */
    { "gfx908", "MI100",        "cdna1", 0x30, TARGET_GFX908, false, true,  false },
    { "gfx90a", "MI210, MI250", "cdna2", 0x3f, TARGET_GFX90A, true,  false, true  },
    { "gfx942", "MI300",        "cdna3", 0x4c, TARGET_GFX942, true,  false, true  },
    { 0 }
    /* clang-format on */
};

/* --- the file --------------------------------------------------------------------- */

/* An ELF file in memory.  Its structures are copied out, so they need no alignment. */
struct file {
    const uint8_t *at;
    size_t bytes;
    Elf64_Ehdr header;
};

static bool has(const struct file *x, uint64_t offset, uint64_t bytes)
{
    return offset <= x->bytes && bytes <= x->bytes - offset;
}

static bool open_file(struct file *x, const void *at, size_t bytes)
{
    *x = (struct file){ .at = at, .bytes = bytes };
    if (bytes < sizeof x->header) return false;
    memcpy(&x->header, at, sizeof x->header);
    return !memcmp(x->header.e_ident, ELFMAG, SELFMAG) &&
           x->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           x->header.e_ident[EI_DATA] == ELFDATA2LSB &&
           (!x->header.e_phnum || x->header.e_phentsize == sizeof(Elf64_Phdr)) &&
           (!x->header.e_shnum || x->header.e_shentsize == sizeof(Elf64_Shdr)) &&
           has(x, x->header.e_phoff, (uint64_t)x->header.e_phnum * sizeof(Elf64_Phdr)) &&
           has(x, x->header.e_shoff, (uint64_t)x->header.e_shnum * sizeof(Elf64_Shdr));
}

static Elf64_Phdr segment_of(const struct file *x, int n)
{
    Elf64_Phdr segment;
    memcpy(&segment, x->at + x->header.e_phoff + (size_t)n * sizeof segment,
           sizeof segment);
    return segment;
}

static Elf64_Shdr section_of(const struct file *x, int n)
{
    Elf64_Shdr section;
    memcpy(&section, x->at + x->header.e_shoff + (size_t)n * sizeof section,
           sizeof section);
    return section;
}

static const struct gfx9_target *target_of(const struct file *x)
{
    const unsigned machine = x->header.e_flags & 0xff; /* EF_AMDGPU_MACH */
    const struct gfx9_target *row = gfx9_targets;
    if (x->header.e_machine != MACHINE_AMDGPU) return NULL;
    while (row->name && row->machine != machine) row++;
    return row->name ? row : NULL;
}

const struct gfx9_target *gfx9_target_peek(const void *file, size_t bytes)
{
    struct file x;
    return open_file(&x, file, bytes) ? target_of(&x) : NULL;
}

/* --- what must be apart ----------------------------------------------------------- */

/* Start and size of a part; `number` is the number of a segment or section. */
struct range {
    uint64_t first, bytes;
    int number;
};

static int by_first(const void *x, const void *y)
{
    const struct range *a = x, *b = y;
    return (a->first > b->first) - (a->first < b->first);
}

/* Sort the ranges.  Returns whether no two of them have a byte in common. */
static bool are_apart(struct range *range, size_t count)
{
    qsort(range, count, sizeof *range, by_first);
    for (size_t n = 1; n < count; n++)
        if (range[n].first - range[n - 1].first < range[n - 1].bytes) return false;
    return true;
}

/* Selects the parts of a file to read, and returns their range. */
typedef bool pick_part(struct range *to, const struct file *x, int n);

static bool pick_loaded(struct range *to, const struct file *x, int n)
{
    const Elf64_Phdr s = segment_of(x, n);
    *to = (struct range){ s.p_vaddr, s.p_memsz, n };
    return s.p_type == PT_LOAD && s.p_memsz;
}

static bool pick_loaded_bytes(struct range *to, const struct file *x, int n)
{
    const Elf64_Phdr s = segment_of(x, n);
    *to = (struct range){ s.p_offset, s.p_filesz, n };
    return s.p_type == PT_LOAD && s.p_filesz;
}

static bool pick_note(struct range *to, const struct file *x, int n)
{
    const Elf64_Phdr s = segment_of(x, n);
    *to = (struct range){ s.p_offset, s.p_filesz, n };
    return s.p_type == PT_NOTE && s.p_filesz;
}

static bool pick_section(struct range *to, const struct file *x, int n)
{
    const Elf64_Shdr s = section_of(x, n);
    *to = (struct range){ s.sh_offset, s.sh_size, n };
    return s.sh_type != SHT_NULL && s.sh_type != SHT_NOBITS && s.sh_size;
}

static bool pick_code(struct range *to, const struct file *x, int n)
{
    const Elf64_Shdr s = section_of(x, n);
    *to = (struct range){ s.sh_addr, s.sh_size, n };
    return s.sh_type == SHT_PROGBITS && s.sh_flags & SHF_EXECINSTR && s.sh_size;
}

/* List these parts of a file, ascending.  The caller frees the list.  All must lie inside
   of `end` bytes, and must not overlap. */
static enum bitcut_status list_apart(struct range **to, size_t *count,
                                     const struct file *x, int most, pick_part *pick,
                                     uint64_t end, const char *what, struct fault *f)
{
    struct range *range = memory_allocate((size_t)most + 1, sizeof *range);
    if (!range) return fault_set(f, BITCUT_UNSUPPORTED, "not enough memory");
    *count = 0;
    bool inside = true;
    for (int n = 0; n < most; n++) {
        struct range *r = &range[*count];
        if (!pick(r, x, n)) continue;
        inside &= r->first <= end && r->bytes <= end - r->first;
        ++*count;
    }
    *to = range;
    if (inside && are_apart(range, *count)) return BITCUT_OK;
    free(range);
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     inside ? "%s overlap" : "%s lie outside the file", what);
}

static enum bitcut_status check_apart(const struct file *x, int most, pick_part *pick,
                                      const char *what, struct fault *f)
{
    struct range *range;
    size_t count;
    const enum bitcut_status status =
        list_apart(&range, &count, x, most, pick, x->bytes, what, f);
    if (status == BITCUT_OK) free(range);
    return status;
}

/* Check sizes, so that the following steps take time and memory proportional to the
   file. */
static enum bitcut_status check_file(const struct file *x, struct fault *f)
{
    const int segments = x->header.e_phnum, sections = x->header.e_shnum;
    enum bitcut_status status =
        check_apart(x, segments, pick_loaded_bytes, "segments", f);
    if (status == BITCUT_OK) status = check_apart(x, segments, pick_note, "notes", f);
    if (status == BITCUT_OK)
        status = check_apart(x, sections, pick_section, "sections", f);
    return status;
}

/* --- segments --------------------------------------------------------------------- */

enum { ADDRESSES_END = 1 << 28 };

static enum bitcut_status load_segments(struct gfx9_object *o, const struct file *x,
                                        struct fault *f)
{
    struct range *range;
    size_t kept = 0;
    const enum bitcut_status status =
        list_apart(&range, &o->segment_count, x, x->header.e_phnum, pick_loaded,
                   ADDRESSES_END, "segments", f);
    if (status != BITCUT_OK) return status;
    o->segments = memory_allocate(o->segment_count + 1, sizeof *o->segments);
    o->image = calloc(x->bytes + (o->segment_count + 1) * PADDING, 1);
    bool good = true;
    for (size_t n = 0; o->segments && o->image && n < o->segment_count; n++) {
        const Elf64_Phdr s = segment_of(x, range[n].number);
        good = good && s.p_filesz <= s.p_memsz;
        if (!good) break;
        /* Loads may read a little more than they need. */
        const uint64_t bytes = (s.p_memsz + PADDING - 1) / PADDING * PADDING;
        o->segments[n] =
            (struct segment){ s.p_vaddr, bytes, o->image + kept, s.p_filesz };
        if (s.p_filesz) memcpy(o->image + kept, x->at + s.p_offset, s.p_filesz);
        kept += s.p_filesz + PADDING;
    }
    free(range);
    if (!good) return fault_set(f, BITCUT_BAD_ARGUMENT, "a segment is malformed");
    return o->segments && o->image
               ? BITCUT_OK
               : fault_set(f, BITCUT_UNSUPPORTED, "not enough memory");
}

/* --- code ------------------------------------------------------------------------- */

/* Whether a section lies in the stored bytes of one segment. */
static bool is_stored(const struct gfx9_object *o, const struct range *r)
{
    const struct segment *s = gfx9_segment_before(o, r->first);
    if (!s || r->first % 4) return false;
    const uint64_t at = r->first - s->address;
    return at <= s->stored && r->bytes <= s->stored - at;
}

static enum bitcut_status list_sections(struct gfx9_object *o, const struct file *x,
                                        struct fault *f)
{
    struct range *range;
    size_t dwords = 0, count;
    const enum bitcut_status status = list_apart(&range, &count, x, x->header.e_shnum,
                                                 pick_code, ADDRESSES_END, "sections", f);
    if (status != BITCUT_OK) return status;
    bool good = true;
    o->sections = memory_allocate(count + 1, sizeof *o->sections);
    for (size_t n = 0; o->sections && n < count; n++) {
        o->sections[n] = (struct section){ range[n].first, range[n].bytes / 4 * 4, NULL };
        good = good && is_stored(o, &range[n]);
        dwords += range[n].bytes / 4;
    }
    o->section_count = o->sections ? count : 0;
    free(range);
    if (!good)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a code section has no bytes in the file");
    o->at = memory_allocate(dwords + 1, sizeof *o->at);
    o->code = memory_allocate(dwords + 1, sizeof *o->code);
    if (!o->sections || !o->at || !o->code)
        return fault_set(f, BITCUT_UNSUPPORTED, "not enough memory");
    for (size_t n = 0; n < dwords; n++) o->at[n] = UINT32_MAX;
    return BITCUT_OK;
}

static enum bitcut_status decode_code(struct gfx9_object *o, const struct file *x,
                                      struct fault *f)
{
    const enum bitcut_status status = list_sections(o, x, f);
    if (status != BITCUT_OK) return status;
    uint32_t *at = o->at;
    for (size_t n = 0; n < o->section_count; n++) {
        struct section *s = &o->sections[n];
        s->at = at;
        for (uint64_t offset = 0; offset < s->bytes;) {
            struct instruction *i = &o->code[o->code_count];
            gfx9_decode(i, o, s->address + offset);
            s->at[offset / 4] = (uint32_t)o->code_count++;
            offset += i->bytes;
        }
        at += s->bytes / 4;
    }
    return BITCUT_OK;
}

/* --- kernels ---------------------------------------------------------------------- */

enum { DESCRIPTOR_BYTES = 64, NAME_LENGTH_MAX = 1 << 14 };

static int by_name(const void *x, const void *y)
{
    const struct gfx9_kernel *const *a = x, *const *b = y;
    return strcmp((*a)->name, (*b)->name);
}

/* Find a kernel by a name of `length` bytes, among kernels sorted by name. */
static struct gfx9_kernel *kernel_of(struct gfx9_kernel *const *kernel, size_t count,
                                     const char *name, size_t length)
{
    for (size_t low = 0, high = count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const char *its = kernel[middle]->name;
        int order = strncmp(name, its, length);
        if (!order && its[length]) order = -1;
        if (!order) return kernel[middle];
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

/* The name of a symbol without the suffix of descriptors, and its length; false: it is
   not a descriptor. */
static bool take_name(const char **name, size_t *length, const struct file *x,
                      const Elf64_Shdr *names, const Elf64_Sym *symbol)
{
    static const char ending[] = ".kd";
    if (symbol->st_name >= names->sh_size) return false;
    const size_t room = smaller(names->sh_size - symbol->st_name, NAME_LENGTH_MAX);
    *name = (const char *)x->at + names->sh_offset + symbol->st_name;
    const char *const end = memchr(*name, 0, room);
    if (!end || (size_t)(end - *name) < sizeof ending - 1) return false;
    *length = (size_t)(end - *name) - (sizeof ending - 1);
    return !memcmp(*name + *length, ending, sizeof ending - 1);
}

/* Set the descriptors that the symbols of a table name; the first symbol of a kernel is
   used. */
static void read_symbols(struct gfx9_kernel *const *kernel, size_t count,
                         const struct file *x, const Elf64_Shdr *s)
{
    if (s->sh_type != SHT_DYNSYM && s->sh_type != SHT_SYMTAB) return;
    if (s->sh_link >= x->header.e_shnum) return;
    const Elf64_Shdr names = section_of(x, (int)s->sh_link);
    if (names.sh_type != SHT_STRTAB) return;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s->sh_size; at += sizeof(Elf64_Sym)) {
        const char *name;
        size_t length;
        Elf64_Sym symbol;
        memcpy(&symbol, x->at + s->sh_offset + at, sizeof symbol);
        if (!take_name(&name, &length, x, &names, &symbol)) continue;
        struct gfx9_kernel *k = kernel_of(kernel, count, name, length);
        if (k && k->descriptor == NO_DESCRIPTOR) k->descriptor = symbol.st_value;
    }
}

/* Find the descriptor of every kernel; `kernel` has room for pointers to all. */
static enum bitcut_status find_descriptors(struct gfx9_kernel **kernel,
                                           struct gfx9_object *o, const struct file *x,
                                           struct fault *f)
{
    const size_t count = o->kernel_count;
    for (size_t n = 0; n < count; n++) kernel[n] = &o->kernels[n];
    qsort(kernel, count, sizeof *kernel, by_name);
    for (size_t n = 1; n < count; n++)
        if (!by_name(&kernel[n - 1], &kernel[n]))
            return fault_set(f, BITCUT_BAD_ARGUMENT, "two kernels have the name %.100s",
                             kernel[n]->name);
    for (int n = 0; n < x->header.e_shnum; n++) {
        const Elf64_Shdr s = section_of(x, n);
        read_symbols(kernel, count, x, &s);
    }
    for (size_t n = 0; n < count; n++)
        if (!gfx9_bytes_at(o, o->kernels[n].descriptor, DESCRIPTOR_BYTES, true))
            return fault_set(f, BITCUT_BAD_ARGUMENT, "kernel %.100s has no descriptor",
                             o->kernels[n].name);
    return BITCUT_OK;
}

static enum bitcut_status find_kernels(struct gfx9_object *o, const struct file *x,
                                       struct fault *f)
{
    struct gfx9_kernel **sorted = memory_allocate(o->kernel_count, sizeof *sorted);
    if (!sorted) return fault_set(f, BITCUT_UNSUPPORTED, "not enough memory");
    const enum bitcut_status status = find_descriptors(sorted, o, x, f);
    free(sorted);
    return status;
}

static enum bitcut_status read_note(struct gfx9_object *o, const struct file *x,
                                    struct fault *f)
{
    for (int n = 0; n < x->header.e_phnum; n++) {
        const Elf64_Phdr s = segment_of(x, n);
        Elf64_Nhdr note;
        if (s.p_type != PT_NOTE) continue;
        for (uint64_t at = 0; at + sizeof note <= s.p_filesz;) {
            memcpy(&note, x->at + s.p_offset + at, sizeof note);
            const uint64_t text = at + sizeof note + (note.n_namesz + 3ull) / 4 * 4;
            const uint64_t end = text + (note.n_descsz + 3ull) / 4 * 4;
            if (end > s.p_filesz) break;
            if (note.n_type == NOTE_METADATA)
                return gfx9_read_notes(o, x->at + s.p_offset + text, note.n_descsz, f);
            at = end;
        }
    }
    return fault_set(f, BITCUT_BAD_ARGUMENT, "missing note that lists the kernels");
}

/* --- the whole -------------------------------------------------------------------- */

static enum bitcut_status load(struct gfx9_object *o, const struct file *x,
                               struct fault *f)
{
    enum bitcut_status status = check_file(x, f);
    if (status == BITCUT_OK) status = load_segments(o, x, f);
    if (status == BITCUT_OK) status = read_note(o, x, f);
    if (status == BITCUT_OK) status = find_kernels(o, x, f);
    gfx9_find_units(o);
    if (status == BITCUT_OK) status = decode_code(o, x, f);
    return status;
}

enum bitcut_status gfx9_load(struct gfx9_object **to, const void *file, size_t bytes,
                             struct fault *f)
{
    struct file x;
    if (!open_file(&x, file, bytes))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "not a 64-bit ELF file, or malformed");
    const struct gfx9_target *target = target_of(&x);
    if (!target)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "unsupported processor; expected gfx908, gfx90a or gfx942");
    struct gfx9_object *o = calloc(1, sizeof *o);
    if (!o) return fault_set(f, BITCUT_UNSUPPORTED, "not enough memory");
    o->target = target;
    const enum bitcut_status status = load(o, &x, f);
    if (status == BITCUT_OK) *to = o;
    else gfx9_unload(o);
    return status;
}

void gfx9_unload(struct gfx9_object *o)
{
    if (!o) return;
    free(o->at);
    free(o->code);
    free(o->sections);
    free(o->kernels);
    free(o->arguments);
    free(o->names);
    free(o->segments);
    free(o->image);
    free(o);
}

const struct gfx9_target *gfx9_target_of(const struct gfx9_object *o)
{
    return o->target;
}

const struct gfx9_kernel *gfx9_kernel_next(const struct gfx9_object *o,
                                           const struct gfx9_kernel *at)
{
    const struct gfx9_kernel *next = at ? at + 1 : o->kernels;
    return next < o->kernels + o->kernel_count ? next : NULL;
}

const struct gfx9_kernel *gfx9_kernel_find(const struct gfx9_object *o, const char *name)
{
    const struct gfx9_kernel *at = NULL;
    while ((at = gfx9_kernel_next(o, at)))
        if (!strcmp(at->name, name)) break;
    return at;
}

void gfx9_list(const struct gfx9_object *o,
               bool (*each)(void *with, size_t at, const char *mnemonic), void *with)
{
    for (size_t n = 0; n < o->code_count; n++) {
        const struct instruction *i = &o->code[n];
        if (!each(with, i->offset, i->opcode ? i->opcode->name : NULL)) return;
    }
}
