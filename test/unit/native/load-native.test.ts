import { describe, expect, it } from 'vitest';
import { fnvOfFile } from '../../../src/native/fnv.ts';
import { type LoadedNative, loadNative } from '../../../src/native/load-native.ts';
import { probeVerbs } from '../../../src/native/verbs-report.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const absent: LoadedNative = { reason: 'There is none.' };
const calls = { probe: async () => '{}', fnv: async () => 'from the addon' };
const broken = async () => {
  throw new Error('It broke.');
};

const loaded = (changed: Partial<typeof calls>): LoadedNative => ({ addon: { ...calls, ...changed }, path: 'addon' });

const { at, write } = temporaryFolder();
const file = write('one.node', 'foobar');

it('a file that is not an addon is not loaded, and the reason names the file', () => {
  expect(loadNative(file)).toEqual({ reason: expect.stringContaining(`Node could not load ${file}: `) });
});

describe('the hash of a file', () => {
  it('comes from the addon', async () => {
    expect(await fnvOfFile(file, loaded({}))).toBe('from the addon');
  });

  it('comes from JavaScript if there is no addon, or if the addon fails', async () => {
    for (const one of [absent, loaded({ fnv: broken })]) expect(await fnvOfFile(file, one)).toBe('85944171f73967e8');
  });

  it("rejects with Node's error if the file cannot be read", async () => {
    for (const one of [absent, loaded({ fnv: broken })])
      await expect(fnvOfFile(at('missing'), one)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('the report of the verbs library', () => {
  it('is unknown if there is no addon, or if the addon fails', async () => {
    expect(await probeVerbs(absent)).toEqual({ kind: 'unknown', reason: 'tool-missing', detail: 'There is none.' });
    const failed = { kind: 'unknown', reason: 'failed', detail: 'The native addon failed: It broke.' };
    expect(await probeVerbs(loaded({ probe: broken }))).toEqual(failed);
  });

  it('is reported as garbled if the addon returns an unexpected value', async () => {
    expect(await probeVerbs(loaded({}))).toMatchObject({ kind: 'unknown', reason: 'garbled' });
  });
});
