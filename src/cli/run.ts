import { resolve } from 'node:path';
import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../diagnostics/diagnostic.ts';
import { jsonText } from '../diagnostics/escape.ts';
import { namedSubject } from '../model/subject.ts';
import { type CommandLine, type Invocation, parseCommandLine } from './command-line.ts';
import { codeFor, type ExitCode, exitCode, firstOf } from './exit-codes.ts';
import type { RunLog } from './files/run-log.ts';
import {
  type Console,
  diagnosticsJson,
  logFindings,
  processConsole,
  showDiagnostics,
  showJson,
  showJsonText,
} from './terminal/console.ts';
import { listenForSignals } from './terminal/signals.ts';
import { type GlobalOptions, type Run, usageError } from './verb.ts';
import { verbs } from './verbs.ts';
import { readVersion } from './version.ts';

/**
 * Runs one command line to its end and returns its exit code; writes to this process's streams.
 * @param folder where it was typed; undefined when that is gone, which leaves help and version
 */
export async function runCommandLine(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
): Promise<number> {
  const dashes = argv.indexOf('--');
  const head = dashes < 0 ? argv : argv.slice(0, dashes);
  const tail = dashes < 0 ? undefined : argv.slice(dashes + 1);
  const console = processConsole(env, { noColor: head.includes('--no-color'), isSimulated: head.includes('--sim') });
  const wantsJson = head.includes('--json');
  const signals = listenForSignals(console);
  let log: RunLog | undefined;
  const end = (exit: number): number => {
    log?.write({ kind: 'verb-ended', exit });
    return exit;
  };
  try {
    if (head.includes('--version')) return showVersion(console, wantsJson);
    const line = parseCommandLine(verbs, console, head);
    if (line.kind !== 'verb') return withoutVerb(console, line, wantsJson);
    if (folder === undefined)
      throw usageError('The folder in which this was typed is gone.', 'Type it in another one: cd');
    // Pages would speak of a rehearsal while the verb reaches real Macs.
    if (console.isSimulated && line.invocation.global['sim'] !== true)
      throw usageError('--sim stands where the value of another option belongs.', 'Give that option its value first.');
    log = await openLog(line.invocation, console, folder);
    const surroundings = { console, env, folder, tail, signal: signals.signal, ...(log && { log }) };
    const code = await runVerb(line.invocation, surroundings);
    return end(signals.received() ?? code);
  } catch (error) {
    return end(signals.received() ?? report(console, error, wantsJson, log));
  } finally {
    signals.stop();
  }
}

function showVersion(console: Console, wantsJson: boolean): ExitCode {
  if (wantsJson) showJsonText(console, `${jsonText({ meshwright: readVersion(), node: process.versions.node })}\n`);
  else console.out(`meshwright ${readVersion()}\n`);
  return exitCode.done;
}

/** Help that was asked for is an answer; a missing verb is an error, and the help stands where errors stand. */
function withoutVerb(console: Console, line: Exclude<CommandLine, { kind: 'verb' }>, wantsJson: boolean): ExitCode {
  if (line.kind === 'helped') return exitCode.done;
  if (wantsJson) throw usageError('A verb is missing.', 'See: meshwright --help');
  console.err(line.help);
  return exitCode.usage;
}

/** The log that the command line asks for. @throws FleetError `cli/usage`, `cli/cannot-write` */
async function openLog({ verb, global }: Invocation, console: Console, folder: string): Promise<RunLog | undefined> {
  const { log, logLevel } = global as unknown as GlobalOptions;
  if (log === undefined) {
    if (logLevel === undefined) return undefined;
    throw usageError('--log-level means nothing without --log.', 'Name the file as well: --log FILE');
  }
  const { openRunLog } = await import('./files/run-log.ts');
  return openRunLog({
    path: resolve(folder, log),
    level: logLevel ?? 'info',
    verb: verb.name,
    version: readVersion(),
    onLost: ({ message }) => {
      const detail = `A line could not be written to ${log}: ${message}.`;
      showDiagnostics(console, [diagnose('cli/log-incomplete', { detail, subject: namedSubject(log) })]);
    },
  });
}

async function runVerb(
  { verb, own, words, global }: Invocation,
  surroundings: Omit<Run, 'options' | 'own' | 'words'>,
): Promise<number> {
  if (surroundings.tail !== undefined && verb.tail === undefined) {
    throw usageError(`Nothing stands behind -- at ${verb.name}.`, `See: meshwright ${verb.name} --help`);
  }
  const body = await verb.load();
  const options = global as unknown as GlobalOptions;
  return body({ ...surroundings, options, own, words });
}

function report(console: Console, error: unknown, wantsJson: boolean, log: RunLog | undefined): ExitCode {
  const { diagnostics, sources } = error instanceof FleetError ? error : { diagnostics: [bug(error)], sources: {} };
  logFindings({ log }, diagnostics);
  if (wantsJson) showJson(console, { diagnostics: diagnosticsJson(console, diagnostics) });
  else showDiagnostics(console, diagnostics, sources);
  const errors = diagnostics.filter((one) => one.severity !== 'warning');
  return firstOf(errors.map(codeFor));
}

function bug(error: unknown): Diagnostic {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return diagnose('internal/bug', { detail });
}
