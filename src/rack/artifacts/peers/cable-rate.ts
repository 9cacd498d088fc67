import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { Facts } from '../../../model/facts/fact-values.ts';
import type { NodeJob } from '../../../model/facts/node-records.ts';
import type { NodeName } from '../../../model/node.ts';
import { firstCableRate, leastCableRate, type TreeId } from '../../../model/node-script.ts';
import { nodeSubject } from '../../../model/subject.ts';
import { diskText } from '../../../model/text/units.ts';
import { bootSessionFact } from '../../boot/fact.ts';
import { readValue } from '../../fact.ts';
import { jobsFact } from '../../records/jobs-fact.ts';

/**
 * The rate at which a Mac will exchange this model over each cable, because it restarted during the exchange before.
 * `launch-job.sh` sets it in the same way. Undefined if there is no limit, or if its jobs or its boot session are unknown.
 */
export function cableRate(facts: Facts, { kind, name, digest }: TreeId): number | undefined {
  const session = readValue(facts, bootSessionFact)?.uuid;
  const tree = `${kind} ${name} ${shortDigest(digest)}`;
  const jobs = (readValue(facts, jobsFact) ?? []).filter(({ fields }) => fields['tree'] === tree);
  if (session === undefined) return undefined;
  const rates = jobs.flatMap(({ fields }) => rateAfter(fields, session));
  return rates.length === 0 ? undefined : Math.min(...rates);
}

function rateAfter({ exchanging = '', state }: NodeJob['fields'], session: string): readonly number[] {
  const [, text, at] = /^(\d{1,11}) (\S+)$/.exec(exchanging) ?? [];
  if (text === undefined) return [];
  const rate = Number(text);
  const isRestarted = state === 'gone' && at !== 'stopped' && at !== session;
  if (!isRestarted) return rate === 0 ? [] : [rate];
  return [rate === 0 ? firstCableRate : Math.max(leastCableRate, Math.floor(rate / 2))];
}

export const slowedExchange = (node: NodeName, model: string, rate: number): Diagnostic =>
  diagnose('model/exchange-slowed', {
    subject: nodeSubject(node),
    detail: `It restarted while it exchanged ${model} with other Macs. Until it has the model, each of its cables carries at most ${diskText(rate)}/s of it in each direction.`,
  });
