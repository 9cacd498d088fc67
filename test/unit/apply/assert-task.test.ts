import { expect, it } from 'vitest';
import { runPlaybook } from '../../../src/apply/run-playbook.ts';
import { realTiming } from '../../../src/apply/run-timing.ts';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { observeMesh } from '../../rack/placements.ts';
import { fleetWithFallback, nodes, onItsNodes } from '../../rack/plans.ts';
import { settledFacts } from '../../rack/rack.ts';

const desired = fleetWithFallback();
const never = () => Promise.reject(new Error('an assertion changes nothing'));

/** The failed nodes and details of one assertion on two Macs. */
async function failures(property: string, is: number, says?: string) {
  const settled = Object.fromEntries(desired.nodes.map(({ name }) => [name, settledFacts(name)]));
  const observation = observeMesh(desired, { ranks: onItsNodes, values: settled });
  const task = { kind: 'assert', property, is, ...(says === undefined ? {} : { says }) } as const;
  const play = { nodes: { kind: 'names', names: nodes(1, 2) }, serial: [], maxFailures: 0, tasks: [task] } as const;
  const report = await runPlaybook(
    { name: 'asserts', plays: [play] },
    {
      scope: { desired, targets: nodes(1, 2) },
      timing: realTiming,
      observe: () => Promise.resolve(observation),
      approve: never,
      confirm: never,
      run: () => {
        throw new Error('an assertion sends nothing');
      },
    },
  );
  const work = report.works[0];
  return { failed: work?.failed, details: work?.diagnostics.map(({ detail }) => plainText(detail)) };
}

it('an assertion names each node that differs, and what was found there', async () => {
  expect(await failures('power/sleep', 0)).toEqual({ failed: [], details: [] });
  expect(await failures('power/sleep', 5)).toEqual({
    failed: nodes(1, 2),
    details: [1, 2].map((mac) => `power/sleep on studio-${mac}: expected 5, found 0.`),
  });
  const none = 'expected 1, but the node has no such property.';
  expect(await failures('power/nap', 1, 'No naps.')).toEqual({
    failed: nodes(1, 2),
    details: [1, 2].map((mac) => `No naps. power/nap on studio-${mac}: ${none}`),
  });
});
