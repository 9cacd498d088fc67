import { describe, expect, it } from 'vitest';
import { linkEndText } from '../../../src/model/node.ts';
import { acted, parseHands } from '../../../src/sim/hands.ts';
import type { SimulatedFleet } from '../../../src/sim/model/fleet.ts';
import { answer, broken, simulated } from '../../rack/rack.ts';

const healthy = simulated();

/** Performs the typed manual steps line by line. */
function typed(fleet: SimulatedFleet, ...lines: readonly string[]): SimulatedFleet {
  return lines.reduce((before, line) => {
    const parsed = parseHands(before, line.split(' '));
    if (parsed.kind === 'refused') throw new Error(`${parsed.detail} ${parsed.hint}`);
    return parsed.acts.reduce((one, act) => {
      const result = acted(one, act);
      if (result.kind === 'refused') throw new Error(result.reason);
      return result.fleet;
    }, before);
  }, fleet);
}

const cables = ({ cables: all }: SimulatedFleet): readonly string[] =>
  all.map(({ ends, gigabitsPerSecond }) => `${ends.map(linkEndText).sort().join(' ')} ${gigabitsPerSecond}`).sort();
const hanging = (fleet: SimulatedFleet): readonly string[] => fleet.hanging.map(({ end }) => linkEndText(end));
const seen = (fleet: SimulatedFleet, node: string): number =>
  answer(fleet, node, 'system_profiler/SPThunderboltDataType_-json.out').match(/receptacle_connected/g)?.length ?? 0;

describe('manual steps at the simulated rack', () => {
  it('leave an unplugged cable hanging and can plug it in at a different receptacle', () => {
    const pulled = typed(healthy, 'unplug studio-1:2');
    expect([hanging(pulled), seen(pulled, 'studio-1'), seen(pulled, 'studio-2')]).toEqual([['studio-2:2'], 2, 2]);
    const plugged = typed(pulled, 'plug studio-1:5 studio-2:2');
    expect([hanging(plugged), seen(plugged, 'studio-2')]).toEqual([[], 3]);
    expect(cables(plugged)).toContain('studio-1:5 studio-2:2 80');
    expect(cables(typed(plugged, 'move studio-1:5 studio-1:2'))).toEqual(cables(healthy));
  });

  it('remove a cable once both its plugs are out', () => {
    const out = typed(healthy, 'unplug studio-1:2 studio-2:2');
    expect([hanging(out), out.cables.length]).toEqual([[], 5]);
    expect(cables(typed(out, 'plug studio-2:2 studio-1:2 40g'))).toContain('studio-1:2 studio-2:2 40');
  });

  it('swap two plugs with the same result as single moves', () => {
    const swapped = typed(healthy, 'swap studio-4:2 studio-4:3');
    expect(swapped).toEqual(broken(healthy, { fault: 'cable-swapped', target: 'studio-4:2,studio-4:3' }));
    const byHand = typed(healthy, 'unplug studio-4:2', 'move studio-4:3 studio-4:2', 'plug studio-1:4 studio-4:3');
    expect(cables(byHand)).toEqual(cables(swapped));
  });

  it("keep a cable's speed", () => {
    const slow = broken(healthy, { fault: 'cable-40g', target: 'studio-1:2' });
    expect(cables(typed(slow, 'unplug studio-1:2', 'plug studio-2:2 studio-3:6'))).toContain(
      'studio-2:2 studio-3:6 40',
    );
  });

  it.each([
    ['unplug studio-1:6', 'nothing is plugged into studio-1:6'],
    ['move studio-1:6 studio-1:5', 'nothing is plugged into studio-1:6'],
    ['move studio-1:2 studio-1:3', 'the cable studio-1:3 <-> studio-3:2 is in studio-1:3'],
    ['plug studio-1:2 studio-2:6', 'the cable studio-1:2 <-> studio-2:2 is in studio-1:2'],
    ['plug studio-1:6 studio-1:6', 'both ends are the same receptacle'],
    ['swap studio-1:2 studio-1:6', 'nothing is plugged into studio-1:6'],
    ['swap studio-1:2 studio-2:2', 'both ends belong to the same cable'],
    ['unplug studio-1:9', 'studio-1 has no receptacle 9. A Mac15,14 has receptacles 1 to 6.'],
    ['unplug studio-9:1', 'This rack has no node "studio-9".'],
    ['shove studio-1:1', 'Unknown manual step: shove studio-1:1.'],
    ['update studio-9 26.7', 'This rack has no node "studio-9".'],
    ['update studio-1', 'Unknown manual step: update studio-1.'],
    ['update studio-1 26.6', 'is offered macOS 26.7 and macOS 27.0, not macOS 26.6'],
  ])('reject %s', (line, reason) => {
    expect(() => typed(healthy, line)).toThrow(reason);
  });

  it('install an offered macOS that the next boot starts, and never end an update that is stuck', () => {
    const stuck = broken(healthy, { fault: 'update-stuck', target: 'studio-2' });
    const installed = typed(stuck, 'update studio-1 studio-2 27').macs.map((mac) => mac.installed);
    expect(installed).toEqual([{ version: '27.0', build: '26A428' }, undefined, undefined, undefined]);
  });

  it('do not mistake one hanging cable for a different one', () => {
    const two = typed(healthy, 'unplug studio-1:2 studio-1:3');
    expect(() => typed(two, 'plug studio-2:2 studio-3:2')).toThrow('a cable with a loose end is in studio-3:2');
    expect(() => typed(two, 'plug studio-2:2 studio-1:2 40g')).toThrow(
      'the cable that hangs from studio-2:2 has a different speed',
    );
  });
});

describe('a dock on a cable', () => {
  const profile = (fleet: SimulatedFleet, node: string): string =>
    answer(fleet, node, 'system_profiler/SPThunderboltDataType_-json.out');

  it('shows the far Mac one level deeper from its own side only, or hides it', () => {
    const between = broken(healthy, { fault: 'hub-between', target: 'studio-1:2' });
    expect(profile(between, 'studio-1')).toContain('"TS5 Plus"');
    expect(profile(between, 'studio-1').match(/"Mac15,14"/g)).toHaveLength(3);
    expect(profile(between, 'studio-2')).toBe(profile(healthy, 'studio-2'));
    const hidden = broken(healthy, { fault: 'hub-hides-peer', target: 'studio-1:2' });
    expect(profile(hidden, 'studio-1').match(/"Mac15,14"/g)).toHaveLength(2);
    expect(profile(hidden, 'studio-2')).toBe(profile(healthy, 'studio-2'));
  });

  it('stays in its receptacle when the far plug is unplugged', () => {
    const between = broken(healthy, { fault: 'hub-between', target: 'studio-1:2' });
    const pulled = typed(between, 'unplug studio-2:2');
    expect([seen(pulled, 'studio-1'), seen(pulled, 'studio-2')]).toEqual([3, 2]);
    expect(seen(typed(between, 'unplug studio-1:2'), 'studio-2')).toBe(2);
  });
});
