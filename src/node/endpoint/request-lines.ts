import { pathWord, tool } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** Pattern for log lines with requests: an extended regular expression for awk and JavaScript; absent: none. */
export type RequestPattern = string | undefined;

/**
 * Log lines that HTTP servers write about each request, as an expression like {@link RequestPattern}.
 *
 * @see http.server of Python (mlx_lm.server 0.32.2): `127.0.0.1 - - [28/Nov/2026 12:56:57] "POST /v1/chat/completions
 * HTTP/1.1" 404 -`; uvicorn writes the same words; `log_server_request` of llama.cpp: `done request: POST /v1/models`;
 * ollama issue 6257: `[GIN] 2024/08/08 - 14:07:10 | 200 | … | POST "/api/chat"`; lmstudio-bug-tracker issue 377:
 * `Received request: POST to /v1/chat/completions`
 */
export const accessLines =
  '"[A-Z]+ /[^"]* HTTP/[0-9.]+" [1-5][0-9][0-9]|request: [A-Z]+ (to )?/|^.GIN. [0-9/]+ - [0-9:]+ [|]';

/**
 * The lines that servers write while they answer a request, too. Our own requests cause them, so they are no sign of
 * progress.
 *
 * @see mlx_lm/server.py of mlx-lm 0.32.2, lines 566 to 572 and 1564: `- INFO - Prompt Cache: 0 sequences, 0.00 GB`, `-
 * INFO - - assistant: 1 sequences, 0.00 GB`, `- INFO - Prompt processing progress: 0/9`; llama-swap issue 560, for
 * llama.cpp: `srv  get_availabl: updating prompt cache`, `srv  load:  - looking for better prompt`, `slot launch_slot_:
 * id  1 | task 740049 | processing task`
 */
export const answerLines = `${accessLines}|- INFO - (Prompt Cache: |- [a-z_]+: [0-9]+ sequences, |Prompt processing progress: )|slot +([a-z_]+: id +[0-9]+ [|] task [0-9]|(get_availabl|launch_slot_|process_sing|prompt_clear): )|srv +(params_from_|get_availabl|prompt_save|load|update|update_slots): `;

/** The start of a line that cannot belong to the request on the lines before: a time, an address or a known word. */
const lineStarts =
  '^([[] *)?[0-9]+[-:.][0-9]+[-:.][0-9]|^(Traceback |Fatal Python |libc..abi: |meshwright: |.(jaccl|ring|METAL). )';

/** Removes the lines that contain a request, also from lines that continue those of earlier calls. */
export function requestRemover(pattern: RequestPattern): (lines: readonly string[]) => readonly string[] {
  if (pattern === undefined) return (lines) => lines;
  const [request, start] = [new RegExp(pattern), new RegExp(lineStarts)];
  let isInside = false;
  return (lines) =>
    lines.filter((line) => {
      isInside = request.test(line) || (isInside && !start.test(line));
      return !isInside;
    });
}

/**
 * A command that copies only input lines that match neither pattern.
 * @param request as in {@link requestRemover}
 */
export const requestFilter = (lines: string, request: RequestPattern): string =>
  request === undefined
    ? `P=${quote(lines)} ${pathWord(tool.awk)} '$0 !~ ENVIRON["P"]'`
    : `P=${quote(lines)} Q=${quote(request)} S=${quote(lineStarts)} ${pathWord(tool.awk)} '{
  i = $0 ~ ENVIRON["Q"] || i && $0 !~ ENVIRON["S"]
  if (!i && $0 !~ ENVIRON["P"]) print
}'`;
