import { Command, Help, InvalidArgumentError, Option } from 'commander';
import { type LogLevel, logLevels } from './files/event-lines.ts';
import { parseDuration } from './terminal/parse-duration.ts';
import type { GlobalUse, Verb } from './verb/verb.ts';

/** What the command line said: a verb with its words and options. */
export interface Invocation {
  readonly verb: Verb;
  readonly words: readonly string[];
  readonly own: Readonly<Record<string, unknown>>;
  readonly global: Readonly<Record<string, unknown>>;
}

/** Where commander writes help and errors. */
export interface ProgramOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly columns: number;
}

/** A global option, and what a verb must do for it to mean something; without `use` every verb heeds it. */
interface GlobalOption {
  readonly use?: GlobalUse;
  readonly option: Option;
}

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

function globalOptions(): readonly GlobalOption[] {
  return [
    {
      use: 'file',
      option: new Option(
        '-f, --file <path>',
        'the cluster file (else MESHWRIGHT_FILE, else cluster.yaml here or above)',
      ),
    },
    { use: 'nodes', option: new Option('--nodes <names>', 'only these nodes, with commas').argParser(readList) },
    {
      use: 'nodes',
      option: new Option('-l, --label <key=value>', 'only nodes with this label; repeat for more').argParser(collect),
    },
    { use: 'json', option: new Option('--json', 'one JSON document instead of text') },
    { use: 'reach', option: new Option('--sim', 'the simulated nodes instead of the real ones') },
    { use: 'consent', option: new Option('--yes', 'do not ask') },
    {
      use: 'parallel',
      // All of them: a node that hangs must not hold a place that a living one waits for.
      option: new Option('--parallel <count>', 'nodes at once').argParser(readCount).default(maxNodes, 'all'),
    },
    {
      use: 'reach',
      option: new Option('--deadline <time>', 'how long one answer may take')
        .argParser(readDuration)
        .default(30_000, '30s'),
    },
    { option: new Option('--no-color', 'no colour (also NO_COLOR)') },
    { use: 'reach', option: new Option('--record <file>', 'append every command that is sent to a node') },
    { use: 'reach', option: new Option('--log <file>', 'append what is done and seen, as lines of JSON') },
    {
      use: 'reach',
      option: new Option('--log-level <level>', 'debug, info, warn or error (default: info)').argParser(readLevel),
    },
    { use: 'reach', option: new Option('-v, --verbose', 'say what is sent to which node') },
  ];
}

/** What scripts add to every line: true of a verb that reaches nothing, so never refused. */
const harmless: ReadonlySet<string> = new Set(['sim', 'yes', 'verbose']);

/** The global options that were typed and mean nothing to the verb, as they are typed. */
export function unusableOptions(verb: Verb, typed: readonly string[]): readonly string[] {
  return globalOptions()
    .filter(({ use }) => use !== undefined && !verb.uses.includes(use))
    .filter(({ option }) => typed.includes(option.attributeName()) && !harmless.has(option.attributeName()))
    .map(({ option }) => option.long ?? option.flags);
}

/** The whole command line as commander knows it; `onVerb` receives what was typed. */
export function buildProgram(
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
  for (const { option } of globalOptions()) program.addOption(option);
  for (const verb of verbs) addVerb(program, verbOf, verb, onVerb);
  return program;
}

/** Help that fits the page and names, at a verb, only the global options that the verb heeds. */
function helpLook(columns: number, verbOf: ReadonlyMap<Command, Verb>): Partial<Help> {
  const uses = new Map(globalOptions().map(({ option, use }) => [option.attributeName(), use]));
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
  if (verb.words !== '') command.arguments(verb.words);
  command.usage(['[options]', verb.words, verb.tail ?? ''].filter((part) => part !== '').join(' '));
  for (const option of verb.options) command.option(option.flags, option.text);
  if (verb.more !== undefined) command.addHelpText('after', `\n${verb.more}`);
  command.action(() => {
    onVerb({ verb, words: command.args, own: command.opts(), global: program.opts() });
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
