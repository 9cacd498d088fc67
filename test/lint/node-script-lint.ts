/**
 * A linter for scripts that run on a Mac. It reports forms that work in dash with GNU tools but fail on a Mac;
 * shellcheck and checkbashisms miss these. The table lists the differences between BSD and GNU tools.
 */

/** A finding of the linter. */
export interface Finding {
  readonly rule: string;
  readonly line: number;
  readonly text: string;
}

/** A form of a tool that macOS rejects or interprets differently. */
interface ToolRule {
  readonly tool: string;
  readonly options: RegExp;
}

/** Each row has a tool and its forbidden arguments. */
const gnuForms: readonly ToolRule[] = [
  { tool: 'stat', options: /(?:^| )(?:-c|--format|--printf|-L?c)\b/ },
  { tool: 'sed', options: /(?:^| )-i(?! '')|\\\+|\\\?|0,\// },
  { tool: 'sed', options: /s(.).*\1.*\\[nt].*\1/ },
  { tool: 'date', options: /(?:^| )(?:-d|-I|--date|--iso-8601|-u?d)\b|%\d?N/ },
  // macOS has `-f` since 12.3.
  { tool: 'readlink', options: /(?:^| )-[em]\b/ },
  { tool: 'realpath', options: /(?:^| )-/ },
  { tool: 'base64', options: /(?:^| )-w/ },
  { tool: 'df', options: /--output|-B|(?:^| )-h?T/ },
  { tool: 'find', options: /-printf|^ *-|-regextype/ },
  { tool: 'mktemp', options: /--|(?:^| )-p\b|^ *(?:-d)? *$/ },
  { tool: 'ps', options: /--|(?:^|[ ,])cmd\b|etimes/ },
  { tool: 'xargs', options: /(?:^| )-d/ },
  { tool: 'head', options: /-[nc] *-\d|-c *\d+[KMG]/ },
  { tool: 'tail', options: /-c *\+?\d+[KMG]|--pid|--retry/ },
  { tool: 'cp', options: /(?:^| )-[a-z]*[tT]|--/ },
  { tool: 'mv', options: /(?:^| )-[a-z]*[tT]|--/ },
  { tool: 'ln', options: /(?:^| )-[a-z]*[tT]|--/ },
  { tool: 'du', options: /(?:^| )-[a-z]*b|--/ },
  { tool: 'ls', options: /--/ },
  { tool: 'sort', options: /--|(?:^| )-[a-z]*V/ },
  { tool: 'grep', options: /(?:^| )-[a-zA-Z]*P/ },
  { tool: 'tar', options: /--zstd|--transform/ },
  { tool: 'wc', options: /--|-L/ },
  { tool: 'rm', options: /--/ },
  { tool: 'sleep', options: /\d[smhd]\b|infinity/ },
];

/** Tools that macOS lacks, or on which meshwright must not rely. */
const absentTools =
  'timeout flock setsid sha256sum sha1sum md5sum nproc tac numfmt ip ss free getent systemctl service apt-get yum brew ' +
  'python python3 node realpath gsed gdate greadlink';

/** Forms of bash or ksh that dash rejects, and forms with a different meaning in each shell. */
const shellForms: readonly (readonly [string, RegExp])[] = [
  // If the file cannot be written, this form exits the shell, because `:` is a special built-in; `true >` does not.
  ['colon-redirected', /(?:^|[;&|({]|\b(?:then|do|else)\b)\s*:\s*>/],
  ['echo', /(?:^|[;&|({]|\b(?:then|do|else)\b)\s*echo\b/],
  ['double-brackets', /(?:^|\s)\[\[\s/],
  ['local', /(?:^|[;{]|\bdo\b)\s*(?:local|declare|typeset)\s/],
  ['array', /\b[a-zA-Z_]\w*=\(/],
  ['function-word', /(?:^|;)\s*function\s+\w/],
  ['source', /(?:^|;)\s*source\s/],
  ['here-string', /<<</],
  ['both-streams', /&>|>&\s*[a-z./"]/],
  ['process-substitution', /[<>]\(/],
  ['dollar-quote', /\$'/],
  ['brace-range', /\{\d+\.\.\d+\}/],
  ['test-equals', /\[ [^\]]*==/],
  ['substring', /\$\{\w+:\d/],
  ['case-change', /\$\{\w+(?:\^\^?|,,?)\}/],
  ['pipefail', /\bpipefail\b/],
  ['read-option', /\bread\s+-[a-qs-z]/],
  ['trap-err', /\btrap\b.*\b(?:ERR|DEBUG|RETURN)\b/],
  ['printf-q', /\bprintf\s+(?:-v|['"]?%q)/],
];

/** All parts of a script that would fail on a Mac, in line order. */
export function lintNodeScript(script: string): readonly Finding[] {
  const lines = script.split('\n').flatMap((text, at) => (/^\s*#/.test(text) ? [] : [{ text, line: at + 1 }]));
  const findings = lines.flatMap(({ text, line }) =>
    rulesBroken(text).map((rule) => ({ rule, line, text: text.trim() })),
  );
  return [...findings, ...barePatterns(script)].sort((a, b) => a.line - b.line);
}

function rulesBroken(text: string): readonly string[] {
  return [
    ...shellForms.filter(([, form]) => form.test(text)).map(([rule]) => rule),
    ...(barePath(text) ? ['path-without-root'] : []),
    ...gnuForms.filter(({ tool, options }) => wordsOf(text, tool).some((words) => options.test(words))).map(gnuRule),
    ...absentTools
      .split(' ')
      .filter((tool) => wordsOf(text, tool).length > 0)
      .map((tool) => `absent-tool:${tool}`),
  ];
}

const gnuRule = ({ tool }: ToolRule): string => `gnu-form:${tool}`;

/** Records of accounts and groups in dscl's notation, and two values of an account. */
const inDirectory =
  /["']?\/(?:Users|Groups)(?:\/(?:_mesh\w+|\$(?:n|name|1)))?["']?(?=[ ;]|$)|(?:NFSHomeDirectory|UserShell):? '?\/(?:var\/empty|usr\/bin\/false)'?/g;

/**
 * True if the line has an absolute path whose first slash does not follow `$R`, a different variable or a name.
 * Devices are the same for every node, also in the portable simulator. URLs and directory records are not paths.
 */
function barePath(text: string): boolean {
  const own = text.replaceAll(/\/dev\/(?:null|urandom)|https?:\/\//g, '').replaceAll(inDirectory, '');
  return [...own.matchAll(/(["']?)\/(?=[A-Za-z])/g)].some((match) => {
    const before = own.slice(0, match.index);
    if (match[1] !== '') return !/\$\{?\w+\}?"?$/.test(before);
    return !/[\w}*.$%)\]-]$/.test(before);
  });
}

/** The arguments of each call of a tool on the line. */
function wordsOf(text: string, tool: string): readonly string[] {
  const call = new RegExp(
    `(?:^|[;&|({!]|\\$\\(|\\b(?:then|do|else|exec|if|while)\\b)\\s*(?:"[^"]*/|[^\\s"'=]*/)?${tool}"?(?=\\s|$|\\))`,
    'g',
  );
  return [...text.matchAll(call)].map((match) => text.slice(match.index + match[0].length).split(/[;|&)]/)[0] ?? '');
}

/** Patterns of a `case` without an opening parenthesis, which bash 3.2 rejects inside `$( )`. */
function barePatterns(script: string): readonly Finding[] {
  const form = /(?:\bcase\s+\S+\s+in|;;)\s*(?!\(|esac\b|\s)[^\s;][^\n;]*?\)/g;
  return [...script.matchAll(form)].map((match) => ({
    rule: 'bare-case-pattern',
    line: script.slice(0, match.index).split('\n').length,
    text: match[0].trim(),
  }));
}
