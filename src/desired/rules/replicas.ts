import { placementSubject } from '../../model/subject.ts';
import { type Draft, type DraftPlacement, pointerTo } from '../draft.ts';
import { type Finding, type PlaceText, type Rule, repeats } from './rule.ts';

/** Rules for placements with `replicas`. */
export const replicaRules: readonly Rule[] = [keyForRanks, notPublished, nodeTwice, nameTaken];

/** The placements in the file that have replicas. */
const replicated = ({ placements }: Draft): readonly DraftPlacement[] => [
  ...new Set(placements.flatMap(({ replicaOf }) => replicaOf ?? [])),
];

/** Keys about several ranks, and about moving to other nodes. */
const keysForRanks = ['sharding', 'shares', 'roles', 'backend', 'fallback'] as const;

function keyForRanks(draft: Draft): readonly Finding[] {
  return replicated(draft).flatMap(({ name, pointer, keys, transport }): readonly Finding[] => {
    const code = 'placement/not-for-replicas';
    const subject = placementSubject(name);
    const found = keysForRanks.filter((key) => keys.includes(key));
    return [
      ...found.map((key): Finding => {
        const detail =
          key === 'fallback'
            ? `If a replica of ${name} fails, the others answer; it has no other nodes.`
            : `\`${key}\` is about a model that is split, but every replica of ${name} has the whole model.`;
        return { code, pointer: pointerTo(pointer, key), at: 'key', detail, subject };
      }),
      ...(transport?.text === 'rdma'
        ? [
            {
              code,
              pointer: transport.pointer,
              detail: `The replicas of ${name} do not communicate over the cables.`,
              hint: 'Write `transport: tcp`.',
              subject,
            } as const,
          ]
        : []),
    ];
  });
}

function notPublished(draft: Draft): readonly Finding[] {
  return replicated(draft).flatMap(({ name, pointer, isPublished }): readonly Finding[] => {
    if (isPublished) return [];
    const detail = `Without \`listen: lan\`, each replica of ${name} could be reached only from its own node.`;
    const subject = placementSubject(name);
    return [{ code: 'placement/replicas-not-published', pointer: pointerTo(pointer, 'replicas'), detail, subject }];
  });
}

function nodeTwice(draft: Draft, place: PlaceText): readonly Finding[] {
  return replicated(draft).flatMap(({ name, nodes }) =>
    repeats(nodes, ({ text }) => text).map(([node, first]): Finding => {
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

function nameTaken({ placements }: Draft): readonly Finding[] {
  return placements.flatMap(({ name, nodes: [node], replicaOf }): readonly Finding[] => {
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
