import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Json } from '../../model/json.ts';
import type { Known } from '../../model/known.ts';
import type { Patch } from '../../model/step.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { insideOf } from '../../rack/placement/doors/doors.ts';

/** How many are still inside a placement that is waited for: `2 inside kimi`; undefined for any other wait. */
export function insideText(patch: Patch, now: Known<Json>): string | undefined {
  const placement = insideOf(patch);
  if (placement === undefined || now.kind === 'unknown' || typeof now.value !== 'number') return undefined;
  return `${now.value} inside ${placement}`;
}

/** That somebody is still inside when the time is over; undefined where it was not waited for that, or not seen. */
export function stillInside(patch: Patch, now: Known<Json>): Diagnostic | undefined {
  const told = insideText(patch, now);
  if (told === undefined) return undefined;
  return diagnose('endpoint/still-inside', {
    subject: nodeSubject(patch.node),
    detail: prose`${told} on ${named(patch.node)}.`,
    hint: prose`Wait longer: ${meshwright('drain', insideOf(patch) ?? '', '--deadline', '10m')}. What is done now cuts them off.`,
  });
}
