import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import { putBody } from '../../node/put-file.ts';
import { mutatingScript } from '../../node/root-script.ts';
import { restartBody } from '../../rack/boot/restart-script.ts';
import { installArgs, installKey, onceInSession } from '../../rack/macos/update-scripts.ts';
import { launchBody } from './job.ts';
import { scriptBody } from './registry.ts';
import { confirmBody, transactionBody } from './transaction.ts';

export interface StepScript {
  readonly step: string;
  readonly node: NodeName;
  readonly text: string;
}

/** Functions for values that are known only to a run. */
export interface StepScriptTerms {
  /** The account that logs in to a node. */
  readonly userOf: (node: NodeName) => string;
  readonly rollbackSeconds: number;
  readonly rebootDelaySeconds: number;
}

const fence = { run: 'RUN', token: 0 };
const noteOf = (step: string) => ({ step, verb: 'apply', by: 'USER@HOST', config: 'CONFIG' });

/** A step's root scripts in order; empty if it needs no root. */
export function stepScripts({ id, node, act }: Step, terms: StepScriptTerms): readonly StepScript[] {
  const texts = ((): readonly string[] => {
    switch (act.kind) {
      case 'script':
        return [scriptBody(act)];
      case 'put':
        return [putBody({ ...act, rootPrefix: '', login: terms.userOf(node) })];
      case 'transaction': {
        const about = { fence, note: noteOf(id) };
        return [transactionBody({ ...about, call: act, seconds: terms.rollbackSeconds }), confirmBody(about)];
      }
      case 'job':
        return [launchBody(act.key, act)];
      case 'reboot': {
        const from = act.from.kind === 'known' ? act.from.value : 'BOOT-SESSION';
        if (act.install !== undefined) {
          const [key, args] = [installKey(node, from), installArgs(act.install, terms.userOf(node))];
          return [onceInSession(key, from, fence.run) + launchBody(key, { name: 'install-macos', args })];
        }
        return [restartBody({ intent: `reboot-${from}`, from, to: act.to, delaySeconds: terms.rebootDelaySeconds })];
      }
      default:
        return [];
    }
  })();
  return texts.map((text) => ({ step: id, node, text }));
}

/** The frame around every script: first the lease check, last a history line. */
export const aroundScripts = (): string =>
  mutatingScript({ rootPrefix: '', fence, note: noteOf('STEP'), body: ': The script of the step.' });
