import { didYouMean, listText } from '../did-you-mean.ts';
import type { Draft } from '../draft.ts';
import type { Finding, FindingPlace } from '../finding.ts';

/** Every node that a link or a receptacle to avoid names must stand under `nodes`. */
export function unknownNode(draft: Draft): readonly Finding[] {
  const names = draft.nodes.map((node) => node.name);
  const known = new Set(names);
  const inLinks = draft.links.flatMap((link) =>
    link.ends.flatMap((end) => {
      const part = { start: end.start, end: end.start + end.node.length };
      const place: FindingPlace = { pointer: link.pointer, at: 'value', part };
      return known.has(end.node) ? [] : [finding(end.node, place, names)];
    }),
  );
  const inAvoid = draft.avoid.flatMap(({ node, pointer }) => {
    if (node === undefined || known.has(node)) return [];
    return [finding(node, { pointer, at: 'value', part: { start: 0, end: node.length } }, names)];
  });
  return [...inLinks, ...inAvoid];
}

const listedAtMost = 8;

function finding(name: string, place: FindingPlace, names: readonly string[]): Finding {
  const near = didYouMean(name, names);
  const more = names.length - listedAtMost;
  const list = listText([...names.slice(0, listedAtMost), ...(more > 0 ? [`${more} more`] : [])]);
  return {
    ...place,
    code: 'topology/unknown-node',
    detail: `There is no node \`${name}\` in this file.`,
    hint: near === undefined ? `The nodes are ${list}.` : `Did you mean \`${near}\`?`,
    subject: `node ${name}`,
    ...(near === undefined ? {} : { label: `did you mean ${near}?` }),
  };
}
