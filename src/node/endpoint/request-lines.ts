import { pathWord, tool } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** Pattern for log lines with requests: an extended regular expression for awk and JavaScript; absent: none. */
export type RequestPattern = string | undefined;

/**
 * Log lines that HTTP servers write about each request, as an expression like {@link RequestPattern}. Our own requests
 * cause them too, so they are no sign of progress.
 *
 * @see http.server of Python (mlx_lm.server 0.32.2): `127.0.0.1 - - [28/Nov/2026 12:56:57] "POST /v1/chat/completions
 * HTTP/1.1" 404 -`; uvicorn writes the same words; `log_server_request` of llama.cpp: `done request: POST /v1/models`
 */
export const accessLines = '"[A-Z]+ /[^"]* HTTP/[0-9.]+" [1-5][0-9][0-9]|request: [A-Z]+ /';

/** The lines of a log that contain no request. */
export function withoutRequests(lines: readonly string[], pattern: RequestPattern): readonly string[] {
  if (pattern === undefined) return lines;
  const request = new RegExp(pattern);
  return lines.filter((line) => !request.test(line));
}

/** A command that copies only input lines without requests. */
export const requestFilter = (pattern: string): string =>
  `P=${quote(pattern)} ${pathWord(tool.awk)} '$0 !~ ENVIRON["P"]'`;
