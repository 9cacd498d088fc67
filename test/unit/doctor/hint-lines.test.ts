import { describe, expect, it } from 'vitest';
import { commandsIn, withCommands } from '../../../src/doctor/hint-lines.ts';

describe('the commands of a hint', () => {
  it('are those on lines of their own, in their order, without those that only look', () => {
    const hint = withCommands('Start it again; its log says more:', [
      'meshwright restart chat',
      'meshwright logs chat',
    ]);
    expect(commandsIn(hint)).toEqual(['meshwright restart chat']);
    expect(commandsIn(withCommands('On studio-1:', ['sudo pmset -c sleep 0']))).toEqual([]);
  });

  it.each([
    ['Start it: meshwright apply', [], ['meshwright apply']],
    ['First stop it:\n  meshwright stop chat\nThen: Pull the plug.', [], []],
    [
      'First stop it:\n  meshwright stop chat\nThen: meshwright apply',
      [],
      ['meshwright stop chat', 'meshwright apply'],
    ],
    ['Take it back: meshwright apply --sim. Or write it down.', [], ['meshwright apply --sim']],
    ['Restart it: meshwright reboot NODE', ['a', 'b'], ['meshwright reboot a b']],
    ['Stop the placement: meshwright stop --sim', ['chat'], ['meshwright stop chat --sim']],
    ['Restart the named Macs: meshwright reboot', [], []],
    ['Run it: meshwright exec NODE -- COMMAND', ['a'], []],
    ['See: meshwright facts', ['a'], []],
    ['Unlock it: meshwright unlock NODE', ['a'], []],
    ['Set it with meshwright apply, or on studio-1 until its next boot:', [], ['meshwright apply']],
  ])('of "%s" about %j are %j', (hint, names, commands) => {
    expect(commandsIn(hint, names)).toEqual(commands);
  });
});
