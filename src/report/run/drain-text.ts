import type { DesiredPlacement } from '../../model/desired.ts';
import { type Known, known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { changeStart, type Prose, prose } from '../../model/text/prose.ts';
import { durationText } from '../../model/text/units.ts';
import { type DrainView, gatewayNodes, possibleGateways, unaskedGateway } from '../../rack/placement/endpoint/drain.ts';
import { gatewaysOn, inFlightAt, leftGatewaysOn, missingGateway } from '../../rack/placement/endpoint/seen-gateways.ts';
import type { ObservedTarget } from '../../rack/resource.ts';
import { counted } from '../page.ts';

const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

type SeenGateway = { readonly node: NodeName } & (
  | { readonly kind: 'known'; readonly inFlight: number | 'open' }
  | { readonly kind: 'unknown'; readonly why: string }
  /** The file declares a gateway that does not exist on the node yet. */
  | { readonly kind: 'missing'; readonly why: string; readonly isLeft: boolean }
  /** The node could not be asked. */
  | { readonly kind: 'away' }
);

interface Terms {
  readonly placement: DesiredPlacement;
  readonly waitMs: number;
  /** A text such as ` on studio-1`; empty if there is only one line. */
  readonly where: string;
  /** Opens a closed gateway again. */
  readonly opening: Prose;
}

/**
 * Reports whether a placement is drained, with requests in flight, unobserved gateways, and how to open it again. One
 * line if all its gateways are closed with no request in flight, otherwise one line per node with a gateway.
 */
export function drainLines(placement: DesiredPlacement, waitMs: number, view: DrainView): readonly Prose[] {
  const { name } = placement;
  const gateways = gatewayNodes(view, [name]).map((node) => seenGateway(name, node, view));
  const isDrained = gateways.every((gateway) => gateway.kind === 'known' && gateway.inFlight === 0);
  const isAsApplied = view.desired.nodes.every((node) => !hasOther(name, node.name, view));
  const opening = isAsApplied
    ? prose`To reopen it: ${meshwright('start', name)}, or the next apply.`
    : prose`To accept requests again: ${meshwright('apply')}.`;
  const [only, second] = gateways;
  if (only === undefined) return [];
  const terms = { placement, waitMs, where: '', opening };
  if (second === undefined || isDrained) return [lineOf(only, terms)];
  return gateways.map((gateway) => lineOf(gateway, { ...terms, where: ` on ${gateway.node}` }));
}

function targetOf(node: NodeName, { desired: fleet, observation: seen }: DrainView): ObservedTarget | undefined {
  const desired = fleet.nodes.find(({ name }) => name === node);
  const facts = Object.hasOwn(seen.nodes, node) ? seen.nodes[node]?.facts : undefined;
  return desired === undefined || facts === undefined ? undefined : { desired, facts };
}

/** True if the gateways on a node differ from those in the file. */
function hasOther(name: string, node: NodeName, view: DrainView): boolean {
  const target = targetOf(node, view);
  if (target === undefined) return false;
  const isLeft = leftGatewaysOn(view.desired, target).some(({ placement }) => placement === name);
  return isLeft || portsOn(name, target, view).some((port) => missingGateway(target, port, name) !== undefined);
}

const portsOn = (name: string, target: ObservedTarget, { desired: fleet }: DrainView): readonly number[] =>
  gatewaysOn(fleet, target).flatMap(({ placement, port }) => (placement === name ? [port] : []));

function seenGateway(name: string, node: NodeName, view: DrainView): SeenGateway {
  const target = targetOf(node, view);
  if (target === undefined) return { node, kind: 'away' };
  const ports = portsOn(name, target, view);
  // A gateway that is not running, open or closed, does not show requests in flight.
  const standing = ports.filter((port) => missingGateway(target, port, name) === undefined);
  const [missing] = ports.flatMap((port) => missingGateway(target, port, name) ?? []);
  const found = inFlightAll([
    ...standing.map((port) => inFlightAt(target, port, name)),
    ...possibleGateways(name, target, view).map(({ why }) => why),
  ]);
  if (found.kind === 'unknown') {
    return found.reason === 'unreachable' ? { node, kind: 'away' } : { node, kind: 'unknown', why: found.detail };
  }
  if (missing === undefined || found.value !== 0) return { node, kind: 'known', inFlight: found.value };
  return { node, kind: 'missing', why: `${missing}.`, isLeft: standing.length > 0 };
}

/** The first open or unobserved gateway on a node; otherwise the total of requests in flight. */
function inFlightAll(gateways: readonly Known<number | 'open'>[]): Known<number | 'open'> {
  let inFlight = 0;
  for (const gateway of gateways) {
    if (gateway.kind === 'unknown' || gateway.value === 'open') return gateway;
    inFlight += gateway.value;
  }
  return known(inFlight);
}

function lineOf(gateway: SeenGateway, terms: Terms): Prose {
  const { placement, where, opening } = terms;
  const { name } = placement;
  switch (gateway.kind) {
    case 'away': {
      const { detail, hint } = unaskedGateway(placement, gateway.node);
      return prose`${name}: ${changeStart(detail, lowerFirst)} ${hint}`;
    }
    case 'unknown':
      return prose`${name}: requests in flight are unknown${where}. ${gateway.why} ${opening}`;
    case 'missing': {
      const left = gateway.isLeft ? ' The gateway from an earlier file is closed, with no request in flight.' : '';
      return prose`${name} is not drained${where}. ${gateway.why}${left} Run ${aside(meshwright('apply'))} first, then ${aside(meshwright('drain', name))}.`;
    }
    case 'known':
      return inFlightLine(gateway, terms);
  }
}

function inFlightLine({ node, inFlight }: Extract<SeenGateway, { kind: 'known' }>, terms: Terms): Prose {
  const { placement, waitMs, where, opening } = terms;
  const { name } = placement;
  if (inFlight === 'open') return `${name} is not drained: its gateway on ${node} is open.`;
  if (inFlight === 0)
    return prose`${name} is drained${where}: its gateway is closed, with no request in flight. ${opening}`;
  const state = `${name} is not drained${where}: ${counted(inFlight, 'request')} in flight after ${durationText(waitMs)}.`;
  return prose`${state} Its gateway stays closed; drain it again to wait longer. ${opening}`;
}
