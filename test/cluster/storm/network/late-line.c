// The line of one machine, longer and worse than it is: frames between its port and the bridge come later, some never and some twice, in their
// order. Stands in for `tc netem`, which some kernels lack.
//
//   late-line TAP PORT    makes the interface TAP, for the bridge, and says so by an empty line; PORT is the machine's, out of the bridge
//
// Each line of the standard input says how the line is from then on: least and most delay in microseconds, frames lost and doubled of a million. It
// ends with the standard input. Frames travel with what the kernel says of their checksums and segments (struct virtio_net_hdr), which are not made
// between machines of one kernel.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = sizeof(struct virtio_net_hdr) + ETH_HLEN + 65536, MOST_WAITING = 4096, AT_ONCE = 64 };

struct frame {
	struct frame *next;
	int64_t due_us;
	size_t length;
	uint8_t octets[];
};

struct direction {
	int from, to, waiting;
	struct frame *first, **end;
};

static struct {
	int64_t least_us, most_us;
	uint32_t lost, doubled;
} line;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * INT64_C(1000000) + at.tv_nsec / 1000;
}

static int64_t below(int64_t bound)
{
	return bound <= 0 ? 0 : (int64_t)(((uint64_t)random() << 31 | (uint64_t)random()) % (uint64_t)bound);
}

static int open_tap(const char *name)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tap < 0 || ioctl(tap, TUNSETIFF, &request) < 0)
		fail("/dev/net/tun");
	if (ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN) < 0)
		fail("TUNSETOFFLOAD");
	return tap;
}

static int open_port(const char *name)
{
	int one = 1, port = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
	if (port < 0 || at.sll_ifindex == 0)
		fail(name);
	if (setsockopt(port, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) < 0)
		fail("PACKET_VNET_HDR");
	if (setsockopt(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0)
		fail("PACKET_IGNORE_OUTGOING");
	if (bind(port, (struct sockaddr *)&at, sizeof at) < 0)
		fail("bind");
	return port;
}

static void keep(struct direction *way, const uint8_t *octets, size_t length)
{
	struct frame *frame = way->waiting == MOST_WAITING ? NULL : malloc(sizeof *frame + length);
	if (frame == NULL)
		return;
	frame->next = NULL;
	frame->due_us = now_us() + line.least_us + below(line.most_us - line.least_us + 1);
	frame->length = length;
	memcpy(frame->octets, octets, length);
	*way->end = frame;
	way->end = &frame->next;
	way->waiting++;
}

static void take(struct direction *way)
{
	static uint8_t octets[LARGEST];
	for (int count = 0; count < AT_ONCE; count++) {
		ssize_t length = read(way->from, octets, sizeof octets);
		if (length <= 0)
			return;
		if (below(1000000) < line.lost)
			continue;
		keep(way, octets, (size_t)length);
		if (below(1000000) < line.doubled)
			keep(way, octets, (size_t)length);
	}
}

// Returns for how long nothing is due, in microseconds.
static int64_t give(struct direction *way)
{
	while (way->first != NULL) {
		// None overtakes another one: those behind it wait, too.
		struct frame *frame = way->first;
		int64_t left_us = frame->due_us - now_us();
		if (left_us > 0)
			return left_us;
		// What an interface does not take is lost, as in a full queue.
		ssize_t written = write(way->to, frame->octets, frame->length);
		(void)written;
		way->first = frame->next;
		if (way->first == NULL)
			way->end = &way->first;
		way->waiting--;
		free(frame);
	}
	return INT64_MAX;
}

// Returns 0 when there will be no more.
static int read_line(void)
{
	static char text[256];
	static size_t length;
	ssize_t got = read(STDIN_FILENO, text + length, sizeof text - 1 - length);
	if (got <= 0)
		return got < 0 && errno == EAGAIN;
	length += (size_t)got;
	text[length] = 0;
	for (char *end = strchr(text, '\n'); end != NULL; end = strchr(text, '\n')) {
		long long least_us, most_us;
		if (sscanf(text, "%lld %lld %u %u", &least_us, &most_us, &line.lost, &line.doubled) != 4)
			return 0;
		line.least_us = least_us;
		line.most_us = most_us;
		length -= (size_t)(end + 1 - text);
		memmove(text, end + 1, length + 1);
	}
	return length < sizeof text - 1;
}

int main(int count, char **names)
{
	if (count != 3)
		return 2;
	int tap = open_tap(names[1]), port = open_port(names[2]);
	struct direction ways[2] = {{.from = port, .to = tap}, {.from = tap, .to = port}};
	for (int way = 0; way < 2; way++)
		ways[way].end = &ways[way].first;
	struct pollfd ready[3] = {{.fd = port, .events = POLLIN}, {.fd = tap, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	puts("");
	fflush(stdout);
	for (;;) {
		int64_t left_us = INT64_MAX;
		for (int way = 0; way < 2; way++) {
			int64_t own_us = give(&ways[way]);
			left_us = own_us < left_us ? own_us : left_us;
		}
		struct timespec wait = {.tv_sec = left_us / 1000000, .tv_nsec = left_us % 1000000 * 1000};
		if (ppoll(ready, 3, left_us == INT64_MAX ? NULL : &wait, NULL) < 0 && errno != EINTR)
			fail("ppoll");
		for (int way = 0; way < 2; way++)
			if (ready[way].revents != 0)
				take(&ways[way]);
		if (ready[2].revents != 0 && !read_line())
			return 0;
	}
}
