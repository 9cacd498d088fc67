/**
 * A simulated rack of today, and what the release before leaves on it: settings, addresses, the keeper, two placements
 * that serve behind one gateway, an older version of their runtime, a model that is half fetched, a change of the network
 * that nothing has confirmed, and a Mac on hold.
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

/** A rack with a person's computer before it. */
export interface YesterdayRack {
  readonly place: Place;
  readonly roots: Readonly<Record<string, string>>;
  readonly files: HeldFiles;
  /** Runs a command line, by the path of its program, with `--sim`. */
  readonly type: (program: string, words: readonly string[], options?: RunOptions) => Promise<Ran>;
  readonly remove: () => Promise<void>;
}

/** Which parts of the cluster file are in it. */
interface Stage {
  readonly archive: 'reference' | 'newer';
  /** With a third placement, whose model comes from a web server. */
  readonly hasNext?: boolean;
}

const password = { env: { OWN_PASSWORD: 'simulated' } };
const consent = ['--yes', '--update-lock', '--allow', 'interrupt'];
/** Only ends what hangs: a loaded machine needs many times as long as an idle one. */
const longestMs = 300_000;

const dieBefore = `--import ${new URL('die-before.mjs', import.meta.url).href}`;

/** Only the second half of a change of the network contains this text. */
const confirmation = 'isours "$rb/confirmed"';

/** Brings up the two Macs, with a network and settings that no apply has touched. */
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

/** Keys of the cluster file that the old build has under other names; empty it together with the tables of decision 16. */
const oldKeys: Readonly<Record<string, string>> = { gateway: 'doorman' };

/** Gives the keys of the cluster file the names that a program knows. */
function renameKeys(place: Place, program: string): void {
  let text = readFileSync(join(place.folder, 'cluster.yaml'), 'utf8');
  for (const [now, before] of Object.entries(oldKeys)) {
    const [from, to] = program === mainFile ? [before, now] : [now, before];
    text = text.replace(new RegExp(`^${from}:`, 'm'), `${to}:`);
  }
  place.write('cluster.yaml', text);
}

/** The same words for simulated Macs; what stands behind `--` is for another program. */
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

/** The model of the third placement, with the files that {@link startYesterdayRack} has written. */
async function fetchedModel({ folder }: Place): Promise<FileValue> {
  const written = await writeTinyModel(join(folder, 'models/fetched'));
  const files = written.map(({ path, sha256, sizeBytes }) => [path, { sha256, size: sizeBytes }]);
  return { source: 'http://models.lan/fetched/', files: Object.fromEntries(files) };
}

/** Everything that is on the disks of both Macs, and what launchd runs there. */
export const diskOf = ({ roots }: YesterdayRack): unknown =>
  Object.values(roots).map((root) => ({ files: fileTree(root), services: serviceList(root) }));

/** Runs a command that has to succeed. */
export async function must(rack: YesterdayRack, program: string, words: readonly string[], options?: RunOptions) {
  const ran = await rack.type(program, words, options);
  expect(ran.code, `${words.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
}

/** Commands that change nothing, and print the same document for the same rack. */
export const lookers = ['status', 'doctor', 'history', 'lease status', 'drift', 'endpoints'] as const;

/** Documents by the command that printed them. */
export type Documents = Readonly<Record<string, unknown>>;

/** Lets a command line bring the rack to the state at the top of this file, and gives what it printed on the way. */
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

/** An address that the file does not have is on a free receptacle; the run that removes it dies before it confirms. */
async function leaveChangePending(rack: YesterdayRack, program: string): Promise<void> {
  const root = rack.roots[second] ?? '';
  const set = `"${root}/usr/sbin/networksetup" -setmanual "Thunderbolt 5" 10.77.0.205 255.255.255.252`;
  const asRoot = `printf '%s\\n' '${set}' | "${root}/usr/bin/sudo" -n "${root}/bin/sh" -s`;
  await must(rack, program, ['exec', second, '--yes', '--', 'sh', '-c', asRoot]);
  // By the clocks of real Macs there is more time to end the daemon that would undo the change.
  const env = { NODE_OPTIONS: dieBefore, YESTERDAY_DIES_BEFORE: confirmation, MESHWRIGHT_SIM_SCALE: '1' };
  const cut = await rack.type(program, ['apply', second, '--yes'], { env });
  expect([cut.signal, cut.stderr]).toEqual(['SIGKILL', '']);
  // Without its daemon the Mac does not undo the change by itself, however long the rest takes.
  const daemons = processesBelow(root).filter((line) => line.trimEnd().endsWith('/rollback/roll'));
  expect(daemons).toHaveLength(1);
  process.kill(Number(daemons[0]?.trim().split(' ')[0]), 'SIGKILL');
}

/** The model of the third placement is on its way when the run dies; the job goes on without it. */
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
