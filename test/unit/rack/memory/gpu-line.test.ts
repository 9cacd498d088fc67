import { describe, expect, it } from 'vitest';
import { gpuBytesOf } from '../../../../src/rack/memory/fact.ts';

const metal = (value: string): string => `ggml_metal_device_init: recommendedMaxWorkingSetSize  = ${value}`;

describe('the GPU memory log line', () => {
  it.each([
    // A Mac Studio with M3 Ultra and 512 GB; 475,136 MiB.
    [metal('498216.21 MB'), 498_216_210_000],
    [metal('11453.25 MB'), 11_453_250_000],
    [`0.00.042.815 I ${metal(' 51539.61 MB')}`, 51_539_610_000],
    ['meshwright: the GPU may use 498216206336 bytes', 498_216_206_336],
    ['meshwright: the GPU may use 1073741824 bytes', 2 ** 30],
    ['meshwright: the GPU may use 17592186044416 bytes', 2 ** 44],
  ])('is read: %s', (line, bytes) => {
    expect(gpuBytesOf(line)).toBe(bytes);
  });

  it.each([
    '',
    metal(''),
    metal('498216.21 M'),
    metal('498216.21 MB or so'),
    metal('-1.00 MB'),
    metal('0.00 MB'),
    metal('99999999.99 MB'),
    'meshwright: the GPU may use 1073741823 bytes',
    'meshwright: the GPU may use 17592186044417 bytes',
    'meshwright: the GPU may use -498216206336 bytes',
    'a question said: meshwright: the GPU may use 498216206336 bytes',
  ])('is ignored when it is damaged or implausible: %s', (line) => {
    expect(gpuBytesOf(line)).toBeUndefined();
  });
});
