/**
 * Every name that a build writes, as a text that people can read and compare. Values that differ between runs (ids,
 * digests, numbers, times) are replaced with a word.
 */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { serviceList } from '../cli/node-snapshot.ts';
import type { YesterdayRack } from './rack.ts';

const ours = 'Library/Application Support/meshwright';

const volatile: readonly (readonly [RegExp, string])[] = [
  [/\b\d{8}T\d{6}-[0-9a-f]{6}\b/g, 'RUN'],
  [/\b[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}\b/gi, 'UUID'],
  [/\b[0-9a-f]{64}\b/g, 'SHA256'],
  [/\b[0-9a-f]{16}\b/g, 'DIGEST'],
  [/(?<=\/\.whole-)\d+-\d+\b/g, 'N-N'],
];

const settled = (text: string): string => volatile.reduce((so, [pattern, word]) => so.replace(pattern, word), text);

const unique = (lines: readonly string[]): readonly string[] => [...new Set(lines.map(settled))].sort();

/** Names that appear only at times: a gateway's counts, a job's progress, a log with its first line. */
const isPassing = (path: string): boolean =>
  /\/doorman\/\d+\/counts\/.|\/ops\/[^/]+\/progress|\/log\/keeper/.test(path);

/** Paths below a folder, folders with a trailing slash. */
function pathsBelow(root: string, path: string): readonly string[] {
  const full = join(root, path);
  if (!existsSync(full) || isPassing(path)) return [];
  if (!lstatSync(full).isDirectory()) return [path];
  return [`${path}/`, ...readdirSync(full).flatMap((name) => pathsBelow(root, `${path}/${name}`))];
}

/** Below a seal, trees are not listed: their contents come from the archive or the model. */
const isOfTree = (path: string): boolean => /^opt\/meshwright\/\w+\/[^/]+\/[0-9a-f]{16}\/(?!\.)./.test(path);

/** Keys of a value with their paths, for lists over all elements. JSON inside a text counts too. */
function keysIn(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => keysIn(one, `${at}[]`));
  if (typeof value === 'string') {
    const json = /^(?:[0-9a-f]{64} )?(\{".*\})$/s.exec(value)?.[1];
    return json === undefined ? [] : keysIn(JSON.parse(json), `${at} `);
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = at === '' || at.endsWith(' ') ? `${at}${key}` : `${at}.${key}`;
    return [path, ...keysIn(inner, path)];
  });
}

/** Records of meshwright whose lines begin with a word or are `key=value`. Its other files are listed only by path. */
const records = [
  /\/(?:hold|fence|wired-baseline)$/,
  /\/accounts\/[^/]+$/,
  /\/files\/[^/]+$/,
  /\/keeper\/data$/,
  /\/lease\/[^/]+$/,
  /\/ops\/[^/]+\/job$/,
  /\/placements\/[^/]+\/(?:process|record|start)$/,
  /\/rollback\/\w+\/about$/,
];

/** The first words of a record, or all keys of a line of the history. */
function wordsIn(path: string, text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  if (path.endsWith('/log/history')) return lines.flatMap((line) => line.match(/\b\w+=(?=\S)/g) ?? []);
  if (/\/LaunchDaemons\/[^/]+\.plist$/.test(path))
    return [...text.matchAll(/<key>([^<]+)<\/key>/g)].map(([, key]) => key ?? '');
  if (/\/doorman\/.*(?:\/keys\/[^/]+|\.json)$|\/request$/.test(path)) return keysIn(JSON.parse(text));
  if (!records.some((pattern) => pattern.test(path))) return [];
  return lines.map((line) => /^[a-z][\w-]*=/i.exec(line)?.[0] ?? (/^[a-z-]+(?= |$)/i.exec(line)?.[0] || 'VALUE'));
}

/** The words in files, with the name of the file. */
function contentLines(root: string, paths: readonly string[]): readonly string[] {
  const isText = (path: string): boolean => !path.endsWith('/') && lstatSync(join(root, path)).isFile();
  return paths
    .filter(isText)
    .flatMap((path) => wordsIn(`/${path}`, readFileSync(join(root, path), 'utf8')).map((word) => `${path}: ${word}`));
}

/** Names on a Mac outside meshwright's folders: services, accounts, SSH access. */
function traces(root: string): readonly string[] {
  const daemons = readdirSync(join(root, 'Library/LaunchDaemons')).filter((name) => name.includes('meshwright'));
  const plists = daemons.map((name) => readFileSync(join(root, 'Library/LaunchDaemons', name), 'utf8'));
  const users = plists.flatMap((text) => /<key>UserName<\/key>\s*<string>([^<]+)</.exec(text)?.[1] ?? []);
  const homes = readdirSync(join(root, 'Users'));
  const keys = homes.map((name) => join(root, 'Users', name, '.ssh/authorized_keys')).filter(existsSync);
  const comments = keys
    .flatMap((path) => readFileSync(path, 'utf8').trim().split('\n'))
    .map((line) => line.split(' ').at(-1));
  const rule = readFileSync(join(root, 'etc/sudoers.d/meshwright'), 'utf8').trim();
  return [
    ...serviceList(root).map((label) => `launchd runs ${label}`),
    ...daemons.map((name) => `Library/LaunchDaemons/${name}`),
    ...users.map((name) => `a daemon runs as ${name}`),
    ...comments.filter((one) => one === 'meshwright').map((one) => `a key of authorized_keys ends with ${one}`),
    ...rule.split('\n').map((line) => `etc/sudoers.d/meshwright: ${line.replaceAll(root, '')}`),
  ];
}

function nodeSections(name: string, root: string): readonly (readonly [string, readonly string[]])[] {
  const kept = [...pathsBelow(root, ours), ...pathsBelow(root, 'opt/meshwright')].filter((path) => !isOfTree(path));
  const daemons = pathsBelow(root, 'Library/LaunchDaemons').filter((path) => path.includes('meshwright'));
  return [
    [`${name}: files`, kept],
    [`${name}: words in files`, contentLines(root, [...kept, ...daemons])],
    [`${name}: services, accounts, access`, traces(root)],
  ];
}

interface JournalLine {
  readonly phase: string;
  readonly state?: string;
}

function journalKeys(state: string): readonly string[] {
  const folder = join(state, 'journal');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ndjson'));
  return files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => {
        const { phase, state: word = '' } = JSON.parse(line) as JournalLine;
        return keysIn(JSON.parse(line)).map((key) => `${phase} ${word}`.trimEnd().concat(`: ${key}`));
      }),
  );
}

/** Names in the steps of a plan: kinds of work, scripts and their arguments. */
function stepNames(plan: unknown): readonly string[] {
  const { steps } = plan as { readonly steps: readonly { readonly id: string; readonly act: FileAct }[] };
  return steps.map(({ id, act }) => {
    const args = act.args === undefined ? Object.keys(act) : Object.keys(act.args);
    return `${id}: ${[act.kind, act.name].filter((word) => word !== undefined).join(' ')} (${args.sort().join(' ')})`;
  });
}

interface FileAct {
  readonly kind: string;
  readonly name?: string;
  readonly args?: object;
}

/** The lock of a simulated fleet, next to its run file. */
function lockPath(state: string): string {
  const found = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter(
    (name) => basename(name) === 'cluster.lock',
  );
  if (found.length !== 1) throw new Error(`found ${found.length} lock files instead of one`);
  return join(state, found[0] ?? '');
}

const ofAnyNode = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replaceAll(/\bstudio-\d(?=[./])/g, 'NODE'));

/** All names on a rack, including those in the documents that the build printed. */
export function namesOf({ place, roots }: YesterdayRack, documents: Readonly<Record<string, unknown>>): string {
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ...Object.entries(roots).flatMap(([name, root]) => nodeSections(name, root)),
    ['cluster.lock', keysIn(parse(readFileSync(lockPath(place.state), 'utf8')))],
    ['journal', journalKeys(place.state)],
    ['steps of the first plan', ofAnyNode(stepNames(documents['plan']))],
    ...Object.entries(documents).map(([name, value]) => [`document of ${name}`, ofAnyNode(keysIn(value))] as const),
  ];
  return sections
    .map(
      ([title, lines]) =>
        `[${title}]\n${unique(lines)
          .map((line) => `${line}\n`)
          .join('')}`,
    )
    .join('\n');
}
