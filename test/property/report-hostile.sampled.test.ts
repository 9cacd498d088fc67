import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../src/diagnostics/cells.ts';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { escapeLines, escapeText } from '../../src/diagnostics/escape.ts';
import { proseText } from '../../src/diagnostics/prose-text.ts';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import type { FactName, FactValues } from '../../src/engine/observe/facts.ts';
import { nodeName } from '../../src/model/node.ts';
import { nodeSubject } from '../../src/model/subject.ts';
import { factsText } from '../../src/report/facts-text.ts';
import { statusText } from '../../src/report/status/status-text.ts';
import { plainPage } from '../rack/page.ts';
import { desiredFleet, freeReceptacle, healthyFacts, observedFleet } from '../rack/rack.ts';
import { runs } from '../runs.ts';

const factNames = Object.keys(healthyFacts('studio-1', [])).filter((name): name is FactName => name !== '');
/** Hostile output of a node: escape sequences, bidirectional marks, GitHub commands, wide and long text. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '\u001b[2J\u001b]0;x\u0007',
    '\u202eevil',
    '::error::x',
    '漢字'.repeat(20),
    'x'.repeat(200),
    `x${':'.repeat(150)}`,
    'x::error::'.repeat(20),
    'a\nb\r\nc',
  ),
);

const values = hostile.map(
  (text): Partial<FactValues> => ({
    'macos-version': { version: text, extra: text, build: text },
    hardware: { model: text, chip: text, memoryBytes: 2 ** 37 },
    identity: { serial: text, hardwareUuid: text },
    thunderbolt: [
      { ...freeReceptacle('studio-1', 1), state: 'connected', devices: [{ name: text, vendor: text, mode: text }] },
      {
        ...freeReceptacle('studio-1', 2),
        state: 'connected',
        peers: [{ domainUuid: text, model: text, name: text, advertisesRdma: true, hubsBetween: 2 }],
      },
    ],
    'hardware-ports': [{ port: text, device: text }],
    'network-services': [{ name: text, port: text, isEnabled: true }],
    services: [{ label: text, state: 'running', lastExit: text }],
    gateways: [{ kind: 'silent', port: 8_080, reason: text }],
    jobs: [{ key: text, fields: { [text]: text } }],
    leases: [{ fields: { owner: text } }],
    transactions: [{ state: 'pending', fields: { [text]: text } }],
    baseline: { values: [{ key: 'power', text }], daemons: [{ label: text, wasLoaded: true, isMoved: true }] },
  }),
);

/** A placement like those of `surveyPlacements`, without text from a node. */
const placement = {
  name: 'kimi',
  state: 'unknown' as const,
  wanted: 'serving' as const,
  standing: 'unknown' as const,
  nodes: ['studio-1', 'studio-2'].map(nodeName),
  transport: 'rdma' as const,
};

const width = fc.integer({ min: 40, max: 200 });

function check(text: string, columns: number, commands: readonly string[] = []): void {
  expect(text).not.toContain('\t');
  expect(escapeLines(text)).toBe(text);
  // Only commands to copy are never wrapped.
  const isTooWide = (line: string): boolean => columnsOf(line) > columns && !commands.includes(line.trim());
  expect(text.split('\n').filter(isTooWide)).toEqual([]);
}

describe('the text output for a rack with a hostile node', () => {
  it('shows status in plain characters, with no line wider than the page', () => {
    fc.assert(
      fc.property(values, width, fc.boolean(), (own, columns, unicode) => {
        const detail = String(own.identity?.serial);
        const failures = {
          'studio-2': [diagnose('ssh/unreachable', { detail, hint: detail, subject: nodeSubject('studio-2') })],
        };
        const observation = observedFleet({ values: { 'studio-1': own }, unreachable: ['studio-2'], failures });
        const desired = desiredFleet();
        const findings = diagnoseFleet(desired, observation);
        const lines = findings.flatMap(({ detail: text, hint }) =>
          [text, hint]
            .map((one) => proseText(one, { isSimulated: true }))
            .join('\n')
            .split('\n'),
        );
        const commands = lines.filter((line) => line.startsWith('  ')).map((line) => escapeText(line.trim()));
        const evidence = detail;
        const placements = [
          { ...placement, evidence },
          { ...placement, evidence, state: 'hung' as const, standing: 'differs' as const },
        ];
        const shown = { desired, observation, findings, placements, isSimulated: true };
        check(statusText(shown, plainPage({ columns, unicode, isSimulated: true })), columns, commands);
      }),
      { numRuns: runs(100) },
    );
  });

  it('shows facts in plain characters, with no line wider than the page', () => {
    fc.assert(
      fc.property(values, width, fc.boolean(), (own, columns, unicode) => {
        const observation = observedFleet({ values: { 'studio-1': own } });
        check(
          factsText({ observation, order: ['studio-1'], names: factNames }, plainPage({ columns, unicode })),
          columns,
        );
      }),
      { numRuns: runs(100) },
    );
  });
});
