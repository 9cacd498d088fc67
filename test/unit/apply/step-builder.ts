import { digest } from '../../../src/model/digest.ts';
import { type Known, unknown } from '../../../src/model/known.ts';
import { nodeName } from '../../../src/model/node.ts';
import { type Act, type Step, stepId } from '../../../src/model/step.ts';

/** What a step of a test differs in. */
export interface StepChange {
  readonly node?: string;
  readonly needs?: readonly string[];
  readonly after?: readonly string[];
  readonly group?: string;
  readonly act?: Act;
  readonly class?: Step['class'];
  readonly deadlineMs?: number;
}

/** A gate that nobody ever asks anything. */
export const gateAct: Act = { kind: 'gate', expect: [], aborts: [] };

const sha256 = digest('a'.repeat(64));

/** A job that nobody ever launches. */
export const jobAct: Act = {
  kind: 'job',
  key: sha256,
  name: 'unpack-runtime',
  args: { tree: { kind: 'runtime', name: 'reference', digest: sha256 }, archive: 'tar.gz', sha256, extras: [] },
};

/** A boot session that nobody knows. */
export const unknownSession: Known<string> = unknown('unreachable', 'The node did not answer.');

/** A small step on studio-1, changed as wished. */
export function aStep(id: string, change: StepChange = {}): Step {
  return {
    id: stepId(id),
    node: nodeName(change.node ?? 'studio-1'),
    resource: 'power',
    class: change.class ?? 'converge',
    act: change.act ?? { kind: 'script', name: 'set-power', args: { sleepMinutes: 0 } },
    effect: { kind: 'none' },
    changes: [],
    needs: (change.needs ?? []).map(stepId),
    ...(change.after === undefined ? {} : { after: change.after.map(stepId) }),
    ...(change.group === undefined ? {} : { group: change.group }),
    peers: [],
    establishes: [],
    deadlineMs: change.deadlineMs ?? 20_000,
  };
}
