import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { rootScript } from '../../node/root-script.ts';

/** Samples a Mac's power for one second. Changes nothing, but runs as root because `powermetrics` requires it. */
export const powerScript = (rootPrefix: string): string =>
  rootScript(rootPrefix, `exec ${pathWord(tool.powermetrics)} -n 1 -i 1000 --samplers cpu_power,gpu_power`);

/**
 * The power of CPU, GPU and Neural Engine together, in watts; undefined without such a line. A meter at the plug shows
 * more, because memory, ports and the power supply are not included.
 * @example
 * parsePower('Combined Power (CPU + GPU + ANE): 18378 mW\n') // 18.378
 */
export function parsePower(text: string): number | undefined {
  const found = /^Combined Power \(CPU \+ GPU \+ ANE\): (\d{1,9}) mW$/m.exec(text);
  return found === null ? undefined : Number(found[1]) / 1_000;
}
