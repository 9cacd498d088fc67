import { resolve } from 'node:path';
import { Command, CommanderError, Help, Option } from 'commander';
import { didYouMean } from '../desired/did-you-mean.ts';
import { wrap } from '../diagnostics/cells.ts';
import { diagnose, failure } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/diagnostic.ts';
import { jsonText } from '../diagnostics/escape.ts';
import { readSecrets } from '../diagnostics/hide-secrets.ts';
import { namedSubject } from '../model/subject.ts';
import { isCommandVerb, meshwright } from '../model/text/command.ts';
import { type Prose, prose } from '../model/text/prose.ts';
import { codeFor, type ExitCode, exitCode, firstOf } from './exit-codes.ts';
import type { RunLog } from './files/run-log.ts';
import { collect, readCount, readDuration, readLevel, readList, readOption, readTrust } from './read-options.ts';
import {
  annotate,
  type Console,
  diagnosticsJson,
  logFindings,
  processConsole,
  type Streams,
  showDiagnostics,
  showEnded,
  showJson,
  showJsonText,
} from './terminal/console.ts';
import { listenForSignals } from './terminal/signals.ts';
import { type GlobalUse, type Run, usageError, type Verb } from './verb.ts';
import { verbs } from './verbs.ts';
import { readVersion } from './version.ts';

/**
 * Runs one command line and resolves to its exit code; writes to this process's streams.
 * @param folder the current folder; undefined if it no longer exists, in which case only help and version work
 */
export async function runCommandLine(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
  streams: Streams = process,
): Promise<number> {
  const dashes = argv.indexOf('--');
  const head = dashes < 0 ? argv : argv.slice(0, dashes);
  const tail = dashes < 0 ? undefined : argv.slice(dashes + 1);
  const hasEvents = head.includes('--events');
  const traits = { noColor: head.includes('--no-color'), isSimulated: head.includes('--sim'), hasEvents, folder };
  const console = processConsole(env, traits, streams);
  const wantsJson = hasEvents || head.includes('--json');
  const signals = listenForSignals(console);
  let log: RunLog | undefined;
  const end = (exit: number): number => {
    log?.write({ kind: 'verb-ended', exit });
    return exit;
  };
  try {
    if (head.includes('--version')) return await showVersion(console, wantsJson);
    const line = parseCommandLine(verbs, console, head);
    if (line.kind !== 'verb') return withoutVerb(console, line, wantsJson);
    if (folder === undefined)
      throw usageError('The current folder no longer exists.', 'Change to another folder with cd.');
    // Without this check, the output would say "simulated" while the command contacts real Macs.
    if (console.isSimulated && line.invocation.global.sim !== true)
      throw usageError(
        '--sim was read as the value of another option.',
        'Enter the value of that option before --sim.',
      );
    refuseBoth(line.invocation);
    const secrets = readSecrets();
    log = await openLog(line.invocation, { console, folder, secrets });
    const surroundings = { console, env, folder, tail, signal: signals.signal, secrets, ...(log && { log }) };
    const code = await runVerb(line.invocation, surroundings);
    return end(signals.received() ?? code);
  } catch (error) {
    return end(signals.received() ?? report(console, error, wantsJson, log));
  } finally {
    signals.stop();
  }
}

async function showVersion(console: Console, wantsJson: boolean): Promise<ExitCode> {
  if (wantsJson) {
    const { nativeParts } = await import('../native/load-native.ts');
    const versions = { meshwright: readVersion(), node: process.versions.node, native: nativeParts() };
    showJsonText(console, `${jsonText(versions)}\n`);
  } else console.out(`meshwright ${readVersion()}\n`);
  return exitCode.done;
}

/** Help is a result if it was requested. Without a command, it is an error message and goes to stderr. */
function withoutVerb(console: Console, line: Exclude<CommandLine, { kind: 'verb' }>, wantsJson: boolean): ExitCode {
  if (line.kind === 'helped') return exitCode.done;
  if (wantsJson) throw usageError('No command was entered.', 'See: meshwright --help');
  console.err(line.help);
  return exitCode.usage;
}

/** Opens the log file of `--log`. @throws FleetError `cli/usage`, `cli/cannot-write` */
async function openLog(
  { verb, global }: Invocation,
  { console, folder, secrets }: Pick<Run, 'console' | 'folder' | 'secrets'>,
): Promise<RunLog | undefined> {
  const { log, logLevel } = global;
  if (log === undefined) {
    if (logLevel === undefined) return undefined;
    throw usageError('--log-level needs --log.', 'Name the log file as well: --log FILE');
  }
  const { openRunLog } = await import('./files/run-log.ts');
  return openRunLog({
    path: resolve(folder, log),
    level: logLevel ?? 'info',
    verb: verb.name,
    version: readVersion(),
    secrets,
    onLost: ({ message }) => {
      const detail = `Could not write a line to ${log}: ${message}.`;
      showDiagnostics(console, [diagnose('cli/log-incomplete', { detail, subject: namedSubject(log) })]);
    },
  });
}

/** @throws FleetError `cli/usage` */
function refuseBoth({ global }: Invocation): void {
  if (global.events !== true || global.json !== true) return;
  throw usageError(
    '--json and --events cannot be combined.',
    'Leave out --json: --events ends with the same document.',
  );
}

async function runVerb(
  { verb, own, words, global }: Invocation,
  surroundings: Omit<Run, 'options' | 'own' | 'words'>,
): Promise<number> {
  if (surroundings.tail !== undefined && verb.tail === undefined) {
    throw usageError(`${verb.name} takes no arguments after --.`, `See: meshwright ${verb.name} --help`);
  }
  const body = await verb.load();
  const options = global.events === true ? { ...global, json: true } : global;
  const run = { ...surroundings, options, own, words };
  const ended = await body(run);
  return typeof ended === 'number' ? ended : showEnded(run, ended);
}

function report(console: Console, error: unknown, wantsJson: boolean, log: RunLog | undefined): ExitCode {
  const { diagnostics, sources } = error instanceof FleetError ? error : bug(error);
  logFindings({ log }, diagnostics);
  if (wantsJson) {
    showJson(console, { diagnostics: diagnosticsJson(console, diagnostics) });
    annotate(console, diagnostics);
  } else showDiagnostics(console, diagnostics, sources);
  const errors = diagnostics.filter((one) => one.severity !== 'warning');
  return firstOf(errors.map(codeFor));
}

const bug = (error: unknown): FleetError =>
  failure('internal/bug', { detail: error instanceof Error ? (error.stack ?? error.message) : String(error) });

type CommandLine =
  | { readonly kind: 'verb'; readonly invocation: Invocation }
  /** Help was requested and printed. */
  | { readonly kind: 'helped' }
  /** No command was entered; `help` lists the possible ones. */
  | { readonly kind: 'no-verb'; readonly help: string };

/**
 * Parses the command line up to `--`.
 * @throws FleetError `cli/usage` with the reason and a suggestion
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
  // New users type `help facts`.
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
    throw usageError(`${invocation.verb.name} has no option ${unusable}.`, `Leave out ${unusable}.`);
  }
  return { kind: 'verb', invocation };
}

/** Commander's error in our own words, and a hint. */
function explained(error: CommanderError, verbs: readonly Verb[], target: string): readonly [string, Prose] {
  const see = `See: meshwright ${target}--help`;
  const text = error.message
    .replace(/^error: /, '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
  const near = /\(Did you mean (?:one of )?([^?]+)\?\)$/.exec(text)?.[1];
  const suggestion = (word: Prose | undefined): Prose =>
    word === undefined ? see : prose`Did you mean ${word}? ${see}`;
  const quoted = /'([^']*)'/.exec(text)?.[1] ?? '';
  if (error.code === 'commander.unknownCommand') {
    const names = verbs.filter(({ isHidden, name }) => isHidden !== true && name.startsWith(target));
    const shown = names.map(({ name }) => name.slice(target.length));
    return [`Unknown command "${target}${quoted}".`, suggestion(suggestedCommand(quoted, shown))];
  }
  if (error.code === 'commander.unknownOption') {
    return [`Unknown option ${quoted}.`, suggestion(suggestedOption(quoted, target.trimEnd()) ?? near)];
  }
  return [sentence(text.replaceAll("'", '"')), suggestion(near)];
}

/** The command or subcommand group that the arguments name, followed by a space; otherwise empty. */
function helpTarget(verbs: readonly Verb[], argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  const two = words.slice(0, 2).join(' ');
  const isVerb = (name: string): boolean => verbs.some((verb) => verb.name === name);
  const found = [two, words[0] ?? ''].find(isVerb);
  if (found !== undefined) return `${found} `;
  const isFamily = words[0] !== undefined && verbs.some((verb) => verb.name.startsWith(`${words[0]} `));
  return isFamily ? `${words[0]} ` : '';
}

/** Command names in other tools, listed under our name. By edit distance only, `top` would become `stop`. */
const foreignCommands: Readonly<Record<string, readonly string[]>> = {
  apply: ['up', 'deploy', 'install', 'converge', 'provision', 'sync'],
  stop: ['down', 'kill'],
  status: ['ps', 'ls', 'list', 'top', 'get', 'show', 'info', 'watch'],
  exec: ['ssh', 'shell'],
  uninstall: ['destroy', 'remove', 'delete', 'purge'],
  doctor: ['diagnose'],
  bundle: ['sosreport', 'sysdiagnose'],
  recover: ['repair', 'fix', 'heal'],
  plan: ['diff', 'preview'],
  'sim example': ['init', 'new', 'create'],
  validate: ['lint', 'check'],
  facts: ['describe', 'inspect'],
  logs: ['tail', 'log'],
  'upgrade macos': ['upgrade', 'update', 'softwareupdate'],
  hold: ['cordon'],
  release: ['uncordon'],
  ask: ['chat', 'prompt'],
  shutdown: ['halt', 'poweroff'],
  enroll: ['join', 'bootstrap'],
  '--version': ['version'],
  '--help': ['man'],
};

/** Option names in other tools. Long options with a typo are found by edit distance. */
const foreignOptions: Readonly<Record<string, readonly string[]>> = {
  '--yes': ['-y', '--auto-approve', '-auto-approve', '--assume-yes'],
  '--json': ['-o', '-j', '--output', '--format'],
  '--nodes': ['-n', '--limit', '--host', '--hosts', '--target', '-target'],
  '--help': ['-?'],
};

/** Disruptive commands, which are not suggested for a typo with a different first letter. */
const ending: readonly string[] = ['stop', 'restart', 'reboot', 'shutdown', 'drain', 'uninstall', 'forget', 'replace'];

const ownWord = (words: Readonly<Record<string, readonly string[]>>, typed: string): string | undefined =>
  Object.entries(words).find(([, others]) => others.includes(typed))?.[0];

/** The command, from these names, that an unknown word most likely means. */
export function suggestedCommand(typed: string, names: readonly string[]): string | undefined {
  const own = ownWord(foreignCommands, typed.toLowerCase());
  if (own !== undefined && (own.startsWith('--') || names.includes(own))) return own;
  const near = didYouMean(typed, names);
  const isRisky = near !== undefined && ending.includes(near) && near[0] !== typed[0]?.toLowerCase();
  return isRisky ? undefined : near;
}

/** Our counterpart of another tool's option; for `--watch` this is the shell's `watch`. */
function suggestedOption(typed: string, verb: string): Prose | undefined {
  if (typed === '-o' && verb === 'plan') return '--out';
  if (typed === '-n' && verb === 'logs') return '--lines';
  if (typed === '--dry-run') return [meshwright('plan')];
  if (typed === '--watch' || typed === '-w') {
    if (verb === 'cables' || verb === 'status') return '--watch';
    return isCommandVerb(verb) ? prose`watch -n 10 ${meshwright(verb)}` : undefined;
  }
  return ownWord(foreignOptions, typed);
}

interface Invocation {
  readonly verb: Verb;
  readonly words: readonly string[];
  readonly own: Readonly<Record<string, unknown>>;
  readonly global: Run['options'];
}

interface ProgramOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly columns: number;
}

/** A global option and the use that a command needs to accept it. Without `use`, every command accepts the option. */
type GlobalOption = readonly [use: GlobalUse | undefined, option: Option];

const maxNodes = 256;

const globalOptions = (): readonly GlobalOption[] => [
  [
    'file',
    new Option('-f, --file <path>', 'cluster file (default: $MESHWRIGHT_FILE, else cluster.yaml here or above)'),
  ],
  [
    'file',
    new Option('--trust <kind=value>', 'allow what the file asks for on this computer; repeatable').argParser(
      readTrust,
    ),
  ],
  ['reach', new Option('--base-lock <file>', 'with CI set: the lock whose nodes and host keys are trusted')],
  ['nodes', new Option('--nodes <names>', 'only these nodes (comma-separated)').argParser(readList)],
  ['nodes', new Option('-l, --label <key=value>', 'only nodes with this label; repeatable').argParser(collect)],
  ['json', new Option('--json', 'print one JSON document instead of text')],
  ['events', new Option('--events', 'print events as JSON lines, then the document of --json in one line')],
  ['reach', new Option('--sim', 'use the simulated nodes instead of the real ones')],
  ['consent', new Option('--yes', 'do not ask for confirmation')],
  // All nodes by default, so that a hanging node never delays the others.
  ['parallel', new Option('--parallel <count>', 'nodes in parallel').argParser(readCount).default(maxNodes, 'all')],
  [
    'reach',
    new Option('--deadline <time>', 'time limit for each answer').argParser(readDuration).default(30_000, '30s'),
  ],
  [undefined, new Option('--no-color', 'no color (also NO_COLOR)')],
  ['reach', new Option('--record <file>', 'append every command sent to a node to this file')],
  ['reach', new Option('--log <file>', 'append all actions and observations as JSON lines')],
  ['reach', new Option('--log-level <level>', 'debug, info, warn or error (default: info)').argParser(readLevel)],
  ['reach', new Option('-v, --verbose', 'report each command sent to a node')],
];

/** Options that scripts add to every command line. They are harmless, so every command accepts them. */
const harmless: ReadonlySet<string> = new Set(['sim', 'yes', 'verbose']);

/** The typed global options that the command does not accept, as the user wrote them. */
function unusableOptions(verb: Verb, typed: readonly string[]): readonly string[] {
  return globalOptions()
    .filter(([use]) => use !== undefined && !verb.uses.includes(use))
    .filter(([, option]) => typed.includes(option.attributeName()) && !harmless.has(option.attributeName()))
    .map(([, option]) => option.long ?? option.flags);
}

/** Builds the commander program; `onVerb` receives the parsed command. */
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
    .usage('[options] COMMAND')
    .version('', '--version', 'print the version')
    .helpOption('-h, --help', 'print this help; for one command: COMMAND --help')
    .helpCommand(false)
    .configureHelp(helpFormat(output.columns, verbOf))
    .configureOutput({ writeOut: output.out, writeErr: output.err, outputError: () => undefined })
    .exitOverride()
    .showSuggestionAfterError(true);
  for (const [, option] of globalOptions()) program.addOption(option);
  for (const verb of verbs) addVerb(program, verbOf, verb, onVerb);
  return program;
}

/** The column width of a command's description; examples are never broken. */
const proseColumns = 80;

/** Fits the help to the page: a command's purpose first, its options last, and only global options that it accepts. */
function helpFormat(columns: number, verbOf: ReadonlyMap<Command, Verb>): Partial<Help> {
  const uses = new Map(globalOptions().map(([use, option]) => [option.attributeName(), use]));
  const plain = new Help();
  plain.showGlobalOptions = true;
  const helpWidth = Math.max(60, Math.min(columns, 100));
  return {
    helpWidth,
    minWidthToWrap: 20,
    showGlobalOptions: true,
    formatHelp: (command, helper) => {
      const width = helper.padWidth(command, helper);
      const lineOf = (term: string, text: string): string => helper.formatItem(term, width, text, helper);
      const list = (title: string, options: readonly Option[]): readonly string[] => [
        title,
        ...options.map((option) => lineOf(helper.optionTerm(option), helper.optionDescription(option))),
      ];
      const groups = helper.groupItems([...command.commands], helper.visibleCommands(command), (one) =>
        one.helpGroup(),
      );
      const sections = [
        ['Usage:', helper.commandUsage(command)].join(' '),
        helper.boxWrap(helper.commandDescription(command), helpWidth),
        verbOf
          .get(command)
          ?.more?.split('\n')
          .flatMap((line) => wrap(line, proseColumns))
          .join('\n'),
        ...[...groups].map(([title, commands]) => [
          title,
          ...commands.map((one) => lineOf(helper.subcommandTerm(one), helper.subcommandDescription(one))),
        ]),
        list('Options:', helper.visibleOptions(command)),
        list('Global options:', helper.visibleGlobalOptions(command)),
      ];
      const texts = sections.flatMap((one) => (typeof one === 'object' ? (one.length > 1 ? one.join('\n') : []) : one));
      return `${texts.filter((text) => text !== undefined).join('\n\n')}\n`;
    },
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
  command.copyInheritedSettings(program).helpOption('-h, --help', 'print this help');
  if (verb.words !== undefined) command.arguments(verb.words);
  command.usage(['[options]', verb.words, verb.tail].filter((part) => part !== undefined).join(' '));
  for (const one of verb.options) {
    const option = new Option(one.flags, one.text);
    command.addOption(option.required && !option.variadic ? option.argParser(readOption(one)) : option);
  }
  command.action(() => {
    onVerb({ verb, words: command.args, own: command.opts(), global: program.opts<Run['options']>() });
  });
}

const families: Readonly<Record<string, { readonly summary: string; readonly description: string }>> = {
  sim: {
    summary: 'run a simulated fleet: up, down, status, fault',
    description: 'Controls a simulated fleet made from the cluster file, with real SSH and without Macs.',
  },
  lease: {
    summary: 'show and release leases: status, release',
    description: 'Each run takes a lease on every node that it changes, so that no two runs change a node together.',
  },
};

/** The parent of subcommands, such as `sim`; created with its first subcommand. */
function familyOf(program: Command, name: string, group: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  if (known) return known;
  const family = program.command(name).copyInheritedSettings(program).helpGroup(group);
  const { summary, description } = families[name] ?? { summary: '', description: '' };
  family.summary(summary).usage('COMMAND').helpCommand(false);
  family.helpOption('-h, --help', 'print this help; for one command: COMMAND --help').commandsGroup('Commands:');
  return family.description(description);
}

/** Turns a text into a sentence, with a capital letter and a period. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?)]$/.test(text) ? '' : '.'}`;
}
