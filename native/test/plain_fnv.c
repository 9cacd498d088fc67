/* The plain loop that the benchmark compares with: the 64-bit FNV-1a of a file, read in the same pieces. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static unsigned char bytes[1 << 20];

int main(int count, char **arguments)
{
	const int file = count == 2 ? open(arguments[1], O_RDONLY) : -1;
	uint64_t hash = 14695981039346656037u;
	for (ssize_t size; (size = read(file, bytes, sizeof bytes)) > 0;)
		for (ssize_t at = 0; at < size; at++)
			hash = (hash ^ bytes[at]) * 1099511628211u;
	printf("%016llx\n", (unsigned long long)hash);
	return 0;
}
