import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { plainText, proseText, withCommands } from '../../../../src/diagnostics/prose-text.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { withoutVainCommands } from '../../../../src/engine/plan/vain-commands.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../../src/model/digest.ts';
import { type NodeName, nodeName } from '../../../../src/model/node.ts';
import { placementSubject } from '../../../../src/model/subject.ts';
import { commandVerbs, meshwright } from '../../../../src/model/text/command.ts';
import type { FleetObservation } from '../../../../src/rack/examination.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
const trees: FactValues['trees'] = [
  { kind: 'runtime', name: 'reference', digest: shortDigest(digestOf('archive')), isCurrent: true, state: 'intact' },
  { kind: 'model', name: 'tiny', digest: shortDigest(digestOf('model')), isCurrent: false, state: 'intact' },
];
const base = meshFleet({ placement: { transport: 'rdma' } });
const fleet: DesiredFleet = { ...base, system: { ...base.system, wiredLimit: { kind: 'bytes', bytes: 2 ** 38 } } };
const answers = { token: { kind: 'answered', text: 'Hi' } } as const;
const serving = threeRanks(['joined', 'running', 'running'], answers);
const hung = threeRanks(['joined', 'running', 'running'], { token: { kind: 'silent', reason: 'no answer' } });

const nodes = (...names: readonly string[]): readonly NodeName[] => names.map(nodeName);
const restart: Goal = { kind: 'stop', placements: ['kimi'], back: ['kimi'] };
const reboot = (...names: readonly string[]): Goal => ({ kind: 'reboot', nodes: nodes(...names), back: ['kimi'] });

type Values = Partial<FactValues>;

function observed(
  values: Values,
  rack: MeshRack['ranks'] = serving,
  unknown: NonNullable<MeshRack['unknown']> = {},
): FleetObservation {
  const all = four.map((name) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    const limit = { 'wired-limit': { megabytes: 2 ** 18 } };
    return [name, { ...facts, trees, ...limit, ...(name === 'studio-2' ? values : {}) }];
  });
  return observeMesh(fleet, { ranks: rack, values: Object.fromEntries(all), unknown });
}

const plan = (goal: Goal, ...seen: Parameters<typeof observed>): Plan =>
  makePlan({ goal, desired: fleet, observation: observed(...seen), targets: nodes(...four) });

/** The placements and Macs that a plan stops or restarts. */
const touched = ({ steps }: Plan): readonly string[] =>
  steps.filter(({ act }) => act.kind !== 'hands' && act.kind !== 'gate').map(({ id }) => id);

const spent: Values = { 'rdma-starts': { startedIn: 'BOOT-studio-2', starts: 99, last: [] } };
const marked: Values = { 'reboot-mark': [{ placement: 'other', why: 'kernel' }] };
const off: Values = { 'rdma-state': 'disabled', 'rdma-devices': [], 'rdma-ports': [] };
const held: Values = { hold: [{ reason: 'fan', by: 'ana', since: '2026-11-21', isOver: false }] };

describe('a restart of a serving placement', () => {
  it('stops the placement if nothing blocks its start', () => {
    const made = plan(restart, {});
    expect(made.blockers).toEqual([]);
    expect(touched(made)).not.toEqual([]);
  });

  it.each<[string, string, Values]>([
    ["a node's launch budget is spent", 'mesh/launch-budget', spent],
    ['a node is marked for a restart', 'mesh/reboot-mark', marked],
    ['RDMA is off on a node', 'rdma/disabled', off],
    ['a node is on hold', 'hold/held', held],
    ['a node lacks the model', 'plan/not-converged', { trees: trees.slice(0, 1) }],
    ['a node lacks the runtime', 'plan/not-converged', { trees: trees.slice(1) }],
    ["a node's wired limit differs", 'plan/not-converged', { 'wired-limit': { megabytes: 1 } }],
  ])('stops nothing while %s', (_, code, values) => {
    const made = plan(restart, values);
    expect(touched(made)).toEqual([]);
    expect(made.blockers.map((one) => one.code)).toContain(code);
  });

  it.each(['rdma-starts', 'hold', 'wired-limit', 'rdma-devices', 'trees'] as const)(
    "stops nothing while a node's %s is unknown",
    (fact) => {
      expect(touched(plan(restart, {}, serving, { 'studio-2': { [fact]: 'timed-out' } }))).toEqual([]);
    },
  );

  it('stops a hung placement even if its start would be refused', () => {
    expect(touched(plan(restart, spent, hung))).not.toEqual([]);
  });
});

describe('a reboot of a Mac with a serving placement', () => {
  it('restarts nothing while another node has no starts left, and names both Macs', () => {
    const made = plan(reboot('studio-1'), spent);
    expect(touched(made)).toEqual([]);
    const [blocker] = made.blockers.filter(({ code }) => code === 'mesh/launch-budget');
    expect(plainText(blocker?.action ?? '')).toMatch(/meshwright reboot studio-1 studio-2$/);
  });

  it('is not blocked by the launch budget of a Mac that it restarts', () => {
    for (const values of [spent, marked]) {
      const made = plan(reboot('studio-1', 'studio-2'), values);
      expect(made.blockers).toEqual([]);
      expect(touched(made)).toContain('studio-2/reboot');
    }
  });

  it.each(['rdma-starts', 'sudo', 'hold', 'trees'] as const)(
    "stops and restarts nothing while another node's %s is unknown",
    (fact) => {
      expect(touched(plan(reboot('studio-1'), {}, serving, { 'studio-2': { [fact]: 'timed-out' } }))).toEqual([]);
    },
  );

  it('restarts a Mac whose start count is unknown', () => {
    const unknown = { 'studio-2': { 'rdma-starts': 'timed-out' } } as const;
    expect(touched(plan(reboot('studio-2'), {}, serving, unknown))).toContain('studio-2/reboot');
  });

  it("restarts a hung placement's Mac, whatever is unknown about another node", () => {
    const unknown = { 'studio-2': { 'rdma-starts': 'timed-out', sudo: 'timed-out' } } as const;
    expect(touched(plan(reboot('studio-1'), {}, hung, unknown))).toContain('studio-1/reboot');
  });

  it('restarts nothing while another node is marked for a restart', () => {
    expect(touched(plan(reboot('studio-1'), marked))).toEqual([]);
  });
});

describe('a command in a doctor hint', () => {
  const idle = threeRanks(['stopped', 'stopped', 'stopped']);
  const typed = (command: string) => {
    const [, verb, ...words] = command.split(' ').filter((word) => word !== '--sim');
    return meshwright(commandVerbs.find((one) => one === verb) ?? expect.fail(`there is no ${verb}`), ...words);
  };
  const shown = (sentence: string, command: string, ...seen: Parameters<typeof observed>) => {
    const hint = withCommands(sentence, [typed(command)]);
    const finding = diagnose('mesh/reboot-mark', { subject: placementSubject('kimi'), detail: 'x', hint });
    const trouble = { finding, stage: 'nodes', evidence: [], hanging: [] } as const;
    const [one] = withoutVainCommands([trouble], { desired: fleet, observation: observed(...seen) });
    return one?.refused === undefined
      ? undefined
      : proseText(one.finding.hint, { isSimulated: command.endsWith(' --sim') });
  };

  it.each([
    [
      'restart',
      'a serving placement that could not start again',
      'meshwright restart kimi',
      off,
      serving,
      'rdma/disabled',
    ],
    ['restart', 'a stopped placement that cannot start', 'meshwright restart kimi', off, idle, 'rdma/disabled'],
    ['start', 'a placement that cannot start', 'meshwright start kimi --sim', off, idle, 'rdma/disabled'],
    [
      'reboot',
      'a Mac whose placement could not start again',
      'meshwright reboot studio-1',
      spent,
      serving,
      'mesh/launch-budget',
    ],
  ] as const)('is replaced if it is a %s of %s', (_, __, command, values, rack, code) => {
    expect(shown('Try a start first', command, values, rack)).toBe(
      `First resolve ${code} on studio-2 (until then ${command} is refused). Try a start first.`,
    );
  });

  it.each([
    ['restart', 'a hung placement', 'meshwright restart kimi', off, hung],
    ['restart', 'a placement that can start', 'meshwright restart kimi', {}, serving],
    ['reboot', 'the Mac whose starts are spent', 'meshwright reboot studio-2', spent, serving],
    ['command', 'a different kind', 'meshwright apply', off, serving],
    ['start', 'a placement that serves', 'meshwright start kimi', {}, serving],
  ] as const)('is unchanged if it is a %s of %s', (_, __, command, values, rack) => {
    expect(shown('Try a start first', command, values, rack)).toBeUndefined();
  });
});

onOnePage('stops-what-starts-again');
