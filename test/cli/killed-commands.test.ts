import { expect, it } from 'vitest';
import { verbs } from '../../src/cli/verbs.ts';
import { lookVerbs } from '../../src/cli/verbs-look.ts';
import { killedCommands } from './kill/killed-commands.ts';

/** Commands that reach nodes and are not killed, by reason. */
const spared: Readonly<Record<string, readonly string[]>> = {
  'only observe': [...lookVerbs.map(({ name }) => name), 'plan', 'models list', 'lease status', 'secrets', 'bundle'],
  'sends one question': ['ask'],
  'runs a program of the user': ['exec'],
};

it('the kill tests list every command that changes nodes', () => {
  const names = verbs.map(({ name }) => name);
  const killed = killedCommands.map(({ name }) => name.replace(/ --.*$/, ''));
  const listed = [...killed, ...Object.values(spared).flat()];
  const reaching = verbs.filter(({ uses }) => uses.includes('reach')).map(({ name }) => name);
  expect(reaching.filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name) => !names.includes(name))).toEqual([]);
});
