import { describe, expect, it } from 'vitest';
import { pageFor } from '../../../../src/cli/terminal/console.ts';
import { sshCodes } from '../../../../src/diagnostics/codes/codes-ssh.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { diagnoseFleet } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import type { Page } from '../../../../src/report/page.ts';
import type { StatusInput } from '../../../../src/report/status/status-json.ts';
import { statusText } from '../../../../src/report/status/status-text.ts';
import { plainPage } from '../../../rack/page.ts';
import {
  cabledReceptacle,
  desiredFleet,
  desiredNode,
  end,
  freeReceptacle,
  links,
  meshOfFour,
  observedFleet,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';

interface Shown extends Partial<Page> {
  readonly settings?: Partial<DesiredFleet>;
}

function show(changes: RackChanges, { settings = {}, ...page }: Shown = {}): string {
  const desired = desiredFleet(settings);
  const observation = observedFleet(changes);
  const findings = diagnoseFleet(desired, observation);
  const shown = { desired, observation, findings, placements: [], isSimulated: true };
  return statusText(shown, plainPage({ isSimulated: true, ...page }));
}

const golden = (name: string): string => `golden/status-${name}.txt`;

const swapped = meshOfFour.map((text) =>
  text.includes('studio-4:2') ? text.replace('studio-4:2', 'studio-4:3') : text.replace('studio-4:3', 'studio-4:2'),
);

const tired = { power: { sleepMinutes: 10, diskSleepMinutes: 10, restartAfterPowerLoss: false } };

/** A rack with nearly every kind of finding. */
const broken: RackChanges = {
  cables: swapped.slice(1),
  values: {
    'studio-1': { ...tired, 'macos-version': { version: '26.1', build: '25B78' } },
    'studio-2': tired,
    'studio-3': { 'rdma-state': 'disabled', 'rdma-devices': [], 'rdma-ports': [] },
  },
  unknown: { 'studio-4': { filevault: 'timed-out' } },
};

/** The fourth Mac cannot be reached, with this text. */
const unreached = (
  text: { readonly detail: string; readonly hint?: string },
  code = 'ssh/unreachable',
): RackChanges => ({
  unreachable: ['studio-4'],
  failures: { 'studio-4': [diagnose(code as 'ssh/unreachable', { subject: nodeSubject('studio-4'), ...text })] },
});
const unreachable = unreached({ detail: 'studio-4.lan:22 did not answer within 10 s.' });

/** The settings of a rack of these nodes and links. */
const rackOf = (names: readonly string[], declared: readonly string[]): Partial<DesiredFleet> => ({
  nodes: names.map((name) => desiredNode(name)),
  thunderbolt: { ...desiredFleet().thunderbolt, links: links(declared) },
});

const onFallback: StatusInput['placements'][number] = {
  name: 'kimi',
  state: 'serving',
  evidence: 'its endpoint returned a token',
  wanted: 'serving',
  standing: 'differs',
  nodes: desiredFleet({}).nodes.map(({ name }) => name),
  transport: 'tcp',
  onFallback: { contextTokens: 4_096, away: [] },
};

describe('the headline of a healthy rack', () => {
  it('names a serving placement that differs from the file', () => {
    const shown = { desired: desiredFleet({}), observation: observedFleet({}), findings: [], isSimulated: false };
    const headlineWith = (placements: StatusInput['placements']) =>
      statusText({ ...shown, placements }, plainPage()).split('\n')[2];
    expect(headlineWith([onFallback])).toBe(
      '  Everything matches the file except kimi: 4 nodes, 6 links, 1 placement.',
    );
    expect(headlineWith([{ ...onFallback, standing: 'met' }])).toBe(
      '  Everything matches the file: 4 nodes, 6 links, 1 placement.',
    );
  });

  it('does not claim RDMA that was not observed', () => {
    const one = { ...onFallback, standing: 'met', transport: 'rdma' } as const;
    const shown = { desired: desiredFleet({}), observation: observedFleet({}), findings: [], isSimulated: false };
    const textWith = (transportProof: 'log' | 'start' | 'none') =>
      statusText({ ...shown, placements: [{ ...one, transportProof }] }, plainPage({ columns: 120 }));
    expect(textWith('none')).toContain(
      'Everything observed matches the file: 4 nodes, 6 links, 1 placement. Not observed: whether kimi uses RDMA.',
    );
    expect(textWith('none')).toContain('kimi   serving   rdma (declared, not seen)   studio-1..4');
    for (const seen of ['log', 'start'] as const) {
      expect(textWith(seen)).toContain('Everything matches the file: 4 nodes, 6 links, 1 placement.');
      expect(textWith(seen)).toContain('kimi   serving   rdma   studio-1..4');
    }
  });
});

describe('the status text of a rack', () => {
  it.each<[string, string, RackChanges, Shown?]>([
    ['reports a healthy rack in one line', 'healthy', {}],
    ['shows each finding once with one action', 'broken', broken],
    ['explains why a node is unreachable and reports nothing about its links', 'unreachable', unreachable],
    ['stacks nodes on a page of 40 columns', 'narrow', broken, { columns: 40 }],
  ])('%s', async (_, name, changes, page) => {
    await expect(show(changes, page)).toMatchFileSnapshot(golden(name));
  });

  it('shows Macs with 3, 4 and 6 receptacles, docks and slow cables', async () => {
    const declared = ['mini:1 <-> max:1', 'max:2 <-> ultra:2', 'mini:2 <-> ultra:3', 'max:3 <-> ultra:4'];
    const dock = { name: 'Envoy Ultra', vendor: 'OWC', mode: 'usb_four_v2' };
    const own = receptacles('ultra', 6, declared).map((one) => {
      if (one.receptacle === 1) return { ...freeReceptacle('ultra', 1), state: 'connected' as const, devices: [dock] };
      if (one.receptacle === 3) return { ...one, linkBitsPerSecond: 40e9 };
      return one.receptacle === 6 ? cabledReceptacle('ultra', 6, end('office:1')) : one;
    });
    const changes: RackChanges = {
      names: ['max', 'mini', 'ultra'],
      cables: declared,
      receptacleCount: { mini: 3, max: 4 },
      values: {
        ultra: { thunderbolt: own },
        mini: {
          hardware: { model: 'Mac16,11', chip: 'Apple M4 Pro', memoryBytes: 2 ** 36 },
          'wired-limit': { megabytes: 57_344 },
        },
        max: {
          hardware: { model: 'Mac16,9', chip: 'Apple M4 Max', memoryBytes: 2 ** 37 },
          'wired-limit': { megabytes: 122_880 },
        },
      },
    };
    const settings = rackOf(['max', 'mini', 'ultra'], declared);
    await expect(show(changes, { settings, unicode: true, isSimulated: false })).toMatchFileSnapshot(golden('mixed'));
  });

  it('stacks nodes with names too long for a table', async () => {
    const long = `${'rack-room-2-'.repeat(5)}a`;
    const names = [long, 'b'];
    const declared = [`${long}:1 <-> b:1`];
    const settings = rackOf(names, declared);
    await expect(show({ names, cables: declared }, { settings })).toMatchFileSnapshot(golden('long-names'));
  });
});

describe('the status text of the largest rack', () => {
  it.each([1, 10, 80])('names all 256 nodes on a page of %i columns', (columns) => {
    const names = Array.from({ length: 256 }, (_, at) => `n${at}`);
    const page = pageFor({ columns, hasUnicode: false, hasColor: false, isSimulated: true });
    const words = new Set(show({ names }, { settings: desiredFleet({ names }), ...page }).split(/\s+/));
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });
});

describe('a finding with several lines', () => {
  it('keeps its lines and escapes each separately', () => {
    const detail = 'The host key changed:\nknown SHA256:a\nseen SHA256:b\u001b[2J';
    const text = show(unreached({ detail, hint: 'Compare:\nssh-keygen -lf' }));
    expect(text).toContain('  error    studio-4: The host key changed:\n           known SHA256:a\n');
    expect(text).toContain('SHA256:b\\u{1b}[2J\n           -> Compare:\n              ssh-keygen -lf\n');
  });

  it('keeps a command unbroken on a separate line at any width', () => {
    const command = `  sudo /usr/libexec/PlistBuddy -c "Delete :a:b" ${'/Library/Preferences'.repeat(6)}`;
    const hint = `On studio-4:\n${command}\nThen restart the Mac.`;
    for (const columns of [40, 80, 120]) {
      const text = show(unreached({ detail: 'It is.', hint }), { columns });
      const lines = text.split('\n');
      const place = lines.findIndex((line) => line.endsWith(command.trimStart()));
      expect(lines[place]).toMatch(/^ +sudo/);
      expect(lines[place - 1]).toMatch(/-> On studio-4:$/);
      expect(lines[place + 1]).toMatch(/^ +Then restart the Mac\.$/);
    }
  });

  it('does not escape its own line breaks', () => {
    const text = show({ values: { 'studio-3': { sudo: 'denied' } } });
    expect(text).toMatch(/See the line to add:\n +meshwright enroll studio-3 --sim\n/);
    expect(text).not.toContain('\\u{');
  });

  it('keeps a path unbroken on a narrow page', () => {
    const path = `/Users/mesh/.local/state/meshwright/${'runs/'.repeat(8)}host:22/known_hosts`;
    expect(show(unreached({ detail: `See ${path} for it.` }), { columns: 60 })).toContain(path);
  });

  it('cannot be forged by a device name', () => {
    const dock = { name: 'dock\n  error    studio-9: gone', vendor: 'x', mode: 'usb_four' };
    const own = receptacles('studio-1', 6, []).map((one) =>
      one.receptacle === 2 ? { ...one, state: 'connected' as const, devices: [dock] } : one,
    );
    const text = show({ cables: [], values: { 'studio-1': { thunderbolt: own } } });
    expect(text).toContain('studio-9');
    expect(text).not.toMatch(/^ *error +studio-9/m);
  });
});

describe('the row for an unreached node', () => {
  it('has a matching reason for every connection code', () => {
    for (const code of Object.keys(sshCodes)) {
      const row = show(unreached({ detail: 'It is so.' }, code))
        .split('\n')
        .find((line) => line.startsWith('  studio-4 '));
      expect(row, code).toMatch(/^ {2}studio-4 {3}\S.* {3}\? \? \? \? \? \?$/);
      expect(row, code).not.toContain('...');
    }
  });

  it('has a short reason if no node was reached', () => {
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const locked = (name: string) => diagnose('ssh/locked-at-filevault', { subject: nodeSubject(name), detail: 'x' });
    const failures = Object.fromEntries(names.map((name) => [name, [locked(name)]]));
    const text = show({ unreachable: names, failures }, { columns: 60 });
    expect(text).toContain('studio-2   locked at FileVault');
  });
});

describe('the width of the status text', () => {
  /** Commands to copy are never broken. */
  const isCommand = (line: string): boolean => /^ +(?:sudo|meshwright) /.test(line);
  const widest = (text: string): number =>
    Math.max(...text.split('\n').map((line) => (isCommand(line) ? 0 : line.length)));

  it('is 80 columns on a page of that width', () => {
    expect(widest(show(broken))).toBe(80);
  });

  it('is exceeded at 40 columns or more only by commands to copy', () => {
    for (let columns = 40; columns <= 200; columns += 1) {
      const text = show({ ...broken, ...unreachable }, { columns });
      expect(widest(text.replaceAll(/^ +(?:sudo|meshwright) .*$/gm, ''))).toBeLessThanOrEqual(columns);
      expect(text).toMatch(/^ +sudo pmset -c sleep 0 autorestart 1$/m);
    }
  });

  it('uses all columns of a wide terminal', () => {
    expect(widest(show(broken, { columns: 200 }))).toBe(200);
  });
});

describe('the status text', () => {
  it('has the same words with and without color', () => {
    const painted = show(broken, { paint: (tone, text) => `\u0001${tone}\u0002${text}\u0003` });
    expect(painted).toContain('\u0001bad\u0002');
    expect(painted.replaceAll(/\u0001\w+\u0002|\u0003/g, '')).toBe(show(broken));
  });

  it('names unobserved nodes and does not report their links as wrong', () => {
    const desired = desiredFleet();
    const { nodes } = observedFleet();
    const observation = { nodes: Object.fromEntries(Object.entries(nodes).slice(0, 2)), failures: {} };
    const findings = diagnoseFleet(desired, observation);
    const shown = { desired, observation, findings, placements: [], isSimulated: false };
    const text = statusText(shown, plainPage());
    expect(text).toContain('Not observed: studio-3,4.');
    expect(text).not.toContain('error');
    expect(text).not.toContain('simulated');
  });
});
