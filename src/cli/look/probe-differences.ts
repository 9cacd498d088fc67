import type { RdmaPort } from '../../model/facts/rdma.ts';
import type { VerbsDevice, VerbsReport } from '../../native/verbs-report.ts';

/**
 * Where the verbs library and `ibv_devinfo -v` disagree about Thunderbolt devices, as clauses. A wrong struct layout, for
 * example on a new macOS build, would show here before anything is measured.
 */
export function probeDifferences({ devices }: VerbsReport, ports: readonly RdmaPort[]): readonly string[] {
  const own = devices.filter(({ name }) => /^rdma_en\d+$/.test(name ?? ''));
  const unlisted = own.filter(({ name }) => !ports.some(({ device }) => device === name));
  return [
    ...unlisted.map(({ name }) => `only the library lists ${name}`),
    ...ports.flatMap((port) => {
      const found = own.find(({ name }) => name === port.device);
      return found === undefined ? [`only ibv_devinfo lists ${port.device}`] : deviceDifferences(found, port);
    }),
  ];
}

/** A device that the library could not describe is unknown, not different. */
function deviceDifferences({ details }: VerbsDevice, port: RdmaPort): readonly string[] {
  if (details.kind === 'unknown') return [];
  const { maxQueuePairs, maxProtectionDomains, ports } = details.value;
  const [seen] = ports;
  const mapped = (gids: readonly { readonly index: number; readonly ipv4?: string | undefined }[]): string =>
    gids.flatMap(({ index, ipv4 }) => (ipv4 === undefined ? [] : [`${index} ${ipv4}`])).join(', ');
  const pairs = [
    ['state', port.state, seen?.state],
    ['max_qp', port.maxQueuePairs ?? maxQueuePairs, maxQueuePairs],
    ['max_pd', port.maxProtectionDomains ?? maxProtectionDomains, maxProtectionDomains],
    ['IPv4-mapped GID', mapped(port.gids), mapped(seen?.gids ?? [])],
  ] as const;
  return pairs.flatMap(([name, listed, read]) =>
    listed === read
      ? []
      : [`${name} of ${port.device} is ${listed || 'none'} in ibv_devinfo, and ${read || 'none'} in the library`],
  );
}
