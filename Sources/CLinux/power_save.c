#include "CLinux.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// A request of generic netlink with one attribute, and room for the answer.
union message {
    struct {
        struct nlmsghdr header;
        struct genlmsghdr generic;
        struct nlattr attribute;
        char value[64];
    } request;
    char bytes[4096];
};

/// Sends a request and leaves its answer in its place.
/// Returns the answer's length; -1 with errno set if there is none.
static ssize_t ask(int descriptor, uint16_t family, uint8_t command, uint16_t attribute, const void *value,
                   size_t size, union message *message) {
    memset(&message->request, 0, sizeof message->request);
    message->request.header.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + NLA_HDRLEN + NLA_ALIGN(size);
    message->request.header.nlmsg_type = family;
    message->request.header.nlmsg_flags = NLM_F_REQUEST;
    message->request.generic.cmd = command;
    message->request.generic.version = 1;
    message->request.attribute.nla_len = (uint16_t)(NLA_HDRLEN + size);
    message->request.attribute.nla_type = attribute;
    memcpy(message->request.value, value, size);
    if (send(descriptor, message, message->request.header.nlmsg_len, 0) < 0) return -1;
    ssize_t length = recv(descriptor, message, sizeof *message, 0);
    if (length < 0) return -1;
    const struct nlmsghdr *answer = &message->request.header;
    if (!NLMSG_OK(answer, (size_t)length)) return errno = EBADMSG, -1;
    if (answer->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *error = NLMSG_DATA(answer);
        return errno = answer->nlmsg_len >= NLMSG_LENGTH(sizeof *error) ? -error->error : EBADMSG, -1;
    }
    return answer->nlmsg_len;
}

/// Copies the value of an attribute of an answer; -1 with errno set if it has none of that size.
static int find(const union message *message, ssize_t length, uint16_t attribute, void *value, size_t size) {
    ssize_t place = NLMSG_LENGTH(GENL_HDRLEN);
    while (length - place >= NLA_HDRLEN) {
        struct nlattr header;
        memcpy(&header, message->bytes + place, sizeof header);
        if (header.nla_len < NLA_HDRLEN || header.nla_len > length - place) break;
        if ((header.nla_type & NLA_TYPE_MASK) == attribute && header.nla_len == NLA_HDRLEN + size) {
            memcpy(value, message->bytes + place + NLA_HDRLEN, size);
            return 0;
        }
        place += NLA_ALIGN(header.nla_len);
    }
    return errno = ENODATA, -1;
}

static int power_save(int descriptor, uint32_t interface) {
    union message message;
    uint16_t family;
    uint32_t state;
    const struct timeval timeout = {.tv_usec = 200000};
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0) return -1;
    ssize_t length = ask(descriptor, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, NL80211_GENL_NAME,
                         sizeof NL80211_GENL_NAME, &message);
    if (length < 0 || find(&message, length, CTRL_ATTR_FAMILY_ID, &family, sizeof family) < 0) return -1;
    length = ask(descriptor, family, NL80211_CMD_GET_POWER_SAVE, NL80211_ATTR_IFINDEX, &interface, sizeof interface,
                 &message);
    if (length < 0 || find(&message, length, NL80211_ATTR_PS_STATE, &state, sizeof state) < 0) return -1;
    return state == NL80211_PS_ENABLED;
}

int clinux_wifi_power_save(unsigned int interface) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (descriptor < 0) return -1;
    int result = power_save(descriptor, interface);
    int code = errno;
    close(descriptor);
    errno = code;
    return result;
}
