/** Tables of states of a node: how a script ends in each, and what it leaves. Each guard of a script has a row without it. */
import { mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { type MacEnd, type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

/** Paths are relative to the root. */
export interface NodeState {
  /** The text of each file; null if the path does not exist. A path that ends with a slash is a folder. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** The target of each link. */
  readonly links?: Readonly<Record<string, string>>;
  /** Files with their age in seconds; a negative age is in the future. */
  readonly ages?: Readonly<Record<string, number>>;
  /** Bodies of tools, whose calls are recorded. */
  readonly tools?: Readonly<Record<string, string>>;
}

/** What a script does. */
export interface Outcome {
  /** What it prints, then `changed`, `unchanged`, `SLUG: TEXT` or `exit CODE`. */
  readonly ends: string;
  /** The text of each file afterwards; null if nothing is there. */
  readonly leaves?: Readonly<Record<string, string | null>>;
  /** The calls of recorded tools that match, with `$R` for the root. */
  readonly calls?: readonly string[];
}

/** A predicate, the script, the state and the outcome. */
export type Row = readonly [title: string, call: ScriptCall | string, state: NodeState, outcome: Outcome];

function apply(root: MacRoot, { files = {}, links = {}, ages = {}, tools = {} }: NodeState): void {
  const at = (path: string): string => join(root.folder, path);
  for (const [path, text] of Object.entries(files)) {
    if (text === null) rmSync(at(path), { recursive: true, force: true });
    else if (path.endsWith('/')) mkdirSync(at(path), { recursive: true });
    else root.file(path, text);
  }
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    rmSync(at(path), { recursive: true, force: true });
    symlinkSync(target, at(path));
  }
  for (const [path, age] of Object.entries(ages))
    utimesSync(at(path), Date.now() / 1_000 - age, Date.now() / 1_000 - age);
  for (const [path, body] of Object.entries(tools)) root.recorded(path, body);
}

function endOf({ result, code, stdout }: MacEnd): string {
  if (result.kind === 'failed') return `${result.slug}: ${result.text}`;
  if (result.kind === 'done') return [...result.said, result.isChanged ? 'changed' : 'unchanged'].join(' ');
  return `${stdout.trim().replaceAll('\n', ' ')} exit ${code}`.trim();
}

/** Tests each row in each shell. `common` precedes the state of each row; `reads` are calls that are left out. */
export function itInEachState(
  name: string,
  rows: readonly Row[],
  common: NodeState = {},
  reads = /^launchctl print/,
): void {
  describe.each(scriptShells)(`${name} in $name`, (shell) => {
    it.each(rows)('%s', async (_, call, state, { ends, leaves = {}, calls }) => {
      const root = newRoot(shell);
      root.tool('bin/sleep', 'exit 0');
      apply(root, common);
      apply(root, state);
      const end = endOf(await root.runBody(typeof call === 'string' ? call : scriptBody(call)));
      const text = (path: string): string | null => {
        if (!root.has(path)) return null;
        return path.endsWith('/') ? '' : root.read(path);
      };
      const made = root.calls().filter((one) => !reads.test(one));
      expect({
        ends: end.replaceAll(root.folder, '$R'),
        leaves: Object.fromEntries(Object.keys(leaves).map((path) => [path, text(path)])),
        ...(calls === undefined ? {} : { calls: made.map((one) => one.replaceAll(root.folder, '$R')) }),
      }).toEqual({ ends, leaves, ...(calls === undefined ? {} : { calls }) });
    });
  });
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
