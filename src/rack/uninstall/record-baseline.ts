/**
 * The baseline of a node: what apply changes, as it was before. Every value is a file, made whole beside its place and
 * linked to it, which fails where it is there already: nobody ever writes over one. An empty file is a value that
 * nobody could read then; it is not read again, since by then it may be ours.
 */

import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { posixCksum } from '../../node/posix-cksum.ts';
import { type BaselineValue, baselineValues } from './baseline-values.ts';

/** Tells one list of values from another, so that a later version notices that some are missing. */
const listMark = (values: readonly BaselineValue[]): string =>
  posixCksum(new TextEncoder().encode(values.map(({ key }) => key).join(' '))).replace(' ', '-');

const valueLines = ({ key, read }: BaselineValue): string => `if isnew ${key}; then
  (
    ${read}
  ) >"$k.$$" 2>/dev/null || true >"$k.$$"
  keep
fi`;

/**
 * Writes down the values of settings from before the first change, for uninstall; one test of a file when all of it
 * is. They stand before the lease is taken, so that a node on which there is a lease has its baseline, and whatever
 * fails in them keeps nobody from it.
 */
export function recordBaselineLines(values: readonly BaselineValue[] = baselineValues): string {
  const mark = pathWord(below(place.baseline, `.whole-${listMark(values)}`));
  return `isnew() {
  k=${pathWord(place.baseline)}/$1
  [ ! -e "$k" ]
}
keep() {
  ${pathWord(tool.ln)} "$k.$$" "$k" 2>/dev/null
  ${pathWord(tool.rm)} -f "$k.$$"
}
record() {
  ${pathWord(tool.mkdir)} -p ${pathWord(place.baseline)} || return
${values.map(valueLines).join('\n')}
  for k in ${values.map(({ key }) => key).join(' ')}; do
    isnew "$k" && return
  done
  ${pathWord(tool.rm)} -f ${pathWord(place.baseline)}/*.*
  true >${mark}
}
[ -e ${mark} ] || record 2>/dev/null`;
}
