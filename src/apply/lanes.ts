import type { NodeName } from '../model/node.ts';
import type { Act } from '../model/step.ts';

/**
 * What keeps two steps of one node apart: short scripts one after another, long transfers one after another beside them,
 * and nothing at all beside a restart. Gates and questions only look, and hands are not ours.
 */
type Lane = 'act' | 'bulk';

const lanesByKind: Readonly<Record<Act['kind'], readonly Lane[]>> = {
  script: ['act'],
  transaction: ['act'],
  put: ['act'],
  send: ['bulk'],
  job: ['bulk'],
  reboot: ['act', 'bulk'],
  gate: [],
  ask: [],
  prove: ['act'],
  dialogue: [],
  hands: [],
};

/** Which lanes of which nodes are taken, and by how many nodes. */
export interface Lanes {
  /** Takes what a step needs, or nothing at all. */
  readonly enter: (node: NodeName, kind: Act['kind']) => boolean;
  readonly leave: (node: NodeName, kind: Act['kind']) => void;
}

/** Lanes in which at most `parallel` nodes are at work at a time. */
export function createLanes(parallel: number): Lanes {
  const taken = new Set<string>();
  const workByNode = new Map<NodeName, number>();
  const keys = (node: NodeName, kind: Act['kind']): readonly string[] =>
    lanesByKind[kind].map((lane) => `${node} ${lane}`);
  return {
    enter: (node, kind) => {
      const wanted = keys(node, kind);
      if (wanted.length === 0) return true;
      if (wanted.some((one) => taken.has(one))) return false;
      if (!workByNode.has(node) && workByNode.size >= parallel) return false;
      for (const one of wanted) taken.add(one);
      workByNode.set(node, (workByNode.get(node) ?? 0) + 1);
      return true;
    },
    leave: (node, kind) => {
      const held = keys(node, kind);
      if (held.length === 0) return;
      for (const one of held) taken.delete(one);
      const left = (workByNode.get(node) ?? 1) - 1;
      if (left > 0) workByNode.set(node, left);
      else workByNode.delete(node);
    },
  };
}
