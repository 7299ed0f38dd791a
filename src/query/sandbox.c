#include "query/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights of newer kernels than these headers; asking for one that the kernel lacks is an error. */
#define ACCESS_REFER ((uint64_t)1 << 13)    /* ABI 2 */
#define ACCESS_TRUNCATE ((uint64_t)1 << 14) /* ABI 3 */
#define ACCESS_IOCTL ((uint64_t)1 << 15)    /* ABI 5 */
#define NET_BIND_TCP ((uint64_t)1 << 0)     /* ABI 4, here and below */
#define NET_CONNECT_TCP ((uint64_t)1 << 1)
#define READ_ACCESS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* The kernel's struct as of ABI 4; how much of it is handed over tells the kernel which. */
struct ruleset {
    uint64_t files, net;
};

static void limit(int resource, rlim_t value)
{
    struct rlimit limits = {value, value};

    setrlimit(resource, &limits);
}

static bool allow(int ruleset, int fd, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};

    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

static void allow_folder(int ruleset, const char *path)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    allow(ruleset, fd, READ_ACCESS);
    close(fd);
}

static bool landlock(const int *fds, size_t count)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct ruleset attr = {.files = ((uint64_t)1 << 13) - 1}; /* all of ABI 1 */
    int ruleset;
    bool ok;

    if (abi < 1)
        return false;
    if (abi >= 2)
        attr.files |= ACCESS_REFER;
    if (abi >= 3)
        attr.files |= ACCESS_TRUNCATE;
    if (abi >= 5)
        attr.files |= ACCESS_IOCTL;
    if (abi >= 4)
        attr.net = NET_BIND_TCP | NET_CONNECT_TCP; /* and no rule that allows any */
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, abi >= 4 ? sizeof(attr) : sizeof(attr.files), 0);
    if (ruleset < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        allow(ruleset, fds[i], LANDLOCK_ACCESS_FS_READ_FILE);
    allow_folder(ruleset, "/proc");
    allow_folder(ruleset, "/sys");
    ok = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return ok;
}

/* When the machine runs out of memory, the kernel is to take the query and neither the server nor other programs. */
static void volunteer_for_oom(void)
{
    static const char most[] = "1000";
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, most, sizeof(most) - 1);
    close(fd);
}

bool nx_sandbox_files(const int *fds, size_t count)
{
    volunteer_for_oom();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails, and does not kill */
    return landlock(fds, count);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

void nx_sandbox_memory(uint64_t memory)
{
#ifdef SANITIZED
    (void)memory; /* sanitizers map terabytes of shadow: an address space limit would stop them */
#else
    FILE *statm = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (!statm)
        return;
    if (fscanf(statm, "%lu", &pages) == 1)
        limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + memory);
    fclose(statm);
#endif
}
