import type { NodePath } from '../../model/node-path.ts';
import { below, place } from './node-paths.ts';

/** What was made for an account of ours, as `uid=450 id=…`; it is written when the account is whole. */
export const accountFile = (name: string): NodePath => below(place.accounts, name);

/** Lies there with the number of an account while it is being made. */
export const accountBegun = (name: string): NodePath => below(place.accounts, `${name}.begun`);

/** Root's own folder with those of an account: what it may write has no other parent. */
export const accountFolder = (name: string): NodePath => below(place.accounts, `folders/${name}`);

/** The results of the tests of the account on the last build of macOS: one per line, below that build; a failed one begins with `!`. */
export const accountChecked = (name: string): NodePath => below(place.accounts, `${name}.checked`);

/** Root's own; exists only while the account is checked. */
export const accountCheckFolder = (name: string): NodePath => below(accountFolder(name), 'check');

/** Its home: that of its record cannot be written. */
export const accountHome = (name: string): NodePath => below(accountFolder(name), 'home');

/** What it has instead of /tmp, which others read. */
export const accountTemporary = (name: string): NodePath => below(accountFolder(name), 'tmp');

/** What a program that runs as an account of ours has to know: where it may write. */
export const accountEnvironment = (name: string): Readonly<Record<string, NodePath>> => ({
  HOME: accountHome(name),
  HF_HOME: below(accountHome(name), 'huggingface'),
  PYTHONPYCACHEPREFIX: below(accountHome(name), 'pycache'),
  TMPDIR: accountTemporary(name),
});
