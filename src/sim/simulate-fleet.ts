import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { NonEmpty } from '../diagnostics/fleet-error.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { type Link, type LinkEnd, linkEndText } from '../model/link.ts';
import { linkSubject, nodeSubject } from '../model/subject.ts';
import type { Cable } from './model/cables/cables.ts';
import type { SimulatedFleet } from './model/fleet.ts';
import { defaultModelId, type MacModel, macModelOf, modelIds } from './model/hardware.ts';
import { ipv4Number, ipv4Text } from './model/ip-text.ts';
import type { InterfaceAddress } from './model/mac.ts';
import { newMac } from './model/new-mac.ts';

/** A fleet, or why there is none. */
export type FleetResult =
  | { readonly kind: 'fleet'; readonly fleet: SimulatedFleet }
  | { readonly kind: 'refused'; readonly diagnostics: NonEmpty<Diagnostic> };

/** The result for these diagnostics, or for the fleet when there are none. */
function fleetUnless(diagnostics: readonly Diagnostic[], fleet: () => SimulatedFleet): FleetResult {
  const [first, ...rest] = diagnostics;
  return first === undefined ? { kind: 'fleet', fleet: fleet() } : { kind: 'refused', diagnostics: [first, ...rest] };
}

const modelIdOf = (node: DesiredNode): string => node.hardware.model ?? defaultModelId;

/**
 * The rack of this file, set up exactly as the file says: one Mac per node, its cables plugged in, RDMA enabled. The
 * same file and seed give the same serials, UUIDs and addresses. Refuses models and receptacles that it does not know
 * (`sim/unknown-model`, `sim/unusable-link`, `sim/pool-too-small`).
 */
export function simulateFleet(desired: DesiredFleet, seed: string): FleetResult {
  const models = new Map<string, MacModel>();
  for (const node of desired.nodes) {
    const model = macModelOf(modelIdOf(node));
    if (model !== undefined) models.set(node.name, model);
  }
  const diagnostics = [
    ...desired.nodes.flatMap((node) => (models.has(node.name) ? [] : [unknownModel(node)])),
    ...unusableLinks(desired, models),
    ...smallPool(desired),
  ];
  return fleetUnless(diagnostics, () => ({
    macs: desired.nodes.flatMap((node, index) => {
      const model = models.get(node.name);
      return model === undefined
        ? []
        : [newMac({ seed, desired, node, model, index, addresses: fixed(desired, node) })];
    }),
    cables: desired.thunderbolt.links.map(({ ends }): Cable => ({ ends, gigabitsPerSecond: 80 })),
    hanging: [],
    strangers: [],
    misdirected: {},
  }));
}

const unknownModel = (node: DesiredNode): Diagnostic =>
  diagnose('sim/unknown-model', {
    detail: `${node.name} is declared as ${modelIdOf(node)}, and nothing is known about its receptacles and interfaces.`,
    hint: `Rehearse with one of ${modelIds.join(', ')}.`,
    subject: nodeSubject(node.name),
  });

function unusableLinks(desired: DesiredFleet, models: ReadonlyMap<string, MacModel>): readonly Diagnostic[] {
  const names = new Set<string>(desired.nodes.map((node) => node.name));
  const taken = new Set<string>();
  return desired.thunderbolt.links.flatMap((link) =>
    link.ends.flatMap((end) => {
      const reason = whyUnusable(end, names, models, taken);
      taken.add(linkEndText(end));
      return reason === undefined ? [] : [unusableLink(link, reason)];
    }),
  );
}

function whyUnusable(
  end: LinkEnd,
  names: ReadonlySet<string>,
  models: ReadonlyMap<string, MacModel>,
  taken: ReadonlySet<string>,
): string | undefined {
  if (!names.has(end.node)) return `there is no node ${end.node}`;
  if (taken.has(linkEndText(end))) return `receptacle ${end.receptacle} of ${end.node} already carries another cable`;
  const model = models.get(end.node);
  if (model === undefined || (end.receptacle >= 1 && end.receptacle <= model.receptacleDevices.length))
    return undefined;
  return `${end.node} is a ${model.id} with receptacles 1 to ${model.receptacleDevices.length}`;
}

function unusableLink(link: Link, reason: string): Diagnostic {
  const text = `${linkEndText(link.ends[0])} <-> ${linkEndText(link.ends[1])}`;
  return diagnose('sim/unusable-link', {
    detail: `The cable ${text} cannot be plugged in: ${reason}.`,
    subject: linkSubject(link.ends),
  });
}

const slashThirty = 4;

function smallPool({ thunderbolt: { pool, links } }: DesiredFleet): readonly Diagnostic[] {
  if (pool === undefined) return [];
  const room = Math.floor(2 ** (32 - pool.prefixLength) / slashThirty);
  if (ipv4Number(pool.address) !== undefined && links.length <= room) return [];
  return [
    diagnose('sim/pool-too-small', {
      detail: `${pool.address}/${pool.prefixLength} has room for ${room} links of four addresses; ${links.length} are declared.`,
    }),
  ];
}

/**
 * The fixed addresses of a node's receptacles: each link has its own network, or the n-th /30 of the pool; the end
 * whose text comes first has the lower address.
 */
function fixed({ thunderbolt }: DesiredFleet, node: DesiredNode): ReadonlyMap<number, InterfaceAddress> {
  const addresses = new Map<number, InterfaceAddress>();
  const { pool, links, networks } = thunderbolt;
  const base = pool === undefined ? undefined : ipv4Number(pool.address);
  links.forEach((link, index) => {
    const network = networks[link.index];
    const inOrder = base === undefined ? undefined : base + index * slashThirty;
    const first = network === undefined ? inOrder : ipv4Number(network.address);
    if (first === undefined) return;
    const ends = [...link.ends].sort((one, other) => (linkEndText(one) < linkEndText(other) ? -1 : 1));
    ends.forEach((end, side) => {
      const address = ipv4Text(first + 1 + side);
      if (end.node === node.name) addresses.set(end.receptacle, { address, prefixLength: 30 });
    });
  });
  return addresses;
}
