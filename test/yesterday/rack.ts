/**
 * A simulated rack of today with the state that the previous release leaves: settings, addresses, the keeper, two
 * placements behind one gateway, an older version of their runtime, a half-fetched model, an unconfirmed network
 * change, and a Mac on hold.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { writeTinyModel } from '../../src/sim/doubles/reference.ts';
import { endPlace } from '../cli/fleet.ts';
import { ended, json, mainFile, meshwright, type Ran, type RunOptions, runWith } from '../cli/meshwright.ts';
import { fileTree, serviceList } from '../cli/node-snapshot.ts';
import { makePlace, type Place } from '../cli/place.ts';
import { processesBelow } from '../processes-below.ts';
import {
  type FileValue,
  filePart,
  fileText,
  first,
  pairFile,
  second,
  withEverySetting,
  writeSources,
} from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { type HeldFiles, holdFiles } from './held-files.ts';

/** A rack and a person's computer. */
export interface YesterdayRack {
  readonly place: Place;
  readonly roots: Readonly<Record<string, string>>;
  readonly files: HeldFiles;
  /** Runs a program by its path, with `--sim`. */
  readonly type: (program: string, words: readonly string[], options?: RunOptions) => Promise<Ran>;
  readonly remove: () => Promise<void>;
}

/** The parts of the cluster file. */
interface Stage {
  readonly archive: 'reference' | 'newer';
  /** True if the file has a third placement, whose model comes from a web server. */
  readonly hasNext?: boolean;
}

const password = { env: { OWN_PASSWORD: 'simulated' } };
const consent = ['--yes', '--update-lock', '--allow', 'interrupt'];
/** A limit for hanging commands only: a busy machine takes many times as long as an idle one. */
const longestMs = 300_000;

const dieBefore = `--import ${new URL('die-before.mjs', import.meta.url).href}`;

/** A text that occurs only in the second half of a network change. */
const confirmation = 'isours "$rb/confirmed"';

/** Starts the two Macs, with network and settings untouched by apply. */
export async function startYesterdayRack(): Promise<YesterdayRack> {
  const place = makePlace();
  await writeSources(place.folder);
  await writePublishedSources(place.folder);
  const fetched = join(place.folder, 'models/fetched');
  await mkdir(fetched, { recursive: true });
  await writeTinyModel(fetched);
  const files = await holdFiles(fetched);
  await writeStage(place, { archive: 'reference' });
  const ran = await meshwright(place, ['sim', 'up']);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  for (const name of [first, second]) {
    for (const fault of ['dhcp-reset', 'bridge-active', 'power-wrong', 'not-enrolled'])
      await meshwright(place, ['sim', 'fault', fault, name]);
  }
  const { nodes } = json(await meshwright(place, ['sim', 'status', '--json'])) as {
    readonly nodes: Readonly<Record<string, { readonly root: string }>>;
  };
  const roots = Object.fromEntries(Object.entries(nodes).map(([name, { root }]) => [name, root]));
  for (const root of Object.values(roots)) {
    await writeFile(join(root, '.sim/web'), `models.lan:80 127.0.0.1:${files.port}\n`);
  }
  return {
    place,
    roots,
    files,
    type: (program, words, options) => {
      const all = simulated(words);
      renameKeys(place, program);
      return ended(runWith(program, place, all, options), all, longestMs);
    },
    remove: async () => {
      await files.close();
      await endPlace(place);
    },
  };
}

/**
 * Keys of the cluster file with different names in the old build. Empty this together with the tables of decision 16.
 */
const oldKeys: Readonly<Record<string, string>> = { gateway: 'doorman' };

/** Renames the keys of the cluster file to those that a program accepts. */
function renameKeys(place: Place, program: string): void {
  let text = readFileSync(join(place.folder, 'cluster.yaml'), 'utf8');
  for (const [now, before] of Object.entries(oldKeys)) {
    const [from, to] = program === mainFile ? [before, now] : [now, before];
    text = text.replace(new RegExp(`^${from}:`, 'm'), `${to}:`);
  }
  place.write('cluster.yaml', text);
}

/** The same arguments for simulated Macs. Arguments after `--` belong to a different program. */
function simulated(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--');
  return at < 0 ? [...words, '--sim'] : words.toSpliced(at, 0, '--sim');
}

/** Writes the cluster file of a stage. */
async function writeStage(place: Place, { archive, hasNext = false }: Stage): Promise<void> {
  const shared = { port: 8_080, listen: 'lan', access: 'anybody' };
  const next = hasNext ? await fetchedModel(place) : undefined;
  const file = pairFile((value) => {
    withEverySetting(value);
    publish(value, { access: 'anybody' });
    filePart(value, 'runtimes', 'reference')['archive'] = `./dist/${archive}.tar.gz`;
    const { sharding: _, ...chat } = filePart(value, 'placements', 'chat');
    const single = { ...chat, nodes: [first], context: '4k' };
    Object.assign(filePart(value, 'placements'), {
      draft: { ...single, endpoint: { ...shared, servedName: 'draft' } },
      ...(next && { next: { ...single, model: 'fetched', endpoint: { port: 8_090 } } }),
    });
    if (next === undefined) return;
    value['downloads'] = { plainHttp: 'allowed' };
    filePart(value, 'models')['fetched'] = next;
  });
  place.write('cluster.yaml', fileText(file));
}

/** The model of the third placement, with the files that {@link startYesterdayRack} wrote. */
async function fetchedModel({ folder }: Place): Promise<FileValue> {
  const written = await writeTinyModel(join(folder, 'models/fetched'));
  const files = written.map(({ path, sha256, sizeBytes }) => [path, { sha256, size: sizeBytes }]);
  return { source: 'http://models.lan/fetched/', files: Object.fromEntries(files) };
}

/** The files on the disks of both Macs and the services of launchd. */
export const diskOf = ({ roots }: YesterdayRack): unknown =>
  Object.values(roots).map((root) => ({ files: fileTree(root), services: serviceList(root) }));

/** Runs a command that must succeed. */
export async function must(rack: YesterdayRack, program: string, words: readonly string[], options?: RunOptions) {
  const ran = await rack.type(program, words, options);
  expect(ran.code, `${words.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
}

/** Commands that change nothing, and print the same document for the same rack. */
export const lookers = ['status', 'doctor', 'history', 'lease status', 'drift', 'endpoints'] as const;

/** The documents, by the command that printed them. */
export type Documents = Readonly<Record<string, unknown>>;

/** Creates the state described at the top of this file with a command line, and returns the output. */
export async function bringToYesterday(rack: YesterdayRack, program: string): Promise<Documents> {
  const run = async (words: readonly string[], options?: RunOptions) =>
    json(await must(rack, program, [...words, '--json'], options));
  const documents: Record<string, unknown> = {};
  documents['enroll'] = await run(['enroll', '--all', '--yes', '--password-env', 'OWN_PASSWORD'], password);
  documents['plan'] = await run(['plan']);
  documents['apply'] = await run(['apply', '--yes']);
  await writeStage(rack.place, { archive: 'newer' });
  await run(['apply', ...consent]);
  await leaveChangePending(rack, program);
  await writeStage(rack.place, { archive: 'newer', hasNext: true });
  await leaveHalfFetched(rack, program);
  await run(['hold', first, '--reason', 'new fan', '--until', '2099-12-31', '--yes']);
  for (const words of [...lookers, 'facts'])
    documents[words] = json(await rack.type(program, [...words.split(' '), '--json']));
  return documents;
}

/** A free receptacle has an undeclared address. The run that removes it dies before the confirmation. */
async function leaveChangePending(rack: YesterdayRack, program: string): Promise<void> {
  const root = rack.roots[second] ?? '';
  const set = `"${root}/usr/sbin/networksetup" -setmanual "Thunderbolt 5" 10.77.0.205 255.255.255.252`;
  const asRoot = `printf '%s\\n' '${set}' | "${root}/usr/bin/sudo" -n "${root}/bin/sh" -s`;
  await must(rack, program, ['exec', second, '--yes', '--', 'sh', '-c', asRoot]);
  // At the speed of real clocks, more time remains to stop the daemon that would undo the change.
  const env = { NODE_OPTIONS: dieBefore, YESTERDAY_DIES_BEFORE: confirmation, MESHWRIGHT_SIM_SCALE: '1' };
  const cut = await rack.type(program, ['apply', second, '--yes'], { env });
  expect([cut.signal, cut.stderr]).toEqual(['SIGKILL', '']);
  // Without its daemon, the Mac does not undo the change by itself.
  const daemons = processesBelow(root).filter((line) => line.trimEnd().endsWith('/rollback/roll'));
  expect(daemons).toHaveLength(1);
  process.kill(Number(daemons[0]?.trim().split(' ')[0]), 'SIGKILL');
}

/** The model of the third placement is in transit when the run dies. The job continues without the run. */
async function leaveHalfFetched({ place, files }: YesterdayRack, program: string): Promise<void> {
  const words = simulated(['apply', first, '--yes', '--update-lock']);
  renameKeys(place, program);
  const child = runWith(program, place, words);
  const end = ended(child, words, longestMs);
  await Promise.race([files.halfSent, end]);
  child.kill('SIGKILL');
  const { signal, stdout, stderr } = await end;
  expect(signal, stdout + stderr).toBe('SIGKILL');
}
