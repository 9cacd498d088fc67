import { describe, expect, it } from 'vitest';
import type { StepOf } from '../../../../src/apply/steps/context.ts';
import { stopWords as stopWordsItself } from '../../../../src/apply/steps/script.ts';
import type { ScriptArgs } from '../../../../src/model/node-script.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { aStep } from '../../../rack/plans.ts';
import { asText } from '../../as-text.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const stopWords = onPage((...given: Parameters<typeof stopWordsItself>) => stopWordsItself(...given).map(asText));

function stopStep(more: Partial<ScriptArgs['stop-rank']> = {}): StepOf<'script'> {
  const act = { kind: 'script', name: 'stop-rank', args: { placement: 'kimi', graceMs: 1, ...more } } as const;
  return { ...aStep('studio-1/stop'), act };
}

const codes = (step: StepOf<'script'>, said: readonly string[]) => stopWords(step, said).map(({ code }) => code);
const wired = ['wired=2', 'baseline=1', 'ended=needs-reboot'];

describe('what is told of a stop that went well', () => {
  it('is nothing of a rank that ended by itself, and that it was killed of another', () => {
    expect(stopWords(stopStep(), ['ended=clean'])).toEqual([]);
    expect(codes(stopStep(), ['sample=sample-kimi-3.txt', 'ended=killed'])).toEqual(['mesh/killed']);
  });

  it('is the restart that a Mac needs, as a warning where that restart follows anyway', () => {
    expect(stopWords(stopStep(), wired)).toMatchObject([
      { code: 'mesh/needs-reboot', severity: 'error', hint: expect.stringContaining('meshwright reboot studio-1') },
    ]);
    expect(stopWords(stopStep({ beforeReboot: true }), wired)).toMatchObject([
      { code: 'mesh/left-to-restart', severity: 'warning', detail: expect.stringContaining('2 bytes stay wired') },
    ]);
  });

  it('names the kill as well as the restart where a killed rank leaves memory wired', () => {
    expect(codes(stopStep(), ['sample=sample-kimi-3.txt', ...wired])).toEqual(['mesh/killed', 'mesh/needs-reboot']);
    expect(codes(stopStep({ beforeReboot: true }), ['sample=sample-kimi-3.txt', ...wired])).toEqual([
      'mesh/killed',
      'mesh/left-to-restart',
    ]);
  });

  it('never calls killed what KILL did not end, and shows nothing that a terminal would obey', () => {
    const said = ['sample=sample-kimi-3.txt', 'processes=71 \u001b[2J', 'ended=needs-reboot'];
    expect(stopWords(stopStep({ beforeReboot: true }), said)).toMatchObject([
      {
        code: 'mesh/left-to-restart',
        subject: nodeSubject('studio-1'),
        detail: expect.stringContaining('(71 \\u{1b}[2J)'),
      },
    ]);
    expect(codes(stopStep({ beforeReboot: true }), said)).toEqual(['mesh/left-to-restart']);
  });
});

describe('what is told of a door before a stop', () => {
  const args = { port: 8080, placement: 'kimi', waitMs: 1 };
  const drain: StepOf<'script'> = { ...aStep('studio-1/drain'), act: { kind: 'script', name: 'drain-door', args } };

  it('is nothing when nobody is inside, and a warning when somebody is or may be', () => {
    expect(codes(drain, ['left=0'])).toEqual([]);
    expect(stopWords(drain, ['left=3'])).toMatchObject([
      { code: 'mesh/cut-off', severity: 'warning', detail: expect.stringContaining('3 requests to kimi') },
    ]);
    for (const said of [['left=unknown'], ['left=\u001b[2J'], []]) {
      expect(stopWords(drain, said)).toMatchObject([
        { code: 'mesh/cut-off', detail: expect.stringContaining('did not report its requests') },
      ]);
    }
  });
});

onOnePage('stop-words');
