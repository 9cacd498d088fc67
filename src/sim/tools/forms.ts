/**
 * Forms of command lines as in a manual page, such as `-setmanual SERVICE ADDRESS MASK`. A word in capitals matches any
 * word, also after a fixed prefix (`system/LABEL`). `en*` matches a word with this prefix, `on|off` one of these words.
 * A quoted word contains blanks, and `...` at the end matches any number of words.
 */

const openEnd = ' ...';

/** The words of a form. Each is a fixed word, a prefix, or a choice of these. */
const wordsOf = (form: string) =>
  (form.replace(openEnd, '').match(/'[^']*'|\S+/g) ?? []).map((word) => ({
    choices: word
      .replaceAll("'", '')
      .split('|')
      .map((one) => {
        const [, head] = /^(|.*[/=:])[A-Z][A-Z-]*(?:\.\.\.)?$/.exec(one) ?? /^(.*)\*$/.exec(one) ?? [];
        return { head: head ?? one, isWhole: head === undefined };
      }),
  }));

/** The variable part of an argument, empty for a fixed word; undefined if the argument does not match. */
function openPart({ choices }: ReturnType<typeof wordsOf>[number], word: string): readonly string[] | undefined {
  const choice = choices.find(({ head, isWhole }) => (isWhole ? word === head : word.startsWith(head)));
  if (choice === undefined) return undefined;
  if (choices.length > 1) return [word];
  return choice.isWhole ? [] : [word.slice(choice.head.length)];
}

/** The variable parts of these arguments in order, the chosen word for a choice. Undefined without a match. */
export function valuesIn(form: string, args: readonly string[]): readonly string[] | undefined {
  const words = wordsOf(form);
  const isOpen = form.endsWith(openEnd);
  if (isOpen ? args.length < words.length : args.length !== words.length) return undefined;
  const values = args.map((arg, at) => {
    const word = words[at];
    return word === undefined ? [arg] : openPart(word, arg);
  });
  return values.includes(undefined) ? undefined : values.flatMap((value) => value ?? []);
}

/** An sh pattern for `<count>:<arguments>` that matches at least this form. Paths there have the root prefix. */
export function formPattern(form: string): string {
  const any = '\0';
  const words = wordsOf(form);
  const count = form.endsWith(openEnd) ? any : String(words.length);
  const texts = words.map(({ choices: [first, ...others] }) => {
    const { head = '', isWhole = false } = first ?? {};
    if (others.length > 0 || head.startsWith('/')) return any;
    return isWhole ? head : `${head}${any}`;
  });
  return `${count}:${texts.join(' ')}`
    .split(any)
    .map((part) => part && `'${part}'`)
    .join('*');
}
