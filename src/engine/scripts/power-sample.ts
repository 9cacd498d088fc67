import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { rootScript } from '../../node/root-script.ts';

/**
 * Takes one sample of a Mac's power over one second. It changes nothing and runs as root all the same: `powermetrics`
 * answers only root.
 */
export const powerScript = (rootPrefix: string): string =>
  rootScript(rootPrefix, `exec ${pathWord(tool.powermetrics)} -n 1 -i 1000 --samplers cpu_power,gpu_power`);

/**
 * Watts of CPU, GPU and Neural Engine together; undefined when the text has no such line. Not what a plug would show:
 * memory, ports and the power supply are not in it.
 *
 * @example
 * parsePower('Combined Power (CPU + GPU + ANE): 18378 mW\n') // 18.378
 */
export function parsePower(text: string): number | undefined {
  const found = /^Combined Power \(CPU \+ GPU \+ ANE\): (\d{1,9}) mW$/m.exec(text);
  return found === null ? undefined : Number(found[1]) / 1_000;
}
