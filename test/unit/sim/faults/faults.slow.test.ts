import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { codes } from '../../../../src/engine/diagnose/rules.ts';
import { type ActiveFault, type FaultName, faultNames, parseFault } from '../../../../src/sim/faults/faults.ts';
import { macBehind, macNamed, type SimulatedFleet } from '../../../../src/sim/model/fleet.ts';
import { nodeFiles } from '../../../../src/sim/render-node.ts';
import { answer, applyFaults, broken, desiredRack, pair, simulated } from '../../../rack/rack.ts';

const healthy = simulated();
const nodes = healthy.macs.map(({ name }) => name);
/** Targets with the same meaning after any other fault. */
const fixedTargets: Partial<Readonly<Record<FaultName, string>>> = {
  'idle-dead-port': 'studio-2:3',
  'cable-40g': 'studio-2:3',
  'cable-demoted': 'studio-2:3',
  'cable-doubled': 'studio-3:4',
  'cable-extra': 'studio-1:5,studio-4:5',
  'cable-foreign': 'studio-2:1',
  'cable-missing': 'studio-2:3',
  'cable-slow': 'studio-2:3',
  'cable-swapped': 'studio-2:2,studio-2:4',
  'hub-between': 'studio-1:3',
  'hub-hides-peer': 'studio-1:4',
};
const everyFault: readonly ActiveFault[] = faultNames.map((fault) => ({
  fault,
  target: fixedTargets[fault] ?? 'studio-2',
}));

function refusal(fleet: SimulatedFleet, fault: FaultName, target: string): string {
  const result = applyFaults(fleet, [{ fault, target }]);
  if (result.kind !== 'refused') return 'not refused';
  const [{ code, detail, hint }] = result.diagnostics;
  return `${code}: ${plainText(detail)} ${plainText(hint)}`;
}

describe('the fault registry', () => {
  it('suggests the closest fault name for a typo', () => {
    const result = parseFault('cable-swaped', 'studio-1');
    expect(result.kind === 'refused' && result.diagnostic.code).toBe('sim/unknown-fault');
    expect(result.kind === 'refused' && plainText(result.diagnostic.hint)).toContain('Did you mean cable-swapped?');
  });

  it('suggests no fault if the words do not resemble any fault name', () => {
    const result = parseFault('x'.repeat(10_000), 'studio-1');
    expect(result.kind === 'refused' && result.diagnostic.hint).toBe(codes['sim/unknown-fault'].hint);
  });

  it('parses the name of an existing fault', () => {
    expect(parseFault('macos-old', 'studio-1')).toEqual({
      kind: 'fault',
      active: { fault: 'macos-old', target: 'studio-1' },
    });
  });
});

describe("a fault's target", () => {
  it.each<readonly [FaultName, string, string]>([
    ['rdma-disabled', 'studio-5', 'Did you mean studio-'],
    ['rdma-disabled', 'nothing-like-it', 'Nodes: studio-1, studio-2, studio-3, studio-4'],
    ['rdma-disabled', '__proto__', 'This rack has no node "__proto__"'],
    ['cable-missing', 'studio-1', 'is not of the form NODE:RECEPTACLE. Example: studio-1:2'],
    ['cable-missing', 'studio-1:9', 'studio-1 has no receptacle 9. A Mac15,14 has receptacles 1 to 6.'],
    [
      'cable-missing',
      'studio-1:5',
      'No cable is plugged into studio-1:5. Receptacles with a cable: studio-1:2, studio-1:3, studio-1:4.',
    ],
    ['cable-swapped', 'studio-1:2', 'does not name two receptacles'],
    ['cable-swapped', 'studio-1:2,studio-1:2', 'both ends are the same receptacle'],
    ['cable-swapped', 'studio-1:1,studio-1:6', 'neither receptacle has a cable'],
    ['cable-swapped', 'studio-1:2,studio-2:2', 'both ends belong to the same cable'],
    ['cable-swapped', 'studio-1:2,studio-1:3,studio-1:4', 'does not name two receptacles'],
    ['cable-swapped', 'studio-9', 'This rack has no node "studio-9"'],
    ['cable-extra', 'studio-1:2,studio-2:6', 'studio-1:2 is not free'],
    ['cable-extra', 'studio-1:6,studio-1:6', 'both ends are the same receptacle'],
    ['cable-extra', 'studio-9', 'This rack has no node "studio-9"'],
    ['cable-doubled', 'studio-1:6', 'No cable is plugged into studio-1:6.'],
    ['cable-foreign', 'studio-1', 'is not of the form NODE:RECEPTACLE'],
    ['hub-between', 'studio-1:6', 'No cable is plugged into studio-1:6.'],
    ['gid-missing', 'studio-1:6', 'No cable is plugged into studio-1:6.'],
    ['wrong-mac', 'studio-1,studio-1', 'both nodes are the same Mac'],
    ['wrong-mac', 'studio-1,studio-2,studio-3', 'names more than two nodes'],
  ])('is rejected for %s if it is %s', (fault, target, text) => {
    expect(refusal(healthy, fault, target)).toContain('sim/bad-fault-target: ');
    expect(refusal(healthy, fault, target)).toContain(text);
  });

  it('is rejected if the fault would change nothing', () => {
    const bridged = simulated({ ...desiredRack, thunderbolt: { ...desiredRack.thunderbolt, bridge: 'keep' } });
    expect(refusal(bridged, 'bridge-active', 'studio-1')).toContain('the bridge already exists');
    expect(refusal(bridged, 'gid-missing', 'studio-1')).toContain('bridged and have no address');
    const old = simulated({ ...desiredRack, macos: { version: '26.1' } });
    expect(refusal(old, 'macos-old', 'studio-1')).toContain('the Mac already has this version');
    expect(refusal(pair({ models: ['Mac16,10', 'Mac16,10'], ends: [1, 1] }), 'cable-40g', 'one:1')).toContain(
      'already',
    );
    const single = simulated({
      ...desiredRack,
      nodes: desiredRack.nodes.slice(0, 1),
      thunderbolt: { ...desiredRack.thunderbolt, links: [] },
    });
    expect(refusal(single, 'wrong-mac', 'studio-1')).toContain('both nodes are the same Mac');
    expect(refusal(single, 'gid-missing', 'studio-1')).toContain('the Mac has no cable');
    expect(refusal(single, 'gid-second', 'studio-1')).toContain('the Mac has no cable');
    expect(refusal(single, 'cable-missing', 'x')).toContain('This rack has no cables.');
    expect(refusal(single, 'cable-missing', 'studio-1:1')).toContain('studio-1 has no cables.');
  });
});

describe('a fault list', () => {
  it('leaves the fleet healthy if empty', () => {
    expect(applyFaults(healthy, [])).toEqual({ kind: 'fleet', fleet: healthy, active: [] });
  });

  it('contains a fault only once per target in any notation', () => {
    const once = applyFaults(healthy, [{ fault: 'cable-swapped', target: 'studio-1' }]);
    const twice = applyFaults(healthy, [
      { fault: 'cable-swapped', target: 'studio-1' },
      { fault: 'cable-swapped', target: 'studio-1:2,studio-1:3' },
    ]);
    expect(twice).toEqual(once);
    expect(once.kind === 'fleet' && once.active).toEqual([{ fault: 'cable-swapped', target: 'studio-1:2,studio-1:3' }]);
  });

  it("loses exactly a removed fault's effect", () => {
    fc.assert(
      fc.property(fc.subarray([...everyFault], { minLength: 1 }), fc.nat(), (active, pick) => {
        const others = (list: readonly ActiveFault[]): readonly ActiveFault[] =>
          list.filter((_, index) => index !== pick % active.length);
        const result = applyFaults(healthy, active);
        fc.pre(result.kind === 'fleet');
        const remaining = result.kind === 'fleet' ? others(result.active) : [];
        expect(applyFaults(healthy, remaining)).toEqual(applyFaults(healthy, others(active)));
      }),
    );
  });

  it('never changes the original fleet', () => {
    const before = JSON.stringify(healthy);
    for (const fault of everyFault) broken(healthy, fault);
    expect(JSON.stringify(healthy)).toBe(before);
  });
});

describe('an SSH connection fault', () => {
  const connection = (fault: FaultName): unknown =>
    macBehind(broken(healthy, { fault, target: 'studio-2' }), 'studio-2')?.connection;

  it('sets the connection state', () => {
    expect(connection('wrong-host-key')).toEqual({ hostKey: 'other', filevault: 'unlocked' });
    expect(connection('filevault-locked')).toEqual({ hostKey: 'own', filevault: 'preboot' });
    expect(connection('connection-drop')).toEqual({ hostKey: 'own', filevault: 'unlocked', dropAfterBytes: 1_900 });
  });

  it('stays with the address if the address leads to a different Mac', () => {
    const fleet = broken(
      healthy,
      { fault: 'wrong-host-key', target: 'studio-1' },
      { fault: 'filevault-locked', target: 'studio-2' },
      { fault: 'wrong-mac', target: 'studio-1' },
    );
    const seen = macBehind(fleet, 'studio-1');
    expect(seen?.serial).toBe(macNamed(fleet, 'studio-2')?.serial);
    expect(seen?.connection).toEqual({ hostKey: 'other', filevault: 'preboot' });
  });

  it('cannot exist for a node that is not in the file', () => {
    expect(macBehind(healthy, 'constructor')).toBeUndefined();
    expect(nodeFiles(healthy, 'studio-9')).toEqual([]);
  });
});

describe("a simulated node's output", () => {
  it.each([{ fault: undefined, target: '' }, ...everyFault])(
    'does not name a fault or diagnostic under $fault',
    ({ fault, target }) => {
      const fleet = fault === undefined ? healthy : broken(healthy, { fault, target });
      const names = [...faultNames, ...Object.keys(codes)];
      const texts = nodes.flatMap((node) => nodeFiles(fleet, node).map(({ path, text }) => `${path}\n${text}`));
      expect(texts.length).toBeGreaterThan(300);
      expect(names.filter((name) => texts.some((text) => text.includes(name)))).toEqual([]);
    },
  );

  it('shows PORT_DOWN for every cable whose other end has no RDMA', () => {
    const fleet = broken(healthy, { fault: 'rdma-disabled', target: 'studio-3' });
    const states = (node: string): number =>
      answer(fleet, node, 'ibv_devinfo/no-arguments.out').match(/PORT_ACTIVE \(4\)/g)?.length ?? 0;
    expect(nodes.map(states)).toEqual([2, 2, 0, 2]);
  });
});
