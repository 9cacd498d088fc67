import { resolve } from 'node:path';
import { Command, CommanderError, Help, InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../desired/did-you-mean.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../diagnostics/diagnostic.ts';
import { jsonText } from '../diagnostics/escape.ts';
import { namedSubject } from '../model/subject.ts';
import { isCommandVerb, meshwright } from '../model/text/command.ts';
import { type Prose, prose } from '../model/text/prose.ts';
import { codeFor, type ExitCode, exitCode, firstOf } from './exit-codes.ts';
import { type LogLevel, logLevels } from './files/event-lines.ts';
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
import { type GlobalUse, parseDuration, type Run, usageError, type Verb } from './verb.ts';
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
    if (console.isSimulated && line.invocation.global.sim !== true)
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
  const { log, logLevel } = global;
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
  return body({ ...surroundings, options: global, own, words });
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

/** What the words of a command line come to. */
type CommandLine =
  | { readonly kind: 'verb'; readonly invocation: Invocation }
  /** Help was asked for and has been printed. */
  | { readonly kind: 'helped' }
  /** No verb was named; `help` is what could have been meant. */
  | { readonly kind: 'no-verb'; readonly help: string };

/**
 * Parses the words of the command line up to `--`.
 * @throws FleetError `cli/usage` with the reason, and what could be meant.
 */
export function parseCommandLine(
  verbs: readonly Verb[],
  output: Pick<ProgramOutput, 'out' | 'columns'>,
  argv: readonly string[],
): CommandLine {
  const found: Invocation[] = [];
  const help: string[] = [];
  const program = buildProgram(
    verbs,
    { ...output, err: (text) => void help.push(text) },
    (one) => void found.push(one),
  );
  // `help facts` is what a newcomer types; nothing else is called help.
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  try {
    program.parse([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: 'helped' };
    if (error.code === 'commander.help') return { kind: 'no-verb', help: help.join('') };
    throw usageError(...explained(error, verbs, helpTarget(verbs, words)));
  }
  const [invocation] = found;
  if (!invocation) return { kind: 'no-verb', help: help.join('') };
  const typed = Object.keys(invocation.global).filter((name) => program.getOptionValueSource(name) === 'cli');
  const [unusable] = unusableOptions(invocation.verb, typed);
  if (unusable !== undefined) {
    throw usageError(`${unusable} means nothing to ${invocation.verb.name}.`, 'Leave it out.');
  }
  return { kind: 'verb', invocation };
}

/** Commander's reason in our words, and what to do. */
function explained(error: CommanderError, verbs: readonly Verb[], target: string): readonly [string, Prose] {
  const see = `See: meshwright ${target}--help`;
  const text = error.message
    .replace(/^error: /, '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
  const near = /\(Did you mean (?:one of )?([^?]+)\?\)$/.exec(text)?.[1];
  const meaning = (meant: Prose | undefined): Prose =>
    meant === undefined ? see : prose`Did you mean ${meant}? ${see}`;
  const quoted = /'([^']*)'/.exec(text)?.[1] ?? '';
  if (error.code === 'commander.unknownCommand') {
    const names = verbs.filter(({ isHidden, name }) => isHidden !== true && name.startsWith(target));
    const shown = names.map(({ name }) => name.slice(target.length));
    return [`Unknown command "${target}${quoted}".`, meaning(meantCommand(quoted, shown))];
  }
  if (error.code === 'commander.unknownOption') {
    return [`There is no option ${quoted} here.`, meaning(meantOption(quoted, target.trimEnd()) ?? near)];
  }
  return [sentence(text.replaceAll("'", '"')), meaning(near)];
}

/** The verb, or the family of verbs, that the words name, with a blank behind it; empty for none. */
function helpTarget(verbs: readonly Verb[], argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  const two = words.slice(0, 2).join(' ');
  const isVerb = (name: string): boolean => verbs.some((verb) => verb.name === name);
  const found = [two, words[0] ?? ''].find(isVerb);
  if (found !== undefined) return `${found} `;
  const isFamily = words[0] !== undefined && verbs.some((verb) => verb.name.startsWith(`${words[0]} `));
  return isFamily ? `${words[0]} ` : '';
}

/** What other tools call it, by what it is called here: an edit distance would lead from `top` to `stop`. */
const foreignCommands: Readonly<Record<string, readonly string[]>> = {
  apply: ['up', 'deploy', 'install', 'converge', 'provision', 'sync'],
  stop: ['down', 'kill'],
  status: ['ps', 'ls', 'list', 'top', 'get', 'show', 'info', 'watch'],
  exec: ['ssh', 'shell'],
  uninstall: ['destroy', 'remove', 'delete', 'purge'],
  doctor: ['recover', 'repair', 'fix', 'heal', 'diagnose'],
  plan: ['diff', 'preview'],
  'sim example': ['init', 'new', 'create'],
  validate: ['lint', 'check'],
  facts: ['describe', 'inspect'],
  logs: ['tail', 'log'],
  hold: ['cordon'],
  release: ['uncordon'],
  ask: ['chat', 'prompt'],
  shutdown: ['halt', 'poweroff'],
  enroll: ['join', 'bootstrap'],
  '--version': ['version'],
  '--help': ['man'],
};

/** The same of options; long ones with one typo are found by their letters. */
const foreignOptions: Readonly<Record<string, readonly string[]>> = {
  '--yes': ['-y', '--auto-approve', '-auto-approve', '--assume-yes'],
  '--json': ['-o', '-j', '--output', '--format'],
  '--nodes': ['-n', '--limit', '--host', '--hosts', '--target', '-target'],
  '--help': ['-?'],
};

/** Commands that end something: a slip of the finger must not lead there from a word that begins otherwise. */
const ending: readonly string[] = ['stop', 'restart', 'reboot', 'shutdown', 'drain', 'uninstall', 'forget', 'replace'];

const ownWord = (words: Readonly<Record<string, readonly string[]>>, typed: string): string | undefined =>
  Object.entries(words).find(([, others]) => others.includes(typed))?.[0];

/** The command that was most likely meant by a word that is none, among these names. */
export function meantCommand(typed: string, names: readonly string[]): string | undefined {
  const own = ownWord(foreignCommands, typed.toLowerCase());
  if (own !== undefined && (own.startsWith('--') || names.includes(own))) return own;
  const near = didYouMean(typed, names);
  const isRisky = near !== undefined && ending.includes(near) && near[0] !== typed[0]?.toLowerCase();
  return isRisky ? undefined : near;
}

/** What is typed here for an option of other tools; `--watch` has no counterpart but the shell's own. */
function meantOption(typed: string, verb: string): Prose | undefined {
  if (typed === '-o' && verb === 'plan') return '--out';
  if (typed === '-n' && verb === 'logs') return '--lines';
  if (typed === '--dry-run') return [meshwright('plan')];
  if (typed === '--watch' || typed === '-w') {
    if (verb === 'cables') return '--watch';
    return isCommandVerb(verb) ? prose`watch -n 10 ${meshwright(verb)}` : undefined;
  }
  return ownWord(foreignOptions, typed);
}

/** What the command line said: a verb with its words and options. */
interface Invocation {
  readonly verb: Verb;
  readonly words: readonly string[];
  readonly own: Readonly<Record<string, unknown>>;
  readonly global: Run['options'];
}

/** Where commander writes help and errors. */
interface ProgramOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly columns: number;
}

/** A global option, and what a verb must do for it to mean something; without `use` every verb heeds it. */
type GlobalOption = readonly [use: GlobalUse | undefined, option: Option];

function readDuration(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === undefined) throw new InvalidArgumentError('Say up to a day in ms, s, m or h, such as 30s.');
  return durationMs;
}

/** As many nodes as a cluster file can have. */
const maxNodes = 256;

function readCount(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text)) throw new InvalidArgumentError('Say a whole number from 1 to 9999.');
  return Number(text);
}

function readLevel(text: string): LogLevel {
  const level = logLevels.find((one) => one === text);
  if (level === undefined) throw new InvalidArgumentError(`Say ${logLevels.join(', ')}.`);
  return level;
}

function readList(text: string): readonly string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.includes('')) throw new InvalidArgumentError('Say names with commas between them.');
  return words;
}

const collect = (text: string, earlier: readonly string[] | undefined): readonly string[] => [...(earlier ?? []), text];

const globalOptions = (): readonly GlobalOption[] => [
  ['file', new Option('-f, --file <path>', 'the cluster file (else MESHWRIGHT_FILE, else cluster.yaml here or above)')],
  ['nodes', new Option('--nodes <names>', 'only these nodes, with commas').argParser(readList)],
  ['nodes', new Option('-l, --label <key=value>', 'only nodes with this label; repeat for more').argParser(collect)],
  ['json', new Option('--json', 'one JSON document instead of text')],
  ['reach', new Option('--sim', 'the simulated nodes instead of the real ones')],
  ['consent', new Option('--yes', 'do not ask')],
  // All of them: a node that hangs must not hold a place that a living one waits for.
  ['parallel', new Option('--parallel <count>', 'nodes at once').argParser(readCount).default(maxNodes, 'all')],
  [
    'reach',
    new Option('--deadline <time>', 'how long one answer may take').argParser(readDuration).default(30_000, '30s'),
  ],
  [undefined, new Option('--no-color', 'no colour (also NO_COLOR)')],
  ['reach', new Option('--record <file>', 'append every command that is sent to a node')],
  ['reach', new Option('--log <file>', 'append what is done and seen, as lines of JSON')],
  ['reach', new Option('--log-level <level>', 'debug, info, warn or error (default: info)').argParser(readLevel)],
  ['reach', new Option('-v, --verbose', 'say what is sent to which node')],
];

/** What scripts add to every line: true of a verb that reaches nothing, so never refused. */
const harmless: ReadonlySet<string> = new Set(['sim', 'yes', 'verbose']);

/** The global options that were typed and mean nothing to the verb, as they are typed. */
function unusableOptions(verb: Verb, typed: readonly string[]): readonly string[] {
  return globalOptions()
    .filter(([use]) => use !== undefined && !verb.uses.includes(use))
    .filter(([, option]) => typed.includes(option.attributeName()) && !harmless.has(option.attributeName()))
    .map(([, option]) => option.long ?? option.flags);
}

/** The whole command line as commander knows it; `onVerb` receives what was typed. */
function buildProgram(
  verbs: readonly Verb[],
  output: ProgramOutput,
  onVerb: (invocation: Invocation) => void,
): Command {
  const verbOf = new Map<Command, Verb>();
  const program = new Command('meshwright');
  program
    .description(
      'Turns a handful of Mac Studios, Thunderbolt 5 cables and a text file into one machine for large models.',
    )
    .usage('[options] VERB')
    .version('', '--version', 'print the version')
    .helpOption('-h, --help', 'this text; VERB --help for one verb')
    .helpCommand(false)
    .configureHelp(helpLook(output.columns, verbOf))
    .configureOutput({ writeOut: output.out, writeErr: output.err, outputError: () => undefined })
    .exitOverride()
    .showSuggestionAfterError(true);
  for (const [, option] of globalOptions()) program.addOption(option);
  for (const verb of verbs) addVerb(program, verbOf, verb, onVerb);
  return program;
}

/** Help that fits the page and names, at a verb, only the global options that the verb heeds. */
function helpLook(columns: number, verbOf: ReadonlyMap<Command, Verb>): Partial<Help> {
  const uses = new Map(globalOptions().map(([use, option]) => [option.attributeName(), use]));
  const plain = new Help();
  plain.showGlobalOptions = true;
  return {
    helpWidth: Math.max(60, Math.min(columns, 100)),
    minWidthToWrap: 20,
    showGlobalOptions: true,
    subcommandTerm: (command) => `${command.name()} ${verbOf.get(command)?.words ?? ''}`.trimEnd(),
    visibleGlobalOptions: (command) => {
      const verb = verbOf.get(command);
      if (verb === undefined) return [];
      return plain.visibleGlobalOptions(command).filter((option) => {
        const use = uses.get(option.attributeName());
        return option.long !== '--version' && (use === undefined || verb.uses.includes(use));
      });
    },
  };
}

function addVerb(
  program: Command,
  verbOf: Map<Command, Verb>,
  verb: Verb,
  onVerb: (invocation: Invocation) => void,
): void {
  const [first = '', second] = verb.name.split(' ');
  const parent = second === undefined ? program : familyOf(program, first, verb.group);
  const command = parent.command(second ?? first, verb.isHidden ? { hidden: true } : {});
  verbOf.set(command, verb);
  command.summary(verb.summary).description(sentence(verb.summary));
  if (second === undefined) command.helpGroup(verb.group);
  command.copyInheritedSettings(program).helpOption('-h, --help', 'this text');
  if (verb.words !== undefined) command.arguments(verb.words);
  command.usage(['[options]', verb.words, verb.tail].filter((part) => part !== undefined).join(' '));
  for (const option of verb.options) command.option(option.flags, option.text);
  if (verb.more !== undefined) command.addHelpText('after', `\n${verb.more}`);
  command.action(() => {
    onVerb({ verb, words: command.args, own: command.opts(), global: program.opts<Run['options']>() });
  });
}

/** What the help says of a family of verbs. */
const families: Readonly<Record<string, { readonly summary: string; readonly description: string }>> = {
  sim: {
    summary: 'the simulated fleet: up, down, status, fault',
    description: 'A simulated fleet made from the cluster file, with real SSH and no Mac.',
  },
  lease: {
    summary: 'who holds which node: status, release',
    description: 'Every run holds a lease on each node that it changes, so that no two change it at once.',
  },
};

/** The command that carries a family of verbs, such as `sim`; made at its first verb. */
function familyOf(program: Command, name: string, group: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  if (known) return known;
  const family = program.command(name).copyInheritedSettings(program).helpGroup(group);
  const { summary, description } = families[name] ?? { summary: '', description: '' };
  family.summary(summary).usage('VERB').helpCommand(false);
  family.helpOption('-h, --help', 'this text; VERB --help for one verb').commandsGroup('Verbs:');
  return family.description(description);
}

/** A text as a sentence: capital letter, full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?)]$/.test(text) ? '' : '.'}`;
}
