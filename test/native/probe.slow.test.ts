import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cacheProgram } from '../../src/drivers/llamacpp/configure.ts';
import { ipv6Groups } from '../../src/model/ip-address.ts';
import { seenValue } from '../../src/model/known.ts';
import { fnv1a64 } from '../../src/native/fnv.ts';
import { rdmaDevicesFact, rdmaPortsFact } from '../../src/rack/rdma/devices-fact.ts';
import { isThorough, isWhole, sampleSeed } from '../sample.ts';
import { answer, asked, loadFactCases } from '../unit/engine/observe/fact-cases.ts';
import {
  buildProbe,
  type Counts,
  type FakeDevice,
  hasCompiler,
  linesOf,
  type ReportedDevice,
  reportIn,
} from './fake-verbs.ts';

const cases = loadFactCases().flatMap(({ title, printed }) => {
  const answers = ['ibv-devinfo', 'ibv-devices'].map((name) => {
    const text = printed.get(name);
    return text === undefined ? undefined : answer(name, text);
  });
  const ports = seenValue(rdmaPortsFact.parse(answers, asked));
  const text = printed.get('ibv-devinfo')?.stdout ?? '';
  if (!title.startsWith('rdma-') || ports === undefined) return [];
  return [{ title, text, ports, devices: seenValue(rdmaDevicesFact.parse([answers[1], answers[0]], asked)) ?? [] }];
});

/** The sixteen bytes of a GID in any notation. */
const bytesOf = (gid: string): Buffer => {
  const bytes = Buffer.alloc(16);
  for (const [at, group] of (ipv6Groups(gid) ?? []).entries()) bytes.writeUInt16BE(group, 2 * at);
  return bytes;
};

/** The numbers that `ibv_devinfo` prints in parentheses or alone: the probe's name for each, and the fake library's. */
const shown = [
  { key: 'transport', name: 'transportCode', field: 'transport' },
  { key: 'state', name: 'stateCode', field: 'state' },
  { key: 'active_width', name: 'activeWidthCode', field: 'active_width' },
  { key: 'active_speed', name: 'activeSpeedCode', field: 'active_speed' },
  { key: 'gid_tbl_len', name: 'gidTableLength', field: 'gid_tbl_len' },
];

/** The printed numbers of a device. */
const numbersOf = (text: string, device: string): ReadonlyMap<string, number> => {
  const block = text.split(/^(?=hca_id:)/m).find((one) => new RegExp(`^hca_id:\\s+${device}\\s`).test(one)) ?? '';
  return new Map(
    shown.flatMap(({ key }) => {
      const number = new RegExp(`\\s${key}:\\s+(?:[^\\n(]*\\()?(\\d+)\\)?\\s`).exec(block)?.[1];
      return number === undefined ? [] : [[key, Number(number)]];
    }),
  );
};

const noDomainOrQueue = (counts: Counts) => {
  for (const kind of ['protectionDomains', 'completionQueues', 'queuePairs'])
    expect(counts[kind]).toEqual({ opened: 0, open: 0 });
  for (const kind of ['lists', 'contexts']) expect(counts[kind]).toMatchObject({ open: 0 });
};

const healthy: FakeDevice = { name: 'rdma_en2', set: { state: 4 } };

const isHere = hasCompiler();
let built: ReturnType<typeof buildProbe>;
// On a busy machine, compiling with sanitizers takes minutes.
beforeAll(() => {
  if (isHere) built = buildProbe();
}, 600_000);
afterAll(() => {
  if (isHere) built.remove();
});

describe.skipIf(!isHere)('the native probe', () => {
  /** Probes one device, and checks that nothing remains open. */
  const probeOne = (set: Readonly<Record<string, number>>, name: FakeDevice['name'] = 'rdma_en2'): ReportedDevice => {
    const { report, counts } = built.probe([
      { name, set },
      { ...healthy, name: 'rdma_en3' },
    ]);
    noDomainOrQueue(counts);
    const [first, second, ...others] = report.value ?? [];
    expect(second).toMatchObject({ device: 'rdma_en3', ports: [{ state: 'active' }] });
    expect(others).toEqual([]);
    if (first === undefined) throw new Error(`no device: ${JSON.stringify(report)}`);
    return first;
  };

  it('is tested against captures from several Macs', () => {
    expect(cases.length).toBeGreaterThan(6);
    expect(cases.filter(({ ports }) => ports.some(({ gids }) => gids.length > 0)).length).toBeGreaterThan(1);
  });

  it.each(cases)('reports the same devices, states, GIDs and limits as ibv_devinfo: $title', (one) => {
    const devices = one.ports.map(({ device, gids, maxQueuePairs, maxProtectionDomains }): FakeDevice => {
      const numbers = numbersOf(one.text, device);
      const guid = one.devices.find(({ name }) => name === device)?.guid;
      const printed = shown.flatMap(({ key, field }) => (numbers.has(key) ? [[field, numbers.get(key)]] : []));
      return {
        name: device,
        ...(guid === undefined ? {} : { guid }),
        gids: new Map(gids.map(({ index, gid }) => [index, bytesOf(gid)])),
        set: {
          ...Object.fromEntries(printed),
          ...(maxQueuePairs === undefined ? {} : { max_qp: maxQueuePairs }),
          ...(maxProtectionDomains === undefined ? {} : { max_pd: maxProtectionDomains }),
        },
      };
    });
    const { report, counts } = built.probe(devices);
    const seen = report.value ?? [];
    expect(seen.map(({ device }) => device)).toEqual(one.ports.map(({ device }) => device));
    for (const [at, { device, state, gids, ...limits }] of one.ports.entries()) {
      const [port, ...morePorts] = seen[at]?.ports ?? [];
      expect(morePorts).toEqual([]);
      expect(port?.state).toBe(state);
      const sameNotation = gids.map((entry) => ({ ...entry, gid: bytesOf(entry.gid) }));
      expect(port?.gids.map((entry) => ({ ...entry, gid: bytesOf(entry.gid) }))).toEqual(sameNotation);
      expect(port?.mappedGidIndex).toBe(gids.find(({ ipv4 }) => ipv4 !== undefined)?.index);
      expect(seen[at]).toMatchObject(limits);
      const numbers = numbersOf(one.text, device);
      for (const { key, name } of shown)
        if (numbers.has(key)) expect({ ...seen[at], ...port }[name]).toBe(numbers.get(key));
    }
    for (const { name, guid } of one.devices) expect(seen.find(({ device }) => device === name)?.guid).toBe(guid);
    noDomainOrQueue(counts);
    expect(counts['contexts']?.opened).toBe(devices.length);
  });

  it("reports a device's limits, MTU, speed and multiple ports", () => {
    const set = { phys_port_cnt: 2, max_qp: 3, max_cq: 4, max_pd: 5, max_mr: 6, active_mtu: 4, active_width: 2 };
    expect(probeOne({ ...set, active_speed: 32, link_layer: 2, state: 3 })).toMatchObject({
      maxQueuePairs: 3,
      maxCompletionQueues: 4,
      maxProtectionDomains: 5,
      maxMemoryRegions: 6,
      ports: [1, 2].map((port) => ({
        ...{ port, state: 'other', stateCode: 3, maxMtuBytes: 4096, activeMtuBytes: 2048 },
        ...{ linkLayerCode: 2, activeWidthCode: 2, activeSpeedCode: 32 },
      })),
    });
  });

  it('lists only the used entries of a full-length GID table, and the index of the first IPv4-mapped entry', () => {
    const gids = new Map([
      [7, bytesOf('fe80::')],
      [9, bytesOf('fe80::1')],
      [500, bytesOf('::ffff:192.0.2.1')],
      [1023, bytesOf('::ffff:192.0.2.2')],
    ]);
    const { report } = built.probe([{ ...healthy, gids }]);
    const port = report.value?.[0]?.ports?.[0];
    expect(port?.gids.map(({ index }) => index)).toEqual([9, 500, 1023]);
    expect(port?.mappedGidIndex).toBe(500);
  });

  it.each([16, 22, 60, 96, 102])('names the call that failed with error %i, and closes every device', (error) => {
    const calls = {
      open: 'open_device',
      close: 'close_device',
      query_device: 'query_device',
      query_port: 'query_port',
    };
    for (const [field, call] of Object.entries(calls)) {
      const unknown = { unknown: 'failed', detail: `ibv_${call} failed with error ${error}` };
      expect(probeOne({ [`${field}_error`]: error })).toMatchObject({ device: 'rdma_en2', ...unknown });
    }
    const detail = `ibv_query_gid failed with error ${error} for index 0`;
    expect(probeOne({ query_gid_error: error })).toMatchObject({ unknown: 'failed', detail });
  });

  it('reports null answers as failed calls', () => {
    const noNumber = 'failed without an error number';
    expect(probeOne({ open_error: -1 })).toMatchObject({ unknown: 'failed', detail: `ibv_open_device ${noNumber}` });
    expect(probeOne({ null_name: 1 })).toMatchObject({ unknown: 'failed', detail: `ibv_get_device_name ${noNumber}` });
    const { report, counts } = built.probe([healthy], ['set list_error 38']);
    expect(report).toMatchObject({ unknown: 'failed', detail: 'ibv_get_device_list failed with error 38' });
    noDomainOrQueue(counts);
  });

  it.each([
    { set: { phys_port_cnt: 0 }, detail: 'phys_port_cnt is 0' },
    { set: { phys_port_cnt: 9 }, detail: 'phys_port_cnt is 9' },
    { set: { state: 6 }, detail: 'state is 6 at port 1' },
    { set: { state: -1 }, detail: 'state is 4294967295 at port 1' },
    { set: { max_qp: 0 }, detail: 'max_qp is 0' },
    { set: { max_pd: -1 }, detail: 'max_pd is -1' },
    { set: { max_mr: 2 ** 30 }, detail: 'max_mr is 1073741824' },
    { set: { max_cq: 0 }, detail: 'max_cq is 0' },
    { set: { gid_tbl_len: 1025 }, detail: 'gid_tbl_len is 1025 at port 1' },
    { set: { gid_tbl_len: -1 }, detail: 'gid_tbl_len is -1 at port 1' },
    { set: { max_mtu: 6 }, detail: 'max_mtu is 6 at port 1' },
    { set: { max_mtu: 4 }, detail: 'active_mtu is 5 at port 1' },
    { set: { active_width: 3 }, detail: 'active_width is 3 at port 1' },
    { set: { fw_ver_endless: 1 }, detail: 'fw_ver does not end' },
  ])('rejects a device whose $detail', ({ set, detail }) => {
    expect(probeOne(set)).toMatchObject({ device: 'rdma_en2', unknown: 'garbled', detail });
    expect(probeOne(set)).not.toHaveProperty('ports');
  });

  it.each(
    ['device_shift', 'port_shift'].flatMap((struct) =>
      [-16, -8, -4, -1, 1, 4, 8, 16, 64].map((by) => ({ struct, by })),
    ),
  )('reports a struct as garbled if its fields are shifted: $struct of $by bytes', ({ struct, by }) => {
    expect(probeOne({ [struct]: by, state: 4 })).toMatchObject({ device: 'rdma_en2', unknown: 'garbled' });
  });

  it('detects queries that succeed but return nothing', () => {
    const noAnswer = 'succeeded without an answer';
    expect(probeOne({ silent: 1 })).toMatchObject({ unknown: 'garbled', detail: `ibv_query_device ${noAnswer}` });
    const detail = `ibv_query_gid ${noAnswer} for index 0`;
    expect(probeOne({ silent_gid: 1 })).toMatchObject({ unknown: 'garbled', detail });
  });

  it('detects structs that are too short, and reads longer ones', () => {
    const detail = 'link_layer is 165 at port 1';
    expect(probeOne({ longer: -4 })).toMatchObject({ device: 'rdma_en2', unknown: 'garbled', detail });
    expect(probeOne({ longer: 512 })).toMatchObject({ device: 'rdma_en2', ports: [{ state: 'down' }] });
  });

  it.each([
    { what: 'quotes', name: 'a "quoted" \\ name' },
    { what: 'escape codes', name: '\u001b[31mred\u0007\n' },
    { what: 'bytes that are not UTF-8', name: Buffer.from([0xff, 0xc3, 0x28, 0x7f]) },
    { what: '63 bytes', name: `${'x'.repeat(62)}"` },
  ])('prints a name with $what as valid JSON', ({ name }) => {
    expect(probeOne({}, name).device).toBe(Buffer.from(name).toString('latin1'));
  });

  it.each([
    { name: 'x'.repeat(64), detail: 'the name of a device does not end' },
    { name: '', detail: 'the name of a device is empty' },
  ])('reports a device without a usable name as unknown: $detail', ({ name, detail }) => {
    const device = probeOne({}, name);
    expect(device).toMatchObject({ unknown: 'garbled', detail });
    expect(device.device).toBeUndefined();
  });

  it('lists up to 64 devices, and treats a longer list as garbled', () => {
    const devices = Array.from({ length: 65 }, (_, at) => ({ ...healthy, name: `rdma_en${at}` }));
    expect(built.probe(devices.slice(1)).report.value?.map(({ device }) => device)).toEqual(
      devices.slice(1).map(({ name }) => name),
    );
    const { report, counts } = built.probe(devices);
    expect(report).toMatchObject({ unknown: 'garbled', detail: 'ibv_get_device_list returned 65 devices' });
    expect(report.value).toBeUndefined();
    noDomainOrQueue(counts);
  });

  it.each([-2, -1, 1])('rejects a device list whose count is off by %i', (by) => {
    const { report, counts } = built.probe([healthy], [`set miscounted ${by}`]);
    expect(report).toMatchObject({ unknown: 'garbled' });
    noDomainOrQueue(counts);
  });

  it('reports an empty list as known', () => {
    expect(built.probe([]).report).toMatchObject({ value: [] });
  });

  it('reports a missing library, and a function missing from the library', () => {
    const absent = built.reportOf({ MESHWRIGHT_VERBS_LIBRARY: 'no-such-library.so' });
    expect(absent).toMatchObject({ unknown: 'no-library', detail: expect.stringContaining('no-such-library.so') });
    const { report, counts } = built.probe([healthy], [], 'fake-verbs-without-query-gid');
    expect(report).toMatchObject({ unknown: 'no-symbol', detail: expect.stringContaining('ibv_query_gid') });
    expect(counts['lists']).toEqual({ opened: 0, open: 0 });
  });

  it("reads this computer's verbs library, or reports why it cannot", () => {
    const report = built.reportOf({});
    expect(report.value === undefined ? ['no-library', 'failed'] : [undefined]).toContain(report.unknown);
    if (process.platform === 'linux' && process.env['MESHWRIGHT_NATIVE'] === 'required')
      expect(report.library).toBe('libibverbs.so.1');
  });

  it('prints its help and its version, and refuses other arguments with exit code 64', () => {
    expect(built.run({}, '--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: /) });
    expect(built.run({}, '--version')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^meshwright-probe \d/),
    });
    expect(built.run({}, '--devices')).toMatchObject({
      status: 64,
      stdout: '',
      stderr: expect.stringMatching(/^Unknown/),
    });
    expect(built.run({}, '--help', '--version')).toMatchObject({ status: 64, stdout: '' });
  });
});

describe.skipIf(!isHere)('the native probe with a library that returns random answers', () => {
  const seconds = isWhole ? 300 : isThorough ? 10 : 2;

  it('makes no memory or arithmetic errors, and prints valid JSON', { timeout: (seconds + 60) * 1_000 }, async () => {
    const devices = [2, 3, 4].map((at) => ({
      name: `rdma_en${at}`,
      gids: new Map([[1, bytesOf(`::ffff:192.0.2.${at}`)]]),
      set: { state: 4, gid_tbl_len: 8 },
    }));
    writeFileSync(join(built.folder, 'devices'), [...devices.flatMap(linesOf), ''].join('\n'));
    const env = {
      MESHWRIGHT_VERBS_LIBRARY: join(built.folder, 'mutated-verbs.so'),
      MESHWRIGHT_FUZZED_VERBS: join(built.folder, 'fake-verbs.so'),
      MESHWRIGHT_FAKE_VERBS: join(built.folder, 'devices'),
      MESHWRIGHT_FUZZ_SEED: String(sampleSeed),
    };
    const fuzzer = spawn(join(built.folder, 'fuzz'), [String(seconds)], { env });
    const [printed, errors, [status]] = await Promise.all([
      text(fuzzer.stdout),
      text(fuzzer.stderr),
      once(fuzzer, 'close'),
    ]);
    expect([status, errors]).toEqual([0, '']);
    const lines = printed.split('\n').slice(0, -1);
    expect(Number(lines.at(-1))).toBeGreaterThan(100);
    const all = lines.slice(0, -1).flatMap((line) => reportIn(line).value ?? []);
    // Otherwise, the answers would be changed too much or too little.
    expect(all.filter(({ ports }) => ports !== undefined).length).toBeGreaterThan(all.length / 20);
    expect(all.filter(({ unknown }) => unknown !== undefined).length).toBeGreaterThan(all.length / 20);
    for (const { ports, unknown } of all) expect(ports === undefined).toBe(unknown !== undefined);
  });
});

describe.skipIf(!isHere)('fnv of the native probe', () => {
  /** Writes files, and returns the printed hash of each. */
  const hashesOf = (contents: readonly Uint8Array[]): readonly string[] => {
    const names = contents.map((_, at) => join(built.folder, `tensor ${at}`));
    for (const [at, content] of contents.entries()) writeFileSync(names[at] ?? '', content);
    const { status, stdout, stderr } = built.run({}, 'fnv', ...names);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines.map((line) => line.slice(16))).toEqual(names.map((name) => `  ${name}`));
    return lines.map((line) => line.slice(0, 16));
  };

  it('prints the published values', () => {
    expect(hashesOf(['', 'a', 'b', 'foobar'].map((text) => Buffer.from(text)))).toEqual([
      'cbf29ce484222325',
      'af63dc4c8601ec8c',
      'af63df4c8601f1a5',
      '85944171f73967e8',
    ]);
  });

  it('matches the TypeScript version for any bytes, even across read boundaries', () => {
    const any = fc.sample(fc.uint8Array({ maxLength: 300 }), 50);
    const contents = [...any, ...[-1, 0, 1].map((more) => Buffer.alloc((1 << 20) + more, 'tensor'))];
    expect(hashesOf(contents)).toEqual(contents.map(fnv1a64));
  });

  it("agrees with the program that verifies a worker's cache", () => {
    const contents = [0, 1, 65_537, (1 << 20) + 17].map((size) => Buffer.alloc(size, 'weights'));
    const names = hashesOf(contents);
    const cache = join(built.folder, 'cache');
    mkdirSync(join(cache, 'rpc'), { recursive: true });
    writeFileSync(join(cache, 'model'), 'digest');
    for (const [at, name] of names.entries()) writeFileSync(join(cache, 'rpc', name), contents[at] ?? '');
    writeFileSync(join(cache, 'rpc', '0123456789abcdef'), 'changed');
    expect(spawnSync('perl', ['-', cache, 'digest', 'true'], { input: cacheProgram }).status).toBe(0);
    expect(readdirSync(join(cache, 'rpc')).sort()).toEqual([...names].sort());
    // If perl calls every tensor wrong, only the probe can have kept these.
    const program = join(built.folder, 'verify.pl');
    writeFileSync(program, cacheProgram.replace('($hash ^ $_)', '0'));
    writeFileSync(
      join(built.folder, 'meshwright-probe.base64'),
      readFileSync(join(built.folder, 'meshwright-probe')).toString('base64'),
    );
    writeFileSync(join(cache, 'rpc', '0123456789abcdef'), 'changed');
    expect(spawnSync('perl', [program, cache, 'digest', 'true']).status).toBe(0);
    expect(readdirSync(join(cache, 'rpc')).sort()).toEqual([...names].sort());
    expect(readdirSync(cache).sort()).toEqual(['model', 'rpc']);
  });

  it('names the files that it cannot read, and hashes the others', () => {
    const [name, missing] = [join(built.folder, 'readable'), join(built.folder, 'missing')];
    writeFileSync(name, 'a');
    const { status, stdout, stderr } = built.run({}, 'fnv', missing, built.folder, 'line\nbreak', name);
    expect({ status, stdout }).toEqual({ status: 1, stdout: `af63dc4c8601ec8c  ${name}\n` });
    expect(stderr.split('\n')).toEqual([
      `"${missing}": No such file or directory`,
      `"${built.folder}": Is a directory`,
      '"line\\u000abreak": The name has a control character',
      '',
    ]);
    expect(built.run({}, 'fnv')).toMatchObject({ status: 64, stdout: '' });
  });
});

describe.skipIf(!isHere || process.platform !== 'linux')('the native addon', () => {
  const path = (): string => JSON.stringify(join(built.folder, 'meshwright.node'));
  const load = (): string => `
    import { loadNative } from './src/native/load-native.ts';
    const { addon } = loadNative(${path()});
    const settled = async (...calls) => (await Promise.allSettled(calls)).map((one) => one.value ?? one.reason.message);
  `;

  it('hashes files like the TypeScript version, for any bytes', () => {
    const contents = [...fc.sample(fc.uint8Array({ maxLength: 300 }), 50), Buffer.alloc((1 << 20) + 1, 'tensor')];
    const names = contents.map((_, at) => join(built.folder, `file ${at}`));
    for (const [at, content] of contents.entries()) writeFileSync(names[at] ?? '', content);
    const code = `${load()}
      console.log(JSON.stringify(await settled(...${JSON.stringify(names)}.map(addon.fnv))));`;
    expect(built.runWithAddon(code, {})).toEqual(contents.map(fnv1a64));
  });

  it('hashes a file without blocking the event loop that writes the file', () => {
    const pipe = join(built.folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const code = `${load()}
      import { writeFile } from 'node:fs/promises';
      const hash = addon.fnv(${JSON.stringify(pipe)});
      await writeFile(${JSON.stringify(pipe)}, 'foobar');
      console.log(JSON.stringify(await hash));`;
    expect(built.runWithAddon(code, {})).toBe('85944171f73967e8');
  });

  it('rejects its promise if a call fails, and throws if the path is not a string', () => {
    const code = `${load()}
      const thrown = [[], [1], [null]].map((words) => {
        try { return addon.fnv(...words); } catch (error) { return String(error); }
      });
      const rejected = await settled(addon.fnv('missing'), addon.fnv('src'));
      console.log(JSON.stringify([...thrown, ...rejected]));`;
    const wrong = 'TypeError: Expected the path of a file.';
    expect(built.runWithAddon(code, {})).toEqual([wrong, wrong, wrong, 'No such file or directory', 'Is a directory']);
  });

  it('reports the same devices, limits and GIDs as the program', () => {
    const gids = new Map([[1, bytesOf('::ffff:192.0.2.1')]]);
    const devices = [
      { ...healthy, gids },
      { name: 'rdma_en3', set: { query_port_error: 60 } },
    ];
    const { report } = built.probe(devices);
    const code = `${load()}
      import { probeVerbs } from './src/native/verbs-report.ts';
      console.log(JSON.stringify(await probeVerbs(loadNative(${path()}))));`;
    const [library, input] = ['fake-verbs.so', 'input'].map((name) => join(built.folder, name));
    const counts = join(built.folder, 'counts');
    const env = {
      MESHWRIGHT_VERBS_LIBRARY: library ?? '',
      MESHWRIGHT_FAKE_VERBS: input ?? '',
      MESHWRIGHT_FAKE_VERBS_COUNTS: counts,
    };
    const { device, guid, ['transportCode']: transportCode, ...details } = report.value?.[0] ?? { guid: '' };
    const failed = { kind: 'unknown', reason: 'failed', detail: 'ibv_query_port failed with error 60' };
    expect(built.runWithAddon(code, env)).toMatchObject({
      kind: 'known',
      value: {
        library,
        devices: [
          { name: device, guid, transportCode, details: { kind: 'known', value: details } },
          { name: 'rdma_en3', details: failed },
        ],
      },
    });
    noDomainOrQueue(JSON.parse(readFileSync(counts, 'utf8')) as Counts);
  });
});
