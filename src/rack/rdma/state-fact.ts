import { andThen, type Known, known } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readText } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';

/** `rdma_ctl status`. @see Apple TN3205 */
const rdmaCtl = probe('rdma-ctl', [tool.rdmaCtl, 'status'], 5_000, 4_096);

/** `nvram rdma-enable`: one firmware variable; does not need root. @see nvram(8) */
const rdmaVariable = probe('rdma-variable', [tool.nvram, 'rdma-enable'], 5_000, 4_096);

/**
 * The switch "RDMA over Thunderbolt" as it applies after the next restart, from its NVRAM variable:
 *
 *     rdma-enable	1
 *
 * It is one byte, `1` for on. A variable that was never set is off; `nvram` then exits with 1 and prints to stderr that the
 * data was not found. From macOS 27 on, the switch is also in System Settings, so it can be on before any device exists.
 *
 * @see dev7a/rdmalink RDMASwitch.swift, seen on macOS 27.2
 */
export const rdmaSwitchFact = defineFact({
  name: 'rdma-switch',
  from: [rdmaVariable],
  parse: ([answer]): Known<'on' | 'off'> => {
    if (answer !== undefined && isNeverSet(answer)) return known('off');
    const text = readText(answer);
    if (text.kind === 'unknown') return text;
    if (text.value === 'rdma-enable\t1\n') return known('on');
    return text.value === 'rdma-enable\t0\n' ? known('off') : garbled(answer, 'printed an unexpected rdma-enable');
  },
  text: (state) => state,
});

/** True for a complete answer with this error and nothing else. @see nvram.c of Apple's system_cmds */
function isNeverSet({ exit, missing, isLate, isTruncated, isUtf8, stdout, stderr }: Answer): boolean {
  const isWhole = missing === undefined && !isLate && !isTruncated && isUtf8;
  const isRefusal = exit.kind === 'exited' && exit.code === 1 && stdout === '';
  const error = "nvram: Error getting variable - 'rdma-enable': (iokit/common) data was not found\n";
  return isWhole && isRefusal && stderr === error;
}

/** The state of RDMA over Thunderbolt, on or off. The whole output is one word. @see Apple TN3205 */
export const rdmaStateFact = defineFact({
  name: 'rdma-state',
  from: [rdmaCtl],
  parse: ([answer]): Known<'enabled' | 'disabled'> =>
    andThen(readText(answer), (text) => {
      if (text === 'enabled\n') return known('enabled');
      if (text === 'disabled\n') return known('disabled');
      return garbled(answer, 'printed neither enabled nor disabled');
    }),
  text: (state) => state,
});
