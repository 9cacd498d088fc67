import { execFileSync } from 'node:child_process';

/** Lines of living processes whose command line names this folder. */
export function processesBelow(folder: string): readonly string[] {
  const all = execFileSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 16 * 2 ** 20 });
  return all.split('\n').filter((line) => line.includes(folder));
}
