import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../src/model/probe.ts';
import { loginFact as loginItself, sudoFact as sudoItself } from '../../../../src/rack/access/fact.ts';
import { modelCopiesFact as modelCopiesItself } from '../../../../src/rack/artifacts/sources/model-copies-fact.ts';
import { clockFact as clockItself } from '../../../../src/rack/clock/fact.ts';
import { filevaultFact as filevaultItself } from '../../../../src/rack/filevault/fact.ts';
import {
  rdmaDevicesFact as rdmaDevicesItself,
  rdmaPortsFact as rdmaPortsItself,
} from '../../../../src/rack/rdma/devices-fact.ts';
import { onOnePage, onPage } from '../../one-page.ts';
import { answer, asked } from './fact-cases.ts';

const clock = { ...clockItself, parse: onPage(clockItself.parse) };
const filevault = { ...filevaultItself, parse: onPage(filevaultItself.parse) };
const login = { ...loginItself, parse: onPage(loginItself.parse) };
const modelCopies = { ...modelCopiesItself, parse: onPage(modelCopiesItself.parse) };
const rdmaDevices = { ...rdmaDevicesItself, parse: onPage(rdmaDevicesItself.parse) };
const rdmaPorts = { ...rdmaPortsItself, parse: onPage(rdmaPortsItself.parse) };
const sudo = { ...sudoItself, parse: onPage(sudoItself.parse) };

const value = (known: { readonly kind: string; readonly value?: unknown }) => known.value;

describe('the clock fact', () => {
  it("is unknown if the controller's clock was set back or the answer is not whole seconds", () => {
    const back = { sentAtEpochMs: 2, receivedAtEpochMs: 1 };
    expect(clock.parse([answer('date', { stdout: '1790000000\n' })], back)).toMatchObject({ reason: 'failed' });
    for (const stdout of ['1790000000.5\n', 'N\n', '-1790000000\n', '1790000000\n1790000001\n', '17900\n']) {
      expect(clock.parse([answer('date', { stdout })], asked)).toMatchObject({ reason: 'garbled' });
    }
  });
});

describe('the filevault fact', () => {
  const said = (stdout: string) => filevault.parse([answer('fdesetup', { stdout })], asked);

  it('does not report a disk as encrypted while macOS is still converting it', () => {
    expect(value(said('FileVault is On.\nEncryption in progress: Percent completed = 42.5\n'))).toBe('converting');
    expect(value(said('FileVault is Off.\nDecryption in progress: Percent completed = 7\n'))).toBe('converting');
    expect(value(said('FileVault is Off, but will be enabled after the next restart.\n'))).toBe('off');
  });

  it('is unknown if the output contains an unfamiliar line', () => {
    expect(said('FileVault is On.\nThe moon is full.\n')).toMatchObject({ reason: 'garbled' });
  });
});

describe('the sudo fact', () => {
  const said = (stderr: string, code: number, more: Partial<Answer> = {}) =>
    sudo.parse([answer('sudo', { stderr, code }, more)], asked);

  it('never reports sudo as allowed if sudo failed, was late or is missing', () => {
    expect(said('sudo: unable to initialize policy plugin\n', 1)).toMatchObject({ reason: 'failed' });
    expect(said('', 127)).toMatchObject({ reason: 'tool-missing' });
    expect(said('', 0, { isLate: true })).toMatchObject({ reason: 'timed-out' });
    expect(said('', 0, { missing: 'truncated' })).toMatchObject({ reason: 'truncated' });
    expect(sudo.parse([undefined], asked)).toMatchObject({ reason: 'not-asked' });
  });
});

describe('the model-copies fact', () => {
  const said = (more: Partial<Answer>) =>
    modelCopies.parse([undefined, answer('kept-files', { stdout: 'end\n' }, more)], asked);

  it('is empty if no copies were searched for, but unknown if the output is missing', () => {
    expect(value(said({}))).toEqual({ folders: [], unreadable: [] });
    expect(said({ missing: 'truncated' })).toMatchObject({ reason: 'truncated' });
    expect(modelCopies.parse([undefined, undefined], asked)).toMatchObject({ reason: 'not-asked' });
  });
});

describe('the login fact', () => {
  const said = (stdout: string, more: Partial<Answer> = {}) =>
    login.parse([answer('ssh-connection', { stdout }, more)], asked);

  it('is the account that id prints, even if sshd does not describe the connection', () => {
    expect(value(said('192.0.2.99 50000 192.0.2.10 22\nana\n'))).toBe('ana');
    expect(value(said('\nroot\n'))).toBe('root');
  });

  it('is unknown if id printed nothing, no name or too much', () => {
    expect(said('192.0.2.99 50000 192.0.2.10 22\n')).toMatchObject({ reason: 'failed' });
    for (const words of ['\n501\n', '\nana bo\n', '\nana\nbo\n']) {
      expect([words, said(words)]).toMatchObject([words, { reason: 'garbled' }]);
    }
    expect(said('\nana\n', { isLate: true })).toMatchObject({ reason: 'timed-out' });
  });
});

describe('facts about RDMA devices and ports', () => {
  const header = '    device              node GUID\n    ------          ----------------\n';
  const two = `${header}    rdma_en2        d0b5e9ab23cfac05\n    rdma_en3        d1b5e9ab23cfac05\n`;
  const block = (name: string) =>
    `hca_id:\t${name}\n\tmax_qp:\t\t\t\t3\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_DOWN (1)\n\n`;
  const devices = (list: string, info: string) =>
    rdmaDevices.parse([answer('ibv-devices', { stdout: list }), answer('ibv-devinfo', { stdout: info })], asked);

  it('are unknown if a list was cut short', () => {
    const both = block('rdma_en2') + block('rdma_en3');
    expect(devices(two, both).kind).toBe('known');
    const [first = '', second = '', ...rest] = two.split('\n');
    for (const head of [[first, first], [second, second], [first], [second, first]]) {
      expect(devices([...head, ...rest].join('\n'), both)).toMatchObject({ reason: 'garbled' });
    }
    expect(devices(header, both)).toMatchObject({ reason: 'garbled' });
    expect(devices(two, block('rdma_en2'))).toMatchObject({ reason: 'garbled' });
    const ports = rdmaPorts.parse(
      [answer('ibv-devinfo', { stdout: block('rdma_en2') }), answer('ibv-devices', { stdout: two })],
      asked,
    );
    expect(ports).toMatchObject({ reason: 'garbled' });
  });

  it('report no devices only if both tools agree', () => {
    const none = answer('ibv-devinfo', { stderr: 'No IB devices found\n', code: 255 });
    const list = answer('ibv-devices', { stdout: header });
    expect(rdmaDevices.parse([list, none], asked)).toEqual({ kind: 'known', value: [] });
    expect(rdmaDevices.parse([list, undefined], asked)).toMatchObject({ reason: 'not-asked' });
    const late = answer('ibv-devinfo', { stdout: '' }, { isLate: true });
    expect(rdmaDevices.parse([list, late], asked)).toMatchObject({ reason: 'timed-out' });
  });

  it("read only the name of another driver's device", () => {
    const nic = 'hca_id:\tmlx5_0\n\tmax_qp:\tmany\n\t\tport:\t1\n\t\t\tGID[  0]:\t::1\n\t\t\tGID[  0]:\tnone\n\n';
    const list = `${two}    mlx5_0          d1b5e9ab23cfac99\n`;
    expect(value(devices(list, block('rdma_en2') + nic + block('rdma_en3')))).toHaveLength(2);
    const ports = rdmaPorts.parse([answer('ibv-devinfo', { stdout: nic + block('rdma_en2') }), undefined], asked);
    expect(value(ports)).toHaveLength(1);
    for (const name of ['', 'rdma_', 'rdma_eno']) {
      const damaged = answer('ibv-devinfo', { stdout: nic.replace('mlx5_0', name) });
      expect([name, rdmaPorts.parse([damaged, undefined], asked)]).toMatchObject([name, { reason: 'garbled' }]);
    }
  });

  it('report no devices when the tool prints that, at any exit status but 127', () => {
    const none = answer('ibv-devinfo', { stderr: 'No IB devices found\n', code: 255 });
    expect(value(rdmaPorts.parse([none, answer('ibv-devices', { stdout: header })], asked))).toEqual([]);
    const missing = answer('ibv-devinfo', { stderr: 'No IB devices found\n', code: 127 });
    expect(rdmaPorts.parse([missing, undefined], asked)).toMatchObject({ reason: 'tool-missing' });
  });

  it('read limits, other states and nested lists from verbose output', () => {
    const stdout =
      'hca_id:\trdma_en2\n\tmax_qp:\t\t\t\t11\n\tmax_qp_wr:\t\t\t99\n\tmax_pd:\t\t\t\t3\n\tdevice_cap_flags:\t\t0x0\n\t\t\t\t\tBAD_PKEY\n' +
      '\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_INIT (2)\n\t\t\tGID[  1]:\t\t0000:0000:0000:0000:0000:ffff:c000:020a, RoCE v2\n\n';
    expect(value(rdmaPorts.parse([answer('ibv-devinfo', { stdout }), undefined], asked))).toEqual([
      {
        device: 'rdma_en2',
        state: 'other',
        gids: [{ index: 1, gid: '0000:0000:0000:0000:0000:ffff:c000:020a', ipv4: '192.0.2.10' }],
        maxQueuePairs: 11,
        maxProtectionDomains: 3,
      },
    ]);
  });
});

onOnePage('single-facts');
