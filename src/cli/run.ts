import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import { type Console, processConsole } from './console.ts';
import { diagnosticsJson, showDiagnostics, showJson } from './diagnostics-output.ts';
import { type ExitCode, exitCode, firstOf } from './exit-codes.ts';
import type { GlobalOptions } from './options.ts';
import { type Invocation, parseCommandLine } from './program.ts';
import { listenForSignals } from './signals.ts';
import { verbs } from './verbs.ts';
import { readVersion } from './version.ts';

/** Runs one command line to its end and returns its exit code; writes to this process's streams. */
export async function runCommandLine(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  folder: string,
): Promise<ExitCode> {
  const dashes = argv.indexOf('--');
  const head = dashes < 0 ? argv : argv.slice(0, dashes);
  const tail = dashes < 0 ? undefined : argv.slice(dashes + 1);
  const console = processConsole(env, head.includes('--no-color'));
  const wantsJson = head.includes('--json');
  const signals = listenForSignals(console);
  try {
    if (head.includes('--version')) return showVersion(console, wantsJson);
    const invocation = parseCommandLine(verbs, console, head);
    if (!invocation) return exitCode.done;
    const code = await runVerb(invocation, { console, env, folder, tail, signal: signals.signal });
    return signals.received() ?? code;
  } catch (error) {
    return signals.received() ?? report(console, error, wantsJson);
  } finally {
    signals.stop();
  }
}

function showVersion(console: Console, wantsJson: boolean): ExitCode {
  if (wantsJson) showJson(console, { meshwright: readVersion(), node: process.versions.node });
  else console.out(`meshwright ${readVersion()}\n`);
  return exitCode.done;
}

interface Surroundings {
  readonly console: Console;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly tail: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

async function runVerb(invocation: Invocation, surroundings: Surroundings): Promise<ExitCode> {
  const body = await invocation.verb.load();
  const options = invocation.global as unknown as GlobalOptions;
  return body({ ...surroundings, options, own: invocation.own, words: invocation.words });
}

const fileAreas = new Set(['yaml', 'schema', 'topology', 'version', 'node', 'lock']);

/** The exit code that a diagnostic, thrown as a failure, stands for. */
export function codeFor(diagnostic: Diagnostic): ExitCode {
  const [area = ''] = diagnostic.code.split('/');
  if (diagnostic.code === 'cli/usage' || diagnostic.code === 'cli/no-cluster-file') return exitCode.usage;
  if (diagnostic.code === 'cli/needs-yes' || diagnostic.code === 'cli/declined') return exitCode.nothingChanged;
  if (diagnostic.code === 'cli/cannot-read' || fileAreas.has(area)) return exitCode.fileInvalid;
  if (diagnostic.code === 'internal/bug') return exitCode.bug;
  return exitCode.failed;
}

function report(console: Console, error: unknown, wantsJson: boolean): ExitCode {
  const diagnostics = error instanceof FleetError ? error.diagnostics : [bug(error)];
  if (wantsJson) showJson(console, { diagnostics: diagnosticsJson(diagnostics) });
  else showDiagnostics(console, diagnostics, error instanceof FleetError ? error.sources : {});
  const errors = diagnostics.filter((one) => one.severity !== 'warning');
  return firstOf(errors.map(codeFor));
}

function bug(error: unknown): Diagnostic {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return diagnose('internal/bug', { detail });
}
