import { describe, expect, it } from 'vitest';
import { commandText, plainText, proseText, withCommands } from '../../../../src/diagnostics/prose-text.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { aside, blank, type CommandWord, its, meshwright, withTail } from '../../../../src/model/text/command.ts';
import {
  allCommands,
  behindFirst,
  changeStart,
  commandsIn,
  isLabelled,
  joinProse,
  labelled,
  leftToApply,
  mapNames,
  mapWords,
  mentionsAny,
  named,
  namedEnd,
  namedList,
  type Part,
  type Prose,
  prose,
  withoutLines,
} from '../../../../src/model/text/prose.ts';

const simulated = { isSimulated: true };
const chat = meshwright('stop', 'chat');
const stopFirst = withCommands('First stop it', [chat]);

/** The commands of a text as a program would type them. */
const typed = (text: Prose, names: readonly string[] = []): readonly string[] =>
  commandsIn(text, names).map((one) => commandText(one, { isSimulated: false }));

describe('commandsIn', () => {
  it('lists, in order, the commands in a text that change something', () => {
    const lines = [meshwright('restart', 'chat'), meshwright('logs', 'chat'), meshwright('apply')];
    const hint = withCommands('Start it again; its log says more', lines);
    expect(typed(hint)).toEqual(['meshwright restart chat', 'meshwright apply']);
    expect(typed(withCommands('On studio-1', ['sudo pmset -c sleep 0']))).toEqual([]);
    expect(typed('Pull the plug.')).toEqual([]);
  });

  const cases: readonly (readonly [text: Prose, names: readonly string[], commands: readonly string[]])[] = [
    [prose`Start it: ${meshwright('apply')}`, [], ['meshwright apply']],
    [prose`${stopFirst}\nThen: Pull the plug.`, [], ['meshwright stop chat']],
    [prose`${withCommands('First stop it', [aside(chat)])}\nThen: Pull the plug.`, [], []],
    [prose`${stopFirst}\nThen: ${meshwright('apply')}`, [], ['meshwright stop chat', 'meshwright apply']],
    [
      prose`${{ kind: 'first', act: prose`stop it with ${chat}` }}start it: ${meshwright('apply')}`,
      [],
      ['meshwright stop chat', 'meshwright apply'],
    ],
    [prose`Take it back: ${meshwright('apply')}. Or write it down.`, [], ['meshwright apply']],
    [prose`Restart it: ${meshwright('reboot', its.node)}`, ['a', 'b'], ['meshwright reboot a b']],
    [prose`Restart it: ${meshwright('reboot', its.node)}`, [], []],
    [
      prose`Start it there: ${meshwright('start', its.name, '--fallback')}`,
      ['chat'],
      ['meshwright start chat --fallback'],
    ],
    [prose`Stop the placement: ${meshwright('stop')}`, ['chat'], ['meshwright stop chat']],
    [prose`Stop the placement: ${meshwright('stop', '--now')}`, ['chat'], ['meshwright stop chat --now']],
    [prose`Stop the placement: ${meshwright('stop', '--now')}`, [], []],
    [prose`Stop that one: ${chat}`, ['other'], ['meshwright stop chat']],
    [prose`Restart the named Macs: ${meshwright('reboot')}`, [], []],
    [prose`Run it: ${withTail(meshwright('exec', its.node), blank('COMMAND'))}`, ['a'], []],
    [
      prose`End it: ${withTail(meshwright('exec', its.node), 'env', 'kill', '4711')}`,
      ['a'],
      ['meshwright exec a -- env kill 4711'],
    ],
    [prose`Hold it: ${meshwright('hold', 'a', '--until', blank('DATE'))}`, ['a'], []],
    [prose`See: ${meshwright('facts')}`, ['a'], []],
    [prose`Unlock it: ${meshwright('unlock', its.node)}`, ['a'], []],
    [prose`Put your key there: ${meshwright('enroll', its.node)}`, ['a'], []],
    [prose`Restart all members (\`${aside(meshwright('reboot'))}\`).`, ['a'], []],
    [
      withCommands(prose`Set it with ${meshwright('apply')}, or on ${named('studio-1')} until its next boot`, [
        'sysctl',
      ]),
      [],
      ['meshwright apply'],
    ],
  ];
  it.each(cases.map(([text, names, commands]) => [plainText(text), names, commands, text] as const))(
    'finds, in "%s" for the nodes %j, the commands %j',
    (_shown, names, commands, text) => {
      expect(typed(text, names)).toEqual(commands);
    },
  );

  it('lists every command in a text', () => {
    const text = prose`See ${meshwright('facts')}, then ${aside(meshwright('reboot', its.node))}.`;
    expect(allCommands(text).map(({ verb }) => verb)).toEqual(['facts', 'reboot']);
  });
});

describe('prose', () => {
  it('becomes a plain string if it contains only words', () => {
    expect(prose`${'one'} and ${2}${prose`, ${'three'}`}`).toBe('one and 2, three');
    expect(prose``).toBe('');
    expect(prose`${[]}`).toBe('');
  });

  it('joins adjacent words and leaves data in place', () => {
    const parts = ['Restart ', named('a'), ' or ', named('b'), '.'];
    expect(prose`${'Rest'}art ${named('a')}${' or '}${prose`${named('b')}.`}`).toEqual(parts);
    expect(joinProse([prose`Restart ${named('a')}`, prose`${named('b')}.`], ' or ')).toEqual(parts);
    expect(joinProse([], ' ')).toBe('');
  });

  it('changes words without changing data', () => {
    const text = prose`Stop ${named('Alpha')}: ${meshwright('stop', 'Alpha')}`;
    expect(plainText(mapWords(text, (words) => words.toUpperCase()))).toBe('STOP Alpha: meshwright stop Alpha');
    expect(plainText(changeStart(text, (words) => words.toLowerCase()))).toBe('stop Alpha: meshwright stop Alpha');
    const begun = prose`${named('Alpha')} Is off.`;
    expect(changeStart(begun, (words) => words.toLowerCase())).toBe(begun);
  });

  it('recognizes the nodes that it names', () => {
    expect(isLabelled(prose`${labelled('a')}it is off.`)).toBe(true);
    expect(isLabelled(prose`${named('a')} is off.`)).toBe(false);
    expect(isLabelled('a: it is off.')).toBe(false);
    expect(mentionsAny(prose`On ${named('a')}: look.`, ['b', 'a'])).toBe(true);
    const ends = prose`${namedEnd({ node: nodeName('a'), receptacle: 2 })} and ${namedList(['b', 'c'])}`;
    expect([plainText(ends), mentionsAny(ends, ['a']), mentionsAny(ends, ['c'])]).toEqual(['a:2 and b, c', true, true]);
    expect(mentionsAny(prose`On ${named('a')}: look.`, ['b'])).toBe(false);
    expect(mentionsAny(prose`On a: ${meshwright('reboot', 'a')}`, ['a'])).toBe(false);
  });

  const everywhere = prose`${labelled('a')}${{ kind: 'first', act: prose`look at ${named('a')}` }}${withCommands(
    prose`restart ${named('a')} and ${named('b')}`,
    [meshwright('reboot', 'a', '--now'), 'ssh a'],
  )}\n${withTail(meshwright('exec', its.node, 'a'), 'a')}`;

  it('replaces node names only where a node is named', () => {
    const two = mapNames(everywhere, (name) => (name === 'a' ? ['x', 'y'] : [name]));
    expect(plainText(two)).toBe(
      'x, y: First look at x, y; then restart x, y and b:\n  meshwright reboot x y --now\n  ssh a\nmeshwright exec NODE x y -- a',
    );
    expect(mapNames(everywhere, (name) => [name])).toEqual(everywhere);
    const left: Part = { kind: 'applied', text: 'a', isLeft: true };
    expect(mapNames([left], () => ['x'])).toEqual([left]);
  });
});

describe('command lines in a text', () => {
  const text = withCommands('Start it again', [meshwright('start', 'a'), 'sudo reboot', chat]);

  it('are removed one by one, the last with the colon before it', () => {
    expect(plainText(withoutLines(text, [chat]))).toBe('Start it again:\n  meshwright start a\n  sudo reboot');
    expect(plainText(withoutLines(text, [meshwright('stop', 'other')]))).toBe(plainText(text));
    const only = prose`${withCommands('Stop it', [chat])}\nThen pull.`;
    expect(plainText(withoutLines(only, [aside(chat)]))).toBe('Stop it.\nThen pull.');
  });

  it('do not include commands inside a sentence', () => {
    expect(withoutLines(prose`Stop it: ${chat}`, [chat])).toEqual(prose`Stop it: ${chat}`);
  });

  it('may follow a complete sentence', () => {
    expect(plainText(withCommands('Restart it', [meshwright('reboot', 'a')], '.'))).toBe(
      'Restart it.\n  meshwright reboot a',
    );
  });
});

describe('a first action in a text', () => {
  const applied: Part = { kind: 'applied', text: 'remove the Thunderbolt Bridge on a', isLeft: false };
  const before = prose`${{ kind: 'first', act: prose`${applied}, and look` }}put the cable back.`;
  const shown = 'First remove the Thunderbolt Bridge on a, and look; then put the cable back.';

  it('starts a sentence with "First", unless it follows an earlier action', () => {
    expect(plainText(before)).toBe(shown);
    expect(plainText(behindFirst(before))).toBe(
      'remove the Thunderbolt Bridge on a, and look; then put the cable back.',
    );
    for (const other of ['Put it back.', prose`${named('a')} is off.`]) expect(behindFirst(other)).toBe(other);
  });

  it('is left to apply if apply performs it', () => {
    expect(plainText(leftToApply(before))).toBe(
      'First let apply remove the Thunderbolt Bridge on a, and look; then put the cable back.',
    );
    expect(plainText(leftToApply([applied, ' first.']))).toBe('let apply remove the Thunderbolt Bridge on a first.');
    expect(leftToApply('Put it back.')).toBe('Put it back.');
    expect(plainText(before)).toBe(shown);
  });
});

describe('a command in a text', () => {
  const shell = withTail(meshwright('exec', 'a', '--json'), 'env', 'kill', blank('PID'));
  const words: readonly CommandWord[] = [its.node, '--out', blank('FILE')];

  it('has --sim if the fleet is simulated', () => {
    const text = prose`Restart it: ${meshwright('reboot', 'a')}. ${withCommands('Or', [shell, 'sudo reboot'])}`;
    expect(proseText(text, simulated)).toBe(
      'Restart it: meshwright reboot a --sim. Or:\n  meshwright exec a --json --sim -- env kill PID\n  sudo reboot',
    );
    expect(plainText(text)).toBe(
      'Restart it: meshwright reboot a. Or:\n  meshwright exec a --json -- env kill PID\n  sudo reboot',
    );
    expect(proseText(prose`${{ kind: 'first', act: prose`stop it (${aside(chat)})` }}pull.`, simulated)).toBe(
      'First stop it (meshwright stop chat --sim); then pull.',
    );
  });

  it('has no --sim if it contacts no node', () => {
    for (const verb of ['validate', 'sim up', 'sim hands', 'fit'] as const) {
      expect(commandText(meshwright(verb), simulated)).toBe(`meshwright ${verb}`);
    }
  });

  it('shows placeholders and escapes control characters', () => {
    expect(commandText(meshwright('plan', ...words), simulated)).toBe('meshwright plan NODE --out FILE --sim');
    const evil = withTail(meshwright('exec', 'a\u001b'), 'b\u202e');
    expect(commandText(evil, { isSimulated: false })).toBe(String.raw`meshwright exec a\u{1b} -- b\u{202e}`);
  });
});
