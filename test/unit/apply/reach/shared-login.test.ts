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

/** A login that counts how often it was made and ended; one that takes all but 10 ms of the time, or that fails. */
function counted(fails = false): { readonly logIn: LogIn; readonly counts: { made: number; ended: number } } {
  const counts = { made: 0, ended: 0 };
  const logIn: LogIn = async () => {
    counts.made += 1;
    if (fails)
      throw new FleetError([diagnose('ssh/password-refused', { detail: 'no', subject: nodeSubject('studio-1') })]);
    const exec = (): never => {
      throw new Error('nothing is run here');
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

describe('a shared login', () => {
  it('is made by its first use, and ended by its maker alone', async () => {
    const { logIn, counts } = counted();
    const shared = sharedLogin(logIn);
    expect(counts).toEqual({ made: 0, ended: 0 });
    const uses = [await use(shared.logIn), await use(shared.logIn)];
    // The second one has waited for no login.
    expect(uses).toEqual([
      { kind: 'reached', value: ['/root', 10] },
      { kind: 'reached', value: ['/root', 1_000] },
    ]);
    expect(counts).toEqual({ made: 1, ended: 0 });
    shared.end();
    expect(counts).toEqual({ made: 1, ended: 1 });
  });

  it('that failed is not tried again', async () => {
    const { logIn, counts } = counted(true);
    const shared = sharedLogin(logIn);
    const uses = [await use(shared.logIn), await use(shared.logIn)];
    expect(uses.map(({ kind }) => kind)).toEqual(['unreached', 'unreached']);
    shared.end();
    expect(counts).toEqual({ made: 1, ended: 0 });
  });

  it('that was ended while it was being made is ended as soon as it is there', async () => {
    const { logIn, counts } = counted();
    const shared = sharedLogin(logIn);
    const using = use(shared.logIn);
    shared.end();
    await using;
    expect(counts).toEqual({ made: 1, ended: 1 });
  });
});
