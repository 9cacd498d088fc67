import type { FactsSwap, FactsWiredLimit } from '../../model/documents.generated.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import { memoryText } from '../../model/text/units.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { sysctl } from '../../node/probes/sysctl.ts';
import { defineFact, readValue } from '../fact.ts';

const fewestBytes = 2 ** 30;
const mostBytes = 2 ** 44;

/**
 * The memory that the GPU may use, from a log line; undefined for any other line. This is Metal's recommended working set,
 * which llama.cpp prints in millions of bytes, and the rank program of mlx in bytes:
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

/** The amount of memory that the GPU may wire, from `iogpu.wired_limit_mb: 0`. */
export const wiredLimitFact = defineFact({
  name: 'wired-limit',
  from: [sysctl],
  parse: ([answer]): Known<FactsWiredLimit> =>
    andThen(sysctlValues(answer, ['iogpu.wired_limit_mb']), (values) => {
      const megabytes = wholeNumber(values[0]);
      return megabytes === undefined ? garbled(answer, 'did not print a number of megabytes') : known({ megabytes });
    }),
  source: 'sysctl iogpu.wired_limit_mb',
  text: ({ megabytes }) =>
    megabytes === 0 ? 'the macOS default' : `${megabytes} MB (${memoryText(megabytes * 2 ** 20)})`,
});

/** The swap space in use, from `vm.swapusage: total = 13312.00M  used = 11625.69M  free = 1686.31M  (encrypted)`. */
export const swapFact = defineFact({
  name: 'swap',
  from: [sysctl],
  parse: ([answer]): Known<FactsSwap> =>
    andThen(sysctlValues(answer, ['vm.swapusage']), (values) => {
      const [, used] = / used = (\d{1,8}\.\d{2})M /.exec(values[0] ?? '') ?? [];
      return used === undefined
        ? garbled(answer, 'did not print the swap space in use')
        : known({ usedMegabytes: Math.round(Number(used)) });
    }),
  source: 'sysctl vm.swapusage',
  text: ({ usedMegabytes }) => `${memoryText(usedMegabytes * 2 ** 20)} in use`,
});

/**
 * The swap in use above which no model is loaded, in megabytes.
 *
 * @see docs/runbooks/cluster-lifecycle.md of dryvist/nix-ai: `joinSwapThresholdMb`, 8000 MB, after INC-17075
 */
const mostSwapMegabytes = 8 * 1_024;

/** The swap in use if it is too much for a start, in words. */
export function swapWords(facts: Facts | undefined): string | undefined {
  const { usedMegabytes = 0 } = readValue(facts, swapFact) ?? {};
  return usedMegabytes > mostSwapMegabytes
    ? `${memoryText(usedMegabytes * 2 ** 20)} of swap is in use, more than 8 GB`
    : undefined;
}
