/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the reader of logs: the bytes replace the head of a log and its
   call sites; all texts that are returned must be terminated and safe to print. clang
   -fsanitize=fuzzer,address,undefined. */
#define _GNU_SOURCE /* memfd_create() */

#include "analysis/run/call_log.h"
#include "lib/base/text.h"
#include "tests/fuzz.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void text_check(const char *text, size_t size)
{
    must(memchr(text, 0, size) != NULL);
    for (uint32_t code; *text;) {
        int n;
        must(text_code(&code, &n, text));
        text += n;
    }
}

#define CHECK(text) text_check(text, sizeof(text))

static void call_log_check(const struct call_log *l)
{
    CHECK(l->program), CHECK(l->fault), CHECK(l->libraries);
    CHECK(l->device), CHECK(l->device_fault);
    must(l->sites <= CALL_LOG_SITES_MAX);
    for (int i = 0; i < CALL_LOG_ROUTINES_MAX; i++) CHECK(l->routine[i].name);
    for (uint32_t i = 0; i < l->sites; i++) {
        const struct call_log_site *const p = &l->site[i];
        CHECK(p->routine), CHECK(p->where), CHECK(p->native), CHECK(p->configuration);
        CHECK(p->against), CHECK(p->fault);
        must(p->excerpts <= CALL_LOG_EXCERPTS_MAX);
        for (uint32_t n = 0; n < p->excerpts; n++) CHECK(p->excerpt[n].name);
    }
}

/* A file of the size of a call_log: its magic and size, and the bytes in pieces, each
   after two bytes that say how far on it lies from the last. */
static int call_log_file(const uint8_t *bytes, size_t size)
{
    static const char magic[8] = "bitcut1";
    const uint64_t whole = sizeof(struct call_log);
    enum { PIECE = 32 };
    const int file = memfd_create("ledger", MFD_CLOEXEC);
    off_t at = offsetof(struct call_log, process);
    must(file >= 0 && ftruncate(file, (off_t)whole) == 0);
    must(pwrite(file, magic, sizeof magic, 0) == sizeof magic);
    must(pwrite(file, &whole, sizeof whole, offsetof(struct call_log, bytes)) == 8);
    while (size > 2) {
        const size_t length = size - 2 < PIECE ? size - 2 : PIECE;
        at += bytes[0] + 256 * (bytes[1] & 31);
        if ((uint64_t)at + length > whole) break;
        must(pwrite(file, bytes + 2, length, at) == (ssize_t)length);
        at += (off_t)length;
        bytes += length + 2;
        size -= length + 2;
    }
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct call_log *l;
    struct fault f;
    char path[64];
    const int file = call_log_file(bytes, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    must(call_log_read(&l, path, &f) == BITCUT_OK);
    call_log_check(l);
    call_log_close(l);
    close(file);
    return 0;
}
