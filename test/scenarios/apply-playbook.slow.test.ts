import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type JournalEntry, openJournal } from '../../src/apply/journal/journal.ts';
import { closeRun, openRun, type RunOptions } from '../../src/apply/open-run.ts';
import type { PlaybookOptions, PlaybookReport } from '../../src/apply/playbook-report.ts';
import { observeFleet } from '../../src/apply/reach/observe.ts';
import { runPlaybook } from '../../src/apply/run-playbook.ts';
import { failure } from '../../src/diagnostics/diagnose.ts';
import { readSecrets } from '../../src/diagnostics/hide-secrets.ts';
import { makePlan } from '../../src/engine/plan/make-plan.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import type { Play, Task } from '../../src/engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { known } from '../../src/model/known.ts';
import { type NodeName, nodeName } from '../../src/model/node.ts';
import { read } from '../../src/rack/fact.ts';
import { power as powerSetting } from '../../src/rack/settings/power.ts';
import { shared } from '../rack/kept-running.ts';
import { aStep } from '../rack/plans.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { controller, keptJournal, planOf, quickTiming, runOptions, startApplyRack } from './apply-rack.ts';
import { ownerFile, patientTiming } from './apply-steps.ts';
import { runIn, runPlan } from './run-plan.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3'].map(nodeName);

const rack = shared(() => startApplyRack('playbook'));
const folder = temporaryFolder();

/** A desired state in which Macs sleep after this many minutes. */
const sleeping = (sleepMinutes: number): DesiredFleet => ({ ...rack.desired, power: { sleepMinutes } });

interface PlayOptions extends Partial<PlaybookOptions> {
  readonly desired?: DesiredFleet;
  readonly runWith?: Partial<RunOptions>;
}

interface Played {
  readonly report: PlaybookReport;
  /** The nodes of every observation, in order. */
  readonly observed: readonly (readonly NodeName[])[];
  readonly phases: readonly string[];
  readonly entries: readonly JournalEntry[];
}

async function play(
  plays: readonly Partial<Play>[],
  { desired = rack.desired, runWith, ...more }: PlayOptions = {},
): Promise<Played> {
  const observed: (readonly NodeName[])[] = [];
  const journal = keptJournal();
  const options = runOptions(rack, { desired, journal, ...runWith });
  const report = await runPlaybook(
    {
      name: 'own',
      plays: plays.map((one) => ({ nodes: { kind: 'targets' }, serial: [], maxFailures: 0, tasks: [], ...one })),
    },
    {
      scope: { desired, targets: nodes },
      observe: (asked) => {
        observed.push(asked);
        return observeFleet(
          options.ways.filter(({ node }) => asked.includes(node)),
          options,
        );
      },
      approve: () => Promise.resolve(true),
      confirm: () => Promise.resolve(true),
      run: () => options,
      timing: quickTiming,
      ...more,
    },
  );
  return { report, observed, phases: journal.entries.map(({ phase }) => phase), entries: journal.entries };
}

/** A plan for the power settings, and its observation. */
async function planned(desired: DesiredFleet) {
  const observation = await observeFleet(
    nodes.map((node) => rack.way(node)),
    runOptions(rack),
  );
  const plan = makePlan({ goal: { kind: 'converge', only: ['power'] }, desired, observation, targets: nodes });
  return { plan, observation };
}

const power: Task = { kind: 'converge', only: ['power'] };
/** Plays with a plan that was shown earlier. Returns the plans that had to be approved again. */
async function playLate(desired: DesiredFleet, first: Awaited<ReturnType<typeof planned>>) {
  const asked: Plan[] = [];
  const approve = (again: Plan): Promise<boolean> => Promise.resolve(asked.push(again) > 0);
  const { report } = await play([{ tasks: [power] }], { desired, first, approve });
  return { report, asked };
}

const failedOf = ({ works }: PlaybookReport): readonly string[] =>
  works.map(({ task, failed }) => `${task.kind}: ${failed.join(' ')}`.trim());
const codes = ({ works }: PlaybookReport): readonly string[] => [
  ...new Set(works.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code))),
];
const sleepOf = ({ observation }: PlaybookReport): readonly unknown[] =>
  nodes.map((node) => {
    const seen = read(observation?.nodes[node]?.facts, powerSetting.fact);
    return seen?.kind === 'known' ? seen.value.sleepMinutes : seen;
  });

describe('a playbook', () => {
  it('converges, checks again, and makes a final observation after the last write', async () => {
    const { report, observed, phases } = await play([{ tasks: [power] }], { desired: sleeping(21) });
    expect([failedOf(report), sleepOf(report)]).toEqual([['converge:'], [21, 21, 21]]);
    expect(observed).toEqual([nodes, nodes]);
    expect(phases.filter((phase) => phase === 'intent')).toHaveLength(3);
    expect([report.isStopped, report.isDeclined, report.isInterrupted]).toEqual([false, false, false]);
    expect(rack.read('studio-1', ownerFile)).toBeUndefined();
  });

  it('observes once, asks nothing and starts no journal if there is nothing to do', async () => {
    const asked: string[] = [];
    const approve = (): Promise<boolean> => {
      asked.push('approve');
      return Promise.resolve(true);
    };
    const run = (): never => {
      throw new Error('no step should run');
    };
    const { report, observed } = await play([{ tasks: [power] }], { desired: sleeping(21), approve, run });
    expect([observed, asked, report.works[0]?.run]).toEqual([[nodes], [], undefined]);
  });

  it('runs an approved plan unchanged, without observing or asking again', async () => {
    const desired = sleeping(22);
    const { plan, observation } = await planned(desired);
    const approve = (): Promise<boolean> => Promise.reject(new Error('the plan was already approved'));
    const { report, observed } = await play([{ tasks: [power] }], { desired, approve, first: { plan, observation } });
    expect([report.works[0]?.plan, observed, sleepOf(report)]).toEqual([plan, [nodes], [22, 22, 22]]);
  });

  it('changes nothing when a plan or a question is declined', async () => {
    const no = (): Promise<boolean> => Promise.resolve(false);
    const declined = await play([{ tasks: [power] }], { desired: sleeping(23), approve: no });
    expect([declined.report.isDeclined, declined.phases, sleepOf(declined.report)]).toEqual([true, [], [22, 22, 22]]);
    const questions: string[] = [];
    const asked = await play([{ tasks: [{ kind: 'confirm', text: 'Do {nodes}?' }, power] }], {
      desired: sleeping(23),
      confirm: (text) => {
        questions.push(text);
        return Promise.resolve(false);
      },
    });
    expect([asked.report.isDeclined, asked.report.works.length, questions]).toEqual([
      true,
      1,
      ['Do studio-1, studio-2, studio-3?'],
    ]);
  });

  it('waits for the end of a pause, unless it is interrupted', async () => {
    const waited: string[] = [];
    const task: Task = { kind: 'pause', text: '1s' };
    const { report: whole } = await play([{ tasks: [task] }], { onWait: (missing) => void waited.push(...missing) });
    expect([whole.isInterrupted, waited[0]]).toEqual([false, 'the pause to end']);
    const signal = AbortSignal.abort();
    const { report } = await play([{ tasks: [{ kind: 'pause', text: '24h' }] }], { signal });
    expect(report.isInterrupted).toBe(true);
  });

  it('runs one batch after another, and stops if more nodes fail than allowed', async () => {
    const ways = rack.desired.nodes.map(({ name }) => rack.way(name, name === 'studio-1' ? { port: 1 } : {}));
    const own: Task = { kind: 'run', command: ['sw_vers'], effect: 'none', deadlineMs: 20_000 };
    const serial: Play['serial'] = [{ kind: 'count', count: 1 }];
    const strict = await play([{ serial, tasks: [own] }, { tasks: [own] }], { runWith: { ways } });
    expect([failedOf(strict.report), strict.report.isStopped]).toEqual([['run: studio-1'], true]);
    const lenient = await play([{ serial, maxFailures: 1, tasks: [own, own] }], { runWith: { ways } });
    expect([failedOf(lenient.report), lenient.report.isStopped]).toEqual([
      ['run: studio-1', 'run:', 'run:', 'run:', 'run:'],
      false,
    ]);
  });

  it('of a user is shown as a whole before its first task, and ends there without consent', async () => {
    const serial: Play['serial'] = [{ kind: 'count', count: 2 }];
    const foreseen: (readonly string[])[] = [];
    const foresee: PlaybookOptions['foresee'] = (batches) => {
      foreseen.push(...batches.map((one) => [...one.nodes, ...one.works.map(({ plan }) => `${plan?.steps.length}`)]));
      return Promise.resolve(false);
    };
    const { report, phases, observed } = await play([{ serial, tasks: [power] }], { desired: sleeping(23), foresee });
    expect(foreseen).toEqual([
      ['studio-1', 'studio-2', '2'],
      ['studio-3', '1'],
    ]);
    expect([report.isDeclined, report.works, report.observation, phases, observed]).toEqual([
      ...[true, [], undefined, [], [nodes]],
    ]);
  });

  it('of a user counts a Mac that was not reached as failed, rescues its batch, and begins no other', async () => {
    const ways = rack.desired.nodes.map(({ name }) => rack.way(name, name === 'studio-2' ? { port: 1 } : {}));
    const own: Task = { kind: 'run', command: ['true'], effect: 'none', deadlineMs: 20_000 };
    const serial: Play['serial'] = [{ kind: 'count', count: 2 }];
    const plays = [{ serial, tasks: [power, own], rescue: [own] }];
    const { report } = await play(plays, { foresee: () => Promise.resolve(true), runWith: { ways } });
    expect([failedOf(report), codes(report), report.isStopped]).toEqual([
      ['converge: studio-2', 'run:', 'run: studio-2'],
      ['task/unknown', 'ssh/refused'],
      true,
    ]);
    expect(report.works.map((work) => work.nodes.length)).toEqual([2, 1, 2]);
  });

  it('leaves out a Mac that lost its label, and stops if the file cannot be read', async () => {
    const desired = { ...rack.desired, nodes: rack.desired.nodes.map((one) => ({ ...one, labels: { role: 'any' } })) };
    const of = {
      nodes: { kind: 'labels', labels: ['role=any'] },
      maxFailures: 9,
      tasks: [{ kind: 'verify' }],
    } as const;
    const others = desired.nodes.flatMap(({ name }) => (name === 'studio-1' ? [] : [name]));
    const labelledNow = (): readonly NodeName[] => others;
    const { report } = await play([of, of], { desired, labelledNow });
    expect(report.works.map((work) => work.nodes)).toEqual([others, others]);
    expect(report.refusal.map(({ code, subject }) => [code, subject])).toEqual([
      ['playbook/label-removed', { kind: 'node', names: ['studio-1'] }],
    ]);
    const broken = await play([of], {
      desired,
      labelledNow: () => {
        throw failure('yaml/syntax', { detail: 'not YAML' });
      },
    });
    expect([broken.report.works, broken.report.isStopped]).toEqual([[], true]);
  });

  it('gives up its leases for a recovery, and takes them again', async () => {
    const run: Task = { kind: 'run', command: ['true'], effect: 'none', deadlineMs: 20_000 };
    const owners: (string | undefined)[] = [];
    const perform: PlaybookOptions['perform'] = () => {
      owners.push(rack.read('studio-1', ownerFile));
      return Promise.resolve({ failed: [], diagnostics: [] });
    };
    const { phases } = await play([{ tasks: [run, { kind: 'recover' }, run] }], { perform });
    expect(owners).toEqual([undefined]);
    expect(phases.filter((phase) => phase === 'run' || phase === 'end')).toEqual(['run', 'end', 'run', 'end']);
  });

  it('runs a custom command once under the leases, and skips it where `unless` succeeds', async () => {
    const tasks: Task[] = [
      { kind: 'run', command: ['sw_vers', '-productVersion'], effect: 'none', deadlineMs: 20_000 },
      { kind: 'run', command: ['sw_vers', '-buildVersion'], unless: ['sw_vers'], effect: 'none', deadlineMs: 20_000 },
      { kind: 'run', command: ['sw_vers', '-nonsense'], effect: 'none', deadlineMs: 20_000 },
    ];
    const names: Play['nodes'] = { kind: 'names', names: [nodeName('studio-1')] };
    const { report, phases } = await play([{ nodes: names, tasks }]);
    expect([failedOf(report), codes(report)]).toEqual([['run:', 'run:', 'run: studio-1'], ['task/command-failed']]);
    const problems = report.works.flatMap(({ diagnostics }) => diagnostics);
    const command = problems.find((one) => one.command !== undefined)?.command;
    expect(command).toMatchObject({ argv: ['sw_vers', '-nonsense'], exit: { kind: 'exited' } });
    expect(command?.durationMs).toBeLessThan(20_000);
    const times = (option: string): number =>
      rack.fleet.execs().filter(({ command }) => command === `'sw_vers' '${option}'`).length;
    expect(['-productVersion', '-buildVersion', '-nonsense'].map(times)).toEqual([1, 0, 1]);
    expect(phases).toEqual(['run', 'lease', 'intent', 'outcome', 'intent', 'outcome', 'lease', 'end']);
  });

  it('stops if another run has a lease on one of its nodes', async () => {
    let late: PlaybookReport | undefined;
    const held = await play([{ tasks: [power] }], {
      desired: sleeping(24),
      onWork: async () => {
        const own = {
          desired: sleeping(25),
          runWith: { controller: controller('ffff00000000'), timing: patientTiming },
        };
        late = (await play([{ tasks: [power] }], own)).report;
      },
    });
    expect([late?.isStopped, late?.works[0]?.refusals[0]?.node, late?.nodes]).toEqual([true, 'studio-1', nodes]);
    expect([late && sleepOf(late), held.report.isStopped]).toEqual([[24, 24, 24], false]);
  });

  it('plans and asks again if a Mac restarted after its plan was shown', async () => {
    const desired = sleeping(27);
    const { plan, observation } = await planned(desired);
    const from = known(plan.observed['studio-2']?.bootSession ?? '');
    const act = { kind: 'reboot', to: 'up', from } as const;
    await runPlan(planOf([aStep('somebody', { node: 'studio-2', class: 'once', act })]), runOptions(rack));
    const { report, asked } = await playLate(desired, { plan, observation });
    expect(asked.map(({ changes }) => changes.map(({ node }) => node))).toEqual([nodes]);
    const sessions = [plan, ...asked].map(({ observed }) => observed['studio-2']?.bootSession);
    expect([new Set(sessions).size, sleepOf(report)]).toEqual([2, [27, 27, 27]]);
  });

  it('plans and asks again if another run changed a node before this run took over the lease', async () => {
    const desired = sleeping(28);
    const { plan, observation } = await planned(desired);
    const dead = openRun(
      runOptions(rack, {
        controller: controller(undefined, 2 ** 22 + 1),
        timing: { ...quickTiming, heartbeatMs: 1e6 },
      }),
    );
    const act = { kind: 'script', name: 'set-power', args: { sleepMinutes: 28 } } as const;
    await runIn(dead, planOf([aStep('other', { node: 'studio-2', act })]));
    const { report, asked } = await playLate(desired, { plan, observation });
    expect(plan.changes.map(({ node }) => node)).toEqual(nodes);
    expect(asked.map(({ changes }) => changes.map(({ node }) => node))).toEqual([['studio-1', 'studio-3']]);
    expect([sleepOf(report), report.works[0]?.plan]).toEqual([[28, 28, 28], asked[0]]);
    await closeRun(dead);
  });

  it('reports a failed assertion, a wait that timed out, and a remaining difference', async () => {
    const assert = (is: number, property = 'power/sleep'): Task => ({ kind: 'assert', property, is });
    const wrong = await play([{ maxFailures: 9, tasks: [assert(28), assert(5)] }, { tasks: [assert(1, 'power/nap')] }]);
    expect([failedOf(wrong.report), codes(wrong.report)]).toEqual([
      ['assert:', `assert: ${nodes.join(' ')}`, `assert: ${nodes.join(' ')}`],
      ['task/assert-failed'],
    ]);
    const away = rack.desired.nodes.map(({ name }) => rack.way(name, { port: 1 }));
    const waiting: Task = { kind: 'wait', for: 'observed', deadlineMs: 200 };
    const over = await play([{ tasks: [waiting] }], { runWith: { ways: away } });
    expect([codes(over.report), over.report.isStopped]).toEqual([['task/wait-over'], true]);
    const undone = await play([{ tasks: [{ kind: 'verify' }] }], { desired: sleeping(26) });
    expect(codes(undone.report)).toContain('task/still-different');
  });

  it('keeps a secret out of the journal, even if a node prints it', async () => {
    const secrets = readSecrets();
    secrets.add('hf_echoed');
    const journal = openJournal(folder.path, 'run-echo', secrets);
    const one: Play['nodes'] = { kind: 'names', names: [nodeName('studio-1')] };
    const command = ['/bin/sh', '-c', 'printf "bad token %s%s\\n" hf_ echoed >&2; exit 3'];
    const echo: Task = { kind: 'run', command, effect: 'none', deadlineMs: 20_000 };
    await play([{ nodes: one, tasks: [echo] }], { runWith: { journal } });
    journal.close();
    const text = readFileSync(folder.at('run-echo.ndjson'), 'utf8');
    expect([text.includes('bad token ********'), text.includes('hf_echoed')]).toEqual([true, false]);
  });

  it('waits only briefly for an interrupted command and records its outcome as unknown', async () => {
    const person = new AbortController();
    const { signal } = person;
    const one: Play['nodes'] = { kind: 'names', names: [nodeName('studio-1')] };
    const slow: Task = { kind: 'run', command: ['sleep', '20'], effect: 'none', deadlineMs: 20_000 };
    const end = rack.fleet.onExec(({ command }) => {
      if (command === `'sleep' '20'`) person.abort();
    });
    const { report, entries } = await play([{ nodes: one, tasks: [slow, slow] }], {
      signal,
      runWith: { signal, timing: { ...quickTiming, abortMs: 100 } },
    });
    end();
    expect([report.isInterrupted, codes(report), report.works.length]).toEqual([true, ['task/command-failed'], 1]);
    expect(entries).toContainEqual(expect.objectContaining({ phase: 'outcome', outcome: 'unknown' }));
  });

  it('ends after an interrupt, without a final observation', async () => {
    const person = new AbortController();
    const { report } = await play([{ tasks: [power, power] }], {
      desired: sleeping(27),
      signal: person.signal,
      runWith: { signal: person.signal },
      approve: () => {
        person.abort();
        return Promise.resolve(true);
      },
    });
    expect([report.isInterrupted, report.works.length, report.observation]).toEqual([true, 1, undefined]);
  });
});
