import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { driverOf } from '../../../src/drivers/registry.ts';
import type { DriverName } from '../../../src/model/desired.ts';
import { keptByAwk } from './llamacpp/kept-by-awk.ts';
import { linesOf } from './message-lines.ts';

const names: readonly DriverName[] = ['mlx', 'exo', 'llamacpp-rpc', 'command'];

describe.each(names)('the known messages of %s', (name) => {
  const { signatures, logPattern } = driverOf({ driver: name });
  const found = (line: string) => signatures.find(({ pattern }) => pattern.test(line));

  it.each(linesOf(name))('explain with $id: $line', ({ id, line }) => {
    expect(found(line)?.id ?? '-').toBe(id);
  });

  it('have a unique name, a line, a source with a version or number, and whole sentences', () => {
    const ids = signatures.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !linesOf(name).some((one) => one.id === id))).toEqual([]);
    for (const { source, meaning, cure } of signatures) {
      expect(source).toMatch(/\d|macOS|our program/);
      expect([meaning, plainText(cure)].filter((text) => !/^(?:[A-Z]|exo|mlx|macOS).*\.$/.test(text))).toEqual([]);
    }
  });

  it('are read from the log, except those whose remedy is to wait', () => {
    if (logPattern === '') return;
    const kept = linesOf(name).filter(({ line }) => (found(line)?.action ?? 'wait') !== 'wait');
    const lines = kept.map(({ line }) => line);
    expect(keptByAwk(logPattern, lines)).toEqual(lines);
    expect(logPattern).not.toContain('\\');
  });

  it('are found quickly, even in a long repetitive line', () => {
    expect(found("[jaccl] Creating the queue pair failed with '".repeat(2_000))?.action).toBe(
      name === 'mlx' || name === 'exo' ? 'reboot' : undefined,
    );
  });
});

it('a line that several runtimes print has one meaning, action and cure', () => {
  const differing = names.flatMap(linesOf).filter(({ line }) => {
    const found = names.flatMap((name) => {
      const { signatures } = driverOf({ driver: name });
      const first = signatures.find(({ pattern }) => pattern.test(line));
      return first === undefined ? [] : [JSON.stringify([first.id, first.meaning, first.action, first.cure])];
    });
    return new Set(found).size > 1;
  });
  expect(differing).toEqual([]);
});
