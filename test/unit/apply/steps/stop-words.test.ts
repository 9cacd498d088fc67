import { describe, expect, it } from 'vitest';
import type { StepOf } from '../../../../src/apply/steps/context.ts';
import { stopWords as stopWordsItself } from '../../../../src/apply/steps/script.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
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

const codes = (step: StepOf<'script'>, lines: readonly string[]) => stopWords(step, lines).map(({ code }) => code);
const wired = ['wired=2', 'baseline=1', 'ended=reboot-mark'];

describe('the report on a successful stop', () => {
  it('is empty for a clean exit and names a kill', () => {
    expect(stopWords(stopStep(), ['ended=clean'])).toEqual([]);
    expect(codes(stopStep(), ['sample=sample-kimi-3.txt', 'ended=killed'])).toEqual(['mesh/killed']);
  });

  it('reports a required restart, but only as a warning if a restart follows anyway', () => {
    expect(stopWords(stopStep(), wired)).toMatchObject([
      { code: 'mesh/reboot-mark', severity: 'error', hint: expect.stringContaining('meshwright reboot studio-1') },
    ]);
    expect(stopWords(stopStep({ beforeReboot: true }), wired)).toMatchObject([
      { code: 'mesh/left-to-restart', severity: 'warning', detail: expect.stringContaining('2 bytes stay wired') },
    ]);
  });

  it('names both the kill and the restart if a killed rank leaves memory wired', () => {
    expect(codes(stopStep(), ['sample=sample-kimi-3.txt', ...wired])).toEqual(['mesh/killed', 'mesh/reboot-mark']);
    expect(codes(stopStep({ beforeReboot: true }), ['sample=sample-kimi-3.txt', ...wired])).toEqual([
      'mesh/killed',
      'mesh/left-to-restart',
    ]);
  });

  it('does not report processes that survived KILL as killed, and escapes their text', () => {
    const lines = ['sample=sample-kimi-3.txt', 'processes=71 \u001b[2J', 'ended=reboot-mark'];
    expect(stopWords(stopStep({ beforeReboot: true }), lines)).toMatchObject([
      {
        code: 'mesh/left-to-restart',
        subject: nodeSubject('studio-1'),
        detail: expect.stringContaining('(71 \\u{1b}[2J)'),
      },
    ]);
    expect(codes(stopStep({ beforeReboot: true }), lines)).toEqual(['mesh/left-to-restart']);
  });
});

describe('the report on a gateway drained before a stop', () => {
  const args = { port: 8080, placement: 'kimi', waitMs: 1 };
  const drain: StepOf<'script'> = { ...aStep('studio-1/drain'), act: { kind: 'script', name: 'drain-endpoint', args } };

  it('is empty if no requests are in flight, and a warning otherwise', () => {
    expect(codes(drain, ['left=0'])).toEqual([]);
    expect(stopWords(drain, ['left=3'])).toMatchObject([
      { code: 'mesh/cut-off', severity: 'warning', detail: expect.stringContaining('3 requests to kimi') },
    ]);
    for (const lines of [['left=unknown'], ['left=\u001b[2J'], []]) {
      expect(stopWords(drain, lines)).toMatchObject([
        { code: 'mesh/cut-off', detail: expect.stringContaining('did not say before the drain deadline') },
      ]);
    }
  });

  it('reports the failure if the number of requests is unknown', () => {
    for (const [curl, why] of [
      ['28', 'it did not answer in time'],
      ['0', 'its answer is not a number'],
      ['35', 'curl exited with 35'],
    ]) {
      const [one] = stopWords(drain, ['left=unknown', `curl=${curl}`]);
      expect(plainText(one?.detail ?? '')).toMatch(new RegExp(`how many requests were in flight: ${why}\\.$`));
    }
  });
});

onOnePage('stop-words');
