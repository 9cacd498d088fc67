import type { ExoPlacement } from '../../model/endpoint-calls.ts';
import { ipv4Number } from '../../model/ip-address.ts';
import type { ExoInstance } from './answers.ts';

/** A connection of a ring. `off`: it does not use the declared cables between the two nodes. */
interface RingWay {
  readonly verdict: 'on' | 'off' | 'unknown';
  /** `studio-1 to studio-2 at 192.0.2.12`. */
  readonly text: string;
  /** The other node's address on every declared cable between the two. */
  readonly cabled: readonly string[];
}

/** Whether an address shows its interface, which a link-local address does not. */
const isJudged = (ip: string): boolean => ipv4Number(ip) !== undefined && !ip.startsWith('169.254.');

function waysOf(
  { ring }: ExoInstance,
  { nodes, cables = [] }: ExoPlacement,
  ids: readonly string[],
): readonly RingWay[] {
  return ring.map(({ from, to, ip }) => {
    const [source = from, sink = to] = [from, to].map((id) => nodes[ids.indexOf(id)]);
    const cabled = cables.find((cable) => cable.from === source && cable.to === sink)?.addresses ?? [];
    const elsewhere = cabled.length > 0 && isJudged(ip) ? 'off' : 'unknown';
    return { verdict: cabled.includes(ip) ? 'on' : elsewhere, text: `${source} to ${sink} at ${ip}`, cabled };
  });
}

/**
 * Describes the connections of a TCP ring that bypass the declared cables: exo uses the best connection that it found,
 * which can be Wi-Fi or the office network. `undefined` if no problem is known.
 *
 * @see exo: find_ip_prioritised and get_mlx_ring_hosts_by_node in master/placement_utils.py
 */
export function ringOffCables(
  instance: ExoInstance,
  desired: ExoPlacement,
  ids: readonly string[],
): string | undefined {
  const off = waysOf(instance, desired, ids).filter(({ verdict }) => verdict === 'off');
  if (off.length === 0) return undefined;
  const ways = off.map(({ text, cabled }) => `${text} instead of over the cable (${cabled.join(', ')})`);
  return `its ring connects ${ways.join(', ')}`;
}

/** Describes the connections of a TCP ring that may or may not use a cable. */
export function unknownWays(instance: ExoInstance, desired: ExoPlacement, ids: readonly string[]): string {
  if (desired.cables === undefined) return '';
  const isRing = instance.tag === 'MlxRingInstance' && Object.keys(instance.runnerByNode).length > 1;
  if (isRing && instance.ring.length === 0) return '; unknown whether its ring uses the cables';
  const found = waysOf(instance, desired, ids).filter(({ verdict }) => verdict === 'unknown');
  return found.length === 0 ? '' : `; unknown whether these use a cable: ${found.map(({ text }) => text).join(', ')}`;
}
