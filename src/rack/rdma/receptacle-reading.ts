import type { Facts } from '../../model/facts/fact-values.ts';
import type { RdmaPort } from '../../model/facts/rdma.ts';
import type { LinkEnd } from '../../model/node.ts';
import { isBridged } from '../bridge/reading.ts';
import { lacksThunderbolt5, linkAt } from '../cabling/judge-cabling.ts';
import { isSameEnd } from '../cabling/receptacle-view.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { hasRdmaInSettings, isTooOldForRdma } from '../macos/reading.ts';
import { interfaceAt, thunderboltInterfaces } from '../network/interfaces-reading.ts';
import { rdmaDevicesFact, rdmaPortsFact } from './devices-fact.ts';
import { rdmaStateFact, rdmaSwitchFact } from './state-fact.ts';

/**
 * The RDMA state of a node: the first missing requirement. `no-thunderbolt-5`: the Mac can never use RDMA.
 * `macos-too-old`: before 26.2. `disabled`: a person must switch RDMA on. `restart-pending`: switched on since the last
 * start. `no-device`: enabled, but without a device. `ready`: on, with devices. `unknown`: not observed.
 */
export type NodeRdma =
  | 'no-thunderbolt-5'
  | 'macos-too-old'
  | 'disabled'
  | 'restart-pending'
  | 'no-device'
  | 'ready'
  | 'unknown';

export function nodeRdma(node: ExaminedNode): NodeRdma {
  if (lacksThunderbolt5(node.facts)) return 'no-thunderbolt-5';
  if (isTooOldForRdma(node)) return 'macos-too-old';
  return hasRdmaInSettings(node.facts) ? bySwitch(node) : byRecovery(node);
}

/** Before macOS 27, only Recovery switches RDMA on, and a Mac always restarts when it leaves Recovery. */
function byRecovery({ facts }: ExaminedNode): NodeRdma {
  const state = readValue(facts, rdmaStateFact);
  const devices = readValue(facts, rdmaDevicesFact);
  if (state === 'disabled') return 'disabled';
  if (state === undefined || devices === undefined) return 'unknown';
  return devices.length === 0 ? 'no-device' : 'ready';
}

/** From macOS 27 on, the switch decides the state after the next restart; until then, the devices decide. */
function bySwitch({ facts }: ExaminedNode): NodeRdma {
  const state = readValue(facts, rdmaStateFact);
  const turned = readValue(facts, rdmaSwitchFact);
  const devices = readValue(facts, rdmaDevicesFact);
  const hasDevices = devices !== undefined && devices.length > 0;
  if (turned === undefined) return state === 'enabled' && hasDevices ? 'ready' : 'unknown';
  if (hasDevices) return 'ready';
  if (turned === 'off') return devices !== undefined || state === 'disabled' ? 'disabled' : 'unknown';
  return devices === undefined ? 'unknown' : 'restart-pending';
}

/** A port that is down, with the far end of its cable, where the cause may be. */
interface LostPort {
  readonly end: LinkEnd;
  readonly far: LinkEnd;
}

export function lostPorts(examination: Examination, node: ExaminedNode): readonly LostPort[] {
  if (nodeRdma(node) !== 'ready') return [];
  return node.ends.flatMap((end): LostPort[] => {
    if (linkAt(examination.cabling.links, end)?.judgement.kind !== 'as-declared') return [];
    const rdma = receptacleRdma(examination, node, end);
    return rdma.kind === 'port-down' ? [{ end, far: rdma.far }] : [];
  });
}

/** The reason why one cabled receptacle of a node with RDMA cannot use RDMA: the first missing requirement. */
export type ReceptacleRdma =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'no-device' | 'port-not-active' | 'interface-down' | 'bridged' | 'no-address' | 'no-gid';
      readonly interfaceName: string;
    }
  /** The RDMA state of the far Mac decides what to do. */
  | { readonly kind: 'port-down'; readonly interfaceName: string; readonly far: LinkEnd; readonly farRdma: NodeRdma };

const portOf = (facts: Facts, name: string): RdmaPort | undefined =>
  readValue(facts, rdmaPortsFact)?.find(({ device }) => device === `rdma_${name}`);

function portRung(examination: Examination, end: LinkEnd, facts: Facts, name: string): ReceptacleRdma | undefined {
  const port = portOf(facts, name);
  const far = farEndOf(examination, end);
  if (port === undefined || port.state === 'active') return undefined;
  if (port.state === 'other' || far === undefined) return { kind: 'port-not-active', interfaceName: name };
  const farNode = examination.nodes.find((node) => node.name === far.node);
  const farRdma = farNode === undefined ? 'unknown' : nodeRdma(farNode);
  return { kind: 'port-down', interfaceName: name, far, farRdma };
}

function addressRung(facts: Facts, receptacle: number, name: string): ReceptacleRdma {
  const own = interfaceAt(facts, receptacle);
  if (own === undefined) return { kind: 'unknown' };
  if (own.ipv4.length === 0) return { kind: 'no-address', interfaceName: name };
  const port = portOf(facts, name);
  if (port === undefined) return { kind: 'unknown' };
  const hasGid = port.gids.some(({ ipv4 }) => own.ipv4.some(({ address }) => address === ipv4));
  return hasGid ? { kind: 'ready' } : { kind: 'no-gid', interfaceName: name };
}

/** The RDMA state of one receptacle of a node that is `ready` and whose cable is as declared. */
export function receptacleRdma(examination: Examination, node: ExaminedNode, end: LinkEnd): ReceptacleRdma {
  const { facts } = node;
  const name = thunderboltInterfaces(facts)?.get(end.receptacle);
  const devices = readValue(facts, rdmaDevicesFact);
  if (name === undefined || devices === undefined) return { kind: 'unknown' };
  if (!devices.some((one) => one.name === `rdma_${name}`)) return { kind: 'no-device', interfaceName: name };
  const down = portRung(examination, end, facts, name);
  if (down !== undefined) return down;
  if (interfaceAt(facts, end.receptacle)?.isUp === false) return { kind: 'interface-down', interfaceName: name };
  if (isBridged(facts, name)) return { kind: 'bridged', interfaceName: name };
  return addressRung(facts, end.receptacle, name);
}

/** The other end of the declared link that ends here; undefined if no link does. */
export const farEndOf = ({ cabling }: Examination, end: LinkEnd): LinkEnd | undefined =>
  linkAt(cabling.links, end)?.link.ends.find((one) => !isSameEnd(one, end));
