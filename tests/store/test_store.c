/* Profiles appear whole or not at all, whoever else writes, reads or is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "store/store.h"

#define NO_FILTER 77 /* exit status of a child that could not do its part */
#define KILLS 60     /* NX_TEST_KILLS in the environment: another number */

static char dir[] = "/tmp/nx-store-XXXXXX";
static struct nx_store store;

static int set_up(void **state)
{
    struct nx_error error;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(nx_store_open(dir, true, &store, &error), NX_OK);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    nx_store_close(&store);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

/* ------------------------------------------------------------------ names */

static void names_are_checked(void **state)
{
    static const char *const good[] = {"a",        "my-kernel",         "a b", "v1.2@3",
                                       "x@latest", "\xc3\xa9t\xc3\xa9", "a.b"};
    static const char *const bad[] = {"",         ".",        "..",       ".a",           "a..b",    "a/b",
                                      "/",        "a\\b",     "a\nb",     "\x7f",         "\x01",    "a\xff",
                                      "\xc0\xaf", "\xc2\x85", "a\x1b[2J", "\xed\xa0\x80", "\xe2\x82"};
    struct nx_error error;
    char longest[NX_PROFILE_NAME_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(nx_profile_name_check(good[i], &error), NX_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(nx_profile_name_check(bad[i], &error), NX_USAGE);
    memset(longest, 'a', sizeof(longest) - 1);
    longest[NX_PROFILE_NAME_MAX + 1] = '\0';
    assert_int_equal(nx_profile_name_check(longest, &error), NX_USAGE);
    longest[NX_PROFILE_NAME_MAX] = '\0';
    assert_int_equal(nx_profile_name_check(longest, &error), NX_OK);
}

static void the_default_path_follows_xdg(void **state)
{
    char *path;

    (void)state;
    setenv("XDG_DATA_HOME", "/x/data", 1);
    path = nx_store_default_path();
    assert_string_equal(path, "/x/data/neuron-profile");
    free(path);
    setenv("XDG_DATA_HOME", "relative", 1); /* counts as unset */
    setenv("HOME", "/home/me", 1);
    path = nx_store_default_path();
    assert_string_equal(path, "/home/me/.local/share/neuron-profile");
    free(path);
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_null(nx_store_default_path());
}

/* ------------------------------------------------------------------ writing and reading */

static void put_file(int folder, const char *name, const char *content)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
}

static void publish(const char *name, const char *content)
{
    struct nx_ingest ingest;
    struct nx_error error;

    if (nx_ingest_begin(&store, name, true, &ingest, &error) != NX_OK)
        fail_msg("%s", error.text);
    put_file(ingest.dir_fd, "A.parquet", content);
    put_file(ingest.dir_fd, "B_0.parquet", content);
    put_file(ingest.dir_fd, "B_10.parquet", content);
    put_file(ingest.dir_fd, "B_2.parquet", content);
    put_file(ingest.dir_fd, "notes.txt", "not a table");
    if (nx_ingest_commit(&ingest, &error) != NX_OK)
        fail_msg("%s", error.text);
}

static void read_fd(int fd, char *out, size_t size)
{
    ssize_t got = pread(fd, out, size - 1, 0);

    assert_true(got >= 0);
    out[got] = '\0';
}

static void expect_content(const char *name, const char *content)
{
    struct nx_stored_profile profile;
    struct nx_error error;
    char text[64];
    bool found;

    assert_int_equal(nx_profile_open(&store, name, &profile, &found, &error), NX_OK);
    assert_true(found);
    read_fd(profile.tables[0].fds[0], text, sizeof(text));
    assert_string_equal(text, content);
    nx_profile_close(&profile);
}

/* All files hold the same: what one writer wrote. */
static void expect_whole(const char *name)
{
    struct nx_stored_profile profile;
    struct nx_error error;
    char first[64], other[64];
    bool found;

    if (nx_profile_open(&store, name, &profile, &found, &error) != NX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(profile.table_count, 2);
    assert_int_equal(profile.tables[1].part_count, 3);
    read_fd(profile.tables[0].fds[0], first, sizeof(first));
    assert_true(first[0] != '\0');
    for (size_t p = 0; p < 3; p++) {
        read_fd(profile.tables[1].fds[p], other, sizeof(other));
        assert_string_equal(first, other);
    }
    nx_profile_close(&profile);
}

/* Everything below the data path but the published profiles: what a killed writer may leave. */
static int count_siblings(void)
{
    char command[160], line[32] = "";
    FILE *pipe;

    snprintf(command, sizeof(command), "ls -A %s/profiles/global | grep -c '^\\.'", dir);
    pipe = popen(command, "r");
    assert_non_null(fgets(line, sizeof(line), pipe));
    pclose(pipe);
    return atoi(line);
}

static void a_profile_is_published_and_read(void **state)
{
    struct nx_stored_profile profile;
    struct nx_error error;
    bool found;

    (void)state;
    publish("one", "1");
    assert_int_equal(nx_profile_open(&store, "one", &profile, &found, &error), NX_OK);
    assert_int_equal(profile.table_count, 2);
    assert_string_equal(profile.tables[0].name, "A");
    assert_string_equal(profile.tables[1].name, "B");
    assert_string_equal(profile.tables[1].file, "B_0.parquet");
    assert_int_equal(profile.tables[1].part_count, 3); /* 0, 2, 10: as numbers, not as text */
    assert_int_equal(profile.tables[1].bytes, 3);
    nx_profile_close(&profile);
    assert_int_equal(nx_profile_open(&store, "two", &profile, &found, &error), NX_FAILED);
    assert_false(found);
    assert_int_equal(nx_profile_open(&store, "../one", &profile, &found, &error), NX_FAILED);
    assert_int_equal(count_siblings(), 0);
}

static void an_open_profile_survives_its_replacement(void **state)
{
    struct nx_stored_profile profile;
    struct nx_generation before, after;
    struct nx_error error;
    char text[64];
    bool found;

    (void)state;
    publish("kept", "old");
    assert_true(nx_profile_generation(&store, "kept", &before));
    assert_int_equal(nx_profile_open(&store, "kept", &profile, &found, &error), NX_OK);
    publish("kept", "new");
    assert_true(nx_profile_generation(&store, "kept", &after));
    assert_false(nx_generation_equal(before, after));
    read_fd(profile.tables[0].fds[0], text, sizeof(text));
    assert_string_equal(text, "old");
    nx_profile_close(&profile);
    expect_content("kept", "new");
    assert_int_equal(count_siblings(), 0);
}

static void aborting_leaves_the_old_profile(void **state)
{
    struct nx_ingest ingest;
    struct nx_error error;

    (void)state;
    publish("steady", "old");
    assert_int_equal(nx_ingest_begin(&store, "steady", true, &ingest, &error), NX_OK);
    put_file(ingest.dir_fd, "A.parquet", "half");
    nx_ingest_abort(&ingest);
    nx_ingest_abort(&ingest); /* again: harmless */
    expect_content("steady", "old");
    assert_int_equal(count_siblings(), 0);
    assert_int_equal(nx_ingest_begin(&store, "steady", false, &ingest, &error), NX_FAILED);
    assert_non_null(strstr(error.text, "exists"));
}

static void profiles_are_listed_by_name(void **state)
{
    struct nx_profile_entry *list;
    struct nx_error error;
    struct nx_store empty;
    size_t count;

    (void)state;
    publish("zz", "1");
    publish("aa@latest", "12"); /* only the last @latest is the store's */
    assert_int_equal(nx_store_list(&store, &list, &count, &error), NX_OK);
    assert_true(count >= 2);
    assert_string_equal(list[0].name, "aa@latest");
    assert_int_equal(list[0].tables, 2);
    assert_int_equal(list[0].bytes, 8);
    assert_string_equal(list[count - 1].name, "zz");
    nx_profile_list_free(list, count);
    assert_int_equal(nx_store_open("/nonexistent/nowhere", false, &empty, &error), NX_OK);
    assert_int_equal(nx_store_list(&empty, &list, &count, &error), NX_OK);
    assert_int_equal(count, 0);
    nx_store_close(&empty);
}

static void links_are_not_followed(void **state)
{
    struct nx_stored_profile profile;
    struct nx_error error;
    char path[256];
    bool found;

    (void)state;
    publish("linked", "1");
    snprintf(path, sizeof(path), "%s/profiles/global/linked@latest/C.parquet", dir);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(nx_profile_open(&store, "linked", &profile, &found, &error), NX_FAILED);
    assert_true(found);
    assert_non_null(strstr(error.text, "C.parquet"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0644), 0); /* must not wait for somebody to write into it */
    assert_int_equal(nx_profile_open(&store, "linked", &profile, &found, &error), NX_FAILED);
    assert_non_null(strstr(error.text, "not a regular file"));
    publish("linked", "2");
    expect_content("linked", "2");

    snprintf(path, sizeof(path), "%s/profiles/global/away@latest", dir);
    assert_int_equal(symlink("/etc", path), 0);
    assert_int_equal(nx_profile_open(&store, "away", &profile, &found, &error), NX_FAILED);
    assert_non_null(strstr(error.text, "not a folder"));
    publish("away", "1"); /* takes the link's place, and removes the link only */
    expect_content("away", "1");
    assert_int_equal(access("/etc/passwd", F_OK), 0);
    assert_int_equal(count_siblings(), 0);
}

static bool is_listed(const char *name)
{
    struct nx_profile_entry *list;
    struct nx_error error;
    size_t count;
    bool found = false;

    assert_int_equal(nx_store_list(&store, &list, &count, &error), NX_OK);
    for (size_t i = 0; i < count; i++)
        found |= strcmp(list[i].name, name) == 0;
    nx_profile_list_free(list, count);
    return found;
}

static void what_is_no_profile_is_not_listed(void **state)
{
    static const char *const folders[] = {"bad\x1b[2Jname@latest", "@latest", ".hidden@latest", "other"};

    (void)state;
    publish("listed", "1");
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        assert_int_equal(mkdirat(store.profiles_fd, folders[i], 0755), 0);
    put_file(store.profiles_fd, "file@latest", "a file");
    assert_true(is_listed("listed"));
    assert_false(is_listed("bad\x1b[2Jname"));
    assert_false(is_listed(""));
    assert_false(is_listed(".hidden"));
    assert_false(is_listed("file"));
    assert_false(is_listed("other"));
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        assert_int_equal(unlinkat(store.profiles_fd, folders[i], AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(store.profiles_fd, "file@latest", 0), 0);
}

static void files_that_are_no_tables_are_left_alone(void **state)
{
    static const char *const others[] = {"9A.parquet",  "A-B.parquet",   "A_.parquet",
                                         "A_x.parquet", "A_1x.parquet",  "A_1_2.parquet",
                                         ".parquet",    "A.parquet.tmp", "A_99999999999999999999.parquet"};
    struct nx_stored_profile profile;
    struct nx_ingest ingest;
    struct nx_error error;
    bool found;

    (void)state;
    assert_int_equal(nx_ingest_begin(&store, "mixed", true, &ingest, &error), NX_OK);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        put_file(ingest.dir_fd, others[i], "?");
    put_file(ingest.dir_fd, "Z9.parquet", "1");
    assert_int_equal(nx_ingest_commit(&ingest, &error), NX_OK);
    assert_int_equal(nx_profile_open(&store, "mixed", &profile, &found, &error), NX_OK);
    assert_int_equal(profile.table_count, 1);
    assert_string_equal(profile.tables[0].name, "Z9");
    nx_profile_close(&profile);
}

/* Runs `what` in a child, so that limits and identity that it takes on end with it. */
static void in_a_child(void (*what)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        what();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER)
        skip(); /* this kernel or container does not let a process filter its own system calls */
    assert_int_equal(status, 0);
}

static void open_without_descriptors(void)
{
    struct rlimit limit = {32, 32};
    struct nx_stored_profile profile;
    struct nx_error error = {0};
    int fds[32], used = 0;
    bool found;

    /* with each number of free descriptors from none on, until it is enough: an error or all, never a part */
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(1);
    while (used < 32 && (fds[used] = dup(store.profiles_fd)) >= 0)
        used++;
    for (int unused = 0; unused < 8; unused++) {
        enum nx_status status = nx_profile_open(&store, "scarce", &profile, &found, &error);

        if (status == NX_OK && (profile.table_count != 2 || profile.tables[1].part_count != 3))
            _exit(2);
        if (status != NX_OK && (!found || !strstr(error.text, strerror(EMFILE))))
            _exit(3);
        if ((unused == 0 && status == NX_OK) || (unused == 7 && status != NX_OK))
            _exit(4);
        nx_profile_close(&profile);
        close(fds[--used]);
    }
}

static void too_few_descriptors_are_no_missing_profile(void **state)
{
    (void)state;
    publish("scarce", "1");
    in_a_child(open_without_descriptors);
}

static void begin_without_permission(void)
{
    struct nx_ingest ingest;
    struct nx_error error = {0};
    struct nx_store other;

    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(1);
    if (nx_ingest_begin(&store, "forbidden", true, &ingest, &error) != NX_UNAVAILABLE ||
        !strstr(error.text, dir))
        _exit(2);
    nx_ingest_abort(&ingest);
    if (nx_store_open("/nx-forbidden", true, &other, &error) != NX_UNAVAILABLE)
        _exit(3);
}

static void a_read_only_data_path_is_said_so(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* who cannot become somebody else has no folder of somebody else's to try */
    in_a_child(begin_without_permission);
    assert_false(is_listed("forbidden"));
}

/* From here on the kernel answers one system call of this process with an error. */
static void refuse(int number, int why)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)why),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(NO_FILTER);
}

static void fail_to_publish(int number, int why, enum nx_status expected, const char *words)
{
    struct nx_ingest ingest;
    struct nx_error error = {0};

    refuse(number, why);
    if (nx_ingest_begin(&store, "guarded", true, &ingest, &error) == NX_OK) {
        put_file(ingest.dir_fd, "A.parquet", "new");
        if (nx_ingest_commit(&ingest, &error) == NX_OK)
            _exit(1);
    }
    nx_ingest_abort(&ingest);
    if (error.status != expected || !strstr(error.text, words) || !strstr(error.text, dir))
        _exit(2);
}

static void without_exchange(void)
{
    fail_to_publish(SYS_renameat2, EINVAL, NX_UNAVAILABLE, "exchange folders");
}

static void without_locks(void)
{
    fail_to_publish(SYS_flock, EBADF, NX_UNAVAILABLE, "lock folders");
}

static void without_space_at_sync(void)
{
    fail_to_publish(SYS_fsync, ENOSPC, NX_UNAVAILABLE, "No space left");
}

static void without_new_folders(void)
{
    fail_to_publish(SYS_mkdirat, EROFS, NX_UNAVAILABLE, "Read-only");
}

static void what_the_file_system_refuses_changes_nothing(void **state)
{
    static void (*const cases[])(void) = {without_exchange, without_locks, without_space_at_sync,
                                          without_new_folders};

    (void)state;
    publish("guarded", "old");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        in_a_child(cases[i]);
        expect_content("guarded", "old");
        assert_int_equal(count_siblings(), 0);
    }
}

/* The database's COPY gets the sibling's path: absolute and UTF-8, whatever the data path is called. */
static void any_data_path_can_be_handed_on(void **state)
{
    static const char *const paths[] = {"~/x", "s3://x", "byte\xff"};
    char *before = getcwd(NULL, 0), path[300];

    (void)state;
    assert_int_equal(chdir(dir), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct nx_ingest ingest;
        struct nx_store other;
        struct nx_error error;

        assert_int_equal(nx_store_open(paths[i], true, &other, &error), NX_OK);
        assert_int_equal(nx_ingest_begin(&other, "a", true, &ingest, &error), NX_OK);
        assert_int_equal(ingest.dir_path[0], '/');
        assert_true(nx_text_is_utf8(ingest.dir_path, strlen(ingest.dir_path)));
        snprintf(path, sizeof(path), "%s/A.parquet", ingest.dir_path);
        put_file(ingest.dir_fd, "A.parquet", "1");
        assert_int_equal(access(path, F_OK), 0);
        nx_ingest_abort(&ingest);
        assert_int_not_equal(access(path, F_OK), 0);
        nx_store_close(&other);
    }
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void unusable_data_paths_are_told_apart(void **state)
{
    struct nx_store other;
    struct nx_error error;
    char path[64];
    int fd;

    (void)state;
    snprintf(path, sizeof(path), "%s/file", dir);
    fd = open(path, O_CREAT | O_WRONLY, 0644);
    close(fd);
    assert_int_equal(nx_store_open(path, true, &other, &error), NX_UNAVAILABLE);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(nx_store_open("/proc/nx", true, &other, &error), NX_UNAVAILABLE);
    assert_int_equal(nx_store_open("", true, &other, &error), NX_UNAVAILABLE);
}

/* ------------------------------------------------------------------ others at work */

static void litter_of_a_killed_writer_is_swept(void **state)
{
    struct nx_ingest ingest;
    struct nx_error error;
    pid_t writer;
    int status;

    (void)state;
    writer = fork();
    if (writer == 0) {
        if (nx_ingest_begin(&store, "unfinished", true, &ingest, &error) != NX_OK)
            _exit(1);
        put_file(ingest.dir_fd, "A.parquet", "half");
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(count_siblings(), 1);
    assert_false(is_listed("unfinished"));
    assert_int_equal(mkdirat(store.profiles_fd, ".somebody-else-s", 0755), 0);
    nx_store_sweep(&store);
    assert_int_equal(count_siblings(), 1); /* what is not ours stays */
    assert_int_equal(unlinkat(store.profiles_fd, ".somebody-else-s", AT_REMOVEDIR), 0);
}

static void the_last_of_many_writers_wins_whole(void **state)
{
    pid_t writers[6];

    (void)state;
    for (int w = 0; w < 6; w++) {
        writers[w] = fork();
        if (writers[w] == 0) {
            char content[16];

            snprintf(content, sizeof(content), "w%d", w);
            for (int i = 0; i < 10; i++)
                publish("contested", content);
            _exit(0);
        }
    }
    for (int w = 0; w < 6; w++) {
        int status;

        waitpid(writers[w], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_siblings(), 0); /* without a sweep */
    expect_whole("contested");
}

static void pause_microseconds(long us)
{
    struct timespec time = {0, us * 1000};

    nanosleep(&time, NULL);
}

/*
 * A writer is killed at any moment; a reader that is there all the time always sees a whole profile, and the
 * next ingestion leaves no litter.
 */
static void killed_writers_leave_whole_profiles(void **state)
{
    const char *wanted = getenv("NX_TEST_KILLS");
    int kills = wanted ? atoi(wanted) : KILLS;

    (void)state;
    srand(3);
    publish("victim", "0");
    for (int i = 0; i < kills; i++) {
        pid_t writer = fork();
        int status;

        if (writer == 0) {
            for (int n = 0;; n++) {
                char content[16];

                snprintf(content, sizeof(content), "%d", n);
                publish("victim", content);
            }
        }
        for (int r = 0; r < 5; r++) {
            pause_microseconds(rand() % 2000);
            expect_whole("victim");
        }
        kill(writer, SIGKILL);
        waitpid(writer, &status, 0);
        assert_true(WIFSIGNALED(status));
    }
    publish("victim", "end");
    expect_content("victim", "end");
    assert_int_equal(count_siblings(), 0);
}

static void a_living_writer_is_not_swept(void **state)
{
    struct nx_ingest ingest;
    struct nx_error error;

    (void)state;
    assert_int_equal(nx_ingest_begin(&store, "slow", true, &ingest, &error), NX_OK);
    put_file(ingest.dir_fd, "A.parquet", "slow");
    publish("quick", "1"); /* sweeps on its way */
    nx_store_sweep(&store);
    assert_int_equal(nx_ingest_commit(&ingest, &error), NX_OK);
    expect_content("slow", "slow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(the_default_path_follows_xdg),
        cmocka_unit_test(a_profile_is_published_and_read),
        cmocka_unit_test(an_open_profile_survives_its_replacement),
        cmocka_unit_test(aborting_leaves_the_old_profile),
        cmocka_unit_test(profiles_are_listed_by_name),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(what_is_no_profile_is_not_listed),
        cmocka_unit_test(files_that_are_no_tables_are_left_alone),
        cmocka_unit_test(too_few_descriptors_are_no_missing_profile),
        cmocka_unit_test(a_read_only_data_path_is_said_so),
        cmocka_unit_test(what_the_file_system_refuses_changes_nothing),
        cmocka_unit_test(any_data_path_can_be_handed_on),
        cmocka_unit_test(unusable_data_paths_are_told_apart),
        cmocka_unit_test(litter_of_a_killed_writer_is_swept),
        cmocka_unit_test(the_last_of_many_writers_wins_whole),
        cmocka_unit_test(killed_writers_leave_whole_profiles),
        cmocka_unit_test(a_living_writer_is_not_swept),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
