import type { Facts } from '../../../model/facts/fact-values.ts';
import type { EndpointStatus } from '../../../model/gateway.ts';
import { type Known, known, unknown } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { Act, Step } from '../../../model/step.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import { closedFile } from '../../../node/paths/own-paths.ts';
import { read } from '../../fact.ts';
import { gatewaysFact } from '../../records/gateways-fact.ts';
import { type MeshWork, meshStep, outsideGroup, scriptAct } from './rank-states.ts';

/**
 * The status of a placement at its gateway on a node, or at another gateway there while the endpoint moves. Unknown if
 * a gateway that may serve the placement did not answer; undefined if all gateways answered and none serves it.
 */
export function endpointStatus(facts: Facts, placement: string, port: number): Known<EndpointStatus> | undefined {
  const gateways = read(facts, gatewaysFact);
  if (gateways.kind === 'unknown') return gateways;
  const own = gateways.value.filter((one) => one.port === port);
  const others = gateways.value.filter((one) => one.port !== port);
  for (const some of [own, others]) {
    const endpoints = some.flatMap((one) => (one.kind === 'answered' ? one.endpoints : []));
    const found = endpoints.find((endpoint) => endpoint.placement === placement);
    if (found !== undefined) return known(found);
    const silent = some.find((one) => one.kind === 'silent');
    if (silent !== undefined)
      return unknown('failed', `no report from the gateway at port ${silent.port}: ${silent.reason}`);
  }
  return undefined;
}

/** The time that requests in flight get before the mesh is stopped. */
export const drainMs = 30_000;

const gatewayDeadlineMs = 30_000;

export interface GatewayOnNode {
  readonly leader: NodeName;
  readonly port: number;
  /** True if an earlier file left it, in addition to the gateway in the current file. */
  readonly isLeft?: boolean;
}

export const stateAddress = (port: number, placement: string): Addressed =>
  addressed({ kind: 'gateway', port, placement, part: 'endpoint' });

/** The property that counts a closed placement's requests in flight at a gateway. */
export const inFlightAddress = (port: number, placement: string): Addressed =>
  addressed({ kind: 'gateway', port, placement, part: 'in-flight' });

/** The placement of an address that counts requests in flight; undefined for any other address. */
export const inFlightOf = ({ about }: Pick<Addressed, 'about'>): string | undefined =>
  about.part === 'in-flight' ? about.placement : undefined;

/** The placement of an address that names a gateway's state; undefined for any other address. */
export const gatewayStateOf = ({ about }: Pick<Addressed, 'about'>): string | undefined =>
  about.part === 'endpoint' ? about.placement : undefined;

/**
 * Writes the file that keeps a placement closed.
 * @param reason a sentence for clients, without the placement's name: `it is stopped.`
 */
export const closedAct = (port: number, placement: string, reason: string): Act => ({
  kind: 'put',
  path: closedFile(port, placement),
  mode: 0o644,
  content: [`${reason}\n`],
});

interface ClosingTerms {
  readonly reason: string;
  /** True if requests in flight can still get an answer. */
  readonly isAnswering: boolean;
  readonly needs: readonly Step[];
}

/**
 * Stops accepting requests and, if the mesh still answers, waits for those in flight. Outside the group, because a
 * failure here has not stopped anything yet.
 */
export function closeGateway(
  mesh: MeshWork,
  { leader, port, isLeft }: GatewayOnNode,
  terms: ClosingTerms,
): readonly Step[] {
  const work = outsideGroup(mesh);
  const { placement } = work;
  const which = isLeft === true ? `-${port}` : '';
  const close = meshStep(work, {
    node: leader,
    verb: `close-endpoint${which}`,
    act: closedAct(port, placement, terms.reason),
    needs: terms.needs,
    establishes: [{ node: leader, ...stateAddress(port, placement), value: 'closed' }],
    deadlineMs: gatewayDeadlineMs,
  });
  if (!terms.isAnswering) return [close];
  const drain = meshStep(work, {
    node: leader,
    verb: `drain${which}`,
    act: scriptAct({ name: 'drain-endpoint', args: { port, placement, waitMs: drainMs } }),
    needs: [close],
    deadlineMs: drainMs + gatewayDeadlineMs,
  });
  return [close, drain];
}

/** Accepts requests again. Outside the group: a serving mesh is not stopped because its gateway remains closed. */
export const openGateway = (work: MeshWork, { leader, port }: GatewayOnNode, needs: readonly Step[]): Step =>
  meshStep(outsideGroup(work), {
    node: leader,
    verb: 'open-endpoint',
    act: scriptAct({ name: 'open-endpoint', args: { port, placement: work.placement } }),
    needs,
    establishes: [{ node: leader, ...stateAddress(port, work.placement), value: 'open' }],
    deadlineMs: gatewayDeadlineMs,
  });
