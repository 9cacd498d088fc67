import { describe, expect, it } from 'vitest';
import { nodeVerdict } from '../../../../src/cli/look/status.ts';
import type { Trait } from '../../../../src/diagnostics/code-entry.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodesSubject } from '../../../../src/model/subject.ts';
import { observedFleet } from '../../../rack/rack.ts';

const [one, two] = [nodeName('studio-1'), nodeName('studio-2')];
const about = (code: string, nodes = [one], severity = 'error', traits: readonly Trait[] = []) =>
  ({ code, severity, subject: nodesSubject(nodes), traits }) as never;
const lost = { 'studio-2': [about('ssh/refused', [two])] };

const [wrong, hands, unknown] = [
  about('a/b'),
  about('a/b', [one], 'error', ['hands']),
  about('fact/unknown', [one, two], 'warning', ['unknown-facts']),
];

describe('the verdicts on two nodes with a placement', () => {
  it.each<{ expected: string; standing: string; findings: never[]; failures?: Record<string, never[]> }>([
    { expected: 'fine fine', standing: 'matches', findings: [about('a/b', [one], 'warning')] },
    { expected: 'wrong wrong', standing: 'differs', findings: [unknown] },
    { expected: 'wrong fine', standing: 'matches', findings: [hands, wrong] },
    { expected: 'hands fine', standing: 'matches', findings: [hands] },
    { expected: 'unjudged unjudged', standing: 'matches', findings: [unknown, hands] },
    { expected: 'unjudged unjudged', standing: 'unknown', findings: [hands], failures: { 'studio-2': [] } },
    { expected: 'fine unjudged', standing: 'unknown', findings: [], failures: lost },
    { expected: 'hands unjudged', standing: 'unknown', findings: [hands], failures: lost },
    { expected: 'wrong unjudged', standing: 'differs', findings: [], failures: lost },
  ])('are $expected', ({ expected, standing, findings, failures = {} }) => {
    const placements = [{ nodes: [one, two], standing }] as never;
    const look = { observation: observedFleet({ failures }), findings, placements };
    expect([one, two].map((name) => nodeVerdict(name, look)).join(' ')).toBe(expected);
    const elsewhere = { ...look, findings: [], placements: [{ nodes: [two], standing: 'differs' }] as never };
    expect(nodeVerdict(one, elsewhere)).toBe('fine');
  });
});
