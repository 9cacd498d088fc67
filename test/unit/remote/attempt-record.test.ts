import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { recordAttempt } from '../../../src/remote/attempt.ts';
import type { ConnectFailure } from '../../../src/remote/connect-failure.ts';
import type { HostKeyVerdict } from '../../../src/remote/keys/host-key-trust.ts';
import { field } from './wire.ts';

const offer = { label: 'key one' } as never;
const problem = { code: 'ssh/key-unusable' } as never;
const identities = { offers: [offer], leftOut: 2, problems: [problem] };
const seen = { type: 'ssh-ed25519', base64: 'AAAA' };
const accepted: HostKeyVerdict = { kind: 'accepted', seen, known: { ...seen, file: 'known_hosts', line: 1 } };

/** The record of an attempt before its first event. */
const nothing: ConnectFailure = {
  phase: 'name',
  errors: [],
  isLate: false,
  deadlineMs: 10_000,
  plaintext: { greeting: '' },
  banner: '',
  isPartial: false,
  offered: ['key one'],
  unsigned: [],
  leftOut: 2,
  keyProblems: [problem],
};

/** An attempt whose client and socket emit only events that the test makes. */
function attempt(isNamed = false) {
  const client = new EventEmitter();
  const paused: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    pause: () => paused.push('paused'),
    destroy: () => paused.push('destroyed'),
  });
  const context = { deadlineMs: 10_000, identities, isNamed };
  const record = recordAttempt(client as unknown as Client, socket as unknown as Socket, context);
  return { client, socket, paused, record };
}

const name = (...names: readonly string[]): Buffer => field(names.join(','));
const lists = [name('kex'), name('key'), name('aes', 'des'), name(), name('mac'), name(), ...Array(4).fill(name())];
const packet = Buffer.concat([Buffer.from([0, 20]), Buffer.alloc(16), ...lists, Buffer.alloc(5)]);
const keyExchange = field(packet);

describe('the record of a connection attempt', () => {
  it('advances through the phases until authentication', () => {
    const { client, socket, paused, record } = attempt();
    expect(paused).toEqual(['paused']);
    expect(record.failure()).toEqual(nothing);
    socket.emit('lookup', new Error('no such name'));
    expect(record.failure()).toEqual(nothing);
    const named = attempt();
    named.socket.emit('lookup', null);
    expect(named.record.failure()).toEqual({ ...nothing, phase: 'tcp' });
    expect(attempt(true).record.failure()).toEqual({ ...nothing, phase: 'tcp' });
    socket.emit('connect');
    expect(record.failure()).toEqual({ ...nothing, phase: 'identification' });
    socket.emit('data', Buffer.from('hi\nSSH-2.0-'));
    expect(record.failure().phase).toBe('identification');
    socket.emit('data', Buffer.from('x\r\n'));
    const plaintext = { greeting: 'hi\n', identification: 'SSH-2.0-x' };
    expect(record.failure()).toEqual({ ...nothing, phase: 'key-exchange', plaintext });
    expect(socket.listenerCount('data')).toBe(1);
    socket.emit('data', keyExchange);
    // Everything encrypted comes after this message.
    expect(socket.listenerCount('data')).toBe(0);
    const offered = { kex: ['kex'], hostKey: ['key'], cipher: ['aes', 'des'], mac: ['mac'] };
    expect(record.failure()).toEqual({
      ...nothing,
      phase: 'key-exchange',
      plaintext: { ...plaintext, offer: offered },
    });
    client.emit('handshake');
    expect(record.failure().phase).toBe('authentication');
  });

  it('keeps at most 1,024 characters of the greeting', () => {
    const { socket, record } = attempt(true);
    socket.emit('data', Buffer.alloc(65_535, 'a'));
    expect(socket.listenerCount('data')).toBe(1);
    socket.emit('data', Buffer.from('a'));
    expect(socket.listenerCount('data')).toBe(0);
    expect(record.failure().plaintext).toEqual({ greeting: 'a'.repeat(1_024) });
  });

  it('holds the host key verdict, login methods, banner and unsigned keys', () => {
    const { client, record } = attempt(true);
    expect([record.judged(accepted), record.judged({ kind: 'unknown', seen })]).toEqual([true, false]);
    record.refused(['publickey', 'password'], true);
    for (const label of ['one', 'two']) record.asked(label);
    record.signed('one');
    client.emit('banner', 'Hello, ');
    client.emit('banner', 'node');
    const known = {
      ...nothing,
      phase: 'tcp',
      verdict: { kind: 'unknown', seen },
      methodsLeft: ['publickey', 'password'],
      isPartial: true,
      unsigned: ['two'],
      banner: 'Hello, node',
    };
    expect(record.failure()).toEqual(known);
    record.late(500);
    expect(record.failure()).toEqual({ ...known, isLate: true, deadlineMs: 500 });
    client.emit('banner', 'x'.repeat(70_000));
    expect(record.failure().banner).toBe(`Hello, node${'x'.repeat(65_525)}`);
  });

  it('collects errors and destroys the socket on all errors except agent errors', () => {
    const { client, paused, record } = attempt(true);
    const agents = Object.assign(new Error('no'), { level: 'agent' });
    client.emit('error', agents);
    expect(paused).toEqual(['paused']);
    client.emit('error', Object.assign(new Error('reset'), { level: 7, code: 'ECONNRESET' }));
    expect(paused).toEqual(['paused', 'destroyed']);
    const errors = [
      { level: 'agent', codes: [], message: 'no' },
      { codes: ['ECONNRESET'], message: 'reset' },
    ];
    expect(record.failure()).toEqual({ ...nothing, phase: 'tcp', errors });
    for (let more = 0; more < 20; more += 1) client.emit('error', agents);
    expect(record.failure().errors).toHaveLength(16);
  });
});
