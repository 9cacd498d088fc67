import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type JobReading, readJob } from '../../launchd/job-definition.ts';
import { agentOverridesPath, overridesPath, overridesText, readOverrides } from '../../launchd/overrides.ts';

/** Where `launchctl print` finds its answers, one file per label. */
const printFolder = '/.sim/launchd';

/** What comes with macOS, and what others put there. */
const daemonFolders = ['/System/Library/LaunchDaemons', '/Library/LaunchDaemons'] as const;
const groupOrOtherWrites = 0o022;

/** Files of launchd below the root of one node. */
export interface LaunchdFiles {
  /** Makes the answers of `launchctl print` be exactly these, each by a rename. One after the other. */
  readonly writePrints: (texts: ReadonlyMap<string, string>) => Promise<void>;
  /** Takes away what an earlier run or boot has left. */
  readonly clearPrints: () => Promise<void>;
  readonly readOverrides: () => Promise<ReadonlyMap<string, boolean>>;
  readonly writeOverrides: (overrides: ReadonlyMap<string, boolean>) => Promise<void>;
  /** Keeps what was said of an agent of the user beside what was said before. */
  readonly overrideAgent: (label: string, isDisabled: boolean) => Promise<void>;
  /** Property lists of the folders for daemons, as a Mac knows them, sorted within each. */
  readonly daemons: () => Promise<readonly string[]>;
  /** Reads a property list; launchd takes only what group and others cannot write. */
  readonly readDefinition: (path: string) => Promise<JobReading>;
}

async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.sim-new-${process.pid}`);
  await writeFile(temporary, text);
  await rename(temporary, path);
}

async function readDefinition(root: string, path: string): Promise<JobReading> {
  const refused = (reason: string): JobReading => ({ kind: 'refused', reason });
  if (!path.startsWith('/') || path.split('/').includes('..')) return refused('it is no absolute path');
  const found = await stat(root + path).catch(() => undefined);
  if (found?.isFile() !== true) return refused('there is no such file');
  if ((found.mode & groupOrOtherWrites) !== 0) return refused('others can write it');
  return readJob(await readFile(root + path, 'utf8'));
}

/** Opens the files of launchd of the node with this root. */
export function launchdFiles(root: string): LaunchdFiles {
  const folder = root + printFolder;
  let written: ReadonlyMap<string, string> = new Map();
  let turn: Promise<void> = Promise.resolve();

  const write = async (texts: ReadonlyMap<string, string>): Promise<void> => {
    for (const [label, text] of texts) if (written.get(label) !== text) await replace(join(folder, label), text);
    for (const label of written.keys()) if (!texts.has(label)) await rm(join(folder, label), { force: true });
    written = texts;
  };
  return {
    writePrints: (texts) => {
      turn = turn.catch(() => undefined).then(() => write(texts));
      return turn;
    },
    clearPrints: async () => {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      written = new Map();
    },
    readOverrides: async () => readOverrides(await readFile(root + overridesPath, 'utf8').catch(() => '')),
    writeOverrides: (overrides) => replace(root + overridesPath, overridesText(overrides)),
    overrideAgent: (label, isDisabled) => {
      turn = turn
        .catch(() => undefined)
        .then(async () => {
          const before = readOverrides(await readFile(root + agentOverridesPath, 'utf8').catch(() => ''));
          await replace(root + agentOverridesPath, overridesText(new Map([...before, [label, isDisabled]])));
        });
      return turn;
    },
    daemons: async () => {
      const lists = daemonFolders.map(async (folder) => {
        const names = await readdir(root + folder).catch((): string[] => []);
        return names.filter((name) => name.endsWith('.plist')).map((name) => `${folder}/${name}`);
      });
      return (await Promise.all(lists)).flatMap((paths) => paths.sort());
    },
    readDefinition: (path) => readDefinition(root, path),
  };
}
