import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rankPort, rankSlot } from '../../../src/desired/endpoints.ts';
import { commandFields, fieldsIn, fillFields } from '../../../src/drivers/command/fields.ts';

describe('argument fields', () => {
  it('are names in braces, with their positions', () => {
    expect(fieldsIn('--listen={address}:{port}')).toEqual([
      { name: 'address', start: 9, end: 18 },
      { name: 'port', start: 19, end: 25 },
    ]);
    expect(fieldsIn('{"a": {}, "b": {1}} {{rank}}').map(({ name }) => name)).toEqual(['rank']);
  });

  it('are filled once, keeping the braces of their values', () => {
    const folder = { kind: 'node-path', path: '/opt/x' } as const;
    expect(fillFields('{runtime}/bin/{name}', (field) => [field === 'runtime' ? folder : '{rank}'])).toEqual([
      folder,
      '/bin/',
      '{rank}',
    ]);
    expect(fillFields('{"a": {zzz}}', () => ['never'])).toEqual(['{"a": {zzz}}']);
    expect(fillFields('', () => ['never'])).toEqual([]);
  });

  it("are all explained in the command's schema", () => {
    const { $defs } = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));
    const text: string = $defs.runtime.properties.command.description;
    const explained = [...text.matchAll(/\{([a-z]+)\}(?!:|\s+of every)/g)].map(([, name]) => name);
    expect(new Set(explained)).toEqual(new Set(Object.keys(commandFields)));
  });
});

describe('the port on which ranks meet', () => {
  it('is derived from the name and the generation, within 64 ports per name', () => {
    const first = 16_384 + 64 * rankSlot('kimi');
    expect([0, 1, 63, 64, 130].map((generation) => rankPort('kimi', generation) - first)).toEqual([0, 1, 63, 0, 2]);
  });

  it('is within the port range for any name', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `placement-${index}`);
    const slots = names.map(rankSlot);
    expect([Math.min(...slots), Math.max(...slots)]).toEqual([0, 255]);
    expect(Math.max(...names.map((name) => rankPort(name, 63)))).toBe(32_767);
    expect(Math.min(...names.map((name) => rankPort(name, 0)))).toBe(16_384);
  });

  it('never changes for a given name', () => {
    expect([rankPort('kimi', 12), rankPort('qwen', 4)]).toEqual([21_580, 30_404]);
  });
});
