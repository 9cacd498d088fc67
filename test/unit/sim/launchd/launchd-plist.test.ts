import { describe, expect, it } from 'vitest';
import { type JobReading, readJob } from '../../../../src/sim/launchd/job-definition.ts';
import { plistText, readPlist } from '../../../../src/sim/model/plist.ts';
import { jobPlist } from '../launchd-job.ts';

const plist = (inside: string): string => `<plist version="1.0">\n${inside}\n</plist>\n`;
const reasonOf = (reading: JobReading): string =>
  reading.kind === 'job' ? 'a job' : reading.kind === 'refused' ? reading.reason : `not simulated: ${reading.key}`;

describe('the property list reader', () => {
  it("reads the simulator's own output", () => {
    const value = { Label: 'a & b', List: ['<x>', 3, { Inner: '' }], Empty: [], None: {} };
    expect(readPlist(plistText(value))).toEqual({ kind: 'plist', value });
  });

  it('reads every kind of value, comments and entities', () => {
    const text = plist(`<!-- a -- comment -->
      <dict><key>Yes</key><true/><key>No</key><false />
      <key>Text</key><string>&quot;&#65;&apos; &amp;amp;</string><key>Real</key><real>-1.5</real></dict>`);
    expect(readPlist(text)).toEqual({ kind: 'plist', value: { Yes: true, No: false, Text: '"A\' &amp;', Real: -1.5 } });
  });

  it.each([
    ['<dict><key>A</key></dict>', 'something that is not a value (line 2)'],
    ['<dict><key>A</key><true/><key>A</key><true/></dict>', 'the key A occurs twice (line 2)'],
    ['<dict><string>A</string></dict>', 'a <dict> contains something other than a <key> (line 2)'],
    ['<string>&nbsp;</string>', 'an unknown entity (line 2)'],
    ['<string>a & b</string>', 'an unknown entity (line 2)'],
    ['<integer>1x</integer>', '<integer> does not contain a number (line 2)'],
    ['<date>2026-01-01T00:00:00Z</date>', '<date> is not supported (line 2)'],
    ['<array><true/>', 'something that is not a value (line 3)'],
    ['<true/><true/>', 'it does not end with </plist> (line 2)'],
    ['<string>a</integer>', '<string> has no end tag (line 2)'],
    ['<string/', 'something that is not a value (line 2)'],
    ['', 'something that is not a value (line 3)'],
  ])('rejects %s', (inside, reason) => {
    expect(readPlist(plist(inside))).toEqual({ kind: 'refused', reason });
  });

  it.each(['', 'bplist00', '{"Label": "x"}', '<dict/>'])('rejects %j, which is not an XML property list', (text) => {
    expect(readPlist(text)).toEqual({ kind: 'refused', reason: 'it does not begin with <plist> (line 1)' });
  });

  it('keeps the key __proto__', () => {
    const reading = readPlist(plist('<dict><key>__proto__</key><string>x</string></dict>'));
    expect(reading.kind === 'plist' && JSON.stringify(reading.value)).toBe('{"__proto__":"x"}');
  });
});

describe('a launchd job', () => {
  it('does not start by itself by default', () => {
    const reading = readJob(jobPlist({ ProgramArguments: ['/bin/x', '-v'] }));
    expect(reading).toEqual({
      kind: 'job',
      job: {
        label: 'dev.test',
        program: '/bin/x',
        words: ['/bin/x', '-v'],
        environment: {},
        runAtLoad: false,
        keepAlive: { kind: 'never' },
        throttleSeconds: 10,
        exitTimeoutSeconds: 5,
        abandonsGroup: false,
        processType: 'Standard',
        isDisabled: false,
      },
    });
  });

  it.each<[object, object]>([
    [{ Program: '/bin/y' }, { program: '/bin/y', words: ['/x'] }],
    [{ EnvironmentVariables: { A: '1' } }, { environment: { A: '1' } }],
    [{ WorkingDirectory: '/tmp' }, { workingDirectory: '/tmp' }],
    [{ StandardOutPath: '/o' }, { standardOutPath: '/o' }],
    [{ StandardErrorPath: '/e' }, { standardErrorPath: '/e' }],
    [{ UserName: 'mesh' }, { userName: 'mesh' }],
    [{ RunAtLoad: true }, { runAtLoad: true }],
    [{ ThrottleInterval: 3 }, { throttleSeconds: 3 }],
    [{ ExitTimeOut: 7 }, { exitTimeoutSeconds: 7 }],
    [{ ProcessType: 'Interactive' }, { processType: 'Interactive' }],
    [{ SoftResourceLimits: { NumberOfFiles: 65_535 } }, {}],
    [{ AbandonProcessGroup: true }, { abandonsGroup: true }],
    [{ Disabled: true }, { isDisabled: true }],
    [{ KeepAlive: true }, { keepAlive: { kind: 'always' } }],
    [{ KeepAlive: false }, { keepAlive: { kind: 'never' } }],
    [{ KeepAlive: { Crashed: true } }, { keepAlive: { kind: 'after-crash', isCrash: true } }],
    [{ KeepAlive: { SuccessfulExit: false } }, { keepAlive: { kind: 'after-exit', isSuccess: false } }],
  ])('has the settings %j', (settings, job) => {
    expect(readJob(jobPlist({ ProgramArguments: ['/x'], ...settings }))).toMatchObject({ kind: 'job', job });
  });

  it.each([
    [{}, 'neither Program nor ProgramArguments'],
    [{ ProgramArguments: [] }, 'the value of ProgramArguments'],
    [{ ProgramArguments: ['/x', 1] }, 'the value of ProgramArguments'],
    [{ Program: '/x', Label: 'a/b' }, 'the value of Label'],
    [{ Program: '/x', RunAtLoad: 'yes' }, 'the value of RunAtLoad'],
    [{ Program: '/x', ExitTimeOut: -1 }, 'the value of ExitTimeOut'],
    [{ Program: '/x', EnvironmentVariables: { A: 1 } }, 'the value of EnvironmentVariables'],
    [{ Program: '/x', StartInterval: 0 }, 'the value of StartInterval'],
    [{ Program: '/x', SoftResourceLimits: { NumberOfFiles: '65535' } }, 'the value of SoftResourceLimits'],
    [{ Program: '/x', SoftResourceLimits: { Stack: 1 } }, 'not simulated: SoftResourceLimits other than NumberOfFiles'],
    [{ Program: '/x', WatchPaths: ['/y'] }, 'not simulated: WatchPaths'],
    [{ Program: '/x', KeepAlive: { PathState: true } }, 'not simulated: KeepAlive with these conditions'],
  ])('is rejected with %j', (more, reason) => {
    expect(reasonOf(readJob(jobPlist(more)))).toBe(reason);
  });

  it('is rejected without a label', () => {
    expect(reasonOf(readJob(plist('<dict><key>Program</key><string>/x</string></dict>')))).toBe('no Label');
    expect(reasonOf(readJob(plist('<array/>')))).toBe('it is not a dictionary');
  });
});
