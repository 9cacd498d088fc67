import { spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import type { LoadedCluster } from '../../config/load-cluster.ts';
import { pointerTo } from '../../config/source-map.ts';
import { nearestProgram, programsOf } from '../../desired/drivers/runtime-programs.ts';
import { absolutePath } from '../../desired/settle/settle-trees.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredDoorman, DesiredFleet, DesiredRuntime } from '../../model/desired.ts';
import { namedSubject, runtimeSubject } from '../../model/subject.ts';

/** For an archive of 400 MB, which takes a few seconds; what takes longer is left to the nodes, which look before a stop. */
const listMs = 20_000;
const longestList = 8_388_608;

/**
 * The paths in an archive by this computer's tar; undefined for what it does not read, such as a disk image.
 *
 * @see tar(1): with a slash before it a colon in `-f` names no other computer
 */
async function listArchive(path: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  if (path.endsWith('.dmg')) return undefined;
  const text = await new Promise<string | undefined>((resolve) => {
    const child = spawn('tar', ['-tf', `./${basename(path)}`], {
      cwd: dirname(path),
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: listMs,
      signal,
    });
    const parts: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (part: Buffer) => {
      size += part.length;
      if (size > longestList) child.kill();
      else parts.push(part);
    });
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => resolve(code === 0 ? Buffer.concat(parts).toString('utf8') : undefined));
  });
  return text?.split('\n').map((line) => line.replace(/^\.\//, ''));
}

/** What the archives of a file are compared with. */
export interface NamedPrograms {
  /** As the file has it, whatever version a runtime was taken back to. */
  readonly fleet: DesiredFleet;
  /** Of the cluster file, absolute. */
  readonly baseFolder: string;
  readonly whereIs: LoadedCluster['whereIs'];
}

/** An error at its key for each program that is not in its archive; archives that cannot be listed here say nothing. */
export async function missingPrograms(
  { fleet, baseFolder, whereIs }: NamedPrograms,
  signal: AbortSignal,
  isMeant: (name: string) => boolean = () => true,
): Promise<readonly Diagnostic[]> {
  const { doorman } = fleet;
  const all = [...fleet.runtimes, ...(doorman === undefined ? [] : [doorman])].filter(({ name }) => isMeant(name));
  const found: Diagnostic[] = [];
  for (const runtime of all) {
    const programs = programsOf(runtime, fleet);
    const members =
      programs.length === 0 ? undefined : await listArchive(absolutePath(baseFolder, runtime.archive), signal);
    const lost = members === undefined ? [] : programs.map((program) => nearestProgram(program, programs, members));
    for (const [index, one] of lost.entries()) {
      const program = programs[index];
      if (one === undefined || program === undefined) continue;
      const where = whereIs?.(pointerOf(runtime, program));
      found.push(
        diagnose('runtime/no-program', {
          subject: 'driver' in runtime ? runtimeSubject(runtime.name) : namedSubject('doorman'),
          detail: escapeText(`${runtime.archive} has no ${program}.`),
          ...(one.path === undefined ? {} : { hint: escapeText(`Did you mean ${one.path}?`) }),
          ...(where === undefined ? {} : { where }),
        }),
      );
    }
  }
  return found;
}

/** The key that names a program; where the file leaves it out its runtime is marked. */
function pointerOf(runtime: DesiredRuntime | DesiredDoorman, program: string): string {
  if (!('driver' in runtime)) return '/doorman/program';
  const own = pointerTo('/runtimes', runtime.name);
  const isServer = runtime.driver === 'llamacpp-rpc' && program === runtime.server;
  const keys = { command: 'command', 'llamacpp-rpc': isServer ? 'server' : 'worker', mlx: 'archive', exo: 'program' };
  return `${own}/${keys[runtime.driver]}`;
}
