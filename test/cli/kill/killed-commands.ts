import { cpSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativePartsTested } from '../../native-parts.ts';
import { type FileValue, filePart, fileText, pairFile } from '../../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../../scenarios/published-sources.ts';
import { json, meshwright } from '../meshwright.ts';
import { placeWithPair } from '../pair.ts';
import type { Place } from '../place.ts';
import { type Act, apply, hook, type KilledCommand, quiet, rootsOf, type Typed, type } from './killed-command.ts';

/** The pair, published by a gateway. */
const file = (change: (value: FileValue) => void = () => undefined) =>
  pairFile((value) => {
    publish(value, { access: 'anybody' });
    change(value);
  });

const useFile =
  (change?: (value: FileValue) => void) =>
  (place: Place): void => {
    place.write('cluster.yaml', fileText(file(change)));
  };

const restoreFile: Act = async (run, place) => {
  useFile()(place);
  await run(...apply);
};

const nameNewer = useFile((value) => {
  filePart(value, 'runtimes', 'reference')['archive'] = './dist/newer.tar.gz';
});

const useNewer: Act = async (run, place) => {
  nameNewer(place);
  await run(...apply);
};

/** Removes the versions that are not in use, so that an upgrade installs the newer one again. */
async function removeUnusedVersions(place: Place): Promise<void> {
  for (const root of await rootsOf(place)) {
    const versions = join(root, 'opt/meshwright/runtimes/reference');
    const kept = ['current', readlinkSync(join(versions, 'current'))];
    for (const name of readdirSync(versions).filter((one) => !kept.includes(one)))
      rmSync(join(versions, name), { recursive: true });
  }
}

const sim = ['--sim', '--yes'];
const env = { OWN_PASSWORD: 'simulated' };
const withPassword = [...sim, '--password-env', 'OWN_PASSWORD'];
const typing =
  (...words: string[]): Act =>
  (run: Typed) =>
    run(...words);

/** The words of `replace`, with the fingerprint of the Mac that answers now. */
async function replace(place: Place): Promise<string[]> {
  const words = ['replace', 'studio-4', ...withPassword];
  const ran = await meshwright(place, [...words, '--json'], { env });
  const { nodes } = json(ran) as { readonly nodes: Readonly<Record<string, { readonly fingerprint: string }>> };
  return [...words, '--expect', nodes['studio-4']?.fingerprint ?? ''];
}

async function eachModelsFolder(place: Place, change: (folder: string, root: string) => void): Promise<void> {
  for (const root of await rootsOf(place)) change(join(root, 'opt/meshwright/models'), root);
}

/** Adds a node to the lock that is not in the file. */
function addLostNode({ state }: Place): void {
  const [cluster = ''] = readdirSync(join(state, 'sim'));
  const lock = join(state, 'sim', cluster, 'cluster.lock');
  writeFileSync(lock, readFileSync(lock, 'utf8').replace('\nnodes:\n', '\nnodes:\n  - "studio-9"\n'));
}

const playbook = `playbook: 1
plays:
  - nodes: all
    tasks:
      - run: { command: [sw_vers], effect: none }
      - stop: {}
      - converge: {}
      - verify: {}
`;

const unlock = ['unlock', 'studio-4', '--sim', '--password-env', 'OWN_PASSWORD'];
const enroll = ['enroll', 'studio-4', ...withPassword];
const lock = ['models', 'lock', 'tiny', '--sim'];
const prune = ['models', 'prune', '--all', ...sim, '--allow', 'delete'];
const upgradeMacos = ['upgrade', 'macos', '--all', ...sim];
const release = ['release', '--all', ...sim];
const stop = typing('stop', 'chat', ...sim);

/** Measures with compiled programs. */
const measuring: readonly KilledCommand[] = nativePartsTested
  ? [{ name: 'cables --measure', words: () => ['cables', '--measure', '--seconds', '0.1', '--sim'], begin: stop }]
  : [];

/** Every command that changes nodes. */
export const killedCommands: readonly KilledCommand[] = [
  {
    name: 'apply',
    words: () => apply,
    begin: async (_, place) => {
      useFile((value) => {
        filePart(value, 'placements', 'chat')['context'] = '4k';
        filePart(value, 'power')['sleep'] = 42;
      })(place);
      const [, second = ''] = await rootsOf(place);
      rmSync(join(second, 'opt/meshwright/models/tiny'), { recursive: true });
    },
    undo: restoreFile,
  },
  { name: 'start', words: () => ['start', 'chat', ...sim], begin: stop },
  { name: 'stop', words: () => ['stop', 'chat', ...sim] },
  { name: 'drain', words: () => ['drain', 'chat', ...sim], continued: { leaves: 'changes' } },
  { name: 'restart', words: () => ['restart', 'chat', ...sim] },
  { name: 'recover', words: () => ['recover', 'chat', ...sim], begin: stop },
  { name: 'reboot', words: () => ['reboot', 'studio-4', ...sim], repair: (_, place) => quiet(place) },
  {
    name: 'shutdown',
    words: () => ['shutdown', 'studio-4', ...sim],
    repair: async (run, place) => {
      await quiet(place);
      await run('sim', 'power-on', 'studio-4');
    },
  },
  {
    name: 'upgrade macos',
    words: () => upgradeMacos,
    begin: async (run, place) => {
      useFile((value) => {
        filePart(value)['macos'] = { version: '26.7', accept: '>=26.1 <28', updates: { driver: 'softwareupdate' } };
        filePart(value, 'ssh')['password'] = { env: 'OWN_PASSWORD' };
      })(place);
      for (const node of ['studio-1', 'studio-4']) await run('sim', 'fault', 'macos-old', node);
    },
    // `apply` does not update macOS.
    repair: typing(...upgradeMacos),
    continued: {},
  },
  {
    name: 'upgrade runtime',
    words: () => ['upgrade', 'runtime', 'reference', ...sim],
    begin: async (_, place) => {
      nameNewer(place);
      await removeUnusedVersions(place);
    },
    undo: restoreFile,
    continued: {},
  },
  { name: 'hold', words: () => ['hold', '--all', '--reason', 'fans', ...sim], repair: typing(...release) },
  {
    name: 'release',
    words: () => release,
    begin: typing('hold', '--all', '--reason', 'fans', ...sim),
    repair: typing(...release),
  },
  {
    name: 'unlock',
    words: () => unlock,
    env,
    begin: typing('sim', 'fault', 'filevault-locked', 'studio-4'),
    repair: typing(...unlock),
    // The restart that locked the Mac has stopped its ranks.
    continued: { points: /./, leaves: 'changes' },
  },
  {
    name: 'launch',
    words: () => ['launch', 'chat', ...sim, '--', 'sh', '-c', 'echo up'],
    continued: { again: apply },
  },
  {
    name: 'rollback',
    words: () => ['rollback', 'reference', ...sim],
    setUp: useNewer,
    undo: typing('rollback', 'reference', '--undo', ...sim),
    continued: {},
  },
  {
    name: 'rollback --undo',
    words: () => ['rollback', 'reference', '--undo', ...sim],
    setUp: useNewer,
    begin: typing('rollback', 'reference', ...sim),
    undo: typing('rollback', 'reference', '--undo', ...sim),
    continued: {},
  },
  {
    name: 'uninstall',
    words: () => ['uninstall', '--all', '--restore', '--models', ...sim],
    env,
    repair: typing('enroll', '--all', ...withPassword),
    continued: { leaves: 'changes' },
  },
  {
    name: 'enroll',
    words: () => enroll,
    env,
    begin: typing('sim', 'fault', 'not-enrolled', 'studio-4'),
    repair: typing(...enroll),
    undo: typing('sim', 'fault', '--clear'),
    continued: { points: /./ },
  },
  {
    name: 'replace',
    words: replace,
    env,
    begin: typing('sim', 'fault', 'mac-replaced', 'studio-4'),
    repair: async (run, place) => {
      await run(...(await replace(place)));
      await run('sim', 'hands');
    },
    undo: async (run, place) => {
      await run('sim', 'fault', '--clear');
      await run(...(await replace(place)));
      await run(...apply);
    },
    continued: { points: /./, leaves: 'changes' },
  },
  {
    name: 'forget',
    words: () => ['forget', 'studio-9', ...sim],
    begin: (_, place) => Promise.resolve(addLostNode(place)),
  },
  {
    name: 'models pull',
    words: () => ['models', 'pull', '--all', ...sim],
    begin: (_, place) => eachModelsFolder(place, (models) => rmSync(join(models, 'tiny'), { recursive: true })),
  },
  {
    name: 'models prune',
    words: () => prune,
    begin: (_, place) =>
      eachModelsFolder(place, (models) => cpSync(join(models, 'tiny'), join(models, 'old'), { recursive: true })),
    repair: typing(...prune),
  },
  { name: 'models verify', words: () => ['models', 'verify', '--full', '--sim'] },
  {
    name: 'models lock',
    words: () => lock,
    setUp: (_, place) =>
      eachModelsFolder(place, (models, root) => {
        const [version = ''] = readdirSync(join(models, 'tiny'));
        cpSync(join(models, 'tiny', version), join(root, 'Volumes/fast/tiny'), { recursive: true });
      }),
    begin: (_, place) =>
      Promise.resolve(
        useFile((value) => {
          filePart(value, 'models')['tiny'] = { source: 'node:/Volumes/fast/tiny' };
        })(place),
      ),
    repair: typing(...lock),
    undo: restoreFile,
  },
  {
    name: 'lease release',
    words: () => ['lease', 'release', '--all', ...sim],
    begin: (_, place) =>
      meshwright(place, ['restart', 'chat', ...sim], {
        env: { NODE_OPTIONS: hook, MW_DIE_AT: 'record lease taken studio-1' },
      }),
  },
  {
    name: 'run',
    words: (place) => {
      place.write('night.yaml', playbook);
      return ['run', 'night.yaml', ...sim, '--allow', 'interrupt'];
    },
  },
  ...measuring,
];

/** A rack with a serving pair. */
export async function servingPlace(): Promise<Place> {
  const place = await placeWithPair(file());
  await writePublishedSources(place.folder);
  await type(place, apply);
  return place;
}
