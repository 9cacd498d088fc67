/**
 * Forms of command lines as a manual page writes them: `-setmanual SERVICE ADDRESS MASK`. A word in capitals is any word,
 * also behind a fixed beginning (`system/LABEL`), `en*` one that begins so, `on|off` one of these, a quoted word has
 * blanks in it, and `...` at the end means as many words as one likes.
 */

/** One word of a form: how it begins, and whether that is all of it; or a choice of such words. */
interface FormWord {
  readonly choices: readonly { readonly head: string; readonly isWhole: boolean }[];
}

const openEnd = ' ...';

const wordsOf = (form: string): readonly FormWord[] =>
  (form.replace(openEnd, '').match(/'[^']*'|\S+/g) ?? []).map((word) => ({
    choices: word
      .replaceAll("'", '')
      .split('|')
      .map((one) => {
        const [, head] = /^(|.*[/=:])[A-Z][A-Z-]*(?:\.\.\.)?$/.exec(one) ?? /^(.*)\*$/.exec(one) ?? [];
        return { head: head ?? one, isWhole: head === undefined };
      }),
  }));

/** What stands for one word of the form: nothing for a fixed one, else what follows its beginning; undefined for another word. */
function openPart({ choices }: FormWord, word: string): readonly string[] | undefined {
  const choice = choices.find(({ head, isWhole }) => (isWhole ? word === head : word.startsWith(head)));
  if (choice === undefined) return undefined;
  if (choices.length > 1) return [word];
  return choice.isWhole ? [] : [word.slice(choice.head.length)];
}

/**
 * What these arguments have in the places that the form leaves open, in order, and of a choice the word itself;
 * undefined when they do not have this form.
 */
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

/** A pattern of sh for `<count>:<arguments>` that no command line of this form misses; a path has a prefix there. */
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
