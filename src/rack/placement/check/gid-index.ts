import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { refused } from '../../../drivers/contract/checks.ts';
import type { PlacementFinding } from '../../../drivers/contract/driver.ts';
import { groupLinks, jacclGid } from '../../../drivers/contract/mlx-group.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { Facts, NodeObservation } from '../../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../../model/known.ts';
import { alike, listText } from '../../../model/lists.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../../../model/node.ts';
import { declaredAddress } from '../../addresses/reading.ts';
import { readValue } from '../../fact.ts';
import { adoptedDaemon } from '../../foreign-daemon/reading.ts';
import { thunderboltInterfaces } from '../../network/interfaces-reading.ts';
import { rdmaPortsFact } from '../../rdma/devices-fact.ts';

interface SendingEnd {
  readonly end: LinkEnd;
  readonly device: string;
  /** The index of the IPv4-mapped GID; undefined without one, or if it is unknown. */
  readonly index: number | undefined;
  readonly isUnknown: boolean;
  /** True if `apply` may make the GID, by setting the address. */
  readonly getsGid: boolean;
}

/** An end, where another IPv4-mapped GID at the needed index may do as well as that of the end's address. */
function sendingEnd(fleet: DesiredFleet, facts: Facts, end: LinkEnd, needed: number): SendingEnd {
  const { thunderbolt } = fleet;
  const device = `rdma_${thunderboltInterfaces(facts)?.get(end.receptacle)}`;
  const ports = readValue(facts, rdmaPortsFact);
  const mapped = ports?.find((one) => one.device === device)?.gids.filter(({ ipv4 }) => ipv4 !== undefined) ?? [];
  const isOurs = thunderbolt.pool !== undefined && adoptedDaemon(fleet, facts) === undefined;
  const own = declaredAddress(thunderbolt, end);
  const settled = mapped.find(({ ipv4 }) => !isOurs || ipv4 === own);
  return {
    end,
    device,
    index: settled && (mapped.find(({ index }) => index === needed) ?? settled).index,
    isUnknown: ports === undefined,
    getsGid: isOurs && ports !== undefined && settled === undefined,
  };
}

interface Sending {
  readonly driver: string;
  /** The only index from which the runtime sends. */
  readonly needed: number;
  readonly ends: readonly SendingEnd[];
}

/** From where the ranks of a placement send over RDMA; undefined if any index will do. */
function sendingOf(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): Sending | undefined {
  const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
  const needed = runtime && driverOf(runtime).sendsFromGid;
  if (needed === undefined || placement.transport !== 'rdma' || placement.nodes.length === 1) return undefined;
  return { driver: runtime?.driver ?? '', needed, ends: sendingEnds(placement, needed, fleet, nodes) };
}

const sendingEnds = (
  group: Parameters<typeof groupLinks>[0],
  needed: number,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly SendingEnd[] =>
  groupLinks(group, fleet.thunderbolt).flatMap((link) =>
    link.ends.flatMap((end) => {
      const facts = nodes.find(({ node }) => node === end.node)?.facts;
      return facts === undefined ? [] : [sendingEnd(fleet, facts, end, needed)];
    }),
  );

/** `index 2 on studio-1:2 (rdma_en3)` for the ends from which the runtime cannot send; empty if there are none. */
function wrongEnds({ ends, needed }: Sending): string {
  const wrong = ends.filter(({ index }) => index !== undefined && index !== needed);
  return alike(wrong, ({ index }) => String(index))
    .map(([{ index }, same]) => {
      const places = same.map(({ end, device }) => `${linkEndText(end)} (${device})`);
      return `index ${index} on ${listText(places.toSorted())}`;
    })
    .join(', ');
}

/** Reports cable ends from which the runtime cannot send. Each start would fail. An unknown index is no finding. */
export function gidFindings(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  const sending = sendingOf(placement, fleet, nodes);
  const wrong = sending && wrongText(sending);
  if (wrong === undefined) return [];
  return [refused('placement/gid-index', `${wrong} Every start fails there (RTR errno 22).`)];
}

function wrongText(sending: Sending): string | undefined {
  const { driver, needed } = sending;
  const wrong = wrongEnds(sending);
  if (wrong === '') return undefined;
  return `${driver} sends over RDMA only from GID index ${needed}, but the GID of the IPv4 address is at ${wrong}.`;
}

/** Warns of the same ends between the ranks of a user's own JACCL group, which need not use mlx. */
export function launchGidWarnings(
  group: readonly NodeName[],
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly Diagnostic[] {
  const ends = sendingEnds({ nodes: group, transport: 'rdma', backend: 'jaccl' }, jacclGid, fleet, nodes);
  const wrong = wrongText({ driver: 'mlx', needed: jacclGid, ends });
  if (wrong === undefined) return [];
  const detail = `${wrong} If the program uses mlx, it fails there (RTR errno 22).`;
  const hint = 'No cure is known. Leave out the Mac, or use a program that sends from the GID that it finds.';
  return [diagnose('placement/gid-index', { severity: 'warning', detail, hint })];
}

/** What a start needs, as a gate sees it. */
export interface SeenNeed {
  /** True if steps of a run may make it, or a part of it. */
  readonly isMade: boolean;
  readonly seen: Known<string>;
}

/** The GIDs: `usable`, or the ends from which the runtime cannot send. Undefined if it sends from any GID. */
export function neededGids(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): SeenNeed | undefined {
  const sending = sendingOf(placement, fleet, nodes);
  if (sending === undefined) return undefined;
  const unseen = sending.ends.filter(({ isUnknown }) => isUnknown).map(({ end }) => linkEndText(end));
  return {
    isMade: sending.ends.some(({ getsGid }) => getsGid),
    seen:
      unseen.length > 0
        ? unknown('not-asked', `The GIDs on ${listText(unseen)} are unknown.`)
        : known(wrongEnds(sending) || 'usable'),
  };
}
