#include "query/protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"

bool nx_write_all(int fd, const void *bytes, size_t size)
{
    const char *p = bytes;

    while (size) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

bool nx_read_all(int fd, void *bytes, size_t size)
{
    char *p = bytes;

    while (size) {
        ssize_t n = read(fd, p, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

bool nx_write_frame(int fd, const char *text, size_t size)
{
    uint64_t length = size;

    return nx_write_all(fd, &length, sizeof(length)) && nx_write_all(fd, text, size);
}

char *nx_read_frame(int fd, size_t limit, size_t *size)
{
    uint64_t length;
    char *text;

    if (!nx_read_all(fd, &length, sizeof(length)) || length > limit)
        return NULL;
    text = nx_alloc(length + 1);
    if (!nx_read_all(fd, text, length)) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    *size = length;
    return text;
}

bool nx_send_fds(int fd, const int *fds, size_t count)
{
    for (size_t at = 0; at < count; at += NX_FDS_A_MESSAGE) {
        size_t some = count - at < NX_FDS_A_MESSAGE ? count - at : NX_FDS_A_MESSAGE;
        char control[CMSG_SPACE(NX_FDS_A_MESSAGE * sizeof(int))] = {0};
        char mark = 0;
        struct iovec byte = {.iov_base = &mark, .iov_len = 1};
        struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = control,
                                 .msg_controllen = CMSG_SPACE(some * sizeof(int))};
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        ssize_t n;

        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(some * sizeof(int));
        memcpy(CMSG_DATA(head), fds + at, some * sizeof(int));
        do
            n = sendmsg(fd, &message, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n != 1)
            return false;
    }
    return true;
}

bool nx_receive_fds(int fd, int *fds, size_t count)
{
    for (size_t at = 0; at < count; at += NX_FDS_A_MESSAGE) {
        size_t some = count - at < NX_FDS_A_MESSAGE ? count - at : NX_FDS_A_MESSAGE;
        char control[CMSG_SPACE(NX_FDS_A_MESSAGE * sizeof(int))], byte;
        struct iovec one = {.iov_base = &byte, .iov_len = 1};
        struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = control,
                                 .msg_controllen = sizeof(control)};
        struct cmsghdr *head;
        ssize_t n;

        do
            n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
        if (!head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(some * sizeof(int)))
            return false;
        memcpy(fds + at, CMSG_DATA(head), some * sizeof(int));
    }
    return true;
}
