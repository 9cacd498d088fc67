import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionCommands } from '../readme-text.ts';
import { makePlace, processesOf, temporaryFiles } from './place.ts';
import { playSession, sessionClaims } from './readme-session.ts';

const place = makePlace();

beforeAll(async () => {
  const rans = await playSession(place, 'sim example', 'plan');
  expect(rans.map(({ code }) => code)).toEqual([0, 0, 0]);
});
afterAll(() => place.remove());

describe('the session in README.md', () => {
  it('has the commands that this test runs', () => {
    expect(sessionCommands.map((one) => one.split(' ').slice(1, 3).join(' '))).toEqual([
      ...['sim example', 'sim up', 'plan --sim', 'apply --sim', 'ask chat', 'sim down'],
    ]);
  });

  it.each(Object.entries(sessionClaims))('demonstrates: %s', (_, check) => check(place));

  it('leaves no process behind', async () => {
    const [down] = await playSession(place, 'sim down', 'sim down');
    expect([down?.code, processesOf(place), temporaryFiles(place)]).toEqual([0, [], []]);
  });
});
