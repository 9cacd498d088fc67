import { describe, expect, it } from 'vitest';
import {
  driftDigest,
  planDigest,
  planDocument,
  requireReviewed,
  requireReviewedUpdates,
} from '../../../../src/cli/plan/plan-document.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { digest } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { aStep, blocker, change, emptyPlan, gateAct, waits } from '../../../rack/plans.ts';
import { problemsOf } from '../../problems-of.ts';

const changes = [change('studio-1', 'power/sleep', '10', '0'), change('studio-2', 'power/sleep', '10', '0')];
const steps = [
  aStep('studio-1/power'),
  aStep('studio-2/power', { node: 'studio-2' }),
  aStep('studio-1/gate', { act: gateAct, needs: ['studio-1/power', 'studio-2/power'] }),
];
const plan = emptyPlan({ changes, steps });

const document = (changed: Partial<Plan> = {}, additions: readonly string[] = []): string =>
  planDocument({ ...plan, ...changed }, { isSimulated: false, additions });

const reviewed = { shown: 'plan.json', document: JSON.parse(document()), digest: planDigest(document()) };

/** The differences for which a plan is refused. */
function refused(current: string): readonly string[] {
  const problems = problemsOf(() => requireReviewed(reviewed, current));
  expect(problems).toMatchObject([{ code: 'plan/not-reviewed' }]);
  return problems.flatMap(({ detail }) => plainText(detail).split('\n').slice(1));
}

describe('a plan that is compared with a reviewed one', () => {
  it('is accepted if it is the same, whatever else was observed', () => {
    const observed = { 'studio-1': { bootSession: 'OTHER', hash: digest('c'.repeat(64)) } };
    expect(requireReviewed(reviewed, document({ observed }))).toBeUndefined();
    expect(planDigest(document({ observed }))).toBe(reviewed.digest);
  });

  it('is accepted if a part is done, which is named', () => {
    const [first, , gate] = steps;
    const rest = [first, { ...gate, needs: ['studio-1/power'] }] as never;
    expect(requireReviewed(reviewed, document({ changes: changes.slice(0, 1), steps: rest }))).toBe(
      [
        `No longer needed (2 lines of the reviewed plan ${reviewed.digest}):`,
        '  change of studio-2 power/sleep: 10 -> 0',
        '  step studio-2/power',
        '',
      ].join('\n'),
    );
  });

  it.each<readonly [string, string, readonly string[]]>([
    ['a new step', document({ steps: [...steps, aStep('studio-3/power')] }), ['new: step studio-3/power']],
    [
      'a step with other arguments',
      document({
        steps: steps.with(
          0,
          aStep('studio-1/power', { act: { kind: 'script', name: 'set-power', args: { sleepMinutes: 5 } } }),
        ),
      }),
      ['different: step studio-1/power'],
    ],
    [
      'a step with another effect',
      document({
        steps: steps.with(0, {
          ...aStep('studio-1/power'),
          effect: { kind: 'interrupt', placement: 'kimi', seconds: 1 },
        }),
      }),
      ['different: step studio-1/power'],
    ],
    [
      'another observed value',
      document({ changes: [change('studio-1', 'power/sleep', '15', '0'), ...changes.slice(1)] }),
      ['new: change of studio-1 power/sleep: 15 -> 0'],
    ],
    [
      'a new blocker',
      document({ blockers: [blocker('studio-1', { action: 'Go.' })] }),
      ['new: blocker on studio-1: Go.'],
    ],
    ['a waiting change', document({ waiting: [waits('rdma', 'studio-1', ['x'])] }), ['new: rdma on studio-1 waits']],
    [
      'a clean-up',
      document({ rescues: [{ group: 'kimi', steps: [aStep('studio-1/stop')] }] }),
      ['new: clean-up step studio-1/stop'],
    ],
    ['a new line in the lock', document({}, ['link a: 10.77.0.0/30']), ['new: new in the lock: link a: 10.77.0.0/30']],
    [
      'another file',
      document({ configHash: digest('e'.repeat(64)) }),
      ['the cluster file or its lock differs from the reviewed one'],
    ],
  ])('is refused with %s', (_, current, differences) => {
    expect(refused(current)).toEqual(differences);
    expect(planDigest(current)).not.toBe(reviewed.digest);
  });

  it('has the same digest if a file was sent from a different folder', () => {
    const act = {
      kind: 'send',
      source: '/a/x.tar.gz',
      to: ['x'],
      sha256: digest('a'.repeat(64)),
      sizeBytes: 1,
    } as never;
    const sent = (source: string): string =>
      document({ steps: [aStep('studio-1/send', { act: { ...(act as object), source } as never })] });
    expect(planDigest(sent('/b/x.tar.gz'))).toBe(planDigest(sent('/a/x.tar.gz')));
  });
});

describe('an update of macOS', () => {
  const [one, two] = [nodeName('studio-1'), nodeName('studio-2')];
  const withUpdates = (to: string) => document({ updates: { to, units: [{ nodes: [one], placements: ['kimi'] }] } });
  const refusedFor = (about: Partial<Parameters<typeof requireReviewedUpdates>[1]>): readonly string[] => {
    const text = withUpdates('26.7');
    const named = { shown: 'plan.json', document: JSON.parse(text), digest: planDigest(text) };
    const asked = { cluster: plan.cluster, to: '26.7', nodes: [one], ...about };
    return problemsOf(() => requireReviewedUpdates(named, asked)).flatMap(({ detail }) =>
      plainText(detail).split('\n').slice(1),
    );
  };

  it('belongs to the digest of the plan that leaves it', () => {
    const digests = [document(), withUpdates('26.7'), withUpdates('26.8')].map(planDigest);
    expect(new Set(digests).size).toBe(3);
    expect(refused(withUpdates('26.7'))).toEqual(['new: update of studio-1 to macOS 26.7']);
  });

  it('is refused for another Mac, version or cluster than in the reviewed plan', () => {
    expect(refusedFor({})).toEqual([]);
    expect(refusedFor({ nodes: [one, two] })).toEqual(['update of studio-2 to macOS 26.7']);
    expect(refusedFor({ to: '26.8' })).toEqual(['update of studio-1 to macOS 26.8']);
    expect(refusedFor({ cluster: 'other' })).toEqual(['update of studio-1 to macOS 26.7']);
  });
});

describe('the digest of a drift', () => {
  it('depends on what differs, but not on the observed value', () => {
    const of = (from: string, to: string): string =>
      driftDigest(emptyPlan({ changes: [change('studio-1', 'clock', from, to)] }), []);
    expect(of('3 s off', 'exact')).toBe(of('4 s off', 'exact'));
    expect(of('3 s off', 'exact')).not.toBe(of('3 s off', 'other'));
  });
});
