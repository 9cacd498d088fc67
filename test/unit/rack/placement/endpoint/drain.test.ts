import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Plan } from '../../../../../src/engine/plan/plan.ts';
import { planOf } from '../../../engine/plan/resource-file.ts';
import { onOnePage } from '../../../one-page.ts';

const text = readFileSync(new URL('../../../../cases/resources/gateway/drain-in-flight.yaml', import.meta.url), 'utf8');

/** A drain plan for a closed gateway with this many requests in flight. */
const planWith = (running: number): Plan =>
  planOf(parse(text.replace('running: 2, waiting: 1', `running: ${running}, waiting: 0`)));

it('a drain plan changes only when the last request in flight finishes', () => {
  const [five, four, none] = [planWith(5), planWith(4), planWith(0)];
  expect(five.changes).toMatchObject([{ from: 'closed, 5 in flight' }]);
  expect(four.changes).toMatchObject([{ from: 'closed, 4 in flight' }]);
  expect(four.observed).toEqual(five.observed);
  expect(none.observed).not.toEqual(four.observed);
  expect(none.steps).toEqual([]);
});

it('a drain waits for a gateway whose state launchd does not report', () => {
  const unclear = text.replace('state: running', 'state: unknown');
  expect(planOf(parse(unclear)).changes).toMatchObject([{ from: 'closed, 3 in flight' }]);
  const silent = planOf(parse(unclear.replace(/gateways: .*/, 'gateways: []')));
  expect([silent.changes, silent.waiting]).toMatchObject([[], [{ resource: 'gateway/8080/kimi/in-flight' }]]);
});

it("a drain closes the fallback leader's gateway while the usual leader is unreachable", () => {
  const wanted = parse(text);
  const [kimi] = wanted.file.placements;
  const plan = planOf({
    ...wanted,
    file: { ...wanted.file, placements: [{ ...kimi, fallback: { nodes: ['studio-2'], contextTokens: 2_048 } }] },
    unreachable: ['studio-1'],
    seen: { 'studio-2': { services: [{ label: 'dev.meshwright.gateway.8080', state: 'running', pid: 7 }] } },
  });
  expect(plan.changes).toMatchObject([{ node: 'studio-2', from: 'open' }]);
  expect(plan.steps.map(({ id }) => id)).toEqual([
    'studio-2/gateway/8080/kimi/endpoint/close',
    'studio-2/gateway/8080/kimi/in-flight/wait',
  ]);
  expect(Object.keys(plan.observed)).not.toContain('studio-1');
});

onOnePage('drain');
