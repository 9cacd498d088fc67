import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { type Cure, nextCure } from '../../../../src/engine/diagnose/next-cure.ts';
import { darkProblem, hasBootedSince, nodesWithOutlet } from '../../../../src/engine/diagnose/outlet-check.ts';
import { loadCluster } from '../../../../src/engine/load-cluster.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { type NodeName, nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import type { PlacementSurvey } from '../../../../src/rack/placement/check/placement-survey.ts';

const names = ['a', 'b', 'c'].map(nodeName);
const [a, b] = names as [NodeName, NodeName];

/** An observation in which these Macs do not answer. */
const dark = (silent: string, code: 'ssh/timed-out' | 'ssh/locked-at-filevault' = 'ssh/timed-out') => ({
  nodes: {},
  failures: Object.fromEntries(
    [...silent].map((name): [string, readonly Diagnostic[]] => [
      name,
      [diagnose(code, { subject: nodeSubject(name), detail: 'It is away.' })],
    ]),
  ),
});

const file = (more = '') => `schema: 1
name: rack
nodes:
  a: { host: a.lan, outlet: left/3 }
  b: { host: b.lan${more} }
pdus:
  left: { driver: command, powerOn: [pductl, "n{outlet}"], powerOff: [pductl, "f{outlet}"], powerState: [pductl, "{outlet}?"] }
`;
const fleetOf = (text: string): DesiredFleet => {
  const { fleet } = loadCluster(text, 'cluster.yaml');
  if (fleet === undefined) throw new Error('the file has errors');
  return fleet;
};

describe('an outlet that was switched off', () => {
  const [first] = nodesWithOutlet(fleetOf(file()));
  if (first === undefined) throw new Error('no node has an outlet');
  const problem = (before: string, now: string): string | undefined => {
    const found = darkProblem(first, { before: dark(before), now: dark(now) }, names);
    return found && `${found.code}: ${plainText(found.detail)}`;
  };
  const off = 'outlet/wrong-mac: While outlet left/3 was off,';
  const given = 'The file gives this outlet to a.';

  it.each([
    ['its Mac alone went dark', '', 'a', undefined],
    ['its Mac was dark before, and no other Mac is now', 'a', 'a', undefined],
    ['another Mac was dark before, too', 'ab', 'ab', undefined],
    ['another Mac came back meanwhile', 'ab', 'a', undefined],
    ['its Mac still answers', 'a', '', `${off} a still answered. ${given}`],
    ['another Mac went dark', 'a', 'ac', `${off} c stopped answering. ${given}`],
    ['only another Mac went dark', '', 'b', `${off} a still answered and b stopped answering. ${given}`],
    ['all Macs went dark', '', 'abc', `${off} b, c stopped answering. ${given}`],
  ])('is judged by the Macs that answer: %s', (_, before, now, expected) => {
    expect(problem(before, now)).toBe(expected);
  });

  it('did not turn off a Mac that waits for its FileVault password', () => {
    const now = { nodes: {}, failures: { ...dark('a').failures, ...dark('b', 'ssh/locked-at-filevault').failures } };
    expect(darkProblem(first, { before: dark('a'), now }, names)).toBeUndefined();
  });
});

describe('a Mac with an outlet', () => {
  it('has the commands of its PDU with its own outlet, without the variables of the secrets in the file', () => {
    const hiding = file(', password: { env: MESH_PASSWORD }, outlet: left/1');
    expect(nodesWithOutlet(fleetOf(hiding)).map(({ name, outlet }) => [name, outlet.name, outlet.off])).toEqual([
      ['a', 'left/3', { kind: 'command', argv: ['pductl', 'f3'], hidden: ['MESH_PASSWORD'] }],
      ['b', 'left/1', { kind: 'command', argv: ['pductl', 'f1'], hidden: ['MESH_PASSWORD'] }],
    ]);
  });

  it('keeps its power while it is on hold', () => {
    const held = fleetOf(file(', outlet: left/1, hold: { reason: parts }'));
    expect(nodesWithOutlet(held).map(({ name }) => name)).toEqual(['a']);
  });

  it.each([
    ['after', 1_000, 0, true],
    ['in the same second, by a clock without fractions', 1_000.9, 0, true],
    ['before', 1_100, 0, false],
    ['after, although its clock is an hour ahead', 1_000, 3_600_000, false],
    ['before, although its clock is an hour behind', 4_000, -3_600_000, true],
  ])('has booted since a moment: %s', (_, since, offsetMs, expected) => {
    const facts = {
      'boot-session': known({ uuid: 'U', bootedAtEpochSeconds: 1_000 }),
      clock: known({ offsetMs, uncertaintyMs: 10 }),
    };
    const observation = { nodes: { a: { node: a, facts } }, failures: {} };
    expect(hasBootedSince(observation as never, a, since * 1_000)).toBe(expected);
    const unseen = { ...facts, clock: unknown('failed', 'no answer') };
    expect(hasBootedSince({ nodes: { a: { node: a, facts: unseen } }, failures: {} } as never, a, 0)).toBeUndefined();
  });
});

describe('the next cure for a Mac that does not answer', () => {
  const survey: PlacementSurvey = {
    ...{ name: 'chat', nodes: [a, b], transport: 'rdma', wanted: 'serving' },
    ...{ state: 'unknown', evidence: 'a is away', standing: 'unknown' },
  };
  const next = (outlets: readonly string[], tried: readonly Cure[], observation = dark('a')) =>
    nextCure(
      { troubles: [], placements: [survey], clients: [], changed: [], cabled: [], observation, outlets },
      ['chat'],
      tried,
    );
  const [away] = dark('a').failures['a'] ?? [];
  if (away === undefined) throw new Error('no failure');
  const waited: Cure = { rung: 'wait', names: ['a'], finding: away };

  it('is a power cycle if it has not come back by itself and has an outlet', () => {
    expect(next(['a', 'b'], [])).toMatchObject({ cure: { rung: 'wait' } });
    expect(next(['a', 'b'], [waited])).toMatchObject({ kind: 'cure', cure: { rung: 'power-cycle', names: ['a'] } });
    expect(next(['b'], [waited])).toMatchObject({ kind: 'person' });
  });

  it('is no second power cycle, not even of another Mac', () => {
    const cycled: Cure = { ...waited, rung: 'power-cycle' };
    expect(next(['a', 'b'], [waited, cycled])).toMatchObject({ kind: 'person' });
    const both: Cure = { ...waited, names: ['a', 'b'] };
    expect(next(['a', 'b'], [waited, cycled, both], dark('ab'))).toMatchObject({ kind: 'person' });
  });

  it('is no power cycle while one of them waits for its FileVault password', () => {
    const failures = { ...dark('a').failures, ...dark('b', 'ssh/locked-at-filevault').failures };
    expect(next(['a', 'b'], [waited], { nodes: {}, failures })).toMatchObject({ kind: 'person' });
  });
});
