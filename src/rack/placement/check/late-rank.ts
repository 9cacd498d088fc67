import { linkText } from '../../../desired/addresses.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import type { Facts } from '../../../model/facts/fact-values.ts';
import type { RdmaProcess } from '../../../model/facts/rdma.ts';
import { given } from '../../../model/given.ts';
import { seenValue } from '../../../model/known.ts';
import { commonMacs } from '../../../model/measured-cable.ts';
import type { Link, LinkEnd, NodeName } from '../../../model/node.ts';
import { joinProse, named, type Prose, prose } from '../../../model/text/prose.ts';
import { rankServiceLabel } from '../../../node/paths/own-paths.ts';
import { bootSessionFact, panicReportsFact } from '../../boot/fact.ts';
import { readValue } from '../../fact.ts';
import { swapWords } from '../../memory/fact.ts';
import { interfaceAt } from '../../network/interfaces-reading.ts';
import { kernelObjects, rdmaHoldersFact, rdmaObjectWords, stuckProcesses } from '../../rdma/kernel-fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import { isRunning, type SeenRank, seeRank } from '../mesh/rank-states.ts';
import { rebootMarkFact } from '../observed/fact.ts';

/** What one observation shows of a placement that returns no token. */
export interface HungMesh {
  readonly placement: string;
  readonly nodes: readonly { readonly name: NodeName; readonly facts: Facts }[];
  /** The cables between these nodes. */
  readonly links: readonly Link[];
  /** Those that were measured as dead since both Macs booted. */
  readonly dead: readonly Link[];
  /** Those with an address that a rank's error mentions. */
  readonly mentioned: readonly Link[];
}

/** The Macs for which the other ranks probably wait. */
export interface LateRank {
  /** One Mac, or two: both ends of a cable, or two that the evidence does not tell apart. */
  readonly macs: readonly NodeName[];
  /** The cables that show it; empty if something on the Mac does. */
  readonly links: readonly Link[];
  /** True if the evidence may be unrelated to the hang. */
  readonly isWeak: boolean;
  /** One sentence after a blank. */
  readonly text: Prose;
}

interface Member {
  readonly node: NodeName;
  readonly facts: Facts;
  readonly rank?: SeenRank;
  /** The process of its rank, if the process has RDMA devices open. */
  readonly process?: RdmaProcess;
}

interface Clue {
  readonly macs: readonly NodeName[];
  readonly links: readonly Link[];
  readonly why: string;
}

type Sign = (members: readonly Member[], mesh: HungMesh) => readonly Clue[];

function memberOf({ placement }: HungMesh, { name: node, facts }: HungMesh['nodes'][number]): Member {
  const services = readValue(facts, servicesFact);
  const pid = services?.find(({ label }) => label === rankServiceLabel(placement))?.pid;
  const processes = readValue(facts, rdmaHoldersFact)?.processes;
  const rank = seenValue(seeRank(node, placement, facts).seen);
  const process = pid && processes?.find((one) => one.pid === pid || one.group === pid);
  return { node, facts, ...given({ rank, process: process || undefined }) };
}

const onMac =
  (whyOf: (member: Member, others: readonly Member[]) => string | false | undefined): Sign =>
  (members) =>
    members.flatMap((member) => {
      const why = whyOf(
        member,
        members.filter((one) => one !== member),
      );
      return why ? [{ macs: [member.node], links: [], why }] : [];
    });

const onCables = (links: readonly Link[], why: string): readonly Clue[] =>
  links.length === 0 ? [] : [{ macs: commonMacs(links), links, why }];

/** A lost Mac is named by several others, so the Macs with the most mentioned cables are suspects. */
function mostMentioned({ mentioned }: HungMesh): readonly Clue[] {
  if (mentioned.length === 1) return onCables(mentioned, 'a rank logged an address of it');
  const nodes = mentioned.flatMap(({ ends }) => ends.map(({ node }) => node));
  const own = [...new Set(nodes)].map((node) => ({
    macs: [node],
    links: mentioned.filter(({ ends }) => ends.some((end) => end.node === node)),
  }));
  const most = Math.max(2, ...own.map(({ links }) => links.length));
  const why = `ranks logged addresses of ${most} of its cables`;
  return own.filter(({ links }) => links.length === most).map((one) => ({ ...one, why }));
}

/** True if an end of a cable has no carrier, or its RDMA device has no active peer. */
function isDark(members: readonly Member[], { node, receptacle }: LinkEnd): boolean {
  const facts = members.find((one) => one.node === node)?.facts;
  const own = facts && interfaceAt(facts, receptacle);
  const devices = readValue(facts, rdmaHoldersFact)?.devices ?? [];
  return (
    own?.status === 'inactive' || devices.some((one) => one.device === `rdma_${own?.name}` && one.powerState === 0)
  );
}

function restartWords({ facts, rank }: Member): string | false {
  const { starts, record } = rank ?? {};
  if (record === undefined || record.starts === 0 || starts?.kind !== 'known' || starts.value > 0) return false;
  const { bootedAtEpochSeconds = 0 } = readValue(facts, bootSessionFact) ?? {};
  const panics = readValue(facts, panicReportsFact) ?? [];
  const hasPanicked = panics.some(({ atEpochSeconds = 0 }) => atEpochSeconds >= bootedAtEpochSeconds);
  return `it restarted after the last start${hasPanicked ? ' because macOS panicked' : ''}`;
}

const isUp = ({ rank }: Member): boolean => rank !== undefined && isRunning(rank);

/** The number of queue pairs that its processes hold; undefined if unknown. */
const queuePairs = ({ facts }: Member): number | undefined => seenValue(kernelObjects(facts))?.held.queuePairs;

function leftWords({ facts }: Member): string | false {
  const left = seenValue(kernelObjects(facts))?.withoutProcess;
  const isLeft = left !== undefined && left.domains + left.queuePairs > 0;
  return isLeft && `its kernel holds ${rdmaObjectWords(left)} that no process uses`;
}

/** One moment of one other rank proves too little. */
function isIdle({ process }: Member, others: readonly Member[]): boolean {
  const seen = others.flatMap((one) => one.process ?? []);
  return process?.state === 'runs' && !process.isOnCpu && seen.length > 1 && seen.every(({ isOnCpu }) => isOnCpu);
}

function strangerWords({ facts, process }: Member): string | undefined {
  const all = readValue(facts, rdmaHoldersFact)?.processes ?? [];
  const found = all.find((one) => one !== process && one.state !== 'gone' && one.devices.length > 0);
  return found && `${escapeText(found.program)} (pid ${found.pid}) has its RDMA devices open`;
}

/**
 * What singles out one Mac or one cable, the strongest first. docs/unverified.md lists the signs that were never seen
 * on a real Mac.
 *
 * @see mlx issues 3910 and 4192: the others wait without a limit for a suspended, dead or lost rank, on a core each
 * @see exo issue 1973: cables that carry nothing until their Macs restart
 * @see tmc/go-iroh, SQCU/mesh: hanging processes, objects that nothing frees, and the power state of a device
 */
const signs: readonly Sign[] = [
  onMac(({ rank }) => rank?.suspended && 'a signal has suspended its rank'),
  (_, { dead }) => onCables(dead, 'a measurement got nothing through'),
  onMac(({ facts }) => {
    const holders = readValue(facts, rdmaHoldersFact);
    return holders && stuckProcesses(holders).length > 0 && 'a process hangs in its RDMA driver';
  }),
  onMac(restartWords),
  onMac((one, others) => one.rank !== undefined && !isUp(one) && others.some(isUp) && 'no process runs its rank'),
  onMac((one, others) => {
    const lacksThem = isUp(one) && queuePairs(one) === 0 && others.some((other) => (queuePairs(other) ?? 0) > 0);
    return lacksThem && 'its rank has no queue pair';
  }),
  onMac(leftWords),
  onMac(({ facts }) => (readValue(facts, rebootMarkFact) ?? []).length > 0 && 'a stop there could not free everything'),
  (members, { links }) =>
    onCables(
      links.filter(({ ends }) => ends.some((end) => isDark(members, end))),
      'one end has no active peer',
    ),
  (_, mesh) => mostMentioned(mesh),
  onMac((one, others) => isIdle(one, others) && 'its rank is idle while the others use a core each'),
];

/**
 * A busy Mac can hold up a mesh, but most such Macs do not.
 *
 * @see dryvist/nix-ai, INC-17075: the swap limit
 */
const weakSigns: readonly Sign[] = [onMac(({ facts }) => swapWords(facts)), onMac(strangerWords)];

/**
 * The member for which the others probably wait. Each sign narrows the suspects that the stronger ones left; a sign of
 * all of them tells nothing. Undefined if more than two remain.
 */
export function lateRank(mesh: HungMesh): LateRank | undefined {
  const members = mesh.nodes.map((one) => memberOf(mesh, one));
  return narrow(members, mesh, signs, false) ?? narrow(members, mesh, weakSigns, true);
}

function narrow(members: readonly Member[], mesh: HungMesh, all: readonly Sign[], isWeak: boolean) {
  let macs = members.map(({ node }) => node);
  let clues: readonly Clue[] = [];
  for (const sign of all) {
    const found = sign(members, mesh).filter((clue) => clue.macs.every((mac) => macs.includes(mac)));
    const left = macs.filter((mac) => found.some((clue) => clue.macs.includes(mac)));
    const isCable = found.length === 1 && left.length === 2;
    if (left.length === 0 || (left.length === macs.length && !isCable)) continue;
    macs = left;
    clues = [...clues, ...found].filter((clue) => clue.macs.every((mac) => left.includes(mac)));
    if (macs.length === 1 || isCable) break;
  }
  if (clues.length === 0 || macs.length > 2) return undefined;
  const links = mesh.links.filter((link) => clues.some((clue) => clue.links.includes(link)));
  return { macs, links, isWeak, text: textOf(macs, clues) };
}

function textOf(macs: readonly NodeName[], clues: readonly Clue[]): Prose {
  const [first] = clues;
  const [link] = first?.links ?? [];
  if (link !== undefined && first?.macs.length === 2)
    return prose` The evidence points to the cable ${linkText(link.ends)} (${first.why}).`;
  const each = macs.map((mac) => {
    const whys = clues.filter((clue) => clue.macs.includes(mac)).map(({ why }) => why);
    return prose`${named(mac)} (${[...new Set(whys)].join('; ')})`;
  });
  return prose` The evidence points to ${joinProse(each, ' or ')}${macs.length > 1 ? ', but does not tell which' : ''}.`;
}
