import { expect, it } from 'vitest';
import { stepScripts } from '../../../../src/engine/scripts/step-scripts.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import { stepId } from '../../../../src/model/step.ts';
import { place } from '../../../../src/node/paths/node-paths.ts';

const node = nodeName('studio-1');
const terms = { userOf: (name: string) => `user-of-${name}`, rollbackSeconds: 20, rebootDelaySeconds: 2 };
const textsOf = (act: Step['act']): readonly string[] => {
  const step = { id: stepId('s'), node, act } as unknown as Step;
  const found = stepScripts(step, terms);
  for (const one of found) expect([one.step, one.node]).toEqual(['s', node]);
  return found.map(({ text }) => text);
};

it('step scripts cover scripts, files, network changes and restarts', () => {
  expect(textsOf({ kind: 'script', name: 'set-power', args: { sleepMinutes: 7 } })).toEqual([
    expect.stringContaining('sleep 7'),
  ]);
  const [put, ...others] = textsOf({
    kind: 'put',
    path: place.ours,
    mode: 0o644,
    content: ['as ', { kind: 'login-user' }],
  });
  expect([put, others]).toEqual([expect.stringContaining('as user-of-studio-1'), []]);
  const bridge = { bridge: 'bridge0', members: ['en3'], services: [] };
  const [change, confirm] = textsOf({ kind: 'transaction', name: 'remove-bridge', args: bridge });
  expect(change).toContain('seconds=20');
  expect(confirm).not.toBe(change);
  const restart = (from: Parameters<typeof known>[0] | undefined) =>
    textsOf({ kind: 'reboot', to: 'up', from: typeof from === 'string' ? known(from) : unknown('timed-out', 'x') })[0];
  expect(restart('ABC')).toContain('reboot-ABC');
  expect(restart(undefined)).toContain('reboot-BOOT-SESSION');
});

it('step scripts are empty for a manual step', () => {
  expect(textsOf({ kind: 'hands', code: 'x' })).toEqual([]);
});
