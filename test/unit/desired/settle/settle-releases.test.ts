import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import { archiveOf } from '../../../../src/desired/releases.ts';
import { settleRuntime as settleRuntimeItself } from '../../../../src/desired/settle/settle-runtime.ts';
import { type ArchiveFact, isReleaseLocked, sourcesToRead } from '../../../../src/desired/settle/settle-trees.ts';
import { exoReleases } from '../../../../src/drivers/exo/releases.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import type { RuntimeSource } from '../../../../src/model/desired.ts';
import { digest } from '../../../../src/model/digest.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const settleRuntime = onPage(settleRuntimeItself);

const sha = (letter: string) => digest(letter.repeat(64));
const known = (letter: string): ArchiveFact => ({ kind: 'known', sha256: sha(letter), sizeBytes: 413_000_000 });
const runtime = (version: string): RuntimeSource => ({
  name: 'exo',
  ...archiveOf(undefined, exoReleases.archive(version), undefined),
  extras: [],
});
const url = (version: string): string => exoReleases.archive(version).url;
const locked = { sha256: sha('a'), sizeBytes: 413_000_000 };
const lock: ClusterLock = { ...emptyLock('cluster.lock'), runtimes: { exo: locked }, releases: { exo: url('1.0.71') } };

const settle = (version: string, fact?: ArchiveFact, from: ClusterLock = lock) =>
  settleRuntime(runtime(version), {
    lock: from,
    baseFolder: '/rack',
    sources: { folders: {}, archives: fact === undefined ? {} : { exo: fact } },
  });

describe('a runtime by version', () => {
  it('is resolved once', () => {
    const toRead = (version: string) =>
      sourcesToRead({ runtimes: [{ ...runtime(version), driver: 'exo' }], models: [] }, lock, '/rack').flatMap((one) =>
        one.kind === 'release' ? one.release.url : [],
      );
    expect(toRead('1.0.71')).toEqual([]);
    expect(toRead('1.0.72')).toEqual([url('1.0.72')]);
    const { release } = runtime('1.0.71');
    expect(
      release && isReleaseLocked({ runtimes: {}, releases: { exo: url('1.0.71') } }, { name: 'exo', release }),
    ).toBe(false);
    const { wanted, locked: now, lockedRelease, additions } = settle('1.0.71');
    expect(wanted).toMatchObject({ archive: url('1.0.71'), sha256: sha('a'), digest: sha('a') });
    expect([now, lockedRelease, additions]).toEqual([locked, url('1.0.71'), []]);
  });

  it('is added to the lock with its digest and size', () => {
    const { lockedRelease, additions } = settle('1.0.71', known('a'), emptyLock('cluster.lock'));
    expect(lockedRelease).toBe(url('1.0.71'));
    expect(additions).toEqual(['runtime exo: 1.0.71, sha256 aaaaaaaaaaaaaaaa, 413.0 MB']);
  });

  it('names the version that it replaces', () => {
    const { wanted, lockedRelease, additions } = settle('1.0.72', known('b'));
    expect([wanted.digest, lockedRelease]).toEqual([sha('b'), url('1.0.72')]);
    expect(additions).toEqual(['runtime exo: 1.0.72, sha256 bbbbbbbbbbbbbbbb, 413.0 MB, instead of 1.0.71']);
    const { releases: _, ...before } = lock;
    expect(settle('1.0.71', known('a'), before).additions).toEqual(['runtime exo: 1.0.71, the same archive as before']);
  });

  it("does not use another version's digest while it is unresolved", () => {
    const { wanted, locked: now, lockedRelease, diagnostics } = settle('1.0.72', { kind: 'unresolved', detail: 'No.' });
    expect([wanted.digest, wanted.sha256, wanted.unread?.kind]).toEqual([undefined, undefined, 'unresolved']);
    expect([now, lockedRelease]).toEqual([locked, url('1.0.71')]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['runtime/release-unresolved']);
    const missing = settle('1.0.72', { kind: 'no-release', detail: 'No.' }, emptyLock('cluster.lock'));
    expect(missing.diagnostics.map(({ code }) => code)).toEqual(['runtime/no-release']);
    expect([missing.locked, missing.lockedRelease]).toEqual([undefined, undefined]);
  });

  it('keeps the version on the nodes for commands that resolve no releases', () => {
    const { wanted, lockedRelease, additions } = settle('1.0.72');
    expect([wanted.digest, lockedRelease, additions]).toEqual([sha('a'), url('1.0.71'), []]);
  });

  it('is removed from the lock when the file names an archive on this computer', () => {
    const local: RuntimeSource = { name: 'exo', archive: './own.dmg', extras: [] };
    const { wanted, lockedRelease } = settleRuntime(local, {
      lock,
      baseFolder: '/rack',
      sources: { folders: {}, archives: { exo: known('c') } },
    });
    expect([wanted.archive, wanted.digest, lockedRelease]).toEqual(['/rack/own.dmg', sha('c'), undefined]);
  });
});

onOnePage('settle-releases');
