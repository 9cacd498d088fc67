import type { LaunchdService } from '../../model/facts/daemons.ts';
import { andThen, type Known, unknown } from '../../model/known.ts';
import { isLoaded, parseLaunchctlPrint } from '../../node/answers/launchd.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { readRecords } from '../../node/answers/records.ts';
import { launchdServices } from '../../node/probes/launchd-services.ts';
import { defineFact, eachOnce } from '../fact.ts';
import { isGatewayStatus } from './gateways-fact.ts';

/** Our launchd services, one for each of our plists, loaded or not. */
export const servicesFact = defineFact({
  name: 'services',
  from: [launchdServices],
  parse: ([answer]): Known<readonly LaunchdService[]> =>
    andThen(readRecords(answer), (records) => {
      const found: LaunchdService[] = [];
      for (const { head, lines } of records) {
        if (isGatewayStatus(head)) continue;
        const [, asked = '', exit = ''] = /^answer ([A-Za-z0-9._-]{1,255}) (\d{1,3})$/.exec(head) ?? [];
        const last = found.at(-1);
        const [, holder = '', stopped = ''] = /^suspended ([A-Za-z0-9._-]{1,255}) (\d{1,10})$/.exec(head) ?? [];
        const at = found.findIndex((one) => one.label === holder);
        const own = found[at];
        if (own !== undefined) {
          found.splice(at, 1, { ...own, suspended: [...(own.suspended ?? []), Number(stopped)] });
          continue;
        }
        if (asked !== '' && last?.label === asked) {
          const behind = behindOf(exit, lines);
          found.splice(-1, 1, behind === undefined ? last : { ...last, behind });
          continue;
        }
        const [, label = '', code = ''] = /^service ([A-Za-z0-9._-]{1,255}) (\d{1,3})$/.exec(head) ?? [];
        if (label === '') return garbled(answer, 'printed a record that is not a service');
        if (code !== '0' && isLoaded(code, lines) !== false) {
          return unknown('failed', `launchctl print of ${label} exited with ${code}.`);
        }
        const print = code === '0' ? parseLaunchctlPrint(lines) : ({ state: 'not-loaded' } as const);
        found.push({ label, ...(print ?? { state: 'unknown' }) });
      }
      return eachOnce(found, ({ label }) => label, garbled(answer, 'described one service twice'));
    }),
  text: (services) =>
    services.map(({ label, state, pid, runs, lastExit, suspended = [] }) =>
      [
        `${label} ${state}`,
        ...(pid === undefined ? [] : [`pid ${pid}`]),
        ...suspended.map((process) => `process ${process} suspended`),
        ...(runs === undefined ? [] : [`${runs} ${runs === 1 ? 'run' : 'runs'}`]),
        ...(lastExit === undefined ? [] : [`last ${/^[A-Z]/.test(lastExit) ? 'ended by' : 'exit'} ${lastExit}`]),
      ].join(', '),
    ),
});

/** For those who need this service: the other services of the node stay known. */
export const unreadableState = (label: string): Known<never> =>
  unknown('garbled', `launchctl printed an unreadable state of ${label}.`);

/** No program answers, or the program does not speak HTTP. A timeout (28) decides nothing. @see curl(1), EXIT CODES */
const othersExits: readonly string[] = ['1', '7', '8', '52', '56'];

function behindOf(exit: string, lines: readonly string[]): readonly string[] | undefined {
  if (exit !== '0') return othersExits.includes(exit) ? [] : undefined;
  return lines.every((line) => /^[A-Za-z0-9._-]{1,255}$/.test(line)) ? lines : undefined;
}
