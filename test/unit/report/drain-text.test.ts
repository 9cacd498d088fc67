import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../src/model/fact-values.ts';
import { drainLines } from '../../../src/report/drain-text.ts';
import { observedFleet } from '../doctor/fleet-builder.ts';
import { doormanSight, doorSight } from '../doorman/door-sight.ts';
import { rack } from '../playbooks/rack.ts';
import { settledValues } from '../resources/settled-rack.ts';

const qwen = rack.placements.find(({ name }) => name === 'qwen') ?? expect.fail('the rack has no qwen');
const closed = '/Library/Application Support/meshwright/doorman/8080/closed/qwen';

/** What is said when this is seen of the leader. */
function said(seen: Partial<FactValues>): string {
  const values = { 'studio-3': { ...settledValues()['studio-3'], ...seen } as FactValues };
  const [line, ...more] = drainLines(qwen, {
    fleet: rack,
    seen: observedFleet({ values }),
    waitMs: 90_000,
    leaders: qwen.nodes.slice(0, 1),
  });
  expect(more).toEqual([]);
  return line ?? '';
}

const files: FactValues['files'] = [{ path: closed, digest: '00', state: 'intact' }];
const services: FactValues['services'] = [{ label: 'dev.meshwright.doorman.8080', state: 'running', pid: 7 }];
const inside = (running: number): FactValues['doormen'] => [doormanSight([doorSight({ placement: 'qwen', running })])];

describe('the verdict of a drain', () => {
  it('says that nobody is inside, and what opens the door again', () => {
    expect(said({ files, services, doormen: inside(0) })).toBe(
      'qwen is drained: its door is closed, and nobody is inside. What opens it: meshwright start qwen, or the next apply.',
    );
  });

  it('says how many are inside after how long, and that the door stays closed', () => {
    expect(said({ files, services, doormen: inside(2) })).toMatch(
      /^qwen is not drained: 2 inside after 90 s\. Its door stays closed;/,
    );
  });

  it('is no success where the door is open, the doorman silent or the leader away', () => {
    expect(said({ services, doormen: inside(0) })).toBe('qwen is not drained: its door on studio-3 is open.');
    const silent: FactValues['doormen'] = [{ kind: 'silent', port: 8_080, reason: 'no answer in time' }];
    expect(said({ files, services, doormen: silent })).toMatch(/^qwen: nobody can say who is inside\. The doorman at/);
    expect(
      drainLines(qwen, {
        fleet: rack,
        seen: { ...observedFleet({ values: {} }), nodes: {} },
        waitMs: 1,
        leaders: qwen.nodes.slice(0, 1),
      }),
    ).toEqual(['qwen: its leader studio-3 could not be observed.']);
  });

  it('counts who is inside at the door that an endpoint has left, and knows nothing where no doorman has it', () => {
    const service = (port: number, ...behind: readonly string[]) =>
      ({ label: `dev.meshwright.doorman.${port}`, state: 'running', pid: port, behind }) as const;
    const old = doormanSight([doorSight({ placement: 'qwen', running: 3 })], 8_070);
    const left: FactValues['files'] = [{ path: closed.replace('8080', '8070'), digest: '00', state: 'intact' }];
    const beside = { services: [service(8_070, 'qwen'), service(8_080, 'qwen')], doormen: [old, ...inside(0)] };
    expect(said({ ...beside, files: [...files, ...left] })).toMatch(/^qwen is not drained: 3 inside after 90 s\./);
    expect(said({ ...beside, files })).toBe('qwen is not drained: its door on studio-3 is open.');
    const others = { ...beside, services: [service(8_070, 'qwen'), service(8_080, 'chat')] };
    const unknown =
      'qwen: nobody can say who is inside. The doorman at port 8080 does not have qwen behind it yet. What';
    for (const kept of [left, [...files, ...left]]) {
      expect(said({ ...others, files: kept })).toContain(unknown);
    }
  });

  it('is told leader by leader where one of them is away or not drained, and once where both are', () => {
    const [first, second] = [settledValues()['studio-3'], settledValues()['studio-2']];
    const drained = { files, services, doormen: inside(0) };
    const both = (one: Partial<FactValues>, unreachable: readonly string[] = []): readonly string[] => {
      const values = { 'studio-3': { ...first, ...one }, 'studio-2': { ...second, ...drained } };
      const seen = observedFleet({ values: values as Record<string, FactValues>, unreachable });
      return drainLines(qwen, { fleet: rack, seen, waitMs: 90_000, leaders: qwen.nodes });
    };
    const opening = 'What opens it: meshwright start qwen, or the next apply.';
    const other = `qwen is drained on studio-2: its door is closed, and nobody is inside. ${opening}`;
    expect(both(drained)).toEqual([`qwen is drained: its door is closed, and nobody is inside. ${opening}`]);
    expect(both({}, ['studio-3'])).toEqual(['qwen: its leader studio-3 could not be observed.', other]);
    expect(both({ files, services, doormen: inside(2) })).toEqual([
      expect.stringMatching(/^qwen is not drained on studio-3: 2 inside after 90 s\. /),
      other,
    ]);
  });
});
