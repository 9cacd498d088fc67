import { networkText } from '../desired/addresses.ts';
import { keysText } from '../desired/settle/settle-runtime.ts';
import { shapeText } from '../desired/settle/shape-text.ts';
import type { ClusterLock, HostKey, LockedModel, LockedShape, PinnedKey, VersionKeys } from '../model/cluster-lock.ts';
import { compareText } from '../model/lists.ts';
import type { TreeFile } from '../model/node-script.ts';

const header = [
  '# What meshwright has resolved for the cluster file beside it: commit it, review its changes.',
  '# It is written by meshwright; a host key is pinned by `meshwright enroll`.',
  'lock: 1',
];

/** The two sections with host keys: for the normal sshd, and for the sshd that waits for the FileVault password. */
export type KeySection = 'hostKeys' | 'prebootKeys';

interface Line {
  readonly text: string;
  readonly key?: { readonly section: KeySection; readonly name: string; readonly key: HostKey };
}

const quote = (text: string): string => JSON.stringify(text);
const sortedEntries = <T>(map: Readonly<Record<string, T>>): readonly (readonly [string, T])[] =>
  Object.entries(map).sort(([a], [b]) => compareText(a, b));

/** A section's lines. Empty sections are left out, so that locks of older meshwright versions remain unchanged. */
const section = (name: string, lines: readonly string[]): readonly Line[] =>
  lines.length === 0 ? [] : [`${name}:`, ...lines].map((text): Line => ({ text }));

const keyLines = (lock: ClusterLock, section: KeySection): readonly Line[] => {
  const entries = sortedEntries(lock[section] ?? {});
  const body = entries.flatMap(([name, pins]): readonly Line[] => {
    const lines = [...pins]
      .sort((a, b) => compareText(a.type, b.type))
      .map((key): Line => ({ text: `    - ${quote(`${key.type} ${key.base64}`)}`, key: { section, name, key } }));
    return lines.length === 0 ? [] : [{ text: `  ${quote(name)}:` }, ...lines];
  });
  if (section === 'prebootKeys' && entries.length === 0) return [];
  return [{ text: entries.length === 0 ? `${section}: {}` : `${section}:` }, ...body];
};

const pair = ([key, value]: readonly [string, string]): string => `  ${quote(key)}: ${quote(value)}`;

const nameLines = (names: readonly string[]): readonly string[] =>
  [...names].sort(compareText).map((name) => `  - ${quote(name)}`);

const content = ({ sha256, sizeBytes }: Pick<TreeFile, 'sha256' | 'sizeBytes'>): string => `${sha256} ${sizeBytes}`;

const fileLines = (files: readonly TreeFile[]): readonly string[] =>
  [...files].sort((a, b) => compareText(a.path, b.path)).map((file) => `    ${pair([file.path, content(file)])}`);

const modelLines = ([name, { source, commit, access, files }]: readonly [string, LockedModel]): readonly string[] => [
  `  ${quote(name)}:`,
  `    source: ${quote(source)}`,
  ...(commit === undefined ? [] : [`    commit: ${quote(commit)}`]),
  ...(access === undefined ? [] : [`    access: ${access}`]),
  '    files:',
  ...fileLines(files),
];

/** Writes the shape in single quotes, because it never contains one. */
const shapeLines = ([name, { of, shape }]: readonly [string, LockedShape]): readonly string[] => [
  `  ${quote(name)}:`,
  `    of: ${quote(of)}`,
  `    shape: '${shapeText(shape)}'`,
];

/** Writes each version in single quotes and doubles the single quotes in its text. */
const keysLines = ([name, versions]: readonly [string, readonly VersionKeys[]]): readonly string[] => [
  `  ${quote(name)}:`,
  ...versions.map((one) => `    - '${keysText(one).replaceAll("'", "''")}'`),
];

function layOut(lock: ClusterLock): readonly Line[] {
  const links = sortedEntries(lock.links).map(([link, network]) => pair([link, networkText(network)]));
  const runtimes = sortedEntries(lock.runtimes).map(([name, archive]) => pair([name, content(archive)]));
  const files = sortedEntries(lock.runtimeFiles ?? {}).map(([name, file]) => pair([name, content(file)]));
  const rolledBack = sortedEntries(lock.rolledBack ?? {}).map(([name, { to, from }]) => pair([name, `${to} ${from}`]));
  const models = sortedEntries(lock.models).flatMap(modelLines);
  const shapes = sortedEntries(lock.shapes ?? {}).flatMap(shapeLines);
  return [
    ...header.map((text): Line => ({ text })),
    ...keyLines(lock, 'hostKeys'),
    ...keyLines(lock, 'prebootKeys'),
    ...section('nodes', nameLines(lock.nodes)),
    ...section('identities', sortedEntries(lock.identities ?? {}).map(pair)),
    ...section('withdrawing', nameLines(lock.withdrawing ?? [])),
    ...section('links', links),
    ...section('formerNetworks', sortedEntries(lock.formerNetworks).map(pair)),
    ...section('runtimes', runtimes),
    ...section('releases', sortedEntries(lock.releases ?? {}).map(pair)),
    ...section('runtimeFiles', files),
    ...section('rolledBack', rolledBack),
    ...section('runtimeKeys', sortedEntries(lock.runtimeKeys ?? {}).flatMap(keysLines)),
    ...section('models', models),
    ...section('shapes', shapes),
  ];
}

/** Renders a lock file: sorted, one entry per line, so that a change is one line in a review. */
export const renderLock = (lock: ClusterLock): string =>
  `${layOut(lock)
    .map((line) => line.text)
    .join('\n')}\n`;

/**
 * Adds a host key to a lock. The key replaces a key of the same type under the same name; keys of other types are kept.
 * Line numbers refer to the text from {@link renderLock}.
 *
 * @param name `host`, or `[host]:port` if the port is not 22, as in known_hosts
 */
export function withPin(lock: ClusterLock, name: string, key: HostKey, section: KeySection = 'hostKeys'): ClusterLock {
  const all = lock[section] ?? {};
  const pins = Object.hasOwn(all, name) ? (all[name] ?? []) : [];
  const others = pins.filter((other) => other.type !== key.type);
  const added = { ...all, [name]: [...others, { type: key.type, base64: key.base64, line: 0 }] };
  const keys = new Map<string, PinnedKey[]>();
  for (const [index, line] of layOut({ ...lock, [section]: added }).entries()) {
    if (line.key?.section !== section) continue;
    const pinned = { type: line.key.key.type, base64: line.key.key.base64, line: index + 1 };
    keys.set(line.key.name, [...(keys.get(line.key.name) ?? []), pinned]);
  }
  return { ...lock, [section]: Object.fromEntries(keys) };
}
