import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectGolden, meshwright } from './meshwright.ts';
import { makePlace } from './place.ts';
import { onTerminal } from './terminal.ts';

const place = makePlace();
afterAll(() => place.remove());

const file = (key = '{ env: CHAT_KEY }', more = ''): string => `schema: 1
name: rack
nodes: { studio-1: { host: studio-1.lan } }
runtimes: { own: { driver: command, archive: ../own.tar.gz, command: ["{runtime}/bin/rank"] } }
models: { tiny: { source: ./tiny } }
gateway: {}
placements:
  chat:
    { model: tiny, runtime: own, nodes: [studio-1], transport: tcp, context: 4k, endpoint: { listen: lan, apiKey: [${key}, { command: [./print-key, chat] }] } }
${more}`;
place.write('cluster.yaml', file());
place.write('print-key', '#!/bin/sh\necho one\n');

const question = 'Allow this, now and in later runs? [y/N]';
const answer = (keys: string, ...words: string[]) =>
  onTerminal(place, ['validate', '--no-color', ...words], { typing: { after: question, keys: `${keys}\r` } });
/** Without an answer: the question would keep the command waiting. */
const silent = () => onTerminal(place, ['validate', '--no-color']);
const asked = async (): Promise<boolean> => (await answer('n')).stdout.includes(question);

// The tests continue on one place in this order.
describe('the list of what a cluster file uses, at a terminal', () => {
  it('is shown once with one question; answering no stops the command before it reads anything', async () => {
    const ran = await answer('n');
    expect(ran.code).toBe(5);
    await expectGolden('trust-question', place, [ran]);
  });

  it('is saved in a private file once allowed, and later runs with the same or a shorter list do not ask', async () => {
    expect((await answer('y', '--trust', 'env=CHAT_KEY')).stdout).toContain(question);
    expect(statSync(join(place.state, 'trust.json')).mode & 0o777).toBe(0o600);
    expect((await silent()).stdout).not.toContain(question);
    place.write('cluster.yaml', file(undefined, 'power: { sleep: never }\n'));
    expect((await silent()).stdout).not.toContain(question);
  });

  it("is shown again if the list or a program in the file's folder changes", async () => {
    place.write('print-key', '#!/bin/sh\necho two\n');
    expect(await asked()).toBe(true);
    place.write('print-key', '#!/bin/sh\necho one\n');
    expect((await silent()).stdout).not.toContain(question);
    place.write('cluster.yaml', file('{ env: AWS_SECRET_ACCESS_KEY }'));
    expect(await asked()).toBe(true);
    place.write('cluster.yaml', file());
  });

  it('is not remembered in CI or without a terminal; the output shows the arguments to add', async () => {
    const rans = [await meshwright(place, ['validate']), await meshwright(place, ['validate', '--json'])];
    expect(rans.map(({ code }) => code)).toEqual([5, 5]);
    const inCi = await onTerminal(place, ['validate', '--no-color'], { env: { CI: 'true' } });
    expect([inCi.code, inCi.stdout.includes(question)]).toEqual([5, false]);
    await expectGolden('trust-needed', place, rans);
    const [, words = ''] = /--trust (\S+)$/m.exec(rans[0]?.stderr ?? '') ?? [];
    expect((await meshwright(place, ['validate', '--trust', words])).code).not.toBe(5);
  });
});
