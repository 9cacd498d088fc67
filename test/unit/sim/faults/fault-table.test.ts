import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ExampleDriver, exampleDrivers } from '../../../../src/cli/sim/sim-example.ts';
import { codes } from '../../../../src/engine/diagnose/rules.ts';
import { type FaultName, faultNames, faults } from '../../../../src/sim/faults/faults.ts';
import { faultCures } from '../../../contract/fault-cures.ts';
import { recordedEffect } from '../../../contract/fault-effects.ts';
import { faultRows } from '../../../contract/fault-rows.ts';

const head = `# What can break, what you see, what meshwright does

All faults of a simulated Mac, generated from their tests. On both [simulator hosts](simulated-fleet.md), each test injects
the fault, checks over SSH that exactly these codes appear, and repairs the fault as the last column says. If a fault shows
only while something runs, that column names the test. After the repair, a second \`apply\` has nothing to do.

[errors.md](errors.md) explains every code. Try one: \`meshwright sim fault cable-swapped studio-4\`.
[The second table](#what-a-serving-mesh-shows) has what each driver's mesh shows.

| fault | what breaks | what you see | repair |
|---|---|---|---|
`;

const effectsHead = `
## What a serving mesh shows

Recorded by \`test/cli/blind-follower.slow.test.ts\`: two Macs serve a placement, over RDMA with exo, mlx and llama.cpp, and
over TCP with a command. After each fault, the test asks the placement, and reads \`status\` and \`doctor\` within a minute.
Then it types the first command that \`doctor\` names, again and again, until the placement serves or only a manual step
is left.

| fault | driver | \`ask\` | \`status\` | \`doctor\` | commands, and the end |
|---|---|---|---|---|---|
`;

const summaries: Readonly<Record<string, { readonly summary: string }>> = codes;

/** Codes about values that the keeper sets again at every boot. The Macs in the fault tests have no keeper. */
const kept = ['memory/wired-limit'];

function seen(fault: FaultName): string {
  const { findings, inSilence = [] } = faultRows[fault];
  const found = [...new Set([...findings, ...inSilence].map((one) => one.split(' ')[1] ?? ''))];
  const words = (code: string): string => `\`${code}\`: ${summaries[code]?.summary ?? 'NO SUCH CODE'}`;
  const shown = [
    ...found.filter((code) => !kept.includes(code)).map(words),
    ...found.filter((code) => kept.includes(code)).map((code) => `Only without the keeper: ${words(code)}`),
  ];
  return shown.length === 0 ? 'nothing, until something is written, rebooted or run' : shown.join(' ');
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

/** The drivers that give no token under a fault. Those over TCP do not need a GID; exo and mlx keep their queue pairs. */
const tokenless: Partial<Readonly<Record<FaultName, readonly ExampleDriver[]>>> = {
  'cable-demoted': ['exo', 'mlx', 'llamacpp'],
  'cable-missing': exampleDrivers,
  crash: exampleDrivers,
  'dhcp-reset': ['llamacpp', 'command'],
  'falls-back': [],
  'idle-dead-port': exampleDrivers,
  'power-cut': exampleDrivers,
  'rank-killed': exampleDrivers,
  'rank-stopped': exampleDrivers,
  'rdma-hang': exampleDrivers,
  'swap-full': [],
  'tcp-load-panic': ['command'],
};

/** One row for all drivers with the same effect. */
function effectRows(fault: FaultName): readonly string[] {
  const drivers = new Map<string, ExampleDriver[]>();
  for (const driver of exampleDrivers) {
    const effect = recordedEffect(fault, driver);
    if (effect === undefined) continue;
    const codesOf = effect.doctor.map((code) => `\`${code}\``).join(' ') || 'nothing';
    const typed = [...effect.typed.map((words) => `\`${words}\``), effect.end].join(', ');
    const shown = `${effect.ask} | ${effect.status} | ${codesOf} | ${typed}`;
    drivers.set(shown, [...(drivers.get(shown) ?? []), driver]);
  }
  return [...drivers].map(([shown, names]) => {
    const named = names.length === exampleDrivers.length ? 'every driver' : names.join(', ');
    return `| \`${fault}\` | ${named} | ${shown} |`;
  });
}

describe('docs/faults.md', () => {
  it("matches every fault's tests", async () => {
    const rows = faultNames.map((name) => `| \`${name}\` | ${faults[name].summary} | ${seen(name)} | ${ended(name)} |`);
    const effects = faultNames.flatMap(effectRows);
    const page = `${head}${rows.join('\n')}\n${effectsHead}${effects.join('\n')}\n`;
    await expect(page).toMatchFileSnapshot('../../../../docs/faults.md');
    expect(rows.filter((row) => row.includes('NO SUCH CODE'))).toEqual([]);
  });

  it("shows every fault's effect with every driver", () => {
    const all = faultNames.flatMap((fault) => exampleDrivers.map((driver) => ({ fault, driver })));
    expect(all.filter(({ fault, driver }) => recordedEffect(fault, driver) === undefined)).toEqual([]);
  });

  it('shows that a mesh returns no tokens if a cable, rank or Mac that it needs has a fault', () => {
    const shown = Object.entries(tokenless).map(([name, drivers]) => [
      name,
      exampleDrivers.filter((driver) => recordedEffect(name as FaultName, driver)?.ask === 'no answer'),
      drivers,
    ]);
    expect(shown.filter(([, seen, expected]) => String(seen) !== String(expected))).toEqual([]);
  });

  it('names only existing tests', () => {
    const tried = faultNames.flatMap((name) => {
      const cure = faultCures[name];
      return cure.kind === 'verb' ? [cure.tried] : [];
    });
    expect(tried.filter((file) => !existsSync(new URL(`../../../../${file}`, import.meta.url)))).toEqual([]);
  });
});
