import type { RuntimeDriver } from '../../../drivers/contract/driver.ts';

/**
 * How the ranks of a mesh talk, as far as their logs say it; one rank that fell back to TCP makes it TCP. `undefined`
 * where no log says anything.
 *
 * @param said what each rank has said since its start, see `PlacementMember.said`
 */
export function seenTransport(
  { observe }: Pick<RuntimeDriver, 'observe'>,
  said: readonly (readonly string[])[],
): 'rdma' | 'tcp' | undefined {
  const seen = new Set(said.map((lines) => observe(lines).transport));
  if (seen.has('tcp')) return 'tcp';
  return seen.has('rdma') ? 'rdma' : undefined;
}
