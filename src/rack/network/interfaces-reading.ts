import type { Facts, NetworkInterface } from '../../model/facts/fact-values.ts';
import type { LinkEnd } from '../../model/node.ts';
import { linkAt, viewAt } from '../cabling/judge-cabling.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { interfacesFact } from './interfaces-fact.ts';
import { hardwarePortsFact } from './services-fact.ts';

/** The name becomes part of commands that people type as root, so its form is restricted. */
const interfaceName = /^en\d{1,4}$/;

/**
 * The interface of each receptacle in this boot session, found through the hardware port `Thunderbolt N`. On an M5 Max,
 * receptacles 1, 2, 3 are en1, en6, en2, so the name can neither be computed nor sorted.
 * @returns undefined if the node's hardware ports are unknown, or none has such a name: then the list is cut off or in
 * another language
 */
export function thunderboltInterfaces(facts: Facts | undefined): ReadonlyMap<number, string> | undefined {
  const found = (readValue(facts, hardwarePortsFact) ?? []).flatMap(({ port, device }): [number, string][] => {
    const receptacle = /^Thunderbolt (\d{1,3})$/.exec(port)?.[1];
    return receptacle === undefined || !interfaceName.test(device) ? [] : [[Number(receptacle), device]];
  });
  return found.length === 0 ? undefined : new Map(found);
}

/** Whether an interface belongs to a Thunderbolt receptacle. One without a hardware port may belong to one. */
export function interfaceKind(facts: Facts, name: string): 'thunderbolt' | 'other' | 'unknown' {
  const ports = read(facts, hardwarePortsFact);
  const receptacles = thunderboltInterfaces(facts);
  if (!interfaceName.test(name)) return 'other';
  if (ports.kind === 'unknown' || receptacles === undefined) return 'unknown';
  if ([...receptacles.values()].includes(name)) return 'thunderbolt';
  return ports.value.some(({ device }) => device === name) ? 'other' : 'unknown';
}

/** The interface of one receptacle as shown by `ifconfig`; undefined if any fact for it is unknown. */
export function interfaceAt(facts: Facts, receptacle: number): NetworkInterface | undefined {
  const name = thunderboltInterfaces(facts)?.get(receptacle);
  return readValue(facts, interfacesFact)?.find((one) => one.name === name);
}

/**
 * The receptacle whose interface has the carrier of this end's cable: the end's own interface has none although both
 * ends see the cable, and this one has a carrier although nothing is plugged in.
 */
export function strayCarrier({ cabling: { links, rack } }: Examination, { facts }: ExaminedNode, end: LinkEnd) {
  const kind = linkAt(links, end)?.judgement.kind;
  const isSeen = kind === 'as-declared' || kind === 'slow';
  if (!isSeen || interfaceAt(facts, end.receptacle)?.status !== 'inactive') return undefined;
  const all = [...(thunderboltInterfaces(facts) ?? [])].map(([receptacle, device]) => ({ receptacle, device }));
  return all.find(
    ({ receptacle }) =>
      interfaceAt(facts, receptacle)?.status === 'active' && viewAt(rack, { ...end, receptacle }).kind === 'empty',
  );
}
