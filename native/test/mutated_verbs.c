/*
 * A verbs library for the fuzzer: the fake one in MESHWRIGHT_FUZZED_VERBS, whose answers it changes at random. It knows
 * where the answers are, but not what they mean.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

enum { name_at = 24, name_size = 64, device_size = 232, port_size = 48, gid_size = 16, longest_tail = 512 };

static uint32_t state;
static void *fake;

/* xorshift32: the same seed gives the same answers. */
static uint32_t random_below(uint32_t limit)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % limit;
}

static int is_rare(uint32_t one_in) { return random_below(one_in) == 0; }

__attribute__((constructor)) static void load(void)
{
	const char *seed = getenv("MESHWRIGHT_FUZZ_SEED"), *path = getenv("MESHWRIGHT_FUZZED_VERBS");
	state = seed == NULL ? 1 : (uint32_t)strtoul(seed, NULL, 10) | 1;
	fake = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (fake == NULL) abort();
}

static void *real(const char *name)
{
	void *function = dlsym(fake, name);
	if (function == NULL) abort();
	return function;
}

/* Changes a few bytes, mostly to the values at which comparisons go wrong. */
static void mutate(uint8_t *bytes, size_t size)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff};
	if (!is_rare(3)) return;
	for (uint32_t count = 1 + random_below(8); count > 0; count--)
		bytes[random_below((uint32_t)size)] = is_rare(2) ? edges[random_below(5)] : (uint8_t)random_below(256);
}

/* The result of a call. The answer may also be longer than the struct. */
static int mutated(int result, void *answer, size_t size)
{
	static const int results[] = {-1, 1, 16, 22, 60, 96, 102, INT32_MAX, INT32_MIN};
	if (is_rare(200)) {
		errno = is_rare(2) ? 0 : results[random_below(9)];
		return results[random_below(9)];
	}
	if (answer != NULL && is_rare(20)) size += 1 + random_below(longest_tail);
	if (answer != NULL) mutate(answer, size);
	return result;
}

void **ibv_get_device_list(int *count)
{
	void **(*call)(int *) = real("ibv_get_device_list");
	void **list = call(count);
	for (int at = 0; list != NULL && list[at] != NULL; at++) mutate((uint8_t *)list[at] + name_at, name_size);
	if (is_rare(50)) *count += (int)random_below(5) - 2;
	if (is_rare(500)) *count = (int)random_below(UINT32_MAX);
	return list;
}

void ibv_free_device_list(void **list)
{
	void (*call)(void **) = real("ibv_free_device_list");
	call(list);
}

const char *ibv_get_device_name(void *device)
{
	const char *(*call)(void *) = real("ibv_get_device_name");
	return is_rare(200) ? NULL : call(device);
}

uint64_t ibv_get_device_guid(void *device)
{
	uint64_t (*call)(void *) = real("ibv_get_device_guid");
	return call(device);
}

void *ibv_open_device(void *device)
{
	void *(*call)(void *) = real("ibv_open_device");
	return is_rare(100) ? NULL : call(device);
}

int ibv_close_device(void *context)
{
	int (*call)(void *) = real("ibv_close_device");
	return mutated(call(context), NULL, 0);
}

int ibv_query_device(void *context, void *answer)
{
	int (*call)(void *, void *) = real("ibv_query_device");
	return mutated(call(context, answer), answer, device_size);
}

int ibv_query_port(void *context, uint8_t port, void *answer)
{
	int (*call)(void *, uint8_t, void *) = real("ibv_query_port");
	return mutated(call(context, port, answer), answer, port_size);
}

int ibv_query_gid(void *context, uint8_t port, int index, void *answer)
{
	int (*call)(void *, uint8_t, int, void *) = real("ibv_query_gid");
	return mutated(call(context, port, index, answer), answer, gid_size);
}
