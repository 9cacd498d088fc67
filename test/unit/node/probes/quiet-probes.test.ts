import { describe, expect, it } from 'vitest';
import { allProbes, quietProbes } from '../../../../src/engine/observe/facts.ts';
import type { Probe } from '../../../../src/model/probe.ts';
import { placementsFact } from '../../../../src/rack/placement/observed/fact.ts';
import { answer, asked } from '../../engine/observe/fact-cases.ts';

const scriptOf = ({ ask }: Probe): string => ask.filter((word) => typeof word === 'string').join('\n');

describe('a quiet observation', () => {
  it('runs every probe except software updates and sudo, in the same order', () => {
    const others = allProbes().filter(({ name }) => !['software-updates', 'sudo'].includes(name));
    expect(quietProbes().map(({ name }) => name)).toEqual(others.map(({ name }) => name));
  });

  it('does not request a token from an endpoint, unlike a full observation', () => {
    const asks = (probes: readonly Probe[]): boolean =>
      probes.some((probe) => scriptOf(probe).includes('--data-binary'));
    expect([asks(quietProbes()), asks(allProbes())]).toEqual([false, true]);
  });

  it('reads a running leader without its token', () => {
    const record = {
      placement: 'kimi',
      digest: 'd'.repeat(64),
      generation: 4,
      rank: 0,
      size: 1,
      port: 50_004,
      endpointPort: 8_080,
      tokenPath: '/v1/chat/completions',
      tokenPointer: '/choices/0/message/content',
      tokenDeadlineMs: 20_000,
      startedIn: '00000000-0000-4000-8000-000000000001',
      starts: 1,
      driver: 'command',
    };
    const lines = Object.entries(record).map(([key, value]) => `|${key}=${value}`);
    const members = ['listening 0', '|50004', '|8080', 'placement kimi', ...lines, 'end', ''].join('\n');
    const print = ['system/dev.meshwright.rank.kimi = {', '\tstate = running', '\tpid = 4711', '\truns = 1', '}'];
    const service = ['service dev.meshwright.rank.kimi 0', ...print.map((line) => `|${line}`), 'end', ''].join('\n');
    const answers = [answer('placement-members', { stdout: members }), answer('launchd-services', { stdout: service })];
    const other = { meetPort: 0, logPattern: '', isListening: true, isMeeting: false, said: [] };
    const rank = { ...record, ...other, token: { kind: 'not-asked' } };
    expect(placementsFact.parse(answers, asked)).toEqual({ kind: 'known', value: [rank] });
  });
});
