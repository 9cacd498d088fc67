import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outputWritten } from '../console.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { runSelf, runSelfSync, type SelfPlace } from '../run-self.ts';
import type { Run, VerbBody } from '../verb.ts';
import { cannotWrite } from '../write-file.ts';

/** One scene: a sentence, then commands that are really typed, each with the exit code that it must give. */
interface Scene {
  readonly says: string;
  readonly types: readonly { readonly words: readonly string[]; readonly exits: ExitCode }[];
}

const example = new URL('../../../cluster.example.yaml', import.meta.url);

const scenes: readonly Scene[] = [
  {
    says: 'A text file describes the rack: the Macs, and which cable goes where. It is judged before anything is touched.',
    types: [
      { words: ['validate', 'cluster.yaml'], exits: exitCode.done },
      { words: ['validate', 'with-mistakes.yaml'], exits: exitCode.fileInvalid },
    ],
  },
  {
    says: 'Four simulated Mac Studios come up, one SSH server each, cabled as the file says.',
    types: [{ words: ['sim', 'up'], exits: exitCode.done }],
  },
  {
    says: 'Every fact of a node arrives over one connection and one command.',
    types: [
      { words: ['facts', '--sim', 'studio-1'], exits: exitCode.done },
      { words: ['status', '--sim'], exits: exitCode.done },
    ],
  },
  {
    says: 'Now somebody swaps two cables, one Mac never saw Recovery, and macOS has built its bridge again.',
    types: [
      { words: ['sim', 'fault', 'cable-swapped', 'studio-4'], exits: exitCode.done },
      { words: ['sim', 'fault', 'rdma-disabled', 'studio-3'], exits: exitCode.done },
      { words: ['sim', 'fault', 'bridge-active', 'studio-2'], exits: exitCode.done },
      { words: ['status', '--sim'], exits: exitCode.failed },
    ],
  },
  {
    says: 'Mended. Then the power fails: one Mac waits for its FileVault password, and one answers with a strange host key.',
    types: [
      { words: ['sim', 'fault', '--clear'], exits: exitCode.done },
      { words: ['sim', 'fault', 'filevault-locked', 'studio-1'], exits: exitCode.done },
      { words: ['sim', 'fault', 'wrong-host-key', 'studio-2'], exits: exitCode.done },
      { words: ['status', '--sim'], exits: exitCode.partial },
    ],
  },
];

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'meshwright-demo-'));
  } catch (error) {
    throw cannotWrite(tmpdir(), error);
  }
}

/** `demo`: types real commands against a simulated fleet in a temporary folder, and checks how each one ends. */
export const demo: VerbBody = async (run) => {
  const folder = makeFolder();
  const place = { folder, env: { ...run.env, MESHWRIGHT_STATE: join(folder, 'state'), MESHWRIGHT_FILE: '' } };
  // Nothing of the demo may stay behind, not even when a second Ctrl-C ends this process at once.
  const clear = (): void => {
    runSelfSync(['sim', 'down'], place);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clear);
  let code: ExitCode = exitCode.done;
  try {
    prepare(folder);
    run.console.out('Everything here is simulated: no Mac is needed, and none is touched.\n');
    for (const scene of scenes) code = code || (await play(run, scene, place));
  } finally {
    clear();
    process.off('exit', clear);
  }
  if (code === exitCode.done) run.console.out(closing);
  return code;
};

const closing = `
The simulated fleet is gone again. To rehearse your own rack:
  npm run build && npm link                 gives you the command meshwright
  cp cluster.example.yaml cluster.yaml      describe your Macs and cables
  meshwright validate
  meshwright sim up && meshwright status --sim
  meshwright enroll --all                   then the real ones
`;

async function play(run: Run, scene: Scene, place: SelfPlace): Promise<ExitCode> {
  run.console.out(`\n${wrap(scene.says, Math.min(run.console.columns, 80))}\n`);
  for (const { words, exits } of scene.types) {
    if (run.signal.aborted) return exitCode.interrupted;
    run.console.out(`\n$ meshwright ${words.join(' ')}\n`);
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

function prepare(folder: string): void {
  const text = readFileSync(example, 'utf8');
  // The mistakes people really make: a receptacle used twice and a slip of the finger.
  const mistaken = text
    .replace('studio-1:3 <-> studio-3:2', 'studio-1:2 <-> studio-3:2')
    .replace('studio-2:4 <-> studio-4:3', 'studio-2:4 <-> studoi-4:3');
  writeFileSync(join(folder, 'cluster.yaml'), text, { mode: 0o600 });
  writeFileSync(join(folder, 'with-mistakes.yaml'), mistaken, { mode: 0o600 });
}

/** Breaks a text into lines of at most `columns` columns, at blanks. */
export function wrap(text: string, columns: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}
