import { pause } from '../../apply/pause.ts';
import type { Session } from '../../apply/reach/session.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { parsePower, powerScript } from '../../engine/scripts/power-sample.ts';
import { exitText, isSuccess } from '../../model/exit.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { diagnoseSudo } from '../../remote/keys/sudo-answer.ts';

/** What the Macs of a placement took while they were sampled, or why one of them could not say. */
export type PowerReading =
  | { readonly kind: 'watts'; readonly watts: number }
  | { readonly kind: 'unknown'; readonly node: string; readonly reason: string };

/** Samples that go on until they are stopped. */
export interface PowerSampling {
  readonly stop: () => Promise<PowerReading>;
}

const sampleMs = 1_000;
const sampleDeadlineMs = 15_000;
const maxBytes = 262_144;

/** Samples the power of all these Macs at once, a second each, until it is stopped: the means, added up. */
export function samplePower(sessions: readonly Session[]): PowerSampling {
  const stopped = new AbortController();
  const readings = Promise.all(sessions.map((session) => sampleNode(session, stopped.signal)));
  return {
    stop: async () => {
      stopped.abort();
      const all = await readings;
      const unknown = all.find((one) => one.kind === 'unknown');
      if (unknown !== undefined) return unknown;
      return { kind: 'watts', watts: all.reduce((sum, one) => sum + (one.kind === 'watts' ? one.watts : 0), 0) };
    },
  };
}

async function sampleNode(session: Session, stopped: AbortSignal): Promise<PowerReading> {
  const samples: number[] = [];
  do {
    const startedAtMs = performance.now();
    const reading = await sampleOnce(session);
    if (reading.kind === 'unknown') return reading;
    samples.push(reading.watts);
    // A tool that answers at once is not asked in a tight circle.
    await pause(Math.max(0, sampleMs - (performance.now() - startedAtMs)), stopped);
  } while (!stopped.aborted);
  return { kind: 'watts', watts: samples.reduce((sum, one) => sum + one, 0) / samples.length };
}

async function sampleOnce(session: Session): Promise<PowerReading> {
  const unknown = (reason: string): PowerReading => ({ kind: 'unknown', node: session.node, reason });
  const asked = await session.ask((rootPrefix) => {
    const script = powerScript(rootPrefix);
    const command = mutatingCommand(rootPrefix);
    return {
      name: 'power-sample',
      command,
      script,
      stdin: Buffer.from(script),
      deadlineMs: sampleDeadlineMs,
      maxBytes,
    };
  });
  if (asked.kind === 'unreached') return unknown(plainText(asked.diagnostics[0].detail));
  const { exit, stdout, stderr } = asked.result;
  const [said, problem] = [stdout, stderr].map((bytes) => Buffer.from(bytes).toString());
  const sudo = diagnoseSudo(session.node, session.user, exit, problem ?? '');
  if (sudo !== undefined) return unknown(plainText(sudo.detail));
  const watts = isSuccess(exit) ? parsePower(said ?? '') : undefined;
  if (watts !== undefined) return { kind: 'watts', watts };
  return unknown(isSuccess(exit) ? 'powermetrics told no combined power' : `powermetrics: ${exitText(exit)}`);
}
