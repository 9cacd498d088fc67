import { describe, expect, it } from 'vitest';
import { exampleDrivers, exampleText, prepareDemo } from '../../src/cli/sim/sim-example.ts';
import { textOf } from '../architecture/sources.ts';
import { nativePartsTested } from '../native-parts.ts';
import { sampleOf } from '../sample.ts';
import { placeOf } from './fleet.ts';
import { followDoctor } from './follow-doctor.ts';

// Without the program that measures cables, doctor can only name all four Macs.
describe.skipIf(!nativePartsTested).each(sampleOf(exampleDrivers, { few: 1, oneIn: 4 }))(
  'a hang of four Macs with %s',
  (driver) => {
    const choice = { driver, isPublished: false };
    const { place, run } = placeOf(exampleText(textOf('cluster.example.yaml'), choice), {
      write: (folder) => prepareDemo(folder, choice),
    });
    const ask = async () => (await run('ask', 'chat', 'Hello', '--sim', '--deadline', '5s')).code;

    it('ends after at most three commands, one of which reboots the right Mac', { timeout: 300_000 }, async () => {
      expect((await run('apply', '--sim', '--yes', '--update-lock')).code).toBe(0);
      expect(await ask()).toBe(0);
      await run('sim', 'fault', 'rdma-hang', 'studio-2');
      expect(await ask()).not.toBe(0);
      const { typed, end } = await followDoctor(place);
      expect([end, typed]).toEqual(['serving', ['restart chat', 'cables --measure', 'reboot studio-2']]);
      expect(await ask()).toBe(0);
    });
  },
);
