import { describe, expect, it } from 'vitest';
import { codes } from '../../src/diagnostics/codes.ts';
import { filesBelow, textOf } from './sources.ts';

const names = Object.keys(codes);
const documented = textOf('docs/errors.md');

/** Everything that could provoke a code and say so; this folder only counts them. */
const tested = filesBelow('test')
  .filter((path) => !path.startsWith('test/architecture/'))
  .map((path) => `${path}\n${textOf(path)}`)
  .join('\n');

const spoken = filesBelow('src')
  .filter((path) => path.endsWith('.ts') && !path.startsWith('src/diagnostics/codes'))
  .map(textOf)
  .join('\n');

describe('diagnostic codes', () => {
  it('are an area and a slug', () => {
    expect(names.filter((name) => !/^[a-z]+\/[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  it('say in full sentences what is wrong, why, and what to do', () => {
    const bare = Object.entries(codes).filter(
      ([, { summary, cause, hint }]) => !/[.?]$/.test(summary) || !/[.?]$/.test(cause) || hint.length < 10,
    );
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it('are all explained in docs/errors.md', () => {
    expect(names.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  it('are all used by the product', () => {
    expect(names.filter((name) => !spoken.includes(`'${name}'`))).toEqual([]);
  });

  it('are all provoked by a test', () => {
    expect(names.filter((name) => !new RegExp(`${name}(?![a-z0-9-])`).test(tested))).toEqual([]);
  });
});
