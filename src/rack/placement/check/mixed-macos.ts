import type { PlacementFinding } from '../../../drivers/contract/driver.ts';
import type { DesiredPlacement } from '../../../model/desired.ts';
import type { NodeObservation } from '../../../model/facts/fact-values.ts';
import { readValue } from '../../fact.ts';
import { hardwareFact } from '../../identity/hardware-fact.ts';
import { macosVersionFact } from '../../macos/fact.ts';

/** The macOS of a node that somebody has looked at. */
interface Seen {
  readonly node: string;
  /** With the extra of a background security improvement. */
  readonly version: string;
  readonly build: string;
  readonly model: string | undefined;
}

function seenOn({ node, facts }: NodeObservation): readonly Seen[] {
  const macos = readValue(facts, macosVersionFact);
  if (macos === undefined) return [];
  const { version, extra, build } = macos;
  const model = readValue(facts, hardwareFact)?.model;
  return [{ node, version: extra === undefined ? version : `${version} ${extra}`, build, model }];
}

/** Apple makes builds of one version for some models alone, so only Macs of one model can be told to have equal ones. */
const areOdd = (a: Seen, b: Seen): boolean =>
  a.version !== b.version || (a.build !== b.build && a.model !== undefined && a.model === b.model);

/** What speaks against nodes of one placement whose macOS is not the same: all over RDMA, less over TCP. */
export function mixedMacosFindings(
  { transport }: DesiredPlacement,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  const seen = nodes.flatMap(seenOn);
  if (!seen.some((one) => seen.some((other) => areOdd(one, other)))) return [];
  const detail = `${seen.map(({ node, version, build }) => `${node} has macOS ${version} (${build})`).join(', ')}.`;
  return [{ code: 'placement/mixed-macos', severity: transport === 'rdma' ? 'error' : 'warning', detail }];
}
