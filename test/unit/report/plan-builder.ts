import type { Plan, Reason, Waiting } from '../../../src/engine/plan/plan.ts';
import type { AddressParts } from '../../../src/model/address.ts';
import { digest } from '../../../src/model/digest.ts';
import { nodeName } from '../../../src/model/node.ts';
import { type Change, type Step, stepId } from '../../../src/model/step.ts';
import type { Blocker } from '../../../src/rack/resource.ts';

/** A digest that nobody computed. */
export const anyDigest = digest('ab'.repeat(32));

/** `studio-1 power/sleep: sleeps after 10 min -> never sleeps` as a change. */
export function change(node: string, resource: string, from: string, to: string): Change {
  const about = aboutOf(resource);
  return { id: `${node} ${resource}`, node: nodeName(node), resource, about, from, to, reason: resource };
}

/** The kind, and for a placement its name, in an address that a test writes as text. */
function aboutOf(address: string): AddressParts {
  const [kind = '', placement] = address.split('/');
  return kind === 'placement' && placement !== undefined ? { kind, placement } : { kind };
}

/** `placement/kimi` on a node as something that waits. */
export function waits(
  resource: string,
  node: string,
  reasons: readonly (string | Pick<Blocker, 'code' | 'node'>)[],
  isUnknown = false,
): Waiting {
  const reasonOf = (one: (typeof reasons)[number]): Reason =>
    typeof one === 'string'
      ? { text: one, isUnknown }
      : { text: `${one.code} on ${one.node}`, isUnknown, blocker: one };
  return { resource, about: aboutOf(resource), node: nodeName(node), for: reasons.map(reasonOf), isUnknown };
}

/** A step that sets something, with what a test says otherwise. */
export function step(node: string, name: string, changes: Partial<Step> = {}): Step {
  return {
    id: stepId(`${node}/${name}`),
    node: nodeName(node),
    resource: name.split('/')[0] ?? name,
    class: 'converge',
    act: { kind: 'script', name: 'set-wired-limit', args: { megabytes: 1 } },
    effect: { kind: 'none' },
    changes: [],
    needs: [],
    peers: [],
    establishes: [],
    deadlineMs: 30_000,
    ...changes,
  };
}

/** A blocker that hands can clear, with what a test says otherwise. */
export function blocker(node: string, changes: Partial<Blocker> = {}): Blocker {
  return {
    code: 'rdma/disabled',
    node: nodeName(node),
    resource: 'rdma',
    action: [
      'Enable RDMA: shut down, hold the power button until "Loading startup options", Options > Utilities > Terminal:',
      '  rdma_ctl enable',
      'then restart.',
    ].join('\n'),
    isHands: true,
    peers: [],
    blocks: [],
    ...changes,
  };
}

/** A plan over four studios that has nothing to do, with what a test says otherwise. */
export function planOf(changes: Partial<Plan> = {}): Plan {
  const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
  return {
    formatVersion: 1,
    cluster: 'studio-rack',
    configHash: anyDigest,
    observed: Object.fromEntries(names.map((name) => [name, { bootSession: `BOOT-${name}`, hash: anyDigest }])),
    changes: [],
    steps: [],
    rescues: [],
    waiting: [],
    blockers: [],
    effects: [],
    diagnostics: [],
    ...changes,
  };
}
