import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { baselineValues } from '../../../../src/rack/uninstall/baseline-setting.ts';
import { ours } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { everyText, inScript } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';
import { answer, left, type WholeMac, wholeMac } from './whole-mac.ts';

const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);
const newRoot = removedAfter((script: string) => {
  const mac = wholeMac(shell, script);
  return { ...mac.root, mac };
});

/** Scripts with real processes or several parties, which have separate tests. */
const apart = new Set(['settle-transaction', 'stop-rank', 'restore-value', 'drain-endpoint']);
const values = baselineValues.filter(({ restore }) => restore !== undefined).map(({ key }) => `restore-value ${key}`);
const names = [
  ...everyText('')
    .flatMap(([name]) => (name.startsWith('script ') ? [name.slice(7)] : []))
    .filter((name) => !apart.has(name)),
  ...values,
  ...['put', 'renew a lease', 'release a lease'],
];

/** The text of a script for the root of a Mac. */
function textOf(name: string, folder: string): string {
  const [script = '', key = ''] = name.split(' ');
  if (script === 'restore-value') {
    return inScript(scriptBody({ name: script, args: { key } } as ScriptCall), folder);
  }
  return new Map(everyText(folder)).get(`script ${name}`) ?? new Map(everyText(folder)).get(name) ?? '';
}

/** Tools that only read, and calls in the frame that all scripts share. */
const around = /^(?:awk|cat|cksum|date|find|head|ps|sh|sleep|tail|wc|vm_stat) |\/log$|\/lease\/busy\.\d+$/;

const plain = (mac: WholeMac, text: string): string =>
  text
    .replaceAll(mac.root.folder, '')
    .replaceAll(`/${ours}`, 'OURS')
    .replaceAll(
      /(?<=(?:hold|record|request|process|start|starts|baseline|golden|files\/\w+|heartbeat|owner|seal|released|authorized_keys|_meshrank|begun|program|paths|plist|checked)\.)\d{2,7}(?= |$)|(?<=\.(?:removed|replaced)-)\d+/gm,
      'PID',
    )
    .replaceAll(/(?<=meshwright-own: )[\w+/]{43}=/g, 'SECRET')
    .replaceAll(/(?<=cksum=)\d+ \d+/g, 'SUM')
    .replaceAll(/(?<=user\/)\d+/g, 'UID')
    .replaceAll(exampleHex, (hex) => `${hex.slice(0, 4)}…`);
const exampleHex = /[0-9a-f]{64}/g;

/** The kind of a call: of several calls that differ only in names, one is enough. Calls on files keep their names. */
const verbOf = (call: string): string =>
  /^(?:rm|mv|ln|cp|mkdir|chmod|chown|rmdir) /.test(call)
    ? call
    : call.replace(/^(ifconfig) \S+( ?\S*).*/, '$1$2').replace(/^(PlistBuddy -c \S+|(?!ifconfig)\S+ \S+).*/, '$1');

/** One page: a script's calls, the changes that it leaves, and its result when each of its tools fails. */
async function page(name: string): Promise<string> {
  const { mac } = newRoot(name);
  const text = textOf(name, mac.root.folder);
  const was = mac.root.tree();
  const first = await mac.run(text);
  const now = mac.root.tree();
  const again = await mac.run(text);
  const done = new Map(first.calls.filter((call) => !around.test(call)).map((call) => [verbOf(call), call]));
  const lines = [
    `== ${name}: ${answer(first)}; again: ${answer(again)}`,
    ...first.calls.filter((call) => !around.test(call) || call.startsWith('sleep')),
    ...left(was, now).map((line) => line.replaceAll('\n', '|')),
  ];
  for (const call of done.values()) {
    mac.reset();
    const start = call.replace(/(?<=\.|-)\d{2,7}(?: .*|-.*)?$/, '').slice(0, -1);
    const failed = await mac.run(text, start);
    const times = failed.calls.filter((one) => one.startsWith(start)).length;
    const sleeps = failed.calls.filter((one) => one.startsWith('sleep ')).length;
    const often = times === 1 && sleeps === 0 ? '' : ` ${times} times, ${sleeps} sleeps`;
    lines.push(`refused${often}: ${call} -> ${answer(failed)}`);
  }
  return plain(mac, `${lines.join('\n')}\n`);
}

describe('each node script', () => {
  it('does its work once and reports which tool failed', async () => {
    const pages: string[] = [];
    for (const name of names) pages.push(await page(name));
    await expect(pages.join('\n')).toMatchFileSnapshot('golden/tool-fails.txt');
  });
});
