import { exitKeys, type LaunchdService, lastExitOf } from '../../model/facts/daemons.ts';
import { given } from '../../model/given.ts';
import { wholeNumber } from './grammar.ts';

/** Whether launchd has loaded a service, from its `launchctl print`; undefined if the answer is unreadable. */
export function isLoaded(code: string, lines: readonly string[]): boolean | undefined {
  if (code === '0') return parseLaunchctlPrint(lines) === undefined ? undefined : true;
  return code === '113' && lines.some((line) => line.startsWith('Could not find service ')) ? false : undefined;
}

/**
 * The last `launchctl enable` or `disable` of a service, from its lines in `print-disabled`: `"LABEL" => disabled`, or
 * `true` on older macOS. No line means no override. Undefined if the answer is unreadable.
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

/** States in `launchctl print` of a service with a process; a service that is stopping still has one. */
const withProcess: readonly unknown[] = ['running', 'SIGTERMed', 'SIGKILLed'];

const withoutProcess: readonly unknown[] = [
  'not running',
  'waiting',
  'spawn scheduled',
  'spawning',
  'xpcproxy',
  'exited',
  'spawn failed',
];

const stateOf = (word: string | undefined): LaunchdService['state'] | undefined =>
  withProcess.includes(word) ? 'running' : withoutProcess.includes(word) ? 'waiting' : undefined;

/**
 * Parses `launchctl print system/<label>`. Apple declares the format unstable, so only top-level fields are read.
 * Blocks in braces are ignored, because they contain unescaped arguments, including line ends:
 *
 * `system/dev.meshwright.keeper = {`, then lines such as `state = running`, `pid = 65747` and `last exit code = (never
 * exited)`.
 *
 * A process stopped by a signal has `last terminating signal = Killed: 9` instead of an exit code, and one that macOS
 * stopped may have `last exit reason = OS_REASON_CODESIGNING`. Indentation is one tab, or four spaces in published
 * examples. `undefined` without a closing brace or a known state.
 */
export function parseLaunchctlPrint(lines: readonly string[]): Omit<LaunchdService, 'label'> | undefined {
  const [first = '', ...rest] = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  if (!/^\S+ = \{$/.test(first) || rest.at(-1) !== '}') return undefined;
  const fields = fieldsOf(rest.slice(0, -1));
  const state = stateOf(fields?.get('state'));
  if (fields === undefined || state === undefined) return undefined;
  const pid = numberAt(fields, 'pid');
  const runs = numberAt(fields, 'runs');
  const isReadable = isExit(fields.get('last exit code')) && isSignal(fields.get('last terminating signal'));
  if (pid === null || runs === null || !isReadable) return undefined;
  return { state, ...given({ pid, runs, lastExit: lastExitOf(fields) }) };
}

const readKeys: readonly string[] = ['state', 'pid', 'runs', ...exitKeys];

const isExit = (text = '0'): boolean => /^(?:\(never exited\)|-?\d{1,10}(?:: [\w ]+)?)$/.test(text);

const isSignal = (text = 'Killed: 9'): boolean => /^[A-Z][\w /]*: \d{1,2}$/.test(text);

function numberAt(fields: ReadonlyMap<string, string>, key: string): number | undefined | null {
  const text = fields.get(key);
  return text === undefined ? undefined : (wholeNumber(text) ?? null);
}

/** The top-level fields; `undefined` if a relevant one occurs twice or a block is not closed. */
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
