import { type DraftText, list, member, pointerTo, type RawText, record, textOf } from './draft-values.ts';

interface Source {
  readonly value: unknown;
  readonly pointer: string;
}

/** Of each source of a secret that is a program, the word that names it. */
export function secretPrograms(root: unknown, raw: RawText): readonly DraftText[] {
  return sources(root).flatMap(({ value, pointer }) => {
    const [first] = list(member(value, 'command'));
    const program = textOf(first, `${pointer}/command/0`, raw);
    return program === undefined ? [] : [program];
  });
}

/** Passwords of accounts, and keys of endpoints, of which there may be several. */
function sources(root: unknown): readonly Source[] {
  const entries = (section: string): readonly Source[] =>
    Object.entries(record(member(root, section))).map(([name, value]) => ({
      value,
      pointer: pointerTo(`/${section}`, name),
    }));
  const below = ({ value, pointer }: Source, key: string): Source => ({
    value: member(value, key),
    pointer: `${pointer}/${key}`,
  });
  const each = ({ value, pointer }: Source): readonly Source[] =>
    Array.isArray(value)
      ? value.map((one: unknown, index) => ({ value: one, pointer: `${pointer}/${index}` }))
      : [{ value, pointer }];
  return [
    below({ value: member(root, 'ssh'), pointer: '/ssh' }, 'password'),
    ...entries('nodes').map((node) => below(node, 'password')),
    ...entries('placements').flatMap((one) => each(below(below(one, 'endpoint'), 'apiKey'))),
  ];
}
