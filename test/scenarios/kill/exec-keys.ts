import { existsSync, readFileSync } from 'node:fs';
import type { JournalRecord } from '../../../src/apply/journal/journal.ts';
import type { ReceivedExec } from '../../../src/sim/hosts/ssh/sessions.ts';

/** A command that a run sends to a node, with the same name in every run of the same playbook. */
export interface ExecKey {
  readonly key: string;
  /**
   * The number of the plan and the id of the step that sends the command; undefined for leases and for observations
   * between plans.
   */
  readonly step?: string;
}

/** Records of a journal that may still be in use; an incomplete last line is left out. */
export function readJournal(file: string): readonly JournalRecord[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line): JournalRecord => JSON.parse(line));
}

type Intent = Extract<JournalRecord, { readonly phase: 'intent' }>;

/** Steps that started and have not ended: an intent is on disk before the first byte of its step is sent. */
function openIntents(records: readonly JournalRecord[]): readonly Intent[] {
  const open = new Map<string, Intent>();
  for (const record of records) {
    if (record.phase === 'intent') open.set(record.step, record);
    if (record.phase === 'outcome') open.delete(record.step);
  }
  return [...open.values()];
}

const leaseVerbs = [
  ['@taken', 'lease taken'],
  ['@renewed', 'lease renewed'],
  ['@released', 'lease released'],
] as const;

/** Distinguishes commands without a script by the running step and by their contents. */
const commands: readonly (readonly [act: string, mark: RegExp])[] = [
  ['gate', /mktemp/],
  ['reboot', /mktemp/],
  ['ask', /\/usr\/bin\/curl/],
  ['job', /state=%s/],
  ['send', /size %s|sha256 %s/],
];

/**
 * A command belongs to every running step of its kind on its node: gates of one node observe at the same time, and
 * their observations look alike. A gate's requests to its peers belong to no step.
 */
function commandKeys({ node, command }: ReceivedExec, records: readonly JournalRecord[]): readonly ExecKey[] {
  const intents = openIntents(records);
  const marked = commands.filter(([, mark]) => mark.test(command)).map(([act]) => act);
  const open = intents.filter(({ act }) => marked.includes(act));
  const own = open.filter((one) => one.node === node);
  if (own.length > 0) return own.map(({ act, step }) => ({ key: `${act} ${step}`, step }));
  return open.length === 0 && /mktemp/.test(command) ? [{ key: `look at ${node}` }] : [];
}

function keysOf(exec: ReceivedExec, records: readonly JournalRecord[]): readonly ExecKey[] {
  if (exec.input === '') return commandKeys(exec, records);
  const [, lease] = leaseVerbs.find(([word]) => exec.input.includes(word)) ?? [];
  if (lease !== undefined) return [{ key: `${lease} on ${exec.node}` }];
  const [, step] = / step=(\S+) verb=/.exec(exec.input) ?? [];
  if (step === undefined) return commandKeys(exec, records);
  const word = exec.input.includes('"$rb/confirmed"') ? 'confirmation of' : 'script';
  return [{ key: `${word} ${decodeURIComponent(step)}`, step: decodeURIComponent(step) }];
}

/** Steps whose commands differ between repetitions. For all other steps, only the first command counts. */
const isCounted = (key: string): boolean => key.startsWith('send ');

/** A heartbeat is not tied to a plan: in every run, it occurs during a different one. */
export const isHeartbeat = (key: string): boolean => key.startsWith('lease renewed ');

/** A script about a node's lease. */
export const heartbeatOn = (node: string): string => `lease renewed on ${node}`;

/**
 * Names the commands of a run in order. Every key occurs once, since timing decides how often polls repeat.
 *
 * @param journal file of the run, which shows the running steps
 */
export function execKeys(journal: string): (exec: ReceivedExec) => readonly ExecKey[] {
  const counts = new Map<string, number>();
  const named = (found: ExecKey, plan: number): readonly ExecKey[] => {
    const key = isHeartbeat(found.key) ? found.key : `${plan} ${found.key}`;
    const about = found.step === undefined ? {} : { step: `${plan} ${found.step}` };
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (isCounted(found.key)) return [{ key: `${key} (${count})`, ...about }];
    return count === 1 ? [{ key, ...about }] : [];
  };
  return (exec) => {
    const records = readJournal(journal);
    const plan = records.filter(({ phase }) => phase === 'plan').length;
    return keysOf(exec, records).flatMap((found) => named(found, plan));
  };
}
