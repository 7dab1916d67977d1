/* SPDX-License-Identifier: BSD-3-Clause */
/* Output files exist completely or not at all. */
#define _XOPEN_SOURCE 700

#include "lib/io/output.h"
#include "tests/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static void text_check(const char *path, const char *want)
{
    size_t size;
    char *text = (char *)scratch_read(path, &size);
    ck_assert_str_eq(text, want);
    free(text);
}

/* The call failed for the system's reason `error`. */
static void fault_check(enum bitcut_status status, const struct fault *f, int error)
{
    ck_assert_int_eq(status, BITCUT_UNSUPPORTED);
    ck_assert_int_eq(f->status, BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f->text, strerror(error));
}

START_TEST(commit)
{
    const struct scratch s = scratch_make();
    struct output o;
    const mode_t mask = umask(027);
    ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
    umask(mask);
    fputs("new", o.file);
    ck_assert_int_eq(access(s.path, F_OK), -1); /* not yet */
    ck_assert_int_eq(output_commit(&o, NULL), BITCUT_OK);
    ck_assert(!o.file && !o.path && !o.temporary);
    output_abandon(&o); /* does nothing */
    text_check(s.path, "new");
    ck_assert_int_eq(scratch_files(&s, 0), 1);
    struct stat about;
    ck_assert_int_eq(stat(s.path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0640);
    scratch_remove(&s);
}
END_TEST

START_TEST(replace_or_abandon)
{
    const struct scratch s = scratch_make();
    struct output o;
    scratch_write(s.path, "old", 3);
    ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
    fputs("half", o.file);
    fflush(o.file);
    text_check(s.path, "old");
    ck_assert_int_eq(scratch_files(&s, 0), 2);
    output_abandon(&o);
    ck_assert(!o.file && !o.path && !o.temporary);
    text_check(s.path, "old");
    ck_assert_int_eq(scratch_files(&s, 0), 1);

    ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
    fputs("new", o.file);
    ck_assert_int_eq(output_commit(&o, NULL), BITCUT_OK);
    text_check(s.path, "new");
    ck_assert_int_eq(scratch_files(&s, 0), 1);
    scratch_remove(&s);
}
END_TEST

/* A file that is there keeps its permissions, whatever the mask, and is never open to
   more readers meanwhile. */
START_TEST(permissions_kept)
{
    static const mode_t modes[] = { 0600, 0644, 0666, 0755, 0200, 0777 };
    const struct scratch s = scratch_make();
    const mode_t mask = umask(027);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct output o;
        struct stat about;
        scratch_write(s.path, "old", 3);
        ck_assert_int_eq(chmod(s.path, modes[i]), 0);
        ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
        ck_assert_int_eq(stat(o.temporary, &about), 0);
        ck_assert_uint_eq(about.st_mode & 07777, modes[i]);
        ck_assert_int_eq(output_commit(&o, NULL), BITCUT_OK);
        ck_assert_int_eq(stat(s.path, &about), 0);
        ck_assert_uint_eq(about.st_mode & 07777, modes[i]);
        ck_assert_int_eq(remove(s.path), 0);
    }
    umask(mask);
    scratch_remove(&s);
}
END_TEST

/* A name that is taken is passed over, and its file stays as it is. */
START_TEST(taken_names)
{
    const struct scratch s = scratch_make();
    struct output first, second;
    ck_assert_int_eq(output_open(&first, s.path, NULL), BITCUT_OK);
    ck_assert_int_eq(output_open(&second, s.path, NULL), BITCUT_OK);
    ck_assert_str_ne(first.temporary, second.temporary);
    fputs("1", first.file);
    fputs("2", second.file);
    ck_assert_int_eq(output_commit(&first, NULL), BITCUT_OK);
    text_check(s.path, "1");
    ck_assert_int_eq(output_commit(&second, NULL), BITCUT_OK);
    text_check(s.path, "2");
    ck_assert_int_eq(scratch_files(&s, 0), 1);
    scratch_remove(&s);
}
END_TEST

/* Where nothing can be opened, nothing is left and *o stays as it is. */
START_TEST(no_place)
{
    const struct scratch s = scratch_make();
    struct output o = { .path = (char *)1 };
    struct fault f;
    char inside[80];
    fault_check(output_open(&o, "", &f), &f, ENOENT);
    fault_check(output_open(&o, s.folder, &f), &f, EISDIR);
    fault_check(output_open(&o, "no-such-folder/file", &f), &f, ENOENT);
    scratch_write(s.path, "old", 3);
    snprintf(inside, sizeof inside, "%s/x", s.path);
    fault_check(output_open(&o, inside, &f), &f, ENOTDIR);
    fault_check(output_check("", &f), &f, ENOENT);
    fault_check(output_check(s.folder, &f), &f, EISDIR);
    fault_check(output_check("no-such-folder/file", &f), &f, ENOENT);
    fault_check(output_check(inside, &f), &f, ENOTDIR);
    fault_check(output_check_folder(s.path, &f), &f, ENOTDIR);
    fault_check(output_check_folder(inside, &f), &f, ENOTDIR);
    fault_check(output_check_folder("", &f), &f, ENOENT);
    ck_assert(o.path == (char *)1);
    ck_assert_int_eq(scratch_files(&s, 0), 1);
    scratch_remove(&s);
}
END_TEST

/* A folder or file without write permission; the superuser tries it as somebody else. */
START_TEST(no_permission)
{
    const struct scratch s = scratch_make();
    struct output o;
    struct fault f;
    const bool super = geteuid() == 0;
    scratch_write(s.path, "old", 3);
    ck_assert_int_eq(chmod(s.path, 0444), 0);
    ck_assert_int_eq(chmod(s.folder, 0777), 0);
    ck_assert(!super || seteuid(65534) == 0);
    fault_check(output_open(&o, s.path, &f), &f, EACCES);
    fault_check(output_check(s.path, &f), &f, EACCES);
    ck_assert(!super || seteuid(0) == 0);

    ck_assert_int_eq(remove(s.path), 0);
    ck_assert_int_eq(chmod(s.folder, 0555), 0);
    ck_assert(!super || seteuid(65534) == 0);
    fault_check(output_open(&o, s.path, &f), &f, EACCES);
    fault_check(output_check(s.path, &f), &f, EACCES);
    fault_check(output_check_folder(s.folder, &f), &f, EACCES);
    fault_check(output_check_folder(s.path, &f), &f, EACCES);
    ck_assert(!super || seteuid(0) == 0);
    ck_assert_int_eq(chmod(s.folder, 0755), 0);
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    scratch_remove(&s);
}
END_TEST

/* A check leaves the folder as it is, and does not open a pipe. */
START_TEST(checked)
{
    const struct scratch s = scratch_make();
    struct fault f;
    char inside[80], deep[90];
    ck_assert_int_eq(output_check(s.path, &f), BITCUT_OK);
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    snprintf(inside, sizeof inside, "%s/x", s.folder);
    snprintf(deep, sizeof deep, "%s/y/z", inside);
    ck_assert_int_eq(output_check_folder(s.folder, &f), BITCUT_OK);
    ck_assert_int_eq(output_check_folder(inside, &f), BITCUT_OK);
    ck_assert_int_eq(output_check_folder(deep, &f), BITCUT_OK);
    ck_assert_int_eq(output_check_folder("no-such-folder", &f), BITCUT_OK);
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    scratch_write(s.path, "old", 3);
    ck_assert_int_eq(output_check(s.path, &f), BITCUT_OK);
    text_check(s.path, "old");
    ck_assert_int_eq(scratch_files(&s, 0), 1);
    ck_assert_int_eq(remove(s.path), 0);
    ck_assert_int_eq(mkfifo(s.path, 0600), 0); /* has no reader: opening would wait */
    ck_assert_int_eq(output_check(s.path, &f), BITCUT_OK);
    ck_assert_int_eq(remove(s.path), 0);
    ck_assert_int_eq(symlink("nothing", s.path), 0);
    fault_check(output_check_folder(s.path, &f), &f, ENOENT);
    scratch_remove(&s);
}
END_TEST

/* A write that fails, whether early or only when the buffer is flushed, leaves the old
   file and nothing else. */
START_TEST(disk_full)
{
    static const size_t sizes[] = { 100, 100000 };
    const struct scratch s = scratch_make();
    scratch_write(s.path, "old", 3);
    for (int i = 0; i < 2; i++) {
        struct output o;
        struct fault f;
        ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
        scratch_limit(64);
        for (size_t k = 0; k < sizes[i]; k++) putc('x', o.file);
        const enum bitcut_status status = output_commit(&o, &f);
        scratch_limit(RLIM_INFINITY);
        fault_check(status, &f, EFBIG);
        ck_assert(!o.file && !o.path && !o.temporary);
        text_check(s.path, "old");
        ck_assert_int_eq(scratch_files(&s, 0), 1);
    }
    scratch_remove(&s);
}
END_TEST

/* An error whose reason is gone by the time of the commit is still an error. */
START_TEST(early_error)
{
    const struct scratch s = scratch_make();
    struct output o;
    struct fault f;
    ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
    setvbuf(o.file, NULL, _IONBF, 0);
    scratch_limit(2);
    fputs("abcd", o.file);
    scratch_limit(RLIM_INFINITY);
    errno = 0;
    fault_check(output_commit(&o, &f), &f, EIO);
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    scratch_remove(&s);
}
END_TEST

/* One whose reason is there still is told by it, whatever was written after. */
START_TEST(early_reason)
{
    const struct scratch s = scratch_make();
    struct output o;
    struct fault f;
    static const char block[100000];
    ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
    scratch_limit(5000);
    ck_assert_uint_lt(fwrite(block, 1, sizeof block, o.file), sizeof block);
    errno = 0;
    const enum bitcut_status status = output_commit(&o, &f);
    scratch_limit(RLIM_INFINITY);
    fault_check(status, &f, EFBIG);
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    scratch_remove(&s);
}
END_TEST

START_TEST(rename_fails)
{
    const struct scratch s = scratch_make();
    struct output o;
    struct fault f;
    ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
    fputs("new", o.file);
    ck_assert_int_eq(mkdir(s.path, 0755), 0);
    fault_check(output_commit(&o, &f), &f, EISDIR);
    ck_assert_int_eq(scratch_files(&s, 0), 1); /* the folder */
    scratch_remove(&s);
}
END_TEST

/* A pipe is written, not replaced. */
START_TEST(pipes)
{
    const struct scratch s = scratch_make();
    struct output o;
    struct stat about;
    char got[4] = "";
    ck_assert_int_eq(mkfifo(s.path, 0600), 0);
    const int reader = open(s.path, O_RDONLY | O_NONBLOCK);
    for (int keep = 0; keep < 2; keep++) {
        ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
        ck_assert_int_eq(scratch_files(&s, 0), 1);
        fputs("ab", o.file);
        if (keep) ck_assert_int_eq(output_commit(&o, NULL), BITCUT_OK);
        else output_abandon(&o);
        ck_assert(stat(s.path, &about) == 0 && S_ISFIFO(about.st_mode));
        ck_assert_int_eq(read(reader, got, sizeof got), 2);
        ck_assert_str_eq(got, "ab");
    }
    close(reader);
    scratch_remove(&s);
}
END_TEST

/* A full device.  Without the superuser's rights, so that no mistake can replace it. */
START_TEST(full_device)
{
    struct output o;
    struct fault f;
    struct stat about;
    if (access("/dev/full", W_OK)) return;
    ck_assert(geteuid() != 0 || seteuid(65534) == 0);
    ck_assert_int_eq(output_open(&o, "/dev/full", NULL), BITCUT_OK);
    fputs("x", o.file);
    fault_check(output_commit(&o, &f), &f, ENOSPC);
    ck_assert(stat("/dev/full", &about) == 0 && S_ISCHR(about.st_mode));
    ck_assert(getuid() != 0 || seteuid(0) == 0);
}
END_TEST

/* A symbolic link stays; the file it leads to is replaced, in its own folder. */
START_TEST(symbolic_link)
{
    const struct scratch s = scratch_make(), elsewhere = scratch_make();
    char target[96];
    struct output o;
    struct stat about;
    snprintf(target, sizeof target, "../%s", elsewhere.path);
    scratch_write(elsewhere.path, "old", 3);
    ck_assert_int_eq(symlink(target, s.path), 0);
    ck_assert_int_eq(output_open(&o, s.path, NULL), BITCUT_OK);
    ck_assert_int_eq(scratch_files(&elsewhere, 0), 2);
    fputs("new", o.file);
    ck_assert_int_eq(output_commit(&o, NULL), BITCUT_OK);
    ck_assert(lstat(s.path, &about) == 0 && S_ISLNK(about.st_mode));
    text_check(elsewhere.path, "new");
    scratch_remove(&s);
    scratch_remove(&elsewhere);
}
END_TEST

/* Paths are compared as what they lead to. */
START_TEST(names)
{
    const struct scratch s = scratch_make();
    char hard[80], soft[80], other[80], around[80], dangling[80];
    snprintf(hard, sizeof hard, "%s/hard", s.folder);
    snprintf(soft, sizeof soft, "%s/soft", s.folder);
    snprintf(other, sizeof other, "%s/other", s.folder);
    snprintf(dangling, sizeof dangling, "%s/dangling", s.folder);
    snprintf(around, sizeof around, "./%s/../%s/file", s.folder, s.folder);
    ck_assert(output_same(s.path, s.path) && output_same(s.path, around));
    ck_assert(!output_same(s.path, other) && !output_same(s.path, "file"));
    ck_assert(output_same("file", "./file") && !output_same("file", "nowhere/file"));
    ck_assert(!output_same("nowhere/file", "no-where/file"));

    scratch_write(s.path, "x", 1);
    ck_assert(output_same(s.path, around) && !output_same(s.path, other));
    ck_assert_int_eq(link(s.path, hard), 0);
    ck_assert_int_eq(symlink("file", soft), 0);
    ck_assert_int_eq(symlink("nothing", dangling), 0);
    ck_assert(output_same(s.path, hard) && output_same(soft, hard));
    ck_assert(!output_same(s.path, dangling) && output_same(dangling, dangling));
    scratch_write(other, "x", 1);
    ck_assert(!output_same(s.path, other));
    ck_assert(output_same(s.folder, ".") == 0 && output_same(".", "./."));
    scratch_remove(&s);
}
END_TEST

/* Of the files being written nothing is left; others stay, whatever their name. */
START_TEST(sweep)
{
    const struct scratch s = scratch_make();
    struct output first, second;
    struct fault f;
    char other[128];
    snprintf(other, sizeof other, "%s.%ld.0.tmp", s.path, (long)getpid() + 1);
    scratch_write(s.path, "old", 3);
    scratch_write(other, "other", 5);
    FILE *reader = fopen(s.path, "r"), *stranger = fopen(other, "r");
    ck_assert(reader && stranger);
    ck_assert_int_eq(output_open(&first, s.path, NULL), BITCUT_OK);
    ck_assert_int_eq(output_open(&second, s.path, NULL), BITCUT_OK);
    ck_assert_int_eq(scratch_files(&s, 0), 4);
    output_sweep();
    ck_assert_int_eq(scratch_files(&s, 0), 2);
    text_check(s.path, "old");
    text_check(other, "other");
    fault_check(output_commit(&first, &f), &f, ENOENT);
    output_abandon(&second);
    text_check(s.path, "old");
    fclose(reader);
    fclose(stranger);
    scratch_remove(&s);
}
END_TEST

/* One has the lock of a file at a time, by whatever name; a file of nobody's lock is taken
   over; and nothing stays. */
START_TEST(lock)
{
    const struct scratch s = scratch_make();
    struct output_lock first, second;
    struct fault f;
    char other[80], file[80];
    snprintf(other, sizeof other, "%s/./file", s.folder);
    snprintf(file, sizeof file, "%s.lock", s.path);
    scratch_write(file, "", 0);
    for (int there = 0; there < 2; there++) {
        if (there) scratch_write(s.path, "old", 3);
        ck_assert_int_eq(output_lock(&first, s.path, &f), BITCUT_OK);
        ck_assert_int_eq(access(file, F_OK), 0);
        if (there) {
            ck_assert_int_eq(output_lock(&second, other, &f), BITCUT_UNSUPPORTED);
            ck_assert_str_eq(f.text, "another process is writing this file");
        }
        ck_assert_int_eq(output_lock(&second, s.path, &f), BITCUT_UNSUPPORTED);
        output_unlock(&first);
        output_unlock(&first); /* does nothing */
        ck_assert_int_eq(scratch_files(&s, 0), there);
        ck_assert_int_eq(output_lock(&second, s.path, &f), BITCUT_OK);
        if (there) output_sweep();
        output_unlock(&second);
        ck_assert_int_eq(scratch_files(&s, 0), there);
    }
    ck_assert_int_eq(output_lock(&first, "/dev/null", &f), BITCUT_OK);
    ck_assert_int_eq(output_lock(&second, "/dev/null", &f), BITCUT_OK);
    output_unlock(&first);
    output_unlock(&second);
    fault_check(output_lock(&first, "no-such-folder/file", &f), &f, ENOENT);
    scratch_remove(&s);
}
END_TEST

TEST_MAIN("output", commit, replace_or_abandon, permissions_kept, taken_names, no_place,
          no_permission, checked, disk_full, early_error, early_reason, rename_fails,
          pipes, full_device, symbolic_link, names, sweep, lock)
