import { describe, expect, it } from 'vitest';
import { innerPort } from '../../../../src/desired/endpoints.ts';
import { configurePlacement, type RankConfiguration } from '../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../src/drivers/contract/driver.ts';
import { quietProgram } from '../../../../src/drivers/exo/configure.ts';
import { dialogue, exo, reserved } from '../../../../src/drivers/exo/exo.ts';
import { type ExoRuntime, keys } from '../../../../src/drivers/exo/runtime.ts';
import { driverOf } from '../../../../src/drivers/registry.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { known } from '../../../../src/model/known.ts';
import type { ModelShape } from '../../../../src/model/model-shape.ts';
import type { Text } from '../../../../src/model/step.ts';
import { renderPath } from '../../../../src/node/paths/node-paths.ts';
import { checkedMac } from '../../../../src/rack/placement/state/seen-names.ts';
import { type ExoChanges, exoFleet } from '../../../rack/placements.ts';
import { observedFleet } from '../../../rack/rack.ts';
import { evenShape } from '../../engine/plan/fit-shapes.ts';

const render = (text: Text): string =>
  text
    .map((part) => {
      if (typeof part === 'string') return part;
      return part.kind === 'login-user' ? 'LOGIN' : renderPath(part, '/R');
    })
    .join('');

function ranksOf(changes: ExoChanges, generation = 5): readonly RankConfiguration[] {
  const fleet = exoFleet(changes);
  const [kimi] = fleet.placements;
  const configured = kimi && configurePlacement(kimi, fleet, generation, lastingNames);
  if (configured?.kind !== 'configured') throw new Error('the placement is not configured');
  return configured.ranks;
}

/** The arguments and the environment, as launchd reads them. */
function startOf(rank: RankConfiguration | undefined) {
  const text = render(rank?.service ?? []);
  const [, words = ''] = /<array>(.*?)<\/array>/s.exec(text) ?? [];
  const [, env = ''] = /EnvironmentVariables<\/key>\s*<dict>(.*?)<\/dict>/s.exec(text) ?? [];
  return {
    words: [...words.matchAll(/<string>(.*?)<\/string>/g)].map((match) => match[1] ?? ''),
    env: Object.fromEntries(
      [...env.matchAll(/<key>(.*?)<\/key>\s*<string>(.*?)<\/string>/g)].map(([, k, v]) => [k, v]),
    ),
  };
}

const behind = (words: readonly string[], flag: string): string => words[words.indexOf(flag) + 1] ?? '';

const files = '/R/Library/Application Support/meshwright/placements/kimi/files';
const ownFolder = '/R/Library/Application Support/meshwright/accounts/folders/_meshrank';

describe('an exo rank', () => {
  it("starts from its own version, with this start's ports and the leader as forced master", () => {
    const [leader, follower] = ranksOf({});
    const { words } = startOf(leader);
    const { port } = ranksOf({})[1]?.record ?? { port: 0 };
    expect(words.slice(0, 3)).toEqual(['/R/usr/bin/perl', `${files}/quiet.pl`, `${files}/home`]);
    expect(words[3]).toMatch(
      /^\/R\/opt\/meshwright\/runtimes\/exo\/[0-9a-f]{16}\/EXO\.app\/Contents\/Resources\/exo\/exo$/,
    );
    expect(words.slice(4, 7)).toEqual(['--force-master', '--api-port', '8080']);
    expect([behind(words, '--zenoh-port'), behind(words, '--discovery-port')]).toEqual([`${port}`, `${port}`]);
    expect(startOf(follower).words).not.toContain('--force-master');
    expect(behind(startOf(ranksOf({}, 6)[0]).words, '--zenoh-port')).toBe(`${port + 1}`);
  });

  it('does not join a rank from a different start or placement', () => {
    const namespace = (changes: ExoChanges, generation?: number, rank = 0): string =>
      behind(startOf(ranksOf(changes, generation)[rank]).words, '--namespace');
    expect(namespace({})).toMatch(/^meshwright-kimi-[0-9a-f]{16}-5$/);
    expect(namespace({}, 5, 2)).toBe(namespace({}));
    expect(namespace({}, 6)).not.toBe(namespace({}));
    expect(namespace({ placement: { name: 'other' } })).not.toBe(namespace({}));
  });

  it("uses the release's options and names its peers on the cables", () => {
    const { words, env } = startOf(ranksOf({ runtime: { version: '1.0.71', dialect: '1.0.71' } })[0]);
    const port = behind(words, '--libp2p-port');
    expect(behind(words, '--bootstrap-peers').split(',')).toEqual([
      `/ip4/10.77.0.2/tcp/${port}`,
      expect.stringMatching(new RegExp(String.raw`^/ip4/10\.77\.0\.\d+/tcp/${port}$`)),
    ]);
    expect(words).not.toContain('--namespace');
    expect(env['EXO_LIBP2P_NAMESPACE']).toMatch(/^meshwright-kimi-/);
    expect(startOf(ranksOf({})[0]).env).not.toHaveProperty('EXO_LIBP2P_NAMESPACE');
  });

  it('has an empty home, the model under its name, and no internet access', () => {
    const [leader] = ranksOf({ placement: { parallel: 4, args: ['-v'] } });
    const { words, env } = startOf(leader);
    expect(env).toEqual({
      EXO_FAST_SYNCH: 'false',
      EXO_HOME: '.exo',
      EXO_MAX_CONCURRENT_REQUESTS: '4',
      EXO_MODELS_READ_ONLY_DIRS: files,
      EXO_OFFLINE: 'true',
      HF_HOME: `${ownFolder}/home/huggingface`,
      HOME: `${files}/home`,
      LOGURU_DIAGNOSE: 'false',
      PATH: '/R/usr/bin:/R/bin:/R/usr/sbin:/R/sbin',
      PYTHONPYCACHEPREFIX: `${ownFolder}/home/pycache`,
      TMPDIR: `${ownFolder}/tmp`,
    });
    expect(words.at(-1)).toBe('-v');
    expect(leader?.files).toEqual([
      { kind: 'link', name: 'acme--Tiny-4bit', to: expect.objectContaining({ kind: 'node-path' }) },
      { kind: 'folder', name: 'home', keeps: false },
      { kind: 'file', name: 'quiet.pl', content: [quietProgram] },
    ]);
  });

  it('counts as joined when it listens: the leader for requests, followers for their peers', () => {
    const [leader, follower, last] = ranksOf({}).map(({ record }) => record.port);
    expect(leader).toBe(8_080);
    expect([follower, last]).toEqual([follower, follower]);
    expect(follower).toBeGreaterThanOrEqual(16_384);
    expect(follower).toBeLessThan(32_768);
    expect(exo.waves(...placed(exoFleet()))).toEqual([
      { ranks: 'leader', until: 'joined' },
      { ranks: 'followers', until: 'joined' },
    ]);
  });

  it("is asked for a token with the model's full name", () => {
    expect(JSON.parse(ranksOf({})[0]?.request ?? '')).toMatchObject({ model: 'acme/Tiny-4bit', max_tokens: 1 });
    expect([driverOf({ driver: 'exo' }), exo.canRestartOne(placed(exoFleet())[1])]).toEqual([exo, false]);
  });
});

function placed(fleet: DesiredFleet) {
  const [placement] = fleet.placements;
  const [runtime] = fleet.runtimes;
  if (placement === undefined || runtime?.driver !== 'exo') throw new Error('the fleet has no placement on exo');
  return [placement, runtime as ExoRuntime] as const;
}

const talkOf = (changes: ExoChanges) => {
  const fleet = exoFleet(changes);
  const [model] = fleet.models;
  if (model === undefined) throw new Error('the fleet has no model');
  return dialogue(placed(fleet)[0], model, fleet.thunderbolt).args;
};

describe('the instance requested from exo', () => {
  it("matches the file, in exo's terms", () => {
    expect(talkOf({})).toEqual({
      nodes: ['studio-1', 'studio-2', 'studio-3'],
      port: 8_080,
      modelId: 'acme/Tiny-4bit',
      sharding: 'Tensor',
      meta: 'MlxJaccl',
      bytesPerNode: 1_000,
    });
    expect(talkOf({ placement: { sharding: 'pipeline', transport: 'tcp' } })).toMatchObject({
      sharding: 'Pipeline',
      meta: 'MlxRing',
      cables: expect.arrayContaining([{ from: 'studio-1', to: 'studio-2', addresses: ['10.77.0.2'] }]),
    });
  });

  it('is a pipeline over a ring on a single node', () => {
    const [only] = talkOf({}).nodes;
    if (only === undefined) throw new Error('the fleet has no node');
    expect(talkOf({ placement: { nodes: [only] } })).toMatchObject({ sharding: 'Pipeline', meta: 'MlxRing' });
  });
});

const codesOf = (
  changes: ExoChanges,
  more: {
    daemon?: FactValues['foreign-daemons'][number];
    wish?: 'stop' | 'adopt' | 'remove';
    without?: readonly string[];
  } = {},
) => {
  const fleet = exoFleet(changes);
  const [placement, runtime] = placed(fleet);
  const [model] = fleet.models;
  if (model === undefined) throw new Error('the fleet has no model');
  const { foreignDaemons: _, ...cabled } = fleet.thunderbolt;
  const links = cabled.links.filter(({ ends }) => !ends.every(({ node }) => more.without?.includes(node)));
  const thunderbolt = { ...cabled, links };
  const wish = more.wish === undefined ? {} : { foreignDaemons: more.wish };
  const nodes = placement.nodes.map((node) => {
    const facts = observedFleet({}).nodes[node]?.facts;
    const daemons = known(more.daemon === undefined ? [] : [more.daemon]);
    return { node, mac: checkedMac(facts && { ...facts, 'foreign-daemons': daemons }) };
  });
  const checked = { placement, runtime, model, nodes, fleet: { ...fleet, thunderbolt: { ...thunderbolt, ...wish } } };
  return (exo.check?.(checked) ?? []).map(({ code, detail }) => `${code}: ${detail}`);
};

const shape = (hidden: number, kvHeads: number): ModelShape => ({
  ...evenShape(0, { hidden, heads: 12, kvHeads, headDim: 12, dims: {} }),
  architecture: 'llama',
  classes: ['LlamaForCausalLM'],
});

describe('a placement on exo', () => {
  it('is accepted if exo can create it', () => {
    expect(codesOf({})).toEqual([]);
    expect(codesOf({ model: { shape: shape(144, 3) } })).toEqual([]);
  });

  it("needs the model's name, and files that exo considers complete", () => {
    const { repository: _, ...unnamed } = exoFleet().models[0] ?? { repository: '' };
    expect(codesOf({ model: { ...unnamed, repository: undefined } as never })).toEqual([
      'exo/no-repository: models.tiny does not name its repository.',
    ]);
    const [first, second] = exoFleet().models[0]?.files ?? [];
    expect(codesOf({ model: { files: [first, second].flatMap((file) => file ?? []) } })).toEqual([
      'exo/no-index: The files of tiny do not include model.safetensors.index.json.',
    ]);
    expect(codesOf({ model: { files: [] } })).toEqual([]);
  });

  it('is refused with tensor sharding if exo cannot divide the model', () => {
    expect(codesOf({ model: { shape: shape(145, 3) } })).toEqual([
      'placement/not-divisible: exo cannot split tiny: its width (145) is not divisible by 3.',
    ]);
    expect(codesOf({ model: { shape: shape(144, 4) } })).toEqual([
      'placement/not-divisible: exo cannot split tiny: its number of key-value heads (4) is not divisible by 3.',
    ]);
    expect(codesOf({ model: { shape: shape(145, 4) }, placement: { sharding: 'pipeline' } })).toEqual([]);
  });

  it.each([
    ['1.0.9', '1.0.71'],
    ['1.0.71', '1.0.71'],
    ['1.0.71-rc.2', '1.0.71'],
    ['1.0.72', 'main'],
    ['1.1.0+zenoh', 'main'],
  ])('uses for version %s the dialect %s', (version, dialect) => {
    expect(keys.resolve({ driver: 'exo', archive: 'EXO.dmg', version })).toMatchObject({ version, dialect });
  });

  describe('at the model check', () => {
    const gemma = { repository: 'mlx-community/gemma-4-31b-it-8bit' };
    const pipeline = { sharding: 'pipeline' } as const;
    const ofClass = (...classes: readonly string[]) => ({ model: { shape: { ...shape(144, 3), classes } } });

    it.each<[string, ExoChanges]>([
      ['a pipeline for Gemma 4', { model: gemma, placement: pipeline }],
      [
        'a pipeline for DeepSeek V3.1 (8 bit)',
        { model: { repository: 'mlx-community/DeepSeek-V3.1-8bit' }, placement: pipeline },
      ],
      ['tensor sharding for a card without it', { model: { repository: 'mlx-community/GLM-4.5-Air-8bit' } }],
      ['tensor sharding of an architecture that exo lacks', ofClass('Glm4MoeForCausalLM')],
      ['tensor sharding of two architectures', ofClass('LlamaForCausalLM', 'GptOssForCausalLM')],
      [
        'DeepSeek V4 in the release',
        { ...ofClass('DeepseekV4ForCausalLM'), runtime: { version: '1.0.71', dialect: '1.0.71' } },
      ],
    ])('is refused with %s', (_, changes) => {
      expect(codesOf(changes)).toEqual([expect.stringContaining('exo/cannot-split: exo ')]);
    });

    it.each<[string, ExoChanges]>([
      ['tensor sharding of Gemma 4', { model: gemma }],
      ['a quantization of Gemma 4 without a card', { model: { repository: 'a/gemma-4-31b' }, placement: pipeline }],
      ['a pipeline of any other architecture', { ...ofClass('Glm4MoeForCausalLM'), placement: pipeline }],
      ['a card, whatever its architecture', { model: { ...ofClass('X').model, repository: 'moonshotai/Kimi-K2.6' } }],
      ['a known architecture', ofClass('LlamaForCausalLM')],
      ['DeepSeek V4 on main', { ...ofClass('DeepseekV4ForCausalLM'), runtime: { dialect: 'main' } }],
    ])('is accepted with %s', (_, changes) => {
      expect(codesOf(changes)).toEqual([]);
    });

    it('is accepted with a warning if exo may refuse the split', () => {
      const { classes: _, ...unread } = shape(144, 3);
      expect(codesOf({ model: { shape: unread } })).toEqual([
        'exo/not-known-to-split: exo has no card for acme/Tiny-4bit, and the `architectures` of the model are unknown.',
      ]);
      expect(codesOf({ ...ofClass('Glm4MoeForCausalLM'), runtime: { version: '1.1.0' } })).toEqual([
        expect.stringContaining('exo/not-known-to-split: exo up to 1.0.72 refuses'),
      ]);
    });

    it('ignores key and value heads only for DeepSeek V4 on main', () => {
      const model = { repository: 'mlx-community/DeepSeek-V4-Flash', shape: { ...shape(144, 1), heads: 6 } };
      expect(codesOf({ model, runtime: { dialect: 'main' } })).toEqual([]);
      expect(codesOf({ model, runtime: { version: '1.0.71', dialect: '1.0.71' } })).toContainEqual(
        expect.stringContaining('placement/not-divisible: '),
      );
    });
  });

  it('needs a cable between every pair over RDMA, even for a pipeline', () => {
    const expected = ['exo/needs-every-pair: No link connects studio-1 and studio-3.'];
    const uncabled = { without: ['studio-1', 'studio-3'] } as const;
    expect(codesOf({}, uncabled)).toEqual(expected);
    expect(codesOf({ placement: { sharding: 'pipeline' } }, uncabled)).toEqual(expected);
    expect(codesOf({ placement: { transport: 'tcp' } }, uncabled)).toEqual([]);
    expect(codesOf({}, { without: ['studio-1', 'studio-2', 'studio-3'] })).toEqual([
      'exo/needs-every-pair: No link connects studio-1 and studio-2, nor studio-1 and studio-3, nor studio-2 and studio-3.',
    ]);
  });

  it('has fast synch off by default, with a warning if the file switches it on', () => {
    const envOf = (env: Readonly<Record<string, string>>) => startOf(ranksOf({ placement: { env } })[0]).env;
    expect(envOf({})['EXO_FAST_SYNCH']).toBe('false');
    expect(envOf({ EXO_FAST_SYNCH: 'on' })['EXO_FAST_SYNCH']).toBe('on');
    expect(codesOf({ placement: { env: { EXO_FAST_SYNCH: 'on' } } })).toEqual([
      'exo/fast-synch: `env` contains EXO_FAST_SYNCH.',
    ]);
    expect(codesOf({ placement: { args: ['--fast-synch'] } })).toEqual([
      'exo/fast-synch: `args` contains --fast-synch.',
    ]);
    expect(codesOf({ placement: { args: ['--fa'] } })).toEqual(['exo/fast-synch: `args` contains --fa.']);
    expect(codesOf({ placement: { env: { EXO_FAST_SYNCH: 'false' }, args: ['--no-fast-synch'] } })).toEqual([]);
  });

  it("has a warning that exo's API is open next to its gateway", () => {
    const publication = { servedName: 'kimi', apiKeys: [] } as never;
    const open = `exo/open-api: exo's API listens on port ${innerPort('kimi')} on every interface of studio-1..3, without a key. Anyone who reaches it can send requests, delete the placement, and read prompts (/events).`;
    expect([codesOf({ placement: { publication } }), codesOf({})]).toEqual([[open], []]);
    const {
      placements: [kimi],
    } = exoFleet({ placement: { publication } });
    expect(kimi && exo.exposed?.(kimi).map(({ code, severity }) => [code, severity])).toEqual([
      ['exo/open-api', 'warning'],
    ]);
  });

  it("is refused next to exo's own network daemon, unless the file stops it", () => {
    const daemon = { label: 'io.exo.networksetup', isLoaded: true, isDisabled: false };
    const all = ['studio-1', 'studio-2', 'studio-3'];
    expect(codesOf({}, { daemon })).toEqual(
      all.map((node) => `exo/network-daemon: io.exo.networksetup runs on ${node}.`),
    );
    expect(codesOf({}, { daemon, wish: 'adopt' })).toHaveLength(3);
    expect((['stop', 'remove'] as const).map((wish) => codesOf({}, { daemon, wish }))).toEqual([[], []]);
    expect(codesOf({}, { daemon: { ...daemon, isLoaded: false } })).toEqual([]);
    expect(codesOf({}, { daemon: { ...daemon, label: 'io.mesh.keeper' } })).toEqual([]);
  });

  it.each([...reserved.env.map(({ word }) => word)])('is refused with %s in env', (word) => {
    expect(codesOf({ placement: { env: { [word]: 'x' } } })).toEqual([
      `placement/reserved-word: The driver sets ${word} itself.`,
    ]);
  });

  it.each([...reserved.args])('is refused with $word in args', ({ word, because }) => {
    const why = because === undefined ? `The driver sets ${word} itself` : `${word} ${because}`;
    const expected = [`placement/reserved-word: ${why}.`];
    expect(codesOf({ placement: { args: [word, '1'] } })).toEqual(expected);
    expect(codesOf({ placement: { args: [`${word}=1`] } })).toEqual(expected);
    expect(codesOf({ placement: { args: [`-${word}ad`] } })).toEqual([]);
  });
});
