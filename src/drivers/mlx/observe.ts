import type { RuntimeSight } from '../contract/driver.ts';

/**
 * Lines that the rank program writes about its group, and those that tell of a failure, for awk.
 *
 * @see signatures, each of which is met by it, but for those that only say to wait
 */
export const logPattern =
  '^meshwright: group of [0-9]+ ranks over |[[](jaccl|ring)[]] [^C]|queue pair|completion queue|rotection domain|create_qp|failed with err|Couldn.t (connect|bind) |Could not (find|open) device|Register memory region|IPv4-mapped GID|Address already in use|OutOfMemory|metal::malloc|GPU Timeout|Segmentation fault|ibv_reg_mr|does not support |MLX converted models|Model type .* not supported|unrecognized arguments|No module named ';

const groupLine = /^meshwright: group of (\d{1,4}) ranks over (jaccl|ring|none)$/;

/** How many ranks joined, and over what: the last such line counts. */
export function observe(said: readonly string[]): RuntimeSight {
  const [, size, backend] = said.flatMap((line) => groupLine.exec(line) ?? []).slice(-3);
  if (size === undefined) return {};
  if (backend === 'none') return { size: Number(size) };
  return { size: Number(size), transport: backend === 'jaccl' ? 'rdma' : 'tcp' };
}
