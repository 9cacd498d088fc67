import { describe, expect, it } from 'vitest';
import {
  configurePlacement as configurePlacementItself,
  type RankConfiguration,
} from '../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../src/drivers/contract/driver.ts';
import { modelFile } from '../../../../src/drivers/llamacpp/configure.ts';
import type { LlamaRuntime } from '../../../../src/drivers/llamacpp/runtime.ts';
import type { DesiredModel, DesiredPlacement } from '../../../../src/model/desired.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import { given } from '../../../../src/model/given.ts';
import type { Text } from '../../../../src/model/step.ts';
import { renderPath } from '../../../../src/node/paths/node-paths.ts';
import { fileAt, llamaFleet } from '../../../rack/placements.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const configurePlacement = onPage(configurePlacementItself);

function ranksOf(
  placement: Partial<DesiredPlacement> = {},
  runtime: Partial<LlamaRuntime> = {},
): readonly RankConfiguration[] {
  const fleet = llamaFleet({ placement, runtime });
  const [kimi] = fleet.placements;
  if (kimi === undefined) throw new Error('the fleet has no placement');
  const configuration = configurePlacement(kimi, fleet, 5, lastingNames);
  if (configuration.kind === 'incomplete') throw new Error(configuration.missing);
  return configuration.ranks;
}

const render = (text: Text): string =>
  text
    .map((part) => (typeof part === 'string' ? part : part.kind === 'login-user' ? '' : renderPath(part, '')))
    .join('');

/** The arguments in a service file. */
const argvOf = ({ service }: Pick<RankConfiguration, 'service'>): readonly string[] =>
  [...(/<array>(.*)<\/array>/s.exec(render(service))?.[1] ?? '').matchAll(/<string>(.*)<\/string>/g)].map(
    (match) => match[1] ?? '',
  );

/** The service file of a rank, and its arguments. */
function serviceOf(placement: Partial<DesiredPlacement>, rank: number) {
  const configuration = ranksOf(placement)[rank];
  if (configuration === undefined) throw new Error(`the placement has no rank ${rank}`);
  return { argv: argvOf(configuration), text: render(configuration.service), record: configuration.record };
}

const wordAfter = (argv: readonly string[], word: string): string | undefined => argv[argv.indexOf(word) + 1];

describe('the ranks of a llama.cpp mesh', () => {
  it('include a worker on each follower that listens only on its cable to the leader', () => {
    const [, second, third] = [0, 1, 2].map((rank) => serviceOf({}, rank));
    const folder = `/opt/meshwright/runtimes/llama/${digestOf('archive').slice(0, 16)}`;
    const port = String(second?.record.port);
    expect(second?.argv).toEqual([`${folder}/bin/ggml-rpc-server`, '--host', '10.77.0.2', '--port', port]);
    expect(third?.argv).toEqual([`${folder}/bin/ggml-rpc-server`, '--host', '10.77.0.6', '--port', port]);
  });

  it('include a server on the leader that calls each worker over its own cable', () => {
    const { argv, record } = serviceOf({}, 0);
    const port = serviceOf({}, 1).record.port;
    expect(wordAfter(argv, '--model')).toBe(`/opt/meshwright/models/tiny/${digestOf('model').slice(0, 16)}/tiny.gguf`);
    expect(wordAfter(argv, '--rpc')).toBe(`10.77.0.2:${port},10.77.0.6:${port}`);
    const values = ['--fit', '--host', '--port'].map((word) => wordAfter(argv, word));
    expect(values).toEqual(['off', '127.0.0.1', '8080']);
    expect(record.port).toBe(8_080);
  });

  it("split the model by their shares, with the leader's GPU last", () => {
    expect(wordAfter(serviceOf({}, 0).argv, '--tensor-split')).toBe('1,1,1');
    expect(wordAfter(serviceOf({ shares: [1, 2, 3] }, 0).argv, '--tensor-split')).toBe('2,3,1');
  });

  it('have context for every parallel request', () => {
    const { argv } = serviceOf({ parallel: 4 }, 0);
    expect([wordAfter(argv, '--ctx-size'), wordAfter(argv, '--parallel')]).toEqual(['16384', '4']);
  });

  it("get the file's arguments on the server only", () => {
    expect(serviceOf({ args: ['--metrics'] }, 0).argv.at(-1)).toBe('--metrics');
    expect(serviceOf({ args: ['--metrics'] }, 1).argv).not.toContain('--metrics');
  });

  it('do not try RDMA if the file sets tcp', () => {
    expect([0, 1].map((rank) => serviceOf({}, rank).text.includes('GGML_RPC_NO_RDMA'))).toEqual([true, true]);
    expect(serviceOf({ transport: 'rdma' }, 1).text).not.toContain('GGML_RPC_NO_RDMA');
  });

  it('start a worker with a cache through the program that verifies it', () => {
    const ranks = ranksOf({}, { cache: 'verified' });
    const folder = '/Library/Application Support/meshwright/placements/kimi/files';
    const [server, worker] = ranks.map((one) => argvOf(one));
    expect(worker?.slice(0, 5)).toEqual([
      '/usr/bin/perl',
      `${folder}/verify-cache.pl`,
      `${folder}/cache`,
      digestOf('model'),
      `/opt/meshwright/runtimes/llama/${digestOf('archive').slice(0, 16)}/bin/ggml-rpc-server`,
    ]);
    expect(worker?.at(-1)).toBe('--cache');
    const cached = ['folder cache', 'file verify-cache.pl'];
    const made = ranks.map(({ files }) => files.map(({ kind, name }) => `${kind} ${name}`));
    expect(made).toEqual([[], cached, cached]);
    expect(render(ranks[1]?.service ?? [])).toContain(`<key>LLAMA_CACHE</key>\n\t\t<string>${folder}/cache</string>`);
    expect(server).not.toContain('--cache');
  });

  it('include the native probe for workers with a cache, and the probe does not change their digest', () => {
    const configured = (cache: LlamaRuntime['cache'], nativeProgram?: string) => {
      const fleet = llamaFleet({ runtime: { cache } });
      const [kimi] = fleet.placements;
      const made = kimi && configurePlacementItself(kimi, { ...fleet, ...given({ nativeProgram }) }, 5, lastingNames);
      if (made?.kind !== 'configured') throw new Error('not configured');
      return { digest: made.digest, files: made.ranks.flatMap(({ files }) => files.map(({ name }) => name)) };
    };
    const [without, with1, with2] = [undefined, 'AAAA', 'BBBB'].map((program) => configured('verified', program));
    const probe = 'meshwright-probe.base64';
    expect(with1?.files.filter((name) => !without?.files.includes(name))).toEqual([probe, probe]);
    expect([with1?.digest, with2?.digest]).toEqual([without?.digest, without?.digest]);
    expect(configured('none', 'AAAA').files).toEqual([]);
  });

  it('are only a server on a single node', () => {
    const { argv } = serviceOf({ nodes: llamaFleet().placements[0]?.nodes.slice(0, 1) ?? [] }, 0);
    expect(argv.filter((word) => ['--rpc', '--tensor-split'].includes(word))).toEqual([]);
  });
});

describe('a server with a drafter', () => {
  const alone = llamaFleet().placements[0]?.nodes.slice(0, 1) ?? [];
  const drafted = (model?: Partial<DesiredModel>) => {
    const fleet = llamaFleet({ placement: { nodes: alone }, drafterFiles: [fileAt('q4/small.gguf')] });
    const models = fleet.models.map((one) => (one.name === 'small' ? { ...one, ...model } : one));
    const [kimi] = fleet.placements;
    if (kimi === undefined) throw new Error('the fleet has no placement');
    return configurePlacement(kimi, { ...fleet, models }, 5, lastingNames);
  };

  it('loads the drafter from its own folder, onto the GPU, with the option that enables it', () => {
    const configured = drafted();
    const [rank] = configured.kind === 'configured' ? configured.ranks : [];
    const argv = rank === undefined ? [] : argvOf(rank);
    const drafter = digestOf('small').slice(0, 16);
    expect(argv.slice(argv.indexOf('--model-draft')).slice(0, 6).join(' ')).toBe(
      `--model-draft /opt/meshwright/models/small/${drafter}/q4/small.gguf --gpu-layers-draft 9999 --spec-type draft-simple`,
    );
    expect(JSON.parse(rank?.record.declared ?? '')).toMatchObject({ drafter: `small ${drafter}` });
  });

  it("has a different digest for a different drafter, and waits while the drafter's files are unknown", () => {
    const digests = [drafted(), drafted({ digest: digestOf('other') })].map((one) => one.digest);
    expect(new Set(digests).size).toBe(2);
    expect(drafted({ digest: undefined } as never)).toEqual({
      kind: 'incomplete',
      missing: 'the files of model small are not known yet',
    });
  });
});

describe('the model file for llama-server', () => {
  const named = (...paths: readonly string[]) => modelFile(paths.map((path) => ({ path })));

  it('is the GGUF, or the first of several parts', () => {
    expect(named('a.json', 'q4/a.gguf', 'mmproj-a.gguf')).toEqual({ kind: 'file', path: 'q4/a.gguf' });
    const parts = ['b-00002-of-00012.gguf', 'b-00001-of-00012.gguf', 'b-00012-of-00012.gguf'];
    expect(named(...parts)).toEqual({ kind: 'file', path: 'b-00001-of-00012.gguf' });
  });

  it('is undetermined if there are several GGUFs or none', () => {
    expect(named('q4.gguf', 'q8.gguf')).toEqual({ kind: 'several', paths: ['q4.gguf', 'q8.gguf'] });
    expect(named('model.safetensors')).toEqual({ kind: 'none' });
  });
});

onOnePage('configure');
