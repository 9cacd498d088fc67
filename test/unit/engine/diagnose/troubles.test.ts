import { describe, expect, it } from 'vitest';
import type { Code } from '../../../../src/diagnostics/code-entry.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { hasTrait } from '../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { diagnoseFleet } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import { codes, definedCodes } from '../../../../src/engine/diagnose/rules.ts';
import {
  type HeldPlacement,
  type Trouble,
  troublesOf,
  withoutConsequences,
} from '../../../../src/engine/diagnose/troubles.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { RdmaPort } from '../../../../src/model/facts/rdma.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { linkSubject, nodeSubject, placementSubject, subjectText } from '../../../../src/model/subject.ts';
import type { RuleCode } from '../../../../src/rack/define-rule.ts';
import { rdmaSwitches } from '../../../../src/rack/rdma/switch-reading.ts';
import {
  desiredFleet,
  healthyFacts,
  meshOfFour,
  observedFleet,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { onOnePage, sayValue } from '../../one-page.ts';

const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'] as const;
const disabled: Partial<FactValues> = { 'rdma-state': 'disabled', 'rdma-devices': [], 'rdma-ports': [] };
const chat: HeldPlacement = { name: 'chat', nodes: names.map(nodeName), standing: 'differs', transport: 'rdma' };

function troubles(changes: RackChanges, placements: readonly HeldPlacement[] = []): readonly Trouble[] {
  const desired = desiredFleet();
  const observation = observedFleet(changes);
  return sayValue(troublesOf({ desired, observation, findings: diagnoseFleet(desired, observation), placements }));
}

/** The ports of a node with those of some interfaces down. */
function portsDown(name: string, ...devices: readonly string[]): readonly RdmaPort[] {
  const ports = healthyFacts(name, receptacles(name, 6, meshOfFour))['rdma-ports'];
  return ports.map((port) => (devices.includes(port.device) ? { ...port, state: 'down' } : port));
}

const short = ({ stage, finding }: Trouble): string => `${stage} ${finding.code} ${subjectText(finding.subject)}`;
const evidenceOf = (found: Trouble | undefined) => found?.evidence.map(({ node, fact }) => `${node} ${fact}`);

describe('findings in repair order', () => {
  it('are empty for a healthy rack', () => {
    expect(troubles({})).toEqual([]);
  });

  it("list neighbors' ports and the waiting placement under the Mac whose RDMA is disabled", () => {
    const values = {
      'studio-3': disabled,
      'studio-1': { 'rdma-ports': portsDown('studio-1', 'rdma_en4') },
      'studio-4': { 'rdma-ports': portsDown('studio-4', 'rdma_en5') },
    };
    const found = troubles({ values }, [chat]);
    expect(found.map(short)).toEqual(['rdma-switch rdma/disabled node studio-3']);
    expect(found[0]?.hanging).toEqual(['RDMA ports at studio-1:3, studio-4:4', 'placement chat']);
  });

  it("omit a placement's finding if a cause already blocks the placement", () => {
    const cause = diagnose(codes['rdma/disabled'], { subject: nodeSubject('studio-3'), detail: 'It is off.' });
    const hung = diagnose('mesh/not-serving', { subject: placementSubject('chat'), detail: 'It is hung.' });
    expect(withoutConsequences([cause, hung], [chat])).toEqual([cause]);
    expect(withoutConsequences([cause, hung], [{ ...chat, transport: 'tcp' }])).toEqual([cause, hung]);
  });

  it("omit a placement's finding for each cable warning that blocks a plan", () => {
    const end = (name: string) => ({ node: nodeName(name), receptacle: 2 });
    const subject = linkSubject([end('studio-1'), end('studio-2')]);
    const hung = diagnose('mesh/not-serving', { subject: placementSubject('chat'), detail: 'It is stopped.' });
    const holding = Object.values<RuleCode & Code>(definedCodes).filter((one) => hasTrait(one, 'holds-starts'));
    for (const code of holding) {
      const cause = diagnose(code, { subject, detail: 'A hub is between.' });
      expect(withoutConsequences([cause, hung], [{ ...chat, transport: 'tcp' }])).toEqual([cause]);
    }
    const refused = Object.values<RuleCode & Code>(definedCodes).filter(
      ({ code, role, severity }) =>
        code.startsWith('cabling/') && typeof role !== 'string' && role.when === undefined && severity === 'warning',
    );
    expect(refused).toEqual(holding);
  });

  it('do not list a placement that uses TCP as affected by disabled RDMA', () => {
    const [found] = troubles({ values: { 'studio-3': disabled } }, [{ ...chat, transport: 'tcp' }]);
    expect(found?.finding.code).toBe('rdma/disabled');
    expect(found?.hanging).toEqual([]);
  });

  it('list neither serving placements nor placements on other Macs as affected', () => {
    const others = { ...chat, nodes: [nodeName('studio-1'), nodeName('studio-2')] };
    const found = troubles({ values: { 'studio-3': disabled } }, [{ ...chat, standing: 'met' }, others]);
    expect(found[0]?.hanging).toEqual([]);
  });

  it('list the unchecked links under an unreachable node', () => {
    const failures = { 'studio-2': [diagnose('ssh/unreachable', { detail: 'No answer.' })] };
    const found = troubles({ unreachable: ['studio-2'], failures });
    expect(found.map(({ finding, hanging }) => [finding.code, ...hanging])).toEqual([
      ['ssh/unreachable', 'the check of 3 links'],
    ]);
  });

  it('list under a missing cable only placements on both of its Macs', () => {
    const cables = meshOfFour.slice(1);
    const pair = (name: string, ...on: readonly string[]): HeldPlacement => ({
      ...chat,
      name,
      nodes: on.map(nodeName),
    });
    const pairs = [pair('both', 'studio-1', 'studio-2'), pair('one', 'studio-1', 'studio-4')];
    expect(troubles({ cables }, pairs).map(({ hanging }) => hanging)).toEqual([['placement both']]);
  });

  it('name the command and the receptacle that their evidence comes from', () => {
    const peers = receptacles('studio-1', 6, meshOfFour).map((one) => ({
      ...one,
      peers: one.peers.map((peer) => ({ ...peer, advertisesRdma: one.receptacle !== 3 })),
    }));
    const [found] = troubles({ values: { 'studio-3': disabled, 'studio-1': { thunderbolt: peers } } });
    expect(evidenceOf(found)).toEqual(['studio-3 rdma-state', 'studio-3 rdma-switch', 'studio-1 thunderbolt']);
  });

  it('include RDMA enabled at both ends as evidence for a port that is down', () => {
    const [found] = troubles({ values: { 'studio-3': { 'rdma-ports': portsDown('studio-3', 'rdma_en4') } } });
    const own = ['rdma-state', 'rdma-ports', 'thunderbolt'].map((fact) => `studio-3 ${fact}`);
    expect(evidenceOf(found)).toEqual([...own, 'studio-2 rdma-state']);
  });

  it('show unobserved facts as evidence', () => {
    const [found] = troubles({ unknown: { 'studio-2': { power: 'timed-out' } } });
    expect([found?.stage, evidenceOf(found)]).toEqual(['nodes', ['studio-2 power']]);
  });

  it('come in the order RDMA switch, bridges, cables, nodes', () => {
    const bridged: Partial<FactValues> = {
      'bridge-preferences': [{ name: 'bridge0', interfaces: ['en3', 'en4', 'en5'], auto: 'thunderbolt-bridge' }],
    };
    const found = troubles({
      cables: meshOfFour.slice(1),
      values: {
        'studio-4': disabled,
        'studio-2': bridged,
        'studio-1': { power: { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true } },
      },
    });
    expect(found.map(({ stage }) => stage)).toEqual(['rdma-switch', 'bridges', 'cables', 'nodes']);
  });
});

describe('manual steps for the RDMA switch', () => {
  const switches = (changes: RackChanges) => rdmaSwitches(troubles(changes), observedFleet(changes));
  const on27 = { ...disabled, 'rdma-switch': 'off', 'macos-version': { version: '27.0', build: '26A428' } } as const;

  it('require a single visit to Recovery for all Macs before macOS 27', () => {
    const { recovery, systemSettings } = switches({ values: { 'studio-2': disabled, 'studio-4': disabled } });
    expect(systemSettings).toBeUndefined();
    expect(recovery?.nodes).toEqual(['studio-2', 'studio-4']);
    expect(plainText(recovery?.steps[0] ?? '')).toBe('From this computer: meshwright shutdown studio-2 studio-4');
    expect(recovery?.steps).toContain('Type: rdma_ctl enable');
  });

  it('use System Settings from macOS 27 on, and Recovery for the other Macs', () => {
    const { recovery, systemSettings } = switches({
      values: { 'studio-2': on27, 'studio-3': on27, 'studio-4': disabled },
    });
    expect(recovery?.nodes).toEqual(['studio-4']);
    expect(systemSettings?.nodes).toEqual(['studio-2', 'studio-3']);
    expect(plainText(systemSettings?.steps.at(-1) ?? '')).toBe(
      'From this computer, when RDMA is on everywhere: meshwright reboot studio-2 studio-3',
    );
  });

  it('use Recovery for a Mac whose macOS version is unknown', () => {
    const unknown = { 'studio-2': { 'macos-version': 'timed-out' as const } };
    expect(switches({ values: { 'studio-2': disabled }, unknown }).recovery?.nodes).toEqual(['studio-2']);
  });

  it('are not needed if RDMA is enabled everywhere or not required', () => {
    expect(switches({ cables: meshOfFour.slice(1) })).toEqual({});
    const desired = desiredFleet();
    const relaxed = { ...desired, thunderbolt: { ...desired.thunderbolt, rdma: 'auto' as const } };
    const observation = observedFleet({ values: { 'studio-2': disabled } });
    const findings = diagnoseFleet(relaxed, observation);
    const found = troublesOf({ desired: relaxed, observation, findings, placements: [] });
    expect(rdmaSwitches(found, observation)).toEqual({});
  });
});

onOnePage('troubles');
