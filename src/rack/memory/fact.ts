import { type Known, known } from '../../model/known.ts';
import { memoryText } from '../../model/text/units.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { sysctl } from '../../node/probes/sysctl.ts';
import { defineFact } from '../fact.ts';

/** Beyond these it is no memory of a Mac. */
const fewestBytes = 2 ** 30;
const mostBytes = 2 ** 44;

/**
 * How much the GPU may use by a line of a log; undefined for any other line. Metal's recommended working set, as llama.cpp
 * prints it in millions of bytes, or the rank program of mlx in bytes:
 *
 *     ggml_metal_device_init: recommendedMaxWorkingSetSize  = 498216.21 MB
 *     meshwright: the GPU may use 498216206336 bytes
 *
 * @see `ggml_metal_device_init` of ggml-metal-device.m: `max_working_set_size / 1e6`
 */
export function gpuBytesOf(line: string): number | undefined {
  const [, millions] = /\brecommendedMaxWorkingSetSize\s*= +(\d{1,8}\.\d{2}) MB$/.exec(line) ?? [];
  const [, whole] = /^meshwright: the GPU may use (\d{1,14}) bytes$/.exec(line) ?? [];
  const bytes = millions === undefined ? Number(whole) : Math.round(Number(millions) * 1e6);
  return bytes >= fewestBytes && bytes <= mostBytes ? bytes : undefined;
}

/** `iogpu.wired_limit_mb`; 0 is macOS's own default of about three quarters of the memory. Lost at every reboot. */
export interface WiredLimit {
  readonly megabytes: number;
}

/** How much memory the GPU may wire, from `iogpu.wired_limit_mb: 0`. */
export const wiredLimitFact = defineFact({
  name: 'wired-limit',
  from: [sysctl],
  parse: ([answer]): Known<WiredLimit> => {
    const values = sysctlValues(answer, ['iogpu.wired_limit_mb']);
    if (values.kind === 'unknown') return values;
    const megabytes = wholeNumber(values.value[0]);
    return megabytes === undefined ? garbled(answer, 'printed no number of megabytes') : known({ megabytes });
  },
  source: 'sysctl iogpu.wired_limit_mb',
  text: ({ megabytes }) =>
    megabytes === 0 ? 'the default of macOS' : `${megabytes} MB (${memoryText(megabytes * 2 ** 20)})`,
});
