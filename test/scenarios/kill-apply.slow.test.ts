import { describe, expect, it } from 'vitest';
import { describeKills } from './kill/describe-kills.ts';
import { killScenarios, settings, trees } from './kill/scenarios.ts';

describeKills('kill-apply', [settings, trees]);

describe('the kill scenarios', () => {
  it('cover every step class and most kinds of steps', () => {
    const all = <T>(values: (one: (typeof killScenarios)[number]) => readonly T[]): readonly T[] =>
      [...new Set(killScenarios.flatMap(values))].sort();
    expect(all(({ classes }) => classes)).toEqual(['converge', 'job', 'manual', 'once', 'probe']);
    expect(all(({ acts }) => acts)).toEqual([
      'ask',
      'gate',
      'hands',
      'job',
      'put',
      'reboot',
      'script',
      'send',
      'transaction',
    ]);
  });
});
