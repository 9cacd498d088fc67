import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { eventually } from '../rack/running.ts';
import { filePart, fileText } from '../scenarios/converge-file.ts';
import { writeTinyGguf } from '../tiny-models.ts';
import { json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { listenTo } from './talking.ts';
import { twoPairs } from './two-pairs.ts';

const programs = { server: 'bin/llama-server', worker: 'bin/ggml-rpc-server' };

/** Two units over RDMA: chat on studio-1,4 and code on studio-2,3. */
function file(archive: string) {
  const value = twoPairs('26.5', {});
  const llama = { driver: 'llamacpp-rpc', archive: `./dist/${archive}.tar.gz`, ...programs };
  // It restores the addresses after the power cut.
  delete filePart(value, 'system')['keeper'];
  Object.assign(value, { runtimes: { llama }, models: { tiny: { source: './models/gguf' } } });
  const edit = { model: 'tiny', runtime: 'llama', sharding: 'pipeline', context: 512, transport: 'rdma' };
  for (const name of ['chat', 'code']) Object.assign(filePart(value, 'placements', name), edit);
  return value;
}

/** An archive with the double of llama.cpp, or a program that exits. */
function writeArchive(folder: string, name: string, program = `${doubleText('llamacpp/llama.pl')}# ${name}\n`): void {
  const files = Object.values(programs).map((path) => ({ path, mode: 0o755, content: Buffer.from(program) }));
  writeFileSync(join(folder, `dist/${name}.tar.gz`), tarGz(files));
}

const { place } = pairPlace(file('old'), {
  write: async (folder) => {
    for (const name of ['dist', 'models/gguf']) mkdirSync(join(folder, name), { recursive: true });
    await writeTinyGguf(join(folder, 'models/gguf/tiny.gguf'));
    for (const name of ['old', 'newer', 'newest']) writeArchive(folder, name);
    writeArchive(folder, 'broken', '#!/usr/bin/perl\nexit 3;\n');
    const onlyTcp = 'exit 3 unless $ENV{GGML_RPC_NO_RDMA};';
    writeArchive(folder, 'tcp-only', doubleText('llamacpp/llama.pl').replace('\n', `\n${onlyTcp}\n`));
  },
});
const run = (...words: string[]): Promise<Ran> => meshwright(place, [...words, '--sim']);
const words = ['upgrade', 'runtime', 'llama', '--sim', '--yes', '--lease-wait', '60s'];
const name = (archive: string): void => {
  place.write('cluster.yaml', fileText(file(archive)));
};

interface Upgraded {
  readonly document: ReportDocument;
  /** `chat over tcp`: the starts in order, one for all ranks. */
  readonly starts: readonly string[];
}

async function upgrade(): Promise<Upgraded> {
  rmSync(join(place.folder, 'sent.ndjson'), { force: true });
  const document = json(await meshwright(place, [...words, '--json', '--record', 'sent.ndjson']));
  expect(schemaCheck('report')(document)).toEqual([]);
  const sent = readFileSync(join(place.folder, 'sent.ndjson'), 'utf8').trim().split('\n');
  const starts = sent.flatMap((line) => {
    const { node, script = '' } = JSON.parse(line) as { readonly node: string; readonly script?: string };
    const [, transport] = /^transport=(rdma|tcp)\ntakes=/m.exec(script) ?? [];
    const placement = ['studio-1', 'studio-4'].includes(node) ? 'chat' : 'code';
    return transport === undefined ? [] : [`${placement} over ${transport}`];
  });
  return { document: document as ReportDocument, starts: starts.filter((one, at) => one !== starts[at - 1]) };
}

const codes = ({ document }: Upgraded): readonly string[] => document.diagnostics.map(({ code }) => code);

/** The version and the transport with which the ranks on a Mac were started. */
async function ranOn(node: string): Promise<string> {
  interface Rank {
    readonly declared: string;
  }
  const { nodes } = json(await run('facts', '--fact', 'placements', '--nodes', node, '--json')) as {
    readonly nodes: Readonly<Record<string, { readonly placements: { readonly value: readonly Rank[] } }>>;
  };
  const [rank] = nodes[node]?.placements.value ?? [];
  const declared = JSON.parse(rank?.declared ?? '{}') as { readonly runtime?: string; readonly transport?: string };
  return `${declared.runtime} over ${declared.transport}`;
}

const version = (archive: string): string =>
  `llama ${createHash('sha256')
    .update(readFileSync(join(place.folder, `dist/${archive}.tar.gz`)))
    .digest('hex')
    .slice(0, 16)}`;

const isConverged = async (): Promise<void> => {
  expect([(await run('plan', '--detailed-exitcode')).code, (await run('status')).code]).toEqual([0, 0]);
};

beforeAll(async () => {
  expect((await run('apply', '--yes')).code).toBe(0);
});

describe('upgrade runtime over RDMA', () => {
  it('starts the canary over TCP and then over RDMA, and leaves out a unit whose Mac is not reached', async () => {
    name('newer');
    expect((await run('sim', 'fault', 'power-cut', 'studio-3')).code).toBe(0);
    const preview = (await meshwright(place, [...words, '--check'])).stdout.replaceAll(/\s+/g, ' ');
    expect(preview).toContain('1. studio-1,4: restarts chat twice, first over TCP.');
    expect(preview).toContain('2. studio-2,3: left out: studio-3 was not reached.');
    expect(preview).toContain('chat first starts over TCP, where a hang needs no reboot');
    const upgraded = await upgrade();
    expect([upgraded.document.exit, upgraded.starts]).toEqual([4, ['chat over tcp', 'chat over rdma']]);
    expect(codes(upgraded)).toContain('upgrade/left-out');
    expect(Object.keys(upgraded.document.unreached ?? {})).toEqual(['studio-3']);
    expect(await ranOn('studio-1')).toBe(`${version('newer')} over rdma`);
    expect(await ranOn('studio-2')).toBe(`${version('old')} over rdma`);
  });

  it('never starts a version over RDMA that did not serve over TCP, and records its rollback', async () => {
    name('broken');
    const upgraded = await upgrade();
    expect([upgraded.document.exit, upgraded.starts]).toEqual([1, ['chat over tcp', 'chat over rdma']]);
    expect(codes(upgraded)).toEqual(expect.arrayContaining(['upgrade/left-out', 'upgrade/rolled-back']));
    expect(JSON.stringify(upgraded.document.diagnostics)).toContain('over TCP');
    expect(await ranOn('studio-1')).toBe(`${version('newer')} over rdma`);
  });

  it('brings the unit that was left out to the version in the file', async () => {
    name('newer');
    expect((await run('sim', 'fault', '--clear', 'power-cut')).code).toBe(0);
    expect((await run('sim', 'power-on', 'studio-3')).code).toBe(0);
    const isBack = async () => (await meshwright(place, [...words, '--check'])).code === 2;
    expect(await eventually(isBack)).toBe(true);
    const upgraded = await upgrade();
    expect([upgraded.document.exit, upgraded.starts]).toEqual([0, ['code over tcp', 'code over rdma']]);
    expect(await ranOn('studio-2')).toBe(`${version('newer')} over rdma`);
    await isConverged();
  });

  it('continues over RDMA if it was killed between both starts', async () => {
    name('newest');
    const killed = listenTo(place, words);
    await killed.until('returned a token over TCP');
    killed.child.kill('SIGKILL');
    await killed.end;
    expect(await ranOn('studio-1')).toBe(`${version('newest')} over tcp`);
    const upgraded = await upgrade();
    expect([upgraded.document.exit, upgraded.starts]).toEqual([0, ['chat over rdma', 'code over rdma']]);
    expect(await ranOn('studio-1')).toBe(`${version('newest')} over rdma`);
    await isConverged();
  });

  it('rolls back the canary if the new version serves over TCP but not over RDMA', async () => {
    name('tcp-only');
    const upgraded = await upgrade();
    expect([upgraded.document.exit, upgraded.starts]).toEqual([1, ['chat over tcp', 'chat over rdma']]);
    expect(codes(upgraded)).toContain('upgrade/rolled-back');
    for (const node of ['studio-1', 'studio-2']) expect(await ranOn(node)).toBe(`${version('newest')} over rdma`);
    await isConverged();
  });
});
