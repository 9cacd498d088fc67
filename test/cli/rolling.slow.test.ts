import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { first, second } from '../scenarios/converge-file.ts';
import { json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { twoUnits } from './two-units.ts';

const { place } = pairPlace(twoUnits());
const run = (...words: string[]): Promise<Ran> => meshwright(place, [...words, '--sim']);
const report = (ran: Ran): ReportDocument => {
  const document = json(ran);
  expect(schemaCheck('report')(document)).toEqual([]);
  return document as ReportDocument;
};
const codesIn = ({ diagnostics }: ReportDocument): readonly string[] => diagnostics.map(({ code }) => code);
const flat = (text: string): string => text.replace(/\s+/g, ' ');

/** The positions of the first and last step about each placement: `left` must end before `right` begins. */
function spans({ steps }: ReportDocument) {
  const at = (name: string) => steps.flatMap(({ id }, index) => (id.includes(`/placement/${name}/`) ? [index] : []));
  return { left: at('left'), right: at('right') };
}

const stops = ({ steps }: ReportDocument): readonly string[] =>
  steps.flatMap(({ id }) => (id.endsWith('/stop') ? [id] : []));

beforeAll(async () => {
  expect((await run('apply', '--yes')).code).toBe(0);
  place.write(
    'canary.yaml',
    `playbook: 1
plays:
  - nodes: all
    serial: unit
    bake: 1s
    tasks:
      - restart: {}
    rescue:
      - notify: { command: ["false", "{nodes} failed"] }
`,
  );
});

describe('a rolling playbook', () => {
  it('is shown batch by batch with --check, and changes nothing', async () => {
    const ran = await run('run', 'rolling-reboot', '--all', '--check');
    expect(ran.code).toBe(2);
    const text = flat(ran.stdout);
    expect(text).toContain(`Batch 1 of 2: ${first} (left) reboot`);
    expect(text).toContain(`Batch 2 of 2: ${second} (right) reboot`);
    expect(text).toMatch(/Effects of the whole playbook: interrupts left, right; restarts studio-1,4\./);
    expect(text).toContain('Checked only: nothing was changed. To run it: meshwright run rolling-reboot --all --sim');
    const document = report(await run('run', 'rolling-reboot', '--all', '--check', '--json'));
    expect(document).toMatchObject({ exit: 2, steps: [], batches: [{ nodes: [first] }, { nodes: [second] }] });
    expect((await run('status')).code).toBe(0);
  });

  it('asks for consent to the effects of all batches before the first one', async () => {
    const ran = await run('run', 'rolling-restart', '--all', '--yes');
    expect(ran.code).toBe(5);
    expect(flat(ran.stderr)).toContain('The plan interrupts left, right. Nothing was changed.');
    expect((await run('run', 'rolling-restart', '--all', '--allow', 'interrupt')).code).toBe(5);
    place.write(
      'rescued.yaml',
      'playbook: 1\nplays: [{ nodes: all, serial: unit, tasks: [restart: {}], rescue: [reboot: {}, start: {}] }]\n',
    );
    const rescued = await run('run', 'rescued.yaml', '--yes', '--allow', 'interrupt');
    expect([rescued.code, flat(rescued.stderr)]).toEqual([
      5,
      expect.stringContaining('The plan restarts studio-1,4. Nothing was changed.'),
    ]);
    expect(flat(rescued.stdout)).toContain(`rescue reboot: interrupts left; restarts ${first} rescue start:`);
  });

  it('restarts one placement after another', async () => {
    const document = report(await run('run', 'rolling-restart', '--all', '--yes', '--allow', 'interrupt', '--json'));
    expect([document.exit, codesIn(document)]).toEqual([0, []]);
    const { left, right } = spans(document);
    expect(stops(document)).toEqual([`${first}/placement/left/stop`, `${second}/placement/right/stop`]);
    expect(Math.max(...left)).toBeLessThan(Math.min(...right));
  });

  it('reboots one unit after another, and both serve at the end', async () => {
    const ran = await run('run', 'rolling-reboot', '--all', '--yes', '--allow', 'interrupt,reboot', '--json');
    const document = report(ran);
    expect([document.exit, codesIn(document)]).toEqual([0, []]);
    const { left, right } = spans(document);
    expect(Math.max(...left)).toBeLessThan(Math.min(...right));
    expect(document.steps.filter(({ act }) => act === 'reboot').map(({ node }) => node)).toEqual([first, second]);
    expect((await run('status')).code).toBe(0);
  });

  it('does not begin outside its windows, with a blocker, or with uncounted requests', async () => {
    const write = (condition: string) =>
      place.write(
        'never.yaml',
        `playbook: 1\nplays:\n  - nodes: all\n    serial: unit\n    ${condition}\n    tasks: [restart: {}]\n`,
      );
    const refused = async (condition: string) => {
      write(condition);
      const document = report(await run('run', 'never.yaml', '--yes', '--allow', 'interrupt', '--json'));
      return [document.exit, codesIn(document), stops(document)];
    };
    const inThreeDays = new Date(Date.now() + 3 * 86_400_000).toUTCString().slice(0, 3).toLowerCase();
    const later = `windows: [{ days: [${inThreeDays}], from: "00:00", to: "24:00", zone: UTC }]`;
    expect(await refused(later)).toEqual([5, ['task/outside-window'], []]);
    expect(await refused('blockers: [{ file: /etc }]')).toEqual([5, ['task/blocked'], []]);
    expect(await refused('blockers: [{ command: ["false"] }]')).toEqual([5, ['task/blocked'], []]);
    expect(await refused('blockers: [{ requests: 0 }]')).toEqual([5, ['task/blocked'], []]);
  });

  it('says the most that a recovery may do, since no plan can show it', async () => {
    const mostOf = async (...words: readonly string[]): Promise<string> =>
      flat((await run('run', 'nightly', '--all', '--check', ...words)).stdout).replace(
        /.*?(recover .*) Checked only.*/,
        '$1',
      );
    expect(await mostOf()).toMatch(
      /^recover brings back what does not serve of left and right; at most interrupts left, right .* At most, recover changes network settings on studio-1,4 and interrupts left, right; it reboots only with --allow reboot\. Nothing is rebooted, switched off or deleted\.$/,
    );
    expect(await mostOf('--allow', 'reboot')).toMatch(
      /; at most restarts studio-1,4 .* interrupts left, right and restarts studio-1,4\. Nothing is switched off or deleted\.$/,
    );
    const [batch] = report(await run('run', 'nightly', '--all', '--check', '--json')).batches ?? [];
    expect(batch?.tasks.map(({ possible }) => possible.map(({ kind }) => kind))).toEqual([
      ['network', 'interrupt'],
      [],
      [],
    ]);
  });

  it('checks everything at night, and measures what serves', async () => {
    const ran = await run('run', 'nightly', '--all', '--yes');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/tokens\/s/);
  });

  it('ends before it stops anything if a placement hangs, and may recover it first', async () => {
    expect((await run('sim', 'fault', 'rank-stopped', second)).code).toBe(0);
    const hung = report(await run('run', 'rolling-restart', second, '--yes', '--allow', 'interrupt', '--json'));
    expect([hung.exit, codesIn(hung), stops(hung)]).toEqual([5, ['task/not-drained'], []]);
    place.write(
      'cure.yaml',
      'playbook: 1\nplays:\n  - { nodes: all, serial: unit, tasks: [recover: {}, wait: { for: serving, deadline: 5m }] }\n',
    );
    const cured = await run('run', 'cure.yaml', '--yes', '--allow', 'interrupt');
    expect(cured.code).toBe(0);
    expect((await run('status')).code).toBe(0);
  });

  it('stops at a canary that fails, and leaves the other unit alone', async () => {
    expect((await run('sim', 'fault', 'restart-storm', first)).code).toBe(0);
    const document = report(await run('run', 'canary.yaml', '--yes', '--allow', 'interrupt', '--json'));
    expect(document.exit).toBe(1);
    expect(stops(document)).not.toContain(`${second}/placement/right/stop`);
  });
});
