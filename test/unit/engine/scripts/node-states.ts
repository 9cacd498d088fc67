/** Tables of states of a node: how a script ends in each, and what it leaves. Each guard of a script has a row without it. */
import { mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { type MacEnd, type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

type Entry = string | null | { readonly link: string } | { readonly text: string; readonly age: number };

/**
 * What is at each path, relative to the root: a text, a link, or nothing (null). A path that ends with a slash is a
 * folder. A text in a folder of programs is the body of a tool, whose calls are recorded.
 */
export type NodeState = Readonly<Record<string, Entry>>;

/** A file, or a tool. */
export const at = (path: string, text: string) => ({ [path]: text });

/** Empty files, and folders. */
export const empty = (...paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, '']));

/** Paths where nothing is. */
export const gone = (...paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, null]));

/** A link to this target. */
export const linked = (path: string, link: string): NodeState => ({ [path]: { link } });

/** A file that was written so many seconds ago; a negative age is in the future. */
export const aged = (path: string, text: string, age: number): NodeState => ({ [path]: { text, age } });

/** The text at each path afterwards, null for nothing; or all calls of tools, with `$R` for the root. */
type Left = Readonly<Record<string, string | null>> | readonly string[];

/** Calls that only read, and pauses, are left out of a row; its golden page has them. */
const reads =
  /^(?:launchctl print|networksetup -(?:get|list)|ifconfig \S+$|PlistBuddy -c Print|ps |date |vm_stat|curl |sleep )/;

function apply(root: MacRoot, state: NodeState): void {
  for (const [path, entry] of Object.entries(state)) {
    const full = join(root.folder, path);
    if (typeof entry !== 'string') rmSync(full, { recursive: true, force: true });
    if (entry === null) continue;
    mkdirSync(path.endsWith('/') ? full : dirname(full), { recursive: true });
    if (typeof entry === 'string') {
      if (/^(?:usr\/)?(?:s?bin|libexec)\//.test(path)) root.recorded(path, entry);
      else if (!path.endsWith('/')) root.file(path, entry);
    } else if ('link' in entry) symlinkSync(entry.link, full);
    else {
      root.file(path, entry.text);
      utimesSync(full, Date.now() / 1_000 - entry.age, Date.now() / 1_000 - entry.age);
    }
  }
}

function endOf({ result, code, stdout }: MacEnd): string {
  if (result.kind === 'failed') return `${result.slug}: ${result.text}`;
  if (result.kind === 'done') return [...result.said, result.isChanged ? 'changed' : 'unchanged'].join(' ');
  return `${stdout.trim().replaceAll('\n', ' ')} exit ${code}`.trim();
}

/** The text at a path, null if nothing is there. */
function textAt(root: MacRoot, path: string): string | null {
  if (!root.has(path)) return null;
  return path.endsWith('/') ? '' : root.read(path);
}

/** One row of a table: the script in a state. */
interface Row {
  /** Adds states to the one that all rows have in common. */
  in(...states: readonly NodeState[]): Row;
  /**
   * Tests in each shell what the script prints, with `changed`, `unchanged`, `SLUG: TEXT` or `exit CODE` at the end, and
   * what it leaves.
   */
  ends(text: string, ...left: readonly Left[]): void;
}

/** What a row's script did, for the golden page of its table: its messages, every call in order, and what it changed. */
function traceOf(root: MacRoot, before: readonly string[], { stdout, stderr, code }: MacEnd): string {
  const after = root.tree();
  const lineOf = (mark: string, one: string): string => {
    const [, path, mode, text = ''] = /^(.*?) \d+(\d{3})(?: ([\s\S]*))?$/.exec(one) ?? [];
    const content = JSON.stringify(text.replaceAll(root.folder, '$R')).slice(1, -1);
    return `${mark} ${path} ${mode} ${content}`.slice(0, 180).trimEnd();
  };
  const lines = [
    ...`${stdout}\n${stderr}\nexit ${code}`.split('\n').filter((one) => one !== ''),
    ...root.calls().map((one) => `$ ${one}`),
    ...before.filter((one) => !after.includes(one)).map((one) => lineOf('-', one)),
    ...after.filter((one) => !before.includes(one)).map((one) => lineOf('+', one)),
  ];
  // Times and process numbers of this run are left out, and so is the wording of the shell's own messages. The two ends
  // of a pipe start in any order, and the writing end may or may not notice that the reading end has failed.
  return lines
    .map((one) => `  ${one.replaceAll(root.folder, '$R')}`)
    .join('\n')
    .replaceAll(/^( {2}\$ curl .*)\n( {2}\$ head -c .*)$/gm, '$2\n$1')
    .replaceAll(/\$R\/usr\/bin\/curl: \d+: printf: printf: I\/O error\\n/g, '')
    .replaceAll(/^( {2}\$ .*)(?:\n\1)+$/gm, (all, one: string) => `${one} (${all.split('\n').length} times)`)
    .replaceAll(/(?<=meshwright-own: )[\w+/]{43}=/g, 'SECRET')
    .replaceAll(/(?<=at=)\d{10}|(?<=\/pid \d+ |-seal\.)\d+/g, 'N')
    .replaceAll(/^ {2}(?:\S*dash: \d+: (?:cannot \w+ )?|\S+: line \d+: )(\S+): .*$/gm, '  shell: $1');
}

/** What the script of each row did, by file and shell, then by row. A repeated row replaces its trace. */
const traces = new Map<string, Map<string, string>>();

function tracesIn({ name }: Shell): Map<string, string> {
  const place = `${expect.getState().testPath} ${name}`;
  const found = traces.get(place) ?? new Map<string, string>();
  traces.set(place, found);
  return found;
}

/** Compares what the script of each row before called and changed with a golden page. */
export function comparesTraces(page: string): void {
  it.each(scriptShells)("each script's calls and changes match its page, in $name", async (shell) => {
    const rows = [...tracesIn(shell)].flat();
    await expect(`${rows.join('\n')}\n`).toMatchFileSnapshot(`golden/${page}.txt`);
  });
}

/** Returns a function that begins a row of a table. */
export function tableOf(name: string, common: NodeState = {}): (title: string, script: ScriptCall | string) => Row {
  const rowIn = (title: string, script: ScriptCall | string, states: readonly NodeState[]): Row => ({
    in: (...more) => rowIn(title, script, [...states, ...more]),
    ends: (ends, ...left) =>
      it.each(scriptShells)(`${name} ${title} in $name`, async (shell) => {
        const root = newRoot(shell);
        root.recorded('bin/sleep', 'exit 0');
        for (const state of states) apply(root, state);
        const before = root.tree();
        const ended = await root.runBody(typeof script === 'string' ? script : scriptBody(script));
        const end = endOf(ended);
        tracesIn(shell).set(`${name} ${title}`, traceOf(root, before, ended));
        const made = root.calls().filter((one) => !reads.test(one));
        const found = left.map((one) =>
          Array.isArray(one)
            ? made.map((call) => call.replaceAll(root.folder, '$R'))
            : Object.fromEntries(Object.keys(one).map((path) => [path, textAt(root, path)])),
        );
        expect([end.replaceAll(root.folder, '$R'), ...found]).toEqual([ends, ...left]);
      }),
  });
  return (title, script) => rowIn(title, script, [common]);
}

/**
 * launchd as files: `../launchd/LABEL` has the fields of a loaded service. What `bootstrap` makes it print is in
 * `../launchd.next`, and the overrides are in `../overrides`.
 */
export const launchd = `s="$R/../launchd" l=\${2##*/}
case $1 in
(print) [ -e "$s/$l" ] || { printf 'Could not find service "%s" in domain for system\\n' "$l" >&2; exit 113; }
  printf '%s = {\\n' "$2"; while IFS= read -r x; do printf '\\t%s\\n' "$x"; done <"$s/$l"; printf '}\\n' ;;
(bootout) [ -e "$s/$l" ] || exit 3; /bin/rm "$s/$l" ;;
(bootstrap) l=\${3##*/} l=\${l%.plist}; [ ! -e "$s/$l" ] || { printf 'Bootstrap failed: 5: Input/output error\\n' >&2; exit 5; }
  mkdir -p "$s"; /bin/cat "$R/../launchd.next" >"$s/$l" 2>/dev/null || printf 'state = waiting\\n' >"$s/$l" ;;
(print-disabled) printf 'disabled services = {\\n'; /bin/cat "$R/../overrides" 2>/dev/null; printf '}\\n' ;;
(disable) printf '\\t"%s" => disabled\\n' "$l" >>"$R/../overrides" ;;
(enable) ;;
esac`;
