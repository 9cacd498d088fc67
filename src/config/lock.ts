import { firstAddress, linkText, parseIpv4Network, parseLink } from '../desired/addresses.ts';
import { pointerTo } from '../desired/draft.ts';
import { type FindingPlace, type KeysByDriver, repeats } from '../desired/rules/rule.ts';
import { parseKeys } from '../desired/settle/settle-runtime.ts';
import { parseShape } from '../desired/settle/shape-text.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import type {
  ClusterLock,
  LockedArchive,
  LockedShape,
  PinnedKey,
  RolledBack,
  VersionKeys,
} from '../model/cluster-lock.ts';
import type { Ipv4Network } from '../model/desired.ts';
import { digest } from '../model/digest.ts';
import type { LockDocument } from '../model/files.generated.ts';
import { given } from '../model/given.ts';
import { aside, meshwright } from '../model/text/command.ts';
import { type Prose, prose } from '../model/text/prose.ts';
import { diagnosticsOf, type Problem } from './problem.ts';
import { type ReadDocument, readDocument } from './read-document.ts';
import { schemaProblems } from './schema-problems.ts';
import { placeOf, spanOf } from './source-map.ts';
import { lockSchema, validateLock } from './validators.generated.ts';

/** Reads a schema-valid lock's sections, except the host keys. A missing section is empty. */
function lockedThings(
  { value }: ReadDocument,
  drivers: KeysByDriver,
): Omit<ClusterLock, 'file' | 'hostKeys' | 'prebootKeys'> {
  const sections = value as LockDocument;
  const links = Object.entries(sections.links ?? {});
  const former = Object.entries(sections.formerNetworks ?? {});
  return {
    nodes: [...new Set(sections.nodes)].sort(),
    links: Object.fromEntries(links.flatMap(([link, network]) => keyed(linkName(link), parseIpv4Network(network)))),
    formerNetworks: Object.fromEntries(former.map(([network, link]) => [network, linkName(link)])),
    runtimes: eachValue(sections.runtimes ?? {}, readContent),
    ...given({
      identities: sections.identities && eachValue(sections.identities, digest),
      withdrawing: sections.withdrawing && [...new Set(sections.withdrawing)].sort(),
      releases: sections.releases,
      runtimeFiles: sections.runtimeFiles && eachValue(sections.runtimeFiles, readContent),
      rolledBack: sections.rolledBack && eachValue(sections.rolledBack, readRolledBack),
      runtimeKeys:
        sections.runtimeKeys &&
        eachValue(sections.runtimeKeys, (lines) => lines.flatMap((line) => readRuntimeKeys(line, drivers))),
      shapes: sections.shapes && readShapes(sections.shapes),
    }),
    models: eachValue(sections.models ?? {}, ({ source, commit, access, files }) => ({
      source,
      ...given({ commit, access }),
      files: Object.entries(files).sort(byPath).map(file),
    })),
  };
}

const eachValue = <T, U>(map: Readonly<Record<string, T>>, follow: (value: T) => U): Readonly<Record<string, U>> =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, follow(value)]));

function readRolledBack(text: string): RolledBack {
  const [to = '', from = ''] = text.split(' ');
  return { to: digest(to), from: digest(from) };
}

/** Skips a line without valid keys: a rollback to that version then uses the keys in the file. */
function readRuntimeKeys(line: string, drivers: KeysByDriver): readonly VersionKeys[] {
  const keys = parseKeys(line.slice(65), drivers);
  return keys === undefined ? [] : [{ of: digest(line.slice(0, 64)), keys }];
}

/** Skips texts that are not shapes: these shapes are then read from the files again. */
function readShapes(texts: NonNullable<LockDocument['shapes']>): Readonly<Record<string, LockedShape>> {
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

/** Returns a link's canonical name, whichever end is first in the lock. */
function linkName(text: string): string {
  const ends = parseLink(text);
  return ends === undefined ? text : linkText(ends);
}

function readContent(text: string): LockedArchive {
  const [sha256 = '', size] = text.split(' ');
  return { sha256: digest(sha256), sizeBytes: Number(size) };
}

interface Entry {
  readonly network: string;
  readonly link: string;
  readonly target: FindingPlace;
}

/** Finds problems with a lock's networks: not a /30, one network for two links, or two networks for one link. */
function networkProblems(document: ReadDocument): readonly Problem[] {
  const { links, formerNetworks } = document.value as LockDocument;
  const declared = Object.entries(links ?? {}).map(([link, network]): Entry => {
    return { network, link: linkName(link), target: { pointer: pointerTo('/links', link) } };
  });
  const former = Object.entries(formerNetworks ?? {}).map(([network, link]): Entry => {
    return { network, link: linkName(link), target: { pointer: pointerTo('/formerNetworks', network), at: 'key' } };
  });
  return [
    ...[...declared, ...former].flatMap((entry) => badNetwork(entry, document)),
    ...repeats([...declared, ...former], (entry) => entry.network).map(([entry, first]) =>
      networkTwice(entry, first, document),
    ),
    ...repeats(declared, (entry) => entry.link).map(([entry, first]) => linkTwice(entry, first, document)),
  ];
}

function badNetwork({ network, target }: Entry, { map }: ReadDocument): readonly Problem[] {
  const parsed = parseIpv4Network(network);
  const span = spanOf(map, target);
  if (parsed === undefined) {
    return [{ code: 'lock/bad-network', span, detail: `${network} has a number above 255 or with a leading zero.` }];
  }
  const first = firstAddress(parsed);
  if (first === parsed.address) return [];
  return [{ code: 'lock/bad-network', span, detail: `${parsed.address} is an address inside ${first}/30.` }];
}

function networkTwice(entry: Entry, first: Entry, document: ReadDocument): Problem {
  return {
    code: 'lock/network-twice',
    span: spanOf(document.map, entry.target),
    detail: `${first.link} already has ${entry.network} (line ${lineOf(first, document)}).`,
    others: [{ span: spanOf(document.map, first.target), detail: 'The first link with this network.' }],
  };
}

function linkTwice(entry: Entry, first: Entry, document: ReadDocument): Problem {
  return {
    code: 'lock/link-twice',
    span: spanOf(document.map, { ...entry.target, at: 'key' }),
    detail: `This is the same cable as on line ${lineOf(first, document)}; the order of the ends does not matter.`,
    others: [{ span: spanOf(document.map, { ...first.target, at: 'key' }), detail: 'The first line for this link.' }],
  };
}

const lineOf = ({ target }: Entry, { source, map }: ReadDocument): number => placeOf(source, spanOf(map, target)).line;

/** The result of reading a lock file. `lock` is set unless there is an error; diagnostics are sorted by position. */
export interface LoadedLock {
  readonly lock?: ClusterLock;
  readonly diagnostics: readonly Diagnostic[];
}

export const emptyLock = (file: string): ClusterLock => ({
  file,
  hostKeys: {},
  nodes: [],
  links: {},
  formerNetworks: {},
  runtimes: {},
  models: {},
});

/** People do not write locks, so the hint is to restore the lock or create a new one. */
const hints: Readonly<Record<string, Prose>> = {
  'yaml/empty': prose`Restore the file from version control. If you cannot, remove it: then \`${aside(meshwright('enroll'))}\` pins the host keys again, and \`${aside(meshwright('apply', '--update-lock'))}\` resolves the rest.`,
  'yaml/too-large': 'Restore the file from version control.',
  'schema/unsupported-version': 'Restore the file from version control, or use the meshwright version that wrote it.',
};

/**
 * Reads and validates `cluster.lock`. Never throws; `lock` is set unless one of the diagnostics is an error.
 *
 * @param drivers the keys of every driver, from the list of drivers
 */
export function parseLockWith(drivers: KeysByDriver, input: string | Uint8Array, file: string): LoadedLock {
  const { diagnostics, ...read } = readLock(drivers, input, file);
  return { ...read, diagnostics: diagnostics.map((one) => ({ ...one, hint: hints[one.code] ?? one.hint })) };
}

function readLock(drivers: KeysByDriver, input: string | Uint8Array, file: string): LoadedLock {
  const document = readDocument(input, file);
  if (document.value === undefined) return { diagnostics: diagnosticsOf(document.source, document.problems) };
  const formProblems = [
    ...schemaProblems({ schema: lockSchema, validate: validateLock }, document),
    ...document.problems,
  ];
  const formDiagnostics = diagnosticsOf(document.source, formProblems);
  if (hasErrors(formDiagnostics)) return { diagnostics: formDiagnostics };
  const pins = pinsOf(document, 'hostKeys');
  const preboot = pinsOf(document, 'prebootKeys');
  const problems = [
    ...Object.entries(pins).flatMap(([name, keys]) => keyProblems({ section: 'hostKeys', name }, keys, document)),
    ...Object.entries(preboot).flatMap(([name, keys]) => keyProblems({ section: 'prebootKeys', name }, keys, document)),
  ];
  const diagnostics = diagnosticsOf(document.source, [...problems, ...networkProblems(document), ...formProblems]);
  if (hasErrors(diagnostics)) return { diagnostics };
  const prebootKeys = Object.keys(preboot).length === 0 ? undefined : preboot;
  const things = lockedThings(document, drivers);
  return { lock: { file, hostKeys: pins, ...given({ prebootKeys }), ...things }, diagnostics };
}

type Pins = Readonly<Record<string, readonly PinnedKey[]>>;

/** Identifies one address's keys in one of the two sections with host keys. */
interface KeyPlace {
  readonly section: 'hostKeys' | 'prebootKeys';
  readonly name: string;
}

const keyPointer = ({ section, name }: KeyPlace, index: number): string =>
  pointerTo(pointerTo(`/${section}`, name), index);

function pinsOf(document: ReadDocument, section: KeyPlace['section']): Pins {
  const sections = document.value as LockDocument;
  const pin = (text: string, name: string, index: number): PinnedKey => {
    const [type = '', base64 = ''] = text.split(' ');
    const span = spanOf(document.map, { pointer: keyPointer({ section, name }, index) });
    return { type, base64, line: placeOf(document.source, span).line };
  };
  return Object.fromEntries(
    Object.entries(sections[section] ?? {}).map(([name, keys]) => [
      name,
      keys.map((text, index) => pin(text, name, index)),
    ]),
  );
}

function keyProblems(place: KeyPlace, keys: readonly PinnedKey[], document: ReadDocument): readonly Problem[] {
  const { name } = place;
  return keys.flatMap((key, index): readonly Problem[] => {
    const span = (at: number) => spanOf(document.map, { pointer: keyPointer(place, at) });
    const inside = keyTypeInside(key.base64);
    if (inside !== key.type) {
      const found = inside ?? 'no key';
      return [
        { code: 'lock/bad-host-key', span: span(index), detail: `Expected key type ${key.type}, found ${found}.` },
      ];
    }
    const first = keys.findIndex((other) => other.type === key.type);
    if (first === index) return [];
    const detail = `Line ${keys[first]?.line ?? key.line} already has the ${key.type} key of ${name}.`;
    const others = [{ span: span(first), detail: 'The first key with this type.' }];
    return [{ code: 'lock/two-keys-of-one-type', span: span(index), detail, others }];
  });
}

/** Reads the key type at the start of the key data (RFC 4253: four bytes of length, then the name). */
function keyTypeInside(base64: string): string | undefined {
  if (base64.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  return length === 0 || length > bytes.length - 4 ? undefined : bytes.toString('latin1', 4, 4 + length);
}
