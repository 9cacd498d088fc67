/* Shared by the two files of the fake verbs library. */
#pragma once

#include <pthread.h>
#include <stdint.h>

enum { most_devices = 70, most_gids = 1024, most_peers = 64 };

/*
 * The fields of `set`. Each error is reported as rdma-core does: as a number, or as -1 or null with the number in
 * errno. The last five settings apply to the messages that the device sends in this process.
 */
struct settings {
	int transport, phys_port_cnt, max_qp, max_cq, max_pd, max_mr, fw_ver_endless;
	int state, max_mtu, active_mtu, gid_tbl_len, active_width, active_speed, link_layer;
	int open_error, close_error, query_device_error, query_port_error, query_gid_error;
	int device_shift; /* a library whose struct has this many more bytes at its start, or fewer */
	int port_shift;
	int longer; /* a library whose structs have this many more bytes at the end, or fewer */
	int silent; /* every query succeeds and writes nothing */
	int silent_gid;
	int null_name;
	int alloc_pd_error, create_cq_error, create_qp_error, reg_mr_error, destroy_qp_error;
	int init_error, rtr_error, rts_error, post_send_error, post_recv_error, poll_error;
	int send_status; /* the status of the first send completion */
	int lose_every, flip_every; /* every Nth message is lost, or has one wrong byte */
	int delay_us, rate_mbit;
};

struct device {
	uint8_t name[64];
	uint8_t guid[8];
	struct settings set;
	uint8_t gids[most_gids][16];
	uint8_t peers[most_peers][16];
	int peer_count;

	int pds, cqs, mrs, qps; /* open in this process */
	uint64_t messages; /* sent by this process */
	uint64_t free_at; /* when `rate_mbit` allows the next message */
	int has_failed_send;
};

struct ibv_cq;
struct ibv_qp;
struct ibv_wc;
struct ibv_send_wr;
struct ibv_recv_wr;

struct ibv_context_ops {
	void *query_device, *query_port, *alloc_pd, *dealloc_pd, *reg_mr, *rereg_mr, *dereg_mr;
	void *alloc_mw, *bind_mw, *dealloc_mw, *create_cq;
	int (*poll_cq)(struct ibv_cq *queue, int most, struct ibv_wc *completions);
	void *req_notify_cq, *cq_event, *resize_cq, *destroy_cq;
	void *create_srq, *modify_srq, *query_srq, *destroy_srq, *post_srq_recv;
	void *create_qp, *query_qp, *modify_qp, *destroy_qp;
	int (*post_send)(struct ibv_qp *pair, struct ibv_send_wr *work, struct ibv_send_wr **bad);
	int (*post_recv)(struct ibv_qp *pair, struct ibv_recv_wr *work, struct ibv_recv_wr **bad);
	void *create_ah, *destroy_ah, *attach_mcast, *detach_mcast, *async_event;
};

struct ibv_context {
	void *device;
	struct ibv_context_ops ops;
	int cmd_fd, async_fd, num_comp_vectors;
	pthread_mutex_t mutex;
	void *abi_compat;
};

/* The first member of each object is the struct that callers see. */
struct context {
	struct ibv_context verbs;
	struct device *device;
	int objects; /* open objects that belong to this context */
	int is_closed;
};

enum kind { lists, contexts, protection_domains, completion_queues, queue_pairs, memory_regions };

void *fake_opened(enum kind kind, void *object);
void fake_closed(enum kind kind);

/* The folder of the sockets, or null. */
const char *fake_wire(void);

extern const struct ibv_context_ops fake_operations;
