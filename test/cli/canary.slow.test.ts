import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askControl } from '../../src/sim/hosts/control/control.ts';
import {
  type FileValue,
  filePart,
  fileText,
  first,
  pairFile,
  second,
  writeSources,
} from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { type Canary, placesOf, searchText, searchTree } from './canary.ts';
import { diskOf } from './disks.ts';
import { endPlace } from './fleet.ts';
import { meshwright, type Ran } from './meshwright.ts';
import { placeWithPair } from './pair.ts';
import type { Place } from './place.ts';
import { readSpawnNotes, watchProcesses, writeSpawnNotes } from './process-words.ts';
import { onTerminal } from './terminal.ts';

/** Files that may contain a canary: its source on this computer, and the simulator's model of a Mac. */
const [secretFiles, macItself] = [
  /^rack\/secrets\//,
  /^state\/sim\/[^/]+\/(?:state\.json|roots\/[^/]+\/\.sim\/password)$/,
];

const canaries: Canary[] = [];
function canary(name: string, more = '', mayBeIn: readonly RegExp[] = [secretFiles]): string {
  const text = `canary-${canaries.length}"\\/+&%=>?~${more}-${name}`;
  canaries.push({ name, text, mayBeIn });
  return text;
}

/** The account passwords, a different one for each Mac. */
const accounts = {
  [first]: canary('account-1', ' ü', [secretFiles, macItself]),
  [second]: canary('account-2', ' ü', [secretFiles, macItself]),
};
const wrong = {
  env: canary('wrong-env', ' ü'),
  file: canary('wrong-file', ' ü'),
  command: canary('wrong-command', ' ü'),
  prompt: canary('wrong-prompt'),
};
const keys = { env: canary('key-env'), file: canary('key-file'), command: canary('key-command') };
const laterKey = canary('later-key');
/** Hugging Face tokens have only letters, digits and underscores. */
const hubToken = 'hf_canary0TokenOfTheHub';
canaries.push({ name: 'hub-token', text: hubToken, mayBeIn: [] });
const unauthorizedKey = canary('unauthorized-key');
const prompt = canary('prompt');

/** Not a secret: a placement's environment is in service files, plans and records, but in no log. */
const setting = canary('setting', '', [
  secretFiles,
  /^rack\/(?:cluster\.yaml|plan\.json|record\.ndjson)$/,
  /^state\/sim\/[^/]+\/fleet\.json$/,
  /^state\/sim\/[^/]+\/roots\/[^/]+\/(?:Library\/LaunchDaemons\/dev\.meshwright\.rank\.chat\.plist|\.sim\/launchd\/dev\.meshwright\.rank\.chat)$/,
]);

/** Variables of the operator, which every program inherits. */
const variables = { MESH_PW: accounts[first], WRONG_PW: wrong.env, KEY_ENV: keys.env, HUB_ENV: hubToken };

/** Without these words, a rehearsal reads no secret. */
const trusted = (): string =>
  [
    ...Object.keys(variables).map((name) => `env=${name}`),
    ...['key', 'account'].map((name) => `file=${place.folder}/secrets/${name}`),
    ...['chat', 'account', 'wrong'].map((item) => `program=${keychain(item).command.join(' ')}`),
  ].join('\n');

let place: Place;
let stopWatch: ReturnType<typeof watchProcesses>;
const notes = mkdtempSync(join(tmpdir(), 'mw-canary-notes-'));
const [noteModule, noted] = ['notes.cjs', 'notes.ndjson'].map((name) => join(notes, name)) as [string, string];
const screens: Ran[] = [];
/** Commands that the simulated Macs received. */
const received: string[] = [];

const env = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...variables,
  MESHWRIGHT_TRUST: trusted(),
  NODE_OPTIONS: `--require ${noteModule}`,
  ...more,
});

async function run(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const ran = await meshwright(place, words, { env: env(more) });
  screens.push(ran);
  return ran;
}

const everything = ['--sim', '-v', '--log', 'run.ndjson', '--log-level', 'debug', '--record', 'record.ndjson'];

/** Runs a command on simulated Macs with every log and record. */
async function verb(...words: readonly string[]): Promise<number | null> {
  return (await run([...words, ...everything])).code;
}

/** Types a password at a terminal. */
async function typed(words: readonly string[], after: string, keystrokes: string): Promise<number | null> {
  const ran = await onTerminal(place, [...words, ...everything], {
    env: env(),
    typing: { after, keys: `${keystrokes}\r` },
  });
  screens.push(ran);
  return ran.code;
}

const simFolder = (): string => {
  const [name = ''] = readdirSync(join(place.state, 'sim'));
  return join(place.state, 'sim', name);
};

/** A line from the middle of the private key that opens the simulated Macs. */
function userKey(): Canary {
  const lines = readFileSync(join(simFolder(), 'user-key'), 'utf8').split('\n');
  return { name: 'user-key', text: lines[3] ?? '', mayBeIn: [/^state\/sim\/[^/]+\/user-key$/] };
}

/** Reads the simulator's log of commands: the last thousand of each Mac. */
async function readCommands(): Promise<void> {
  const { controlSocket } = JSON.parse(readFileSync(join(simFolder(), 'run.json'), 'utf8')) as {
    controlSocket: string;
  };
  received.push(JSON.stringify(await askControl(controlSocket, { ask: 'log' }, 20_000)));
}

/** A source that reads a password from a fake keychain. */
const keychain = (item: string) => ({
  command: ['./secrets/keychain', 'find-generic-password', '-s', item, '-w'],
});

function file(change: (file: FileValue) => void = () => undefined): FileValue {
  return pairFile((value) => {
    publish(value, { apiKey: [{ env: 'KEY_ENV' }, { file: './secrets/key' }, keychain('chat')] });
    filePart(value, 'system')['fileVault'] = 'enabled';
    filePart(value, 'nodes', first)['password'] = { env: 'MESH_PW' };
    filePart(value, 'nodes', second)['password'] = { file: './secrets/account' };
    filePart(value, 'placements', 'chat')['env'] = { APP_SETTING: setting };
    // The simulated Hub shows a repository with this name only to a client with a token.
    filePart(value, 'models')['tiny'] = { source: 'hf:acme/private-tiny' };
    Object.assign(value, { secrets: { huggingface: { env: 'HUB_ENV' } } });
    change(value);
  });
}

/** Sets the source of a Mac's password in the file. */
const declare = (node: string, source: FileValue): void => {
  place.write(
    'cluster.yaml',
    fileText(file((value) => Object.assign(filePart(value, 'nodes', node), { password: source }))),
  );
};

/** Writes the files of the sources, and the fake keychain. */
function writeSecrets(folder: string): void {
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets, { mode: 0o700 });
  const texts = {
    account: accounts[second],
    wrong: wrong.file,
    key: keys.file,
    'item-chat': keys.command,
    'item-account': accounts[second],
    'item-wrong': wrong.command,
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(secrets, name), `${text}\n`, { mode: 0o600 });
  writeFileSync(join(secrets, 'keychain'), `#!/bin/sh\nexec cat "${secrets}/item-$3"\n`, { mode: 0o700 });
}

/** Gives each simulated Mac its own password. */
async function givePasswords(): Promise<void> {
  expect((await meshwright(place, ['sim', 'down'])).code).toBe(0);
  const path = join(simFolder(), 'state.json');
  const state = JSON.parse(readFileSync(path, 'utf8')) as { start: { macs: { name: string; password: string }[] } };
  for (const mac of state.start.macs) mac.password = accounts[mac.name as keyof typeof accounts];
  writeFileSync(path, JSON.stringify(state));
  expect((await meshwright(place, ['sim', 'up'])).code).toBe(0);
}

beforeAll(async () => {
  writeSpawnNotes(noteModule, noted);
  stopWatch = watchProcesses();
  place = await placeWithPair(file(), async (folder) => {
    await writeSources(folder);
    await writePublishedSources(folder);
    writeSecrets(folder);
  });
  await givePasswords();
});
afterAll(async () => {
  rmSync(notes, { recursive: true, force: true });
  await endPlace(place);
});

const patience = 300_000;
const rootOf = (node: string): string => diskOf(place, node);

/** The local port of the endpoint. */
function realPort(): number {
  const lines = readFileSync(join(rootOf(first), '.sim/link-table'), 'utf8').split('\n');
  const line = lines.find((one) => one.startsWith('127.0.0.1:8080 '));
  return Number(line?.slice(line.lastIndexOf(':') + 1));
}

/** Asks the gateway as a client does. */
async function chat(key: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${realPort()}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: prompt }], max_tokens: 4 }),
  });
  await answer.text();
  return answer.status;
}

const fault = async (...words: readonly string[]): Promise<void> => {
  expect((await meshwright(place, ['sim', 'fault', ...words])).code).toBe(0);
};

describe('secrets from every source', () => {
  afterEach(readCommands);

  it('unlock Macs at FileVault, unless they are wrong', { timeout: patience }, async () => {
    expect(await verb('secrets')).toBe(0);
    expect(await verb('unlock', first, '--yes', '--password-env', 'WRONG_PW', '--json')).toBe(3);
    expect(await verb('unlock', first, '--yes')).toBe(0);
    expect(await verb('unlock', second, '--yes', '--password-file', 'secrets/wrong')).toBe(3);
    declare(second, keychain('wrong'));
    expect(await verb('unlock', second, '--yes')).toBe(3);
    declare(second, { prompt: true });
    const words = ['unlock', second, '--yes'];
    const question = `Password of ana on ${second}: `;
    expect(await typed(words, question, wrong.prompt)).toBe(3);
    expect(await typed(words, question, accounts[second])).toBe(0);
    declare(second, { file: './secrets/account' });
  });

  it('enroll Macs, unless they are wrong', { timeout: patience }, async () => {
    await fault('not-enrolled', first);
    expect(await verb('enroll', first, '--yes', '--password-env', 'WRONG_PW')).toBe(3);
    expect(await verb('enroll', first, '--yes', '--json')).toBe(0);
    await fault('sudo-denied', second);
    expect(await verb('enroll', second, '--yes', '--password-file', 'secrets/wrong', '--json')).toBe(3);
    expect(await verb('enroll', second, '--yes')).toBe(0);
    await fault('--clear');
  });

  it('give access to a published endpoint, unless they are wrong', { timeout: patience }, async () => {
    expect([await run(['validate', '--json']), await run(['validate'])].map(({ code }) => code)).toEqual([0, 0]);
    expect(await verb('secrets', '--json')).toBe(0);
    expect((await run(['models', 'lock', ...everything], { HUB_ENV: '' })).code).toBe(1);
    expect(await verb('models', 'lock')).toBe(0);
    expect(await verb('plan', '--out', 'plan.json')).toBe(0);
    expect(await verb('plan', '--json', '--scripts')).toBe(0);
    expect(await verb('apply', '--yes')).toBe(0);
    for (const key of Object.values(keys)) expect(await chat(key)).toBe(200);
    const kept = join(rootOf(first), 'Library/Application Support/meshwright/gateway/8080/keys/chat');
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual({ keys: Object.values(keys).map(hashOf).toSorted() });
    expect(await chat(unauthorizedKey)).toBe(401);
    const later = { KEY_ENV: laterKey };
    expect((await run(['apply', '--yes', '--json', ...everything], later)).code).toBe(0);
    expect([await chat(laterKey), await chat(keys.env)]).toEqual([200, 401]);
    expect((await run(['apply', '--yes', ...everything])).code).toBe(0);
  });

  it('do not interfere with commands that observe, drain or restart', { timeout: patience }, async () => {
    const observing = [
      ['status'],
      ['doctor'],
      ['drift'],
      ['facts'],
      ['logs', 'chat'],
      ['history'],
      ['lease', 'status'],
      ['models', 'list'],
      ['models', 'verify', '--full'],
    ];
    for (const words of observing) {
      expect([words, await verb(...words), await verb(...words, '--json')]).toEqual([words, 0, 0]);
    }
    expect((await run(['endpoints'])).code).toBe(0);
    expect((await run(['endpoints', '--json'])).code).toBe(0);
    expect(await verb('bench', 'chat', '--requests', '1', '--runs', '1')).toBe(0);
    expect((await run(['exec', first, ...everything, '--', 'uname'])).code).toBe(0);
    expect(await verb('drain', 'chat', '--yes')).toBe(0);
    expect(await verb('restart', 'chat', '--yes', '--json')).toBe(0);
  });

  it('unlock a Mac after its restart', { timeout: patience }, async () => {
    declare(second, keychain('account'));
    expect(await verb('reboot', second, '--yes')).toBe(0);
    expect(await verb('apply', '--yes')).toBe(0);
  });
});

describe('each secret', () => {
  it('is stored in its source, and a password also on its simulated Mac', () => {
    const own = (node: string): string => join('sim', 'roots', node, '.sim/password');
    const launchd = (node: string): string => join('sim', 'roots', node, '.sim/launchd/dev.meshwright.rank.chat');
    const found = canaries.map((one) => [
      one.name,
      placesOf(place.root, one).map((path) => path.replace(/^state\/sim\/[^/]+/, 'sim')),
    ]);
    expect(Object.fromEntries(found)).toEqual({
      'account-1': [own(first)],
      'account-2': ['rack/secrets/account', 'rack/secrets/item-account', own(second)],
      'wrong-env': [],
      'wrong-file': ['rack/secrets/wrong'],
      'wrong-command': ['rack/secrets/item-wrong'],
      'wrong-prompt': [],
      'key-env': [],
      'key-file': ['rack/secrets/key'],
      'key-command': ['rack/secrets/item-chat'],
      'later-key': [],
      'hub-token': [],
      'unauthorized-key': [],
      prompt: [],
      setting: ['rack/cluster.yaml', launchd(first), launchd(second)],
    });
  });

  it('appears in no other file on this computer or on the Macs', () => {
    const log = readFileSync(join(place.folder, 'run.ndjson'), 'utf8');
    for (const code of ['ssh/password-refused', 'enroll/sudo-refused-password']) expect(log).toContain(code);
    expect(readFileSync(join(place.folder, 'record.ndjson'), 'utf8').length).toBeGreaterThan(1_000_000);
    expect(searchTree(place.root, [...canaries, userKey()])).toEqual([]);
  });

  it('appears on no screen, and in no command that a Mac received', () => {
    const secrets = [...canaries.filter(({ text }) => text !== setting), userKey()];
    const shown = screens.flatMap(({ words, stdout, stderr }) => searchText(stdout + stderr, words.join(' '), secrets));
    expect(screens.length).toBeGreaterThan(40);
    expect(received.join('').length).toBeGreaterThan(100_000);
    expect([...shown, ...searchText(received.join('\n'), 'the commands', secrets)]).toEqual([]);
  });

  it("never appears in arguments, and appears in the environment only as the operator's variable", () => {
    const { argv, environment } = stopWatch();
    const spawned = readSpawnNotes(noted);
    const words = [...argv, ...spawned.map((one) => one.argv.join(' '))];
    const entries = spawned.flatMap(({ env: given }) => Object.entries(given).map((one) => one.join('=')));
    // APP_SETTING belongs to the ranks and is not secret.
    const own = [...Object.keys(variables), 'APP_SETTING'].map((name) => `${name}=`);
    const others = [...environment, ...entries].filter((one) => !own.some((start) => one.startsWith(start)));
    expect(words.filter((one) => one.includes('find-generic-password')).length).toBeGreaterThan(0);
    expect([...words, ...new Set(others)].flatMap((one) => searchText(one, one, canaries))).toEqual([]);
  });
});
