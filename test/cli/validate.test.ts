import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { codesOf, ended, environment, expectGolden, json, mainFile, meshwright, meshwrightHere } from './meshwright.ts';
import { exampleText, makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
const deep = join(place.folder, 'notes', 'rack');
const run = (...words: string[]) => meshwrightHere(place, words);

const mistaken = exampleText
  .replace('studio-1:3 <-> studio-3:2', 'studio-1:2 <-> studio-3:2')
  .replace('studio-2:4 <-> studio-4:3', 'studio-2:4 <-> studoi-4:3')
  .replace('sleep: never', 'slep: never')
  .replace('host: studio-4.lan', 'host: "-oProxyCommand=x"');

const onExo = readFileSync('cluster.example.yaml', 'utf8');

beforeAll(() => {
  place.write('cluster.yaml', exampleText);
  place.write('bad.yaml', mistaken);
  place.write('warned.yaml', exampleText.replace('bridge: remove', 'bridge: remove\n  avoid: ["studio-1:2"]'));
  place.write('utf16.yaml', Buffer.from(`\ufeff${exampleText}`, 'utf16le'));
  place.write('latin1.yaml', Buffer.from(exampleText.replace('# Four', '# f\u00fcnf'), 'latin1'));
  place.write('empty.yaml', '');
  place.write('lost.yaml', exampleText.replace('./dist/reference.tar.gz', './nothere.tar.gz'));
  mkdirSync(join(place.folder, 'dist'));
  mkdirSync(join(place.folder, 'models/tiny'), { recursive: true });
  const content = Buffer.from('#!/bin/sh\n');
  place.write('dist/reference.tar.gz', tarGz([{ path: 'bin/rank', mode: 0o755, content }]));
  place.write('other.yaml', exampleText.replace('{runtime}/bin/rank', '{runtime}/rank-2/rank'));
  const hash = `--hash=sha256:${'a'.repeat(64)}`;
  place.write('requirements.lock', `mlx==0.30.6 ${hash}\nmlx-lm==0.30.7 ${hash}\n`);
  const mlx =
    'driver: mlx\n    archive: ./dist/reference.tar.gz\n    python: "3.12"\n    requirements: ./requirements.lock\n';
  place.write('old.yaml', exampleText.replace(/driver: command[\s\S]*?\n\nmodels:/, `${mlx}\nmodels:`));
  place.write('exo.yaml', onExo);
  place.write('pair.yaml', onExo.replace('version: "1.0.71"', 'version: "1.0.68"'));
  mkdirSync(deep, { recursive: true });
  symlinkSync('round.yaml', join(place.folder, 'round.yaml'));
});
afterAll(() => place.remove());

describe('validate', () => {
  it('accepts the example', async () => {
    expect(await meshwright(place, ['validate'])).toMatchObject({
      code: 0,
      stdout: 'cluster.yaml is valid.\n',
      stderr: '',
    });
  });

  it('warns about a missing archive, with its position', async () => {
    const ran = await run('validate', 'lost.yaml', '--json');
    const { diagnostics } = json(ran) as { readonly diagnostics: readonly unknown[] };
    expect([ran.code, diagnostics]).toMatchObject([
      0,
      [{ code: 'runtime/archive-missing', severity: 'warning', where: { file: 'lost.yaml' } }],
    ]);
  });

  it('rejects a program that is not in the archive, and suggests the nearest one', async () => {
    const ran = await run('validate', 'other.yaml', '--json');
    const { diagnostics } = json(ran) as { readonly diagnostics: readonly unknown[] };
    expect([ran.code, diagnostics]).toMatchObject([
      65,
      [{ code: 'runtime/no-program', where: { file: 'other.yaml' }, hint: 'Did you mean bin/rank?' }],
    ]);
  });

  it('rejects requirements whose mlx-lm is too old', async () => {
    const ran = await run('validate', 'old.yaml', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([65, expect.arrayContaining(['mlx/too-old'])]);
  });

  it('warns about versions that break together, at the version of the runtime', async () => {
    const ran = await run('validate', 'pair.yaml', '--json');
    const above = onExo.slice(0, onExo.indexOf('version: "1.0.71"')).split('\n');
    const where = { file: 'pair.yaml', line: above.length, column: (above.at(-1)?.length ?? 0) + 1 };
    expect([ran.code, json(ran)]).toMatchObject([0, { diagnostics: [{ code: 'version/known-pair', where }] }]);
    expect(json(ran)).not.toHaveProperty('unknownPairs');
  });

  it('calls a combination of versions in no report unknown, and not good', async () => {
    const document = json(await run('validate', 'exo.yaml', '--json'));
    expect(schemaCheck('diagnostics')(document)).toEqual([]);
    expect(document).toEqual({ diagnostics: [], unknownPairs: ['macOS 26.5 with exo 1.0.71'] });
    expect((await run('validate', 'exo.yaml')).stdout).toBe(
      'exo.yaml is valid.\nUnknown whether they work together: macOS 26.5 with exo 1.0.71.\n',
    );
  });

  it('shows every problem with its place, cause and hint', async () => {
    await expectGolden('validate-bad', place, [await run('validate', 'bad.yaml')]);
  });

  it('accepts a file with warnings, and shows them', async () => {
    await expectGolden('validate-warned', place, [await run('validate', 'warned.yaml')]);
  });

  it('explains why a file cannot be read or is not text', async () => {
    const files = ['nowhere.yaml', '.', 'round.yaml', 'cluster.yaml/x', 'utf16.yaml', 'latin1.yaml', 'empty.yaml'];
    const rans = await Promise.all([...files, '/dev/zero'].map((file) => run('validate', file)));
    expect(rans.map((ran) => ran.code)).toEqual(rans.map(() => 65));
    await expectGolden('validate-unreadable', place, rans);
  });

  it('prints one JSON document that matches its schema, with the same codes as the text', async () => {
    const check = schemaCheck('diagnostics');
    for (const file of ['cluster.yaml', 'bad.yaml', 'warned.yaml', 'utf16.yaml', 'nowhere.yaml', 'empty.yaml']) {
      const [text, asJson] = await Promise.all([run('validate', file), run('validate', file, '--json')]);
      const document = json(asJson);
      expect(check(document), file).toEqual([]);
      expect(asJson).toMatchObject({ code: text.code, stderr: '' });
      for (const code of codesOf(document)) expect(text.stdout + text.stderr).toContain(`  ${code}\n`);
    }
  });

  it('checks the lock next to the file', async () => {
    const lock = place.write(
      'locked.lock',
      'lock: 1\nhostKeys:\n  studio-1.lan: ["ssh-ed25519 AAAAAAAAAAAAAAAAAAAA"]\n',
    );
    place.write('locked.yaml', exampleText);
    expect(lock).toContain('locked.lock');
    const ran = await run('validate', 'locked.yaml');
    expect(ran.code).toBe(65);
    expect(ran.stdout).toContain('locked.lock:');
  });
});

describe('the cluster file', () => {
  it('is found by -f, then by MESHWRIGHT_FILE, then as cluster.yaml in the nearest parent folder', async () => {
    const env = { MESHWRIGHT_FILE: join(place.folder, 'warned.yaml') };
    const [named, fromEnvironment, both, above] = await Promise.all([
      run('-f', 'empty.yaml', 'validate'),
      meshwrightHere(place, ['validate'], { env }),
      meshwrightHere(place, ['-f', 'empty.yaml', 'validate'], { env }),
      meshwright(place, ['validate'], { folder: deep }),
    ]);
    expect(named.stdout).toContain('in empty.yaml;');
    expect(fromEnvironment.stdout).toContain('warned.yaml is valid, 1 warning.');
    expect(both.stdout).toContain('in empty.yaml;');
    expect(above.stdout).toBe(`${place.folder}/cluster.yaml is valid.\n`);
  });

  it('is reported as missing by every command that needs it', async () => {
    const rans = await Promise.all(
      [['validate'], ['status'], ['facts'], ['exec', '--all', '--', 'true'], ['sim', 'up'], ['sim', 'status']].map(
        (words) => meshwrightHere(place, words, { folder: place.home }),
      ),
    );
    expect(rans.map((ran) => ran.code)).toEqual(rans.map(() => 64));
    for (const ran of rans) expect(ran.stderr).toContain('cli/no-cluster-file');
    await expectGolden('no-cluster-file', place, rans.slice(0, 1));
  });

  it('causes a warning if others can change it, and is refused in CI', async () => {
    const path = place.write('open.yaml', exampleText);
    chmodSync(path, 0o666);
    symlinkSync('open.yaml', join(place.folder, 'link.yaml'));
    const [person, automation, others, link] = await Promise.all([
      run('validate', 'open.yaml'),
      meshwrightHere(place, ['validate', 'open.yaml'], { env: { CI: 'true' } }),
      meshwrightHere(place, ['-f', 'open.yaml', 'sim', 'up', '--json'], { env: { CI: 'true' } }),
      meshwrightHere(place, ['validate', 'link.yaml', '--json'], { env: { CI: 'true' } }),
    ]);
    await expectGolden('validate-open-file', place, [person, automation]);
    for (const ran of [others, link]) expect([ran.code, codesOf(json(ran))]).toEqual([65, ['cli/file-open-to-others']]);
  });

  it('causes a warning if others can change its lock', async () => {
    place.write('pinned.yaml', exampleText);
    const lock = join(place.folder, 'pinned.lock');
    writeFileSync(lock, 'lock: 1\nhostKeys: {}\n');
    chmodSync(lock, 0o646);
    const ran = await run('validate', 'pinned.yaml');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('Remove their permission: chmod go-w pinned.lock');
  });

  /** Makes reads of a silent pipe wait without taking time. */
  const skipWaits = (): void => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const wait = vi.spyOn(Atomics, 'wait').mockImplementation((_array, _index, _value, ms = 0) => {
      vi.advanceTimersByTime(ms);
      return 'timed-out';
    });
    onTestFinished(() => {
      wait.mockRestore();
      vi.useRealTimers();
    });
  };

  // trust M2, M6.
  it('may be a pipe, unless no data arrives', async () => {
    const [silent, pipe] = ['silent.yaml', 'pipe.lock'].map((name) => join(place.folder, name));
    execFileSync('mkfifo', [silent ?? '', pipe ?? '']);
    place.write('pipe.yaml', exampleText);
    const written = ['-c', `exec "$0" "$1" validate <(sleep 0.2; cat cluster.yaml)`, process.execPath, mainFile];
    skipWaits();
    const [alone, lock, playbook, shell] = await Promise.all([
      run('validate', 'silent.yaml'),
      run('plan', '-f', 'pipe.yaml'),
      run('run', './silent.yaml'),
      ended(spawn('bash', written, { cwd: place.folder, env: environment(place) }), []),
    ]);
    expect([alone.code, alone.stderr]).toEqual([65, expect.stringContaining('silent.yaml is a pipe without data')]);
    expect([lock.code, lock.stderr]).toEqual([65, expect.stringContaining('pipe.lock is a pipe without data')]);
    expect([playbook.code, playbook.stderr]).toEqual([65, expect.stringContaining('silent.yaml is a pipe without')]);
    expect([shell.code, shell.stderr, shell.stdout]).toEqual([0, '', expect.stringContaining('is valid, 2 warnings.')]);
  });

  it('has the same permission rules as playbooks and saved plans', async () => {
    place.write('models/tiny/weights.bin', 'x');
    for (const [name, words] of [
      ['pb.yaml', ['run', './pb.yaml']],
      ['plan.json', ['apply', './plan.json']],
    ] as const) {
      chmodSync(place.write(name, ''), 0o664);
      chownSync(join(place.folder, name), process.getuid?.() ?? 0, 20);
      const ran = await meshwrightHere(place, [...words, '--yes'], { env: { CI: 'true' } });
      expect([ran.code, ran.stderr]).toEqual([
        65,
        expect.stringContaining(`Every member of group 20 can change ${name}`),
      ]);
    }
  });

  // Only root can give a file away.
  it.runIf(process.getuid?.() === 0)('causes a warning if it belongs to a different user', async () => {
    chownSync(place.write('theirs.yaml', exampleText), 12_345, 12_345);
    const [root, sudo] = await Promise.all([
      run('validate', 'theirs.yaml'),
      meshwrightHere(place, ['validate', 'theirs.yaml'], { env: { SUDO_UID: '12345' } }),
    ]);
    expect(root).toMatchObject({ code: 0, stderr: '' });
    expect(root.stdout).toContain('theirs.yaml belongs to user 12345, but you are user 0.');
    expect(root.stdout).toContain('theirs.yaml is valid, 1 warning.\n');
    expect(sudo).toMatchObject({ code: 0, stderr: '', stdout: 'theirs.yaml is valid.\n' });
  });
});
