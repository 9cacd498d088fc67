import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { requirementsName } from '../../desired/settle/python-packages.ts';
import { absolutePath } from '../../desired/settle/settle-trees.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredRuntime, RuntimeSource } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { fitLines } from '../../report/page.ts';
import type { DoubledProgram } from '../../sim/doubles/doubles.ts';
import { doubledPath } from '../../sim/hosts/base-tools/archives.ts';
import { simFolder } from '../files/places.ts';
import type { Run } from '../verb.ts';

/** A program in the file that simulated Macs cannot run, and the double that they run instead. */
interface Doubled {
  /** `double of exo 1.0.71`. */
  readonly name: string;
  /** The reason: a phrase that follows the path of the program's archive; for a release, a whole clause. */
  readonly why: string;
  readonly program: DoubledProgram;
  /** The absolute path of the double's archive; its package list and wheels if the file's own are missing. */
  readonly archive: string;
  readonly requirements?: string;
  readonly wheels?: string;
}

type Programs = Pick<DesiredFleet, 'runtimes' | 'gateway'>;

/** A fleet's programs with archives; each runtime has its driver's keys. */
export const programsIn = ({ runtimes, gateway }: Programs): readonly DoubledProgram[] => [
  ...(runtimes as readonly (DesiredRuntime & DoubledProgram)[]),
  ...(gateway === undefined ? [] : [gateway]),
];

/** A rehearsal's doubles; none without `--sim`. Checks only whether files exist. */
export function doublesIn(run: Run, clusterFile: string, fleet: Programs): readonly Doubled[] {
  if (run.options.sim !== true) return [];
  const at = (path: string): string => absolutePath(dirname(clusterFile), path);
  const folder = join(simFolder(run.env, clusterFile), 'doubles');
  return programsIn(fleet).flatMap((program): readonly Doubled[] => {
    const name = doubleName(program);
    // The archive of a commit is built in the rehearsal, too.
    if (program.builds !== undefined) return [];
    const why = program.release === undefined ? whyDoubled(at(program.archive)) : 'a rehearsal downloads no release';
    if (name === undefined || why === undefined) return [];
    const own = join(folder, program.name);
    const lacks = (path: string | undefined): path is string =>
      path !== undefined && whyDoubled(at(path)) !== undefined;
    const list = program.extras.find(({ name, lists }) => name === requirementsName && lists === undefined)?.source;
    const wheels = 'driver' in program ? program.wheels : undefined;
    return [
      {
        name,
        why,
        program,
        archive: join(own, basename(program.archive)),
        ...(lacks(list) ? { requirements: join(own, basename(list)) } : {}),
        ...(lacks(wheels) ? { wheels: join(own, 'wheels') } : {}),
      },
    ];
  });
}

/** Lists each double with its reason, including programs that were replaced after unpacking on a simulated Mac. */
export function doublesText(run: Run, clusterFile: string, fleet: DesiredFleet): string {
  if (run.options.sim !== true) return '';
  const missing = doublesIn(run, clusterFile, fleet);
  const roots = join(simFolder(run.env, clusterFile), 'roots');
  const replaced = new Set(fleet.nodes.flatMap(({ name }) => linesOf(join(roots, name, doubledPath))));
  const unpacked = programsIn(fleet)
    .filter(({ name }) => !missing.some(({ program }) => program.name === name))
    .filter((program) => programNames(program).some((name) => replaced.has(name)))
    .map((program) => ({ name: doubleName(program), program, why: 'is unpacked and checked, but the double runs' }));
  return [...missing, ...unpacked]
    .flatMap(({ name, why, program }) =>
      fitLines(
        `simulated: ${name}: ${program.release === undefined ? `${program.archive} ` : ''}${why}`,
        run.console.columns - 2,
      ),
    )
    .map((line) => `${line.startsWith('simulated: ') ? '' : '  '}${line}\n`)
    .join('');
}

const linesOf = (path: string): readonly string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []);

export function withDoubles<F extends Programs>(fleet: F, doubles: readonly Doubled[]): F {
  const doubled = <P extends RuntimeSource>(program: P): P => {
    const found = doubles.find((one) => one.program.name === program.name);
    if (found === undefined) return program;
    const { archive, requirements, wheels } = found;
    const { release: _, ...local } = program;
    const extras = program.extras.map((extra) =>
      extra.name === requirementsName && requirements !== undefined ? { ...extra, source: requirements } : extra,
    );
    // Nothing but a runtime's own keys is left out.
    return { ...(local as P), archive, extras, ...given({ wheels }) };
  };
  const { runtimes, gateway } = fleet;
  return { ...fleet, runtimes: runtimes.map(doubled), ...(gateway === undefined ? {} : { gateway: doubled(gateway) }) };
}

/**
 * In a rehearsal, the lists of packages and the archives that simulated Macs make are in the simulated fleet's folder:
 * the double of uv accepts only its own hashes, and real Macs would refuse those. They cannot run simulated programs
 * either.
 */
export function withSimulatedLists<F extends Programs>(run: Run, clusterFile: string, fleet: F): F {
  if (run.options.sim !== true) return fleet;
  const folder = join(simFolder(run.env, clusterFile), 'lists');
  const moved = (runtime: DesiredRuntime): DesiredRuntime => ({
    ...runtime,
    ...(runtime.builds === undefined ? {} : { archive: join(folder, basename(runtime.archive)) }),
    extras: runtime.extras.map((extra) =>
      extra.lists === undefined ? extra : { ...extra, source: join(folder, basename(extra.source)) },
    ),
  });
  return { ...fleet, runtimes: fleet.runtimes.map(moved) };
}

/** Writes the doubles' archives into the simulated fleet's folder. */
export async function writeDoubles(doubles: readonly Doubled[]): Promise<void> {
  if (doubles.length === 0) return;
  const { doubledPackages, writeDouble } = await import('../../sim/doubles/doubles.ts');
  for (const { program, archive, requirements, wheels } of doubles) {
    await writeDouble(program, archive);
    if (requirements !== undefined) await doubledPackages.list(requirements);
    if (wheels !== undefined) await doubledPackages.wheels(wheels);
  }
}

/** The lock without entries for programs with doubles, because these contain the digests of the real archives. */
export function withoutDoubled(lock: ClusterLock, doubles: readonly Doubled[]): ClusterLock {
  if (doubles.length === 0) return lock;
  const names = new Set(doubles.map(({ program }) => program.name));
  const others = <T>(of: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !names.has(name.split('/')[0] ?? '')));
  const { runtimes, releases, runtimeFiles, rolledBack } = lock;
  return {
    ...lock,
    runtimes: others(runtimes),
    ...given({
      releases: releases && others(releases),
      runtimeFiles: runtimeFiles && others(runtimeFiles),
      rolledBack: rolledBack && others(rolledBack),
    }),
  };
}

const versionIn = (text: string, pattern: RegExp): string => {
  const [, version] = pattern.exec(text) ?? [];
  return version === undefined ? '' : ` ${version}`;
};

/** A double's displayed name, such as `double of exo 1.0.71`. Undefined for the driver `command`, which has none. */
function doubleName(program: DoubledProgram): string | undefined {
  if (!('driver' in program)) return `double of Node${versionIn(program.archive, /v(\d+\.\d+\.\d+)/)}`;
  switch (program.driver) {
    case 'exo':
      return `double of exo ${program.version}`;
    case 'mlx':
      return 'double of uv and mlx-lm';
    case 'llamacpp-rpc':
      return `double of llama.cpp${versionIn(`${program.archive} ${program.server}`, /\b(b\d{3,}|v\d+\.\d+(?:\.\d+)?)\b/)}`;
    case 'command':
      return undefined;
  }
}

/** The names of programs in an archive that simulated Macs replace with doubles. */
function programNames(program: DoubledProgram): readonly string[] {
  const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  if (!('driver' in program)) return [name(program.program)];
  return program.driver === 'llamacpp-rpc' ? [name(program.server), name(program.worker)] : [];
}

/** The first bytes of an image that simulated Macs can mount, because their images are gzip archives. */
const gzipMagic = 0x1f8b;

function isGzip(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(2);
    return readSync(file, bytes, 0, 2, 0) === 2 && bytes.readUInt16BE() === gzipMagic;
  } finally {
    closeSync(file);
  }
}

/** The reason why simulated Macs cannot use a file; undefined if they can. */
function whyDoubled(path: string): string | undefined {
  if (!existsSync(path)) return 'does not exist';
  return path.endsWith('.dmg') && !isGzip(path) ? 'is a disk image, which only a Mac can mount' : undefined;
}
