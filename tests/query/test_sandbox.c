/* The worker's sandbox by itself, in a child: what SQL could ask for if every other layer failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "query/sandbox.h"

static char allowed[] = "/tmp/nx-allowed-XXXXXX", other[] = "/tmp/nx-other-XXXXXX";
static int allowed_fd;
static struct sockaddr_in address; /* of a listening socket */

static long landlock_abi(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static int set_up(void **state)
{
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    allowed_fd = mkstemp(allowed);
    if (allowed_fd < 0 || write(allowed_fd, "data", 4) != 4 || close(mkstemp(other)) != 0)
        return -1;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 4) ||
           getsockname(listener, (struct sockaddr *)&address, &size);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(allowed) | unlink(other);
}

/* Runs `what` in a child behind the sandbox; it answers whether all is as it should be. */
static void behind_the_sandbox(bool (*what)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        nx_sandbox_files(&allowed_fd, 1);
        _exit(what() ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool refused(int fd)
{
    return fd < 0 && (errno == EACCES || errno == EPERM);
}

static bool only_the_given_file(void)
{
    char path[64], data[4];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", allowed_fd);
    fd = open(path, O_RDONLY);
    return fd >= 0 && read(fd, data, sizeof(data)) == 4 && memcmp(data, "data", 4) == 0 && refused(open(other, O_RDONLY)) &&
           refused(open("/etc/passwd", O_RDONLY)) && refused(open(allowed, O_WRONLY)) &&
           refused(open("/tmp/nx-new", O_WRONLY | O_CREAT, 0600)) && unlink(other) < 0 && mkdir("/tmp/nx-new", 0700) < 0;
}

static void no_other_file_is_opened(void **state)
{
    (void)state;
    if (landlock_abi() < 1) {
        print_message("skipped: this kernel has no Landlock\n");
        skip();
    }
    behind_the_sandbox(only_the_given_file);
}

static bool no_port(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return refused(connect(fd, (struct sockaddr *)&address, sizeof(address))) &&
           refused(bind(fd, (struct sockaddr *)&any, sizeof(any)));
}

static void no_port_is_connected_to_or_bound(void **state)
{
    (void)state;
    if (landlock_abi() < 4) {
        print_message("skipped: this kernel's Landlock has no rules for the network\n");
        skip();
    }
    behind_the_sandbox(no_port);
}

static bool nothing_grows(void)
{
    int pipes[2];

    /* an own descriptor for writing, from before: Landlock does not judge those */
    return write(allowed_fd, "more", 4) < 0 && errno == EFBIG && pipe(pipes) == 0 && write(pipes[1], "x", 1) == 1 &&
           prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static void no_file_grows_and_no_rights_are_gained(void **state)
{
    (void)state;
    behind_the_sandbox(nothing_grows);
}

static bool little_memory(void)
{
    void *volatile large, *volatile small; /* a compiler may leave out an allocation that nothing reads */

    nx_sandbox_memory((uint64_t)64 << 20);
    large = malloc((size_t)1 << 31);
    small = malloc(1 << 20);
    return large == NULL && small != NULL;
}

static void memory_ends(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("skipped: the limit is off in sanitizer builds\n");
    skip();
#endif
    behind_the_sandbox(little_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_file_is_opened),
        cmocka_unit_test(no_port_is_connected_to_or_bound),
        cmocka_unit_test(no_file_grows_and_no_rights_are_gained),
        cmocka_unit_test(memory_ends),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
