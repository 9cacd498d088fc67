import { describe, expect, it } from 'vitest';
import { endOfRanks } from '../../../../src/cli/ranks/launch.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { fakeRun } from '../console-of.ts';

const held = new AbortController().signal;

describe('the end of ranks', () => {
  it('is their status', async () => {
    const { run, err } = fakeRun();
    expect(await endOfRanks(run.console, held, async () => 7)).toEqual({ kind: 'ended', status: 7 });
    expect(err()).toBe('');
  });

  it('is 255 with what went wrong where they could not be run', async () => {
    const { run, err } = fakeRun();
    const problem = diagnose('launch/not-seen', { subject: nodeSubject('studio-1'), detail: 'No device was seen.' });
    const ranks = () => Promise.reject(new FleetError([problem]));
    expect(await endOfRanks(run.console, held, ranks)).toEqual({ kind: 'ended', status: 255 });
    expect(err()).toContain('launch/not-seen');
  });

  it('is 255 where a lease was lost, even if they ended well', async () => {
    const { run, err } = fakeRun();
    const lost = new AbortController();
    const ranks = async (ending: AbortSignal): Promise<number> => {
      lost.abort();
      expect(ending.aborted).toBe(true);
      return 0;
    };
    expect(await endOfRanks(run.console, lost.signal, ranks)).toEqual({ kind: 'ended', status: 255 });
    expect(err()).toContain('took over the lease');
  });

  it('keeps a bug for later', async () => {
    const error = new TypeError('a bug');
    const { run } = fakeRun();
    expect(await endOfRanks(run.console, held, () => Promise.reject(error))).toEqual({ kind: 'bug', error });
  });
});
