import { createHash } from 'node:crypto';
import { it } from 'vitest';
import { realTiming } from '../../../../src/apply/run-timing.ts';
import type { StepContext, StepOf } from '../../../../src/apply/steps/context.ts';
import { runSend } from '../../../../src/apply/steps/send.ts';
import { skipTime } from '../../../fake-clock.ts';
import { aStep } from '../../../rack/plans.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { jsonText, onOnePage, say } from '../../one-page.ts';

const { path: folder, write } = temporaryFolder();
const content = Buffer.alloc(1_048_577, 'abc');
const sha256Of = (bytes: number) => createHash('sha256').update(content.subarray(0, bytes)).digest('hex');
const ends: Readonly<Record<string, object>> = {
  other: { exit: { kind: 'exited', code: 65 } },
  lost: { exit: { kind: 'unknown', why: 'dropped' } },
  full: { exit: { kind: 'exited', code: 1 }, stderr: Buffer.from('cat: No space left on device\n') },
};

// Answers of the Mac: the size of its file, `#` and how many bytes the reported digest covers, how the command ended.
it.each([
  [4, ['4#4', '2other #2 4#4', '2other #1 4#4', '4other #4', '5other 4#4', '3#4', '4#3', '4 #4', '4 full', 'full']],
  [4, ['lost 4#4', '2other lost 4#4', 'lost lost lost', 'unreached', '2other unreached', '2other #2 3other 4#4']],
  [1_048_577, ['0 1048577 #1048577', '1048576 #1048576 1048577 #1048577', 'full', '0 4#4']],
  [3, [{ sha256: sha256Of(1) }, { sizeBytes: 4 }]],
])('a step that sends %i bytes resumes, and checks the whole file: %j', async (sizeBytes, cases) => {
  skipTime();
  const source = write('file', content.subarray(0, sizeBytes));
  const act = { kind: 'send', source, to: { kind: 'node-path', path: '/x' }, sha256: sha256Of(sizeBytes), sizeBytes };
  for (const one of cases) {
    const answers = (typeof one === 'string' ? one : '3#3').split(' ');
    const seen: unknown[] = [];
    const ask = async (make: (_: '') => { command: string; deadlineMs: number; stdin?: AsyncIterable<Buffer> }) => {
      const { command, deadlineMs, stdin } = make('');
      let sent = 0;
      for await (const { length } of stdin ?? []) sent += length;
      seen.push([deadlineMs, sent, ...(command.match(/true >|(?<=-ne |-c )\d+/g) ?? [])].join(' '));
      const [, size, bytes, end = ''] = /^(\d*)#?(\d*)(.*)$/.exec(answers.shift() ?? '') ?? [];
      const stdout = `${size && `size ${size}\n`}${bytes && `sha256 ${sha256Of(Number(bytes))}\n`}`;
      const whole = { exit: { kind: 'exited', code: 0 }, stdout: Buffer.from(stdout), stderr: Buffer.from('') };
      return { kind: end === 'unreached' ? end : 'ended', result: { ...whole, ...ends[end] }, diagnostics: [] };
    };
    const step = { ...aStep('studio-1/send'), act: { ...act, ...(typeof one === 'string' ? {} : one) } };
    const context = {
      observeMs: 500,
      timing: realTiming,
      signal: new AbortController().signal,
      session: () => ({ ask }),
    };
    const progress = (reported: unknown) => void seen.push(reported);
    const result = await runSend(step as StepOf<'send'>, { ...context, progress } as unknown as StepContext);
    say((jsonText({ sizeBytes, one, seen, ...result }) ?? '').replaceAll(folder, 'FOLDER'));
  }
});

onOnePage('send');
