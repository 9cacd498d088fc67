import { describe, expect, it } from 'vitest';
import { type FileValue, filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { json } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const names = ['studio-1', 'studio-4'];
const command = (act: string) => ['false', act, '{outlet}'];

/** Two Macs whose outlets are 1 and 2. In a rehearsal, the commands, which always fail, never run. */
const fileWith = (outlets: readonly string[]): FileValue =>
  pairFile((file) => {
    for (const [at, name] of names.entries()) filePart(file, 'nodes', name)['outlet'] = `pdu/${outlets[at]}`;
    const [powerOn, powerOff, powerState] = ['on', 'off', 'state'].map(command);
    file['pdus'] = { pdu: { driver: 'command', powerOn, powerOff, powerState } };
  });

describe('a Mac with a switched power outlet', () => {
  const { place, run } = pairPlace(fileWith(['1', '2']));
  const recover = async (...words: string[]) => {
    const ended = await run('recover', 'chat', '--sim', '--yes', '--json', ...words);
    const { cures, diagnostics, next } = json(ended) as {
      readonly cures: readonly { readonly rung: string; readonly done: boolean }[];
      readonly diagnostics: readonly { readonly code: string; readonly detail: string }[];
      readonly next?: unknown;
    };
    return { code: ended.code, cures: cures.map(({ rung, done }) => `${rung} ${done}`), diagnostics, next };
  };
  const powerOf = async () => (json(await run('sim', 'status', '--json')) as { readonly nodes: object }).nodes;

  it('is power-cycled after a power cut if this is allowed, and the placement serves again', {
    timeout: 300_000,
  }, async () => {
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    await run('sim', 'fault', 'power-cut', 'studio-4');
    const refused = await recover();
    expect([refused.code, refused.cures]).toEqual([3, ['wait false']]);
    expect(refused.next).toEqual({ rung: 'power-cycle', names: ['studio-4'] });
    const { code, cures } = await recover('--allow', 'reboot');
    expect([code, ...cures.slice(0, 2)]).toEqual([0, 'wait false', 'power-cycle true']);
    expect(cures.slice(2).every((one) => /^(?:re)?start true$/.test(one))).toBe(true);
  });

  it('gets its power back immediately if the file gives its outlet to another Mac', {
    timeout: 300_000,
  }, async () => {
    place.write('cluster.yaml', fileText(fileWith(['2', '1'])));
    await run('sim', 'fault', 'power-cut', 'studio-4');
    const { code, cures, diagnostics } = await recover('--allow', 'reboot');
    expect([code, ...cures.slice(0, 2)]).toEqual([3, 'wait false', 'power-cycle false']);
    expect(cures.filter((one) => one.startsWith('power-cycle'))).toHaveLength(1);
    const detail = 'While outlet pdu/1 was off, studio-1 stopped answering. The file gives this outlet to studio-4.';
    expect(diagnostics).toContainEqual(expect.objectContaining({ code: 'outlet/wrong-mac', detail }));
    expect(await powerOf()).toMatchObject({ 'studio-1': { power: 'up' }, 'studio-4': { power: 'down' } });
    place.write('cluster.yaml', fileText(fileWith(['1', '2'])));
    await run('sim', 'fault', '--clear');
  });

  it('stays off after a power cycle if it had been shut down, which only its button ends', {
    timeout: 300_000,
  }, async () => {
    expect((await run('shutdown', 'studio-4', '--sim', '--yes')).code).toBe(0);
    const { code, cures, diagnostics } = await recover('--allow', 'reboot');
    expect([code, cures]).toEqual([3, ['wait false', 'power-cycle false']]);
    expect(diagnostics.map((one) => one.code)).toContain('outlet/no-return');
    expect(await powerOf()).toMatchObject({ 'studio-4': { power: 'down' } });
  });
});
