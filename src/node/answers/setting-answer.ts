import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled } from './read-answer.ts';
import { readRecords } from './records.ts';

const settings =
  'updates login names screen-sharing remote-login override firewall block-all backups photos search-path'.split(' ');

const headForm = /^([a-z-]+) (\d{1,3}|unreadable|absent)$/;

/** A setting's record in the probe's answer: exit status and output. One invalid line makes the answer garbled. */
export function settingAnswer(
  answer: Answer | undefined,
  setting: string,
): Known<{ readonly code: string; readonly lines: readonly string[] }> {
  const records = readRecords(answer);
  if (records.kind === 'unknown') return records;
  const heads = records.value.map(({ head }) => headForm.exec(head) ?? []);
  const names = heads.map(([, name = '']) => name);
  if (names.some((name) => !settings.includes(name)) || new Set(names).size < names.length) {
    return garbled(answer, 'printed a record of an unknown setting');
  }
  const at = names.indexOf(setting);
  const code = heads[at]?.[2];
  if (code === undefined) return garbled(answer, `printed no record of ${setting}`);
  if (code === 'unreadable') return unknown('no-privilege', `The preferences of ${setting} cannot be read.`);
  if (code === 'absent') return unknown('failed', `The folder of the preferences of ${setting} does not exist.`);
  if (code === '127') return unknown('tool-missing', `${setting}: this node has no such tool (exit 127).`);
  return known({ code, lines: records.value[at]?.lines ?? [] });
}

/**
 * The output of `defaults read` for one key; undefined if the key is not set. In that case, the tool exits with 1,
 * after a line with its name and the time:
 *
 * 2026-11-20 21:27:46.123 defaults[4711:98765] The domain/default pair of (/Library/Preferences/com.apple.loginwindow,
 * autoLoginUser) does not exist
 */
export function preference(answer: Answer | undefined, setting: string, key: string): Known<string | undefined> {
  const said = settingAnswer(answer, setting);
  if (said.kind === 'unknown') return said;
  const { code, lines } = said.value;
  const [first, ...more] = lines;
  if (code === '0' && first !== undefined && more.length === 0) return known(first);
  const isUnset = new RegExp(`^The domain/default pair of \\(.+, ${key}\\) does not exist$`).test(lines.at(-1) ?? '');
  if (code === '1' && isUnset && lines.length <= 2) return known(undefined);
  return garbled(answer, `printed neither a value of ${key} nor that it is not set`);
}
