import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { diagnoseFleet } from '../../../src/engine/diagnose/diagnose-fleet.ts';
import { troublesOf } from '../../../src/engine/diagnose/troubles.ts';
import { nodeSubject } from '../../../src/model/subject.ts';
import { rdmaSwitches } from '../../../src/rack/rdma/switch-reading.ts';
import { doctorText, doctorJson as jsonItself } from '../../../src/report/doctor.ts';
import { plainPage } from '../../rack/page.ts';
import { desiredFleet, meshOfFour, observedFleet, type RackChanges } from '../../rack/rack.ts';
import { onOnePage, onPage } from '../one-page.ts';

const doctorJson = onPage(jsonItself);

const disabled = { 'rdma-state': 'disabled', 'rdma-devices': [], 'rdma-ports': [] } as const;

/** A rack with nearly every kind of finding. */
const broken: RackChanges = {
  cables: meshOfFour.slice(1),
  values: {
    'studio-2': disabled,
    'studio-3': disabled,
    'studio-4': { 'bridge-preferences': [{ name: 'bridge0', interfaces: ['en3', 'en4'], auto: 'thunderbolt-bridge' }] },
  },
  unknown: { 'studio-1': { filevault: 'timed-out' } },
};

function input(changes: RackChanges) {
  const desired = desiredFleet();
  const observation = observedFleet(changes);
  const troubles = troublesOf({ desired, observation, findings: diagnoseFleet(desired, observation), placements: [] });
  return {
    desired,
    observation,
    troubles,
    switches: rdmaSwitches(troubles, observation),
    budgets: [],
    isSimulated: true,
  };
}

const show = (changes: RackChanges, columns = 80): string =>
  doctorText(input(changes), plainPage({ columns, isSimulated: true }));

const golden = (name: string): string => `golden/doctor-${name}.txt`;

describe('the text output of doctor', () => {
  it('reports a healthy rack in one line', async () => {
    await expect(show({})).toMatchFileSnapshot(golden('healthy'));
  });

  it('lists a cause, an action and evidence for each finding, in repair order', async () => {
    await expect(show(broken)).toMatchFileSnapshot(golden('broken'));
  });

  it.each([20, 40, 59])('fits %s columns except for commands to copy', (columns) => {
    const wide = show(broken, columns)
      .split('\n')
      .filter((line) => line.length > columns && !/meshwright|sudo|rdma_ctl/.test(line));
    expect(wide).toEqual([]);
  });

  it('lists nodes that were not asked, and why a node could not be observed', () => {
    expect(show({ cables: meshOfFour.slice(1) })).toContain(' 1 error. It needs a manual step at the rack.');
    expect(show({ cables: [] })).toContain(' 6 errors. All need a manual step at the rack.');
    const failures = {
      'studio-2': [diagnose('ssh/unreachable', { detail: 'No answer.', subject: nodeSubject('studio-2') })],
    };
    const text = show({ unreachable: ['studio-2'], failures, names: ['studio-1', 'studio-2', 'studio-3'] });
    expect(text).toContain('Not observed: studio-4.');
    expect(text).toContain('studio-2: No answer.');
  });

  it('escapes all text from a node', () => {
    const text = show({
      values: { 'studio-1': { identity: { serial: 'A\u001b[2J', hardwareUuid: 'UUID-studio-3' } } },
    });
    expect(text).toContain('UUID-studio-3');
    expect(text).not.toContain('\u001b');
  });
});

describe('the JSON output of doctor', () => {
  const schema: unknown = JSON.parse(
    readFileSync(new URL('../../../schemas/doctor.schema.json', import.meta.url), 'utf8'),
  );
  const validate = new Ajv2020({ strict: true, allErrors: true }).compile(schema as object);

  it.each([{}, broken, { unreachable: ['studio-2'] }])('follows its schema', (changes: RackChanges) => {
    expect(validate(doctorJson(input(changes))) ? [] : validate.errors).toEqual([]);
  });

  it('does not name a command for a Mac that denies sudo', () => {
    const power = { power: { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true } };
    const commandsWith = (sudo: 'allowed' | 'denied') =>
      doctorJson(input({ values: { 'studio-1': { ...power, sudo } } })).troubles.find(
        ({ code }) => code === 'power/settings',
      )?.commands;
    expect([commandsWith('allowed'), commandsWith('denied')]).toEqual([['meshwright apply --sim'], []]);
  });
});

onOnePage('doctor-json');
