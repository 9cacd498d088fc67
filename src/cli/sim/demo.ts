import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wrap } from '../../diagnostics/cells.ts';
import { cannotWrite } from '../files/write-file.ts';
import { outputWritten } from '../terminal/console.ts';
import { shownWord } from '../terminal/shown-word.ts';
import { type ExitCode, exitCode } from '../verb/exit-codes.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { prepareDemo } from './prepare.ts';
import { runSelf, runSelfSync, type SelfPlace } from './run-self.ts';
import { type Scene, scenes } from './scenes.ts';

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
