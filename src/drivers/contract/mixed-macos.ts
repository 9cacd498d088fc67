import type { Facts } from '../../model/facts/observation.ts';
import type { CheckedNode, PlacementCheck, PlacementFinding } from './placement-check.ts';

/** The macOS of a node that somebody has looked at. */
interface Seen {
  readonly node: string;
  /** With the extra of a background security improvement. */
  readonly version: string;
  readonly build: string;
  readonly model: string | undefined;
}

function seenOn({ node, facts }: CheckedNode): readonly Seen[] {
  const macos = facts?.['macos-version'];
  if (facts === undefined || macos?.kind !== 'known') return [];
  const { version, extra, build } = macos.value;
  return [{ node, version: extra === undefined ? version : `${version} ${extra}`, build, model: modelOf(facts) }];
}

const modelOf = ({ hardware }: Facts): string | undefined =>
  hardware.kind === 'known' ? hardware.value.model : undefined;

/** Apple makes builds of one version for some models alone, so only Macs of one model can be told to have equal ones. */
const areOdd = (a: Seen, b: Seen): boolean =>
  a.version !== b.version || (a.build !== b.build && a.model !== undefined && a.model === b.model);

/** What speaks against nodes of one placement whose macOS is not the same: all over RDMA, less over TCP. */
export function mixedMacosFindings({
  placement: { transport },
  nodes,
}: Pick<PlacementCheck, 'placement' | 'nodes'>): readonly PlacementFinding[] {
  const seen = nodes.flatMap(seenOn);
  if (!seen.some((one) => seen.some((other) => areOdd(one, other)))) return [];
  const detail = `${seen.map(({ node, version, build }) => `${node} has macOS ${version} (${build})`).join(', ')}.`;
  return [{ code: 'placement/mixed-macos', severity: transport === 'rdma' ? 'error' : 'warning', detail }];
}
