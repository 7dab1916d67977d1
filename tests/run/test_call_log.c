/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs of processes: read back unchanged, whatever happened to the process or the file;
   and added up. */
#define _DEFAULT_SOURCE

#include "analysis/run/folder.h"
#include "tests/scratch.h"
#include "tests/test.h"

#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The only call_log in the folder. */
static void find_ledger(char path[512], const char *name)
{
    DIR *const files = opendir(name);
    int found = 0;
    for (struct dirent *file; (file = readdir(files));)
        if (strstr(file->d_name, call_log_ending)) {
            snprintf(path, 512, "%s/%s", name, file->d_name);
            found++;
        }
    closedir(files);
    ck_assert_int_eq(found, 1);
}

/* Write one site down, as if `n` were what was seen. */
static void write_place(struct call_log *l, const char *where, unsigned n)
{
    struct call_log_site *const p = call_log_new_site(l);
    ck_assert(p && !*p->routine && !p->gemms);
    strcpy(p->routine, "sgemm_");
    snprintf(p->where, sizeof p->where, "%s", where);
    snprintf(p->native, sizeof p->native, "%s", where);
    strcpy(p->configuration, "fp32@fma/f32");
    p->ended[CALL_TAKEN] = n;
    p->ended[CALL_FAILED] = 1;
    snprintf(p->fault, sizeof p->fault, "fault %u", n);
    p->gemms = 2 * n;
    for (int i = 0; i < 3; i++)
        p->least[i] = n - (unsigned)i, p->most[i] = n + (unsigned)i;
    p->products = 1e6 * n;
    p->seconds = 0.5;
    p->own_seconds = 0.25;
    p->difference =
        (struct call_log_difference){ 10, n, 1, n, { 4 * n, 2 * n }, n, 3 * n };
    p->values[0].count[n] = 4;
    p->values[1].zeros = n;
    l->sites++;
}

START_TEST(written_and_read)
{
    const struct scratch at = scratch_make();
    struct call_log *const l = call_log_open(at.folder, NULL), *back;
    struct fault f;
    char path[512];
    ck_assert(l && l->process == getpid() && strstr(l->program, "test_call_log"));
    ck_assert(l->sites == 0 && !l->ended && !*l->fault);
    write_place(l, "somewhere", 7);
    find_ledger(path, at.folder);
    ck_assert_int_eq(call_log_read(&back, path, &f), BITCUT_OK); /* it still goes on */
    ck_assert(!memcmp(back->site, l->site, sizeof l->site[0]) && back->sites == 1);
    call_log_close(back);
    call_log_close(l);
    ck_assert_int_eq(call_log_read(&back, path, &f), BITCUT_OK);
    ck_assert_str_eq(back->site[0].where, "somewhere");
    /* What is read is a copy. */
    back->sites = 0;
    call_log_close(back);
    ck_assert_int_eq(call_log_read(&back, path, &f), BITCUT_OK);
    ck_assert_uint_eq(back->sites, 1);
    call_log_close(back);
    scratch_remove(&at);
}
END_TEST

START_TEST(all_places)
{
    const struct scratch at = scratch_make();
    struct call_log *const l = call_log_open(at.folder, NULL);
    struct run_total t;
    struct fault f;
    for (unsigned i = 0; i < CALL_LOG_SITES_MAX; i++) {
        char where[32];
        snprintf(where, sizeof where, "site %u", i);
        write_place(l, where, 1 + i % 250);
    }
    ck_assert_ptr_eq(call_log_new_site(l), NULL);
    l->lost = 3;
    for (int i = 0; i < CALL_LOG_ROUTINES_MAX; i++) {
        snprintf(l->routine[i].name, ROUTINE_MAX_BYTES, "r%d", i);
        l->routine[i].calls = 2;
    }
    call_log_close(l);
    ck_assert_int_eq(run_total_read(&t, at.folder, &f), BITCUT_OK);
    ck_assert_uint_eq(t.sites, CALL_LOG_SITES_MAX);
    ck_assert(t.lost == 3 && t.counted == 2 * CALL_LOG_ROUTINES_MAX);
    run_total_clear(&t);
    scratch_remove(&at);
}
END_TEST

/* A child of fork() has another file; one that is killed keeps what it wrote. */
START_TEST(processes)
{
    const struct scratch at = scratch_make();
    struct run_total t;
    struct fault f;
    write_place(call_log_open(at.folder, NULL), "here", 5);
    for (int child = 0; child < 3; child++) {
        const pid_t process = fork();
        int status;
        if (!process) {
            struct call_log *const l = call_log_open(at.folder, NULL);
            write_place(l, child ? "here" : "there", 9);
            strcpy(l->libraries, child ? "liba.so, libb.so" : "libb.so, libc.so");
            l->ended = child == 2;
            strcpy(l->routine[0].name, child ? "dgemm_" : "sgemv_");
            strcpy(l->routine[1].name, child ? "sgemv_" : "dgemm_");
            l->routine[0].calls = 10;
            l->routine[1].calls = 1;
            kill(getpid(), SIGKILL);
        }
        ck_assert_int_eq(waitpid(process, &status, 0), process);
    }
    ck_assert_int_eq(run_total_read(&t, at.folder, &f), BITCUT_OK);
    ck_assert(t.processes == 4 && t.ended == 1 && t.sites == 2);
    ck_assert(t.sum->ended[CALL_TAKEN] == 5 + 3 * 9 && t.sum->ended[CALL_FAILED] == 4);
    ck_assert(t.sum->seconds == 2 && t.sum->own_seconds == 1 && t.counted == 33);
    const struct call_log_site *const p = t.site[0]; /* the one with more products */
    ck_assert_str_eq(p->where, "here");
    ck_assert(p->ended[CALL_TAKEN] == 23 && p->gemms == 46 && p->products == 23e6);
    ck_assert(p->least[0] == 5 && p->least[2] == 3 && p->most[0] == 9 &&
              p->most[2] == 11);
    ck_assert(p->difference.outputs == 30 && p->difference.differ == 23 &&
              p->difference.not_finite == 3 && p->difference.square == 23 &&
              p->difference.norm[0] == 92 && p->difference.norm[1] == 46 &&
              p->difference.most == 9 && p->difference.largest == 27);
    ck_assert(p->values[0].count[5] == 4 && p->values[0].count[9] == 8 &&
              p->values[1].zeros == 23);
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(t.routine[i].calls,
                          strcmp(t.routine[i].name, "dgemm_") ? 12 : 21);
    ck_assert(strstr(t.libraries, "liba.so") && strstr(t.libraries, "libb.so") &&
              strstr(t.libraries, "libc.so") && strlen(t.libraries) == 25);
    run_total_clear(&t);
    scratch_remove(&at);
}
END_TEST

/* --- damage ------------------------------------------------------------------------- */

static void check_damaged(const char *folder, const char *path, const void *bytes,
                          size_t size)
{
    struct call_log *l = NULL;
    struct run_total t = { .sites = 77 };
    struct fault f = { .text = "" };
    scratch_write(path, bytes, size);
    ck_assert_int_eq(call_log_read(&l, path, &f), BITCUT_BAD_FILE);
    ck_assert_msg(strstr(f.text, "this version of bitcut run") && !l, "%s", f.text);
    ck_assert_int_eq(run_total_read(&t, folder, &f), BITCUT_BAD_FILE);
    ck_assert_msg(strstr(f.text, ".ledger: not written") && t.sites == 77, "%s", f.text);
}

START_TEST(damaged)
{
    const struct scratch at = scratch_make();
    struct call_log *const l = call_log_open(at.folder, NULL), *back;
    struct fault f;
    char path[512];
    size_t size;
    write_place(l, "here", 5);
    find_ledger(path, at.folder);
    unsigned char *const bytes = scratch_read(path, &size);
    ck_assert_uint_eq(size, sizeof *l);
    check_damaged(at.folder, path, bytes, size - 1);
    check_damaged(at.folder, path, bytes, 5);
    bytes[0] ^= 1;
    check_damaged(at.folder, path, bytes, size);
    bytes[0] ^= 1;
    bytes[offsetof(struct call_log, bytes)] ^= 1; /* of another version */
    check_damaged(at.folder, path, bytes, size);
    bytes[offsetof(struct call_log, bytes)] ^= 1;

    /* Texts without an end, and more sites than there are, stay within it. */
    memset(bytes + offsetof(struct call_log, program), 'x', PLACE_MAX_BYTES);
    memset(bytes + offsetof(struct call_log, sites), 0xff, sizeof(uint32_t));
    memset(bytes + offsetof(struct call_log, routine), 'x', sizeof l->routine);
    memset(bytes + offsetof(struct call_log, site), 'x', sizeof l->site);
    scratch_write(path, bytes, size);
    ck_assert_int_eq(call_log_read(&back, path, &f), BITCUT_OK);
    ck_assert_uint_eq(back->sites, CALL_LOG_SITES_MAX);
    ck_assert_uint_eq(strlen(back->program), PLACE_MAX_BYTES - 1);
    const struct call_log_site *const last = &back->site[CALL_LOG_SITES_MAX - 1];
    ck_assert(strlen(last->routine) == ROUTINE_MAX_BYTES - 1 &&
              strlen(last->where) == PLACE_MAX_BYTES - 1 &&
              strlen(last->native) == PLACE_MAX_BYTES - 1 &&
              strlen(last->configuration) == CONFIGURATION_LINE_MAX - 1 &&
              strlen(last->fault) == BITCUT_TEXT_MAX - 1 &&
              strlen(back->routine[CALL_LOG_ROUTINES_MAX - 1].name) ==
                  ROUTINE_MAX_BYTES - 1);
    call_log_close(back);
    free(bytes);
    call_log_close(l);
    scratch_remove(&at);
}
END_TEST

/* A call_log of whatever bytes behind a right head is added up without a crash. */
START_TEST(any_bytes)
{
    const struct scratch at = scratch_make();
    struct call_log *const l = call_log_open(at.folder, NULL);
    char path[512];
    size_t size;
    uint64_t rng = test_seed();
    find_ledger(path, at.folder);
    unsigned char *const bytes = scratch_read(path, &size);
    call_log_close(l);
    for (int tries = 0; tries < test_cases(8, 200); tries++) {
        struct run_total t;
        const size_t head = offsetof(struct call_log, process);
        for (size_t i = head; i < size; i++)
            bytes[i] = (unsigned char)(i % 97 ? test_bits(&rng) & test_bits(&rng) : 0);
        scratch_write(path, bytes, size);
        ck_assert_int_eq(run_total_read(&t, at.folder, NULL), BITCUT_OK);
        run_total_clear(&t);
    }
    free(bytes);
    scratch_remove(&at);
}
END_TEST

/* --- where nothing can be written ----------------------------------------------------
 */

START_TEST(no_folder)
{
    struct run_total t;
    struct fault f;
    char name[5000];
    ck_assert_ptr_eq(call_log_open("/nowhere/at/all", &f), NULL);
    ck_assert_str_eq(f.text, "No such file or directory");
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ck_assert_ptr_eq(call_log_open(name, &f), NULL);
    ck_assert_str_eq(f.text, "File name too long");
    ck_assert_int_eq(run_total_read(&t, "/nowhere/at/all", &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, "No such file or directory");
}
END_TEST

/* Where files may not be as large, there is none; the process is not ended for it. */
START_TEST(small_files)
{
    const struct scratch at = scratch_make();
    const pid_t process = fork();
    int status;
    if (!process) {
        struct rlimit limit = { 4096, 4096 };
        setrlimit(RLIMIT_FSIZE, &limit);
        struct fault f;
        _exit(call_log_open(at.folder, &f) || strcmp(f.text, "File too large") != 0);
    }
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x",
                  (unsigned)status);
    ck_assert_int_eq(scratch_files(&at, 0), 0);
    scratch_remove(&at);
}
END_TEST

/* Texts of anybody's file end, and may be printed. */
START_TEST(hostile)
{
    const struct scratch at = scratch_make();
    struct call_log *const l = call_log_open(at.folder, NULL);
    struct run_total t;
    struct fault f;
    write_place(l, "a\x1b[1m\xff\xe2\x80\xae", 1);
    memset(l->site[0].native, 'n', PLACE_MAX_BYTES);
    memset(l->device, 0x9b, sizeof l->device);
    strcpy(l->device_fault, "one\ntwo");
    strcpy(l->libraries, "lib\x07");
    strcpy(l->fault, "\x7f");
    strcpy(l->routine[0].name, "r\x08");
    call_log_close(l);
    ck_assert_int_eq(run_total_read(&t, at.folder, &f), BITCUT_OK);
    ck_assert_uint_eq(t.sites, 1);
    ck_assert_str_eq(t.site[0]->where, "a?[1m??");
    ck_assert_uint_eq(strlen(t.site[0]->native), PLACE_MAX_BYTES - 1);
    ck_assert_uint_eq(strspn(t.device, "?"), sizeof t.device - 1);
    ck_assert_str_eq(t.device_fault, "one?two");
    ck_assert_str_eq(t.libraries, "lib?");
    ck_assert_str_eq(t.fault, "?");
    ck_assert_str_eq(t.routine[0].name, "r?");
    run_total_clear(&t);
    scratch_remove(&at);
}
END_TEST

/* A pipe that nobody writes to is not waited for. */
START_TEST(pipes)
{
    const struct scratch at = scratch_make();
    struct run_total t;
    struct fault f;
    char path[512];
    snprintf(path, sizeof path, "%s/x%s", at.folder, call_log_ending);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(run_total_read(&t, at.folder, &f), BITCUT_UNSUPPORTED);
    ck_assert(strstr(f.text, "not a regular file"));
    unlink(path);
    scratch_remove(&at);
}
END_TEST

/* Other files of the folder are left alone; those in it go with it. */
START_TEST(folders)
{
    const struct scratch at = scratch_make();
    struct run_total t;
    struct fault f;
    scratch_write(at.path, "text", 4);
    ck_assert_int_eq(run_total_read(&t, at.folder, &f), BITCUT_OK);
    ck_assert(t.processes == 0 && t.sites == 0 && !*t.libraries);
    run_total_clear(&t);
    call_log_close(call_log_open(at.folder, NULL));
    run_folder_remove(at.folder);
    ck_assert_int_ne(access(at.folder, F_OK), 0);
    run_folder_remove(at.folder); /* is not there: nothing happens */
}
END_TEST

TEST_MAIN("ledger", written_and_read, all_places, processes, damaged, any_bytes, hostile,
          pipes, no_folder, small_files, folders)
