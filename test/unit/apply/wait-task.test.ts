import { describe, expect, it } from 'vitest';
import { realTiming } from '../../../src/apply/run-timing.ts';
import { bake, waitFor } from '../../../src/apply/wait-tasks.ts';
import { onFallback } from '../../../src/desired/layouts.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { configurePlacement } from '../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../src/drivers/contract/driver.ts';
import { expandTask } from '../../../src/engine/playbooks/expand.ts';
import { serviceFile } from '../../../src/node/paths/own-paths.ts';
import { textDigest } from '../../../src/node/put-file.ts';
import { taskText } from '../../../src/report/run/apply-text.ts';
import { withFakeClock } from '../../fake-clock.ts';
import { type MeshRack, observeMesh } from '../../rack/placements.ts';
import { fleetWithFallback, kimi, nodes, onItsNodes, onTheFallback } from '../../rack/plans.ts';
import { settledFacts } from '../../rack/rack.ts';

const desired = fleetWithFallback();
const silent = { kind: 'silent', reason: 'status 503' } as const;
const hung: MeshRack['ranks'] = { ...onItsNodes, 'studio-1': [{ state: 'joined', rank: 0, token: silent }] };

/** The seals of the service files: start 4 on the placement's own nodes, start 5 on its fallback. */
const seals = [kimi(desired), onFallback(kimi(desired))].map((one, at) => {
  const configured = configurePlacement(one, desired, 4 + at, lastingNames);
  return configured.kind === 'configured' ? configured.ranks : [];
});
const sealsOn = (name: string, layout: number) =>
  (seals[layout] ?? [])
    .filter(({ node }) => node === name)
    .map(({ service }) => ({ path: serviceFile('kimi').path, digest: textDigest(service), state: 'intact' as const }));

/** Waits until every placement with a rank on studio-2 serves, with a single check. */
async function wait(ranks: MeshRack['ranks'], away: readonly string[], layout: 0 | 1 = 0) {
  const seen = desired.nodes.map(({ name }) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, hold: [], files: sealsOn(name, layout) }];
  });
  const observation = observeMesh(desired, { ranks, values: Object.fromEntries(seen), unreachable: away });
  const scope = { desired, targets: nodes(2) };
  const work = expandTask({ kind: 'wait', for: 'serving', deadlineMs: 0 }, scope, nodes(2));
  if (work.kind !== 'wait') throw new Error('the task is not a wait');
  const failures = Object.fromEntries(
    away.map((name) => [name, [diagnose('ssh/unreachable', { detail: 'no route' })]]),
  );
  const options = { scope, timing: realTiming, observe: () => Promise.resolve({ ...observation, failures }) };
  const { failed = [], diagnostics = [] } = await waitFor(work, options);
  return { failed, names: diagnostics.map(({ detail }) => plainText(detail).split(',')[0]) };
}

describe('a wait for observed nodes', () => {
  it('reports the missing nodes and the remaining time at each check', async () => {
    const reported: (string | number)[] = [];
    const signal = new AbortController();
    const failures = { 'studio-2': [diagnose('ssh/refused', { detail: 'nothing listens' })] };
    const options = {
      scope: { desired, targets: nodes(2) },
      timing: realTiming,
      signal: signal.signal,
      observe: () => Promise.resolve({ nodes: {}, failures }),
      onWait: (missing: readonly string[], leftMs: number) => {
        reported.push(...missing, leftMs / 1_000);
        if (leftMs < 899_000) signal.abort();
      },
    };
    const work = { kind: 'wait', for: 'observed', nodes: nodes(2), placements: [], deadlineMs: 900_000 } as const;
    expect(await withFakeClock(10_000, () => waitFor(work, options))).toEqual({});
    const missing = 'studio-2 (The node refused the connection)';
    expect(reported).toEqual([missing, 900, missing, 899, missing, 898]);
    const task = { kind: 'wait', for: 'observed', deadlineMs: 900_000 } as const;
    expect(taskText(task, ['studio-2'], { failed: [], isCut: true })).toBe(
      'studio-2: interrupted before this was checked: observed',
    );
  });
});

describe('a wait until a placement serves', () => {
  it('fails for all nodes of a hung placement, even if a fallback node is unreachable', async () => {
    const seen = await wait(hung, []);
    expect(seen).toEqual({ failed: nodes(1, 2, 3, 4), names: ['studio-1'] });
    expect(await wait(hung, ['studio-4'])).toEqual(seen);
  });

  it("names the placement's unobserved nodes", async () => {
    expect(await wait(onItsNodes, ['studio-3'])).toEqual({
      failed: nodes(1, 2, 3, 4),
      names: ['studio-1', 'studio-3'],
    });
  });

  it('succeeds on the fallback without the unreachable nodes', async () => {
    expect(await wait(onTheFallback(desired), ['studio-2', 'studio-3'], 1)).toEqual({ failed: [], names: [] });
    expect(await wait(onItsNodes, ['studio-4'])).toEqual({ failed: [], names: [] });
  });
});

describe('a bake time', () => {
  const answered = { kind: 'answered', text: 'ok', firstTokenMs: 1, totalMs: 1 } as const;
  const serving: MeshRack['ranks'] = { ...onItsNodes, 'studio-1': [{ state: 'joined', rank: 0, token: answered }] };
  const values = Object.fromEntries(
    desired.nodes.map(({ name }) => {
      const { placements: _, services: __, ...facts } = settledFacts(name);
      return [name, { ...facts, hold: [], files: sealsOn(name, 0) }];
    }),
  );
  const seen = (ranks: MeshRack['ranks']) => observeMesh(desired, { ranks, values });

  /** Bakes for five minutes while each check finds the next of these states; the last one repeats. */
  async function baked(...states: readonly MeshRack['ranks'][]) {
    let checks = 0;
    const observe = () => Promise.resolve(seen(states[Math.min(checks++, states.length - 1)] ?? serving));
    const scope = { desired, targets: nodes(2) };
    const work = expandTask({ kind: 'bake', ms: 300_000 }, scope, nodes(2));
    if (work.kind !== 'bake') throw new Error('the task is not a bake');
    const { failed, diagnostics = [] } = await withFakeClock(600_000, () =>
      bake(work, { scope, timing: realTiming, observe }),
    );
    return { checks, failed, codes: diagnostics.map(({ code }) => code) };
  }

  it('passes if every check gets a token, and repeats a check that does not', async () => {
    expect(await baked(serving)).toEqual({ checks: 11, failed: [], codes: [] });
    expect(await baked(serving, hung, serving)).toEqual({ checks: 12, failed: [], codes: [] });
    expect(taskText({ kind: 'bake' }, ['studio-2'], { failed: [], isCut: false })).toBe('studio-2: kept serving');
  });

  it('fails for all nodes of a placement that two checks in a row find hung', async () => {
    const { checks, failed, codes } = await baked(serving, hung, hung);
    expect([checks, failed, new Set(codes)]).toEqual([
      3,
      desired.nodes.map(({ name }) => name),
      new Set(['task/not-healthy']),
    ]);
  });
});
