import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gatewayTree } from '../../desired/resolve.ts';
import { type SourcePlace, sourcesToRead } from '../../desired/settle/settle-trees.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import type { FleetError } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { areaOf } from '../../engine/diagnose/rules.ts';
import type { DesiredFleet, DesiredModel, DesiredNode } from '../../model/desired.ts';
import { type Digest, digestOf, jsonObject, parsedJson } from '../../model/digest.ts';
import { groupBy } from '../../model/lists.ts';
import type { SecretSource } from '../../model/secret.ts';
import { namedSubject } from '../../model/subject.ts';
import { isTrustWord, type TrustRequest, trustForm, trustWord } from '../../model/trust.ts';
import { findClusterFile, homeFolder, isInside, realPath, simFolder, stateFolder } from '../files/places.ts';
import { readIfThere, shownPath } from '../files/read-file.ts';
import { replaceFile, writingTo } from '../files/write-file.ts';
import { askPerson } from '../terminal/ask.ts';
import { type Run, shownWord, usageError } from '../verb.ts';
import { gatewayProgram } from './gateway-program.ts';
import { judgeFiles } from './open-cluster.ts';

/** True if the file asks for something that the caller did not allow. */
export const isAboutTrust = ({ diagnostics: [one] }: FleetError): boolean => areaOf(one) === 'trust';

/** These answer everybody without a login, and what comes from them is compared with the lock. */
const publicHosts: readonly string[] = ['huggingface.co', 'github.com', 'api.github.com', 'nodejs.org'];

/** Whether a program without a person runs this command, which then sets `CI` as every CI service does. */
export const isInCi = ({ env }: Pick<Run, 'env'>): boolean => !['', 'false', undefined].includes(env['CI']);

export const fileRequest = (run: Pick<Run, 'env'>, folder: string, path: string, use: string): TrustRequest => ({
  kind: 'file',
  value: resolve(folder, path.replace(/^~(?=\/|$)/u, homeFolder(run.env))),
  use,
});

const programRequest = (argv: readonly string[], use: string): TrustRequest => ({
  kind: 'program',
  value: argv.map(shownWord).join(' '),
  words: argv,
  use,
});

/** The requests for switching a Mac's power outlet. */
export const outletRequests = ({ name, outlet }: Pick<DesiredNode, 'name' | 'outlet'>): readonly TrustRequest[] =>
  outlet === undefined
    ? []
    : [outlet.off, outlet.on, outlet.state].map(({ argv }) => programRequest(argv, `the power outlet of ${name}`));

/** The request for the program that installs macOS updates. */
export const updateRequests = ({ macos: { updateDriver } }: Pick<DesiredFleet, 'macos'>): readonly TrustRequest[] =>
  typeof updateDriver === 'object' ? [programRequest(updateDriver.argv, 'macOS updates')] : [];

/** The requests for the programs that a playbook runs on this computer. */
export const noticeRequests = (commands: readonly (readonly string[])[], file: string): readonly TrustRequest[] =>
  commands.map((argv) => programRequest(argv, `notices of ${file}`));

/** The request for a secret; none for a person's answer. */
export function secretRequests(
  run: Pick<Run, 'env'>,
  source: SecretSource | undefined,
  folder: string,
  use: string,
): readonly TrustRequest[] {
  switch (source?.kind) {
    case 'env':
      return [{ kind: 'env', value: source.name, use }];
    case 'file':
      return [fileRequest(run, folder, source.path, use)];
    case 'command':
      return [programRequest(source.argv, use)];
    default:
      return [];
  }
}

/** The request for contacting a server; none for the public ones. */
export const hostRequest = (url: string, use: string): readonly TrustRequest[] => {
  const { host } = new URL(url);
  return publicHosts.includes(host) ? [] : [{ kind: 'host', value: host, use }];
};

/** The request for sending the Hugging Face token to a mirror; none without a mirror. */
export const tokenHostRequests = ({ downloads }: Pick<DesiredFleet, 'downloads'>): readonly TrustRequest[] =>
  downloads?.mirror === undefined
    ? []
    : [{ kind: 'token-host', value: new URL(downloads.mirror).host, use: 'the Hugging Face token' }];

/** The gateway, or the runtime or model of a source. */
const userOf = (name: string): string => {
  const [owner = name] = name.split('/');
  return owner === gatewayTree ? 'the gateway' : owner;
};

/** The requests for reading files on this computer and releases. */
export const sourceRequests = (places: readonly SourcePlace[]): readonly TrustRequest[] =>
  places.flatMap((place): readonly TrustRequest[] => {
    const use = userOf(place.name);
    if (place.kind === 'controller')
      return place.path === gatewayProgram ? [] : [{ kind: 'file', value: place.path, use }];
    if (place.kind !== 'release') return [];
    const { from, page } = place.release;
    return [from, ...(page === undefined ? [] : [page.url])].flatMap((url) => hostRequest(url, use));
  });

/** A model, with the paths of those of its files that are known. */
interface ModelFiles extends Pick<DesiredModel, 'name' | 'source'> {
  readonly files: readonly { readonly path: string }[];
}

/** The requests for reading and sending models from this computer: their folders, and links that lead out of them. */
export const modelRequests = (
  { models }: { readonly models: readonly ModelFiles[] },
  base: string,
): readonly TrustRequest[] =>
  models.flatMap(({ name, source, files }) => {
    if (source.kind !== 'controller') return [];
    const folder = resolve(base, source.folder);
    const linked = files.map(({ path }) => join(folder, path)).filter((path) => !isInside(folder, path));
    return [folder, ...linked].map((value) => ({ kind: 'file', value, use: name }) as const);
  });

const nothingLocked = { models: {}, runtimes: {}, releases: {}, runtimeFiles: {} };

/** Everything that a cluster file can ask for, whatever the command. */
function requestsOf(run: Pick<Run, 'env'>, fleet: DesiredFleet, folder: string): readonly TrustRequest[] {
  const places = sourcesToRead(fleet, nothingLocked, folder);
  return [
    ...fleet.nodes.flatMap(({ name, password, identityFile }) => [
      ...secretRequests(run, password, folder, `the password of ${name}`),
      ...(identityFile === undefined ? [] : [fileRequest(run, folder, identityFile, `the SSH key for ${name}`)]),
    ]),
    ...fleet.nodes.flatMap(outletRequests),
    ...updateRequests(fleet),
    ...secretRequests(run, fleet.downloads?.token, folder, 'the Hugging Face token'),
    ...(fleet.downloads?.token === undefined ? [] : tokenHostRequests(fleet)),
    ...fleet.placements.flatMap(({ name, publication }) =>
      (publication?.apiKeys ?? []).flatMap((key) => secretRequests(run, key, folder, `the API key of ${name}`)),
    ),
    ...sourceRequests(places),
    ...modelRequests(fleet, folder),
    ...places.flatMap((one) => (one.kind === 'url' ? hostRequest(one.base, one.name) : [])),
    ...(fleet.downloads?.mirror === undefined ? [] : hostRequest(fleet.downloads.mirror, 'downloads')),
  ];
}

/** A value of `--trust` or a line of `MESHWRIGHT_TRUST`. @throws FleetError `cli/usage` */
function checkedWord(word: string): string {
  if (isTrustWord(word)) return word;
  throw usageError(`${JSON.stringify(word)} is not something to trust.`, trustForm);
}

/** What the caller allows, outside of any file. */
const allowedWords = ({ options, env }: Run): ReadonlySet<string> =>
  new Set(
    [...(options.trust ?? []), ...(env['MESHWRIGHT_TRUST'] ?? '').split('\n')]
      .map((word) => word.trim())
      .filter((word) => word !== '')
      .map(checkedWord),
  );

/** True if `--trust` or `MESHWRIGHT_TRUST` names all of these. */
export function isNamed(run: Run, requests: readonly TrustRequest[]): boolean {
  const allowed = allowedWords(run);
  return requests.every((one) => allowed.has(trustWord(one)));
}

let lastAnswer: Promise<void> = Promise.resolve();

/**
 * Returns if this computer may do what the file asks for: its own folder needs no leave, `--trust` and
 * `MESHWRIGHT_TRUST` give it, and a person who is asked once. The answer holds as long as the file asks for the same.
 * @throws FleetError `trust/needed`, `trust/declined`
 */
export async function needTrust(run: Run, requests: readonly TrustRequest[]): Promise<void> {
  const outer = outsideOfFolder(run, requests);
  if (isNamed(run, outer)) return;
  // Questions about different requests must not mix at the terminal.
  const answer = lastAnswer.then(() => askForTrust(run, outer));
  lastAnswer = answer.catch(() => undefined);
  await answer;
}

const fileOf = ({ options, env, folder }: Run): string =>
  findClusterFile(options.file, env, folder) ?? join(folder, 'cluster.yaml');

/** The requests for anything but files in the folder of the cluster file. */
function outsideOfFolder(run: Run, requests: readonly TrustRequest[]): readonly TrustRequest[] {
  const file = fileOf(run);
  // In a rehearsal, the archives of doubles stand in for the file's own.
  const own = [dirname(file), ...(run.options.sim ? [simFolder(run.env, file)] : [])];
  return requests.filter((one) => one.kind !== 'file' || !own.some((folder) => isInside(folder, one.value)));
}

async function askForTrust(run: Run, requests: readonly TrustRequest[]): Promise<void> {
  const file = fileOf(run);
  const shown = shownPath(run.folder, file);
  const isFile = existsSync(file);
  const fleet = isFile ? judgeFiles(run).fleet : undefined;
  const others = fleet === undefined ? [] : outsideOfFolder(run, requestsOf(run, fleet, dirname(file)));
  if (isInCi(run) || !run.console.canAsk || run.options.json === true) throw needed(run, shown, requests, others);
  // What `--trust` names now is asked for, too: the answer is for later runs without these words.
  const all = [...requests, ...others];
  const digest = requestsDigest(all, dirname(file));
  const store = trustFile(run);
  const stored = readStore(store);
  if (stored[realPath(file)] === digest) return;
  run.console.err(`${shown} asks for this on your computer:\n${requestLines(all).join('')}`);
  if (!(await askPerson(run, 'Allow this, now and in later runs?'))) throw declined(shown);
  writingTo(store, () => replaceFile(store, JSON.stringify({ ...stored, [realPath(file)]: digest }), 0o600));
}

/** The answers of earlier runs: digests of requests by cluster file. */
const trustFile = ({ env }: Run): string => join(stateFolder(env), 'trust.json');

const readStore = (path: string): Readonly<Record<string, unknown>> =>
  jsonObject(parsedJson(readIfThere(path, path)?.text ?? '')) ?? {};

/** Changes with every request, and with the content of each program that lies in the file's folder. */
function requestsDigest(requests: readonly TrustRequest[], folder: string): Digest {
  const words = [...new Set(requests.map(trustWord))].sort();
  const programs = requests
    .flatMap(({ words: argv = [] }) => argv)
    .map((word) => resolve(folder, word))
    .filter((path) => isInside(folder, path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]);
  return digestOf([words, Object.fromEntries(programs)]);
}

const kindText: Readonly<Record<TrustRequest['kind'], string>> = {
  program: 'run     ',
  env: 'variable',
  file: 'file    ',
  host: 'server  ',
  'token-host': 'token to',
};

function requestLines(requests: readonly TrustRequest[]): readonly string[] {
  return [...groupBy(requests, trustWord).values()].map((same) => {
    const uses = [...new Set(same.map(({ use }) => use))].join(', ');
    const what = same.slice(0, 1).map(({ kind, value }) => `${kindText[kind]}  ${escapeText(value)}`);
    return `  ${what.join('')}   for ${escapeText(uses)}\n`;
  });
}

function needed(
  run: Run,
  shown: string,
  requests: readonly TrustRequest[],
  others: readonly TrustRequest[],
): FleetError {
  const allowed = allowedWords(run);
  const open = requests.filter((one) => !allowed.has(trustWord(one)));
  const words = new Set([...allowed, ...open.map(trustWord)]);
  const later = requestLines(others.filter((one) => !words.has(trustWord(one))));
  const flags = [...new Set(open.map(trustWord))].map((word) => `--trust ${shownWord(word)}`);
  return failure('trust/needed', {
    subject: namedSubject(shown),
    detail: [
      `${shown} asks for this on your computer:\n`,
      ...requestLines(open),
      ...(later.length === 0 ? [] : ['For other work, it also asks for this:\n', ...later]),
    ]
      .join('')
      .trimEnd(),
    hint: ['Check the file. If you agree, add', { kind: 'lines', lead: ':', lines: [flags.join(' ')] }],
  });
}

const declined = (shown: string): FleetError =>
  failure('trust/declined', {
    subject: namedSubject(shown),
    detail: 'Nothing that it asks for was run, read or sent.',
  });
