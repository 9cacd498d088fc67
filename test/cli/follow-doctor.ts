import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { exitCode } from '../../src/cli/exit-codes.ts';
import { type FaultName, faults } from '../../src/sim/faults/faults.ts';
import { faultCures } from '../contract/fault-cures.ts';
import type { FaultEffect } from '../contract/fault-effects.ts';
import { json, meshwright, type Ran } from './meshwright.ts';
import type { Place } from './place.ts';

const mostSteps = 6;

/** The target of a fault on the pair: the target of its cure, otherwise a Mac or the cable. */
export function targetOf(fault: FaultName): string {
  const cure = faultCures[fault];
  if (cure.kind !== 'verb') return cure.target;
  return faults[fault].targets === 'NODE:RECEPTACLE' ? 'studio-1:4' : 'studio-4';
}

/** Sets faults one after another; returns false if the fleet refuses a fault because of the earlier ones. */
export async function setFaults(place: Place, names: readonly FaultName[]): Promise<boolean> {
  for (const fault of names) {
    const { code } = await meshwright(place, ['sim', 'fault', fault, targetOf(fault)]);
    if (code !== 0) return false;
  }
  return true;
}

type RunWords = (...words: string[]) => Promise<Ran>;

/** Makes the Macs match the file; returns the exit code. */
export const serve = async (run: RunWords) => (await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code;

/** Ends all faults, so that the next case inherits nothing, such as memory that only a reboot frees. */
export async function endFaults(run: RunWords): Promise<void> {
  await run('sim', 'fault', '--clear');
  if ((await serve(run)) === 0) return;
  expect((await run('sim', 'up', '--fresh')).code).toBe(0);
  expect(await serve(run)).toBe(0);
}

interface Finding {
  readonly code: string;
  readonly severity: string;
  readonly subject?: string;
  readonly hint: string;
  readonly commands: readonly string[];
}
interface Doctor {
  readonly troubles: readonly Finding[];
  readonly launches: unknown;
}
interface Status {
  readonly placements: { readonly chat: { readonly state: string } };
}

/** True if a finding has a manual step; a hint that only names a place to check does not count. */
const isManual = ({ severity, commands, hint }: Finding): boolean =>
  severity !== 'notice' &&
  commands.length === 0 &&
  hint
    .split(/(?<=\.)\s+|\n/)
    .some(
      (one) =>
        /\bmeshwright (?:enroll|replace|unlock) /.test(one) || !/^(?:See|Look|Read|Wait)\b|meshwright /.test(one),
    );

/** The arguments of a command with `--yes`, in front of a command for the node. */
export function agreed(command: string): readonly string[] {
  const words = command.split(' ').slice(1);
  const end = words.indexOf('--');
  return words.toSpliced(end < 0 ? words.length : end, 0, '--yes');
}

async function isServing(place: Place): Promise<boolean> {
  const status = json(await meshwright(place, ['status', '--sim', '--json'])) as Status;
  return status.placements.chat.state === 'serving';
}

/** The time in which a double notices a fault, as a share of a minute on a real rack. */
const noticeMs = 5_000;

/** What a serving placement shows after a fault: a question, then `status` and `doctor`, again if all is quiet. */
export async function seenIn(place: Place): Promise<Omit<FaultEffect, 'typed' | 'end'>> {
  for (let isLast = false; ; isLast = true) {
    const { code } = await meshwright(place, ['ask', 'chat', 'Hello', '--sim', '--deadline', '5s']);
    await setTimeout(noticeMs);
    const { chat } = (json(await meshwright(place, ['status', '--sim', '--json'])) as Status).placements;
    const { troubles } = json(await meshwright(place, ['doctor', '--sim', '--json'])) as Doctor;
    const codes = troubles.filter(({ severity }) => severity !== 'notice').map((one) => one.code);
    const seen = { ask: code === 0 ? 'answer' : 'no answer', status: chat.state } as const;
    const isQuiet = seen.ask === 'answer' && seen.status === 'serving' && codes.length === 0;
    if (isLast || !isQuiet) return { ...seen, doctor: [...new Set(codes)].sort() };
  }
}

/** The commands that the follower typed, without `meshwright` and `--sim`, and where they led. */
export type Followed = Pick<FaultEffect, 'typed' | 'end'>;

/**
 * Runs the first command of `doctor --json` until the placement serves without an error, or doctor shows only a manual
 * step. A command may run again only if doctor has shown something else in between.
 */
export async function followDoctor(place: Place): Promise<Followed> {
  const typed: string[] = [];
  const seen = new Set<string>();
  let isQuiet = false;
  for (;;) {
    const { troubles, launches } = json(await meshwright(place, ['doctor', '--sim', '--json'])) as Doctor;
    const next = troubles.flatMap(({ commands }) => commands)[0];
    const hasErrors = troubles.some(({ severity }) => severity === 'error');
    if (!hasErrors && (await isServing(place))) return { typed, end: 'serving' };
    // The mesh may change between doctor and status, so check once more.
    if (troubles.length === 0 && !isQuiet) {
      isQuiet = true;
      continue;
    }
    if (next === undefined) {
      expect(troubles.some(isManual), `neither a command nor a manual step:\n${JSON.stringify(troubles)}`).toBe(true);
      return { typed, end: 'manual step' };
    }
    const shown = troubles.map(({ code, severity, subject }) => [code, severity, subject]);
    const state = JSON.stringify([next, shown, launches]);
    expect(seen.has(state), `repeated without a change:\n${[...typed, next].join('\n')}`).toBe(false);
    seen.add(state);
    expect(typed.length, `too many steps:\n${[...typed, next].join('\n')}`).toBeLessThan(mostSteps);
    typed.push(next.replace(/^meshwright | --sim$/g, ''));
    const { code, stderr } = await meshwright(place, agreed(next));
    expect(code, `${next} is refused: ${stderr}`).not.toBe(64);
    // A hung placement may only be busy, so apply asks whether it may interrupt it.
    const consent = /--allow [a-z,-]+/.exec(stderr)?.[0];
    if (code !== exitCode.nothingChanged || consent === undefined) continue;
    typed.push(`${typed.pop()} ${consent}`);
    await meshwright(place, [...agreed(next), ...consent.split(' ')]);
  }
}
