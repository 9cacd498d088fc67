import { endAddresses } from '../../desired/link-addresses.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Ipv4Address } from '../../model/fact-values.ts';
import { linkEndText } from '../../model/link.ts';
import type { Facts } from '../../model/observation.ts';
import { adoptedDaemon } from '../adopted-daemon.ts';
import { cableMethod } from '../cable-method.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { rdmaSeverity } from '../rdma-severity.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject, receptacleSubject } from '../subject.ts';
import { interfaceAt, thunderboltInterfaces } from '../thunderbolt-interfaces.ts';

/** One receptacle with what is known of its address. */
interface Cable {
  readonly node: ExaminedNode;
  readonly receptacle: number;
  readonly device: string;
  /** Whether a fixed address is wanted there. */
  readonly isAddressed: boolean;
  /** The address that the file gives this end of its link: not a lease, whatever the service is set to. */
  readonly declared: string | undefined;
}

/** Whether the service that counts for a device is on DHCP; undefined where that is unknown. */
function isOnDhcp(desired: DesiredFleet, facts: Facts, device: string): boolean | undefined {
  const method = cableMethod(desired, facts, device);
  return method === 'unknown' ? undefined : method === 'dhcp';
}

const isSelfAssigned = ({ address }: Ipv4Address): boolean => address.startsWith('169.254.');

/** An address that neither the Mac chose nor meshwright set: the keeper sets the declared one on a service on DHCP, too. */
const givenAddress = ({ node, receptacle, declared }: Cable): Ipv4Address | undefined =>
  interfaceAt(node.facts, receptacle)?.ipv4.find((one) => !isSelfAssigned(one) && one.address !== declared);

function declaredAddress({ thunderbolt }: DesiredFleet, node: string, receptacle: number): string | undefined {
  const ends = thunderbolt.links.flatMap(({ index, ends: pair }) => {
    const network = thunderbolt.networks[index];
    return network === undefined ? [] : endAddresses(pair, network);
  });
  return ends.find(({ end }) => end.node === node && end.receptacle === receptacle)?.address;
}

/** `studio-2` at the far end of the cable, as far as it is known. */
function farNode({ cabling }: Examination, { node, receptacle }: Cable): string {
  const own = (end: { readonly node: string; readonly receptacle: number }): boolean =>
    end.node === node.name && end.receptacle === receptacle;
  const ends = cabling.cables.find((cable) => cable.ends.some(own))?.ends ?? [];
  return ends.find((end) => !own(end))?.node ?? 'the Mac at the far end';
}

/** A fixed address ends a lease and the route that came with it; otherwise only who gives it out can. */
function cure(examination: Examination, cable: Cable): string {
  const sharing = `Internet Sharing off on ${farNode(examination, cable)}: System Settings > General > Sharing.`;
  return cable.isAddressed
    ? `Give it a fixed address with meshwright apply. It comes again with DHCP, so switch ${sharing}`
    : `Switch ${sharing}`;
}

function routeFinding(examination: Examination, cable: Cable): readonly Diagnostic[] {
  const { node, receptacle, device } = cable;
  const { routes } = node.facts;
  const found = routes.kind === 'known' ? routes.value : [];
  const defaults = found.filter((one) => one.device === device && one.destination.prefixLength === 0);
  const [first] = defaults.toSorted((a, b) => Number(a.flags.includes('I')) - Number(b.flags.includes('I')));
  if (first === undefined) {
    return [];
  }
  const end = { node: node.name, receptacle };
  const rank = first.flags.includes('I') ? 'beside that of the other interfaces' : 'and it is the one that counts';
  return [
    diagnose('network/default-route-over-cable', {
      subject: receptacleSubject(end),
      detail: `${linkEndText(end)} (${device}) has a default route by ${first.gateway}, ${rank}.`,
      hint: cure(examination, cable),
    }),
  ];
}

function leaseFinding(examination: Examination, cable: Cable): readonly Diagnostic[] {
  const { node, receptacle, device } = cable;
  const given = isOnDhcp(examination.desired, node.facts, device) === true ? givenAddress(cable) : undefined;
  const end = { node: node.name, receptacle };
  return given === undefined
    ? []
    : [
        diagnose('network/lease-over-cable', {
          subject: receptacleSubject(end),
          detail: `${linkEndText(end)} (${device}) is on DHCP and was given ${given.address}/${given.prefixLength}.`,
          hint: cure(examination, cable),
        }),
      ];
}

/** Cables whose address nobody fixed, told once for the node. */
function dhcpFinding(
  desired: DesiredFleet,
  { name, facts }: ExaminedNode,
  cables: readonly Cable[],
): readonly Diagnostic[] {
  const loose = cables.filter(({ device, isAddressed }) => isAddressed && isOnDhcp(desired, facts, device) === true);
  const words = loose.map(({ receptacle, device }) => {
    const own = interfaceAt(facts, receptacle)?.ipv4[0];
    return `receptacle ${receptacle} (${device}${own === undefined ? '' : `, now ${own.address}`})`;
  });
  return loose.length === 0
    ? []
    : [diagnose('address/by-dhcp', { subject: nodeSubject(name), detail: `On DHCP: ${words.join(', ')}.` })];
}

/** Cables on which IPv4 is switched off, reported once for the node: those that should have an address, else all. */
function ipv4OffFinding(
  examination: Examination,
  { name, facts }: ExaminedNode,
  cables: readonly Cable[],
): readonly Diagnostic[] {
  const off = cables.filter(({ device }) => cableMethod(examination.desired, facts, device) === 'off');
  const wanted = off.filter(({ isAddressed }) => isAddressed);
  const shown = wanted.length === 0 ? off : wanted;
  if (shown.length === 0) return [];
  const words = shown.map(({ receptacle, device }) => `receptacle ${receptacle} (${device})`);
  const about = {
    subject: nodeSubject(name),
    detail: `IPv4 is off on ${words.join(', ')}, so MLX cannot use RDMA there.`,
  };
  return wanted.length > 0
    ? [diagnose('address/ipv4-off', about)]
    : [
        diagnose('address/ipv4-off', {
          ...about,
          severity: rdmaSeverity(examination, [name]),
          hint: 'To use these cables, declare their links and thunderbolt.addressing in the file.',
        }),
      ];
}

function judge(examination: Examination, node: ExaminedNode): readonly Diagnostic[] {
  const { desired } = examination;
  const isOurs = desired.thunderbolt.pool !== undefined && adoptedDaemon(desired, node.facts) === undefined;
  const cables = [...(thunderboltInterfaces(node.facts) ?? [])].map(([receptacle, device]) => ({
    node,
    receptacle,
    device,
    declared: declaredAddress(desired, node.name, receptacle),
    isAddressed: isOurs && node.ends.some((end) => end.receptacle === receptacle),
  }));
  const told = cables.map((cable) => {
    const routes = routeFinding(examination, cable);
    return { cable, findings: routes.length > 0 ? routes : leaseFinding(examination, cable) };
  });
  const rest = told.filter(({ findings }) => findings.length === 0).map(({ cable }) => cable);
  return [
    ...told.flatMap(({ findings }) => findings),
    ...dhcpFinding(desired, node, rest),
    ...ipv4OffFinding(examination, node, cables),
  ];
}

/**
 * Addresses of cables that come from somebody else or from chance: a default route or a lease from a peer's Internet
 * Sharing, and services that are on DHCP although the file gives their cable a fixed address.
 */
export const cableAddresses: Rule = (examination) => examination.nodes.flatMap((node) => judge(examination, node));
