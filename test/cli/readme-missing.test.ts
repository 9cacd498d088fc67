import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf } from '../architecture/sources.ts';
import { json, meshwrightHere } from './meshwright.ts';
import { exampleText, makePlace } from './place.ts';

const place = makePlace();
const [, missing = ''] = /## What it does not do yet\n([\s\S]*?)\n## /.exec(textOf('README.md')) ?? [];
const words = [...missing.matchAll(/`([^`]+)`/g)].flatMap(([, word = '']) => word);

/** Adds a key to the example, by its name in the README. */
const edits: Readonly<Record<string, (text: string) => string>> = {
  'nodes.*.paths': (text) => text.replace('host: studio-1.lan', 'host: studio-1.lan, paths: { models: /Volumes/fast }'),
  'ssh.client': (text) => text.replace('ssh:\n', 'ssh:\n  client: system\n'),
  'ssh.proxyJump': (text) => text.replace('ssh:\n', 'ssh:\n  proxyJump: bastion.lan\n'),
};
const commands = words.filter((word) => edits[word] === undefined);

beforeAll(() => place.write('cluster.yaml', exampleText));
afterAll(() => place.remove());

describe('the list of missing features in the README', () => {
  it('names commands and keys, and this test has an edit for each key', () => {
    expect(Object.keys(edits).filter((key) => !words.includes(key))).toEqual([]);
    expect(commands.length).toBeGreaterThan(5);
  });

  it.each(Object.entries(edits))('has a key that validate rejects: %s', async (_, edit) => {
    const text = edit(exampleText);
    expect(text).not.toBe(exampleText);
    place.write('edited.yaml', text);
    const ran = await meshwrightHere(place, ['validate', 'edited.yaml', '--json']);
    expect([ran.code, json(ran)]).toMatchObject([65, { diagnostics: [{ code: expect.stringMatching(/^schema\//) }] }]);
  });

  it.each(commands)('has a command that does not exist: %s', async (command) => {
    const { code, stderr } = await meshwrightHere(place, [command]);
    expect([code, stderr]).toEqual([64, expect.stringContaining(`Unknown command "${command}".`)]);
  });
});
