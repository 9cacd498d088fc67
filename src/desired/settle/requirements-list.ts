/** One package of a locked list. */
export interface Requirement {
  /** As package indexes compare names: lower case, with `-`. */
  readonly name: string;
  /** Absent for a package at a URL whose file name does not tell it. */
  readonly version?: string;
  /** Each the SHA-256 of a file that may come. */
  readonly hashes: readonly string[];
  /** Whether it comes from a URL of its own. */
  readonly isAtUrl: boolean;
  /** Whether it stands behind a marker, so that only some computers need it. */
  readonly isConditional: boolean;
}

/** A line that cannot stay as it is; counted from 1. */
export interface RequirementProblem {
  readonly line: number;
  /** A sentence without the place. */
  readonly text: string;
}

/** What a list of packages says. */
export interface RequirementsList {
  readonly packages: readonly Requirement[];
  readonly problems: readonly RequirementProblem[];
}

interface Entry {
  readonly line: number;
  readonly text: string;
}

/** Lines that end with a backslash go on with the next one; comments and empty lines are left out. */
function entriesOf(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  let begun: Entry | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const words = raw.replace(/(?:^|\s)#.*$/, '').trimEnd();
    const isOpen = words.endsWith('\\');
    const part = (isOpen ? words.slice(0, -1) : words).trim();
    const entry: Entry =
      begun === undefined ? { line: index + 1, text: part } : { ...begun, text: `${begun.text} ${part}` };
    if (isOpen) begun = entry;
    else {
      if (entry.text.trim() !== '') entries.push(entry);
      begun = undefined;
    }
  }
  return begun === undefined ? entries : [...entries, begun];
}

const indexOption = /^(?:-i|--index-url|--extra-index-url)[ =]\s*https:\/\/[^\s@]+$/;
const hash = /^--hash=sha256:([0-9a-f]{64})$/;
const pinned = /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9,._ -]*\])?\s*==\s*([A-Za-z0-9.+!_-]+)(?:\s*;.*)?$/;
const atUrl =
  /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9,._ -]*\])?\s*@\s*https:\/\/[^\s@]+\/([^\s/]+\.whl)(?:\s*;.*)?$/;

/** The name of a package as indexes compare it. @see PEP 503: normalized names */
export const canonicalName = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-');

function requirementOf(text: string): Requirement | string {
  if (text.startsWith('-')) {
    return indexOption.test(text)
      ? { name: '', hashes: [], isAtUrl: false, isConditional: false }
      : `\`${text.split(/[ =]/)[0]}\` has no place in a locked list; only an index by https has.`;
  }
  const words = text.trim().split(/\s+/);
  const from = words.findLastIndex((word) => !hash.test(word)) + 1;
  const wanted = words.slice(0, from).join(' ');
  const hashes = words.slice(from).flatMap((word) => hash.exec(word)?.[1] ?? []);
  const [, name = '', version] = pinned.exec(wanted) ?? [];
  const [, other = '', wheel = ''] = atUrl.exec(wanted) ?? [];
  const shown = wanted.split(/[\s;]/)[0] ?? '';
  if (name === '' && other === '') return `\`${shown}\` is pinned neither by == nor as a wheel at an https URL.`;
  if (hashes.length === 0) return `\`${shown}\` has no --hash=sha256:…, so anything could come under its name.`;
  const more = {
    hashes,
    isAtUrl: name === '',
    isConditional: wanted.includes(';'),
  };
  if (name !== '') return { name: canonicalName(name), ...(version === undefined ? {} : { version }), ...more };
  const ofWheel = wheel.split('-')[1];
  return { name: canonicalName(other), ...(ofWheel === undefined ? {} : { version: ofWheel }), ...more };
}

/**
 * Reads a list of packages as `uv pip compile --generate-hashes` makes it: every package has one version, or is a wheel
 * at a URL, and has hashes. Whatever else pip would take is a problem, since it is no lock.
 *
 * @see pip's requirements file format, and its hash-checking mode
 */
export function readRequirements(text: string): RequirementsList {
  const packages: Requirement[] = [];
  const problems: RequirementProblem[] = [];
  for (const { line, text: words } of entriesOf(text)) {
    const read = requirementOf(words);
    if (typeof read === 'string') problems.push({ line, text: read });
    else if (read.name !== '') packages.push(read);
  }
  return { packages, problems };
}
