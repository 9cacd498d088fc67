import type { DesiredFleet } from '../../../model/desired.ts';
import { type LaunchdService, mayRun } from '../../../model/facts/daemons.ts';
import { type Known, known, mapKnown, unknown } from '../../../model/known.ts';
import { oncePer } from '../../../model/lists.ts';
import { closedFile, gatewayLabel, gatewayPort } from '../../../node/paths/own-paths.ts';
import { read, readValue } from '../../fact.ts';
import { filesFact } from '../../records/files-fact.ts';
import { gatewaysFact } from '../../records/gateways-fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import type { ObservedTarget, Reading, View } from '../../resource.ts';
import { type GatewayOnNode, inFlightAddress } from '../mesh/gateway-steps.ts';
import { wantedGateways } from './gateways.ts';

/** True if the file that keeps a placement closed exists on its node; unknown if the node's files are unknown. */
export function isClosed({ facts }: ObservedTarget, port: number, placement: string): Known<boolean> {
  const { path } = closedFile(port, placement);
  return mapKnown(read(facts, filesFact), (files) => files.some((one) => one.path === path && one.state !== 'missing'));
}

/** Requests in flight came another way, which this gateway does not see. */
const unappliedText = (port: number, placement: string): string =>
  `The gateway at port ${port} does not serve ${placement} yet`;

/** Explains why closing a placement at a port would have no effect; undefined if its gateway is there. */
export function missingGateway({ facts }: ObservedTarget, port: number, placement: string): string | undefined {
  const services = readValue(facts, servicesFact);
  if (services === undefined) return undefined;
  const service = services.find(({ label }) => label === gatewayLabel(port));
  if (service === undefined) return `There is no gateway for ${placement} at port ${port} yet`;
  const isOfOthers = service.state === 'running' && service.behind?.includes(placement) === false;
  return isOfOthers ? unappliedText(port, placement) : undefined;
}

/** A closed placement's requests in flight, otherwise `open`. A gateway without a process has none. */
export function inFlightAt(target: ObservedTarget, port: number, placement: string): Known<number | 'open'> {
  const closed = isClosed(target, port, placement);
  if (closed.kind === 'unknown') return closed;
  if (!closed.value) return known('open');
  const services = read(target.facts, servicesFact);
  const gateways = read(target.facts, gatewaysFact);
  if (services.kind === 'unknown') return services;
  const service = services.value.find(({ label }) => label === gatewayLabel(port));
  if (service === undefined || !mayRun(service)) return known(0);
  if (gateways.kind === 'unknown') return gateways;
  const seen = gateways.value.find((one) => one.port === port);
  if (seen === undefined)
    return unknown('not-asked', `The gateway at port ${port} was not asked for its requests in flight.`);
  if (seen.kind === 'silent')
    return unknown('failed', `The gateway at port ${port} did not report its requests in flight.`);
  const endpoint = seen.endpoints.find((one) => one.placement === placement);
  if (endpoint === undefined) return unknown('failed', `${unappliedText(port, placement)}.`);
  return known(endpoint.running + endpoint.waiting);
}

export const gatewaysOn = (fleet: DesiredFleet, target: ObservedTarget): readonly LeftGateway[] => [
  ...wantedGateways(fleet, target.desired.name).flatMap(({ node: leader, port, placements }) =>
    placements.map(({ name: placement }) => ({ leader, port, placement })),
  ),
  ...leftGatewaysOn(fleet, target),
];

/** Requests in flight of every published placement, for gates that wait until none are left. */
export const gatewayReadings = ({ desired, targets }: View): readonly Reading[] =>
  targets.flatMap((target) =>
    gatewaysOn(desired, target).map(({ leader, port, placement }) => ({
      node: leader,
      ...inFlightAddress(port, placement),
      observed: inFlightAt(target, port, placement),
    })),
  );

/** Placements that a running gateway still serves although the file no longer assigns them to it. */
export function leavingAt(
  services: readonly LaunchdService[],
  port: number,
  wanted: readonly string[],
): readonly string[] {
  const service = services.find(({ label }) => label === gatewayLabel(port));
  return service !== undefined && mayRun(service)
    ? (service.behind ?? []).filter((name) => !wanted.includes(name))
    : [];
}

/** A gateway of a placement at a port that the file no longer lists: its endpoint moved or is no longer published. */
export interface LeftGateway extends GatewayOnNode {
  readonly placement: string;
}

export function leftGatewaysOn(
  desired: DesiredFleet,
  { desired: { name: leader }, facts }: ObservedTarget,
): readonly LeftGateway[] {
  const services = readValue(facts, servicesFact) ?? [];
  const wanted = wantedGateways(desired, leader);
  return services.flatMap(({ label }): readonly LeftGateway[] => {
    const port = gatewayPort(label);
    if (port === undefined) return [];
    const own = wanted.find((one) => one.port === port)?.placements.map(({ name }) => name) ?? [];
    return leavingAt(services, port, own).map((placement) => ({ leader, port, placement }));
  });
}

export const leftGateways = oncePer(({ desired, targets }: View): readonly LeftGateway[] =>
  targets.flatMap((target) => leftGatewaysOn(desired, target)),
);
