import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../../src/model/desired.ts';
import { placement } from '../../../../../src/rack/placement/resource.ts';
import { meshTable, type SeenMesh } from '../../../../../src/rack/placement/state/mesh-reading.ts';
import { everyCase } from '../../../../../src/rack/placement/state/placement-cases.ts';
import { changeOf, judgeProperty, type View } from '../../../../../src/rack/resource.ts';
import {
  asLogin,
  exoFleet,
  llamaFleet,
  type MeshRack,
  meshFleet,
  observeMesh,
  threeRanks,
} from '../../../../rack/placements.ts';

const allRun = (more: Parameters<typeof threeRanks>[1] = {}): MeshRack => ({
  ranks: threeRanks(['joined', 'joined', 'joined'], more),
});
const inFlight = { kind: 'in-flight', reason: 'another request is in flight' } as const;

/** A rack that shows each observation. */
const racks: Readonly<Record<SeenMesh, MeshRack>> = {
  'rank-unobserved': { ...allRun(), unknown: { 'studio-3': { services: 'timed-out' } } },
  'never-started': { ranks: {} },
  'rank-exited': { ranks: threeRanks(['exited', 'exited', 'ready']) },
  'only-loaded': { ranks: threeRanks(['ready', 'ready', 'ready']) },
  'no-process': { ranks: threeRanks(['stopped', 'stopped', 'stopped']) },
  'rank-missing': { ranks: threeRanks(['joined', 'exited', 'joined']) },
  'mixed-starts': { ranks: { ...allRun().ranks, 'studio-3': [{ state: 'joined', rank: 2, generation: 3 }] } },
  'old-settings': allRun({ digest: 'of old' }),
  'tcp-not-rdma': allRun({ changes: { said: ['Accepted client connection'] } }),
  'gave-token': allRun(),
  'answers-clients': allRun({ token: { ...inFlight, lastTokenMsAgo: 900 } }),
  'instance-missing': allRun({ token: { kind: 'silent', reason: 'the endpoint returned status 404', status: 404 } }),
  'no-token': allRun({ token: { kind: 'silent', reason: 'timed out' } }),
  'token-unobserved': allRun({ token: inFlight }),
};

function fleetFor(seen: SeenMesh, changes: Partial<DesiredPlacement>): DesiredFleet {
  if (seen === 'instance-missing') return exoFleet({ placement: changes });
  return seen === 'tcp-not-rdma'
    ? llamaFleet({ placement: { transport: 'rdma', ...changes } })
    : meshFleet({ placement: changes, runtime: { restart: 'node' } });
}

function viewFor(seen: SeenMesh, changes: Partial<DesiredPlacement>): View {
  const desired = asLogin(fleetFor(seen, changes));
  const targets = desired.nodes.map(({ name }) => name);
  return viewOf({ desired, observation: observeMesh(desired, racks[seen]), targets });
}

/** The change of the placement in a plan, in the words that the comment on the table explains. */
function plannedChange(view: View): string {
  const all = placement.properties(view).filter(({ address }) => !address.endsWith('/service-file'));
  const whole = all.find(({ address }) => address === 'placement/kimi');
  const { steps } = placement.steps(all.filter((one) => judgeProperty(one) === 'differs').map(changeOf), view);
  const nodesOf = (verb: string): readonly string[] =>
    steps.filter(({ id }) => id.endsWith(`/kimi/${verb}`)).map(({ node }) => node);
  const stops = nodesOf('stop').length;
  const kicks = nodesOf('kick').length;
  if (whole !== undefined && judgeProperty(whole) === 'unknown') return stops === 0 ? 'wait' : 'stop-observed';
  if (steps.length === 0) return 'keep';
  if (nodesOf('count').length === 3 && kicks + stops === 0) return 'create-instance';
  if (kicks === 0) return 'stop';
  return kicks < 3 ? 'complete' : stops === 3 ? 'restart' : 'start';
}

const observed = Object.keys(meshTable) as readonly SeenMesh[];

describe('the table of placement states', () => {
  it.each(observed)('recognizes %s from the observed facts', (seen) => {
    const [one] = everyCase(viewFor(seen, {}));
    expect(one?.mesh).toMatchObject({ seen, state: meshTable[seen].state });
  });

  const pairs = observed.flatMap((seen) => (['serving', 'stopped'] as const).map((state) => [seen, state] as const));

  it.each(pairs)('plans the change of %s for a placement that the file sets to %s', (seen, state) => {
    const view = viewFor(seen, { state });
    expect(plannedChange(view)).toBe(meshTable[seen][state]);
  });
});
