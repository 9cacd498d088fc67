import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codes } from '../../../../src/engine/diagnose/rules.ts';
import { type FaultName, faultNames, faults } from '../../../../src/sim/faults/faults.ts';
import { faultCures } from '../../../contract/fault-cures.ts';
import { faultRows } from '../../../contract/fault-rows.ts';

const head = `# What can break, what you see, what meshwright does

Every fault that the simulated Macs know, made from the tests that break a rack by it: over SSH each is found by exactly
these codes on both [hosts](simulated-fleet.md) of the simulated fleet, and ended on both as the last column says; what shows
only when something runs is tried where that column says. After each of them a second \`apply\` has nothing to do.
[errors.md](errors.md) says more about every code. Try one: \`meshwright sim fault cable-swapped studio-4\`.

| fault | what breaks | what you see | what ends it |
|---|---|---|---|
`;

const summaries: Readonly<Record<string, { readonly summary: string }>> = codes;

function seen(fault: FaultName): string {
  const { findings, inSilence = [] } = faultRows[fault];
  const found = [...new Set([...findings, ...inSilence].map((one) => one.split(' ')[1] ?? ''))];
  const words = found.map((code) => `\`${code}\`: ${summaries[code]?.summary ?? 'NO SUCH CODE'}`);
  return words.length === 0 ? 'nothing, as long as nothing is written, restarted or run' : words.join(' ');
}

function ended(fault: FaultName): string {
  const cure = faultCures[fault];
  switch (cure.kind) {
    case 'apply':
      return '`apply`';
    case 'hands':
      return 'hands at the rack, told where and how; `apply` does what follows';
    case 'person':
      return `you: ${cure.what}`;
    case 'verb':
      return `${cure.what} (\`${cure.tried}\`)`;
  }
}

describe('the table of faults in the docs', () => {
  it('says of every fault what the tests hold', async () => {
    const rows = faultNames.map((name) => `| \`${name}\` | ${faults[name].summary} | ${seen(name)} | ${ended(name)} |`);
    await expect(`${head}${rows.join('\n')}\n`).toMatchFileSnapshot('../../../../docs/faults.md');
    expect(rows.filter((row) => row.includes('NO SUCH CODE'))).toEqual([]);
  });

  it('names tests that exist', () => {
    const tried = faultNames.flatMap((name) => {
      const cure = faultCures[name];
      return cure.kind === 'verb' ? [cure.tried] : [];
    });
    expect(tried.filter((file) => !existsSync(new URL(`../../../../${file}`, import.meta.url)))).toEqual([]);
  });
});
