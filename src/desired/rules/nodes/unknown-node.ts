import { nodeSubject } from '../../../model/subject.ts';
import { type Choices, choicesAmong } from '../../choices.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding, FindingPlace } from '../../draft/finding.ts';

/** Every node that a link or a receptacle to avoid names must stand under `nodes`; without any node only that is told. */
export function unknownNode(draft: Draft): readonly Finding[] {
  const known = draft.nodeNames;
  if (known.size === 0) return [];
  const choices = choicesAmong(draft.nodes.map((node) => node.name));
  const inLinks = draft.links.flatMap((link) =>
    link.ends.flatMap((end) => {
      const part = { start: end.start, end: end.start + end.node.length };
      const place: FindingPlace = { pointer: link.pointer, at: 'value', part };
      return known.has(end.node) ? [] : [finding(end.node, place, choices)];
    }),
  );
  const inAvoid = draft.avoid.flatMap(({ node, pointer }) => {
    if (node === undefined || known.has(node)) return [];
    return [finding(node, { pointer, at: 'value', part: { start: 0, end: node.length } }, choices)];
  });
  return [...inLinks, ...inAvoid];
}

function finding(name: string, place: FindingPlace, choices: Choices): Finding {
  const near = choices.near(name);
  return {
    ...place,
    code: 'topology/unknown-node',
    detail: `There is no node \`${name}\` in this file.`,
    hint: near === undefined ? `The nodes are ${choices.list}.` : `Did you mean \`${near}\`?`,
    subject: nodeSubject(name),
    ...(near === undefined ? {} : { label: `did you mean ${near}?` }),
  };
}
