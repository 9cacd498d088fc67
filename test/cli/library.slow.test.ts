import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longestRunMs, mainFile, meshwright } from './meshwright.ts';
import { makePlace, type Place, processesOf } from './place.ts';

const root = join(import.meta.dirname, '../..');

describe('the built library', () => {
  let place: Place;
  let file = '';
  const node = async (...words: string[]): Promise<string> => {
    // tsx leaves a folder in TMPDIR.
    const options = { cwd: root, env: { ...place.env, TMPDIR: tmpdir() }, timeout: longestRunMs };
    return (await promisify(execFile)(process.execPath, words, options)).stdout;
  };
  /** The output of a program in which `cluster` is the opened file. */
  const program = (text: string, options = ''): Promise<string> =>
    node(
      '--input-type=module',
      '-e',
      `import { FleetError, openCluster } from 'meshwright';
       const cluster = openCluster({ file: ${JSON.stringify(file)}, isSimulated: true, ${options} });
       const codes = (error) => error instanceof FleetError ? error.diagnostics.map(({ code }) => code).join() : error;
       ${text}`,
    );
  beforeAll(async () => {
    place = makePlace();
    await meshwright(place, ['sim', 'example', 'rack']);
    file = join(place.folder, 'rack', 'cluster.yaml');
  });
  afterAll(async () => {
    await meshwright(place, ['sim', 'down', '-f', file]);
    const left = processesOf(place);
    place.remove();
    expect(left).toEqual([]);
  });

  it('runs its example, which applies a file and leaves nothing to do', async () => {
    const printed = await node('--import', 'tsx', 'examples/library.ts', file);
    expect(printed).toContain('studio-4: RDMA enabled\n');
    expect(printed).toMatch(/exit 0, [1-9][0-9]* changed\n0 changes left\n$/);
    expect((await meshwright(place, ['sim', 'status', '-f', file])).stderr).toContain('sim/not-running');
  });

  it('runs the example in its documentation', async () => {
    const [, example = ''] = /```ts\n([\s\S]*?) \* ```/.exec(readFileSync(join(root, 'src/index.ts'), 'utf8')) ?? [];
    const text = example.replaceAll(/^ \* ?/gm, '').replaceAll("'cluster.yaml'", JSON.stringify(file));
    expect(await node('--input-type=module', '-e', text)).toMatch(/^[0-9]+ 0\n$/);
  });

  it('rejects a stale plan, and changes nothing after an abort', async () => {
    await meshwright(place, ['sim', 'up', '-f', file]);
    const stale = `import { execFileSync } from 'node:child_process';
      const plan = await cluster.plan();
      execFileSync(process.execPath, ${JSON.stringify([mainFile, 'sim', 'fault', 'power-wrong', 'studio-1', '-f', file])});
      await cluster.apply({ plan }).catch((error) => console.log(codes(error)));`;
    expect(await program(stale)).toBe('plan/stale\n');
    const aborted = 'await cluster.apply().catch(({ name }) => console.log(name));';
    expect(await program(aborted, 'signal: AbortSignal.abort()')).toBe('AbortError\n');
  });

  it('plans for the chosen nodes, and applies that plan', async () => {
    const chosen = `const plan = await cluster.plan();
      const { steps } = await cluster.apply({ plan });
      console.log(JSON.parse(plan.text).targets.join(), [...new Set(steps.map(({ node }) => node))].join());`;
    expect(await program(chosen, "nodes: ['studio-1']")).toBe('studio-1 studio-1\n');
  });

  it('fails if the current folder has no cluster file', async () => {
    const text = `import('meshwright').then(({ openCluster }) => openCluster())
      .catch((error) => console.log(error.diagnostics[0].code));`;
    expect(await node('-e', text)).toBe('cli/no-cluster-file\n');
  });
});
