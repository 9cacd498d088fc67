import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { formPattern, valuesIn } from '../../../../src/sim/tools/forms.ts';
import { applyWrite } from '../../../../src/sim/tools/registry.ts';
import { simulated } from '../../../rack/rack.ts';

const path = '/Library/Preferences/some.plist';

/** A form, matching arguments, and the values of its placeholders. */
const known: readonly (readonly [form: string, args: readonly string[], values: readonly string[]])[] = [
  ['bridge0 create', ['bridge0', 'create'], []],
  ['-setmanual SERVICE ADDRESS', ['-setmanual', 'Thunderbolt 2', '10.0.0.1'], ['Thunderbolt 2', '10.0.0.1']],
  ['-i on|off VOLUME', ['-i', 'off', '/'], ['off', '/']],
  ['en* inet ADDRESS -alias', ['en3', 'inet', '10.0.0.1', '-alias'], ['3', '10.0.0.1']],
  ['bootout system/LABEL', ['bootout', 'system/dev.one'], ['dev.one']],
  ['-w iogpu.limit=VALUE', ['-w', 'iogpu.limit='], ['']],
  ['. -delete /Users/NAME|/Groups/NAME', ['.', '-delete', '/Groups/one'], ['/Groups/one']],
  [`-c 'Print :KEY...' ${path}`, ['-c', 'Print :a:b', path], ['a:b']],
  ['-order SERVICE ...', ['-order', 'one', 'two words', 'three'], ['one', 'two words', 'three']],
];

const unknown: readonly (readonly [form: string, args: readonly string[]])[] = [
  ['bridge0 create', ['bridge1', 'create']],
  ['bridge0 create', ['bridge0', 'create', 'now']],
  ['-i on|off VOLUME', ['-i', 'maybe', '/']],
  ['en* inet ADDRESS -alias', ['lo0', 'inet', '127.0.0.1', '-alias']],
  ['. -delete /Users/NAME|/Groups/NAME', ['.', '-delete', '/Hosts/one']],
  ['-order SERVICE ...', ['-order']],
];

describe('a command line form', () => {
  it.each(known)('extracts placeholder values: %s', (form, args, values) => {
    expect(valuesIn(form, args)).toEqual(values);
  });

  it.each(known)('matches in the shell, even below a root: %s', (form, args) => {
    const typed = args.map((word) => (word === path ? `/root${word}` : word));
    const { status } = spawnSync('sh', [
      '-c',
      `case "$#:$*" in (${formPattern(form)}) ;; (*) exit 1 ;; esac`,
      'sh',
      ...typed,
    ]);
    expect(status).toBe(0);
  });

  it.each(unknown)('does not match other arguments: %s with %j', (form, args) => {
    expect(valuesIn(form, args)).toBeUndefined();
  });

  it('changes nothing if no tool has it, even for root', () => {
    const fleet = simulated();
    const ask = { node: 'studio-1', tool: '/sbin/shutdown', args: ['-k', 'now'], isRoot: true };
    expect(applyWrite(fleet, ask)).toMatchObject({ fleet, isKnown: false, exitCode: 1, stdout: '' });
  });
});
