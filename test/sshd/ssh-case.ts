import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Diagnostic, FleetError } from '../../src/diagnostics/diagnostic.ts';
import { connect } from '../../src/remote/connect.ts';
import { type HostKeyTrust, trustFor } from '../../src/remote/keys/host-key-trust.ts';
import type { ConnectLimits, ExecLimits, Remote, Target } from '../../src/remote/remote.ts';
import { type KeyPair, makeKey } from './start-sshd.ts';

/** Keys and a folder for the tests of one file. */
export interface SshCase {
  readonly folder: string;
  readonly user: KeyPair;
  readonly host: { readonly privateKey: string; readonly pair: KeyPair };
  readonly target: (port: number, more?: Partial<Target>) => Target;
  /** Trust in the host key of this case, or in a different key, for a port. */
  readonly trust: (port: number, key?: KeyPair) => HostKeyTrust;
  readonly connect: (port: number, limits?: Partial<ConnectLimits>) => Promise<Remote>;
  readonly remove: () => void;
}

/** Generous limits, so that a busy machine does not change the results. */
export const connectLimits: ConnectLimits = { deadlineMs: 20_000 };

/** Limits of a command that ends by itself. */
export const execLimits: ExecLimits = { name: 'test', deadlineMs: 20_000, maxBytes: 1_000_000 };

/** Creates a user key, a host key and the functions that most tests need. */
export function makeSshCase(userName: string): SshCase {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-ssh-'));
  const user = makeKey(folder, 'user');
  const pair = makeKey(folder, 'host');
  const target = (port: number, more: Partial<Target> = {}): Target => ({
    label: 'studio-1',
    host: '127.0.0.1',
    port,
    user: userName,
    rootPrefix: '',
    identityFiles: [user.file],
    ...more,
  });
  const trust = (port: number, key: KeyPair = pair): HostKeyTrust =>
    trustFor(
      { host: '127.0.0.1', port },
      { knownHosts: [{ file: 'known_hosts', text: `[127.0.0.1]:${port} ${key.publicLine}\n` }] },
    );
  return {
    folder,
    user,
    host: { privateKey: readFileSync(pair.file, 'utf8'), pair },
    target,
    trust,
    connect: (port, limits = {}) => connect(target(port), trust(port), { ...connectLimits, ...limits }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The diagnostics with which a promise is rejected; fails if the promise is not rejected. */
export async function rejection(promise: Promise<unknown>): Promise<Diagnostic> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof FleetError) return error.diagnostics[0];
    throw error;
  }
  throw new Error('the promise was not rejected');
}

/** The code with which a promise is rejected. */
export const rejectionCode = async (promise: Promise<unknown>): Promise<string> => (await rejection(promise)).code;

/** Output bytes as text. */
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
