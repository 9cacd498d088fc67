import { below, pathWord, place, rootLine, shellCommand, tool } from './paths/node-paths.ts';
import type { Fence } from './root-script.ts';

/** What a mutating script is for, kept in the history of the node. */
export interface ScriptNote {
  readonly step: string;
  readonly verb: string;
  /** `user@host` of the controller. */
  readonly by: string;
  /** Hash of the settled file. */
  readonly config: string;
}

const results = ['changed', 'unchanged', 'failed', 'rolled-back', 'partly-rolled-back'] as const;

/** How a script ended, or what became of a change that was taken back. */
export type HistoryResult = (typeof results)[number];

/** One line of the history of a node. */
export interface HistoryEntry extends ScriptNote {
  /** By the node's own clock. */
  readonly atEpochSeconds: number;
  readonly run: string;
  readonly token: number;
  /** The last two are of the node itself, for a change of its network that nobody confirmed. */
  readonly result: HistoryResult;
}

/** One word: what is no plain character is written as `%XX`. */
const word = (text: string): string => encodeURIComponent(text).replaceAll(/[!'()*]/g, percent);
const percent = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;

/** The words of a line of the history that are known before the script runs. */
export const historyWords = ({ step, verb, by, config }: ScriptNote, { run, token }: Fence): string =>
  [
    `run=${word(run)}`,
    `token=${token}`,
    `step=${word(step)}`,
    `verb=${word(verb)}`,
    `by=${word(by)}`,
    `config=${word(config)}`,
  ].join(' ');

/** The command that prints the last lines of the history of a node, as the ssh user; nothing where there is none. */
export const historyCommand = (rootPrefix: string, maxLines: number): string =>
  shellCommand(`${rootLine(rootPrefix)}
f=${pathWord(below(place.log, 'history'))}
[ ! -e "$f" ] || exec ${pathWord(tool.tail)} -n ${maxLines} "$f"`);

/** The entries of a history, oldest first. Lines that cannot be read are left out: a full disk may have cut one. */
export const parseHistory = (text: string): readonly HistoryEntry[] =>
  text.split('\n').flatMap((line) => {
    const entry = entryOf(line);
    return entry === undefined ? [] : [entry];
  });

function entryOf(line: string): HistoryEntry | undefined {
  const form =
    /^at=(\d{1,12}) run=(\S+) token=(\d{1,15}) step=(\S*) verb=(\S*) by=(\S*) config=(\S*) result=([a-z-]+)$/;
  const [, at = '', run = '', token = '', step = '', verb = '', by = '', config = '', said] = form.exec(line) ?? [];
  const result = results.find((one) => one === said);
  if (result === undefined) return undefined;
  try {
    const texts = { run: plain(run), step: plain(step), verb: plain(verb), by: plain(by), config: plain(config) };
    return { atEpochSeconds: Number(at), token: Number(token), result, ...texts };
  } catch {
    return undefined;
  }
}

const plain = (text: string): string => decodeURIComponent(text);
