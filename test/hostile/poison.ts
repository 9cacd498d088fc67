/** Texts that a terminal, a CI runner, a template engine or a shell might execute. */

/** A file that exists only if a node's output was executed; relative to the folder of the command. */
export const markFile = 'evaluated-by-a-program';

/** The text that only an evaluation of {@link poisons} prints. */
const evaluated = '60481729';

/** The texts by name; each is data and must be shown as data. */
export const poisons: Readonly<Record<string, string>> = {
  colour: '\u001b[31mred\u001b[0m',
  screen: '\u001b[2J\u001b[H\u001b[?1049h',
  title: '\u001b]0;title\u0007',
  link: '\u001b]8;;http://127.0.0.1/\u001b\\here\u001b]8;;\u001b\\',
  clipboard: '\u001b]52;c;aGVsbG8=\u0007',
  c1: '\u009b31mred\u009b0m\u009d0;title\u009c',
  overwrite: 'all is well\rfailed\b\b\b\b\b\bfine',
  nul: 'before\u0000after\u007f',
  bidi: 'user\u202Etxt.exe\u202C \u2066left\u2069',
  separators: 'one\u2028::error::two\u2029::error::three\u0085::error::four',
  invisible: 'in\u200Bvisi\u2060ble\uFEFF\u{E0041}',
  error: '\n::error file=cluster.yaml,line=1::boom\n',
  output: '\n::set-output name=token::secret\n  ::add-mask::x\n',
  stop: '\r\n::stop-commands::pause\r\n',
  old: '##[error]boom ##[command]x',
  template: '{{7777*7777}} ${7777*7777} <%= 7777*7777 %> #{7777*7777} ${{ 7777*7777 }}',
  shell: `$(touch ${markFile}) \`touch ${markFile}\` ; touch ${markFile} | touch ${markFile} && echo $((7777*7777))`,
  javascript: `');require('fs').writeFileSync('${markFile}','');('`,
  markup: '<script>document.write(7777*7777)</script>&quot;',
  lookup: '${jndi:ldap://127.0.0.1/x} %s %n %x __proto__ constructor',
};

/** All poisons as one text. */
export const everyPoison = Object.values(poisons).join(' ');

/** The harmful parts of a text for people or programs; empty if it is harmless. */
export function harmIn(text: string): readonly string[] {
  const harm: string[] = [];
  const raw = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
  for (const [found] of text.matchAll(raw)) {
    if (found !== '\n') harm.push(`raw U+${(found.codePointAt(0) ?? 0).toString(16)}`);
  }
  for (const line of text.split('\n')) {
    if (/^\s*::/.test(line)) harm.push(`command at the start of a line: ${line}`);
    if (line.includes('##[')) harm.push(`old command: ${line}`);
  }
  if (text.includes(evaluated)) harm.push('an expression was evaluated');
  return harm;
}
