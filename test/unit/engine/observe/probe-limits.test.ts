import { expect, it } from 'vitest';
import { allProbes } from '../../../../src/engine/observe/facts.ts';
import type { Word } from '../../../../src/model/probe.ts';
import { asServiceRecord, loadFactCases } from './fact-cases.ts';

it('the probes are those of golden/probes.txt', async () => {
  // Of a script, the tests of scripts check the rest.
  const word = (one: Word) => (typeof one === 'string' ? one.split('\n').slice(0, 2).join(' ').slice(0, 80) : one.path);
  const lines = allProbes().map(({ name, ask, deadlineMs, maxBytes }) =>
    [`${name}: ${deadlineMs} ms, ${maxBytes} bytes:`, ...ask.map(word)].join(' '),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/probes.txt');
});

/** The bytes of each probe's largest recorded output; the limit applies to stdout and stderr separately. */
function largestOutputs(): ReadonlyMap<string, number> {
  const largest = new Map<string, number>();
  for (const { printed, label } of loadFactCases()) {
    for (const [at, [probe, one]] of [...printed].entries()) {
      const { stdout, stderr } = label !== undefined && at === 0 ? asServiceRecord(label, one) : one;
      const bytes = Math.max(...[stdout, stderr].map((text) => Buffer.byteLength(text)));
      largest.set(probe, Math.max(bytes, largest.get(probe) ?? 0));
    }
  }
  return largest;
}

it("every probe's byte limit is at least four times its largest published output", () => {
  const largest = largestOutputs();
  const all = allProbes();
  expect(all.filter(({ name }) => !largest.has(name))).toEqual([]);
  expect(all.filter(({ name, maxBytes }) => maxBytes < 4 * (largest.get(name) ?? 0))).toEqual([]);
});
