import type { CodeEntry } from './code-entry.ts';
import { codes, type DiagnosticCode } from './codes.ts';

/**
 * Whether this is work for the hands at the rack or at a console (cables, the RDMA switch, a FileVault password), which no
 * program can do. It makes up the work list, and exit code 3 when nothing else is wrong.
 */
export function isHandsWork(code: DiagnosticCode): boolean {
  const entry: CodeEntry = codes[code];
  return entry.hands === true;
}
