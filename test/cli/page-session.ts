/** Runs the commands of a page of the documentation on a simulated rack, in the order of the page. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseDocument } from 'yaml';
import { verbs } from '../../src/cli/verbs.ts';
import { textOf } from '../architecture/sources.ts';
import { blocksOf, commandsIn, inOneLine } from '../page-text.ts';
import type { Ran } from './meshwright.ts';
import type { Place } from './place.ts';
import { shell } from './shell.ts';

/** What this test knows about a command of a page, or about a block of output. */
export interface Row {
  /** The command as the page has it, or the first line of the output. */
  readonly shows: string;
  /** Commands that bring the rack into the state that the page speaks of. */
  readonly before?: string;
  /** The command in its place, for what a test cannot do: type a password, plug in a cable, wait. */
  readonly runs?: string;
  /** The test whose text has these lines, for output that no simulated rack has. */
  readonly provenBy?: string;
  /** By default the number in the comment "exit 3", otherwise 0. */
  readonly exit?: number;
  /** Sentences of the page, and what the command then prints; spaces of the output count as one. */
  readonly claims?: Readonly<Record<string, RegExp>>;
}

interface Step {
  readonly kind: 'command' | 'output' | 'file';
  /** The text in the page. */
  readonly text: string;
  readonly comment: string;
  readonly row?: Row;
}

/** The commands of a page, the parts of cluster files and the blocks of output, each with its row of the table. */
export function stepsOf(page: string, rows: readonly Row[]): readonly Step[] {
  const found = blocksOf(page).flatMap(({ language, text }): readonly Step[] => {
    if (language === 'yaml') return [{ kind: 'file', text, comment: '' }];
    if (language === '') return [{ kind: 'output', text, comment: '' }];
    return commandsIn(text).map(({ command, comment }) => ({ kind: 'command', text: command, comment }));
  });
  const left = [...rows];
  const steps = found.map((step) => {
    const isNext = step.text.split('\n')[0]?.trim() === left[0]?.shows;
    const row = isNext ? left.shift() : undefined;
    return row === undefined ? step : { ...step, row };
  });
  if (left[0] !== undefined) throw new Error(`the page has no "${left[0].shows}" here`);
  return steps;
}

/** The exit code, a state or a number in a comment that no row checks. */
export function unchecked({ comment, row }: Step): string | undefined {
  const rest = Object.keys(row?.claims ?? {}).reduce((text, claim) => text.replace(claim, ''), inOneLine(comment));
  return /\d|\b(?:serving|stopped|hung|nothing)\b/i.exec(rest.replace(/\bexit \d+/, ''))?.[0];
}

/** A command for the simulated rack that needs no answer: with `--sim` and `--yes` where the command takes them. */
const simulated = (script: string): string =>
  script.replaceAll(
    /\bmeshwright ((?:-f \S+ )?)([a-z]+)( [a-z]+)?([^;&|>\n]*)/g,
    (_, file, first, second = '', rest) => {
      const verb = [`${first}${second}`, first].map((name) => verbs.find((one) => one.name === name)).find(Boolean);
      const needs = [verb?.uses.includes('reach') && '--sim', verb?.uses.includes('consent') && '--yes'];
      const added = needs.filter((one) => one !== false && one !== undefined && !rest.includes(one));
      const name = verb?.name ?? first;
      return `meshwright ${file}${[name, ...added].join(' ')}${name === first ? second : ''}${rest}`;
    },
  );

/** The rest of a shown text without values of a particular rack. */
const withoutValues = (text: string): string =>
  inOneLine(text)
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')
    .replaceAll(/\d[\d.]*/g, 'N')
    .replaceAll(/\bN (?:[kMGT]?B|[MG]bit|min|h)\b/g, 'N UNITS')
    .replaceAll('N UNITS of N UNITS', 'N of N UNITS');

/** A shell at a place, which remembers the folder that a command has gone to, and the last output. */
export class PageSession {
  #last = '';
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  get #folder(): string {
    const path = join(this.#place.root, 'folder');
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : this.#place.folder;
  }

  /** Runs a script where the one before has ended. */
  run(script: string): Promise<Ran> {
    const env = { PASSWORD: 'simulated', HF_TOKEN: 'simulated' };
    const ends = `trap 'pwd > "${this.#place.root}/folder"' EXIT`;
    return shell(this.#place, `${ends}\n${simulated(script)}`, { folder: this.#folder, env });
  }

  async #prepare(script: string): Promise<void> {
    const { code, stdout, stderr } = await this.run(script);
    expect(code, `${script}\n${stderr}\n${stdout}`).toBe(0);
  }

  /** Does one step of the page, and checks its row. */
  async take({ kind, text, comment, row }: Step): Promise<void> {
    if (row?.before !== undefined) await this.#prepare(row.before);
    if (kind === 'file') return this.#merge(text);
    const script = row?.runs ?? (kind === 'command' ? text : undefined);
    if (script !== undefined) {
      const ran = await this.run(script);
      const exit = row?.exit ?? Number(/\bexit (\d+)/.exec(comment)?.[1] ?? 0);
      this.#last = `${ran.stderr}\n${ran.stdout}`;

      expect(ran.code, `${script}\n${this.#last}`).toBe(exit);
    }
    if (kind === 'output') {
      const [found, lines] =
        row?.provenBy === undefined
          ? [this.#last, [text]]
          : [
              textOf(row.provenBy),
              text
                .replaceAll(/^studio-\d +/gm, '')
                .trim()
                .split('\n'),
            ];
      for (const line of lines) expect(withoutValues(found)).toContain(withoutValues(line));
    }
    for (const pattern of Object.values(row?.claims ?? {})) expect(inOneLine(this.#last)).toMatch(pattern);
  }

  /** Writes the keys of a part of a cluster file into the rack's file. */
  #merge(part: string): void {
    const path = join(this.#folder, 'cluster.yaml');
    const file = parseDocument(readFileSync(path, 'utf8'));
    for (const [group, values] of Object.entries(parseDocument(part).toJS() as Record<string, object>)) {
      for (const [key, value] of Object.entries(values)) file.setIn([group, key], file.createNode(value));
    }
    writeFileSync(path, file.toString());
  }
}
