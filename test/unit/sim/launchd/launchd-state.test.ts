import { describe, expect, it } from 'vitest';
import type { Exit } from '../../../../src/model/probe.ts';
import { readJob } from '../../../../src/sim/launchd/job-definition.ts';
import {
  freshLaunchd,
  isDisabled,
  type LaunchdAct,
  type LaunchdEvent,
  type LaunchdState,
  launchdTransition,
  printText,
} from '../../../../src/sim/launchd/launchd-state.ts';
import { captured } from '../captures.ts';
import { jobPlist } from '../launchd-job.ts';

type Keys = Parameters<typeof jobPlist>[0];

function jobWith(keys: Keys) {
  const reading = readJob(jobPlist({ ProgramArguments: ['/x'], ...keys }));
  if (reading.kind !== 'job') throw new Error(reading.kind);
  return reading.job;
}

const label = 'dev.test';
const load = (keys: Keys = {}): LaunchdEvent => ({ kind: 'load', job: jobWith(keys), path: '/p' });
const started = (pid: number): LaunchdEvent => ({ kind: 'started', label, pid });
const ended = (exit: Exit): LaunchdEvent => ({ kind: 'ended', label, exit });
const kick: LaunchdEvent = { kind: 'kick', label, isKilling: false };
const unload: LaunchdEvent = { kind: 'unload', label };
const code = (number: number): Exit => ({ kind: 'exited', code: number });

/** Applies events in order; returns the final state and the last acts. */
function follow(...events: readonly LaunchdEvent[]): {
  readonly state: LaunchdState;
  readonly acts: readonly string[];
} {
  let state = freshLaunchd(new Map());
  let acts: readonly LaunchdAct[] = [];
  for (const event of events) ({ state, acts } = launchdTransition(state, event));
  return { state, acts: acts.map(actText) };
}

const actText = (act: LaunchdAct): string => {
  if (act.kind === 'signal') return act.signal;
  return 'seconds' in act ? `${act.kind} ${act.seconds}` : act.kind;
};

const phase = (state: LaunchdState): string | undefined => state.services.get(label)?.phase.kind;

describe('the launchd state machine', () => {
  it.each<readonly [string, Keys, readonly string[]]>([
    ['waits after loading a job', {}, []],
    ['starts a job with RunAtLoad', { RunAtLoad: true }, ['start']],
    ['starts a job with KeepAlive', { KeepAlive: true }, ['start']],
    ['does not start a job that is kept alive only after failures', { KeepAlive: { SuccessfulExit: false } }, []],
  ])('%s', (_, keys, acts) => {
    expect(follow(load(keys))).toMatchObject({ acts });
    expect(phase(follow(load(keys)).state)).toBe('idle');
  });

  it('starts a waiting job on kickstart, but not a running one again', () => {
    expect(follow(load(), kick).acts).toEqual(['start']);
    expect(follow(load(), kick, started(7), kick).acts).toEqual([]);
  });

  it('starts a job at each interval while loaded, but never twice in parallel', () => {
    const job = jobWith({ StartInterval: 60 });
    const loading: LaunchdEvent = { kind: 'load', job, path: '/p' };
    const over: LaunchdEvent = { kind: 'interval', label, job };
    expect(follow(loading).acts).toEqual(['recur 60']);
    expect(follow(loading, over).acts).toEqual(['start', 'recur 60']);
    expect(follow(loading, over, started(7), over).acts).toEqual(['recur 60']);
    expect(follow(loading, unload, over).acts).toEqual([]);
    expect(follow(loading, unload, load({ StartInterval: 60 }), over).acts).toEqual([]);
  });

  it('stops a running job before a forced restart', () => {
    const killed = follow(load({ ExitTimeOut: 9 }), started(7), { ...kick, isKilling: true });
    expect(killed.acts).toEqual(['SIGTERM', 'kill-later 9']);
    const again = launchdTransition(killed.state, ended({ kind: 'signalled', signal: 'TERM' }));
    expect(again.acts.map(actText)).toEqual(['start']);
  });

  it('unloads a job only after its process ends', () => {
    const leaving = follow(load({ KeepAlive: true }), started(7), unload);
    expect([phase(leaving.state), leaving.acts]).toEqual(['stopping', ['SIGTERM', 'kill-later 5']]);
    const gone = launchdTransition(leaving.state, ended(code(0)));
    expect([gone.state.services.size, gone.acts]).toEqual([0, []]);
  });

  it('unloads a job that was about to restart', () => {
    const leaving = follow(load(), started(7), { ...kick, isKilling: true }, unload);
    const gone = launchdTransition(leaving.state, ended(code(0)));
    expect([gone.state.services.size, gone.acts]).toEqual([0, []]);
  });

  it.each<readonly [Keys, Exit, boolean]>([
    [{}, code(1), false],
    [{ KeepAlive: true }, code(0), true],
    [{ KeepAlive: { SuccessfulExit: true } }, code(0), true],
    [{ KeepAlive: { SuccessfulExit: true } }, code(1), false],
    [{ KeepAlive: { SuccessfulExit: false } }, code(0), false],
    [{ KeepAlive: { SuccessfulExit: false } }, { kind: 'signalled', signal: 'KILL' }, true],
    [{ KeepAlive: { Crashed: true } }, { kind: 'signalled', signal: 'SEGV' }, true],
    [{ KeepAlive: { Crashed: true } }, { kind: 'signalled', signal: 'KILL' }, false],
  ])('decides whether to restart with %j after %j', (keys, exit, isAgain) => {
    const result = follow(load({ ...keys, ThrottleInterval: 4 }), started(7), ended(exit));
    expect([phase(result.state), result.acts]).toEqual(isAgain ? ['scheduled', ['wake 4']] : ['idle', []]);
    expect(launchdTransition(result.state, { kind: 'due', label }).acts.map(actText)).toEqual(isAgain ? ['start'] : []);
  });

  it('does not start a job twice after a kickstart during its throttle interval', () => {
    const kicked = follow(load({ KeepAlive: true }), started(7), ended(code(1)), kick, started(8), {
      kind: 'due',
      label,
    });
    expect(kicked.acts).toEqual([]);
  });

  it('counts a failed start as a run that exited with EX_CONFIG', () => {
    const { state } = follow(load(), kick, { kind: 'not-started', label });
    expect(state.services.get(label)).toMatchObject({ runs: 1, lastExit: code(78), phase: { kind: 'idle' } });
  });

  it('ignores a label that is not loaded', () => {
    expect(follow(kick)).toEqual({ state: freshLaunchd(new Map()), acts: [] });
  });

  it("prefers the last enable or disable over the property list's setting", () => {
    const override = (isOff: boolean): LaunchdEvent => ({ kind: 'override', label, isDisabled: isOff });
    expect(isDisabled(follow().state, jobWith({ Disabled: true }))).toBe(true);
    expect(isDisabled(follow(override(false)).state, jobWith({ Disabled: true }))).toBe(false);
    expect(isDisabled(follow(override(false), override(true)).state, jobWith({}))).toBe(true);
  });
});

describe('the output of launchctl print', () => {
  const fieldNames = (text: string): readonly string[] =>
    text.split('\n').flatMap((line) => /^(?:\t| {4})([a-z][a-z ]*) = /.exec(line)?.[1] ?? []);
  const textAfter = (keys: Keys, ...events: readonly LaunchdEvent[]): string => {
    const service = follow(load(keys), ...events).state.services.get(label);
    return service === undefined ? '' : printText(service);
  };

  it('has only fields from the published output, in the same order', () => {
    const full = captured('launchctl-print.user-agent.not-running.full.txt');
    const running = captured('launchctl-print.agent.running.trimmed.txt');
    const known = fieldNames(full);
    const names = fieldNames(
      textAfter({ StandardOutPath: '/o', WorkingDirectory: '/w' }, kick, started(7), ended(code(0))),
    );
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(names).toEqual(known.filter((name) => names.includes(name)));
    const now = fieldNames(textAfter({}, kick, started(7)));
    expect(fieldNames(running).filter((name) => now.includes(name))).toEqual(
      now.filter((name) => fieldNames(running).includes(name)),
    );
  });

  it("names each state in launchd's words", () => {
    const lines = (text: string): readonly string[] =>
      text.split('\n').filter((line) => /^\t(state|pid|runs|last)/.test(line));
    expect(lines(textAfter({}))).toEqual(['\tstate = not running', '\truns = 0', '\tlast exit code = (never exited)']);
    expect(lines(textAfter({}, kick, started(7)))).toEqual([
      '\tstate = running',
      '\truns = 1',
      '\tpid = 7',
      '\tlast exit code = (never exited)',
    ]);
    expect(lines(textAfter({}, started(7), unload))[0]).toBe('\tstate = SIGTERMed');
    expect(lines(textAfter({ KeepAlive: true }, started(7), ended(code(64))))).toEqual([
      '\tstate = spawn scheduled',
      '\truns = 1',
      '\tlast exit code = 64: EX_USAGE',
    ]);
    expect(lines(textAfter({}, started(7), ended({ kind: 'signalled', signal: 'KILL' }))).at(-1)).toBe(
      '\tlast terminating signal = Killed: 9',
    );
  });

  it('shows arguments unescaped between braces', () => {
    const text = textAfter({ ProgramArguments: ['/x', 'pid = 3\n}'] });
    expect(text).toContain('\targuments = {\n\t\t/x\n\t\tpid = 3\n}\n\t}\n');
  });
});
