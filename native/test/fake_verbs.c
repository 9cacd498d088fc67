/*
 * A fake verbs library for the tests and for simulated Macs, with the devices of the text file in MESHWRIGHT_FAKE_VERBS.
 * Without this variable, the library must be a simulated Mac's librdma.dylib, and reads the file `verbs-devices` of that
 * Mac's simulator, if there is one. It describes the structs itself, from the manual pages of rdma-core, and shares no
 * header with the probe. `fake_wire.c` carries the messages.
 *
 * The file has one statement per line. `device HEX` begins a device; HEX are the bytes of its name. `gid INDEX HEX` adds
 * an entry to its GID table. `peer HEX` adds a GID that the device can reach; without this statement it reaches every
 * GID. `set FIELD NUMBER` sets a field of the device, or of the library before the first device.
 *
 * When the process ends, the library writes to the file in MESHWRIGHT_FAKE_VERBS_COUNTS how many objects of each kind
 * were opened, and how many of them are still open.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_verbs.h"

struct ibv_device {
	void *dummy_open, *dummy_close;
	int node_type;
	int transport_type;
	char name[64];
	char dev_name[64];
	char dev_path[256];
	char ibdev_path[256];
};

struct ibv_device_attr {
	char fw_ver[64];
	uint8_t node_guid[8], sys_image_guid[8];
	uint64_t max_mr_size, page_size_cap;
	uint32_t vendor_id, vendor_part_id, hw_ver;
	int max_qp, max_qp_wr, device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd;
	int max_qp_rd_atom, max_ee_rd_atom, max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom;
	int atomic_cap, max_ee, max_rdd, max_mw, max_raw_ipv6_qp, max_raw_ethy_qp;
	int max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
	int max_ah, max_fmr, max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge;
	uint16_t max_pkeys;
	uint8_t local_ca_ack_delay, phys_port_cnt;
};

struct ibv_port_attr {
	int state, max_mtu, active_mtu, gid_tbl_len;
	uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
	uint16_t pkey_tbl_len, lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply;
	uint8_t active_width, active_speed, phys_state, link_layer, flags;
};

static const struct { const char *name; size_t at; } fields[] = {
#define FIELD(name) {#name, offsetof(struct settings, name)}
	FIELD(transport), FIELD(phys_port_cnt), FIELD(max_qp), FIELD(max_cq), FIELD(max_pd), FIELD(max_mr),
	FIELD(fw_ver_endless), FIELD(state), FIELD(max_mtu), FIELD(active_mtu), FIELD(gid_tbl_len),
	FIELD(active_width), FIELD(active_speed), FIELD(link_layer), FIELD(open_error), FIELD(close_error),
	FIELD(query_device_error), FIELD(query_port_error), FIELD(query_gid_error), FIELD(device_shift),
	FIELD(port_shift), FIELD(longer), FIELD(silent), FIELD(silent_gid), FIELD(null_name),
	FIELD(alloc_pd_error), FIELD(create_cq_error), FIELD(create_qp_error), FIELD(reg_mr_error),
	FIELD(destroy_qp_error), FIELD(init_error), FIELD(rtr_error), FIELD(rts_error), FIELD(post_send_error),
	FIELD(post_recv_error), FIELD(poll_error), FIELD(send_status), FIELD(lose_every), FIELD(flip_every),
	FIELD(delay_us), FIELD(rate_mbit),
};

static const struct settings usual = {
	.transport = 100, .phys_port_cnt = 1, .max_qp = 11, .max_cq = 11, .max_pd = 11, .max_mr = 100,
	.state = 1, .max_mtu = 5, .active_mtu = 5, .gid_tbl_len = 1024,
	.active_width = 4, .active_speed = 4, .link_layer = 100,
};

static struct device devices[most_devices];
static int count, list_error, is_null_list, miscounted;
static struct { const char *name; int opened, open; } kinds[] = {
	{"lists", 0, 0}, {"contexts", 0, 0}, {"protectionDomains", 0, 0}, {"completionQueues", 0, 0}, {"queuePairs", 0, 0},
	{"memoryRegions", 0, 0},
};

static char simulator[PATH_MAX]; /* the folder of the simulator's files on a simulated Mac, or empty */

static const char *simulated(const char *name)
{
	static char path[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s/%s", simulator, name);
	return path;
}

const char *fake_wire(void)
{
	static char folder[PATH_MAX];
	return simulator[0] == 0 ? getenv("MESHWRIGHT_FAKE_VERBS_WIRE") : realpath(simulated("wire"), folder);
}

/* The name of this process in `ps`. */
static void print_name(FILE *file)
{
#ifdef __APPLE__
	fprintf(file, "%s\n", getprogname());
#else
	char name[64] = "";
	FILE *own = fopen("/proc/self/comm", "r");
	if (own == NULL) return;
	if (fgets(name, sizeof name, own) != NULL) fputs(name, file);
	fclose(own);
#endif
}

/* A simulated kernel counts the objects of each process, from a file named after the process. */
static void show_kernel(void)
{
	char name[64];
	FILE *file = NULL;
	if (simulator[0] == 0) return;
	snprintf(name, sizeof name, "rdma-clients/%d", (int)getpid());
	for (int at = 0; at < count; at++) {
		if (devices[at].pds == 0) continue;
		if (file == NULL && (file = fopen(simulated(name), "w")) == NULL) return;
		if (ftell(file) == 0) print_name(file);
		fprintf(file, "%s %d %d\n", (const char *)devices[at].name, devices[at].pds, devices[at].qps);
	}
	if (file == NULL) unlink(simulated(name));
	else fclose(file);
}

void *fake_opened(enum kind kind, void *object)
{
	kinds[kind].opened++;
	kinds[kind].open++;
	show_kernel();
	return object;
}

void fake_closed(enum kind kind)
{
	kinds[kind].open--;
	show_kernel();
}

static void from_hex(const char *hex, uint8_t *bytes, size_t most)
{
	unsigned byte;
	for (size_t at = 0; at < most && sscanf(hex + 2 * at, "%2x", &byte) == 1; at++)
		bytes[at] = (uint8_t)byte;
}

static void set(const char *field, int value)
{
	if (strcmp(field, "list_error") == 0) { list_error = value; is_null_list = 1; return; }
	if (strcmp(field, "miscounted") == 0) { miscounted = value; return; }
	for (size_t at = 0; at < sizeof fields / sizeof *fields; at++)
		if (count > 0 && strcmp(field, fields[at].name) == 0) {
			memcpy((char *)&devices[count - 1].set + fields[at].at, &value, sizeof value);
			return;
		}
	fprintf(stderr, "fake verbs: no field %s\n", field);
	abort();
}

/* Opens the text file with the devices; null on a simulated Mac without devices. */
static FILE *open_devices(void)
{
	static const char own[] = "/usr/lib/librdma.dylib";
	const char *path = getenv("MESHWRIGHT_FAKE_VERBS");
	Dl_info library = {0};
	if (path == NULL) {
		dladdr(simulator, &library);
		const char *end = library.dli_fname == NULL ? NULL : strstr(library.dli_fname, own);
		if (end == NULL || end[sizeof own - 1] != 0) abort();
		snprintf(simulator, sizeof simulator, "%.*s/.sim", (int)(end - library.dli_fname), library.dli_fname);
		while (access(simulated("verbs-hung"), F_OK) == 0) pause();
		return fopen(simulated("verbs-devices"), "r");
	}
	FILE *file = fopen(path, "r");
	if (file == NULL) abort();
	return file;
}

__attribute__((constructor)) static void read_devices(void)
{
	char line[256], word[64], rest[160];
	int number;
	FILE *file = open_devices();
	if (file == NULL) return;
	while (fgets(line, sizeof line, file) != NULL) {
		if (sscanf(line, "device %159s", rest) == 1 && count < most_devices) {
			devices[count].set = usual;
			from_hex(rest, devices[count++].name, 64);
		} else if (sscanf(line, "guid %159s", rest) == 1 && count > 0) {
			from_hex(rest, devices[count - 1].guid, 8);
		} else if (sscanf(line, "gid %d %159s", &number, rest) == 2 && count > 0 && number < most_gids) {
			from_hex(rest, devices[count - 1].gids[number], 16);
		} else if (sscanf(line, "peer %159s", rest) == 1 && count > 0 && devices[count - 1].peer_count < most_peers) {
			from_hex(rest, devices[count - 1].peers[devices[count - 1].peer_count++], 16);
		} else if (sscanf(line, "set %63s %d", word, &number) == 2) {
			set(word, number);
		} else {
			abort();
		}
	}
	fclose(file);
}

__attribute__((destructor)) static void write_counts(void)
{
	const char *path = getenv("MESHWRIGHT_FAKE_VERBS_COUNTS");
	FILE *file = path == NULL ? NULL : fopen(path, "w");
	for (int at = 0; at < count; at++) devices[at].pds = 0;
	show_kernel();
	if (file == NULL) return;
	for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++)
		fprintf(file, "%s\"%s\":{\"opened\":%d,\"open\":%d}", at == 0 ? "{" : ",", kinds[at].name, kinds[at].opened, kinds[at].open);
	fputs("}\n", file);
	fclose(file);
}

/* Each list has its own copies, so that a device that is used after its list was freed is an error of the sanitizer. */
struct ibv_device **ibv_get_device_list(int *number)
{
	if (is_null_list) { errno = list_error; return NULL; }
	struct ibv_device **list = calloc((size_t)count + 1, sizeof *list);
	for (int at = 0; at < count; at++) {
		list[at] = calloc(1, sizeof **list);
		list[at]->transport_type = devices[at].set.transport;
		memcpy(list[at]->name, devices[at].name, 64);
		snprintf(list[at]->dev_name, 64, "%d", at);
	}
	*number = count + miscounted;
	return fake_opened(lists, list);
}

void ibv_free_device_list(struct ibv_device **list)
{
	for (int at = 0; list[at] != NULL; at++) free(list[at]);
	free(list);
	fake_closed(lists);
}

static struct device *behind(const struct ibv_device *device) { return &devices[atoi(device->dev_name)]; }

const char *ibv_get_device_name(struct ibv_device *device)
{
	return behind(device)->set.null_name ? NULL : device->name;
}

uint64_t ibv_get_device_guid(struct ibv_device *device)
{
	uint64_t guid;
	memcpy(&guid, behind(device)->guid, sizeof guid);
	return guid;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct device *asked = behind(device);
	if (asked->set.open_error != 0) { errno = asked->set.open_error < 0 ? 0 : asked->set.open_error; return NULL; }
	struct context *context = calloc(1, sizeof *context);
	context->verbs = (struct ibv_context){
		.device = device, .ops = fake_operations, .cmd_fd = -1, .async_fd = -1, .num_comp_vectors = 1,
	};
	context->device = asked;
	return fake_opened(contexts, context);
}

/* Objects that are still open keep the memory of their context, so that a later call with them can abort. */
int ibv_close_device(struct ibv_context *verbs)
{
	struct context *context = (struct context *)verbs;
	const int error = context->device->set.close_error;
	context->is_closed = 1;
	if (context->objects == 0) free(context);
	fake_closed(contexts);
	return error;
}

static const struct device *opened_by(const struct ibv_context *context)
{
	return ((const struct context *)context)->device;
}

/* Writes an answer, with the layout of the variant. */
static int answer(const struct settings *set, int shift, void *to, const void *from, size_t size)
{
	uint8_t bytes[1024] = {0};
	if (set->silent) return 0;
	if (shift >= 0) memcpy(bytes + shift, from, size);
	else memcpy(bytes, (const uint8_t *)from - shift, size + (size_t)shift);
	memcpy(to, bytes, (size_t)((int)size + (shift > 0 ? shift : 0) + set->longer));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
{
	const struct device *device = opened_by(context);
	const struct settings *set = &device->set;
	struct ibv_device_attr own = {
		.max_mr_size = 0xfa0000, .max_qp = set->max_qp, .max_qp_wr = 4095, .max_cq = set->max_cq, .max_cqe = 4095,
		.max_mr = set->max_mr, .max_pd = set->max_pd, .max_pkeys = 1, .phys_port_cnt = (uint8_t)set->phys_port_cnt,
	};
	if (set->query_device_error != 0) return set->query_device_error;
	memcpy(own.node_guid, device->guid, 8);
	if (set->fw_ver_endless) memset(own.fw_ver, 'x', sizeof own.fw_ver);
	return answer(set, set->device_shift, attributes, &own, sizeof own);
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes)
{
	const struct settings *set = &opened_by(context)->set;
	const struct ibv_port_attr own = {
		.state = set->state, .max_mtu = set->max_mtu, .active_mtu = set->active_mtu,
		.gid_tbl_len = set->gid_tbl_len, .lid = 1, .sm_lid = 1, .active_width = (uint8_t)set->active_width,
		.active_speed = (uint8_t)set->active_speed, .link_layer = (uint8_t)set->link_layer,
	};
	if (set->query_port_error != 0) return set->query_port_error;
	if (port < 1 || port > set->phys_port_cnt) return EINVAL;
	return answer(set, set->port_shift, attributes, &own, sizeof own);
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, uint8_t *gid)
{
	const struct settings *set = &opened_by(context)->set;
	if (set->query_gid_error != 0) { errno = set->query_gid_error; return -1; }
	if (port < 1 || port > set->phys_port_cnt || index < 0 || index >= set->gid_tbl_len) { errno = EINVAL; return -1; }
	if (!set->silent_gid) memcpy(gid, opened_by(context)->gids[index], 16);
	return 0;
}
