const gibibyte = 2 ** 30;
const mebibyte = 2 ** 20;

/**
 * `iogpu.wired_limit_mb` for `wiredLimit: auto`, in MiB as the sysctl counts: memory minus the larger of 8 GiB and
 * 6.25 %. At least zero, which is what macOS takes for its own default.
 */
export function autoWiredLimitMegabytes(memoryBytes: number): number {
  const reserved = Math.max(8 * gibibyte, memoryBytes / 16);
  return Math.max(0, Math.floor((memoryBytes - reserved) / mebibyte));
}

/** A number of bytes as `iogpu.wired_limit_mb` counts: whole MiB, rounded down. */
export const wiredLimitMegabytes = (bytes: number): number => Math.floor(bytes / mebibyte);
