import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { type FileValue, filePart, fileText, first, pairFile, second } from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';

/** A published placement on two Macs with FileVault. */
const file = (change: (file: FileValue) => void = () => undefined): FileValue =>
  pairFile((value) => {
    publish(value, { access: 'anybody', port: 8_080 });
    filePart(value, 'system')['fileVault'] = 'enabled';
    change(value);
  });
const withPassword = file((value) => {
  filePart(value, 'ssh')['password'] = { env: 'MESH_PW' };
});

const flat = (text: string): string => text.replace(/\s+/g, ' ');
const { place } = pairPlace(file());
const env = { MESHWRIGHT_TRUST: 'env=MESH_PW', MESH_PW: 'simulated' };
const run = (...words: string[]): Promise<Ran> => meshwright(place, [...words, '--sim'], { env });
const stepsOf = (ran: Ran): ReportDocument['steps'] => (json(ran) as ReportDocument).steps;

beforeAll(async () => {
  await writePublishedSources(place.folder);
  const ran = await run('apply', '--yes');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});

describe('reboot of a placement', () => {
  it('names the nearest node or placement if a name is unknown', async () => {
    const ran = await run('reboot', 'chatt');
    expect([ran.code, flat(ran.stderr)]).toEqual([64, expect.stringContaining('Did you mean `chat`?')]);
  });

  it('stops nothing if Macs would stay locked at FileVault, and names them', async () => {
    const ran = await run('reboot', 'chat', '--yes');
    expect(ran.code).toBe(5);
    expect(flat(ran.stderr)).toContain(
      'The plan leaves studio-1,4 locked at FileVault after a restart. Nothing was changed.',
    );
    expect(ran.stderr).toContain('--allow locked-reboot');
    expect(flat(ran.stdout)).toContain(
      'add the source of its password to the file: ssh: { password: { env: MESH_PASSWORD } }',
    );
    expect((await run('status')).code).toBe(0);
  });

  it('drains it, restarts its Macs once past FileVault, and starts it again', async () => {
    place.write('cluster.yaml', fileText(withPassword));
    const ran = await run('reboot', 'chat', '--yes', '--json');
    expect([ran.code, schemaCheck('report')(json(ran))]).toEqual([0, []]);
    const steps = stepsOf(ran).map(({ id }) => id);
    const at = (id: string): number => steps.indexOf(id);
    const drain = at(`${first}/placement/chat/drain`);
    expect(drain).toBeGreaterThan(-1);
    for (const node of [first, second]) {
      expect(at(`${node}/placement/chat/stop`)).toBeGreaterThan(drain);
      expect(at(`${node}/placement/chat/stop`)).toBeGreaterThan(at(`${node}/authorize-restart`));
      expect(at(`${node}/authorize-restart`)).toBeGreaterThan(-1);
      expect(at(`${node}/reboot`)).toBeGreaterThan(at(`${node}/placement/chat/stop`));
      expect(steps.filter((id) => id === `${node}/reboot`)).toHaveLength(1);
    }
  });

  it('does not drain it if it is hung, because no request would finish', async () => {
    expect((await meshwright(place, ['sim', 'fault', 'rank-stopped', second])).code).toBe(0);
    const ran = await run('reboot', 'chat', '--yes', '--json');
    expect(ran.code).toBe(0);
    const steps = stepsOf(ran).map(({ id }) => id);
    expect(steps).toContain(`${first}/placement/chat/close-endpoint`);
    expect(steps).not.toContain(`${first}/placement/chat/drain`);
  });

  it('leaves a Mac locked only with --allow locked-reboot', async () => {
    place.write('cluster.yaml', fileText(file()));
    const ran = await run('reboot', second, '--yes', '--allow', 'locked-reboot');
    expect(ran.code).toBe(3);
    expect(flat(ran.stdout + ran.stderr)).toContain(`meshwright unlock ${second} --sim`);
    expect((await run('unlock', second, '--password-env', 'MESH_PW')).code).toBe(0);
  });

  it('stops nothing if macOS rejects the password for the disk', async () => {
    expect((await run('start', 'chat', '--yes')).code).toBe(0);
    place.write('cluster.yaml', fileText(withPassword));
    const words = ['reboot', 'chat', '--sim', '--yes', '--json'];
    const ran = await meshwright(place, words, { env: { ...env, MESH_PW: 'not the password' } });
    expect(ran.code).not.toBe(0);
    const outcomes = stepsOf(ran).filter(({ id }) => /authorize-restart|\/stop$|\/reboot$/.test(id));
    expect(new Set(outcomes.map(({ id, outcome }) => `${id.replace(/^.*\//, '')} ${outcome}`))).toEqual(
      new Set(['authorize-restart failed', 'stop skipped', 'reboot skipped']),
    );
    expect((await run('status')).code).toBe(0);
  });
});
