import { describe, expect, it } from 'vitest';
import { endOfRanks } from '../../../../src/cli/ranks/launch.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { fakeRun } from '../console-of.ts';

const held = new AbortController().signal;

describe('the exit status of launch', () => {
  it('is the status of its ranks', async () => {
    const { run, err } = fakeRun();
    expect(await endOfRanks(run.console, held, async () => 7)).toEqual({ kind: 'ended', status: 7 });
    expect(err()).toBe('');
  });

  it('is 255 with a diagnostic if the ranks could not run', async () => {
    const { run, err } = fakeRun();
    const problem = diagnose('launch/not-seen', { subject: nodeSubject('studio-1'), detail: 'No device was seen.' });
    const ranks = () => Promise.reject(new FleetError([problem]));
    expect(await endOfRanks(run.console, held, ranks)).toEqual({ kind: 'ended', status: 255 });
    expect(err()).toContain('launch/not-seen');
  });

  it('is 255 if a lease was lost, even if the ranks succeeded', async () => {
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

  it("is replaced by a bug's error", async () => {
    const error = new TypeError('a bug');
    const { run } = fakeRun();
    expect(await endOfRanks(run.console, held, () => Promise.reject(error))).toEqual({ kind: 'bug', error });
  });
});
