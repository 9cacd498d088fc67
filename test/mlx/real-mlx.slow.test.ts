import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mlx, observe, reserved } from '../../src/drivers/mlx/mlx.ts';
import { doubleText, partText } from '../../src/sim/doubles/double-files.ts';
import { meshFleet, mlxRuntime, placed } from '../rack/placements.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { formOf } from './form-of.ts';
import { commandOf, type LocalRanks, type RankProgram, startRanks } from './local-ranks.ts';
import { findRealMlx, linkRuntime } from './real-mlx.ts';

const real = findRealMlx();
const place = temporaryFolder();
const program = (runtime: string): RankProgram => ({ runtime, model: real?.model ?? '', place });
const [model] = meshFleet().models;
if (model === undefined) throw new Error('the fleet has no model');
const token = mlx.tokenRequest(placed('chat', ['studio-1', 'studio-2']), mlxRuntime, model);

const messages = [{ role: 'user', content: 'Tell me of the cable.' }];
const chat = (more: object = {}) => ['/v1/chat/completions', { messages, max_tokens: 2, ...more }] as const;
type Question = readonly [path: string, body?: unknown];
const questions: Readonly<Record<string, Question>> = {
  health: ['/health'],
  models: ['/v1/models'],
  'unknown path': ['/v1/nothing'],
  'unknown path, POST': ['/v1/nothing', {}],
  'token request': [token.path, token.body],
  chat: chat(),
  stream: chat({ stream: true }),
  'stream with usage': chat({ stream: true, stream_options: { include_usage: true } }),
  completions: ['/v1/completions', { prompt: 'A cable', max_tokens: 2 }],
  'streamed completions': ['/v1/completions', { prompt: 'A cable', max_tokens: 2, stream: true }],
  'no JSON': ['/v1/chat/completions', 'Tell'],
  'no object': ['/v1/chat/completions', []],
  'no messages': ['/v1/chat/completions', { max_tokens: 1 }],
  'empty messages': chat({ messages: [] }),
  'temperature as text': chat({ temperature: 'hot' }),
  'null temperature': chat({ temperature: null }),
  'max_tokens 0': chat({ max_tokens: 0 }),
  'max_tokens as text': chat({ max_tokens: '2' }),
  'stream as text': chat({ stream: 'yes' }),
  'other model': chat({ model: 'other' }),
};

async function formsFrom(ranks: LocalRanks): Promise<Readonly<Record<string, unknown>>> {
  const forms: Record<string, unknown> = {};
  for (const [name, words] of Object.entries(questions)) forms[name] = await formOf(await ranks.ask(...words));
  return forms;
}

const at = (value: unknown, pointer = ''): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce((one, key) => Object(one)[key], value);

const optionsIn = (text: string): readonly string[] => [...new Set(text.match(/--[a-z][a-z-]+/g))];

describe.skipIf(real === undefined)('the real mlx_lm', { timeout: 400_000 }, () => {
  const started: LocalRanks[] = [];
  const start = async (runtime: string, size: number): Promise<LocalRanks> => {
    const ranks = await startRanks(program(runtime), size);
    started.push(ranks);
    return ranks;
  };
  beforeAll(() => {
    if (real === undefined) return;
    linkRuntime(place, real);
    place.write('double/venv/bin/python', doubleText('mlx/python.pl', 'mlx/server.pl'), 0o755);
    place.write('double/venv/bin/python3.12', '', 0o755);
    place.write('double/venv/pyvenv.cfg', `home = ${place.at('double/venv/bin')}\n`);
    const packages = 'double/venv/lib/python3.12/site-packages';
    for (const name of ['mlx', 'mlx_lm']) place.write(`${packages}/${name}-1.dist-info/METADATA`, '');
  });
  afterAll(async () => {
    await Promise.all(started.map(({ stop }) => stop()));
  });

  it('has every option that the driver sets or reserves, and that its double accepts', () => {
    const { argv, env } = commandOf(program('real'), 4, 0, 1);
    const [python = '', flag = '', rank = ''] = argv;
    const { stdout } = spawnSync(python, [flag, rank, 'alone', '1', '--help'], { env, encoding: 'utf8' });
    const known = optionsIn(stdout);
    const ours = argv.filter((word) => word.startsWith('--'));
    expect(ours).toContain('--pipeline');
    const doubles = optionsIn(/my %takes =.*?;.*?;/s.exec(partText('mlx/python.pl'))?.[0] ?? '');
    expect(doubles.length).toBeGreaterThan(ours.length);
    const words = [...ours, ...reserved.args.map(({ word }) => word), ...doubles, '--trust-remote-code'];
    expect(words.filter((word) => !known.includes(word))).toEqual([]);
  });

  it('runs as a pipeline of four ranks, and returns the fields that the driver reads', async () => {
    const ranks = await start('real', 4);
    const answer: unknown = await (await ranks.ask(token.path, token.body)).json();
    expect(at(answer, token.pointer)).toMatch(/./);
    expect(at(answer, token.countPointer)).toBe(1);
    expect(observe(ranks.log().split('\n'))).toEqual({ size: 4, transport: 'tcp' });
    await ranks.stop();
  });

  it('returns the same fields as its double in every response, even after a rank is killed', async () => {
    const [theirs, ours] = await Promise.all([start('real', 2), start('double', 2)]);
    expect(await formsFrom(ours)).toEqual(await formsFrom(theirs));
    for (const ranks of [theirs, ours]) ranks.signal(1, 'SIGKILL');
    // The double notices it only a moment later.
    await until(async () => (await ours.ask('/health')).status === 503);
    const answer = await theirs.ask(...chat());
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'generation thread died' }]);
    const later: readonly Question[] = [chat(), chat({ stream: true }), ['/health']];
    for (const words of later) {
      expect(await formOf(await ours.ask(...words))).toEqual(await formOf(await theirs.ask(...words)));
    }
    const died = / - ERROR - mlx_lm.server generation thread died: \[ring\] connection to a peer was lost$/m;
    for (const ranks of [theirs, ours]) expect(ranks.log()).toMatch(died);
  });
});
