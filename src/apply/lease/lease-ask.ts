import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { NonEmpty } from '../../diagnostics/fleet-error.ts';
import { readLeaseAnswer, type SeenLease } from '../../engine/scripts/lease-answer.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { leaseLostExit, mutatingCommand } from '../../node/root-script.ts';
import type { ScriptEnd } from '../../node/script-result.ts';
import { diagnoseExit } from '../../remote/exit-reasons.ts';
import { diagnoseSudo } from '../../remote/keys/sudo-answer.ts';
import type { Session } from '../reach/session.ts';
import type { LeaseHolder } from '../run-report.ts';

const maxBytes = 65_536;

/** How one attempt to take a lease came out. */
export type TakeAnswer =
  | { readonly kind: 'taken'; readonly token: number; readonly bootSession: string }
  | { readonly kind: 'held'; readonly lease: SeenLease }
  /** Nobody can hold it for us: the node is not reached, or root is refused. */
  | { readonly kind: 'failed'; readonly diagnostics: NonEmpty<Diagnostic> };

/** How a renewal or a release came out; `unheard` is neither yes nor no. */
export type KeepAnswer = 'kept' | 'lost' | 'unheard';

type Sent =
  | { readonly kind: 'ended'; readonly end: ScriptEnd }
  | { readonly kind: 'unreached'; readonly diagnostics: NonEmpty<Diagnostic> };

async function send(
  name: string,
  session: Session,
  deadlineMs: number,
  script: (rootPrefix: string) => string,
): Promise<Sent> {
  const answer = await session.ask((rootPrefix) => {
    const text = script(rootPrefix);
    const limits = { name, deadlineMs, maxBytes, stdin: Buffer.from(text) };
    return { command: mutatingCommand(rootPrefix), script: text, ...limits };
  });
  if (answer.kind === 'unreached') return answer;
  const { exit, stdout, stderr } = answer.result;
  const end = { exit, stdout: Buffer.from(stdout).toString('utf8'), stderr: Buffer.from(stderr).toString('utf8') };
  return { kind: 'ended', end };
}

/** Sends a script that takes or steals a lease. */
export async function askForLease(
  session: Session,
  deadlineMs: number,
  script: (rootPrefix: string) => string,
): Promise<TakeAnswer> {
  const sent = await send('take-lease', session, deadlineMs, script);
  if (sent.kind === 'unreached') return { kind: 'failed', diagnostics: sent.diagnostics };
  const answer = readLeaseAnswer(sent.end);
  return answer.kind === 'failed'
    ? { kind: 'failed', diagnostics: [notTaken(session, sent.end, answer.text)] }
    : answer;
}

function notTaken({ node, user }: Session, { exit, stderr }: ScriptEnd, text: string): Diagnostic {
  const known = diagnoseExit(node, exit) ?? diagnoseSudo(node, user, exit, stderr);
  const detail = prose`${labelled(node)}the lease could not be taken: ${escapeText(text)}.`;
  return known ?? diagnose('lease/not-taken', { subject: nodeSubject(node), detail });
}

/** Sends a script that renews or releases a lease. */
export async function keepLease(
  session: Session,
  deadlineMs: number,
  script: (rootPrefix: string) => string,
): Promise<KeepAnswer> {
  const sent = await send('keep-lease', session, deadlineMs, script);
  if (sent.kind === 'unreached' || sent.end.exit.kind !== 'exited') return 'unheard';
  const { code } = sent.end.exit;
  if (code === leaseLostExit) return 'lost';
  return code === 0 ? 'kept' : 'unheard';
}

/** Who holds a lease, in words. */
export function holderOf({ fields }: SeenLease): LeaseHolder {
  const text = (key: string): string => escapeText(fields[key] ?? 'unknown');
  return { run: text('run'), owner: text('owner'), verb: text('verb'), phase: text('phase'), since: text('since') };
}

/** The lease of a node that somebody else holds, as a problem. */
export const leaseHeld = (node: NodeName, { owner, verb, phase, since, run }: LeaseHolder): Diagnostic =>
  diagnose('lease/held', {
    subject: nodeSubject(node),
    detail: prose`${owner} holds the lease of ${named(node)} since ${since}: meshwright ${verb}, at ${phase} (run ${run}).`,
  });
