/*
 * The objects and messages of the fake verbs library. A queue pair is a Unix datagram socket in the folder
 * MESHWRIGHT_FAKE_VERBS_WIRE, on a simulated Mac in `wire` of its simulator. It is named after its GID and its number; a
 * message is cut into segments.
 *
 * The library is stricter than a driver. An invalid call returns an error number. If its effect in a driver would be
 * undefined, it aborts the process.
 *
 * One thread moves the messages of all queue pairs, as a network card does without the program. Each call moves them
 * too, because a program that polls without a pause could keep the thread from running.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "fake_verbs.h"

struct ibv_pd {
	struct ibv_context *context;
	uint32_t handle;
};

struct ibv_mr {
	struct ibv_context *context;
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint32_t handle, lkey, rkey;
};

struct ibv_cq {
	struct ibv_context *context;
	void *channel, *cq_context;
	uint32_t handle;
	int cqe;
};

struct ibv_qp {
	struct ibv_context *context;
	void *qp_context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	void *srq;
	uint32_t handle, qp_num;
	int state, qp_type;
};

struct ibv_qp_cap {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

struct ibv_qp_init_attr {
	void *qp_context;
	struct ibv_cq *send_cq, *recv_cq;
	void *srq;
	struct ibv_qp_cap cap;
	int qp_type, sq_sig_all;
};

struct ibv_ah_attr {
	struct {
		union { uint8_t raw[16]; uint64_t aligned[2]; } dgid;
		uint32_t flow_label;
		uint8_t sgid_index, hop_limit, traffic_class;
	} grh;
	uint16_t dlid;
	uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};

struct ibv_qp_attr {
	int qp_state, cur_qp_state, path_mtu, path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags;
	struct ibv_qp_cap cap;
	struct ibv_ah_attr ah_attr, alt_ah_attr;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
	uint8_t port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout;
	uint32_t rate_limit;
};

struct ibv_sge {
	uint64_t addr;
	uint32_t length, lkey;
};

struct ibv_send_wr {
	uint64_t wr_id;
	struct ibv_send_wr *next;
	struct ibv_sge *sg_list;
	int num_sge, opcode;
	uint32_t send_flags, imm_data;
	/* The rest belongs to other operations. */
};

struct ibv_recv_wr {
	uint64_t wr_id;
	struct ibv_recv_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
};

struct ibv_wc {
	uint64_t wr_id;
	int status, opcode;
	uint32_t vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags;
	uint16_t pkey_index, slid;
	uint8_t sl, dlid_path_bits;
};

enum { reset, init, ready_to_receive, ready_to_send, send_error = 5, failed = 6 }; /* enum ibv_qp_state */
enum { success = 0, length_error = 1, flushed = 5 }; /* enum ibv_wc_status */
enum { unreliable_connection = 3, operation_send = 2, completion_send = 0, completion_receive = 128 };
enum { flag_signaled = 2, flag_solicited = 4, local_write = 1, remote_write = 2, remote_atomic = 8 };
enum { mac_timed_out = 60, mac_not_supported = 102 }; /* the numbers of macOS */

/* enum ibv_qp_attr_mask */
enum {
	has_state = 1 << 0, has_access = 1 << 3, has_pkey = 1 << 4, has_port = 1 << 5, has_address = 1 << 7,
	has_mtu = 1 << 8, has_receive_psn = 1 << 12, has_send_psn = 1 << 16, has_destination = 1 << 20,
	for_init = has_state | has_pkey | has_port | has_access,
	for_receiving = has_state | has_address | has_mtu | has_destination | has_receive_psn,
	for_sending = has_state | has_send_psn,
};

enum { most_sges = 16, most_works = 4095, most_entries = 4095, most_message = 1 << 30 };

/* A Mac's limit for a datagram is 2048 bytes, unless the send buffer is larger. */
enum { segment_size = 32768, buffer_size = 262144, most_segments_per_turn = 64 };

static const uint64_t second = 1000000000;

struct domain {
	struct ibv_pd verbs;
	int users;
};

struct region {
	struct ibv_mr verbs;
	struct region *next;
	int access, users;
};

/* A request of a caller, until it completes. */
struct work {
	uint64_t id, posted_at;
	uint32_t length;
	int is_signaled, sges;
	struct ibv_sge sge[most_sges];
	struct region *regions[most_sges];
};

/* As in a driver, a slot stays in use until a completion of its request, or of a later one, was polled. */
struct ring {
	struct work *works;
	uint32_t size, most_sges, first, count, in_use, unreported;
};

struct entry {
	struct ibv_wc completion;
	struct ring *ring;
	uint32_t slots;
};

struct completion_queue {
	struct ibv_cq verbs;
	int users, count;
	struct entry *entries;
};

struct message {
	struct message *next;
	uint64_t number, due;
	uint32_t length, present, mtu;
	uint8_t bytes[];
};

struct segment {
	uint64_t number, due;
	uint32_t at, length, mtu, unused;
	uint8_t source[16];
};

struct queue_pair {
	struct ibv_qp verbs;
	struct queue_pair *next;
	int signals_all, socket;
	struct ring sends, receives;
	uint32_t mtu;
	uint8_t gid[16], peer_gid[16];
	struct sockaddr_un own, peer;
	uint64_t sends_at; /* when the first send may leave, or 0 */
	uint64_t stuck_since; /* since when the peer takes nothing, or 0 */
	uint64_t sent;
	int loses_end;
	struct message *outgoing, *incoming, *arrived;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue_pair *pairs;
static struct region *regions;
static int wake[2];
static uint64_t thread_wakes_at;

static void unlock(int *locked) { if (*locked == 0) pthread_mutex_unlock(&lock); }
#define LOCK() __attribute__((cleanup(unlock))) int locked = pthread_mutex_lock(&lock)

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "fake verbs: %s\n", what);
	abort();
}

static void *allocated(size_t size)
{
	void *memory = calloc(1, size == 0 ? 1 : size);
	if (memory == NULL) die("out of memory");
	return memory;
}

static void *no(int error)
{
	errno = error;
	return NULL;
}

static uint64_t nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

static struct context *owner(struct ibv_context *verbs)
{
	struct context *context = (struct context *)verbs;
	if (context->is_closed) die("an object is used after ibv_close_device");
	return context;
}

static struct device *device_of(const struct queue_pair *pair)
{
	return ((struct context *)pair->verbs.context)->device;
}

static int is_mapped(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
	return memcmp(gid, prefix, sizeof prefix) == 0;
}

/* Work requests and completions */

static void add_completion(struct queue_pair *pair, struct ring *ring, uint64_t id, int status, uint32_t length)
{
	struct completion_queue *queue;
	queue = (struct completion_queue *)(ring == &pair->sends ? pair->verbs.send_cq : pair->verbs.recv_cq);
	if (queue->count == queue->verbs.cqe) die("a completion queue overflows");
	struct entry *entry = &queue->entries[queue->count++];
	/* The manual page promises only some fields, depending on the status and the operation. */
	memset(entry, 0x5a, sizeof *entry);
	entry->completion.wr_id = id;
	entry->completion.status = status;
	entry->completion.vendor_err = status == success ? 0 : 0xbad;
	entry->completion.qp_num = pair->verbs.qp_num;
	if (status == success) {
		entry->completion.opcode = ring == &pair->sends ? completion_send : completion_receive;
		entry->completion.wc_flags = 0;
		if (ring == &pair->receives) entry->completion.byte_len = length;
	}
	entry->ring = ring;
	entry->slots = ring->unreported;
	ring->unreported = 0;
}

static void release(const struct work *work)
{
	for (int at = 0; at < work->sges; at++) work->regions[at]->users--;
}

/* Ends the first request of the ring. */
static void complete(struct queue_pair *pair, struct ring *ring, int status, uint32_t length)
{
	const struct work *work = &ring->works[ring->first];
	ring->first = (ring->first + 1) % ring->size;
	ring->count--;
	ring->unreported++;
	release(work);
	if (status != success || work->is_signaled) add_completion(pair, ring, work->id, status, length);
}

static void flush(struct queue_pair *pair, struct ring *ring)
{
	while (ring->count > 0) complete(pair, ring, flushed, 0);
}

static void forget_outgoing(struct queue_pair *pair)
{
	free(pair->outgoing);
	pair->outgoing = NULL;
	pair->sends_at = 0;
}

static void fail(struct queue_pair *pair, int state)
{
	pair->verbs.state = state;
	forget_outgoing(pair);
	flush(pair, &pair->sends);
	if (state == failed) flush(pair, &pair->receives);
}

/* The region that holds the bytes of the entry, or null. */
static struct region *region_of(const struct ibv_pd *domain, const struct ibv_sge *sge, int access)
{
	for (struct region *region = regions; region != NULL; region = region->next) {
		const uint64_t start = (uint64_t)(uintptr_t)region->verbs.addr;
		if (region->verbs.lkey != sge->lkey || region->verbs.pd != domain) continue;
		if (sge->addr < start || sge->addr - start > region->verbs.length) return NULL;
		if (sge->length > region->verbs.length - (sge->addr - start)) return NULL;
		return (region->access & access) == access ? region : NULL;
	}
	return NULL;
}

static int add_work(struct queue_pair *pair, struct ring *ring, struct work work, const struct ibv_sge *list, int sges)
{
	const int access = ring == &pair->receives ? local_write : 0;
	uint64_t length = 0;
	if (sges < 0 || (uint32_t)sges > ring->most_sges) return EINVAL;
	if (ring->in_use == ring->size) return ENOMEM;
	for (int at = 0; at < sges; at++) {
		work.sge[at] = list[at];
		work.regions[at] = region_of(pair->verbs.pd, &list[at], access);
		if (work.regions[at] == NULL || list[at].length == 0) return EINVAL;
		length += list[at].length;
	}
	if (length > most_message) return EINVAL;
	for (int at = 0; at < sges; at++) work.regions[at]->users++;
	work.sges = sges;
	work.length = (uint32_t)length;
	work.posted_at = nanoseconds();
	ring->works[(ring->first + ring->count++) % ring->size] = work;
	ring->in_use++;
	return 0;
}

/* Receiving */

static void receive(struct queue_pair *pair, const struct message *message)
{
	const struct work *work = &pair->receives.works[pair->receives.first];
	if (message->length > work->length) {
		complete(pair, &pair->receives, length_error, 0);
		fail(pair, failed);
		return;
	}
	uint32_t done = 0;
	for (int at = 0; at < work->sges && done < message->length; at++) {
		const uint32_t left = message->length - done;
		const uint32_t size = left < work->sge[at].length ? left : work->sge[at].length;
		memcpy((void *)(uintptr_t)work->sge[at].addr, message->bytes + done, size);
		done += size;
	}
	complete(pair, &pair->receives, success, message->length);
}

static int can_receive(const struct queue_pair *pair)
{
	return pair->verbs.state >= ready_to_receive && pair->verbs.state != failed && pair->receives.count > 0;
}

/* Packets of a different size are only noticed in a message of several packets. */
static int has_wrong_packets(const struct queue_pair *pair, const struct message *message)
{
	const uint32_t smaller = message->mtu < pair->mtu ? message->mtu : pair->mtu;
	return message->mtu != pair->mtu && message->length > 128u << smaller;
}

static void deliver(struct queue_pair *pair, uint64_t now)
{
	while (pair->arrived != NULL && pair->arrived->due <= now) {
		struct message *message = pair->arrived;
		pair->arrived = message->next;
		if (can_receive(pair) && !has_wrong_packets(pair, message)) receive(pair, message);
		free(message);
	}
}

static void assemble(struct queue_pair *pair, const struct segment *head, const uint8_t *bytes, uint32_t size)
{
	struct message *message = pair->incoming;
	if (memcmp(head->source, pair->peer_gid, 16) != 0) return;
	if (head->at == 0) {
		free(message);
		message = pair->incoming = allocated(sizeof *message + head->length);
		message->number = head->number;
		message->due = head->due;
		message->length = head->length;
		message->mtu = head->mtu;
	}
	if (message == NULL || message->number != head->number || message->present != head->at) return;
	if (size > message->length - message->present) die("a segment is longer than its message");
	memcpy(message->bytes + message->present, bytes, size);
	message->present += size;
	if (message->present < message->length) return;
	struct message **end = &pair->arrived;
	while (*end != NULL) end = &(*end)->next;
	*end = message;
	pair->incoming = NULL;
}

/* Returns 0 if segments may remain. */
static int take_segments(struct queue_pair *pair)
{
	static uint8_t bytes[sizeof(struct segment) + segment_size];
	struct segment head;
	for (int turn = 0; turn < most_segments_per_turn; turn++) {
		const ssize_t size = recv(pair->socket, bytes, sizeof bytes, 0);
		if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 1;
		if (size < (ssize_t)sizeof head) continue;
		memcpy(&head, bytes, sizeof head);
		assemble(pair, &head, bytes + sizeof head, (uint32_t)((size_t)size - sizeof head));
	}
	return 0;
}

/* Sending */

static uint64_t departure(struct device *device, const struct work *work)
{
	if (device->set.rate_mbit <= 0) return 1;
	const uint64_t start = work->posted_at > device->free_at ? work->posted_at : device->free_at;
	device->free_at = start + (uint64_t)work->length * 8000 / (uint64_t)device->set.rate_mbit;
	return device->free_at;
}

static int is_nth(uint64_t number, int every) { return every > 0 && number % (uint64_t)every == 0; }

/* Reads the memory of the caller, which may change it until then. */
static void begin_message(struct queue_pair *pair, const struct work *work, uint64_t now)
{
	struct device *device = device_of(pair);
	struct message *message = pair->outgoing = allocated(sizeof *message + work->length);
	const uint64_t number = ++device->messages;
	for (int at = 0; at < work->sges; at++) {
		memcpy(message->bytes + message->length, (const void *)(uintptr_t)work->sge[at].addr, work->sge[at].length);
		message->length += work->sge[at].length;
	}
	message->number = (uint64_t)pair->verbs.qp_num << 32 | (pair->sent++ & 0xffffffff);
	message->due = now + (uint64_t)device->set.delay_us * 1000;
	if (is_nth(number, device->set.flip_every) && message->length > 0)
		message->bytes[number * 2654435761u % message->length] ^= 0xff;
	pair->loses_end = is_nth(number, device->set.lose_every);
}

/* Returns 0 if the socket of the peer is full. */
static int send_segment(struct queue_pair *pair, struct segment *head, uint8_t *bytes, uint32_t size)
{
	struct iovec parts[] = {{head, sizeof *head}, {bytes, size}};
	const struct msghdr datagram = {
		.msg_name = &pair->peer, .msg_namelen = sizeof pair->peer, .msg_iov = parts, .msg_iovlen = 2,
	};
	while (sendmsg(pair->socket, &datagram, 0) < 0) {
		switch (errno) {
		case EINTR: continue;
		case EAGAIN: case ENOBUFS: return 0;
		case ENOENT: case ECONNREFUSED: case ECONNRESET: case EPIPE: return 1;
		default: die(strerror(errno));
		}
	}
	return 1;
}

/* Returns 0 if the peer must take segments first. A peer that takes none for two seconds loses the message. */
static int transmit(struct queue_pair *pair, uint64_t now)
{
	struct message *message = pair->outgoing;
	if (pair->peer.sun_path[0] == 0) return 1;
	do {
		const uint32_t left = message->length - message->present;
		const uint32_t size = left < segment_size ? left : segment_size;
		struct segment head = {
			.number = message->number, .due = message->due, .at = message->present, .length = message->length,
			.mtu = pair->mtu,
		};
		memcpy(head.source, pair->gid, 16);
		if (size == left && pair->loses_end) return 1;
		if (!send_segment(pair, &head, message->bytes + message->present, size)) {
			if (pair->stuck_since == 0) pair->stuck_since = now;
			return now - pair->stuck_since > 2 * second;
		}
		pair->stuck_since = 0;
		message->present += size;
	} while (message->present < message->length);
	return 1;
}

static void send_messages(struct queue_pair *pair, uint64_t now)
{
	struct device *device = device_of(pair);
	while (pair->verbs.state == ready_to_send && pair->sends.count > 0) {
		const struct work *work = &pair->sends.works[pair->sends.first];
		if (device->set.send_status != 0 && !device->has_failed_send) {
			device->has_failed_send = 1;
			complete(pair, &pair->sends, device->set.send_status, 0);
			fail(pair, send_error);
			return;
		}
		if (pair->sends_at == 0) pair->sends_at = departure(device, work);
		if (pair->sends_at > now) return;
		if (pair->outgoing == NULL) begin_message(pair, work, now);
		if (!transmit(pair, now)) return;
		forget_outgoing(pair);
		complete(pair, &pair->sends, success, 0);
	}
}

/* Moves the messages of all queue pairs. Returns the time of the next move that no socket announces. */
static uint64_t move(void)
{
	uint64_t next = UINT64_MAX;
	for (struct queue_pair *pair = pairs; pair != NULL; pair = pair->next) {
		if (pair->socket < 0) continue;
		const int took_all = take_segments(pair);
		const uint64_t now = nanoseconds();
		deliver(pair, now);
		send_messages(pair, now);
		const uint64_t delivery = pair->arrived != NULL ? pair->arrived->due : UINT64_MAX;
		const uint64_t departure = pair->outgoing != NULL ? now + 100000 : pair->sends_at != 0 ? pair->sends_at : UINT64_MAX;
		if (delivery < next) next = delivery;
		if (departure < next) next = departure;
		if (!took_all) next = now;
	}
	return next;
}

static void wake_thread(void)
{
	const ssize_t written = write(wake[1], "", 1);
	(void)written; /* a full pipe wakes the thread too */
}

static void move_now(void)
{
	const uint64_t next = move();
	if (next >= thread_wakes_at) return;
	thread_wakes_at = next;
	wake_thread();
}

/* Returns the highest socket. */
static int sleep_sets(fd_set *sockets, struct timeval *pause)
{
	LOCK();
	int highest = wake[0];
	const uint64_t next = move(), now = nanoseconds(), latest = now + second;
	thread_wakes_at = next < latest ? next : latest;
	const uint64_t left = thread_wakes_at > now ? thread_wakes_at - now : 0;
	*pause = (struct timeval){.tv_sec = (time_t)(left / second), .tv_usec = (suseconds_t)(left % second / 1000)};
	FD_ZERO(sockets);
	FD_SET(wake[0], sockets);
	for (struct queue_pair *pair = pairs; pair != NULL; pair = pair->next) {
		if (pair->socket < 0) continue;
		FD_SET(pair->socket, sockets);
		if (pair->socket > highest) highest = pair->socket;
	}
	return highest;
}

_Noreturn static void *move_always(void *nothing)
{
	fd_set sockets;
	struct timeval pause;
	char bytes[64];
	(void)nothing;
	for (;;) {
		const int highest = sleep_sets(&sockets, &pause);
		select(highest + 1, &sockets, NULL, NULL, &pause);
		while (read(wake[0], bytes, sizeof bytes) > 0) continue;
	}
}

static int prepared(int descriptor)
{
	if (descriptor < 0 || descriptor >= FD_SETSIZE) die("no descriptor");
	fcntl(descriptor, F_SETFD, FD_CLOEXEC);
	fcntl(descriptor, F_SETFL, O_NONBLOCK);
	return descriptor;
}

/* The thread leaves all signals to the program, except those of its own faults. */
static void start_thread(void)
{
	static int is_started;
	pthread_t thread;
	sigset_t blocked, before;
	if (is_started) return;
	is_started = 1;
	if (pipe(wake) != 0) die(strerror(errno));
	prepared(wake[0]);
	prepared(wake[1]);
	sigfillset(&blocked);
	sigdelset(&blocked, SIGSEGV);
	sigdelset(&blocked, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	if (pthread_create(&thread, NULL, move_always, NULL) != 0) die("no thread");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_detach(thread);
}

static void set_path(struct sockaddr_un *address, const uint8_t gid[16], uint32_t number)
{
	const char *folder = fake_wire();
	if (folder == NULL) die("no folder for the sockets");
	address->sun_family = AF_UNIX;
	const int length = snprintf(address->sun_path, sizeof address->sun_path, "%s/%02x%02x%02x%02x-%06x", folder,
		(unsigned)gid[12], (unsigned)gid[13], (unsigned)gid[14], (unsigned)gid[15], (unsigned)number);
	if (length >= (int)sizeof address->sun_path) die("the path of the sockets is too long");
}

static void open_socket(struct queue_pair *pair)
{
	const int size = buffer_size;
	set_path(&pair->own, pair->gid, pair->verbs.qp_num);
	unlink(pair->own.sun_path);
	pair->socket = prepared(socket(AF_UNIX, SOCK_DGRAM, 0));
	setsockopt(pair->socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	setsockopt(pair->socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	if (bind(pair->socket, (struct sockaddr *)&pair->own, sizeof pair->own) != 0) die(strerror(errno));
	chmod(pair->own.sun_path, 0666); /* the account at the other end may be a different one */
	start_thread();
	wake_thread();
}

/* States */

static void forget_completions(struct completion_queue *queue, const struct queue_pair *pair)
{
	int kept = 0;
	for (int at = 0; at < queue->count; at++) {
		const struct ring *ring = queue->entries[at].ring;
		if (ring != &pair->sends && ring != &pair->receives) queue->entries[kept++] = queue->entries[at];
	}
	queue->count = kept;
}

static void clear(struct ring *ring)
{
	for (uint32_t at = 0; at < ring->count; at++) release(&ring->works[(ring->first + at) % ring->size]);
	ring->first = ring->count = ring->in_use = ring->unreported = 0;
}

static void reset_pair(struct queue_pair *pair)
{
	if (pair->socket >= 0) {
		unlink(pair->own.sun_path);
		close(pair->socket);
		wake_thread();
	}
	pair->socket = -1;
	pair->stuck_since = 0;
	forget_outgoing(pair);
	free(pair->incoming);
	pair->incoming = NULL;
	for (struct message *next; pair->arrived != NULL; pair->arrived = next) {
		next = pair->arrived->next;
		free(pair->arrived);
	}
	clear(&pair->sends);
	clear(&pair->receives);
	forget_completions((struct completion_queue *)pair->verbs.send_cq, pair);
	forget_completions((struct completion_queue *)pair->verbs.recv_cq, pair);
	pair->verbs.state = reset;
}

static int to_init(struct queue_pair *pair, const struct ibv_qp_attr *attributes, int mask)
{
	if (pair->verbs.state != reset || mask != for_init) return EINVAL;
	if (attributes->port_num != 1 || attributes->pkey_index != 0) return EINVAL;
	return device_of(pair)->set.init_error;
}

static int is_reachable(const struct device *device, const uint8_t gid[16])
{
	for (int at = 0; at < device->peer_count; at++)
		if (memcmp(device->peers[at], gid, 16) == 0) return 1;
	return device->peer_count == 0;
}

static int to_receiving(struct queue_pair *pair, const struct ibv_qp_attr *attributes, int mask)
{
	const struct device *device = device_of(pair);
	const struct ibv_ah_attr *address = &attributes->ah_attr;
	const uint8_t *gid = device->gids[address->grh.sgid_index], *peer = address->grh.dgid.raw;
	if (pair->verbs.state != init || mask != for_receiving) return EINVAL;
	if (attributes->path_mtu < 1 || attributes->path_mtu > 5 || attributes->dest_qp_num > 0xffffff) return EINVAL;
	if (address->is_global != 1 || address->port_num != 1) return EINVAL;
	if (address->grh.sgid_index >= device->set.gid_tbl_len || !is_mapped(gid)) return EINVAL;
	if (!is_reachable(device, peer)) return mac_timed_out;
	if (device->set.rtr_error != 0) return device->set.rtr_error;
	pair->mtu = (uint32_t)attributes->path_mtu;
	memcpy(pair->gid, gid, 16);
	memcpy(pair->peer_gid, peer, 16);
	memset(&pair->peer, 0, sizeof pair->peer);
	if (is_mapped(peer)) set_path(&pair->peer, peer, attributes->dest_qp_num);
	open_socket(pair);
	return 0;
}

static int to_sending(const struct queue_pair *pair, int mask)
{
	if (pair->verbs.state != ready_to_receive || mask != for_sending) return EINVAL;
	return device_of(pair)->set.rts_error;
}

static int change_state(struct queue_pair *pair, const struct ibv_qp_attr *attributes, int mask)
{
	switch (attributes->qp_state) {
	case init: return to_init(pair, attributes, mask);
	case ready_to_receive: return to_receiving(pair, attributes, mask);
	case ready_to_send: return to_sending(pair, mask);
	case reset: case failed: return mask == has_state ? 0 : EINVAL;
	default: return EINVAL;
	}
}

int ibv_modify_qp(struct ibv_qp *verbs, struct ibv_qp_attr *attributes, int mask)
{
	LOCK();
	struct queue_pair *pair = (struct queue_pair *)verbs;
	owner(verbs->context);
	if (!(mask & has_state)) return EINVAL;
	move_now();
	const int error = change_state(pair, attributes, mask);
	if (error != 0) return error;
	verbs->state = attributes->qp_state;
	if (verbs->state == reset) reset_pair(pair);
	if (verbs->state == failed) fail(pair, failed);
	return 0;
}

/* Operations */

static int post_send_one(struct queue_pair *pair, const struct ibv_send_wr *wr)
{
	struct work work = {
		.id = wr->wr_id, .is_signaled = pair->signals_all || (wr->send_flags & flag_signaled) != 0,
	};
	if (pair->verbs.state < ready_to_send) return EINVAL;
	if (wr->opcode != operation_send || (wr->send_flags & ~(uint32_t)(flag_signaled | flag_solicited))) return EINVAL;
	const int error = device_of(pair)->set.post_send_error;
	return error != 0 ? error : add_work(pair, &pair->sends, work, wr->sg_list, wr->num_sge);
}

static int post_send(struct ibv_qp *verbs, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	LOCK();
	struct queue_pair *pair = (struct queue_pair *)verbs;
	int error = 0;
	owner(verbs->context);
	for (; wr != NULL && error == 0; wr = wr->next) {
		error = post_send_one(pair, wr);
		if (error != 0) *bad = wr;
	}
	if (verbs->state == send_error || verbs->state == failed) flush(pair, &pair->sends);
	move_now();
	return error;
}

static int post_receive_one(struct queue_pair *pair, const struct ibv_recv_wr *wr)
{
	const struct work work = {.id = wr->wr_id, .is_signaled = 1};
	if (pair->verbs.state < init) return EINVAL;
	const int error = device_of(pair)->set.post_recv_error;
	return error != 0 ? error : add_work(pair, &pair->receives, work, wr->sg_list, wr->num_sge);
}

/* Messages that have already arrived do not find the new request. */
static int post_receive(struct ibv_qp *verbs, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	LOCK();
	struct queue_pair *pair = (struct queue_pair *)verbs;
	int error = 0;
	owner(verbs->context);
	move_now();
	for (; wr != NULL && error == 0; wr = wr->next) {
		error = post_receive_one(pair, wr);
		if (error != 0) *bad = wr;
	}
	if (verbs->state == failed) flush(pair, &pair->receives);
	return error;
}

static int poll_queue(struct ibv_cq *verbs, int most, struct ibv_wc *completions)
{
	LOCK();
	struct completion_queue *queue = (struct completion_queue *)verbs;
	if (owner(verbs->context)->device->set.poll_error != 0) return -1;
	move_now();
	const int count = most < 0 ? 0 : most < queue->count ? most : queue->count;
	for (int at = 0; at < count; at++) {
		completions[at] = queue->entries[at].completion;
		queue->entries[at].ring->in_use -= queue->entries[at].slots;
	}
	queue->count -= count;
	memmove(queue->entries, queue->entries + count, (size_t)queue->count * sizeof *queue->entries);
	return count;
}

const struct ibv_context_ops fake_operations = {
	.poll_cq = poll_queue, .post_send = post_send, .post_recv = post_receive,
};

/* Objects */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *verbs)
{
	LOCK();
	struct context *context = owner(verbs);
	struct device *device = context->device;
	if (device->pds >= device->set.max_pd) return no(ENOMEM);
	if (device->set.alloc_pd_error != 0) return no(device->set.alloc_pd_error);
	struct domain *domain = allocated(sizeof *domain);
	domain->verbs.context = verbs;
	context->objects++;
	device->pds++;
	return fake_opened(protection_domains, domain);
}

int ibv_dealloc_pd(struct ibv_pd *verbs)
{
	LOCK();
	struct context *context = owner(verbs->context);
	if (((struct domain *)verbs)->users > 0) return EBUSY;
	context->objects--;
	context->device->pds--;
	fake_closed(protection_domains);
	free(verbs);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *domain, void *address, size_t length, int access)
{
	static uint32_t last_key = 0x1100;
	LOCK();
	struct context *context = owner(domain->context);
	struct device *device = context->device;
	const int is_remote = (access & (remote_write | remote_atomic)) != 0;
	if (address == NULL || length == 0 || (is_remote && !(access & local_write))) return no(EINVAL);
	if (device->mrs >= device->set.max_mr) return no(ENOMEM);
	if (device->set.reg_mr_error != 0) return no(device->set.reg_mr_error);
	struct region *region = allocated(sizeof *region);
	const uint32_t key = last_key += 0x101;
	region->verbs = (struct ibv_mr){
		.context = domain->context, .pd = domain, .addr = address, .length = length, .lkey = key, .rkey = ~key,
	};
	region->access = access;
	region->next = regions;
	regions = region;
	((struct domain *)domain)->users++;
	context->objects++;
	device->mrs++;
	return fake_opened(memory_regions, region);
}

int ibv_dereg_mr(struct ibv_mr *verbs)
{
	LOCK();
	struct context *context = owner(verbs->context);
	struct region *region = (struct region *)verbs;
	if (region->users > 0) return EBUSY;
	struct region **link = &regions;
	while (*link != region) link = &(*link)->next;
	*link = region->next;
	((struct domain *)verbs->pd)->users--;
	context->objects--;
	context->device->mrs--;
	fake_closed(memory_regions);
	free(region);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *verbs, int entries, void *own, void *channel, int vector)
{
	LOCK();
	struct context *context = owner(verbs);
	struct device *device = context->device;
	if (entries < 1 || entries > most_entries || channel != NULL || vector != 0) return no(EINVAL);
	if (device->cqs >= device->set.max_cq) return no(ENOMEM);
	if (device->set.create_cq_error != 0) return no(device->set.create_cq_error);
	struct completion_queue *queue = allocated(sizeof *queue);
	queue->verbs = (struct ibv_cq){.context = verbs, .cq_context = own, .cqe = entries};
	queue->entries = allocated((size_t)entries * sizeof *queue->entries);
	context->objects++;
	device->cqs++;
	return fake_opened(completion_queues, queue);
}

int ibv_destroy_cq(struct ibv_cq *verbs)
{
	LOCK();
	struct context *context = owner(verbs->context);
	struct completion_queue *queue = (struct completion_queue *)verbs;
	if (queue->users > 0) return EBUSY;
	context->objects--;
	context->device->cqs--;
	fake_closed(completion_queues);
	free(queue->entries);
	free(queue);
	return 0;
}

static int is_possible(const struct ibv_pd *domain, const struct ibv_qp_init_attr *wanted)
{
	const struct ibv_qp_cap *most = &wanted->cap;
	if (wanted->send_cq == NULL || wanted->recv_cq == NULL) die("a queue pair needs completion queues");
	return wanted->send_cq->context == domain->context && wanted->recv_cq->context == domain->context
		&& wanted->srq == NULL && most->max_inline_data == 0 && most->max_send_wr <= most_works
		&& most->max_recv_wr <= most_works && most->max_send_sge <= most_sges && most->max_recv_sge <= most_sges;
}

static struct ring new_ring(uint32_t size, uint32_t sges)
{
	return (struct ring){.works = allocated(size * sizeof(struct work)), .size = size, .most_sges = sges};
}

static void count_users(const struct queue_pair *pair, int change)
{
	struct context *context = (struct context *)pair->verbs.context;
	((struct domain *)pair->verbs.pd)->users += change;
	((struct completion_queue *)pair->verbs.send_cq)->users += change;
	((struct completion_queue *)pair->verbs.recv_cq)->users += change;
	context->objects += change;
	context->device->qps += change;
}

/* The numbers of two processes differ, and none is 0 or 1, which are reserved. */
static uint32_t next_number(void)
{
	static uint32_t created;
	return 2 + ((uint32_t)getpid() * 64 + created++) % 0xfffffd;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *domain, struct ibv_qp_init_attr *wanted)
{
	LOCK();
	struct device *device = owner(domain->context)->device;
	if (wanted->qp_type != unreliable_connection) return no(mac_not_supported);
	if (!is_possible(domain, wanted)) return no(EINVAL);
	if (device->qps >= device->set.max_qp) return no(EBUSY);
	if (device->set.create_qp_error != 0) return no(device->set.create_qp_error);
	struct queue_pair *pair = allocated(sizeof *pair);
	pair->verbs = (struct ibv_qp){
		.context = domain->context, .qp_context = wanted->qp_context, .pd = domain, .send_cq = wanted->send_cq,
		.recv_cq = wanted->recv_cq, .qp_num = next_number(), .state = reset, .qp_type = wanted->qp_type,
	};
	pair->signals_all = wanted->sq_sig_all;
	pair->socket = -1;
	pair->sends = new_ring(wanted->cap.max_send_wr, wanted->cap.max_send_sge);
	pair->receives = new_ring(wanted->cap.max_recv_wr, wanted->cap.max_recv_sge);
	pair->next = pairs;
	pairs = pair;
	count_users(pair, 1);
	return fake_opened(queue_pairs, pair);
}

int ibv_destroy_qp(struct ibv_qp *verbs)
{
	LOCK();
	struct queue_pair *pair = (struct queue_pair *)verbs;
	const int error = owner(verbs->context)->device->set.destroy_qp_error;
	if (error != 0) return error;
	struct queue_pair **link = &pairs;
	while (*link != pair) link = &(*link)->next;
	*link = pair->next;
	reset_pair(pair);
	count_users(pair, -1);
	fake_closed(queue_pairs);
	free(pair->sends.works);
	free(pair->receives.works);
	free(pair);
	return 0;
}
