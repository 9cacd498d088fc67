import { placementSubject } from '../../model/subject.ts';
import { type Draft, type DraftPlacement, pointerTo } from '../draft.ts';
import { type FileFinding, type FileRule, type PlaceText, repeats } from './rule.ts';

export const replicaRules: readonly FileRule[] = [keyForRanks, notPublished, nodeTwice, nameTaken];

const replicated = ({ placements }: Draft): readonly DraftPlacement[] => [
  ...new Set(placements.flatMap(({ replicaOf }) => replicaOf ?? [])),
];

/** Keys about several ranks, and about moving to other nodes. */
const keysForRanks = ['sharding', 'shares', 'roles', 'backend', 'fallback'] as const;

function keyForRanks(draft: Draft): readonly FileFinding[] {
  return replicated(draft).flatMap(({ name, pointer, keys, transport }): readonly FileFinding[] => {
    const code = 'placement/not-for-replicas';
    const subject = placementSubject(name);
    const found = keysForRanks
      .filter((key) => keys.includes(key))
      .map((key): FileFinding => {
        const detail =
          key === 'fallback'
            ? `If a replica of ${name} fails, the others answer; it has no other nodes.`
            : `\`${key}\` is about a model that is split, but every replica of ${name} has the whole model.`;
        return { code, pointer: pointerTo(pointer, key), at: 'key', detail, subject };
      });
    if (transport?.text !== 'rdma') return found;
    const detail = `The replicas of ${name} do not communicate over the cables.`;
    return [...found, { code, pointer: transport.pointer, detail, hint: 'Write `transport: tcp`.', subject }];
  });
}

function notPublished(draft: Draft): readonly FileFinding[] {
  return replicated(draft).flatMap(({ name, pointer, isPublished }): readonly FileFinding[] => {
    if (isPublished) return [];
    const detail = `Without \`listen: lan\`, each replica of ${name} could be reached only from its own node.`;
    const subject = placementSubject(name);
    return [{ code: 'placement/replicas-not-published', pointer: pointerTo(pointer, 'replicas'), detail, subject }];
  });
}

function nodeTwice(draft: Draft, place: PlaceText): readonly FileFinding[] {
  return replicated(draft).flatMap(({ name, nodes }) =>
    repeats(nodes, ({ text }) => text).map(([node, first]): FileFinding => {
      const firstPlace = { pointer: first.pointer };
      return {
        code: 'placement/node-twice',
        pointer: node.pointer,
        label: `already listed, ${place(firstPlace)}`,
        detail: `${node.text} would have two replicas of ${name}.`,
        subject: placementSubject(name),
        others: [{ ...firstPlace, detail: 'The first entry for this node.' }],
      };
    }),
  );
}

/** The schema's limit for names. */
const mostCharacters = 63;

function nameTaken({ placements }: Draft): readonly FileFinding[] {
  return placements.flatMap(({ name, nodes: [node], replicaOf }): readonly FileFinding[] => {
    if (replicaOf === undefined || node === undefined) return [];
    const other = placements.find((one) => one.name === name && one.replicaOf !== replicaOf);
    const found = { code: 'placement/bad-replica-name', pointer: node.pointer } as const;
    const subject = placementSubject(replicaOf.name);
    if (name.length > mostCharacters) {
      const detail = `The replica on ${node.text} would be ${name}: ${name.length} characters.`;
      return [{ ...found, detail, subject }];
    }
    if (other === undefined) return [];
    const where = { pointer: other.pointer, at: 'key', detail: 'The other placement.' } as const;
    const detail = `The replica on ${node.text} would be ${name}, but another placement has this name.`;
    return [{ ...found, detail, subject, others: [where] }];
  });
}
