import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wrap } from '../../diagnostics/cells.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { cannotWrite, writingTo } from '../files/write-file.ts';
import { outputWritten } from '../terminal/console.ts';
import { type Run, shownWord, type VerbBody } from '../verb.ts';
import { selfWords } from './sim.ts';
import { prepareDemo } from './sim-example.ts';

/** The environment for the demo's commands, without the user's own racks, files and speed. */
const placeIn = (folder: string, env: NodeJS.ProcessEnv) => ({
  folder,
  env: { ...env, MESHWRIGHT_STATE: join(folder, 'state'), MESHWRIGHT_FILE: undefined, MESHWRIGHT_SIM_SCALE: undefined },
});

/** `demo`: runs real commands on a simulated rack in a temporary folder and checks each exit code. */
export const demo: VerbBody = async (run) => {
  const folder = writingTo(tmpdir(), () => mkdtempSync(join(tmpdir(), 'meshwright-demo-')));
  const place = placeIn(folder, run.env);
  // The demo leaves nothing behind, even if a second Ctrl-C ends this process immediately.
  const clear = (): void => {
    runSelfSync(['sim', 'down'], place);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clear);
  let code: ExitCode = exitCode.done;
  try {
    run.console.out(`${paragraph(run, opening)}\n`);
    await prepareDemo(folder).catch((error: unknown) => {
      throw cannotWrite(folder, error);
    });
    for (const scene of scenes) code = code || (await play(run, scene, place));
  } finally {
    clear();
    process.off('exit', clear);
  }
  if (code === exitCode.done) run.console.out(closing);
  return code;
};

const opening =
  'Everything here is simulated: no Mac is needed, and none is touched. SSH is real, and so is everything that meshwright plans and does. Small programs play exo and the model. This takes about a minute.';

const closing = `
The simulated rack is gone. To rehearse your own:
  npm run build && npm link                 installs the command meshwright
  meshwright sim example rack && cd rack    writes a cluster.yaml to start from
  meshwright sim up && meshwright plan --sim
  meshwright enroll --all                   later, with your real Macs
`;

const widest = 80;

const pageColumns = (run: Run): number => Math.min(run.console.columns, widest);

const paragraph = (run: Run, text: string): string => wrap(text, pageColumns(run)).join('\n');

async function play(run: Run, scene: Scene, place: SelfPlace): Promise<ExitCode> {
  run.console.out(`\n${paragraph(run, scene.says)}\n`);
  for (const { words, exits } of scene.types) {
    if (run.signal.aborted) return exitCode.interrupted;
    run.console.out(`\n${commandLine(words, pageColumns(run))}\n`);
    // Otherwise the command's output could appear before this line.
    await outputWritten();
    // `sim up` must finish, because the cleanup needs the files it writes last.
    const code = await runSelf(words, place, words[1] === 'up' ? undefined : run.signal);
    if (run.signal.aborted) return exitCode.interrupted;
    if (code !== exits) {
      run.console.err(`demo: this command exited with ${code} instead of ${exits}. Please report it.\n`);
      return exitCode.failed;
    }
    if (code !== exitCode.done) run.console.out(`[exit ${code}]\n`);
  }
  return exitCode.done;
}

/** The command line to show. A long one continues after a backslash so that it can be copied. */
function commandLine(words: readonly string[], columns: number): string {
  const lines: string[] = [];
  let line = '$ meshwright';
  for (const word of words.map(shownWord)) {
    const isFull = line.length + ' '.length + word.length + ' \\'.length > columns;
    if (isFull) lines.push(`${line} \\`);
    line = isFull ? `    ${word}` : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

interface Scene {
  readonly says: string;
  /** The arguments of `meshwright`, and the expected exit code. */
  readonly types: readonly { readonly words: readonly string[]; readonly exits: ExitCode }[];
}

const question = 'Is anybody there?';

const typed = (...words: readonly string[]) => ({ words, exits: exitCode.done });

/** The demo in the folder of `prepareDemo`: from a cluster file to a token, and after a crash to another. */
export const scenes: readonly Scene[] = [
  {
    says: 'A text file describes four Macs, six cables and a model. meshwright checks it before it touches anything.',
    types: [typed('validate')],
  },
  {
    says: 'Four simulated Macs start, one SSH server each, with the cables that the file declares.',
    types: [typed('sim', 'up')],
  },
  {
    says: 'Like a real rack, this one has faults: two cables are swapped, RDMA is off on one Mac, macOS has made its Thunderbolt Bridge on the next, and one Mac falls asleep.',
    types: [
      typed('sim', 'fault', 'cable-swapped', 'studio-4'),
      typed('sim', 'fault', 'rdma-disabled', 'studio-3'),
      typed('sim', 'fault', 'bridge-active', 'studio-2'),
      typed('sim', 'fault', 'power-wrong', 'studio-1'),
    ],
  },
  {
    says: 'plan shows what has to change, here on one of the Macs. Nothing is changed yet.',
    types: [typed('plan', 'studio-4', '--sim')],
  },
  {
    says: 'apply shows the plan for all four Macs and does its part. The model goes to all four Macs in parallel. Two steps need a person at the rack, so apply exits with 3.',
    types: [{ words: ['apply', '--sim', '--yes'], exits: exitCode.handsNeeded }],
  },
  { says: 'Here a command plays the person at the rack. One Mac restarts.', types: [typed('sim', 'hands')] },
  {
    says: 'The next apply observes the Macs again, makes the remaining changes, and starts exo on each Mac: all four or none.',
    types: [typed('apply', '--sim', '--yes')],
  },
  {
    says: 'The model answers. The stand-in model cannot write sentences. Its answer is a digest of the question, and comes only if all four Macs take part. status shows the Macs, the cables and the placement.',
    types: [typed('ask', 'chat', question, '--sim'), typed('status', '--sim')],
  },
  {
    says: 'Then one Mac panics and restarts. doctor requests a token, finds the rank that is missing, reports the panic, and names the command that helps.',
    types: [typed('sim', 'fault', 'crash', 'studio-3'), { words: ['doctor', '--sim'], exits: exitCode.failed }],
  },
  {
    says: 'restart stops what is left of the model in order, and starts it on all four Macs again. It never reboots a Mac. The model gives the same answer as before.',
    types: [typed('restart', 'chat', '--sim', '--yes'), typed('ask', 'chat', question, '--sim')],
  },
];

type SelfPlace = ReturnType<typeof placeIn>;

/** Runs `meshwright WORDS…` in a separate process, in its own session, so that Ctrl-C reaches only this process. */
function runSelf(words: readonly string[], place: SelfPlace, signal: AbortSignal | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const [program, ...self] = selfWords();
    const child = spawn(program, [...self, ...words], {
      cwd: place.folder,
      env: place.env,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    const kill = (): void => void child.kill('SIGKILL');
    signal?.addEventListener('abort', kill, { once: true });
    child.once('error', reject);
    child.once('close', (code) => {
      signal?.removeEventListener('abort', kill);
      resolve(code ?? 1);
    });
  });
}

/** Runs `meshwright WORDS…` without output and blocks this process until the end. */
function runSelfSync(words: readonly string[], place: SelfPlace): void {
  const [program, ...self] = selfWords();
  spawnSync(program, [...self, ...words], { cwd: place.folder, env: place.env, stdio: 'ignore', timeout: 30_000 });
}
