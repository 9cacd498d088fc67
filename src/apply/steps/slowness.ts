import { layoutOn } from '../../desired/fallback.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { driverOf } from '../../drivers/registry.ts';
import { placementSubject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import { slowWords } from '../../rack/placement/state/slow-words.ts';
import { observeSessions } from '../reach/observe.ts';
import type { StepContext, StepOf } from './context.ts';

/** How a mesh was measured to be too slow: a sentence, and what to do where that is not what the code says. */
export interface Slowness {
  readonly measured: string;
  readonly hint?: Prose;
}

/** Says that a mesh is too slow, with what of its network can be seen to be the reason. */
export async function slownessOf(
  { node, peers, act: { placement: name } }: StepOf<'prove'>,
  context: StepContext,
  { measured, hint }: Slowness,
): Promise<Diagnostic> {
  const { desired, lookMs, newToken } = context;
  const own = desired.placements.find((one) => one.name === name);
  const placement = own === undefined ? undefined : layoutOn(own, [node, ...peers]);
  const runtime = desired.runtimes.find((one) => one.name === placement?.runtime);
  const fields = { subject: placementSubject(name), ...(hint === undefined ? {} : { hint }) };
  if (placement === undefined || runtime === undefined) {
    return diagnose('mesh/too-slow', { ...fields, detail: measured });
  }
  const sessions = placement.nodes.map((node) => context.session(node));
  const { nodes } = await observeSessions(sessions, { deadlineMs: lookMs, newToken, isQuiet: true });
  const why = slowWords(placement, desired, nodes, driverOf(runtime));
  const known = why.length === 0 ? ['Nothing that can be seen of its network is the reason.'] : why;
  return diagnose('mesh/too-slow', { ...fields, detail: [measured, ...known].join(' ') });
}
