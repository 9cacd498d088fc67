import { existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findClusterFile,
  forgetRehearsal,
  journalsOf,
  lockFileFor,
  simFolder,
  stateFolder,
} from '../../../../src/cli/files/places.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { fakeRun } from '../console-of.ts';

const { at, write } = temporaryFolder();
const nearest = write('a/cluster.yaml', '');
const deep = at('a/b/c');
mkdirSync(deep, { recursive: true });

describe('the cluster file', () => {
  it('is the named file, relative to the current folder, even if it does not exist', () => {
    expect(findClusterFile('rack.yaml', {}, deep)).toBe(join(deep, 'rack.yaml'));
    expect(findClusterFile('/etc/rack.yaml', { MESHWRIGHT_FILE: 'other.yaml' }, deep)).toBe('/etc/rack.yaml');
    expect(findClusterFile(undefined, { MESHWRIGHT_FILE: '../x.yaml' }, deep)).toBe(at('a/b/x.yaml'));
  });

  it('is the cluster.yaml in the nearest parent folder if no name is given or the variable is empty', () => {
    expect(findClusterFile(undefined, {}, deep)).toBe(nearest);
    expect(findClusterFile(undefined, { MESHWRIGHT_FILE: '' }, at('a'))).toBe(nearest);
    expect(findClusterFile(undefined, {}, '/')).toBeUndefined();
  });

  it.each([
    ['/r/cluster.yaml', '/r/cluster.lock'],
    ['/r/rack.yml', '/r/rack.lock'],
    ['/r/rack.YAML', '/r/rack.lock'],
    ['/r/rack', '/r/rack.lock'],
    ['/r/rack.json', '/r/rack.json.lock'],
  ])('has its lock next to it: %s, %s', (file, lock) => {
    expect(lockFileFor(file)).toBe(lock);
  });
});

describe('the state folder', () => {
  it.each([
    [{ MESHWRIGHT_STATE: '/s', XDG_STATE_HOME: '/x', HOME: '/h' }, '/s'],
    [{ XDG_STATE_HOME: '/x', HOME: '/h' }, '/x/meshwright'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/h' }, '/h/.local/state/meshwright'],
    [{ XDG_STATE_HOME: '', MESHWRIGHT_STATE: '', HOME: '/h' }, '/h/.local/state/meshwright'],
    [{ HOME: '' }, join(userInfo().homedir, '.local/state/meshwright')],
    [{}, join(userInfo().homedir, '.local/state/meshwright')],
  ])('follows from %j: %s', (env, folder) => {
    expect(stateFolder(env)).toBe(folder);
  });

  it('contains one folder per cluster file, with a stable, safe name', () => {
    const env = { MESHWRIGHT_STATE: '/s' };
    const one = simFolder(env, '/racks/a/cluster.yaml');
    expect(simFolder(env, '/racks/b/../a/cluster.yaml')).toBe(one);
    expect(simFolder(env, '/racks/b/cluster.yaml')).not.toBe(one);
    expect(simFolder(env, `/racks/${'very:long '.repeat(30)}\n.yaml`)).toMatch(/^\/s\/sim\/[A-Za-z0-9-]{1,33}$/);
  });
});

describe("a rehearsal's journals", () => {
  it('belong to one cluster file, even if another rack has the same name', () => {
    const env = { MESHWRIGHT_STATE: at('state') };
    const journals = (file: string, isSimulated = true): string => {
      const { run } = fakeRun({ env });
      return journalsOf({ ...run, options: { ...run.options, file }, console: { isSimulated } }, 'rack');
    };
    const [one, other, real] = [journals('/a/x.yaml'), journals('/b/x.yaml'), journals('/a/x.yaml', false)];
    expect(new Set([one, other, real]).size).toBe(3);
    for (const folder of [one, other, real]) mkdirSync(folder, { recursive: true });
    forgetRehearsal(env, '/a/x.yaml');
    expect([one, other, real].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  });
});
