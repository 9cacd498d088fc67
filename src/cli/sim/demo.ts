import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wrap } from '../../diagnostics/cells.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { cannotWrite } from '../files/write-file.ts';
import { outputWritten } from '../terminal/console.ts';
import { type Run, shownWord, type VerbBody } from '../verb.ts';
import { selfWords } from './sim.ts';
import { prepareDemo } from './sim-example.ts';

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'meshwright-demo-'));
  } catch (error) {
    throw cannotWrite(tmpdir(), error);
  }
}

/** The surroundings of the typed commands: nothing of the person's own racks, files and speed. */
const placeIn = (folder: string, env: NodeJS.ProcessEnv): SelfPlace => ({
  folder,
  env: {
    ...env,
    MESHWRIGHT_STATE: join(folder, 'state'),
    MESHWRIGHT_FILE: undefined,
    MESHWRIGHT_SIM_SCALE: undefined,
  },
});

/** `demo`: types real commands against a simulated fleet in a temporary folder, and checks how each one ends. */
export const demo: VerbBody = async (run) => {
  const folder = makeFolder();
  const place = placeIn(folder, run.env);
  // Nothing of the demo may stay behind, not even when a second Ctrl-C ends this process at once.
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
  'Everything here is simulated: no Mac is needed, and none is touched. Real are SSH, what meshwright plans and does, and the four processes that play the model. It takes about half a minute.';

const closing = `
The simulated fleet is gone again. To rehearse your own rack:
  npm run build && npm link                 gives you the command meshwright
  cp cluster.example.yaml cluster.yaml      describe your Macs and cables
  meshwright validate
  meshwright sim up && meshwright plan --sim
  meshwright enroll --all                   then the real ones
`;

const widest = 80;

const pageColumns = (run: Run): number => Math.min(run.console.columns, widest);

const paragraph = (run: Run, text: string): string => wrap(text, pageColumns(run)).join('\n');

async function play(run: Run, scene: Scene, place: SelfPlace): Promise<ExitCode> {
  run.console.out(`\n${paragraph(run, scene.says)}\n`);
  for (const { words, exits } of scene.types) {
    if (run.signal.aborted) return exitCode.interrupted;
    run.console.out(`\n${commandLine(words, pageColumns(run))}\n`);
    // What the command prints must not overtake what was said before it.
    await outputWritten();
    const code = await runSelf(words, place, { signal: run.signal, mayBeKilled: words[1] !== 'up' });
    if (run.signal.aborted) return exitCode.interrupted;
    if (code !== exits) {
      run.console.err(`demo: this ended with ${code}, and ${exits} was expected; please report it\n`);
      return exitCode.failed;
    }
    if (code !== exitCode.done) run.console.out(`[exit ${code}]\n`);
  }
  return exitCode.done;
}

/** A command as a person types it; a long one goes on behind a backslash, so that it can be copied. */
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

/** A command that is really typed, and how it has to end. */
interface TypedCommand {
  /** Behind `meshwright`. */
  readonly words: readonly string[];
  readonly exits: ExitCode;
}

/** A sentence or two, then commands. */
interface Scene {
  readonly says: string;
  readonly types: readonly TypedCommand[];
}

const question = 'Is anybody there?';

const typed = (...words: readonly string[]): TypedCommand => ({ words, exits: exitCode.done });

/** The demo from a text file to a token, and through a hung rank back to one, for the folder of `prepareDemo`. */
export const scenes: readonly Scene[] = [
  {
    says: 'A text file describes four Macs, six cables and a model. It is judged before anything is touched.',
    types: [typed('validate')],
  },
  {
    says: 'Four simulated Macs come up, one SSH server each, cabled as the file says.',
    types: [typed('sim', 'up')],
  },
  {
    says: 'As in a real rack, not all is well: two cables are swapped, one Mac has no RDMA yet, macOS made its bridge, and one Mac falls asleep.',
    types: [
      typed('sim', 'fault', 'cable-swapped', 'studio-4'),
      typed('sim', 'fault', 'rdma-disabled', 'studio-3'),
      typed('sim', 'fault', 'bridge-active', 'studio-2'),
      typed('sim', 'fault', 'power-wrong', 'studio-1'),
    ],
  },
  {
    says: 'What would be done? What only hands at the rack can do comes first.',
    types: [typed('plan', '--sim')],
  },
  {
    says: 'apply shows that plan again and does the part of the machine; the model is copied to four Macs at once. Exit 3 says that the hands are next.',
    types: [{ words: ['apply', '--sim', '--yes'], exits: exitCode.handsNeeded }],
  },
  {
    says: 'Simulated hands do the work list; one Mac starts anew.',
    types: [typed('sim', 'hands')],
  },
  {
    says: 'The next apply looks again, does what is left, and starts one rank on each Mac, all of them or none.',
    types: [typed('apply', '--sim', '--yes')],
  },
  {
    says: 'It answers. The answer is a digest that went through all four ranks over the cables; each mixed in its own copy of the model. Checked again, nothing is left to do.',
    types: [typed('ask', 'chat', question, '--sim'), typed('plan', '--sim')],
  },
  {
    says: 'Then a rank hangs: it still takes connections and answers none. (For the stand-in model, the signal USR1 does that.)',
    types: [
      typed(
        ...['exec', '--sim', 'studio-3', '--', 'sudo', '-n'],
        ...['launchctl', 'kill', 'SIGUSR1', 'system/dev.meshwright.rank.chat'],
      ),
      { words: ['ask', 'chat', question, '--sim'], exits: exitCode.failed },
    ],
  },
  {
    says: 'restart stops all ranks in order and starts them again, in a new generation, which changes the digest. No Mac is rebooted.',
    types: [typed('restart', 'chat', '--sim', '--yes'), typed('ask', 'chat', question, '--sim')],
  },
];

/** Where and how a command of our own is run. */
interface SelfPlace {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What becomes of the command when the run that started it is interrupted. */
interface SelfEnd {
  readonly signal: AbortSignal;
  /** False for a command that must come to its own end, because it leaves something behind that is to be found. */
  readonly mayBeKilled: boolean;
}

/**
 * Runs `meshwright WORDS…` as a process of its own that writes to this process's streams; gives its exit code. It has
 * a session of its own, so that Ctrl-C reaches this process alone.
 */
function runSelf(words: readonly string[], place: SelfPlace, end: SelfEnd): Promise<number> {
  return new Promise((resolve, reject) => {
    const [program, ...self] = selfWords();
    const child = spawn(program, [...self, ...words], {
      cwd: place.folder,
      env: place.env,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    const kill = (): void => {
      if (end.mayBeKilled) child.kill('SIGKILL');
    };
    end.signal.addEventListener('abort', kill, { once: true });
    child.once('error', reject);
    child.once('close', (code) => {
      end.signal.removeEventListener('abort', kill);
      resolve(code ?? 1);
    });
  });
}

/** The same in silence, to its end, while everything else in this process waits. */
function runSelfSync(words: readonly string[], place: SelfPlace): void {
  const [program, ...self] = selfWords();
  spawnSync(program, [...self, ...words], {
    cwd: place.folder,
    env: place.env,
    stdio: 'ignore',
    timeout: 30_000,
  });
}
