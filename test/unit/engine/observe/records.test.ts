import { describe, expect, it } from 'vitest';
import { parseLaunchctlPrint as parseLaunchctlPrintItself } from '../../../../src/node/answers/launchd.ts';
import { gatewaysFact } from '../../../../src/rack/records/gateways-fact.ts';
import { jobsFact as jobsItself } from '../../../../src/rack/records/jobs-fact.ts';
import { leasesFact as leasesItself } from '../../../../src/rack/records/leases-fact.ts';
import { servicesFact as servicesItself } from '../../../../src/rack/records/services-fact.ts';
import { baselineFact } from '../../../../src/rack/uninstall/baseline-setting.ts';
import { onOnePage, onPage } from '../../one-page.ts';
import { answer, asked } from './fact-cases.ts';

const jobs = { ...jobsItself, parse: onPage(jobsItself.parse) };
const parseLaunchctlPrint = onPage(parseLaunchctlPrintItself);
const leases = { ...leasesItself, parse: onPage(leasesItself.parse) };
const services = { ...servicesItself, parse: onPage(servicesItself.parse) };

const kept = (lines: readonly string[]) => [
  answer('kept-records', { stdout: lines.map((line) => `${line}\n`).join('') }),
];
const both = ['job 9f2a', '|name=blob', '|path=/opt/a=b', 'lease', '|owner=ana', '|verb=apply', 'end'];

describe('the baseline fact', () => {
  it('is unknown if the node returns an unfamiliar setting', () => {
    expect(baselineFact.parse(kept(['baseline power', '|sleep 1', 'end']), asked)).toMatchObject({ kind: 'known' });
    expect(baselineFact.parse(kept(['baseline moon', '|full', 'end']), asked)).toMatchObject({ reason: 'garbled' });
  });
});

describe('the jobs fact', () => {
  it('lists each job by its key, with the fields from its file', () => {
    expect(jobs.parse(kept(both), asked)).toEqual({
      kind: 'known',
      value: [{ key: '9f2a', fields: { name: 'blob', path: '/opt/a=b', state: 'gone' } }],
    });
    expect(jobs.parse(kept(['end']), asked)).toEqual({ kind: 'known', value: [] });
  });

  it('is unknown, never empty, if the list is cut off or a folder is unreadable', () => {
    expect(jobs.parse(kept(['job 9f2a', '|name=blob']), asked)).toMatchObject({ reason: 'truncated' });
    expect(jobs.parse(kept(['unreadable']), asked)).toMatchObject({ reason: 'no-privilege' });
    expect(jobs.parse(kept(['job 9f2a', 'unreadable']), asked)).toMatchObject({ reason: 'no-privilege' });
  });

  it.each([
    ['a line that is not a field', ['job a', '|rubbish', 'end']],
    ['a repeated field', ['job a', '|x=1', '|x=2', 'end']],
    ['a repeated job', ['job a', 'job a', 'end']],
    ['a key with a slash', ['job ../a', 'end']],
    ['a line without its record', ['|x=1', 'end']],
    ['a record of a different kind', ['odd', 'end']],
  ])('is garbled by %s', (_, lines) => {
    expect(jobs.parse(kept(lines), asked)).toMatchObject({ reason: 'garbled' });
  });
});

describe("a job's state", () => {
  const uuid = 'F2B1C3D4-0000-4000-8000-000000000001';
  const sysctl = (session: string) => answer('sysctl', { stdout: `kern.bootsessionuuid: ${session}\n` });
  const state = (lines: readonly string[], boot = sysctl(uuid)) => {
    const seen = jobs.parse([kept(['job 9f2a', `|boot=${uuid}`, ...lines, 'end'])[0], boot], asked);
    return seen.kind === 'known' ? seen.value[0]?.fields['state'] : seen.reason;
  };
  const process = '| 17 /bin/sh /Library/Application Support/meshwright/ops/9f2a/run';

  it('is running only with its own process in its own boot session', () => {
    expect(state(['|pid=17', 'processes 0', process])).toBe('running');
    expect(state(['|pid=18', 'processes 0', process])).toBe('gone');
    expect(state(['|pid=17', 'processes 0', process.replace('9f2a', '9f2b')])).toBe('gone');
    expect(state(['|pid=17', 'processes 1'])).toBe('gone');
    expect(state(['|pid=17', 'processes 0', process], sysctl(uuid.replace('1', '2')))).toBe('gone');
    expect(state(['|pid=17', '|exit=0', 'processes 0', process])).toBe('ended');
  });

  it('is unknown, not gone, if it could not be observed', () => {
    expect(state(['|pid=17'])).toBe('failed');
    expect(state(['|pid=17', 'processes 127'])).toBe('failed');
    expect(state(['|pid=17', 'processes 0', '|rubbish'])).toBe('garbled');
    expect(state(['|pid=17', 'processes 0', process], sysctl('none'))).toBe('garbled');
    expect(state(['|pid=17', 'processes 0', process], answer('sysctl', { code: 2 }))).toBe('failed');
    expect(state(['|exit=maybe'])).toBe('garbled');
    expect(state(['|progress=ten'])).toBe('garbled');
  });
});

describe('the leases fact', () => {
  it('contains one lease, without fields if its owner died while taking it', () => {
    expect(leases.parse(kept(both), asked)).toMatchObject({ value: [{ fields: { owner: 'ana', verb: 'apply' } }] });
    expect(leases.parse(kept(['lease', 'end']), asked)).toMatchObject({ value: [{ fields: {} }] });
    expect(leases.parse(kept(['lease', 'lease', 'end']), asked)).toMatchObject({ reason: 'garbled' });
  });
});

describe('the services fact', () => {
  const said = (lines: readonly string[]) =>
    services.parse([answer('launchd-services', { stdout: lines.map((line) => `${line}\n`).join('') })], asked);

  it('distinguishes an unloaded service from a failed launchctl', () => {
    const words = '|Could not find service "dev.meshwright.keeper" in domain for system';
    expect(said(['service dev.meshwright.keeper 113', '|Bad request.', words, 'end'])).toEqual({
      kind: 'known',
      value: [{ label: 'dev.meshwright.keeper', state: 'not-loaded' }],
    });
    expect(said(['service dev.meshwright.keeper 113', 'end'])).toMatchObject({ reason: 'failed' });
    expect(said(['service dev.meshwright.keeper 137', 'end'])).toMatchObject({ reason: 'failed' });
  });

  it('keeps the other services if launchctl prints an unknown state for one service', () => {
    const services = ['keeper', 'rank.kimi', 'rank.qwen'].map((name) => `dev.meshwright.${name}`);
    const states = ['not running', 'penalty box', 'running'];
    const prints = services.flatMap((label, at) => [
      `service ${label} 0`,
      `|system/${label} = {`,
      `|\tstate = ${states[at]}`,
      '|}',
    ]);
    expect(said([...prints, 'end'])).toEqual({
      kind: 'known',
      value: [
        { label: services[0], state: 'waiting' },
        { label: services[1], state: 'unknown' },
        { label: services[2], state: 'running' },
      ],
    });
  });

  it("lists a rank's suspended processes, even next to a gateway", () => {
    const rank = 'dev.meshwright.rank.kimi';
    const gateway = 'dev.meshwright.gateway.8080';
    const print = [gateway, rank].flatMap((label) => [
      `service ${label} 0`,
      `|system/${label} = {`,
      '|\tstate = running',
      '|}',
    ]);
    const lines = [...print, `suspended ${rank} 4711`, `suspended ${rank} 14712`, 'end'];
    expect(said(lines)).toEqual({
      kind: 'known',
      value: [
        { label: gateway, state: 'running' },
        { label: rank, state: 'running', suspended: [4_711, 14_712] },
      ],
    });
    const stdout = `${lines.join('\n')}\n`;
    expect(gatewaysFact.parse([answer('launchd-services', { stdout })], asked)).toEqual({ kind: 'known', value: [] });
    expect(said([...print, 'suspended dev.meshwright.rank.qwen 4711', 'end'])).toMatchObject({ reason: 'garbled' });
  });

  it('lists the placements behind a gateway, or none if nothing listens on its port', () => {
    const label = 'dev.meshwright.gateway.8080';
    const print = [`service ${label} 0`, `|system/${label} = {`, '|\tstate = running', '|\tpid = 7', '|}'];
    const behind = (...answer: readonly string[]) => {
      const seen = said([...print, ...answer, 'end']);
      return seen.kind === 'known' ? seen.value.map((one) => one.behind) : seen.reason;
    };
    expect(behind(`answer ${label} 0`, '|kimi', '|qwen')).toEqual([['kimi', 'qwen']]);
    expect(behind(`answer ${label} 0`)).toEqual([[]]);
    expect(behind(`answer ${label} 7`)).toEqual([[]]);
    expect(behind(`answer ${label} 28`)).toEqual([undefined]);
    expect(behind()).toEqual([undefined]);
    expect(behind('answer dev.meshwright.gateway.8081 0')).toBe('garbled');
  });
});

describe('the launchctl print parser', () => {
  const print = (...lines: readonly string[]) => parseLaunchctlPrint(['system/x = {', ...lines, '}']);

  it('reads only top-level fields, whatever the arguments contain', () => {
    const inner = ['\targuments = {', '\t\tpid = 1', '\t\t}', 'pid = 2', '\tpid = 3', '\t}'];
    const read = print('\tstate = running', ...inner, '\tpid = 4', '\tlast exit code = 78: EX_CONFIG');
    expect(read).toEqual({ state: 'running', pid: 4, lastExit: '78: EX_CONFIG' });
  });

  it('reads a crash loop as waiting, with its number of runs', () => {
    const loop = print('\tstate = spawn scheduled', '\truns = 812', '\tlast exit code = 1');
    expect(loop).toEqual({ state: 'waiting', runs: 812, lastExit: '1' });
  });

  it('reads the terminating signal in place of an exit code', () => {
    const signal = '\tlast terminating signal = Killed: 9';
    const idle = ['\tstate = not running', '\truns = 1'];
    expect(print(...idle, signal)).toEqual({ state: 'waiting', runs: 1, lastExit: 'Killed: 9' });
    expect(print(...idle, signal, '\tlast exit code = (never exited)')?.lastExit).toBe('Killed: 9');
    expect(print(...idle, '\tlast terminating signal = $(reboot)')).toBeUndefined();
    expect(print(...idle, signal, signal)).toBeUndefined();
    expect(print(...idle, signal, '\tlast exit reason = odd: 9')?.lastExit).toBe('Killed: 9');
  });

  it('rejects a repeated field, an unclosed block or an unknown state', () => {
    expect(print('\tstate = running', '\tpid = 1', '\tpid = 2')).toBeUndefined();
    expect(print('\tstate = running', '\targuments = {')).toBeUndefined();
    expect(print('\tstate = dreaming')).toBeUndefined();
    expect(print('\tstate = constructor')).toBeUndefined();
    expect(parseLaunchctlPrint(['system/x = {', '\tstate = running'])).toBeUndefined();
  });
});

onOnePage('records');
