/** Beyond these it is no memory of a Mac. */
const fewestBytes = 2 ** 30;
const mostBytes = 2 ** 44;

/**
 * How much the GPU may use by a line of a log; undefined for any other line. Metal's recommended working set, as llama.cpp
 * prints it in millions of bytes, or the rank program of mlx in bytes:
 *
 *     ggml_metal_device_init: recommendedMaxWorkingSetSize  = 498216.21 MB
 *     meshwright: the GPU may use 498216206336 bytes
 *
 * @see `ggml_metal_device_init` of ggml-metal-device.m: `max_working_set_size / 1e6`
 */
export function gpuBytesOf(line: string): number | undefined {
  const [, millions] = /\brecommendedMaxWorkingSetSize\s*= +(\d{1,8}\.\d{2}) MB$/.exec(line) ?? [];
  const [, whole] = /^meshwright: the GPU may use (\d{1,14}) bytes$/.exec(line) ?? [];
  const bytes = millions === undefined ? Number(whole) : Math.round(Number(millions) * 1e6);
  return bytes >= fewestBytes && bytes <= mostBytes ? bytes : undefined;
}
