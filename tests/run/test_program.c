/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs: found like a shell finds them, refused where the loader preloads no library,
   searched for functions, and run until they end. */
#define _GNU_SOURCE

#include "analysis/run/program.h"
#include "tests/scratch.h"
#include "tests/test.h"

#include <elf.h>
#include <errno.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

static struct scratch at;

static const char *in_folder(const char *name)
{
    static char path[4][128];
    static int next;
    char *const text = path[next++ % 4];
    snprintf(text, sizeof path[0], "%s/%s", at.folder, name);
    return text;
}

static void make_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
    scratch_write(in_folder(name), bytes, size);
    ck_assert_int_eq(chmod(in_folder(name), mode), 0);
}

static void make_script(const char *name, const char *text)
{
    make_file(name, text, strlen(text), 0755);
}

/* --- finding ------------------------------------------------------------------------ */

static void finds(int status, const char *name, const char *found)
{
    char path[PROGRAM_PATH_MAX] = "";
    struct fault f = { .text = "" };
    ck_assert_msg(program_find(path, name, &f) == status, "%s: not %d: %s, %s", name,
                  status, path, f.text);
    if (status) ck_assert_msg(strstr(f.text, found) != NULL, "%s: %s", name, f.text);
    else ck_assert_str_eq(path, found);
}

START_TEST(found)
{
    char list[512], here[256];
    at = scratch_make();
    ck_assert_int_eq(mkdir(in_folder("a"), 0755), 0);
    ck_assert_int_eq(mkdir(in_folder("b"), 0755), 0);
    ck_assert_int_eq(mkdir(in_folder("a/folder"), 0755), 0);
    make_file("a/tool", "", 0, 0644);
    make_file("b/tool", "", 0, 0755);
    make_file("a/text", "", 0, 0644);
    make_script("here", "");
    snprintf(list, sizeof list, "/nowhere:%s:%s", in_folder("a"), in_folder("b"));
    setenv("PATH", list, 1);
    finds(0, "tool", in_folder("b/tool"));
    finds(PROGRAM_CANNOT_RUN, "text", "text: Permission denied");
    finds(PROGRAM_CANNOT_RUN, "folder", "folder: ");
    finds(PROGRAM_NOT_FOUND, "none", "none: No such file or directory");
    finds(PROGRAM_NOT_FOUND, "", "No such file or directory");
    finds(0, in_folder("b/tool"), in_folder("b/tool"));
    finds(PROGRAM_CANNOT_RUN, in_folder("a/tool"), "Permission denied");
    finds(PROGRAM_CANNOT_RUN, in_folder("a"), "Is a directory");
    finds(PROGRAM_NOT_FOUND, in_folder("c"), "No such file");
    finds(PROGRAM_NOT_FOUND, in_folder("here/x"), "Not a directory");
    setenv("PATH", "", 1); /* the current folder, as an empty part of it is */
    ck_assert(getcwd(here, sizeof here) && chdir(at.folder) == 0);
    finds(0, "here", "here");
    setenv("PATH", "/nowhere:", 1);
    finds(0, "here", "here");
    setenv("PATH", "/nowhere::/no", 1);
    finds(0, "here", "here");
    ck_assert_int_eq(chdir(here), 0);
    unsetenv("PATH");
    finds(0, "sh", "/usr/bin/sh");
    char name[PROGRAM_PATH_MAX + 10];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    finds(PROGRAM_NOT_FOUND, name, "xxx: No such file");
    name[0] = '/';
    finds(PROGRAM_CANNOT_RUN, name, "xxx: File name too long");
    for (const char *const *made = (const char *const[]){ "a/tool", "b/tool", "a/text",
                                                          "here", "a/folder", NULL };
         *made; made++)
        remove(in_folder(*made));
    scratch_remove(&at);
}
END_TEST

/* --- what the loader takes -----------------------------------------------------------
 */

static void check_says(const char *program, const char *why)
{
    struct fault f = { .text = "" };
    const int status = program_check(program, "/proc/self/exe", &f);
    ck_assert_msg(status == (why ? PROGRAM_OWN_FAILURE : 0), "%s: %d %s", program, status,
                  f.text);
    if (why) ck_assert_msg(strstr(f.text, why) != NULL, "%s: %s", program, f.text);
}

static Elf64_Ehdr elf_head(void)
{
    Elf64_Ehdr head;
    FILE *const own = fopen("/proc/self/exe", "rb");
    ck_assert(own && fread(&head, sizeof head, 1, own) == 1);
    fclose(own);
    head.e_phnum = head.e_shnum = 0;
    head.e_phoff = head.e_shoff = 0;
    return head;
}

/* Whether files here can give rights to programs. */
static bool rights_are_given(const char *path)
{
    struct statvfs system;
    return getuid() == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 &&
           statvfs(path, &system) == 0 && !(system.f_flag & ST_NOSUID) &&
           chown(path, 12345, 12345) == 0;
}

START_TEST(checked)
{
    at = scratch_make();
    check_says("/proc/self/exe", NULL);
    check_says("/bin/sh", NULL);
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr part;
    } file = { .head = elf_head() };
    make_file("x", &file, sizeof file, 0755);
    check_says(in_folder("x"), "linked statically");
    file.head.e_phoff = offsetof(__typeof__(file), part);
    file.head.e_phnum = 1;
    file.part.p_type = PT_INTERP;
    make_file("x", &file, sizeof file, 0755);
    check_says(in_folder("x"), NULL);
    make_file("x", &file, sizeof file - 1, 0755); /* cut: the part is not there */
    check_says(in_folder("x"), "linked statically");
    make_file("x", &file, 10, 0755);
    check_says(in_folder("x"), "another machine or word size");
    file.head.e_machine ^= 1;
    make_file("x", &file, sizeof file, 0755);
    check_says(in_folder("x"), "another machine or word size");
    file.head.e_machine ^= 1;
    file.head.e_ident[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64;
    make_file("x", &file, sizeof file, 0755);
    check_says(in_folder("x"), "another machine or word size");

    /* What interprets a script is what counts, and is named. */
    char line[256];
    snprintf(line, sizeof line, "#! \t%s -x\n", in_folder("x"));
    make_script("script", line);
    check_says(in_folder("script"), in_folder("x"));
    snprintf(line, sizeof line, "#!%s\n", in_folder("script"));
    make_script("twice", line);
    check_says(in_folder("twice"), "/x: unsupported: the program is built for another machine");
    make_script("plain", "echo\n");
    check_says(in_folder("plain"), NULL);
    make_script("none", "#!/nowhere/at/all\n");
    check_says(in_folder("none"), NULL);
    make_script("circle", "");
    snprintf(line, sizeof line, "#!%s\n", in_folder("circle"));
    make_script("circle", line);
    check_says(in_folder("circle"), NULL);
    make_script("empty", "");
    check_says(in_folder("empty"), NULL);

    make_script("rights", "#!/bin/sh\n");
    if (rights_are_given(in_folder("rights"))) {
        ck_assert_int_eq(chmod(in_folder("rights"), 0755), 0);
        check_says(in_folder("rights"), NULL);
        ck_assert_int_eq(chmod(in_folder("rights"), 04755), 0);
        check_says(in_folder("rights"), "setuid, setgid or has capabilities");
        ck_assert_int_eq(chmod(in_folder("rights"), 02755), 0);
        check_says(in_folder("rights"), "setuid, setgid or has capabilities");
        ck_assert_int_eq(chmod(in_folder("rights"), 02745), 0); /* locks, not rights */
        check_says(in_folder("rights"), NULL);
    }
    ck_assert_int_eq(chown(in_folder("rights"), getuid(), getgid()), 0); /* no gain */
    ck_assert_int_eq(chmod(in_folder("rights"), 06755), 0);
    check_says(in_folder("rights"), NULL);
    scratch_remove(&at);
}
END_TEST

/* --- functions -----------------------------------------------------------------------
 */

__attribute__((visibility("default"), noinline)) void bitcut_test_program_function(void);
void bitcut_test_program_function(void) {}

extern int bitcut_test_program_data;
int bitcut_test_program_data = 1;

START_TEST(functions)
{
    static const char *const names[] = { "bitcut_test_none",
                                         "bitcut_test_program_function", NULL };
    static const char *const none[] = { "bitcut_test_none", "chdir",
                                        "bitcut_test_program_data", NULL };
    bitcut_test_program_function();
    ck_assert_str_eq(program_has("/proc/self/exe", names), names[1]);
    ck_assert_ptr_eq(program_has("/proc/self/exe", none), NULL); /* called, or data */
    ck_assert_ptr_eq(program_has("/nowhere", names), NULL);
    ck_assert_ptr_eq(program_has("/proc/self/environ", names), NULL);

    /* However the file is damaged, there is an answer. */
    uint64_t rng = test_seed();
    size_t size;
    at = scratch_make();
    unsigned char *const whole = scratch_read("/proc/self/exe", &size);
    unsigned char *const bytes = malloc(size);
    Elf64_Ehdr head;
    memcpy(&head, whole, sizeof head);
    for (int tries = 0; tries < test_cases(40, 2000); tries++) {
        memcpy(bytes, whole, size);
        const size_t table = (size_t)head.e_shoff;
        const size_t room = tries & 1 ? sizeof head - 16 : size - table;
        unsigned char *const from = bytes + (tries & 1 ? 16 : table);
        for (int i = 0; i < 6; i++)
            from[test_bits(&rng) % room] = (unsigned char)test_bits(&rng);
        scratch_write(at.path, bytes, tries % 5 ? size : test_bits(&rng) % size);
        const char *const got = program_has(at.path, names);
        ck_assert(!got || got == names[1]);
        program_check(at.path, "/proc/self/exe", NULL);
    }
    free(whole);
    free(bytes);
    scratch_remove(&at);
}
END_TEST

/* --- running -------------------------------------------------------------------------
 */

static void run_gives(int wanted, bool fails, const char *path, const char *word)
{
    char *const words[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                            (char *)(uintptr_t)word, NULL };
    char *const environment[] = { (char *)(uintptr_t) "X=5", NULL };
    struct fault f = { .text = "" };
    bool failed = !fails;
    const int status = program_run(&failed, path, words, environment, &f);
    ck_assert_msg(status == wanted && failed == fails, "%s: %d, not %d %s", word, status,
                  wanted, f.text);
}

START_TEST(ends)
{
    at = scratch_make();
    const int usual[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
    for (int i = 0; i < 4; i++) signal(usual[i], SIG_DFL);
    run_gives(0, false, "/bin/sh", "exit 0");
    run_gives(7, false, "/bin/sh", "exit 7");
    run_gives(255, false, "/bin/sh", "exit 255");
    run_gives(5, false, "/bin/sh", "exit $X"); /* its environment */
    run_gives(128 + SIGKILL, false, "/bin/sh", "kill -KILL $$");
    run_gives(128 + SIGSEGV, false, "/bin/sh", "ulimit -c 0; kill -SEGV $$");
    run_gives(128 + SIGINT, false, "/bin/sh", "kill -INT $$");
    run_gives(128 + SIGTERM, false, "/bin/sh", "kill -TERM $PPID; sleep 20");
    run_gives(128 + SIGHUP, false, "/bin/sh", "kill -HUP $PPID; sleep 20");
    run_gives(3, false, "/bin/sh", "kill -INT $PPID; kill -QUIT $PPID; exit 3");
    run_gives(PROGRAM_CANNOT_RUN, true, "/nowhere/at/all", "");
    make_script("plain", "exit 9\n");
    run_gives(9, false, in_folder("plain"), "");
    make_script("none", "#!/nowhere/at/all\n");
    run_gives(PROGRAM_CANNOT_RUN, true, in_folder("none"), "");
    /* What is ignored stays so, in the program too; handlers are as they were. */
    signal(SIGTERM, SIG_IGN);
    run_gives(4, false, "/bin/sh", "kill -TERM $PPID; kill -TERM $$; exit 4");
    ck_assert(signal(SIGTERM, SIG_DFL) == SIG_IGN);
    ck_assert(signal(SIGINT, SIG_DFL) == SIG_DFL);
    scratch_remove(&at);
}
END_TEST

TEST_MAIN("program", found, checked, functions, ends)
