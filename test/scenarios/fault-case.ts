import { afterAll, afterEach } from 'vitest';
import type { ConnectLimits, Remote } from '../../src/remote/remote.ts';
import { type FaultServer, type Faults, startFaultServer } from '../sshd/fault-server.ts';
import { makeSshCase } from '../sshd/ssh-case.ts';

/** An SSH case with fault servers, whose connections and servers end after each test. */
export function makeFaultCase() {
  const ssh = makeSshCase('mesh');
  const servers: FaultServer[] = [];
  const remotes: Remote[] = [];
  afterEach(async () => {
    for (const remote of remotes.splice(0)) remote.close();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  afterAll(() => ssh.remove());
  async function start(faults: Faults = {}, host = ssh.host): Promise<FaultServer> {
    const server = await startFaultServer(host, faults);
    servers.push(server);
    return server;
  }
  /** Starts a server and logs in. */
  async function connected(faults: Faults, limits: Partial<ConnectLimits> = {}) {
    const server = await start(faults);
    const remote = await ssh.connect(server.port, limits);
    remotes.push(remote);
    return { server, remote };
  }
  return { ...ssh, start, connected };
}
