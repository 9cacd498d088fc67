import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { seenProperties } from '../../engine/plan/properties.ts';
import { canonicalJson } from '../../model/digest.ts';
import type { Json } from '../../model/json.ts';
import type { Known } from '../../model/known.ts';
import type { Patch } from '../../model/step.ts';
import { nodeSubject, type Subject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { propertyKey } from '../../rack/property-key.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../pause.ts';
import { observeSessions } from '../reach/observe.ts';
import type { Session } from '../reach/session.ts';
import { failed, interrupted, type StepContext, type StepOf } from './context.ts';
import { insideText, stillInside } from './drain-words.ts';
import { startPatience } from './start-patience.ts';

type Seen = ReadonlyMap<string, Known<Json>>;

const seenAt = (seen: Seen, patch: Patch): Known<Json> =>
  seen.get(propertyKey(patch)) ?? {
    kind: 'unknown',
    reason: 'not-asked',
    detail: 'Nothing on the node has this name.',
  };

function isSeen(seen: Seen, patch: Patch): boolean {
  const now = seenAt(seen, patch);
  return now.kind === 'known' && canonicalJson(now.value) === canonicalJson(patch.value);
}

/**
 * Observes its nodes afresh until all that it expects is seen at once. A value that it is told to abort at, a lost node
 * or its deadline end it, and the difference is a diagnostic with both values. No endpoint is asked: one may open before
 * all ranks are there, and would keep every look waiting.
 */
export async function runGate(step: StepOf<'gate'>, context: StepContext): Promise<StepResult> {
  const { expect, aborts } = step.act;
  const nodes = [...new Set([step.node, ...step.peers, ...[...expect, ...aborts].map(({ node }) => node)])];
  const sessions = nodes.map((node) => context.session(node));
  const patience = startPatience(step, context);
  while (!context.signal.aborted) {
    const seen = await look(sessions, context);
    const missing = expect.filter((patch) => !isSeen(seen, patch));
    if (missing.length === 0) return { outcome: 'unchanged', diagnostics: [] };
    const hit = aborts.find((patch) => isSeen(seen, patch));
    if (hit) return failed(hopeless(hit, missing, seen));
    const isLost = sessions.some((session) => session.isLost());
    if (isLost || !patience.isLeft()) return failed(...missing.map((patch) => disagreement(patch, seen)));
    context.progress({ text: waitText(missing, seen) });
    await patience.look();
    await pause(context.timing.gatePollMs, context.signal);
  }
  return interrupted;
}

async function look(sessions: readonly Session[], { desired, lookMs, newToken }: StepContext): Promise<Seen> {
  return seenProperties(desired, await observeSessions(sessions, { deadlineMs: lookMs, newToken, isQuiet: true }));
}

const shown = (seen: Known<Json>): string =>
  seen.kind === 'known' ? canonicalJson(seen.value) : `unknown (${seen.reason}: ${seen.detail})`;

const waitText = ([first, ...others]: readonly Patch[], seen: Seen): string => {
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const value = seenAt(seen, first);
  return `${insideText(first, value) ?? `${first.address} on ${first.node} is ${shown(value)}`}${more}`;
};

const fields = (patch: Patch, seen: Seen): { readonly subject: Subject; readonly detail: string } => ({
  subject: nodeSubject(patch.node),
  detail: `${patch.address} on ${patch.node}: expected ${canonicalJson(patch.value)}, seen ${shown(seenAt(seen, patch))}.`,
});

function disagreement(patch: Patch, seen: Seen): Diagnostic {
  const inside = stillInside(patch, seenAt(seen, patch));
  if (inside !== undefined) return inside;
  const isKnown = seenAt(seen, patch).kind === 'known';
  const code = isKnown ? 'gate/not-reached' : 'gate/not-seen';
  return diagnose(code, fields(patch, seen));
}

/** The value that cannot become the expected one any more, with what was waited for. */
function hopeless(hit: Patch, missing: readonly Patch[], seen: Seen): Diagnostic {
  return diagnose('gate/aborted', {
    subject: nodeSubject(hit.node),
    detail: prose`${hit.address} on ${named(hit.node)} is ${shown(seenAt(seen, hit))}.`,
    related: missing.map((patch) => diagnose('gate/not-reached', fields(patch, seen))),
  });
}
