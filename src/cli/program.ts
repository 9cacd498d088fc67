import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { usageError } from './options.ts';
import type { Verb } from './verb.ts';

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

const durations: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `30s`, `500ms`, `2m`, `1h` as milliseconds. */
function parseDuration(text: string): number {
  const match = /^([1-9][0-9]{0,6})(ms|s|m|h)$/.exec(text);
  if (!match) throw new InvalidArgumentError('Say a number with ms, s, m or h, such as 30s.');
  return Number(match[1]) * (durations[match[2] ?? ''] ?? 1);
}

function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text)) throw new InvalidArgumentError('Say a whole number from 1 to 9999.');
  return Number(text);
}

const parseList = (text: string): readonly string[] => text.split(',').filter((word) => word !== '');

const collect = (text: string, earlier: readonly string[] | undefined): readonly string[] => [...(earlier ?? []), text];

function addGlobalOptions(program: Command): void {
  program
    .option('-f, --file <path>', 'the cluster file (else MESHWRIGHT_FILE, else cluster.yaml here or above)')
    .addOption(new Option('--nodes <names>', 'only these nodes, separated by commas').argParser(parseList))
    .addOption(new Option('-l, --label <key=value>', 'only nodes with this label; repeat for more').argParser(collect))
    .option('--json', 'one JSON document instead of text')
    .option('--sim', 'the simulated fleet of this file instead of the real one')
    .option('--yes', 'do not ask')
    .addOption(new Option('--parallel <count>', 'nodes at once').argParser(parseCount).default(32))
    .addOption(
      new Option('--deadline <time>', 'how long one node may take').argParser(parseDuration).default(30_000, '30s'),
    )
    .option('--no-color', 'no colour (also NO_COLOR)')
    .option('--record <file>', 'append every command that is sent to a node, one JSON line each')
    .option('-v, --verbose', 'say what is sent to which node');
}

/** The whole command line as commander knows it; `onVerb` receives what was typed. */
export function buildProgram(
  verbs: readonly Verb[],
  output: ProgramOutput,
  onVerb: (invocation: Invocation) => void,
): Command {
  const program = new Command('meshwright');
  program
    .description(
      'Turns a handful of Mac Studios, Thunderbolt 5 cables and a text file into one machine for large models.',
    )
    .usage('[options] VERB')
    .version('', '--version', 'print the version')
    .helpOption('-h, --help', 'this text; VERB --help for one verb')
    .helpCommand(false)
    .configureHelp({ helpWidth: Math.min(output.columns, 100), showGlobalOptions: true })
    .configureOutput({ writeOut: output.out, writeErr: () => undefined })
    .exitOverride()
    .showSuggestionAfterError(true);
  addGlobalOptions(program);
  const families = new Map<string, Command>();
  for (const verb of verbs) addVerb(program, families, verb, onVerb);
  return program;
}

function addVerb(
  program: Command,
  families: Map<string, Command>,
  verb: Verb,
  onVerb: (invocation: Invocation) => void,
): void {
  const [first = '', second] = verb.name.split(' ');
  const parent = second === undefined ? program : familyOf(program, families, first, verb.group);
  const command = parent.command(second ?? first, verb.isHidden ? { hidden: true } : {});
  command.description(verb.summary).helpGroup(verb.group).copyInheritedSettings(program);
  if (verb.words !== '') command.arguments(verb.words);
  for (const option of verb.options) command.option(option.flags, option.text);
  if (verb.more !== undefined) command.addHelpText('after', `\n${verb.more}`);
  command.action(() => {
    onVerb({ verb, words: command.args, own: command.opts(), global: program.opts() });
  });
}

function familyOf(program: Command, families: Map<string, Command>, name: string, group: string): Command {
  const known = families.get(name);
  if (known) return known;
  const family = program.command(name).copyInheritedSettings(program).helpGroup(group);
  family.description('the simulated fleet: up, down, status, fault');
  families.set(name, family);
  return family;
}

/**
 * Parses the words of the command line.
 * @returns what to do, or undefined when help was asked for and printed.
 * @throws FleetError `cli/usage` with commander's reason.
 */
export function parseCommandLine(
  verbs: readonly Verb[],
  output: ProgramOutput,
  argv: readonly string[],
): Invocation | undefined {
  let invocation: Invocation | undefined;
  const program = buildProgram(verbs, output, (found) => {
    invocation = found;
  });
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    if (error.code === 'commander.help') throw usageError('A verb is missing.', 'See: meshwright --help');
    throw usageError(sentence(error.message), `See: meshwright ${helpTarget(verbs, argv)}--help`);
  }
  return invocation;
}

function sentence(message: string): string {
  const text = message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?)]$/.test(text) ? '' : '.'}`;
}

function helpTarget(verbs: readonly Verb[], argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  const two = words.slice(0, 2).join(' ');
  const found = verbs.find((verb) => verb.name === two) ?? verbs.find((verb) => verb.name === words[0]);
  return found ? `${found.name} ` : '';
}
