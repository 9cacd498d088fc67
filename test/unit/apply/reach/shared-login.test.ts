import { afterAll, describe, expect, it } from 'vitest';
import { type LogIn, type Reached, sharedLogin, withRemote } from '../../../../src/apply/reach/session.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { makeSshCase } from '../../../sshd/ssh-case.ts';

const sshCase = makeSshCase('mesh');
afterAll(() => sshCase.remove());

const node = nodeName('studio-1');
const way = { kind: 'way', target: sshCase.target(22), trust: sshCase.trust(22) } as const;
const limits = { deadlineMs: 1_000 };

/** A login that counts its starts and ends. It takes 10 ms less than the deadline, or fails. */
function counted(fails = false): { readonly logIn: LogIn; readonly counts: { made: number; ended: number } } {
  const counts = { made: 0, ended: 0 };
  const logIn: LogIn = async () => {
    counts.made += 1;
    if (fails)
      throw new FleetError([diagnose('ssh/password-refused', { detail: 'no', subject: nodeSubject('studio-1') })]);
    const exec = (): never => {
      throw new Error('no command is expected');
    };
    const close = (): void => {
      counts.ended += 1;
    };
    return { rootPrefix: '/root', connectMs: 990, exec, close };
  };
  return { logIn, counts };
}

const use = (logIn: LogIn): Promise<Reached<readonly [string, number]>> =>
  withRemote({ node, way }, limits, async (remote, leftMs) => [remote.rootPrefix, leftMs] as const, logIn);

describe('a shared SSH login', () => {
  it('is opened by its first use and closed only by its owner', async () => {
    const { logIn, counts } = counted();
    const shared = sharedLogin(logIn);
    expect(counts).toEqual({ made: 0, ended: 0 });
    const uses = [await use(shared.logIn), await use(shared.logIn)];
    // The second use does not wait for a login.
    expect(uses).toEqual([
      { kind: 'reached', value: ['/root', 10] },
      { kind: 'reached', value: ['/root', 1_000] },
    ]);
    expect(counts).toEqual({ made: 1, ended: 0 });
    shared.end();
    expect(counts).toEqual({ made: 1, ended: 1 });
  });

  it('is not retried after a failure', async () => {
    const { logIn, counts } = counted(true);
    const shared = sharedLogin(logIn);
    const uses = [await use(shared.logIn), await use(shared.logIn)];
    expect(uses.map(({ kind }) => kind)).toEqual(['unreached', 'unreached']);
    shared.end();
    expect(counts).toEqual({ made: 1, ended: 0 });
  });

  it('is closed as soon as it opens if its owner ended it earlier', async () => {
    const { logIn, counts } = counted();
    const shared = sharedLogin(logIn);
    const using = use(shared.logIn);
    shared.end();
    await using;
    expect(counts).toEqual({ made: 1, ended: 1 });
  });
});
