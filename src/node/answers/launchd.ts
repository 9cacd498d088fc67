import type { LaunchdService } from '../../model/facts/daemons.ts';
import { given } from '../../model/given.ts';
import { wholeNumber } from './grammar.ts';

/** Whether launchd has loaded a service, by its `launchctl print`; undefined for an answer that nobody can read. */
export function isLoaded(code: string, lines: readonly string[]): boolean | undefined {
  if (code === '0') return parseLaunchctlPrint(lines) === undefined ? undefined : true;
  return code === '113' && lines.some((line) => line.startsWith('Could not find service ')) ? false : undefined;
}

/**
 * What `launchctl enable` or `disable` said last of a service, from the lines of `print-disabled` about it:
 * `"LABEL" => disabled`, or `true` on older macOS; no line at all is no override. Undefined as above.
 */
export function overrideOf(
  label: string,
  code: string,
  lines: readonly string[],
): 'disabled' | 'enabled' | 'none' | undefined {
  const words = lines.map((line) => /^\s*"([^"]+)" => (disabled|enabled|true|false)$/.exec(line));
  const [first, ...more] = words;
  if (code !== '0' || more.length > 0) return undefined;
  if (words.length === 0) return 'none';
  if (first?.[1] !== label) return undefined;
  return first[2] === 'disabled' || first[2] === 'true' ? 'disabled' : 'enabled';
}

/** States as `launchctl print` words them, by whether a process is there. */
const states: Readonly<Record<string, LaunchdService['state']>> = {
  running: 'running',
  // On their way out, but still there.
  SIGTERMed: 'running',
  SIGKILLed: 'running',
  'not running': 'waiting',
  waiting: 'waiting',
  'spawn scheduled': 'waiting',
  spawning: 'waiting',
  xpcproxy: 'waiting',
  exited: 'waiting',
};

/** What is read of a service that launchd knows. */
type LaunchdPrint = Omit<LaunchdService, 'label'>;

/**
 * Reads `launchctl print system/<label>`. Apple declares the form unstable, so only fields at the first depth are
 * read, outside of the blocks in braces (arguments stand there raw, line ends and all):
 *
 *     system/dev.meshwright.keeper = {
 *     	state = running
 *     	pid = 65747
 *     	last exit code = (never exited)
 *
 * A process that a signal ended has `last terminating signal = Killed: 9` in place of an exit code.
 *
 * One depth is a tab, or four blanks as people publish it. `undefined` without its closing brace or without a state
 * that is known.
 */
export function parseLaunchctlPrint(lines: readonly string[]): LaunchdPrint | undefined {
  const [first = '', ...rest] = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  if (!/^\S+ = \{$/.test(first) || rest.at(-1) !== '}') return undefined;
  const fields = fieldsOf(rest.slice(0, -1));
  const state = states[fields?.get('state') ?? ''];
  if (fields === undefined || state === undefined || !Object.hasOwn(states, fields.get('state') ?? ''))
    return undefined;
  const pid = numberAt(fields, 'pid');
  const runs = numberAt(fields, 'runs');
  const code = fields.get('last exit code');
  const signal = fields.get('last terminating signal');
  if (pid === null || runs === null || !isExit(code) || !isSignal(signal)) return undefined;
  const lastExit = code === undefined || code === '(never exited)' ? (signal ?? code) : code;
  return {
    state,
    ...given({ pid, runs, lastExit }),
  };
}

const readKeys: readonly string[] = ['state', 'pid', 'runs', 'last exit code', 'last terminating signal'];

const isExit = (text = '0'): boolean => /^(?:\(never exited\)|-?\d{1,10}(?:: [\w ]+)?)$/.test(text);

const isSignal = (text = 'Killed: 9'): boolean => /^[A-Z][\w /]*: \d{1,2}$/.test(text);

function numberAt(fields: ReadonlyMap<string, string>, key: string): number | undefined | null {
  const text = fields.get(key);
  return text === undefined ? undefined : (wholeNumber(text) ?? null);
}

/** The fields at the first depth; `undefined` when one that is read comes twice or a block does not end. */
function fieldsOf(lines: readonly string[]): ReadonlyMap<string, string> | undefined {
  const fields = new Map<string, string>();
  let isInBlock = false;
  for (const line of lines) {
    const [, text] = /^(?:\t| {4})(?![\t ])(.*)$/.exec(line) ?? [];
    if (isInBlock) isInBlock = text !== '}';
    else if (text?.endsWith(' = {')) isInBlock = true;
    else {
      const [, key = '', value = ''] = /^([a-z][a-z ()]*) = (.*)$/.exec(text ?? '') ?? [];
      if (fields.has(key) && readKeys.includes(key)) return undefined;
      fields.set(key, value);
    }
  }
  return isInBlock ? undefined : fields;
}
