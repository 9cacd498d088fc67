import { expect, it, vi } from 'vitest';
import { observeFleet } from '../../../src/apply/observe.ts';
import type { StepContext, StepOf } from '../../../src/apply/steps/context.ts';
import { runReboot } from '../../../src/apply/steps/reboot.ts';
import { aStep } from './step-builder.ts';

vi.mock('../../../src/apply/observe.ts', () => ({ observeFleet: vi.fn() }));
vi.mock('../../../src/apply/steps/root-script.ts', () => ({
  sendRootScript: async () => ({ outcome: 'changed', diagnostics: [] }),
}));

it('takes a Mac for switched off after two silent looks in a row, and not after one', async () => {
  const session = { 'boot-session': { kind: 'known', value: { uuid: 'AB' } } };
  const looks = [false, true, false, false].map((isThere) =>
    isThere
      ? { nodes: { 'studio-1': { facts: session } }, failures: {} }
      : { nodes: {}, failures: { 'studio-1': [{ code: 'ssh/refused' }] } },
  );
  const observe = vi.mocked(observeFleet);
  for (const one of looks) observe.mockResolvedValueOnce(one as never);
  const act = { kind: 'reboot', from: { kind: 'known', value: 'AB' }, to: 'off' } as const;
  const step = { ...aStep('studio-1/off'), act, deadlineMs: 60_000 } as StepOf<'reboot'>;
  const context = {
    timing: { rebootDelaySeconds: 1, rebootPausesMs: [0], scale: 1 },
    signal: new AbortController().signal,
    suspend: () => undefined,
    session: () => ({ forget: () => undefined }),
    progress: () => undefined,
    way: () => ({}),
  } as unknown as StepContext;
  expect(await runReboot(step, context)).toMatchObject({ outcome: 'changed' });
  expect(observe).toHaveBeenCalledTimes(4);
});
