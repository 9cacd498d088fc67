import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCode } from '../../src/cli/exit-codes.ts';
import { verbs } from '../../src/cli/verbs.ts';
import { filesBelow, root, table, textOf } from './sources.ts';

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...filesBelow('docs')].filter((path) =>
  path.endsWith('.md'),
);

describe('README.md', () => {
  it('shows both setup commands on its first screen', () => {
    const firstScreen = textOf('README.md').split('\n').slice(0, 25).join('\n');
    expect(firstScreen).toMatch(/^npm ci && npm run demo(?: |$)/m);
    expect(firstScreen).toMatch(/^npm ci && npm test(?: |$)/m);
  });
});

describe('docs/commands.md', () => {
  /** The first cells of the table rows of the page. */
  const cells = textOf('docs/commands.md')
    .split('\n')
    .flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1] ?? []);

  it('has exactly one row for each command', () => {
    const shown = cells.flatMap((cell) => [...cell.matchAll(/(?<=^|, )`([a-z]+)`/g)].map(([, name]) => name));
    const expected = verbs.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name.split(' ')[0]);
    expect([...new Set(shown)].sort()).toEqual([...new Set(expected)].sort());
  });

  it('has exactly one row for each exit code', () => {
    const shown = cells.flatMap((cell) => (/^[\d, ]+$/.test(cell) ? cell.split(', ').map(Number) : []));
    expect(shown).toEqual(Object.values(exitCode));
  });
});

describe('docs/architecture.md', () => {
  const rows = textOf('docs/architecture.md')
    .split('\n')
    .map((line) => /^\| `(\w+)` \|.*\| ([^|]*) \|$/.exec(line))
    .filter((row) => row !== null);

  it("shows the linters' import table", () => {
    const shown = Object.fromEntries(rows.map((row) => [row[1], row[2]]));
    const words = (folder: string, mayImport: readonly string[]): string => {
      if (folder === table.commandLine) return 'everything';
      if (folder === 'apply') return 'everything above except sim and report';
      return mayImport.length === 0 ? '–' : mayImport.join(', ');
    };
    const expected = Object.fromEntries(
      Object.entries(table.layers).map(([folder, may]) => [folder, words(folder, may)]),
    );
    expect(shown).toEqual(expected);
  });

  it("shows the linters' subject levels", () => {
    const shown = [...textOf('docs/architecture.md').matchAll(/^\| (\d+) \| ([^|]*) \|$/gm)];
    expect(shown.map((row) => [row[1], row[2]])).toEqual(
      table.levels.map((subjects, at) => [String(at + 1), subjects.join(', ')]),
    );
  });
});

describe('Markdown pages', () => {
  it('link only to existing files', () => {
    const broken = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => join(dirname(page), target ?? ''))
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  // A decision record never changes, so it may name a file that was deleted later.
  it('name only existing source files, except in decision records', () => {
    const current = pages.filter((page) => !page.startsWith('docs/adr/'));
    const gone = current.flatMap((page) =>
      [...textOf(page).matchAll(/`((?:src|test|scripts|schemas|docs)\/[\w./-]+\.(?:ts|mjs|cjs|json|md|sh))`/g)]
        .map(([, path]) => path ?? '')
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(gone).toEqual([]);
  });
});

describe('commands that list packages for Macs', () => {
  // Without the variable, uv assumes macOS 13, for which mlx has no wheels (uv 0.11.7 and 0.13.9).
  it('name the oldest macOS', () => {
    const commands = pages.flatMap((page) =>
      [
        ...textOf(page)
          .replaceAll(/\s+/g, ' ')
          .matchAll(/\S+ uv pip compile [^`|]*?--python-platform/g),
      ].map(([command]) => `${page}: ${command.split(' ')[0]}`),
    );
    expect(commands.length).toBeGreaterThan(2);
    expect(commands.filter((one) => !one.endsWith(': MACOSX_DEPLOYMENT_TARGET=26.0'))).toEqual([]);
  });
});

describe('CHANGELOG.md', () => {
  it('lists required operator actions for every version', () => {
    const sections = textOf('CHANGELOG.md').split(/^## /m).slice(1);
    expect(
      sections.filter((section) => !section.includes('### Operators must')).map((one) => one.split('\n')[0]),
    ).toEqual([]);
    expect(sections.length).toBeGreaterThan(0);
  });
});
