import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { hasErrors } from '../diagnostics/severity.ts';
import type { ClusterLock, PinnedKey } from '../model/cluster-lock.ts';
import { aside, meshwright } from '../model/text/command.ts';
import { type Prose, prose } from '../model/text/prose.ts';
import { placeOf } from './document/line-index.ts';
import { pointerTo } from './document/pointer.ts';
import { type ReadDocument, readDocument } from './document/read-document.ts';
import { spanOf } from './document/source-map.ts';
import { lockedThings, networkProblems } from './lock-sections.ts';
import { diagnosticsOf, type Problem } from './problem.ts';
import { schemaProblems } from './schema/schema-problems.ts';
import { lockSchema, validateLock } from './validators.generated.ts';

/** A lock file that was read: what it pins when there is no error, and always every problem by place. */
export interface LoadedLock {
  readonly lock?: ClusterLock;
  readonly diagnostics: readonly Diagnostic[];
}

/** A lock that pins nothing yet. */
export const emptyLock = (file: string): ClusterLock => ({
  file,
  hostKeys: {},
  nodes: [],
  links: {},
  formerNetworks: {},
  runtimes: {},
  models: {},
});

/** A lock is not written by hand: what helps is the file of before, or a new one. */
const hints: Readonly<Record<string, Prose>> = {
  'yaml/empty': prose`Restore the file from version control. Without one, remove it: \`${aside(meshwright('enroll'))}\` keeps host keys anew, and \`${aside(meshwright('apply', '--update-lock'))}\` the rest.`,
  'yaml/too-large': 'Restore the file from version control.',
  'schema/unsupported-version': 'Restore the file from version control, or use the meshwright that wrote it.',
};

/** Reads and judges `cluster.lock`. Never throws; `lock` is there unless a diagnostic is an error. */
export function parseLock(input: string | Uint8Array, file: string): LoadedLock {
  const { diagnostics, ...read } = readLock(input, file);
  return { ...read, diagnostics: diagnostics.map((one) => ({ ...one, hint: hints[one.code] ?? one.hint })) };
}

function readLock(input: string | Uint8Array, file: string): LoadedLock {
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
  return hasErrors(diagnostics)
    ? { diagnostics }
    : { lock: { file, hostKeys: pins, ...prebootPart(preboot), ...lockedThings(document) }, diagnostics };
}

type Pins = Readonly<Record<string, readonly PinnedKey[]>>;

const prebootPart = (pins: Pins): Pick<ClusterLock, 'prebootKeys'> =>
  Object.keys(pins).length === 0 ? {} : { prebootKeys: pins };

/** The keys of one address in one of the two sections that have keys. */
interface KeyPlace {
  readonly section: 'hostKeys' | 'prebootKeys';
  readonly name: string;
}

const keyPointer = ({ section, name }: KeyPlace, index: number): string =>
  pointerTo(pointerTo(`/${section}`, name), index);

function pinsOf(document: ReadDocument, section: KeyPlace['section']): Pins {
  const sections = document.value as Readonly<Record<string, Readonly<Record<string, readonly string[]>> | undefined>>;
  const pin = (text: string, name: string, index: number): PinnedKey => {
    const [type = '', base64 = ''] = text.split(' ');
    const span = spanOf(document.map, { pointer: keyPointer({ section, name }, index), at: 'value' });
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
    const span = (at: number) => spanOf(document.map, { pointer: keyPointer(place, at), at: 'value' });
    const inside = keyTypeInside(key.base64);
    if (inside !== key.type) {
      const found = inside === undefined ? 'no key' : `a key of type ${inside}`;
      return [{ code: 'lock/bad-host-key', span: span(index), detail: `The base64 holds ${found}, not ${key.type}.` }];
    }
    const first = keys.findIndex((other) => other.type === key.type);
    if (first === index) return [];
    const detail = `${name} has another ${key.type} key in line ${keys[first]?.line ?? key.line}.`;
    const others = [{ span: span(first), detail: 'The first key of this type.' }];
    return [{ code: 'lock/two-keys-of-one-type', span: span(index), detail, others }];
  });
}

/** The type that stands at the head of a key itself (RFC 4253: a length of four bytes, then the name). */
function keyTypeInside(base64: string): string | undefined {
  if (base64.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  return length === 0 || length > bytes.length - 4 ? undefined : bytes.toString('latin1', 4, 4 + length);
}
