import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codes } from '../../../../src/engine/diagnose/rules.ts';
import { type FaultName, faultNames, faults } from '../../../../src/sim/faults/faults.ts';
import { faultCures } from '../../../contract/fault-cures.ts';
import { faultRows } from '../../../contract/fault-rows.ts';

const head = `# What can break, what you see, what meshwright does

All faults of a simulated Mac, generated from their tests. On both [simulator hosts](simulated-fleet.md), each test injects
the fault, checks over SSH that exactly these codes appear, and repairs the fault as the last column says. If a fault shows
only while something runs, that column names the test. After the repair, a second \`apply\` has nothing to do.

[errors.md](errors.md) explains every code. Try one: \`meshwright sim fault cable-swapped studio-4\`.

| fault | what breaks | what you see | repair |
|---|---|---|---|
`;

const summaries: Readonly<Record<string, { readonly summary: string }>> = codes;

function seen(fault: FaultName): string {
  const { findings, inSilence = [] } = faultRows[fault];
  const found = [...new Set([...findings, ...inSilence].map((one) => one.split(' ')[1] ?? ''))];
  const words = found.map((code) => `\`${code}\`: ${summaries[code]?.summary ?? 'NO SUCH CODE'}`);
  return words.length === 0 ? 'nothing, until something is written, rebooted or run' : words.join(' ');
}

function ended(fault: FaultName): string {
  const cure = faultCures[fault];
  switch (cure.kind) {
    case 'apply':
      return '`apply`';
    case 'hands':
      return 'a manual step that meshwright describes; `apply` does the rest';
    case 'person':
      return `you: ${cure.what}`;
    case 'verb':
      return `${cure.what} (\`${cure.tried}\`)`;
  }
}

describe('docs/faults.md', () => {
  it("matches every fault's tests", async () => {
    const rows = faultNames.map((name) => `| \`${name}\` | ${faults[name].summary} | ${seen(name)} | ${ended(name)} |`);
    await expect(`${head}${rows.join('\n')}\n`).toMatchFileSnapshot('../../../../docs/faults.md');
    expect(rows.filter((row) => row.includes('NO SUCH CODE'))).toEqual([]);
  });

  it('names only existing tests', () => {
    const tried = faultNames.flatMap((name) => {
      const cure = faultCures[name];
      return cure.kind === 'verb' ? [cure.tried] : [];
    });
    expect(tried.filter((file) => !existsSync(new URL(`../../../../${file}`, import.meta.url)))).toEqual([]);
  });
});
