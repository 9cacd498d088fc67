import { pathWord, tool } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** Pattern for log lines with requests: an extended regular expression for awk and JavaScript; absent: none. */
export type RequestPattern = string | undefined;

/** The lines of a log that contain no request. */
export function withoutRequests(lines: readonly string[], pattern: RequestPattern): readonly string[] {
  if (pattern === undefined) return lines;
  const request = new RegExp(pattern);
  return lines.filter((line) => !request.test(line));
}

/** A command that copies only input lines without requests. */
export const requestFilter = (pattern: string): string =>
  `P=${quote(pattern)} ${pathWord(tool.awk)} '$0 !~ ENVIRON["P"]'`;
