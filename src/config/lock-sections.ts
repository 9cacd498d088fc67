import { firstAddress, parseIpv4Network } from '../desired/links/ipv4.ts';
import { linkText } from '../desired/links/link-network.ts';
import { parseLink } from '../desired/links/link-text.ts';
import { parseKeys } from '../desired/settle/runtime-keys.ts';
import { parseShape } from '../desired/settle/shape-text.ts';
import type { ClusterLock, KeptKeys, LockedArchive, LockedShape } from '../model/cluster-lock.ts';
import type { Ipv4Network } from '../model/desired.ts';
import { digest } from '../model/digest.ts';
import { placeOf } from './document/line-index.ts';
import { pointerTo } from './document/pointer.ts';
import type { ReadDocument } from './document/read-document.ts';
import { spanOf, type Target } from './document/source-map.ts';
import type { Problem } from './problem.ts';

type Texts = Readonly<Record<string, string>>;

/** What a lock file has besides its pins, as the schema lets it pass. */
interface LockSections {
  readonly nodes?: readonly string[];
  readonly identities?: Texts;
  readonly withdrawing?: readonly string[];
  readonly links?: Texts;
  readonly formerNetworks?: Texts;
  readonly runtimes?: Texts;
  readonly runtimeFiles?: Texts;
  readonly takenBack?: Texts;
  readonly runtimeKeys?: Readonly<Record<string, readonly string[]>>;
  readonly models?: Readonly<Record<string, { readonly source: string; readonly files: Texts }>>;
  readonly shapes?: Readonly<Record<string, { readonly of: string; readonly shape: string }>>;
}

/** Every section of a lock but its pins. */
export type LockedThings = Omit<ClusterLock, 'file' | 'hostKeys' | 'prebootKeys'>;

/** Reads the sections of a lock that its schema has let pass; a section that is not there is empty. */
export function lockedThings({ value }: ReadDocument): LockedThings {
  const sections = value as LockSections;
  const links = Object.entries(sections.links ?? {});
  const former = Object.entries(sections.formerNetworks ?? {});
  return {
    nodes: [...new Set(sections.nodes)].sort(),
    ...(sections.identities === undefined
      ? {}
      : {
          identities: Object.fromEntries(
            Object.entries(sections.identities).map(([name, text]) => [name, digest(text)]),
          ),
        }),
    ...(sections.withdrawing === undefined ? {} : { withdrawing: [...new Set(sections.withdrawing)].sort() }),
    links: Object.fromEntries(links.flatMap(([link, network]) => keyed(linkName(link), parseIpv4Network(network)))),
    formerNetworks: Object.fromEntries(former.map(([network, link]) => [network, linkName(link)])),
    runtimes: contents(sections.runtimes ?? {}),
    ...(sections.runtimeFiles === undefined ? {} : { runtimeFiles: contents(sections.runtimeFiles) }),
    ...(sections.takenBack === undefined ? {} : { takenBack: readTakenBack(sections.takenBack) }),
    ...(sections.runtimeKeys === undefined ? {} : { runtimeKeys: readRuntimeKeys(sections.runtimeKeys) }),
    models: Object.fromEntries(
      Object.entries(sections.models ?? {}).map(([name, { source, files }]) => [
        name,
        { source, files: Object.entries(files).sort(byPath).map(file) },
      ]),
    ),
    ...(sections.shapes === undefined ? {} : { shapes: readShapes(sections.shapes) }),
  };
}

function readTakenBack(texts: Texts): NonNullable<ClusterLock['takenBack']> {
  const entries = Object.entries(texts).map(([name, text]) => {
    const [to = '', from = ''] = text.split(' ');
    return [name, { to: digest(to), from: digest(from) }] as const;
  });
  return Object.fromEntries(entries);
}

/** A line that holds no keys is left out: then a rollback to that version has those of the file. */
function readRuntimeKeys(
  texts: NonNullable<LockSections['runtimeKeys']>,
): Readonly<Record<string, readonly KeptKeys[]>> {
  const entries = Object.entries(texts).map(([name, lines]) => {
    const versions = lines.flatMap((line): readonly KeptKeys[] => {
      const keys = parseKeys(line.slice(65));
      return keys === undefined ? [] : [{ of: digest(line.slice(0, 64)), keys }];
    });
    return [name, versions] as const;
  });
  return Object.fromEntries(entries);
}

/** A text that is no shape is left out: then it is read anew from the files. */
function readShapes(texts: NonNullable<LockSections['shapes']>): Readonly<Record<string, LockedShape>> {
  const entries = Object.entries(texts).flatMap(([name, { of, shape: text }]) => {
    const shape = parseShape(text);
    return shape === undefined ? [] : [[name, { of: digest(of), shape }] as const];
  });
  return Object.fromEntries(entries);
}

const keyed = (key: string, value: Ipv4Network | undefined): readonly (readonly [string, Ipv4Network])[] =>
  value === undefined ? [] : [[key, value]];

const byPath = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);
const file = ([path, content]: readonly [string, string]) => ({ path, ...readContent(content) });

/** The one name of a link, whichever end the lock names first. */
function linkName(text: string): string {
  const ends = parseLink(text);
  return ends === undefined ? text : linkText(ends);
}

const contents = (texts: Texts): Readonly<Record<string, LockedArchive>> =>
  Object.fromEntries(Object.entries(texts).map(([name, content]) => [name, readContent(content)]));

function readContent(text: string): LockedArchive {
  const [sha256 = '', size] = text.split(' ');
  return { sha256: digest(sha256), sizeBytes: Number(size) };
}

/** A network of the lock with its place and its link. */
interface Entry {
  readonly network: string;
  readonly link: string;
  readonly target: Target;
}

/** What is wrong with the networks of a lock: no /30 at all, one for two links, two for one link. */
export function networkProblems(document: ReadDocument): readonly Problem[] {
  const { links, formerNetworks } = document.value as LockSections;
  const declared = Object.entries(links ?? {}).map(
    ([link, network]): Entry => ({
      network,
      link: linkName(link),
      target: { pointer: pointerTo('/links', link), at: 'value' },
    }),
  );
  const former = Object.entries(formerNetworks ?? {}).map(
    ([network, link]): Entry => ({
      network,
      link: linkName(link),
      target: { pointer: pointerTo('/formerNetworks', network), at: 'key' },
    }),
  );
  return [
    ...[...declared, ...former].flatMap((entry) => badNetwork(entry, document)),
    ...twice([...declared, ...former], (entry) => entry.network).map(([entry, first]) =>
      networkTwice(entry, first, document),
    ),
    ...twice(declared, (entry) => entry.link).map(([entry, first]) => linkTwice(entry, first, document)),
  ];
}

function badNetwork({ network, target }: Entry, { map }: ReadDocument): readonly Problem[] {
  const parsed = parseIpv4Network(network);
  const span = spanOf(map, target);
  if (parsed === undefined) {
    return [
      { code: 'lock/bad-network', span, detail: `${network} has a number above 255, or one with a zero before it.` },
    ];
  }
  const first = firstAddress(parsed);
  if (first === parsed.address) return [];
  return [{ code: 'lock/bad-network', span, detail: `${parsed.address} is an address inside ${first}/30.` }];
}

/** Every entry whose key an earlier one has, with that one. */
function twice(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): readonly (readonly [entry: Entry, first: Entry])[] {
  const firsts = new Map<string, Entry>();
  return entries.flatMap((entry) => {
    const first = firsts.get(keyOf(entry));
    if (first !== undefined) return [[entry, first] as const];
    firsts.set(keyOf(entry), entry);
    return [];
  });
}

function networkTwice(entry: Entry, first: Entry, document: ReadDocument): Problem {
  return {
    code: 'lock/network-twice',
    span: spanOf(document.map, entry.target),
    detail: `${first.link} has ${entry.network} already (line ${lineOf(first, document)}).`,
    others: [{ span: spanOf(document.map, first.target), detail: 'The first link with this network.' }],
  };
}

function linkTwice(entry: Entry, first: Entry, document: ReadDocument): Problem {
  return {
    code: 'lock/link-twice',
    span: spanOf(document.map, { ...entry.target, at: 'key' }),
    detail: `It is the cable of line ${lineOf(first, document)}; the order of the ends has no meaning.`,
    others: [{ span: spanOf(document.map, { ...first.target, at: 'key' }), detail: 'The first one.' }],
  };
}

const lineOf = ({ target }: Entry, { source, map }: ReadDocument): number => placeOf(source, spanOf(map, target)).line;
