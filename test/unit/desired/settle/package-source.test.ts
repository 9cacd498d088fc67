import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import { packageSource, sourceRelease } from '../../../../src/desired/package-source.ts';
import {
  builtWheel,
  madeList as madeListItself,
  settlePackages,
} from '../../../../src/desired/settle/python-packages.ts';
import { settleRuntime as settleRuntimeItself } from '../../../../src/desired/settle/settle-runtime.ts';
import { type ArchiveFact, sourcesToRead as sourcesToReadItself } from '../../../../src/desired/settle/settle-trees.ts';
import { keysByDriver } from '../../../../src/drivers/registry.ts';
import type { DesiredRuntime } from '../../../../src/model/desired.ts';
import { digest } from '../../../../src/model/digest.ts';
import { unmadeRuntimes } from '../../../../src/rack/artifacts/runtimes/list-packages.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const madeList = onPage(madeListItself);
const settleRuntime = onPage(settleRuntimeItself);
const sourcesToRead = onPage(sourcesToReadItself);

const commit = 'd78bf58e217c904ec282ed8da9b947491f78c022';
const text = `github:acme/mlx-lm@${commit}`;
const file = `mlx/acme+mlx-lm+${commit}.tar.gz`;
const url = `https://github.com/acme/mlx-lm/archive/${commit}.tar.gz`;
const source = { repository: 'acme/mlx-lm', commit };

const runtime: DesiredRuntime = {
  driver: 'mlx',
  name: 'mlx',
  archive: '/dist/uv.tar.gz',
  extras: [],
  ...keysByDriver.get('mlx')?.resolve({ driver: 'mlx', source: text }),
};

const known = (letter: string, more: object = {}): ArchiveFact => {
  return { kind: 'known', sha256: digest(letter.repeat(64)), sizeBytes: 1, ...more };
};
const missing: ArchiveFact = { kind: 'missing', detail: 'It does not exist.' };
const lockedAs = (letter: string) => ({ sha256: digest(letter.repeat(64)), sizeBytes: 1 });
const listText = `mlx==0.32.2 --hash=sha256:${'1'.repeat(64)}\nmlx-lm==0.32.0 --hash=sha256:${'d'.repeat(64)}\n`;
const list = known('c', { text: listText });

interface Given {
  readonly archives?: Readonly<Record<string, ArchiveFact>>;
  readonly isLocked?: boolean;
}

function settled({ archives = {}, isLocked = false }: Given) {
  const sources = { archives: { mlx: known('a'), ...archives }, folders: {} };
  const lock = { ...emptyLock('cluster.lock'), ...(isLocked ? { runtimeFiles: { [file]: lockedAs('b') } } : {}) };
  const made = settleRuntime(runtime, { lock, sources, baseFolder: '/rack' });
  const packages = settlePackages(made.wanted, sources, keysByDriver);
  return { ...made, runtime: packages.runtime, problems: [...made.diagnostics, ...packages.diagnostics] };
}

const absent = { 'mlx/requirements.lock': missing, 'mlx/source.whl': missing };

describe('a source on GitHub', () => {
  it('is read as a repository and a full commit', () => {
    expect(packageSource(text)).toEqual(source);
  });

  it.each([
    'github:acme/mlx-lm@main',
    `${text}0`,
    text.toUpperCase(),
    `github:acme@${commit}`,
    `acme/mlx-lm@${commit}`,
  ])('is not read from %s', (other) => {
    expect(packageSource(other)).toBeUndefined();
  });

  it('has an archive, which can come from a mirror', () => {
    expect(sourceRelease(source, undefined)).toEqual({ url, from: url });
    expect(sourceRelease(source, { mirror: 'http://mirror.lan', plainHttp: true })).toEqual({
      url,
      from: `http://mirror.lan/${url.slice('https://'.length)}`,
      plainHttp: true,
    });
  });
});

describe('a runtime from a commit', () => {
  const releasesWith = (runtimeFiles?: Readonly<Record<string, ReturnType<typeof lockedAs>>>) =>
    sourcesToRead(
      { runtimes: [runtime], models: [] },
      { models: {}, runtimes: {}, ...(runtimeFiles === undefined ? {} : { runtimeFiles }) },
      '/rack',
    ).flatMap(({ kind, name }) => (kind === 'release' ? name : []));

  it("resolves its commit's archive only while the lock lacks the digest", () => {
    expect(releasesWith()).toEqual([file]);
    expect(releasesWith({ [file]: lockedAs('b') })).toEqual([]);
    expect(releasesWith({ [file.replace('acme', 'ana')]: lockedAs('b') })).toEqual([file]);
  });

  it('waits for the archive before a node builds', () => {
    const gone: ArchiveFact = { kind: 'no-release', detail: `${url} does not exist (HTTP 404).` };
    const { wanted, problems } = settled({ archives: { ...absent, [file]: gone } });
    expect([wanted.unread, problems.map(({ code }) => code)]).toEqual([
      { ...gone, hint: expect.stringContaining('must be public') },
      ['runtime/no-release'],
    ]);
    expect(unmadeRuntimes({ runtimes: [wanted] })).toEqual([]);
  });

  it("is built on a node while its wheel or list is missing, and the archive's digest is locked", () => {
    for (const found of [
      absent,
      { ...absent, 'mlx/requirements.lock': list },
      { ...absent, 'mlx/source.whl': known('d') },
    ]) {
      const { wanted, lockedExtras, problems } = settled({ archives: { ...found, [file]: known('b') } });
      const [unmade] = unmadeRuntimes({ runtimes: [wanted] });
      expect([unmade?.made.source, problems]).toEqual([{ ...source, ...lockedAs('b') }, []]);
      expect(lockedExtras[file]).toEqual(lockedAs('b'));
    }
  });

  it('keeps the digest in the lock if the archive was read again', () => {
    const { lockedExtras, additions } = settled({ archives: { ...absent, [file]: known('e') }, isLocked: true });
    expect(lockedExtras[file]).toEqual(lockedAs('b'));
    expect(additions.filter((line) => line.includes('sha256 eeee'))).toEqual([]);
  });

  it('needs no archive once both files exist', () => {
    const archives = { 'mlx/requirements.lock': list, 'mlx/source.whl': known('d') };
    const { wanted, runtime: built, problems } = settled({ archives });
    expect([wanted.unread, problems]).toEqual([undefined, []]);
    expect(wanted.digest).toBeDefined();
    expect(builtWheel(built)).toEqual({ extra: 'source.whl', name: 'mlx_lm-0.32.0-py3-none-any.whl' });
  });

  it('is refused if the wheel is not the one in the list', () => {
    const archives = { 'mlx/requirements.lock': list, 'mlx/source.whl': known('e') };
    expect(settled({ archives }).problems.map(({ code }) => code)).toEqual(['mlx/wheel-differs']);
  });
});

describe('llama.cpp from a commit', () => {
  const llama: DesiredRuntime = {
    driver: 'llamacpp-rpc',
    name: 'llama',
    archive: '',
    extras: [],
    ...keysByDriver
      .get('llamacpp-rpc')
      ?.resolve({ driver: 'llamacpp-rpc', source: text.replace('mlx-lm', 'llama.cpp') }),
  };
  const archive = `llama/acme+llama.cpp+${commit}.tar.gz`;
  const built = (archives: Readonly<Record<string, ArchiveFact>>, isLocked = false) => {
    const lock = { ...emptyLock('cluster.lock'), ...(isLocked ? { runtimes: { llama: lockedAs('e') } } : {}) };
    return settleRuntime(llama, { lock, sources: { archives, folders: {} }, baseFolder: '/rack' });
  };

  it('is an archive next to the file, which apply makes', () => {
    const [made, source] = sourcesToRead({ runtimes: [llama], models: [] }, emptyLock('cluster.lock'), '/rack');
    const path = '/rack/llama.cpp-d78bf58e217c-macos-arm64.tar.gz';
    expect([made, source?.name]).toEqual([{ kind: 'controller', name: 'llama', path, isMade: true }, archive]);
  });

  it('is built on a node while the archive is missing, even if the lock has one', () => {
    for (const isLocked of [false, true]) {
      const { wanted, locked, lockedExtras, diagnostics } = built({ llama: missing, [archive]: known('b') }, isLocked);
      const [unmade] = unmadeRuntimes({ runtimes: [wanted] });
      expect([unmade?.made.source?.sha256, lockedExtras[archive]]).toEqual(['b'.repeat(64), lockedAs('b')]);
      expect([wanted.digest, locked, diagnostics]).toEqual([undefined, isLocked ? lockedAs('e') : undefined, []]);
    }
  });

  it("waits for the commit's archive", () => {
    const gone: ArchiveFact = { kind: 'no-release', detail: `${url} does not exist (HTTP 404).` };
    const { wanted } = built({ llama: missing, [archive]: gone });
    expect([wanted.unread?.kind, unmadeRuntimes({ runtimes: [wanted] })]).toEqual(['no-release', []]);
  });

  it('waits if it could not be built', () => {
    const { wanted, diagnostics } = built({ llama: { kind: 'unbuilt', detail: 'No.' }, [archive]: known('b') });
    expect([wanted.unread?.kind, diagnostics.map(({ code }) => code)]).toEqual(['unbuilt', ['runtime/not-built']]);
  });

  it('is installed like any other archive once it exists', () => {
    const { wanted, locked } = built({ llama: known('d') });
    expect([wanted.digest, wanted.unread, locked]).toEqual(['d'.repeat(64), undefined, lockedAs('d')]);
  });
});

describe("a built wheel's list", () => {
  const lists = { name: 'mlx-lm', python: '3.12', source };

  it("names the commit, and contains the wheel's hash", () => {
    const made = madeList(lists, listText, 'studio-1', digest('d'.repeat(64)));
    expect(made).toEqual({
      text: expect.stringContaining(`# mlx-lm is the wheel next to this file, built from ${text}.`),
    });
  });

  it.each([['e'.repeat(64)], [undefined]])('is refused for a wheel with the digest %s', (sha256) => {
    const made = madeList(lists, listText, 'studio-1', sha256 === undefined ? undefined : digest(sha256));
    expect(made).toEqual({ problem: 'Its output does not have the hash of the built wheel of mlx-lm.' });
  });
});

onOnePage('package-source');
