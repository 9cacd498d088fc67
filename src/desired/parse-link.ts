import { type LinkEnd, nodeName } from '../model/node.ts';

const endForm = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?):([1-9][0-9]?)$/;

/** Reads `studio-1:2`, one receptacle of one node; undefined for anything else. */
export function parseLinkEnd(text: string): LinkEnd | undefined {
  const match = endForm.exec(text);
  return match === null ? undefined : { node: nodeName(match[1] ?? ''), receptacle: Number(match[2]) };
}

/** Reads `studio-1:2 <-> studio-2:2`, one cable; undefined for anything else. */
export function parseLink(text: string): readonly [LinkEnd, LinkEnd] | undefined {
  const halves = text.split('<->');
  const first = parseLinkEnd((halves[0] ?? '').trimEnd());
  const second = parseLinkEnd((halves[1] ?? '').trimStart());
  return halves.length !== 2 || first === undefined || second === undefined ? undefined : [first, second];
}
