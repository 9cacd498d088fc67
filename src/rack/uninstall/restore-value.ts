import type { ScriptArgs } from '../../model/node-script.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { baselineValues } from './baseline-values.ts';

/**
 * Sets one value back to what the baseline says, and reads it again. A tool may need a moment to show what it took.
 * @throws Error for a value that nothing sets back, which is our own choice
 */
export function restoreValue({ key }: ScriptArgs['restore-value']): string {
  const value = baselineValues.find((one) => one.key === key);
  if (value?.restore === undefined) throw new Error(`nothing sets ${key} back`);
  const file = pathWord(below(place.baseline, key));
  return `isback() {
  o=$(
    ${value.read}
  ) || return 1
  ${value.isBack ?? '[ "$o" = "$v" ]'}
}
setback() {
${value.restore}
}
v=$(${pathWord(tool.cat)} ${file} 2>/dev/null)
[ -n "$v" ] || failed no-baseline 'the baseline does not have this value'
isback && unchanged
s=$(setback 2>&1) || failed restore "\${s:-the value could not be set back}"
n=0
until isback; do
  n=$((n + 1))
  [ "$n" -lt 20 ] || failed restore 'the value was taken and another one is shown'
  ${pathWord(tool.sleep)} 0.25
done
changed`;
}
