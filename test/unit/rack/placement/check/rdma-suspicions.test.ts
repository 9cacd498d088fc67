import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../../../src/diagnostics/diagnostic.ts';
import type { FactValues } from '../../../../../src/engine/observe/facts.ts';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../../../src/model/desired.ts';
import type { RecordedRank } from '../../../../../src/model/facts/fact-values.ts';
import { given } from '../../../../../src/model/given.ts';
import type { MeasuredLink } from '../../../../../src/model/measured-cable.ts';
import { subjectText } from '../../../../../src/model/subject.ts';
import { placementFindings as placementFindingsItself } from '../../../../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements as surveyPlacementsItself } from '../../../../../src/rack/placement/check/placement-survey.ts';
import {
  exoFleet,
  llamaFleet,
  type MeshChanges,
  type MeshRack,
  meshFleet,
  observeMesh,
  threeRanks,
} from '../../../../rack/placements.ts';
import { type AsText, diagnosticsAsText } from '../../../as-text.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const placementFindings = onPage(placementFindingsItself);
const surveyPlacements = onPage(surveyPlacementsItself);

const overRdma: MeshChanges = { placement: { transport: 'rdma' } };
const hung = threeRanks(['joined', 'joined', 'joined']);
const silent = { kind: 'silent', reason: 'none came before the deadline of 4 s' } as const;
const [leader, ...followers] = ['studio-1', 'studio-2', 'studio-3'];
const withoutToken: MeshRack['ranks'] = Object.fromEntries(
  Object.entries(hung).map(([node, all]) => [
    node,
    node === leader ? all.map((one) => ({ ...one, token: silent })) : all,
  ]),
);

/** The error that the last start on this node logged. */
const said = (node: string, complaint: string, startedIn = `BOOT-${node}`): Partial<FactValues> => ({
  'rdma-starts': { startedIn, starts: 1, last: [{ placement: 'kimi', startedIn, complaint }] },
});

/** The same ranks, one of which logged an error since its last start. */
const complaining = (
  ranks: NonNullable<MeshRack['ranks']>,
  node: string,
  complaint: string,
  startedIn = `BOOT-${node}`,
): NonNullable<MeshRack['ranks']> => ({
  ...ranks,
  [node]: (ranks[node] ?? []).map((one) => ({ ...one, startedIn, changes: { complaint } })),
});

const suspicions = (rack: MeshRack, changes: MeshChanges = overRdma): readonly AsText<Diagnostic>[] =>
  suspicionsIn(meshFleet(changes), rack);

/** The stopped ranks of a start in this boot session, with these changes on each node. */
const stoppedRanks = (changesOn: (node: string) => Partial<RecordedRank>, session = 'BOOT') =>
  Object.fromEntries(
    Object.entries(threeRanks(['stopped', 'stopped', 'stopped'])).map(([node, all]) => [
      node,
      all.map((one) => ({ ...one, startedIn: `${session}-${node}`, changes: changesOn(node) })),
    ]),
  );
function suspicionsIn(desired: DesiredFleet, rack: MeshRack): readonly AsText<Diagnostic>[] {
  const observation = observeMesh(desired, rack);
  const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
  const findings = placementFindings(view, surveyPlacements(view));
  return diagnosticsAsText(findings).filter(({ code }) => code.includes('/suspected-'));
}

const short = (rack: MeshRack, changes?: MeshChanges): readonly string[] =>
  suspicions(rack, changes).map(({ code, subject }) => `${code} ${subjectText(subject)}`);

describe('suspicions about an RDMA placement without a token', () => {
  it('cover all links of the placement if no rank names a link', () => {
    expect(short({ ranks: withoutToken })).toEqual(['rdma/suspected-idle-dead nodes studio-1, studio-2, studio-3']);
  });

  it('cover only the link whose address a rank names', () => {
    const values = { 'studio-2': said('studio-2', 'RTR failed with errno 60 (rank 1 to 10.77.0.14:50004)') };
    expect(short({ ranks: withoutToken, values })).toEqual(['rdma/suspected-idle-dead link studio-2:3 <-> studio-3:3']);
  });

  it('cover no links while a rank is suspended by a signal; the finding names the rank and its processes', () => {
    const ranks = { ...withoutToken, 'studio-2': [{ state: 'joined', rank: 1, suspended: [4_711, 4_712] }] } as const;
    expect(short({ ranks })).toEqual([]);
    const desired = meshFleet(overRdma);
    const view = viewOf({
      desired,
      observation: observeMesh(desired, { ranks }),
      targets: desired.nodes.map(({ name }) => name),
    });
    const found = diagnosticsAsText(placementFindings(view, surveyPlacements(view)));
    expect(found.map(({ code, detail, hint }) => [code, detail, hint])).toEqual([
      [
        'mesh/rank-suspended',
        'A signal has suspended rank 1 on studio-2 (processes 4711, 4712).',
        'Resume without losing a request: on studio-2, `sudo kill -CONT 4711 4712`. Or start the placement again:\n  meshwright restart kimi',
      ],
    ]);
  });

  it('cover no links if exo has dropped its instance; the finding creates it again', () => {
    const token = { kind: 'silent', reason: 'the endpoint returned status 404', status: 404 } as const;
    const desired = exoFleet();
    const targets = desired.nodes.map(({ name }) => name);
    const found = (status: number) => {
      const ranks = threeRanks(['joined', 'joined', 'joined'], { token: { ...token, status } });
      const view = viewOf({ desired, observation: observeMesh(desired, { ranks }), targets });
      return diagnosticsAsText(placementFindings(view, surveyPlacements(view)));
    };
    expect(found(404).map(({ code, detail, hint }) => [code, detail, hint])).toEqual([
      [
        'mesh/instance-missing',
        'It is hung: no token: the endpoint returned status 404, because the runtime has dropped the instance.',
        'Start the placement again:\n  meshwright restart kimi\nmeshwright recover kimi creates only the instance again, if its Macs see each other.',
      ],
    ]);
    expect(found(500).map(({ code }) => code)).toEqual(['mesh/not-serving', 'rdma/suspected-idle-dead']);
  });

  it('cover no links that use TCP, and no links while the placement serves', () => {
    expect(short({ ranks: withoutToken }, {})).toEqual([]);
    expect(short({ ranks: hung })).toEqual([]);
  });

  it.each([
    ['a port is not active', { 'rdma-ports': [] }],
    ['RDMA is disabled', { 'rdma-state': 'disabled', 'rdma-devices': [], 'rdma-ports': [] }],
    ['an address is missing', { interfaces: [] }],
  ] as const)('do not cover links while %s', (_what, values) => {
    expect(short({ ranks: withoutToken, values: { 'studio-3': values } })).toEqual([]);
  });

  it('do not cover links while an RDMA fact is unknown', () => {
    expect(short({ ranks: withoutToken, unknown: { 'studio-3': { 'rdma-ports': 'busy' } } })).toEqual([]);
  });
});

describe('a placement whose Mac panicked under TCP', () => {
  const panic = { name: 'a', atEpochSeconds: 1_790_000_001, extensions: ['com.apple.driver.AppleThunderboltIP'] };
  const hints = (changes: MeshChanges): readonly string[] => {
    const desired = meshFleet(changes);
    const values = { 'studio-2': { 'panic-reports': [panic] } };
    const observation = observeMesh(desired, { ranks: stoppedRanks(() => ({ outcome: 'hung' })), values });
    const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
    const found = diagnosticsAsText(placementFindings(view, surveyPlacements(view)));
    return found.filter(({ code }) => code === 'mesh/not-serving').map(({ hint }) => hint);
  };

  it('is not started until the cause of the panic is gone, unless it uses RDMA', () => {
    expect(hints({})).toEqual([expect.stringMatching(/^Do not start it yet: .*studio-2 may panic again\./)]);
    expect(hints(overRdma)).toEqual([expect.not.stringContaining('panic')]);
  });
});

describe('suspicions after a failed start', () => {
  const dead = threeRanks(['exited', 'exited', 'exited']);

  it.each(["Couldn't allocate protection domain", 'ibv_create_qp failed: errno 16', 'alloc failed with errno=12'])(
    'name the Mac with exhausted devices that logged "%s"',
    (text) => {
      const values = { 'studio-2': { ...said('studio-2', text), 'rdma-objects': { domains: 10, queuePairs: 0 } } };
      expect(short({ ranks: dead, values })[0]).toBe('rdma/suspected-exhausted node studio-2');
    },
  );

  it('suggest a reboot unless the kernel is known to have no RDMA objects', () => {
    const nothing = { 'rdma-objects': { domains: 0, queuePairs: 0 } };
    const values = { 'studio-2': { ...said('studio-2', 'alloc failed with errno=12'), ...nothing } };
    const [found] = suspicions({ ranks: dead, values });
    expect(found?.code).toBe('rdma/suspected-exhausted');
    expect(found?.hint.split('\n').slice(1)).toEqual(['  meshwright restart kimi', '  meshwright logs kimi']);
    const unread = { 'studio-2': { 'rdma-objects': 'empty' } } as const;
    expect(suspicions({ ranks: dead, values, unknown: unread })[0]?.hint).toContain('meshwright reboot studio-2');
  });

  it.each([
    'Changing queue pair to RTR failed with errno 65',
    "RuntimeError: [jaccl] Couldn't connect (error: 65)",
    'connect: No route to host',
  ])('blame Local Network privacy for "%s" over RDMA', (text) => {
    const found = short({ ranks: dead, values: { 'studio-2': said('studio-2', text) } });
    expect(found).toEqual(['mesh/suspected-local-network node studio-2']);
  });

  it.each(['connect: No route to host', '[Errno 65] No route to host'])(
    'blame Local Network privacy for "%s" over TCP only if cables and addresses are correct',
    (complaint) => {
      const ranks = complaining(dead, 'studio-2', complaint);
      expect(short({ ranks }, {})).toEqual(['mesh/suspected-local-network node studio-2']);
      expect(short({ ranks, values: { 'studio-3': { interfaces: [] } } }, {})).toEqual([]);
      expect(short({ ranks, unknown: { 'studio-3': { thunderbolt: 'garbled' } } }, {})).toEqual([]);
    },
  );

  it('ignore unrelated errors and, over TCP, errors from earlier boot sessions', () => {
    expect(short({ ranks: complaining(dead, 'studio-2', 'errno 12') }, {})).toEqual([]);
    const before = complaining(dead, 'studio-2', 'No route to host', 'BOOT-of-before');
    expect(short({ ranks: before }, {})).toEqual([]);
  });

  const compile =
    'To restart fewer Macs, find the cable or the Mac first: `npm run native`, then meshwright cables --measure';

  describe('about several cables', () => {
    const failed = stoppedRanks(() => ({ outcome: 'failed' }));
    const fleet = meshFleet(overRdma);
    const links = fleet.thunderbolt.links.filter(({ ends }) => ends.every(({ node }) => node !== 'studio-4'));
    const booted = 1_000 * 1_790_000_000;
    const found = (
      carried: readonly MeasuredLink['carries'][],
      { canMeasure = true, afterMs = 1, triedAfterMs = -2 } = {},
    ) => {
      const [at, triedAt] = [afterMs, triedAfterMs].map((ms) => new Date(booted + ms).toISOString());
      const measured = Object.fromEntries(
        carried.map((carries, index) => [links[index]?.index, { at: at ?? '', carries, triedAt: triedAt ?? '' }]),
      );
      const desired = { ...fleet, thunderbolt: { ...fleet.thunderbolt, measured, canMeasure } };
      return suspicionsIn(desired, { ranks: failed }).map(({ subject, detail, hint }) => [
        subjectText(subject),
        detail.slice(0, detail.indexOf(',')),
        ...hint.split('\n').slice(1),
      ]);
    };

    const reboot = 'meshwright reboot studio-1 studio-2 studio-3';

    it('ask for a measurement if this computer can make one and has not yet done so', () => {
      const measuring = ['  meshwright cables --measure', '  meshwright doctor'];
      const otherwise = `If the cables cannot be measured, restart the Macs at both ends: ${reboot}`;
      const suspected = ['nodes studio-1, studio-2, studio-3', 'Suspected: one of 3 cables carries no traffic'];
      const open = [[...suspected, ...measuring, otherwise]];
      const closed = [[...suspected, `  ${reboot}`]];
      expect(found([])).toEqual(open);
      expect(found(['nothing', 'tcp', 'rdma'], { afterMs: -1 })).toEqual(open);
      expect(found(['rdma', 'rdma', 'rdma'])).toEqual(closed);
      expect(found([], { canMeasure: false })).toEqual([[...suspected, `  ${reboot}`, compile]]);
    });

    it('name all Macs if a measurement in this boot session was inconclusive', () => {
      const suspected = ['nodes studio-1, studio-2, studio-3', 'Suspected: one of 3 cables carries no traffic'];
      expect(found(['unknown', 'unknown', 'unknown'])).toEqual([[...suspected, `  ${reboot}`]]);
      expect(found(['rdma', 'tcp', 'nothing'], { afterMs: -1, triedAfterMs: 1 })).toEqual([
        [...suspected, `  ${reboot}`],
      ]);
    });

    it('allow another start once one of the Macs has restarted', () => {
      const old = (node: string): string => (node === 'studio-2' ? 'BOOT-of-before' : 'BOOT');
      const ranks = stoppedRanks(() => ({ outcome: 'failed' }));
      const partly = Object.fromEntries(
        Object.entries(ranks).map(([node, all]) => [
          node,
          all.map((one) => ({ ...one, startedIn: `${old(node)}-${node}` })),
        ]),
      );
      const desired = { ...fleet, thunderbolt: { ...fleet.thunderbolt, canMeasure: true } };
      expect(suspicionsIn(desired, { ranks: partly }).map(({ hint }) => hint.split('\n'))).toEqual([
        [
          'Try a start first; if that does not help, see what doctor reports:',
          '  meshwright restart kimi',
          '  meshwright doctor',
        ],
      ]);
    });

    it('name the Mac at one end of every cable that was measured as dead', () => {
      expect(found(['nothing', 'tcp', 'rdma'])).toEqual([
        ['node studio-1', 'Measured: 2 cables carry no traffic', '  meshwright reboot studio-1'],
      ]);
      expect(found(['rdma', 'rdma', 'tcp'])).toEqual([
        [
          'link studio-2:3 <-> studio-3:3',
          'Measured: this cable carries no traffic',
          '  meshwright reboot studio-2 studio-3',
        ],
      ]);
    });
  });

  it('remain until a start succeeds, without suggesting a second restart of the placement', () => {
    const given = (changes: Partial<RecordedRank>, session?: string) => stoppedRanks(() => changes, session);
    const hints = (ranks: NonNullable<MeshRack['ranks']>) =>
      suspicions({ ranks }).map(({ code, hint }) => [code, ...hint.split('\n').slice(1)]);
    const reboot = '  meshwright reboot studio-1 studio-2 studio-3';
    expect(hints(given({ outcome: 'hung' }))).toEqual([
      ['rdma/suspected-idle-dead', '  meshwright restart kimi', reboot, compile],
    ]);
    expect(hints(given({ outcome: 'failed' }))).toEqual([['rdma/suspected-idle-dead', reboot, compile]]);
    const [person] = suspicions({ ranks: given({ outcome: 'failed', failedIn: 'BOOT-of-before' }) });
    expect(person?.hint).toContain('before and after Macs were restarted. At the rack: replace');
    expect(hints(given({ outcome: 'served' }))).toEqual([]);
    expect(hints(given({ outcome: 'exited' }))).toEqual([]);
    expect(hints(given({ outcome: 'failed' }, 'BOOT-of-before'))).toEqual([]);
  });

  describe('about one Mac', () => {
    const left: Partial<FactValues> = { 'rdma-objects': { domains: 1, queuePairs: 1 } };
    const found = (rack: MeshRack) => {
      const desired = meshFleet(overRdma);
      const targets = desired.nodes.map(({ name }) => name);
      const view = viewOf({ desired, observation: observeMesh(desired, rack), targets });
      const all = diagnosticsAsText(placementFindings(view, surveyPlacements(view)));
      return all.map(({ code, detail, hint }) => [code, detail, ...hint.split('\n').slice(1)]);
    };

    it('replace those about cables, and only that Mac is restarted after a failed start', () => {
      const ranks = stoppedRanks(() => ({ outcome: 'failed' }));
      const points =
        'The evidence points to studio-2 (its kernel holds 1 protection domain and 1 queue pair that no process uses).';
      expect(found({ ranks, values: { 'studio-2': left } })).toEqual([
        ['mesh/not-serving', `It is stopped: no rank runs. ${points}`, '  meshwright reboot studio-2'],
      ]);
    });

    it('stay next to those about cables if the Mac is only busy', () => {
      const values = { 'studio-2': { swap: { usedMegabytes: 13_312 } } };
      const [hungOne, suspected] = found({ ranks: withoutToken, values });
      const points = 'The evidence points to studio-2 (13 GB of swap is in use, more than 8 GB).';
      expect([hungOne?.[1], suspected?.[1]]).toEqual([
        expect.stringContaining(points),
        expect.stringContaining(points),
      ]);
      expect(suspected?.at(-2)).toBe('  meshwright reboot studio-1 studio-2 studio-3');
    });

    it('restart only the Mac whose cables the ranks named', () => {
      const timedOut = (node: string, address: string) => said(node, `RTR failed with errno 60 (to ${address}:50004)`);
      const values = {
        'studio-1': timedOut('studio-1', '10.77.0.2'),
        'studio-3': timedOut('studio-3', '10.77.0.13'),
      };
      const all = found({ ranks: stoppedRanks(() => ({ outcome: 'failed' })), values });
      expect(all.map(([code, , ...commands]) => [code, ...commands])).toEqual([
        ['mesh/not-serving', '  meshwright reboot studio-2'],
        ['rdma/suspected-idle-dead', '  meshwright reboot studio-2'],
      ]);
      expect(all[1]?.[1]).toContain('The evidence points to studio-2 (ranks logged addresses of 2 of its cables).');
    });
  });

  it('name the two Macs of a cable over TCP if a rank of any program logged its address', () => {
    const failed = stoppedRanks((node) => ({
      outcome: 'failed',
      ...(node === leader ? { complaint: 'no answer: rank 0 cannot reach 10.77.0.2:30657' } : {}),
    }));
    const desired = meshFleet();
    const targets = desired.nodes.map(({ name }) => name);
    const view = viewOf({ desired, observation: observeMesh(desired, { ranks: failed }), targets });
    const [found] = diagnosticsAsText(placementFindings(view, surveyPlacements(view)));
    expect(found?.hint).toBe(
      `Its last start failed, so another start will not help. Restart the Macs of this link:\n  meshwright reboot studio-1 studio-2\n${compile}`,
    );
  });

  describe.each([
    ['rdma', 'rdma/suspected-idle-dead'],
    ['tcp', 'address/suspected-no-answer'],
  ] as const)('over %s after a rank got no answer from its peer', (transport, code) => {
    const found = (outcome: RecordedRank['outcome'], changes: Partial<RecordedRank> = {}) => {
      const said = (node: string) => (node === leader ? { said: ['Failed to connect to 10.77.0.2:50004'] } : {});
      const ranks = stoppedRanks((node) => ({ ...said(node), ...given({ outcome }), ...changes }));
      return suspicionsIn(llamaFleet({ placement: { transport } }), { ranks });
    };

    it("suggest rebooting the cable's two Macs, then replacing the cable", () => {
      const [first, ...others] = found('exited');
      expect([first?.code, subjectText(first?.subject), others]).toEqual([code, 'link studio-1:2 <-> studio-2:2', []]);
      expect(found('exited', { failedIn: 'BOOT-of-before' })[0]?.hint).toContain('At the rack: replace this cable');
    });

    it('disappear once the placement has served', () => {
      expect(found('served')).toEqual([]);
    });
  });

  it('are absent without an error from this boot session, or if the file sets the placement to stopped', () => {
    expect(short({ ranks: dead })).toEqual([]);
    const before = { 'studio-2': said('studio-2', 'errno 12', 'BOOT-of-before') };
    expect(short({ ranks: dead, values: before })).toEqual([]);
    const values = { 'studio-2': said('studio-2', 'errno 12') };
    const stopped = { placement: { transport: 'rdma', state: 'stopped' } } as const;
    expect(short({ ranks: dead, values }, stopped)).toEqual([]);
  });

  it('escape text that a rank printed', () => {
    const values = { 'studio-2': said('studio-2', 'errno 12 \u001b[2J') };
    expect(suspicions({ ranks: dead, values })[0]?.detail).not.toContain('\u001b');
  });

  it('cover every node that logged an error', () => {
    const values = Object.fromEntries(followers.map((node) => [node, said(node, 'errno 12')]));
    expect(short({ ranks: dead, values })).toEqual(['rdma/suspected-exhausted nodes studio-2, studio-3']);
  });
});

onOnePage('rdma-suspicions');
