import type { RuntimeSight } from '../driver.ts';

/** Lines that the rank program writes about its group, for awk. */
export const logPattern = '^meshwright: group of [0-9]+ ranks over ';

const groupLine = /^meshwright: group of (\d{1,4}) ranks over (jaccl|ring|none)$/;

/** How many ranks joined, and over what: the last such line counts. */
export function observe(said: readonly string[]): RuntimeSight {
  const [, size, backend] = said.flatMap((line) => groupLine.exec(line) ?? []).slice(-3);
  if (size === undefined) return {};
  if (backend === 'none') return { size: Number(size) };
  return { size: Number(size), transport: backend === 'jaccl' ? 'rdma' : 'tcp' };
}
