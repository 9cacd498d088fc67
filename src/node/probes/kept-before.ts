/** The records of the probe `kept-records` that are about the node as it was before, and as it will be without us. */
import type { Baseline, BaselineRecord, StoppedDaemon, Traces } from '../../model/facts/node-records.ts';
import { keyOfBaselineHead, labelOfForeignHead, type NodeRecord, readFields } from '../answers/records.ts';

/** What these records say, and the records that are about something else. */
export interface KeptBefore {
  readonly baseline: Baseline;
  readonly traces: Traces;
  readonly others: readonly NodeRecord[];
}

const noTraces: Traces = { hasFolder: false, trees: 'none', hasSudoers: false, hasKey: false };

const isTreesWord = (word: string): word is Traces['trees'] => ['none', 'theirs', 'models', 'some'].includes(word);

function tracesOf(lines: readonly string[]): Traces | undefined {
  const fields = readFields(lines);
  const { trees = 'none' } = fields ?? {};
  if (fields === undefined || !isTreesWord(trees)) return undefined;
  const has = (key: string): boolean => fields[key] === 'yes';
  return { hasFolder: has('folder'), trees, hasSudoers: has('sudoers'), hasKey: has('key') };
}

/** Takes them out of all records; undefined when one of them cannot be read or comes twice. */
export function readKeptBefore(records: readonly NodeRecord[]): KeptBefore | undefined {
  const values: BaselineRecord[] = [];
  const daemons: StoppedDaemon[] = [];
  const others: NodeRecord[] = [];
  const traces: (Traces | undefined)[] = [];
  for (const record of records) {
    const { head, lines } = record;
    const key = keyOfBaselineHead(head);
    const label = labelOfForeignHead(head);
    if (key !== undefined) values.push(lines.length === 0 ? { key } : { key, text: lines.join('\n') });
    else if (label !== undefined)
      daemons.push({ label, wasLoaded: lines.includes('was=loaded'), isMoved: lines.includes('plist=moved') });
    else if (head === 'traces') traces.push(tracesOf(lines));
    else others.push(record);
  }
  const names = [...values.map(({ key }) => key), ...daemons.map(({ label }) => label)];
  if (traces.length > 1 || traces.includes(undefined) || new Set(names).size < names.length) return undefined;
  return { baseline: { values, daemons }, traces: traces[0] ?? noTraces, others };
}
