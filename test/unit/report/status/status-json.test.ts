import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { diagnoseFleet } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { StatusDocument } from '../../../../src/model/documents.generated.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { surveyPlacements } from '../../../../src/rack/placement/check/placement-survey.ts';
import { statusJson } from '../../../../src/report/status/status-json.ts';
import { exoFleet, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { desiredFleet, meshOfFour, observedFleet, type RackChanges } from '../../../rack/rack.ts';

const schema: unknown = JSON.parse(
  readFileSync(new URL('../../../../schemas/status.schema.json', import.meta.url), 'utf8'),
);

function validate(document: unknown): readonly string[] {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  const check = ajv.compile(schema as object);
  return check(document) ? [] : (check.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

function show(changes: RackChanges, isSimulated = false): StatusDocument {
  const desired = desiredFleet();
  const observation = observedFleet(changes);
  const findings = diagnoseFleet(desired, observation);
  return statusJson({ desired, observation, findings, placements: [], isSimulated });
}

/** A rack with the placement `kimi`; `targets` are the observed nodes. */
function showMesh(
  ranks: Parameters<typeof threeRanks>[0],
  targets: readonly string[],
  { desired = meshFleet(), log = [] }: { desired?: DesiredFleet; log?: readonly string[] } = {},
): StatusDocument {
  const observation = observeMesh(desired, { ranks: threeRanks(ranks, { changes: { said: log } }) });
  const placements = surveyPlacements(viewOf({ desired, observation, targets: targets.map(nodeName) }));
  return statusJson({ desired, observation, findings: [], placements, isSimulated: false });
}

describe('the JSON output of status', () => {
  it('follows its schema for healthy, broken and unreachable racks', () => {
    const failures = {
      'studio-2': [diagnose('ssh/unreachable', { detail: 'No answer.', subject: nodeSubject('studio-2') })],
    };
    expect(validate(show({}))).toEqual([]);
    expect(validate(show({ cables: [], values: { 'studio-1': { sudo: 'denied' } } }, true))).toEqual([]);
    expect(
      validate(show({ unreachable: ['studio-2'], failures, unknown: { 'studio-1': { hardware: 'empty' } } })),
    ).toEqual([]);
  });

  it("has each placement's state, and the endpoint while it serves", () => {
    const all = ['studio-1', 'studio-2', 'studio-3'];
    const serving = showMesh(['joined', 'joined', 'joined'], all);
    const never = showMesh(['absent', 'absent', 'absent'], all);
    expect([validate(serving), validate(never)]).toEqual([[], []]);
    const file = { wanted: 'serving', nodes: all, transport: 'tcp', sharding: 'tensor' };
    expect(serving.placements).toEqual({
      kimi: {
        ...file,
        state: 'serving',
        evidence: 'its endpoint returned a token',
        standing: 'met',
        generation: 4,
        endpoint: { node: 'studio-1', port: 8_080 },
        transportProof: 'none',
      },
    });
    expect(never.placements).toEqual({
      kimi: { ...file, state: 'not-placed', evidence: 'no node has it', standing: 'differs' },
    });
  });

  it('explains why a rank failed and how to fix it', () => {
    const all = ['studio-1', 'studio-2', 'studio-3'];
    const line = '[jaccl] Register memory region failed';
    const failed = showMesh(['exited', 'exited', 'exited'], all, { desired: exoFleet(), log: [line] });
    expect(validate(failed)).toEqual([]);
    expect(failed.placements['kimi']?.failure).toEqual({
      node: 'studio-1',
      rank: 'rank 0 on studio-1 exited (1)',
      line,
      meaning: 'The RDMA device cannot register more memory.',
      cure: 'Restart the Mac.',
    });
  });

  it('does not match its schema with an unknown key', () => {
    expect(validate({ ...show({}), more: 1 })).toHaveLength(1);
  });

  it('omits unknown values', () => {
    const { nodes } = show({ unreachable: ['studio-2'] });
    expect(nodes['studio-2']).toEqual({ reached: false, rdma: 'unknown', bridge: 'unknown' });
  });

  it('has an assessment for every declared link and the ends of every observed cable', () => {
    const { links, cables } = show({ cables: meshOfFour.slice(1), unreachable: ['studio-4'] });
    expect(links.map((link) => `${link.ends.join(' ')} ${link.judgement}`)).toEqual([
      'studio-1:2 studio-2:2 missing',
      'studio-1:3 studio-3:2 as-declared',
      'studio-1:4 studio-4:2 unknown',
      'studio-2:3 studio-3:3 as-declared',
      'studio-2:4 studio-4:3 unknown',
      'studio-3:4 studio-4:4 unknown',
    ]);
    expect(cables).toEqual([
      { ends: ['studio-1:3', 'studio-3:2'], sight: 'as-declared', bitsPerSecond: 80e9 },
      { ends: ['studio-2:3', 'studio-3:3'], sight: 'as-declared', bitsPerSecond: 80e9 },
    ]);
  });

  it('has the key "simulated" only for simulated nodes', () => {
    expect(show({}, true).simulated).toBe(true);
    expect('simulated' in show({})).toBe(false);
  });
});
