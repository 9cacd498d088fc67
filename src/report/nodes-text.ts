import { sshCodes } from '../diagnostics/codes/codes-ssh.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { NodeSurvey } from '../engine/diagnose/survey.ts';
import type { Unreached } from '../engine/plan/view.ts';
import { everyNodeText } from '../model/node.ts';
import { counted } from './page.ts';

const reasons: ReadonlyMap<string, string> = new Map(
  Object.entries(sshCodes).map(([code, { reason }]) => [code, reason]),
);

/** The reason in an unreached node's row; the summary for codes without a short reason. */
export function reasonText({ failure }: NodeSurvey): string {
  const summary = failure?.summary ?? 'Not reached.';
  const short = failure === undefined ? undefined : reasons.get(failure.code);
  return short ?? escapeText(summary.replace(/\.$/, '').replace(/^The node /, ''));
}

/** The `unreached` field of a document; absent if all nodes were reached. */
export const unreachedField = (unreached: Unreached = {}): { readonly unreached?: Unreached } =>
  Object.keys(unreached).length === 0 ? {} : { unreached };

/** `4 nodes`, or `3 of 4 nodes observed` if some were not reached. */
export function seenText(seen: number, unreached: Unreached = {}): string {
  const lost = Object.keys(unreached).length;
  return lost === 0 ? counted(seen, 'node') : `${seen} of ${counted(seen + lost, 'node')} observed`;
}
/** For longer lists, only the count is shown. */
const listedAtMost = 4;

/** {@link everyNodeText}; `6 nodes` for more than four names that are not consecutive. */
export function nodesText(names: readonly string[]): string {
  const text = everyNodeText(names);
  return names.length > listedAtMost && text.includes(',') ? `${names.length} nodes` : text;
}
