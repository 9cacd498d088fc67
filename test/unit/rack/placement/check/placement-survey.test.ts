import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Diagnostic } from '../../../../../src/diagnostics/diagnostic.ts';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { RecordedRank } from '../../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { subjectText } from '../../../../../src/model/subject.ts';
import {
  placementFindings as placementFindingsItself,
  startAdvice as startAdviceItself,
} from '../../../../../src/rack/placement/check/placement-findings.ts';
import {
  type PlacementSurvey,
  surveyPlacements as surveyPlacementsItself,
} from '../../../../../src/rack/placement/check/placement-survey.ts';
import { placementCases } from '../../../../../src/rack/placement/state/placement-cases.ts';
import { placementProperty } from '../../../../../src/rack/placement/state/placement-properties.ts';
import type { View } from '../../../../../src/rack/resource.ts';
import { judgeProperty } from '../../../../../src/rack/resource.ts';
import {
  exoFleet,
  type MeshChanges,
  type MeshRack,
  meshFleet,
  observeMesh,
  threeRanks,
} from '../../../../rack/placements.ts';
import { type AsText, diagnosticsAsText } from '../../../as-text.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const placementFindings = onPage(placementFindingsItself);
const startAdvice = onPage(startAdviceItself);
const surveyPlacements = onPage(surveyPlacementsItself);

const kimiNodes = ['studio-1', 'studio-2', 'studio-3'];

function viewFor(rack: MeshRack, file: MeshChanges = {}, targets?: readonly string[]): View {
  const desired = meshFleet(file);
  const names = targets?.map(nodeName) ?? desired.nodes.map(({ name }) => name);
  return viewOf({ desired, observation: observeMesh(desired, rack), targets: names });
}

function kimiOf(view: View): PlacementSurvey {
  const [kimi] = surveyPlacements(view);
  if (kimi === undefined) throw new Error('the fleet has no kimi');
  return kimi;
}

const findingsOf = (view: View): readonly AsText<Diagnostic>[] =>
  diagnosticsAsText(placementFindings(view, surveyPlacements(view)));
const summaries = (view: View): readonly string[] =>
  findingsOf(view).map(({ code, subject, detail }) => `${code} ${subjectText(subject)}: ${detail}`);

/** A rack on which `kimi` was started and stopped in this boot session, with the outcome of that start. */
const stoppedWith = (changes: Partial<RecordedRank>): View =>
  viewFor({
    ranks: Object.fromEntries(
      Object.entries(threeRanks(['stopped', 'stopped', 'stopped'])).map(([node, all]) => [
        node,
        all.map((one) => ({ ...one, startedIn: `BOOT-${node}`, changes })),
      ]),
    ),
  });
const ladderOf = (changes: Partial<RecordedRank>): readonly string[] =>
  findingsOf(stoppedWith(changes)).flatMap(({ hint }) => hint.split('\n'));

interface CaseFile {
  readonly title: string;
  readonly file?: MeshChanges;
  readonly rack: MeshRack;
}
const folder = new URL('../../../../cases/resources/placement/', import.meta.url);
const cases = readdirSync(folder).map((name): CaseFile => parse(readFileSync(new URL(name, folder), 'utf8')));

describe("a placement's state", () => {
  it.each(cases)('agrees with the plan: $title', ({ file, rack }) => {
    const view = viewFor(rack, file);
    const survey = surveyPlacements(view).map(({ name, standing }) => [name, standing]);
    const planned = placementCases(view).map((one) => {
      // Orphaned ranks are reported with their node.
      const alone = placementProperty({ ...one, orphanedRanks: [] });
      const isSpentUnknown = one.mesh.state !== 'unknown' && alone.observed.kind === 'unknown';
      return [one.placement.name, isSpentUnknown ? 'differs' : judgeProperty(alone)];
    });
    expect(survey).toEqual(planned);
  });

  it.each([
    ['serving', 'met', ['joined', 'joined', 'joined'], {}],
    ['hung', 'differs', ['joined', 'joined', 'running'], { token: { kind: 'silent', reason: 'timed out' } }],
    ['changed', 'differs', ['joined', 'joined', 'joined'], { digest: 'c'.repeat(64) }],
    ['partial', 'differs', ['joined', 'joined', 'exited'], {}],
    ['dead', 'differs', ['exited', 'exited', 'exited'], {}],
    ['stopped', 'differs', ['stopped', 'stopped', 'stopped'], {}],
    ['stopped', 'differs', ['ready', 'ready', 'ready'], {}],
    ['not-placed', 'differs', ['absent', 'absent', 'absent'], {}],
    ['unknown', 'unknown', ['joined', 'joined', 'joined'], { token: { kind: 'not-asked' } }],
  ] as const)('is %s (%s) with ranks %s', (state, standing, states, all) => {
    const ranks = threeRanks(states, all);
    expect(kimiOf(viewFor({ ranks }))).toMatchObject({ state, standing });
  });

  it('matches "stopped" in the file only if no rank is running', () => {
    const file = { placement: { state: 'stopped' as const } };
    const idle = viewFor({ ranks: threeRanks(['stopped', 'stopped', 'stopped']) }, file);
    const runs = viewFor({ ranks: threeRanks(['stopped', 'running', 'stopped']) }, file);
    expect([kimiOf(idle).standing, summaries(idle)]).toEqual(['met', []]);
    expect(summaries(runs)).toEqual([expect.stringContaining('mesh/not-stopped placement kimi: ')]);
  });

  it('has an endpoint only while serving, and a generation only if all ranks were observed', () => {
    const serving = kimiOf(viewFor({ ranks: threeRanks(['joined', 'joined', 'joined']) }));
    const partial = kimiOf(viewFor({ ranks: threeRanks(['joined', 'joined', 'exited']) }));
    const unseen = kimiOf(viewFor({ ranks: threeRanks(['joined', 'joined', 'joined']), unreachable: ['studio-2'] }));
    expect([serving.generation, serving.endpoint]).toEqual([4, { node: 'studio-1', port: 8_080 }]);
    expect([partial.generation, 'endpoint' in partial]).toEqual([4, false]);
    expect(['generation' in unseen, 'endpoint' in unseen]).toEqual([false, false]);
  });

  it('shows how the driver can prove which transport running ranks use', () => {
    const placement = { transport: 'rdma' as const };
    const running = kimiOf(viewFor({ ranks: threeRanks(['joined', 'joined', 'joined']) }, { placement }));
    const stopped = kimiOf(viewFor({ ranks: threeRanks(['stopped', 'stopped', 'stopped']) }, { placement }));
    const desired = exoFleet();
    const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined']) });
    const onExo = kimiOf(viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) }));
    expect([running.transportProof, 'transportProof' in stopped]).toEqual(['none', false]);
    expect(onExo.transportProof).toBe('start');
  });

  it("is unknown while some of the placement's nodes were not observed", () => {
    const desired = meshFleet();
    const { nodes } = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined']) });
    const observation = { nodes: Object.fromEntries(Object.entries(nodes).slice(0, 1)), failures: {} };
    const view = viewOf({ desired, observation, targets: [nodeName('studio-1')] });
    expect(kimiOf(view)).toMatchObject({ state: 'unknown', standing: 'not-asked' });
    expect(summaries(view)).toEqual([]);
  });

  it('is unknown when the placement runs and its runtime digest is unknown', () => {
    const { runtimes, ...desired } = meshFleet();
    const unsettled = { ...desired, runtimes: runtimes.map(({ digest: _, ...rest }) => rest) };
    const observation = observeMesh(meshFleet(), { ranks: threeRanks(['joined', 'joined', 'joined']) });
    const view = viewOf({ desired: unsettled, observation, targets: desired.nodes.map(({ name }) => name) });
    expect(summaries(view)).toEqual([expect.stringContaining('mesh/not-judged placement kimi: ')]);
  });
});

describe('placement findings', () => {
  it('describe the problem and the command to run', () => {
    const silent = { token: { kind: 'silent', reason: 'status 503' } } as const;
    const hung = viewFor({ ranks: threeRanks(['joined', 'joined', 'joined'], silent) });
    for (const view of [hung, viewFor({ ranks: {} })]) {
      expect(findingsOf(view)).toMatchObject([{ code: 'mesh/not-serving', severity: 'error' }]);
    }
  });

  it('suggest the next repair if the ranks use TCP after a failed start', () => {
    const [hint] = ladderOf({ outcome: 'failed', complaint: 'errno 60 (10.77.0.14)' });
    expect(hint).toEqual('Its last start failed, so another start will not help. Restart the Macs of this link:');
    expect(ladderOf({ outcome: 'failed' })[1]).toBe('  meshwright reboot studio-1 studio-2 studio-3');
    expect(ladderOf({ outcome: 'failed', failedIn: 'before' })).toEqual([
      'Starts failed before and after Macs were restarted. Fix the file or the Mac. The log shows what is wrong: meshwright logs kimi',
    ]);
    expect(ladderOf({ outcome: 'exited' })[0]).toContain('Its program exited on its own.');
    expect(ladderOf({ outcome: 'served' })).toEqual(['Start it: meshwright apply']);
  });

  it('appear in the plan after a failed start', () => {
    const notices = (changes: Partial<RecordedRank>) =>
      startAdvice(stoppedWith(changes), surveyPlacements(stoppedWith(changes))).map(({ code, severity }) => [
        code,
        severity,
      ]);
    expect(notices({ outcome: 'failed' })).toEqual([['mesh/not-serving', 'warning']]);
    expect(notices({ outcome: 'hung' })).toEqual([]);
  });

  const startsOf = (starts: number, states: Parameters<typeof threeRanks>[0], more = {}): readonly string[] => {
    const values = Object.fromEntries(
      kimiNodes.map((node) => [node, { 'rdma-starts': { startedIn: `BOOT-${node}`, starts, last: [] } }]),
    );
    const view = viewFor({ ranks: threeRanks(states), values }, { placement: { transport: 'rdma', ...more } });
    return findingsOf(view).map(({ code, hint }) => `${code} ${hint.split('\n').slice(1).join('')}`);
  };

  it('suggest a reboot instead of a start when the launch budget is spent', () => {
    expect(startsOf(3, ['stopped', 'stopped', 'stopped'])).toEqual([
      'mesh/launch-budget   meshwright reboot studio-1 studio-2 studio-3',
    ]);
    expect(startsOf(1, ['stopped', 'stopped', 'stopped'])).toEqual(['mesh/not-serving ']);
  });

  it('warn about the last remaining start while the placement serves', () => {
    expect(startsOf(2, ['joined', 'joined', 'joined'])).toEqual(['mesh/last-start ']);
    expect(startsOf(3, ['joined', 'joined', 'joined'])).toEqual([]);
    expect(startsOf(2, ['joined', 'joined', 'joined'], { transport: 'tcp' })).toEqual([]);
    expect(startsOf(2, ['stopped', 'stopped', 'stopped'], { state: 'stopped' })).toEqual([]);
  });

  it('suggest the reboot that a stop recorded instead of a start', () => {
    const values = { 'studio-2': { 'reboot-mark': [{ placement: 'kimi', why: 'kernel' }] } } as const;
    const ranks = threeRanks(['stopped', 'stopped', 'stopped']);
    const commands = findingsOf(viewFor({ ranks, values })).map(({ hint }) => hint.split('meshwright ').at(-1));
    expect(commands).toEqual(['reboot studio-2', 'reboot studio-2']);
  });

  it('omit a placement with an unobserved node', () => {
    const ranks = threeRanks(['joined', 'joined', 'joined']);
    expect(summaries(viewFor({ ranks, unreachable: ['studio-2'] }))).toEqual([]);
    expect(summaries(viewFor({ ranks, unknown: { 'studio-3': { placements: 'timed-out' } } }))).toEqual([]);
  });

  it('name the nodes with orphaned ranks', () => {
    const ranks = {
      ...threeRanks(['joined', 'joined', 'joined']),
      'studio-4': [
        { state: 'joined' as const, rank: 3 },
        { placement: 'old', state: 'stopped' as const },
      ],
    };
    expect(summaries(viewFor({ ranks }))).toEqual([
      'mesh/orphaned-rank node studio-4: An orphaned rank of kimi is on studio-4.',
      'mesh/orphaned-rank node studio-4: An orphaned rank of old is on studio-4.',
    ]);
  });

  it('escape text from a node and show it on one line', () => {
    const reason = 'status 503\n::error::\u001b[2J';
    const ranks = threeRanks(['joined', 'joined', 'joined'], { token: { kind: 'silent', reason } });
    const [detail = ''] = summaries(viewFor({ ranks }));
    expect(detail).not.toMatch(/[\n\u001b]/);
  });
});

onOnePage('placement-survey');
