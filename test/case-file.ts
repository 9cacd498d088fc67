/**
 * A case as one text file, in the form in which `tail -v` prints several files: after a blank line, `==> NAME <==` begins
 * a section. The text before the first heading is the section `source`. A section has every byte up to the next heading
 * and its blank line, so an output without a final newline has no blank line after it.
 */
export function sectionsOf(text: string, names: readonly string[]): ReadonlyMap<string, string> {
  const parts = `\n==> source <==\n${text}`.split(/\n==> (.+) <==\n/).slice(1);
  const sections = new Map<string, string>();
  for (const [at, name] of parts.entries()) {
    if (at % 2 === 1) continue;
    if (sections.has(name) || !['source', ...names].includes(name))
      throw new Error(`The section ${name} is unexpected.`);
    sections.set(name, parts[at + 1] ?? '');
  }
  return sections;
}
