import { describe, expect, it } from 'vitest';
import { scriptProblem as scriptProblemItself } from '../../../../src/apply/steps/script.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { aStep } from '../../../rack/plans.ts';
import { asText } from '../../as-text.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const scriptProblem = onPage((...given: Parameters<typeof scriptProblemItself>) =>
  asText(scriptProblemItself(...given)),
);

const step = aStep('studio-1/runtime', { node: 'studio-1' });

describe('the diagnostic for a failed script', () => {
  it.each([
    ['disk-full', 'step/disk-full'],
    ['wrong-digest', 'step/wrong-digest'],
    ['wrong-size', 'step/wrong-digest'],
    ['no-full-disk-access', 'step/no-full-disk-access'],
    ['reboot-mark', 'step/reboot-mark'],
    ['fetch-failed', 'step/fetch-failed'],
    ['rolled-back', 'step/rolled-back'],
    ['rolling-back', 'step/rolled-back'],
    ['transaction-pending', 'step/transaction-pending'],
    ['pmset', 'step/failed'],
    ['constructor', 'step/failed'],
  ])('maps %s to %s', (slug, code) => {
    expect(scriptProblem(step, { slug, text: 'said so' })).toMatchObject({
      code,
      subject: nodeSubject('studio-1'),
      detail: `studio-1/runtime: said so (${slug}).`,
    });
  });

  it('has a hint for a needed restart, an unsafe archive and a missing source', () => {
    expect(scriptProblem(step, { slug: 'reboot-mark', text: 'x' }).hint).toContain('meshwright reboot studio-1');
    expect(scriptProblem(step, { slug: 'unsafe-archive', text: 'x' }).hint).toContain('pack it again');
    expect(scriptProblem(step, { slug: 'no-source', text: 'x' }).hint).toContain('folder on the node itself');
  });

  it('names the key in the file that sets the account', () => {
    const { hint } = scriptProblem(step, { slug: 'account-unfit', text: 'rdma: Operation not permitted' });
    expect(hint).toContain('system.accounts.ranks');
  });

  it('names the port on which a gateway is not listening', () => {
    const args = { port: 8080, reload: false, isTaken: false, left: [], user: '' };
    const load = { ...step, act: { kind: 'script', name: 'load-gateway', args } } as const;
    const { hint } = scriptProblem(load, { slug: 'not-listening', text: 'x' });
    expect(hint).toContain('lsof -nP -iTCP:8080');
  });

  it('suggests a fix for the reason why a gateway last exited', () => {
    const args = { port: 8080, reload: false, isTaken: false, left: [], user: '' };
    const load = { ...step, act: { kind: 'script', name: 'load-gateway', args } } as const;
    const problem = (exit: string) =>
      scriptProblem(load, { slug: 'gateway', text: `the gateway does not keep running; its last exit: ${exit}` });
    expect(problem('OS_REASON_DYLD').hint).toMatch(/^Install the runtime again, .*log may have more: .*8080\.log\.$/);
    expect(problem('1').hint).toMatch(/^The gateway's log may have more: /);
  });

  it('escapes control characters and reports a missing message', () => {
    expect(scriptProblem(step, { slug: 'pmset', text: '\u001b[2J' }).detail).toContain('\\u{1b}[2J');
    expect(scriptProblem(step, { slug: 'pmset', text: ' ' }).detail).toContain('no message');
  });
});

onOnePage('script-problem');
