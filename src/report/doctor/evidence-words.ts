import { reasonWords } from '../../diagnostics/reason-words.ts';
import type { Evidence } from '../../engine/diagnose/evidence.ts';
import type { NetworkInterface, ThunderboltReceptacle } from '../../model/facts/fact-values.ts';
import type { Facts } from '../../model/facts/observation.ts';
import type { RdmaPort } from '../../model/facts/rdma-values.ts';
import { speedText } from '../../model/text/units.ts';
import { factNamed } from '../../rack/fact.ts';
import { thunderboltInterfaces } from '../../rack/network/thunderbolt-interfaces.ts';
import { factLines } from '../facts/fact-lines.ts';
import { interfaceLines } from '../status/network-lines.ts';
import { rdmaPortLines } from '../status/thunderbolt-lines.ts';

const rdmaServiceWords = (advertises: boolean | 'unknown'): string => {
  if (advertises === 'unknown') return 'whether it advertises RDMA is unknown';
  return advertises ? 'it advertises RDMA' : 'it advertises no RDMA (service 64087 absent)';
};

function receptacleWords({ state, linkBitsPerSecond, peers, devices }: ThunderboltReceptacle): string {
  if (state === 'unknown') return 'unknown, macOS did not describe it';
  if (state === 'empty') return 'nothing plugged in';
  const speed = linkBitsPerSecond === undefined ? [] : [speedText(linkBitsPerSecond)];
  if (state === 'silent') return [...speed, 'nothing answers'].join(', ');
  const macs = peers.map(({ model, advertisesRdma, hubsBetween }) => {
    const hub = hubsBetween === 0 ? '' : ' behind a hub';
    return `a ${model}${hub}: ${rdmaServiceWords(advertisesRdma)}`;
  });
  return [...speed, ...devices.map(({ name }) => name), ...macs].join(', ');
}

/** The interfaces of these receptacles; undefined where the way to them is unknown. */
function namesAt(facts: Facts, receptacles: readonly number[]): readonly string[] | undefined {
  const all = thunderboltInterfaces(facts);
  return all === undefined ? undefined : receptacles.flatMap((receptacle) => all.get(receptacle) ?? []);
}

/** Of a bridge its members matter, and no address of its own. */
function interfaceWords(one: NetworkInterface): readonly string[] {
  const state = `${one.name} ${one.isUp ? (one.status ?? 'up') : 'down'}`;
  if (one.members.length > 0) return [`${state}, bridges ${one.members.join(' ')}`];
  return one.ipv4.length > 0 ? interfaceLines([one]) : [`${state}, no IPv4`];
}

/** Interfaces of the receptacles, and whatever bridges any of them. */
function interfacesWords(all: readonly NetworkInterface[], names: readonly string[]): readonly string[] {
  const isIt = ({ name, members }: NetworkInterface): boolean =>
    names.includes(name) || members.some((member) => names.includes(member));
  return all.filter(isIt).flatMap(interfaceWords);
}

const portsOf = (ports: readonly RdmaPort[], names: readonly string[]): readonly RdmaPort[] =>
  ports.filter(({ device }) => names.some((name) => device === `rdma_${name}`));

/** What a fact says of these receptacles alone; undefined where it says nothing by receptacle. */
function placeWords(facts: Facts, { fact, receptacles }: Evidence): readonly string[] | undefined {
  if (receptacles.length === 0) return undefined;
  const { thunderbolt, interfaces, 'rdma-ports': ports } = facts;
  if (fact === 'thunderbolt' && thunderbolt.kind === 'known') {
    return thunderbolt.value
      .filter(({ receptacle }) => receptacles.includes(receptacle))
      .map((one) => `receptacle ${one.receptacle}: ${receptacleWords(one)}`);
  }
  const names = namesAt(facts, receptacles);
  if (names === undefined) return undefined;
  if (fact === 'interfaces' && interfaces.kind === 'known') return interfacesWords(interfaces.value, names);
  return fact === 'rdma-ports' && ports.kind === 'known' ? rdmaPortLines(portsOf(ports.value, names)) : undefined;
}

/** What the fact of an evidence says, in lines of words; as the node gave it, unescaped. */
export function evidenceWords(facts: Facts, evidence: Evidence, hasUnicode: boolean): readonly string[] {
  const fact = factNamed(facts, evidence.fact);
  if (fact.kind === 'unknown') return [`unknown, ${reasonWords[fact.reason]}: ${fact.detail}`];
  const words = placeWords(facts, evidence);
  if (words !== undefined) return words.length === 0 ? ['none'] : words;
  return factLines(evidence.fact, facts, hasUnicode).map((line) => (typeof line === 'string' ? line : line.join(', ')));
}
