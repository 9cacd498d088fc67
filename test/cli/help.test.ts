import { afterAll, describe, expect, it } from 'vitest';
import { nativeParts } from '../../src/native/load-native.ts';
import { codesOf, expectGolden, json, meshwright, meshwrightHere, widest } from './meshwright.ts';
import { makePlace } from './place.ts';

const place = makePlace();
afterAll(() => place.remove());

const run = (...words: string[]) => meshwrightHere(place, words);

/** Every command and group of commands in the help. */
const shown = [
  'enroll validate fit plan apply rollback forget models status doctor drift facts logs cables graph bench history',
  'ask start stop drain restart reboot shutdown hold release unlock launch exec run sim demo lease endpoints secrets',
  'schema',
].flatMap((names) => names.split(' '));

describe('meshwright --help', () => {
  it('lists the commands in 80 columns', async () => {
    const help = await meshwright(place, ['--help']);
    expect(widest(help.stdout)).toBeLessThanOrEqual(80);
    await expectGolden('help', place, [help]);
  });

  it.each(shown)('explains %s in 80 columns', async (verb) => {
    const help = await run(verb, '--help');
    expect(widest(help.stdout)).toBeLessThanOrEqual(80);
    await expectGolden(`help-${verb}`, place, [help]);
  });

  it.each([
    ['sim', ['up', 'down', 'status', 'fault']],
    ['lease', ['status', 'release']],
    ['models', ['list', 'verify', 'prune']],
  ])('explains the %s commands in 80 columns', async (group, names) => {
    const helps = await Promise.all(names.map((name) => run(group, name, '--help')));
    expect(Math.max(...helps.map((help) => widest(help.stdout)))).toBeLessThanOrEqual(80);
    await expectGolden(`help-${group}-verbs`, place, helps);
  });

  it('prints the same as the help command', async () => {
    const [asked, typed, all, none] = await Promise.all([
      run('facts', '--help'),
      run('help', 'facts'),
      run('--help'),
      run('help'),
    ]);
    expect(typed.stdout).toBe(asked.stdout);
    expect(none.stdout).toBe(all.stdout);
    expect([typed.code, none.code]).toEqual([0, 0]);
  });

  it.each(['0', '1', '10', '40', '200'])('lists every command on a page of %s columns', async (columns) => {
    const { code, stdout } = await meshwrightHere(place, ['--help'], { env: { COLUMNS: columns } });
    expect(code).toBe(0);
    for (const verb of shown) {
      expect(stdout).toMatch(new RegExp(`^  ${verb}\\b`, 'm'));
    }
    expect(widest(stdout)).toBeLessThanOrEqual(Math.max(60, Math.min(Number(columns) || 80, 100)));
  });
});

describe('meshwright --version', () => {
  it('prints one line, or one JSON document with the Node version and the native parts', async () => {
    const [plain, asJson] = await Promise.all([meshwright(place, ['--version']), run('--version', '--json')]);
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(plain.stdout).toMatch(/^meshwright \d+\.\d+\.\d+\n$/);
    expect(json(asJson)).toEqual({
      meshwright: plain.stdout.trim().split(' ')[1],
      node: process.versions.node,
      native: nativeParts(),
    });
  });
});

describe('an invalid command line', () => {
  it('gets a suggestion and exit code 64', async () => {
    const lines = `vaildate; validate --jsn; sim upp; validate a.yaml b.yaml; validate a.yaml -f b.yaml;
      validate -- -odd.yaml; validate --nodes a; sim up --record x; facts --parallel 0; facts --deadline 3;
      facts --nodes a,,b; facts --fact rdma-stat; facts -f; logs -f chat; schema clustr; demo now;
      facts --parallel 10000; facts --log x --log-level loud; enroll; enroll a.lan --user a/b;
      enroll a.lan --port 65536; enroll a/b; enroll --all; forget x; lease up; graph --out a --out b;
      facts --fact rdma-stat --fact rdma-state; endpoints --trust foo; status --trust env=`;
    const rans = await Promise.all(lines.split(/;\s+/).map((words) => run(...words.split(' '))));
    expect(rans.map((ran) => ran.code)).toEqual(rans.map(() => 64));
    expect(rans.map((ran) => ran.stdout)).toEqual(rans.map(() => ''));
    await expectGolden('usage-errors', place, rans);
  });

  it('prints help to standard error if no command is given', async () => {
    const [none, help, family] = await Promise.all([meshwright(place, []), run('--help'), run('sim')]);
    expect(none).toMatchObject({ code: 64, stdout: '', stderr: help.stdout });
    expect(family).toMatchObject({ code: 64, stdout: '' });
    expect(family.stderr).toContain('meshwright sim COMMAND');
  });

  it('is rejected if --sim was read as the value of another option', async () => {
    const rans = await Promise.all(['--record', '--log', '--nodes'].map((option) => run('status', option, '--sim')));
    for (const ran of rans) {
      expect([ran.code, ran.stdout]).toEqual([64, '']);
      expect(ran.stderr).toContain('--sim was read as the value of another option.');
    }
  });

  it('prints one JSON document with --json', async () => {
    const rans = await Promise.all([run('--json'), run('vaildate', '--json'), run('demo', '--json')]);
    expect(rans.map((ran) => codesOf(json(ran)))).toEqual([['cli/usage'], ['cli/usage'], ['cli/usage']]);
    expect(rans.map((ran) => [ran.code, ran.stderr])).toEqual(rans.map(() => [64, '']));
  });
});
