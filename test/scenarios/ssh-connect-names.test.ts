import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connect } from '../../src/remote/connect.ts';
import { trustFor } from '../../src/remote/keys/host-key-trust.ts';
import type { FaultServer } from '../sshd/fault-server.ts';
import { connectLimits } from '../sshd/ssh-case.ts';
import { makeFaultCase } from './fault-case.ts';
import { rejection } from './ssh-rejection.ts';

const ssh = makeFaultCase();
const trustOf = (host: string, { port }: FaultServer) => {
  const text = `[${host}]:${port} ${ssh.host.pair.publicLine}\n`;
  return trustFor({ host, port }, { knownHosts: [{ file: 'known_hosts', text }] });
};

describe('a connection to a host', () => {
  it('gets its full deadline after the name lookup', async () => {
    const server = await ssh.start();
    const target = ssh.target(server.port, { host: 'slow-name.lan' });
    let namedAt = 0;
    const lookUp = async () => {
      await sleep(200);
      namedAt = performance.now();
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const remote = await connect(target, trustOf('slow-name.lan', server), { ...connectLimits, lookUp });
    expect(remote.connectMs).toBeLessThanOrEqual(performance.now() - namedAt);
    remote.close();
  });

  it('fails if the name lookup takes too long', async () => {
    const target = ssh.target(22, { host: 'dead-name.lan' });
    const lookUp = () => new Promise<never>(() => undefined);
    const problem = await rejection(connect(target, trustFor(target, { knownHosts: [] }), { deadlineMs: 50, lookUp }));
    expect(problem).toMatchObject({ code: 'ssh/unreachable', detail: expect.stringContaining('looked up within') });
  });

  it('does not look up an IP address', async () => {
    const server = await ssh.start();
    let lookups = 0;
    const lookUp = () => {
      lookups += 1;
      return Promise.reject(new Error('no lookup expected'));
    };
    (await ssh.connect(server.port, { lookUp })).close();
    expect(lookups).toBe(0);
  });

  it('tries the second address if the first refuses', async () => {
    const server = await ssh.start();
    const target = ssh.target(server.port, { host: 'two-addresses.lan' });
    const lookUp = () =>
      Promise.resolve([
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    (await connect(target, trustOf('two-addresses.lan', server), { ...connectLimits, lookUp })).close();
  });
});
