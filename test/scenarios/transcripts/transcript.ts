/** A recording as a text that is the same in every run: by node, the steps of a run in the order of its plan. */
import { createHash } from 'node:crypto';
import { exitText } from '../../../src/model/probe.ts';
import { type Step, type StepOutcome, stepsBefore } from '../../../src/model/step.ts';
import { everyText } from '../../unit/engine/scripts/script-examples.ts';
import type { SeenExec } from './recording.ts';
import { steady, withNumberedDigests, withoutDigests } from './steady.ts';
import { type StepPlace, stepBody } from './step-bodies.ts';

/** A recording and its run. */
export interface Recorded {
  readonly execs: readonly SeenExec[];
  /** The steps of all plans, including their rescue steps. */
  readonly steps: readonly Step[];
  /** The outcome of each step. */
  readonly outcomes: ReadonlyMap<Step, StepOutcome>;
  readonly placeOf: (node: string) => StepPlace;
  /** Folders that differ between runs, with their placeholders. */
  readonly folders: Readonly<Record<string, string>>;
}

/** A command with its step. */
interface Told {
  readonly exec: SeenExec;
  readonly step: Step | undefined;
}

const isRoot = ({ command }: SeenExec): boolean => /\bsudo'? -n /.test(command);

/** The whole text of a command; for root scripts, their standard input. */
const textOf = (exec: SeenExec): string => (isRoot(exec) ? exec.input : exec.command);

/** The step of a command, derived from its history line, its job, or the file that it sends. */
function stepOf(exec: SeenExec, steps: readonly Step[]): Step | undefined {
  const own = steps.filter(({ node }) => node === exec.node);
  if (isRoot(exec)) {
    const id = /\bstep=(\S+) verb=/.exec(exec.input)?.[1];
    if (id !== undefined) return own.find((step) => step.id === decodeURIComponent(id));
    return own.find(({ act }) => act.kind === 'script' && act.name === exec.name);
  }
  return own.find(
    ({ act }) =>
      (act.kind === 'job' && exec.name === 'poll-job' && exec.command.includes(act.key)) ||
      (act.kind === 'send' && exec.command.includes(act.to.path)),
  );
}

/** True if a command contains its remaining time or a duration. */
const isHurried = ({ name = '' }: SeenExec): boolean => ['ask', 'prove', 'dialogue'].includes(name);

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/[\w.:@%+/-]+/g) ?? []);

/** The words of all sent texts, by name. */
const examples = everyText('').map(([name, text]) => ({ name, words: wordsOf(text) }));

const sharedWith = (words: ReadonlySet<string>, others: ReadonlySet<string>): number => {
  const shared = [...words].filter((word) => others.has(word)).length;
  return shared / (words.size + others.size - shared);
};

/** The words of a text that do not occur in the example of its kind: its arguments, unless a step names them. */
function argumentsIn(text: string, isHurried: boolean): string {
  const words = wordsOf(text);
  const likest = examples.toSorted((a, b) => sharedWith(words, b.words) - sharedWith(words, a.words))[0];
  const own = [...words].filter((word) => likest?.words.has(word) !== true && !(isHurried && /^[\d.]+$/.test(word)));
  return `(${likest?.name}) ${own.join(' ')}`.trimEnd();
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** A value as JSON, with node paths as texts. */
const shown = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && 'kind' in one && one.kind === 'node-path' && 'path' in one
      ? one.path
      : one,
  );

/** A digest of the desired contents of a file. Scripts are compared word by word elsewhere. */
function contentOf(content: Extract<Step['act'], { readonly kind: 'put' }>['content']): string {
  const text = shown(content);
  return /^\["(?:#!|R=)/.test(text) ? 'a script' : sha256(withoutDigests(text));
}

/** The typed arguments of a step. */
function stepArguments({ act }: Step): string | undefined {
  switch (act.kind) {
    case 'script':
    case 'transaction':
      return shown(act.args);
    case 'job':
      return shown({ key: act.key, ...act.args });
    case 'put':
      return shown({ path: act.path, mode: act.mode.toString(8), content: contentOf(act.content) });
    case 'reboot':
      return shown({ to: act.to });
    default:
      return undefined;
  }
}

/** The commands of an observation, in order. */
const probesIn = (command: string): readonly string[] =>
  command
    .split('\n')
    .filter((line) => line.startsWith('r '))
    .map((line) => line.slice(2));

/** True if this is an observation; a reboot step sends observations without a log entry. */
export const isObservation = ({ command }: SeenExec): boolean =>
  /^T=[0-9a-f]{32}$/m.test(command) && probesIn(command).length > 0;

/** Writes lines, and collects the commands of their observations. */
function lineWriter({ folders }: Recorded) {
  const kinds = new Map<string, string>();
  const observation = ({ command }: SeenExec): string => {
    const probes = probesIn(command);
    const name = `of ${probes.length} probes (${sha256(probes.join('\n'))})`;
    kinds.set(name, probes.map((probe) => `  ${probe}\n`).join(''));
    return name;
  };
  const aboutOf = ({ exec, step }: Told): string => {
    if (isObservation(exec)) return observation(exec);
    return (isRoot(exec) && step ? stepArguments(step) : undefined) ?? argumentsIn(textOf(exec), isHurried(exec));
  };
  return {
    line: (told: Told): string => {
      const { exec } = told;
      const words = [
        exec.name ?? (isObservation(exec) ? 'observe, not in the log,' : 'UNKNOWN'),
        ...(isRoot(exec) ? ['as root'] : []),
        aboutOf(told),
      ];
      return `${steady(words.join(' '), folders)}: ${exitText(exec.exit)}`;
    },
    legend: (): string =>
      [...kinds]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, text]) => `observe ${name}\n${text}`)
        .join(''),
  };
}

/** True if timing decides how often this command is sent. */
export const isTimed = ({ name }: SeenExec): boolean => name === 'keep-lease' || name === 'rank-progress';

/** True if a rebooting Mac happened to end an observation: a run that waits for the Mac observes it repeatedly. */
const isCutLook = (exec: SeenExec): boolean =>
  exec.name === undefined && isObservation(exec) && exec.exit.kind === 'signalled';

const once = (lines: readonly string[]): readonly string[] => lines.filter((line, at) => line !== lines[at - 1]);

/** One run on one node, or the commands before or after it. */
function part(
  all: readonly Told[],
  { steps, outcomes }: Recorded,
  writer: ReturnType<typeof lineWriter>,
): readonly string[] {
  const lease = (name: string) => once(all.filter(({ exec }) => exec.name === name).map((one) => writer.line(one)));
  const ofSteps = steps.flatMap((step) => {
    const lines = once(all.filter((one) => one.step === step).map((one) => writer.line(one)));
    return lines.length === 0
      ? []
      : [`${step.id}, ${outcomes.get(step) ?? 'not run'}`, ...lines.map((line) => `  ${line}`)];
  });
  const isOther = ({ exec, step }: Told): boolean =>
    step === undefined &&
    !isTimed(exec) &&
    !isCutLook(exec) &&
    exec.name !== 'take-lease' &&
    exec.name !== 'release-lease';
  const others = [...new Set(all.filter(isOther).map((one) => writer.line(one)))].sort();
  return [...lease('take-lease'), ...ofSteps, ...others.map((line) => `meanwhile ${line}`), ...lease('release-lease')];
}

/** Splits the commands of one node at the leases. */
function partsOf(all: readonly Told[]): readonly (readonly Told[])[] {
  const taken = all.findIndex(({ exec }) => exec.name === 'take-lease');
  const released = all.findLastIndex(({ exec }) => exec.name === 'release-lease');
  if (taken < 0) return [all];
  const end = released < 0 ? all.length : released + 1;
  return [all.slice(0, taken), all.slice(taken, end), all.slice(end)];
}

/** The transcript of one run. */
export function transcriptOf(title: string, recorded: Recorded): string {
  const { execs, steps } = recorded;
  const told = execs.map((exec): Told => ({ exec, step: stepOf(exec, steps) }));
  const nodes = [...new Set(execs.map(({ node }) => node))].sort();
  const writer = lineWriter(recorded);
  const parts = nodes.map((node) => {
    const own = told.filter(({ exec }) => exec.node === node);
    const lines = partsOf(own).flatMap((one) => part(one, recorded, writer));
    return `${node}\n${lines.map((line) => `  ${line}\n`).join('')}`;
  });
  return withNumberedDigests(`== ${title}\n${parts.join('')}${writer.legend()}`);
}

/** Commands that arrived before a command that they depend on, over all nodes. */
export function outOfOrder({ execs, steps }: Recorded): readonly string[] {
  const [firsts, lasts] = [new Map<string, number>(), new Map<string, number>()];
  for (const [at, exec] of execs.entries()) {
    const id = stepOf(exec, steps)?.id;
    if (id === undefined) continue;
    if (!firsts.has(id)) firsts.set(id, at);
    lasts.set(id, at);
  }
  return steps.flatMap((step) =>
    stepsBefore(step)
      .filter((need) => (lasts.get(need) ?? -1) > (firsts.get(step.id) ?? Number.POSITIVE_INFINITY))
      .map((need) => `${step.id} before ${need}`),
  );
}

/** Steps whose first script differs from the one generated from their arguments. */
export function otherScripts({ execs, steps, placeOf }: Recorded): readonly string[] {
  return steps.flatMap((step) => {
    const body = stepBody(step, placeOf(step.node));
    const first = execs.find((exec) => isRoot(exec) && stepOf(exec, steps) === step);
    return body === undefined || first === undefined || first.input.includes(body) ? [] : [step.id];
  });
}
