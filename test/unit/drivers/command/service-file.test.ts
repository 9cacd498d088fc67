import { describe, expect, it } from 'vitest';
import { command } from '../../../../src/drivers/command/command.ts';
import { serviceFileText as serviceFileTextItself } from '../../../../src/drivers/configure-placement.ts';
import { exo } from '../../../../src/drivers/exo/exo.ts';
import { mlx } from '../../../../src/drivers/mlx/mlx.ts';
import { readJob } from '../../../../src/sim/launchd/job-definition.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const serviceFileText = onPage(serviceFileTextItself);

/** The service file of a rank. */
const textWith = (times: { readonly graceMs?: number; readonly interruptMs?: number }): string =>
  serviceFileText({ placement: 'kimi', argv: [['/bin/x']], env: {}, user: 'mesh', ending: times })
    .map((part) => (typeof part === 'string' ? part : '/path'))
    .join('');

/** The job that the simulated launchd reads from the file. */
function jobWith(times: Parameters<typeof textWith>[0]) {
  const reading = readJob(textWith(times));
  if (reading.kind !== 'job') throw new Error(JSON.stringify(reading));
  return reading.job;
}

describe("a rank's service file", () => {
  it('prevents throttling by launchd and allows more than 256 open files', () => {
    expect(jobWith({})).toMatchObject({ processType: 'Interactive', keepAlive: { kind: 'never' } });
    const limits = /<key>SoftResourceLimits<\/key>\s*<dict>\s*<key>NumberOfFiles<\/key>\s*<integer>65535<\/integer>/;
    expect(textWith({})).toMatch(limits);
  });

  it("sets its driver's stop timeout, with a minimum of ten seconds", () => {
    const seconds = [command, mlx, exo].map((driver) => jobWith(driver).exitTimeoutSeconds);
    expect(seconds).toEqual([10, 10, 15]);
    expect(jobWith({ graceMs: 15_000, interruptMs: 5_001 }).exitTimeoutSeconds).toBe(21);
  });
});

onOnePage('service-file');
