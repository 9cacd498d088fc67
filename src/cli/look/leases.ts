import type { Known } from '../../model/known.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';

/** The lease of one node as it was seen; without `run` when its owner died before he had signed it. */
export interface SeenHold {
  readonly run?: string;
  readonly token?: number;
  readonly owner?: string;
  readonly verb?: string;
  readonly phase?: string;
  readonly since?: string;
}

/** Who holds a node; `undefined` inside of a known value for nobody. */
export function holdOn(observation: FleetObservation, node: string): Known<SeenHold | undefined> {
  const fact = observation.nodes[node]?.facts.leases;
  if (fact === undefined) return { kind: 'unknown', reason: 'unreachable', detail: 'The node was not observed.' };
  if (fact.kind === 'unknown') return fact;
  const [lease] = fact.value;
  return { kind: 'known', value: lease === undefined ? undefined : seenHold(lease.fields) };
}

function seenHold(fields: Readonly<Record<string, string>>): SeenHold {
  const { run, token, owner, verb, phase, since } = fields;
  return {
    ...(run === undefined ? {} : { run }),
    ...(token !== undefined && /^\d{1,15}$/.test(token) ? { token: Number(token) } : {}),
    ...(owner === undefined ? {} : { owner }),
    ...(verb === undefined ? {} : { verb }),
    ...(phase === undefined ? {} : { phase }),
    ...(since === undefined ? {} : { since }),
  };
}

/**
 * `apply by ana@desk.lan since 2026-11-20T11:18:44Z, at studio-1/power/set (run 20261120T111844-5f3a9c)`; the step of
 * another node: `while studio-1/power/set runs`.
 *
 * @param node that the lease is of
 */
export function holdText({ run, owner, verb, phase, since }: SeenHold, node?: string): string {
  if (run === undefined) return 'a run that died while it took it';
  const when = since === undefined ? '' : ` since ${since.replace(/\.\d+Z$/, 'Z')}`;
  const isOfOther = node !== undefined && phase?.includes('/') === true && !phase.startsWith(`${node}/`);
  const at = phase === undefined ? '' : isOfOther ? `, while ${phase} runs` : `, at ${phase}`;
  return `${verb ?? 'a run'} by ${owner ?? 'somebody'}${when}${at} (run ${run})`;
}
