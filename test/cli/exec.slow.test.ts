import { describe, expect, it } from 'vitest';
import { fleetPlace } from './fleet.ts';
import { expectGolden, json } from './meshwright.ts';
import { schemaCheck } from './schema-check.ts';

const { place, run } = fleetPlace();

interface ExecDocument {
  readonly simulated: unknown;
  readonly nodes: Readonly<
    Record<
      string,
      { readonly exit: unknown; readonly stdout: string; readonly stderr: string; readonly truncated: boolean }
    >
  >;
}

const onOne = async (...command: string[]): Promise<ExecDocument['nodes'][string]> => {
  const document = json(await run('exec', '--sim', '--json', 'studio-1', '--', ...command)) as ExecDocument;
  const one = document.nodes['studio-1'];
  if (one === undefined) throw new Error('the answer has no entry for studio-1');
  return one;
};

describe('exec', () => {
  it('passes every argument exactly as it was typed', async () => {
    const words = [
      'a b',
      '*',
      '?',
      '[a]',
      "it's",
      '"',
      '\\',
      '$HOME',
      '`id`',
      '$(id)',
      ';',
      '&',
      '#',
      '!',
      '~',
      '',
      'new\nline',
      '\t',
      '-n',
      'ü',
      '{a,b}',
      '%s',
      '|',
    ];
    const { stdout } = await onOne('printf', '%s\\0', ...words);
    expect(stdout.split('\0').slice(0, -1)).toEqual(words);
  });

  it("prefixes output, errors and exit codes with their node's name", async () => {
    const rans = [
      await run('exec', '--sim', '--all', '--', 'sw_vers', '-productVersion'),
      await run('exec', '--sim', 'studio-1', 'studio-4', '--', 'sh', '-c', 'echo out; echo wrong >&2; exit 3'),
      await run('exec', '--sim', 'studio-2', '--', 'printf', 'no line end'),
      await run('exec', '--sim', 'studio-2', '--', 'printf', '\\033]0;title\\007\\ttab\\n::error::x::\\n'),
    ];
    expect(rans.map((ran) => ran.code)).toEqual([0, 1, 0, 0]);
    await expectGolden('exec', place, rans);
  });

  it('exits with 4 if the command succeeded on only some nodes', async () => {
    const ran = await run('exec', '--sim', '--all', '--', 'sh', '-c', '[ "$(whoami)" = ana ]');
    expect([ran.code, ran.stderr.match(/exit 1$/gm)?.length]).toEqual([4, 3]);
  });

  it('prints one JSON document that matches its schema', async () => {
    const ran = await run('exec', '--sim', '--json', '--all', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7');
    const document = json(ran) as ExecDocument;
    expect(schemaCheck('exec')(document)).toEqual([]);
    expect(ran).toMatchObject({ code: 1, stderr: '' });
    expect(document.simulated).toBe(true);
    expect(document.nodes['studio-3']).toEqual({
      exit: { kind: 'exited', code: 7 },
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
    });
  });

  it('truncates endless output, and marks it as truncated', async () => {
    const flood = 'a=0123456789abcdef; a=$a$a$a$a; a=$a$a$a$a; a=$a$a$a$a; while :; do echo "$a"; done';
    const ran = await run('exec', '--sim', '--json', 'studio-1', '--', 'sh', '-c', flood);
    const one = (json(ran) as ExecDocument).nodes['studio-1'];
    expect(ran.code).toBe(1);
    expect(one?.truncated).toBe(true);
    expect(one?.stdout.length).toBeLessThanOrEqual(16 * 1024 * 1024);
  });

  it('gives up after its deadline with an unknown exit code', async () => {
    const ran = await run('exec', '--sim', '--deadline', '5s', 'studio-1', '--', 'sh', '-c', 'while :; do :; done');
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/^simulated studio-1 ! exit unknown: /m);
  });

  it('lists a few of many nodes, and counts the rest', async () => {
    const nodes = Array.from({ length: 250 }, (_, index) => `  n${index}: { host: n${index}.lan }\n`).join('');
    place.write('many.yaml', `schema: 1\nname: many\nnodes:\n${nodes}`);
    const ran = await run('exec', '-f', 'many.yaml', '--', 'true');
    expect(ran.code).toBe(64);
    expect(ran.stderr.replaceAll(/\s+/g, ' ')).toContain(
      'Name nodes (n0, n1, n10, n100, n101, n102, n103, n104, 242 more), or add --all.',
    );
  });

  it('rejects a missing target or command with a suggestion', async () => {
    const rans = await Promise.all([
      run('exec', '--sim', '--', 'uptime'),
      run('exec', '--sim', '--all'),
      run('exec', '--sim', '--all', '--'),
      run('exec', '--sim', 'studio-1', 'uptime'),
      run('exec', '--sim', 'studio-1', 'studio-2', 'echo', "it's"),
      run('exec', '--sim', '--all', 'studio-1', '--', 'uptime'),
      run('exec', '--sim', 'sutdio-1', '--', 'uptime'),
    ]);
    expect(rans.map((ran) => [ran.code, ran.stdout])).toEqual(rans.map(() => [64, '']));
    await expectGolden('exec-usage', place, rans);
  });
});
