import { pathWord, tool } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** Which lines of a log hold a request: an extended regular expression for awk and for JavaScript; absent: none. */
export type RequestPattern = string | undefined;

/** Lines of a log without those in which a request stands. */
export function withoutRequests(lines: readonly string[], pattern: RequestPattern): readonly string[] {
  if (pattern === undefined) return lines;
  const request = new RegExp(pattern);
  return lines.filter((line) => !request.test(line));
}

/** The command that hands on those lines of its input in which no request stands. */
export const requestFilter = (pattern: string): string =>
  `P=${quote(pattern)} ${pathWord(tool.awk)} '$0 !~ ENVIRON["P"]'`;
