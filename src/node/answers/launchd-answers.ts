import { parseLaunchctlPrint } from './launchctl-print.ts';

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
