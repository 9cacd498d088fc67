import { given } from '../../model/given.ts';
import { type NodeName, nodeName } from '../../model/node.ts';

/** A job that passes a model on. `report` changes while other Macs need this one. */
export interface Serving {
  readonly report: number;
  readonly sentBytes: number;
  /** The Macs that still need this one. */
  readonly feeds: readonly NodeName[];
}

/** How the exchange of a model with other Macs went. */
export interface Exchange {
  /** Per cable, the address of its other end, or `-` for Ethernet, and the duration of all requests together. */
  readonly cables: readonly {
    readonly node: NodeName;
    readonly address: string;
    readonly bytes: number;
    readonly ms: number;
  }[];
  /** Why the Mac exchanged nothing, if its perl did not work: the first line of the error, which may be empty. */
  readonly perl?: string;
  /** The other end of a cable, once for each chunk with wrong bytes. */
  readonly drops: readonly { readonly node: NodeName; readonly address: string }[];
  /** The Macs that SSH did not reach, with the last line of its errors; absent if there were none. */
  readonly refusals?: readonly { readonly node: NodeName; readonly why: string }[];
  /** The number of published files of which only wrong chunks were fetched; absent if there were none. */
  readonly repairedFiles?: number;
}

/** More Macs than this are not cabled to one. */
const mostNames = 32;
const form = /^[a-z0-9][a-z0-9-]{0,62}$/;
const name = '([a-z0-9][a-z0-9-]{0,62})';
const address = '(\\d{1,3}(?:\\.\\d{1,3}){3}|-)';

/** Names of nodes with blanks between them; undefined for anything else. */
export function nodeNames(text: string): readonly NodeName[] | undefined {
  const names = text.split(' ');
  return names.length <= mostNames && names.every((one) => form.test(one)) ? names.map(nodeName) : undefined;
}

/** Reads a line such as `7 4096 studio-2 studio-3`. */
export function servingOf(line: string): Serving | undefined {
  const [, report, sent, names] = /^(\d{1,9}) (\d{1,16})(?: (.+))?$/.exec(line) ?? [];
  const feeds = names === undefined ? [] : nodeNames(names);
  if (report === undefined || feeds === undefined) return undefined;
  return { report: Number(report), sentBytes: Number(sent), feeds };
}

const peerForm = new RegExp(`^peer ${name} (\\d{1,16}) (\\d{1,16}) ${address}$`);
const refusedForm = new RegExp(`^refused ${name} (.{1,300})`);
const dropForm = new RegExp(`^drop ${name} \\d{1,9} ${address}$`);

/** Reads the lines about other Macs, and ignores all other lines; undefined if there are none. */
export function exchangeOf(lines: readonly string[]): Exchange | undefined {
  const cables = lines.flatMap((line): Exchange['cables'] => {
    const [, node, bytes, ms, far] = peerForm.exec(line) ?? [];
    if (node === undefined || far === undefined) return [];
    return [{ node: nodeName(node), address: far, bytes: Number(bytes), ms: Number(ms) }];
  });
  const drops = lines.flatMap((line): Exchange['drops'] => {
    const [, node, far] = dropForm.exec(line) ?? [];
    return node === undefined || far === undefined ? [] : [{ node: nodeName(node), address: far }];
  });
  const unreached = lines.flatMap((line) => {
    const [, node, why] = refusedForm.exec(line) ?? [];
    return node === undefined || why === undefined ? [] : [{ node: nodeName(node), why }];
  });
  const refusals = unreached.length === 0 ? undefined : unreached;
  const [repaired] = lines.flatMap((line) => /^repaired (\d{1,6})$/.exec(line)?.[1] ?? []);
  const repairedFiles = repaired === undefined ? undefined : Number(repaired);
  const perl = lines.find((line) => /^perl(?: |$)/.test(line))?.slice('perl '.length, 300);
  const rest = given({ repairedFiles, perl, refusals });
  const isEmpty = cables.length + drops.length + Object.keys(rest).length === 0;
  return isEmpty ? undefined : { cables, drops, ...rest };
}
