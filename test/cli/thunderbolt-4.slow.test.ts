import { describe, expect, it } from 'vitest';
import { type FileValue, filePart } from '../scenarios/converge-file.ts';
import { expectGolden } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';

/** A Mac with Thunderbolt 4 next to a Mac that must have RDMA. */
const withMini = (file: FileValue): void => {
  filePart(file, 'nodes', 'studio-1')['hardware'] = { model: 'Mac17,15', memory: '256GB' };
  filePart(file, 'nodes', 'studio-4')['hardware'] = { model: 'Mac18,5', memory: '32GB' };
  filePart(file, 'thunderbolt')['rdma'] = 'required';
  filePart(file, 'macos')['version'] = '27.0';
};

const { place, run } = pairPlace(bareFile(withMini));

describe('a Mac with Thunderbolt 4', () => {
  it('is accepted, and reported as a node without RDMA', async () => {
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    const rans = [await run('validate'), await run('doctor', '--sim'), await run('cables', '--sim')];
    expect(rans.map(({ code }) => code)).toEqual([0, 0, 0]);
    await expectGolden('thunderbolt-4', place, rans);
  });
});
